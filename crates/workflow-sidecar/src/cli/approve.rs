//! `approve`: the user's answer to an approval request, outside of the host.

use anyhow::Context;
use workflow_core::diagnostic::visible;

use super::project::UserDirectory;
use super::terminal;
use crate::answering::{Answering, Refusal, STORED, where_codes_are};
use crate::platform::answers::requests::{AskedRequest, Requests};
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
    if arguments.list || pending.is_empty() && typed.is_none() {
        pending.retain(|(request, _)| request.task_id.starts_with(typed.unwrap_or_default()));
        return list(pending, arguments.format);
    }
    let answering = match requests.answer_right() {
        AnswerRight::MayAnswer => Answering::by_run(pending, typed.unwrap_or_default()),
        AnswerRight::NeedsProof => {
            let code = match typed {
                Some(code) => code.to_owned(),
                None => ask_code(&where_codes_are(&pending, &requests))?,
            };
            Answering::by_code(pending, &code, &requests)
        }
        AnswerRight::MayRead => Err(Refusal::MayNot),
    };
    if let Err(Refusal::Several(pending)) = &answering {
        list(pending.clone(), OutputFormat::Human)?;
    }
    let answering = answering?;
    approval_page(&answering.request).print()?;
    let answer = match &arguments.choice {
        Some(choice) => Some(choice.clone()),
        None => terminal::ask(&format!("[{}]", answering.choices()))?,
    };
    let Some(answer) = answer else {
        say("Nothing was answered. The run still waits.")?;
        return Ok(CommandOutcome::Waits);
    };
    let choice = answering.chosen(&answer)?;
    answering.answer(&requests, choice, arguments.comment.as_deref(), None)?;
    say(format_args!("{}: {STORED}", paint(GOOD, visible(choice))))?;
    Ok(CommandOutcome::Success)
}

/// Asks for the code, with where it is shown.
fn ask_code(where_codes_are: &str) -> anyhow::Result<String> {
    say(where_codes_are)?;
    terminal::ask("Code:")?.context("no code given: nothing was answered")
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
