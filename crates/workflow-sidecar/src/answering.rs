//! The user's answer to a request for approval, outside of the host: which request it is for, what proves it, and why it is refused.

use std::collections::BTreeSet;
use std::path::Path;

use workflow_core::approval::{Decision, Request, ShownFile};
use workflow_core::diagnostic::{shown, visible};

use crate::hook_hosts;
use crate::platform::answers::code::Code;
use crate::platform::answers::requests::{AskedRequest, Requests};
use crate::platform::file_excerpt;
use crate::store::StoreError;

/// What becomes of an answer.
pub(crate) const STORED: &str = "stored. In pi and opencode an open session continues within seconds; elsewhere, and in a session that is \
     closed, the run continues when its agent calls workflow_step again.";

/// The reason why an answer is refused. Nothing was answered then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "`{}` is no code: nothing was answered. A code looks like K7QF-M2XD-9TRB",
        shown(.0)
    )]
    NoCode(String),
    /// It has where the codes are.
    #[error("nothing that waits has this code: nothing was answered. {_0}")]
    UnknownCode(String),
    #[error("no run `{}` waits for your approval", shown(.0))]
    NoRequest(String),
    #[error("{} runs wait: name one of them", .0.len())]
    Several(Vec<AskedRequest>),
    #[error(
        "the login of this machine may not answer: answer in the host, or with the login of an approver"
    )]
    MayNot,
    /// It has the file.
    #[error(
        "{} has changed since the run asked: nothing was answered. The status of the run in the host asks about the file as it is now",
        visible(.0)
    )]
    Changed(String),
    /// It has the answer and the choices.
    #[error("`{}` cannot be chosen: {_1}", shown(.0))]
    NoChoice(String, String),
    #[error("the run has moved on and no longer waits for this: nothing was answered")]
    MovedOn,
    #[error("this is the code of another question, of the run {}: nothing was answered", visible(.0))]
    OfAnotherRun(String),
    #[error(
        "the question is another one than the page showed: nothing was answered. Load the page of the question again"
    )]
    AnotherQuestion,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A request that is answered.
pub(crate) struct Answering {
    pub(crate) request: Request,
    /// Proves that the user answers. Without one the database does.
    code: Option<Code>,
}

impl Answering {
    /// Finds the request of a code. What it shows must be as it was.
    pub(crate) fn by_code(
        pending: Vec<AskedRequest>,
        typed: &str,
        requests: &Requests,
    ) -> Result<Self, Refusal> {
        let code = Code::parse(typed).ok_or_else(|| Refusal::NoCode(typed.to_owned()))?;
        let found = pending.iter().position(|(request, _)| code.is_of(request));
        let Some(found) = found else {
            let places = where_codes_are(&pending, requests);
            return Err(Refusal::UnknownCode(places));
        };
        let request = pending.into_iter().nth(found).map(|(request, _)| request);
        let request = request.ok_or(Refusal::MovedOn)?;
        require_unchanged(&request)?;
        Ok(Self {
            request,
            code: Some(code),
        })
    }

    /// Finds the request of a run, by its id or its beginning, where the database proves who answers.
    pub(crate) fn by_run(mut pending: Vec<AskedRequest>, task_id: &str) -> Result<Self, Refusal> {
        pending.retain(|(request, _)| request.task_id.starts_with(task_id));
        if pending.len() > 1 {
            return Err(Refusal::Several(pending));
        }
        let request = pending.pop().map(|(request, _)| request);
        Ok(Self {
            request: request.ok_or_else(|| Refusal::NoRequest(task_id.to_owned()))?,
            code: None,
        })
    }

    /// Returns the choice for an answer, which is its text or its number.
    pub(crate) fn chosen(&self, answer: &str) -> Result<&str, Refusal> {
        let choices = &self.request.choices;
        let by_text = choices.iter().find(|choice| *choice == answer);
        let by_number = || {
            let number: usize = answer.parse().ok()?;
            choices.get(number.checked_sub(1)?)
        };
        let chosen = by_text.or_else(by_number).map(String::as_str);
        chosen.ok_or_else(|| Refusal::NoChoice(answer.to_owned(), self.choices()))
    }

    /// Returns the possible choices with their numbers.
    pub(crate) fn choices(&self) -> String {
        let choices = self.request.choices.iter().enumerate();
        let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, visible(choice)));
        choices.collect::<Vec<_>>().join(" · ")
    }

    /// Stores the answer. With a code, what the request shows must still be as it was. `by` is who answers, where a proxy says it.
    pub(crate) fn answer(
        &self,
        requests: &Requests,
        choice: &str,
        comment: Option<&str>,
        by: Option<String>,
    ) -> Result<(), Refusal> {
        let request = &self.request;
        let comment = comment.map(str::trim).filter(|comment| !comment.is_empty());
        let comment = comment.map(str::to_owned);
        let decided = if let Some(code) = &self.code {
            require_unchanged(request)?;
            code.decide(request, choice, comment)
        } else {
            Decision {
                request: request.id.clone(),
                choice: choice.to_owned(),
                comment,
                asked: Some(request.clone()),
                ..Decision::default()
            }
        };
        let decision = Decision { by, ..decided };
        if requests.decide(request, &decision)? {
            Ok(())
        } else {
            Err(Refusal::MovedOn)
        }
    }
}

/// Says where the user finds the codes of what waits, and how to answer without one.
pub(crate) fn where_codes_are(pending: &[AskedRequest], requests: &Requests) -> String {
    let of = |(request, _): &AskedRequest| {
        let host = requests.host_of(&request.task_id);
        host.map_or("workflow approve".to_owned(), |host| {
            words_to_type(&host, &request.cwd, "approve")
        })
    };
    let any = pending.is_empty().then(|| "workflow approve".to_owned());
    let ways: BTreeSet<String> = pending.iter().map(of).chain(any).collect();
    let ways = Vec::from_iter(ways).join("` or `");
    format!(
        "pi and opencode show the code, again with /workflow-status. In other hosts the `notify` command of your settings \
         does; without one, answer in the session, with `{ways}`."
    )
}

/// What the user types in a host for a command of ours.
pub(crate) fn words_to_type(host: &str, directory: &Path, command: &str) -> String {
    match hook_hosts::host(host) {
        Some(host) => format!("{} {command}", host.prompt_word(directory)),
        None => format!("/workflow-{command}"),
    }
}

/// Fails if the file that a request shows is another one now: the code is for the one that the run asked about.
fn require_unchanged(request: &Request) -> Result<(), Refusal> {
    let state = |file: Option<ShownFile>| file.map(|file| file.state);
    if state(request.shown_file.clone()) == state(file_excerpt::shown_with(request)) {
        Ok(())
    } else {
        Err(Refusal::Changed(request.show.clone().unwrap_or_default()))
    }
}
