//! `approve`: the user's answer to an approval request, outside of the host.

use std::io::{self, Write};

use anyhow::bail;
use workflow_core::diagnostic::{shown, visible};

use super::format::{ASIDE, Format, GOOD, NOTABLE, TITLE, block, json};
use super::outcome::Outcome;
use super::project::UserDirectory;
use super::terminal;
use crate::platform::approvals::{Approvals, RequestStatus, StoredRequest};
use crate::platform::file_excerpt;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar approve                            what waits for you: the question, then your answer
  workflow-sidecar approve wf-1767225600000-3t8xrq    of several runs this one; its first letters are enough
  workflow-sidecar approve --choice revise            the answer at once
  workflow-sidecar approve --list                     what waits

Your answer is used when the agent calls workflow_step with action='next' again: tell it to go on, or close the
dialog in which the host asks the same. It is about what you were shown: when that changes you are asked again.
Only a person can answer, in a terminal. Exits with 3 if something still waits.";

/// Answer what a run waits for: may the phase be left?
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The run, where several wait: its task id, or the beginning of it
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// The answer
    #[arg(long, value_name = "WORD", conflicts_with = "list")]
    choice: Option<String>,
    /// Only say what waits
    #[arg(long)]
    list: bool,
    /// Whom the list is for
    #[arg(long, value_enum, default_value_t, requires = "list")]
    format: Format,
    #[command(flatten)]
    user: UserDirectory,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let approvals = Approvals::in_agent_dir(&arguments.user.directory());
    let task = arguments.task.as_deref().unwrap_or_default();
    let mut pending = approvals.all()?;
    pending.retain(|status| status.request.task_id.starts_with(task));
    if arguments.list {
        return list(&pending, arguments.format);
    }
    terminal::require("approve")?;
    let request = match pending.len() {
        0 if task.is_empty() => {
            writeln!(anstream::stdout(), "Nothing waits for your word.")?;
            return Ok(Outcome::Success);
        }
        0 => bail!("no run `{}` waits for your word", shown(task)),
        1 => pending.remove(0).request,
        several => {
            list(&pending, Format::Human)?;
            bail!("{several} runs wait: say which one");
        }
    };
    let shown_state = print_request(&request)?;
    let answer = match &arguments.choice {
        Some(choice) => Some(choice.clone()),
        None => ask(&request)?,
    };
    let Some(answer) = answer else {
        writeln!(anstream::stdout(), "Nothing was said: it still waits.")?;
        return Ok(Outcome::Waits);
    };
    let Some(choice) = chosen(&request, &answer) else {
        let answer = shown(&answer);
        bail!("`{answer}` cannot be chosen: {}", choices(&request));
    };
    if file_state(&request) != shown_state {
        let show = visible(request.show.as_deref().unwrap_or_default());
        bail!("{show} has changed since it was shown to you: nothing was noted, look at it again");
    }
    if !approvals.decide(&request, &choice, shown_state)? {
        bail!("the run has gone on, and waits for this no more");
    }
    let mut out = anstream::stdout();
    writeln!(
        out,
        "{GOOD}{}{GOOD:#}: noted. Tell the agent to go on.",
        visible(&choice)
    )?;
    Ok(Outcome::Success)
}

fn list(pending: &[RequestStatus], format: Format) -> anyhow::Result<Outcome> {
    match format {
        Format::Json => json(&pending)?,
        Format::Human => print_all(pending)?,
    }
    let is_waiting = pending.iter().any(|status| status.choice.is_none());
    Ok(if is_waiting {
        Outcome::Waits
    } else {
        Outcome::Success
    })
}

fn print_all(pending: &[RequestStatus]) -> io::Result<()> {
    let mut out = anstream::stdout();
    if pending.is_empty() {
        writeln!(out, "Nothing waits for your word.")?;
    }
    for RequestStatus { request, choice } in pending {
        print_title(&mut out, request)?;
        writeln!(out, "  {}", visible(&request.ask))?;
        match choice {
            None => writeln!(out, "  {NOTABLE}waits{NOTABLE:#}")?,
            Some(choice) => writeln!(
                out,
                "  {GOOD}answered{GOOD:#}: {}; the agent has not asked since",
                visible(choice)
            )?,
        }
    }
    Ok(())
}

/// Prints the run of a request.
fn print_title(out: &mut impl Write, request: &StoredRequest) -> io::Result<()> {
    let StoredRequest {
        task_id,
        workflow,
        phase,
        task,
        cwd,
        ..
    } = request;
    let (workflow, phase, task) = (visible(workflow), visible(phase), shown(task));
    writeln!(out, "{TITLE}{workflow} > {phase}{TITLE:#}: {task}")?;
    let cwd = visible(&cwd.to_string_lossy());
    writeln!(out, "  {ASIDE}{task_id} in {cwd}{ASIDE:#}")
}

/// Prints a request; returns the state of the file that is shown.
fn print_request(request: &StoredRequest) -> io::Result<Option<String>> {
    let mut out = anstream::stdout();
    print_title(&mut out, request)?;
    // Read first: a change before the excerpt is read counts as a change.
    let shown = file_state(request);
    if let Some(show) = &request.show {
        writeln!(out, "\n{}", visible(show))?;
        let text = file_excerpt::excerpt(show, &request.cwd);
        block(&mut out, "  ", text.trim_end())?;
    }
    writeln!(out, "\n{TITLE}{}{TITLE:#}", visible(&request.ask))?;
    Ok(shown)
}

fn file_state(request: &StoredRequest) -> Option<String> {
    let show = request.show.as_deref()?;
    Some(file_excerpt::state(show, &request.cwd))
}

fn ask(request: &StoredRequest) -> io::Result<Option<String>> {
    terminal::ask(&format!("[{}]", choices(request)))
}

/// Returns the possible choices with their numbers.
fn choices(request: &StoredRequest) -> String {
    let choices = request.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, visible(choice)));
    choices.collect::<Vec<_>>().join(" · ")
}

/// Returns the choice for an answer, which is its text or its number.
fn chosen(request: &StoredRequest, answer: &str) -> Option<String> {
    let by_text = request.choices.iter().find(|choice| *choice == answer);
    let by_number = || {
        let number: usize = answer.parse().ok()?;
        request.choices.get(number.checked_sub(1)?)
    };
    by_text.or_else(by_number).cloned()
}
