//! `approve`: the user's answer to an approval request, outside of the host.

use std::io::{self, Write};

use anyhow::{Context, anyhow, bail};
use workflow_core::diagnostic::{shown, visible, visible_lines};

use super::project::UserDirectory;
use super::terminal;
use crate::platform::answers::ancestry::ProcessJudgement;
use crate::platform::answers::answer_socket::{
    self, Registration, Request, SocketAnswer, SocketReply,
};
use crate::platform::answers::approvals::{Approvals, RequestFile, StoredRequest};
use crate::platform::answers::one_time_code::seal;
use crate::platform::file_excerpt::{self, ShownFile};
use crate::present::{CommandOutcome, DIMMED, GOOD, NOTABLE, OutputFormat, TITLE, block, json};
use crate::store::AnswerRight;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar approve                            show the question, then read your answer
  workflow-sidecar approve wf-1767225600000-3t8xrq    choose a run; the first letters are enough
  workflow-sidecar approve --choice revise            answer without a prompt
  workflow-sidecar approve --choice revise --comment 'name the risks'
                                                      answer with a comment for the agent
  workflow-sidecar approve --code K7QM-2XWP-9RTB      answer with the code that the host shows
  workflow-sidecar approve --list                     list the runs that wait

While the session is open, your answer counts at once: it closes the dialog in the host, and the run continues. If the
session is closed, your answer is stored, and used when the session is open again and the agent calls workflow_step with
action='next'. It is valid only for what you were shown: if that changes, you are asked again.

Only the user can answer, in a terminal that the agent did not start. A terminal that was open before the agent
needs no code. Any other terminal needs the code that the host shows, and so does an answer while the host is
closed. With --code and --choice no terminal is needed.

Exits with 3 if something still waits.";

/// The context of an error on the socket.
pub(super) const NO_REPLY: &str = "the running sidecar does not reply";

const NO_CODE: &str = "no code given; nothing was approved";

/// Answer a run that waits for approval
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Task id of the run, or its beginning; needed if several runs wait
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// Answer, without a prompt
    #[arg(long, value_name = "CHOICE", conflicts_with = "list")]
    choice: Option<String>,
    /// Comment for the agent
    #[arg(long, value_name = "TEXT", conflicts_with = "list")]
    comment: Option<String>,
    /// Code that the host shows; needed if the terminal may belong to the agent
    #[arg(long, value_name = "CODE", conflicts_with = "list")]
    code: Option<String>,
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
    let agent_dir = arguments.user.directory();
    let approvals = Approvals::in_agent_dir(&agent_dir)?;
    let task = arguments.task.as_deref().unwrap_or_default();
    let mut pending = approvals.all()?;
    pending.retain(|file| file.request.task_id.starts_with(task));
    if arguments.list {
        return list(&pending, arguments.format);
    }
    // The code proves as much as a terminal, and so does the role of an approver.
    let is_approver = approvals.answer_right() == AnswerRight::MayAnswer;
    if arguments.choice.is_none() || arguments.code.is_none() && !is_approver {
        terminal::require("approve")
            .map_err(|error| anyhow!("{error}, or with --choice and --code"))?;
    }
    let file = match pending.len() {
        0 if task.is_empty() => {
            writeln!(anstream::stdout(), "Nothing waits for your approval.")?;
            return Ok(CommandOutcome::Success);
        }
        0 => bail!("no run `{}` waits for your approval", shown(task)),
        1 => pending.remove(0),
        several => {
            list(&pending, OutputFormat::Human)?;
            bail!("{several} runs wait: name one of them");
        }
    };
    // Where approvers have a role of their own, the sidecar that asks may be on another machine.
    let name = file.sidecar.as_deref().filter(|_| !is_approver);
    let sidecar = name.and_then(|name| answer_socket::sidecar(&agent_dir, name));
    if let Some(sidecar) = &sidecar
        && let SocketReply::Judged(ProcessJudgement::Agent(why)) =
            sidecar.request(&Request::Judge).context(NO_REPLY)?
    {
        return Err(refused(&why));
    }
    let request = &file.request;
    let shown_file = shown_file(request, is_approver)?;
    print_request(&mut anstream::stdout(), request, shown_file.as_ref())?;
    let answer = match &arguments.choice {
        Some(choice) => Some(choice.clone()),
        None => ask(request)?,
    };
    let Some(answer) = answer else {
        writeln!(
            anstream::stdout(),
            "Nothing was answered. The run still waits."
        )?;
        return Ok(CommandOutcome::Waits);
    };
    let Some(choice) = chosen(request, &answer) else {
        let answer = shown(&answer);
        bail!("`{answer}` cannot be chosen: {}", choices(request));
    };
    if self::shown_file(request, is_approver)? != shown_file {
        let show = visible(request.show.as_deref().unwrap_or_default());
        bail!(
            "{show} has changed since it was shown to you: nothing was answered. Look at it again"
        );
    }
    let answer = SocketAnswer {
        request: request.clone(),
        choice: choice.clone(),
        comment: comment(arguments),
        shown: shown_file.map(|file| file.state),
        code: arguments.code.clone(),
    };
    let what_follows = match sidecar {
        Some(sidecar) => {
            send(answer, &sidecar)?;
            "sent to the session, which continues with it at once."
        }
        None if is_approver => {
            store_as_approver(answer, &approvals)?;
            "stored. In pi and opencode the run continues within seconds; elsewhere when its agent calls workflow_step again."
        }
        None => {
            store(answer, file.seal.as_deref(), &approvals)?;
            "stored. No sidecar runs for this session: open the session again, and ask the agent to continue."
        }
    };
    writeln!(
        anstream::stdout(),
        "{GOOD}{}{GOOD:#}: {what_follows}",
        visible(&choice)
    )?;
    Ok(CommandOutcome::Success)
}

