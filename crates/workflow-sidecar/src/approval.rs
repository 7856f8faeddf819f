//! The user's answer to a request for approval, outside of the host: which request it is for, and what proves it.

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use workflow_core::approval::{Decision, Request, ShownFile};
use workflow_core::diagnostic::{shown, visible};

use crate::hook_hosts;
use crate::platform::answers::code::Code;
use crate::platform::answers::requests::{AskedRequest, Requests};
use crate::platform::file_excerpt;
use crate::present::{ListedRequest, Page, approvals_page};
use crate::store::AnswerRight;

/// Says where the user finds the codes of what waits, and how to answer without one.
fn where_codes_are(pending: &[AskedRequest], requests: &Requests) -> String {
    let of = |(request, _): &AskedRequest| {
        let host = requests.host_of(&request.task_id);
        let of_hooks = |name: &str| Some(hook_hosts::host(name)?.prompt_word(&request.cwd));
        let word = host.as_deref().map_or(Some("workflow"), of_hooks);
        word.map_or("/workflow-approve".to_owned(), |word| {
            format!("{word} approve")
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

/// Finds the request that is answered, with what proves that the user answers: the code, or else the role of this process in the
/// database. A code that is not given is asked for, with where it is shown.
pub(crate) fn asked(
    mut pending: Vec<AskedRequest>,
    typed: Option<&str>,
    requests: &Requests,
    ask: impl FnOnce(&str) -> anyhow::Result<String>,
) -> anyhow::Result<(Request, Option<Code>)> {
    match requests.answer_right() {
        AnswerRight::MayAnswer => {
            let task = typed.unwrap_or_default();
            pending.retain(|(request, _)| request.task_id.starts_with(task));
            match pending.len() {
                0 => bail!("no run `{}` waits for your approval", shown(task)),
                1 => Ok((pending.remove(0).0, None)),
                several => {
                    let listed: Vec<_> = pending.into_iter().map(ListedRequest::from).collect();
                    let mut page = Page::default();
                    approvals_page(&listed, &mut page);
                    page.print()?;
                    bail!("{several} runs wait: name one of them")
                }
            }
        }
        AnswerRight::NeedsProof => {
            let where_codes_are = where_codes_are(&pending, requests);
            let typed =
                typed.map_or_else(|| ask(&where_codes_are), |typed| Ok(typed.to_owned()))?;
            let (request, code) = of_code(pending, &typed, &where_codes_are)?;
            Ok((request, Some(code)))
        }
        AnswerRight::MayRead => bail!(
            "the login of this machine may not answer: answer in the host, or with the login of an approver"
        ),
    }
}

/// Finds the request of a code. What it shows must be as it was.
fn of_code(
    pending: Vec<AskedRequest>,
    typed: &str,
    where_codes_are: &str,
) -> anyhow::Result<(Request, Code)> {
    let code = Code::parse(typed).with_context(|| {
        let typed = shown(typed);
        format!("`{typed}` is no code: nothing was answered. A code looks like K7QF-M2XD-9TRB")
    })?;
    let mut pending = pending.into_iter();
    let found = pending.find(|(request, _)| code.is_of(request));
    let (request, _) = found.with_context(|| {
        format!("nothing that waits has this code: nothing was answered. {where_codes_are}")
    })?;
    require_unchanged(&request)?;
    Ok((request, code))
}

/// Fails if the file that a request shows is another one now: the code is for the one that the run asked about.
fn require_unchanged(request: &Request) -> anyhow::Result<()> {
    let show = request.show.as_deref();
    let state = |file: Option<ShownFile>| file.map(|file| file.state);
    ensure!(
        state(request.shown_file.clone()) == state(file_excerpt::shown_with(request)),
        "{} has changed since the run asked: nothing was answered. The status of the run in the host asks about the file as it is now",
        visible(show.unwrap_or_default())
    );
    Ok(())
}

/// The decision for a choice. With a code, what the request shows must still be as it was.
pub(crate) fn decided(
    request: &Request,
    code: Option<Code>,
    choice: &str,
    comment: Option<&str>,
) -> anyhow::Result<Decision> {
    let comment = comment.map(str::trim).filter(|comment| !comment.is_empty());
    let comment = comment.map(str::to_owned);
    Ok(match code {
        Some(code) => {
            require_unchanged(request)?;
            code.decide(request, choice, comment)
        }
        None => Decision {
            request: request.id.clone(),
            choice: choice.to_owned(),
            comment,
            asked: Some(request.clone()),
            ..Decision::default()
        },
    })
}

/// Returns the possible choices with their numbers.
pub(crate) fn choices(request: &Request) -> String {
    let choices = request.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, visible(choice)));
    choices.collect::<Vec<_>>().join(" · ")
}

/// Returns the choice for an answer, which is its text or its number.
pub(crate) fn chosen<'a>(request: &'a Request, answer: &str) -> Option<&'a str> {
    let by_text = request.choices.iter().find(|choice| *choice == answer);
    let by_number = || {
        let number: usize = answer.parse().ok()?;
        request.choices.get(number.checked_sub(1)?)
    };
    by_text.or_else(by_number).map(String::as_str)
}
