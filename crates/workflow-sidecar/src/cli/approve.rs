//! `approve`: the user's answer to an approval request, outside of the host.

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use workflow_core::approval::{Decision, Request, ShownFile};
use workflow_core::diagnostic::{shown, visible};

use super::project::UserDirectory;
use super::terminal;
use crate::hook_hosts;
use crate::platform::answers::code::Code;
use crate::platform::answers::requests::{AskedRequest, Requests};
use crate::platform::file_excerpt;
use crate::present::{
    CommandOutcome, GOOD, ListedRequest, OutputFormat, approval_page, approvals_page, paint, say,
};
use crate::store::AnswerRight;

/// Answer a run that waits for approval
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Code of the question. With --list, or as an approver of a server: task id of the run, or its beginning
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Answer, without a prompt
    #[arg(long, value_name = "CHOICE", conflicts_with = "list")]
    choice: Option<String>,
    /// Comment for the agent
    #[arg(long, value_name = "TEXT", conflicts_with = "list")]
    comment: Option<String>,
    /// List the runs that wait, and answer none
    #[arg(long)]
    list: bool,
    /// Output format of the list
    #[arg(long, value_enum, default_value_t, requires = "list")]
    format: OutputFormat,
    #[command(flatten)]
    user: UserDirectory,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let requests = Requests::in_agent_dir(&arguments.user.directory())?;
    let mut pending = requests.all()?;
    let typed = arguments.code.as_deref();
    if arguments.list {
        pending.retain(|(request, _)| request.task_id.starts_with(typed.unwrap_or_default()));
        return list(pending, arguments.format);
    }
    if pending.is_empty() && typed.is_none() {
        return list(pending, OutputFormat::Human);
    }
    // What proves that the user answers: the code, or the role of this process in the database.
    let (request, code) = match requests.answer_right() {
        AnswerRight::MayAnswer => (of_run(pending, typed.unwrap_or_default())?, None),
        AnswerRight::NeedsProof => {
            let (request, code) = of_code(pending, typed, &requests)?;
            require_unchanged(&request)?;
            (request, Some(code))
        }
        AnswerRight::MayRead => {
            bail!(
                "the login of this machine may not answer: answer in the host, or with the login of an approver"
            )
        }
    };
    approval_page(&request).print()?;
    let answer = match &arguments.choice {
        Some(choice) => Some(choice.clone()),
        None => terminal::ask(&format!("[{}]", choices(&request)))?,
    };
    let Some(answer) = answer else {
        say("Nothing was answered. The run still waits.")?;
        return Ok(CommandOutcome::Waits);
    };
    let Some(choice) = chosen(&request, &answer) else {
        let answer = shown(&answer);
        bail!("`{answer}` cannot be chosen: {}", choices(&request));
    };
    let comment = arguments.comment.as_deref().map(str::trim);
    let comment = comment
        .filter(|comment| !comment.is_empty())
        .map(str::to_owned);
    let decision = match code {
        Some(code) => {
            require_unchanged(&request)?;
            code.decide(&request, choice, comment)
        }
        None => Decision {
            request: request.id.clone(),
            choice: choice.to_owned(),
            comment,
            asked: Some(request.clone()),
            ..Decision::default()
        },
    };
    ensure!(
        requests.decide(&request, &decision)?,
        "the run has moved on and no longer waits for this"
    );
    say(format_args!(
        "{}: stored. In pi and opencode an open session continues within seconds; elsewhere, and in a session that is \
         closed, the run continues when its agent calls workflow_step again.",
        paint(GOOD, visible(choice))
    ))?;
    Ok(CommandOutcome::Success)
}

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

/// Finds the request of a code, which is asked for if it is not given.
fn of_code(
    pending: Vec<AskedRequest>,
    typed: Option<&str>,
    requests: &Requests,
) -> anyhow::Result<(Request, Code)> {
    let where_codes_are = where_codes_are(&pending, requests);
    let typed = if let Some(typed) = typed {
        typed.to_owned()
    } else {
        say(&where_codes_are)?;
        terminal::ask("Code:")?.context("no code given: nothing was answered")?
    };
    let code = Code::parse(&typed).with_context(|| {
        let typed = shown(&typed);
        format!("`{typed}` is no code: nothing was answered. A code looks like K7QF-M2XD-9TRB")
    })?;
    let found = pending
        .into_iter()
        .find(|(request, _)| code.is_of(request))
        .with_context(|| {
            format!("nothing that waits has this code: nothing was answered. {where_codes_are}")
        })?;
    Ok((found.0, code))
}

/// Finds the request of a run by the beginning of its id.
fn of_run(mut pending: Vec<AskedRequest>, task: &str) -> anyhow::Result<Request> {
    pending.retain(|(request, _)| request.task_id.starts_with(task));
    match pending.len() {
        0 => bail!("no run `{}` waits for your approval", shown(task)),
        1 => Ok(pending.remove(0).0),
        several => {
            list(pending, OutputFormat::Human)?;
            bail!("{several} runs wait: name one of them");
        }
    }
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

/// Lists requests, and says whether one of them waits.
fn list(pending: Vec<AskedRequest>, format: OutputFormat) -> anyhow::Result<CommandOutcome> {
    let listed: Vec<_> = pending.into_iter().map(ListedRequest::from).collect();
    format.print(&listed, |listed, page| approvals_page(listed, page))?;
    Ok(if listed.iter().any(ListedRequest::waits) {
        CommandOutcome::Waits
    } else {
        CommandOutcome::Success
    })
}

/// Returns the possible choices with their numbers.
fn choices(request: &Request) -> String {
    let choices = request.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, visible(choice)));
    choices.collect::<Vec<_>>().join(" · ")
}

/// Returns the choice for an answer, which is its text or its number.
fn chosen<'a>(request: &'a Request, answer: &str) -> Option<&'a str> {
    let by_text = request.choices.iter().find(|choice| *choice == answer);
    let by_number = || {
        let number: usize = answer.parse().ok()?;
        request.choices.get(number.checked_sub(1)?)
    };
    by_text.or_else(by_number).map(String::as_str)
}