/// The comment, unless it is blank.
fn comment(arguments: &Arguments) -> Option<String> {
    let comment = arguments.comment.as_deref()?.trim();
    (!comment.is_empty()).then(|| comment.to_owned())
}

/// Sends an answer to the sidecar that asks, with a code if that needs one.
fn send(mut answer: SocketAnswer, sidecar: &Registration) -> anyhow::Result<()> {
    let send = |answer: &SocketAnswer| {
        let request = Request::Answer(Box::new(answer.clone()));
        sidecar.request(&request).context(NO_REPLY)
    };
    let mut reply = send(&answer)?;
    if let SocketReply::CodeNeeded(why) = &reply {
        let code = terminal::ask_code(why, "the host shows it now")?;
        answer.code = Some(code.context(NO_CODE)?);
        reply = send(&answer)?;
    }
    match reply {
        SocketReply::Noted => Ok(()),
        SocketReply::WrongCode => Err(wrong_code()),
        SocketReply::TooManyCodes => bail!(
            "too many wrong codes were given, so this code does not count any more: answer in the host, or ask the agent to continue, \
             which makes a new code"
        ),
        SocketReply::Refused(why) => Err(refused(&why)),
        SocketReply::Gone | SocketReply::CodeNeeded(_) | SocketReply::Judged(_) => Err(gone()),
    }
}

/// Stores an answer with the code that proves it, for the time when a sidecar runs again.
fn store(answer: SocketAnswer, known: Option<&str>, approvals: &Approvals) -> anyhow::Result<()> {
    let Some(known) = known else {
        bail!("this was asked without a code: answer in the host");
    };
    let code = match answer.code.clone() {
        Some(code) => code,
        None => terminal::ask_code(
            "the host that asked is closed",
            "it was shown with the question",
        )?
        .context(NO_CODE)?,
    };
    if seal(&answer.request.nonce, &code) != known {
        return Err(wrong_code());
    }
    let request = answer.request.clone();
    let decision = answer.into_decision(code, None);
    if !approvals.store_decision(&request, &decision)? {
        return Err(gone());
    }
    Ok(())
}

