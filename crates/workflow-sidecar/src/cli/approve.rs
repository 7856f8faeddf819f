//! `approve`: the user's answer to an approval request, outside of the host.

use std::io::{self, Write};

use anyhow::{Context, bail, ensure};
use workflow_core::approval::{Decision, Request, ShownFile};
use workflow_core::diagnostic::{shown, visible, visible_lines};

use super::project::UserDirectory;
use super::terminal;
use crate::platform::answers::code::Code;
use crate::platform::answers::requests::Requests;
use crate::platform::file_excerpt;
use crate::present::{CommandOutcome, DIMMED, GOOD, NOTABLE, OutputFormat, TITLE, block, json};
use crate::store::AnswerRight;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar approve K7QF-M2XD-9TRB                   show the question of this code, then read your answer
  workflow-sidecar approve                                  ask for the code first, so that no other process sees it
  workflow-sidecar approve K7QF-M2XD-9TRB --choice revise --comment 'name the risks'
                                                            answer without a prompt, with a comment for the agent
  workflow-sidecar approve --list                           list the runs that wait

The code is in the message of the host, and your `notify` command shows it. /workflow-status shows it again. It answers one
question as you were shown it: if the shown file changes, you are asked again.

An answer counts within a second while the session is open: it closes the dialog in the host, and the run continues. If the
session is closed, the answer is used when the session is open again and the agent calls workflow_step with action='next'; a
comment is left out then.

Exits with 3 if something still waits.";

/// Answer a run that waits for approval
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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

/// What proves that the user answers.
enum Proof {
    Code(Code),
    /// The role of this process in the database.
    Role,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let agent_dir = arguments.user.directory();
    let requests = Requests::in_agent_dir(&agent_dir)?;
    let mut pending = requests.all()?;
    let typed = arguments.code.as_deref();
    if arguments.list {
        pending.retain(|(request, _)| request.task_id.starts_with(typed.unwrap_or_default()));
        return list(&pending, arguments.format);
    }
    if pending.is_empty() {
        writeln!(anstream::stdout(), "Nothing waits for your approval.")?;
        return Ok(CommandOutcome::Success);
    }
    let (request, proof) = match requests.answer_right() {
        AnswerRight::MayAnswer => (of_run(pending, typed.unwrap_or_default())?, Proof::Role),
        AnswerRight::NeedsProof => {
            let (request, code) = of_code(pending, typed)?;
            (request, Proof::Code(code))
        }
        AnswerRight::MayRead => {
            bail!(
                "the login of this machine may not answer: answer in the host, or with the login of an approver"
            )
        }
    };
    if let Proof::Code(_) = proof {
        require_unchanged(&request)?;
    }
    let shown_file = request.shown_file.as_ref();
    print_request(&mut anstream::stdout(), &request, shown_file)?;
    let answer = match &arguments.choice {
        Some(choice) => Some(choice.clone()),
        None => ask(&request)?,
    };
    let Some(answer) = answer else {
        writeln!(
            anstream::stdout(),
            "Nothing was answered. The run still waits."
        )?;
        return Ok(CommandOutcome::Waits);
    };
    let Some(choice) = chosen(&request, &answer) else {
        let answer = shown(&answer);
        bail!("`{answer}` cannot be chosen: {}", choices(&request));
    };
    let comment = arguments.comment.as_deref().map(str::trim);
    let comment = comment.filter(|comment| !comment.is_empty());
    let comment = comment.map(str::to_owned);
    let decision = match proof {
        Proof::Code(code) => {
            require_unchanged(&request)?;
            code.decide(&request, &choice, comment)
        }
        Proof::Role => Decision {
            request: request.id.clone(),
            choice: choice.clone(),
            comment,
            asked: Some(request.clone()),
            ..Decision::default()
        },
    };
    ensure!(
        requests.decide(&request, &decision)?,
        "the run has moved on and no longer waits for this"
    );
    writeln!(
        anstream::stdout(),
        "{GOOD}{}{GOOD:#}: stored. In pi and opencode an open session continues within seconds; elsewhere, and in a session that is \
         closed, the run continues when its agent calls workflow_step again.",
        visible(&choice)
    )?;
    Ok(CommandOutcome::Success)
}

/// Finds the request of a code, which is asked for if it is not given.
fn of_code(
    pending: Vec<(Request, Option<Decision>)>,
    typed: Option<&str>,
) -> anyhow::Result<(Request, Code)> {
    let typed = match typed {
        Some(typed) => typed.to_owned(),
        None => terminal::ask("Code:")?.context("no code given: nothing was answered")?,
    };
    let code = Code::parse(&typed).with_context(|| {
        let typed = shown(&typed);
        format!("`{typed}` is no code: nothing was answered. A code looks like K7QF-M2XD-9TRB")
    })?;
    let found = pending
        .into_iter()
        .find(|(request, _)| code.is_of(request))
        .context(
            "nothing that waits has this code: nothing was answered. /workflow-status in the host shows the code that counts",
        )?;
    Ok((found.0, code))
}

