//! `approve`: the user's answer to an approval request, outside of the host.

use anyhow::{Context, bail, ensure};
use workflow_core::diagnostic::{shown, visible};

use super::project::UserDirectory;
use super::terminal;
use crate::approval::{asked, choices, chosen, decided};
use crate::platform::answers::requests::{AskedRequest, Requests};
use crate::present::{
    CommandOutcome, GOOD, ListedRequest, OutputFormat, approval_page, approvals_page, paint, say,
};

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
    if arguments.list || pending.is_empty() && typed.is_none() {
        pending.retain(|(request, _)| request.task_id.starts_with(typed.unwrap_or_default()));
        return list(pending, arguments.format);
    }
    let ask = |where_codes_are: &str| {
        say(where_codes_are)?;
        terminal::ask("Code:")?.context("no code given: nothing was answered")
    };
    let (request, code) = asked(pending, typed, &requests, ask)?;
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
    let decision = decided(&request, code, choice, arguments.comment.as_deref())?;
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