/// Stores an answer that the role of this process proves, with the question that was answered.
fn store_as_approver(answer: SocketAnswer, approvals: &Approvals) -> anyhow::Result<()> {
    let request = answer.request.clone();
    let code = answer.code.clone().unwrap_or_default();
    let decision = answer.into_decision(code, Some(request.clone()));
    if approvals.store_decision(&request, &decision)? {
        Ok(())
    } else {
        Err(gone())
    }
}

fn gone() -> anyhow::Error {
    anyhow!("the run has moved on and no longer waits for this")
}

fn wrong_code() -> anyhow::Error {
    anyhow!("this is not the code: nothing was answered")
}

/// The error of an answer that the agent gives, or may give.
pub(super) fn refused(why: &str) -> anyhow::Error {
    anyhow!("{why}: answer in the host's dialog, or in another terminal that you opened yourself")
}

fn list(pending: &[RequestFile], format: OutputFormat) -> anyhow::Result<CommandOutcome> {
    match format {
        OutputFormat::Json => {
            let shown = pending.iter().map(|file| RequestFile {
                request: StoredRequest {
                    shown_file: None,
                    ..file.request.clone()
                },
                seal: None,
                sidecar: None,
                choice: file.choice.clone(),
            });
            json(&shown.collect::<Vec<_>>())?;
        }
        OutputFormat::Human => print_all(pending)?,
    }
    let is_waiting = pending.iter().any(|status| status.choice.is_none());
    Ok(if is_waiting {
        CommandOutcome::Waits
    } else {
        CommandOutcome::Success
    })
}

fn print_all(pending: &[RequestFile]) -> io::Result<()> {
    let mut out = anstream::stdout();
    if pending.is_empty() {
        writeln!(out, "Nothing waits for your approval.")?;
    }
    for RequestFile {
        request, choice, ..
    } in pending
    {
        print_title(&mut out, request)?;
        writeln!(out, "  {}", visible(&request.ask))?;
        match choice {
            None => writeln!(out, "  {NOTABLE}waits{NOTABLE:#}")?,
            Some(choice) => writeln!(
                out,
                "  {GOOD}answered{GOOD:#}: {}; not used yet",
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
    writeln!(out, "  {DIMMED}{task_id} in {cwd}{DIMMED:#}")
}

/// Prints a request with what it is about, the file that it shows, and what each choice does.
fn print_request(
    out: &mut impl Write,
    request: &StoredRequest,
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

/// The file that a request shows. For an approver, who may be on another machine, it is the one that the run's machine stored
/// with the question: an answer is one about exactly that.
fn shown_file(request: &StoredRequest, is_approver: bool) -> anyhow::Result<Option<ShownFile>> {
    let Some(show) = request.show.as_deref() else {
        return Ok(None);
    };
    if is_approver && request.shown_file.is_some() {
        return Ok(request.shown_file.clone());
    }
    if is_approver && !request.cwd.join(show).is_file() {
        let cwd = visible(&request.cwd.to_string_lossy());
        let show = visible(show);
        bail!(
            "this question is about {show} in {cwd}, which is not on this machine: nothing was answered. Get the project with the run's \
             changes at the same path and run this command again, or answer on the machine of the run"
        )
    }
    Ok(Some(ShownFile::read(show, &request.cwd)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::answers::approvals::tests::stored_request;

    #[test]
    fn a_question_has_what_it_is_about_and_what_each_choice_does() {
        let mut out = Vec::new();
        print_request(&mut out, &stored_request(), None).expect("memory takes everything");
        let text = String::from_utf8(out).expect("it is text");
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "Feature > Plan: a button\n  wf-1 in /project\n\n  The agent says: It is a button.\n\nPlan OK?\n\
             \x20 1 approve  goes to 🔧 Build\n  2 revise   stays in Plan\n"
        );
    }
}