/// Finds the request of a run by the beginning of its id.
fn of_run(mut pending: Vec<(Request, Option<Decision>)>, task: &str) -> anyhow::Result<Request> {
    pending.retain(|(request, _)| request.task_id.starts_with(task));
    match pending.len() {
        0 => bail!("no run `{}` waits for your approval", shown(task)),
        1 => Ok(pending.remove(0).0),
        several => {
            list(&pending, OutputFormat::Human)?;
            bail!("{several} runs wait: name one of them");
        }
    }
}

/// Fails if the file that a request shows is another one now: the code is for the one that the run asked about.
fn require_unchanged(request: &Request) -> anyhow::Result<()> {
    let show = request.show.as_deref();
    let now = show.map(|show| file_excerpt::state(show, &request.cwd));
    ensure!(
        request.shown_file.as_ref().map(|file| &file.state) == now.as_ref(),
        "{} has changed since the run asked: nothing was answered. /workflow-status in the host asks about the file as it is now",
        visible(show.unwrap_or_default())
    );
    Ok(())
}

fn list(
    pending: &[(Request, Option<Decision>)],
    format: OutputFormat,
) -> anyhow::Result<CommandOutcome> {
    match format {
        OutputFormat::Json => {
            let shown = pending.iter().map(|(request, decision)| Listed {
                request: Request {
                    shown_file: None,
                    proofs: Vec::new(),
                    ..request.clone()
                },
                choice: decision.as_ref().map(|decision| &*decision.choice),
            });
            json(&shown.collect::<Vec<_>>())?;
        }
        OutputFormat::Human => print_all(pending)?,
    }
    let is_waiting = pending.iter().any(|(_, decision)| decision.is_none());
    Ok(if is_waiting {
        CommandOutcome::Waits
    } else {
        CommandOutcome::Success
    })
}

/// A request for programs.
#[derive(serde::Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    request: Request,
    /// The answer that was not used yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a str>,
}

fn print_all(pending: &[(Request, Option<Decision>)]) -> io::Result<()> {
    let mut out = anstream::stdout();
    if pending.is_empty() {
        writeln!(out, "Nothing waits for your approval.")?;
    }
    for (request, decision) in pending {
        print_title(&mut out, request)?;
        writeln!(out, "  {}", visible(&request.ask))?;
        match decision {
            None => writeln!(out, "  {NOTABLE}waits{NOTABLE:#}")?,
            Some(decision) => writeln!(
                out,
                "  {GOOD}answered{GOOD:#}: {}; not used yet",
                visible(&decision.choice)
            )?,
        }
    }
    Ok(())
}

/// Prints the run of a request.
fn print_title(out: &mut impl Write, request: &Request) -> io::Result<()> {
    let Request {
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
    writeln!(out, "  {DIMMED}{task_id} in {cwd}{DIMMED:#}")
}

/// Prints a request with what it is about, the file that it shows, and what each choice does.
fn print_request(
    out: &mut impl Write,
    request: &Request,
    shown: Option<&ShownFile>,
) -> io::Result<()> {
    print_title(out, request)?;
    if !request.about.is_empty() {
        writeln!(out)?;
    }
    for line in &request.about {
        writeln!(out, "  {}", visible(line))?;
    }
    if let (Some(show), Some(file)) = (&request.show, shown) {
        writeln!(out, "\n{}", visible(show))?;
        write!(
            out,
            "{}",
            block("  ", visible_lines(&file.excerpt).trim_end())
        )?;
        if file.excerpt.ends_with(file_excerpt::CUT) {
            writeln!(
                out,
                "  {DIMMED}This is the beginning of a longer file.{DIMMED:#}"
            )?;
        }
    }
    writeln!(out, "\n{TITLE}{}{TITLE:#}", visible_lines(&request.ask))?;
    let width = request.choices.iter().map(|choice| visible(choice).len());
    let width = width.max().unwrap_or_default();
    let choices = request.choices.iter().zip(&request.consequences);
    for (at, (choice, does)) in choices.enumerate() {
        let (number, choice, does) = (at + 1, visible(choice), visible(does));
        writeln!(out, "  {number} {choice:width$}  {does}")?;
    }
    Ok(())
}

fn ask(request: &Request) -> io::Result<Option<String>> {
    terminal::ask(&format!("[{}]", choices(request)))
}

/// Returns the possible choices with their numbers.
fn choices(request: &Request) -> String {
    let choices = request.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, visible(choice)));
    choices.collect::<Vec<_>>().join(" · ")
}

/// Returns the choice for an answer, which is its text or its number.
fn chosen(request: &Request, answer: &str) -> Option<String> {
    let by_text = request.choices.iter().find(|choice| *choice == answer);
    let by_number = || {
        let number: usize = answer.parse().ok()?;
        request.choices.get(number.checked_sub(1)?)
    };
    by_text.or_else(by_number).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::answers::requests::tests::request;

    #[test]
    fn a_question_has_what_it_is_about_and_what_each_choice_does() {
        let mut out = Vec::new();
        print_request(&mut out, &request("wf-1"), None).expect("memory takes everything");
        let text = String::from_utf8(out).expect("it is text");
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "Feature > Plan: a button\n  wf-1 in /project\n\n  The agent says: It is a button.\n\nPlan OK?\n\
             \x20 1 approve  goes to 🔧 Build\n  2 revise   stays in Plan\n"
        );
    }
}
