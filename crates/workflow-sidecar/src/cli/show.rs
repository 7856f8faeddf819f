//! `show`: the timeline of a recording or of a pi session.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Serialize;
use workflow_core::definition::{Catalog, load};
use workflow_core::diagnostic::{shown, visible};
use workflow_core::policy::gate_report::{CheckVerdict, Report};

use super::project::UserDirectory;
use super::run_session::{RunSession, keep_run, place_of, run_id, run_session};
use crate::present::{
    BAD, CommandOutcome, DIMMED, GOOD, Moment, NOTABLE, OutputFormat, TITLE, block, count, json,
};
use crate::record::Transcript;
use crate::session_file::{SessionFile, is_session, read_file};
use crate::show::{
    FlowNotes, TimedEvent, Timeline, TimelineEvent, Totals, of_recording, of_session,
};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar show ~/.pi/agent/sessions/--project--/session.jsonl
  workflow-sidecar show wf-1767225600000-3t8xrq    a run of any host; the first letters are enough
  workflow-sidecar show recording.jsonl
  workflow-sidecar show recording.jsonl --format json | jq '.sessions[].totals'

A file is a session of pi if its first line says so; otherwise it is a recording. Of a pi session the current
branch is shown.";

/// Show a recording or a pi session as a timeline
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Recording, session file of pi, or the id of a run
    file: PathBuf,
    /// Project with the names of phases, for sessions that do not store their definition
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    user: UserDirectory,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The output: every session of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShowOutput {
    /// The kind of file.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// The sessions by id; the one of a session file has no id.
    sessions: Vec<SessionTimeline>,
    /// Lines that could not be read as an entry.
    skipped: usize,
    /// Entries on other branches.
    on_other_branches: usize,
}

#[derive(Serialize)]
struct SessionTimeline {
    id: String,
    events: Vec<TimedEvent>,
    /// `None` for a session whose messages only its host knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
}

impl SessionTimeline {
    fn of(id: String, timeline: Timeline) -> Self {
        Self {
            id,
            events: timeline.events,
            totals: Some(timeline.totals),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let loaded = match &arguments.project {
        Some(project) => Some(load(&arguments.user.disk(project)?)),
        None => None,
    };
    let known = loaded.map(|loaded| loaded.catalog);
    let output = if let Some(id) = run_id(&arguments.file) {
        of_run(&run_session(id, &arguments.user.directory())?, known)?
    } else {
        let bytes = read_file(&arguments.file)?;
        if is_session(&bytes) {
            session(&SessionFile::parse(&bytes), known, true)
        } else {
            let transcript = Transcript::parse(&arguments.file, &bytes)
                .context("this is neither a session of pi nor a recording");
            recording(of_recording(&transcript?, known))
        }
    };
    match arguments.format {
        OutputFormat::Json => json(&output)?,
        OutputFormat::Human => output.print()?,
    }
    Ok(CommandOutcome::Success)
}

/// The part of a session that is about one run.
fn of_run(found: &RunSession, known: Option<Arc<Catalog>>) -> anyhow::Result<ShowOutput> {
    let Some(bytes) = &found.bytes else {
        bail!("{}", place_of(&found.run));
    };
    let mut file = SessionFile::parse(bytes);
    keep_run(&mut file, &found.run);
    if file.entries.is_empty() {
        bail!(
            "the session of {} has nothing of it on its current branch",
            visible(&found.run.run.task_id)
        );
    }
    file.on_other_branches = 0;
    Ok(session(&file, known, found.has_messages))
}

fn session(file: &SessionFile<'_>, known: Option<Arc<Catalog>>, has_messages: bool) -> ShowOutput {
    let mut timeline = SessionTimeline::of(String::new(), of_session(file, known));
    timeline.totals.take_if(|_| !has_messages);
    ShowOutput {
        kind: "session",
        cwd: file.cwd.as_deref().map(str::to_owned),
        sessions: vec![timeline],
        skipped: file.skipped,
        on_other_branches: file.on_other_branches,
    }
}

fn recording(sessions: BTreeMap<String, Timeline>) -> ShowOutput {
    let sessions = sessions.into_iter();
    ShowOutput {
        kind: "recording",
        cwd: None,
        sessions: sessions
            .map(|(id, timeline)| SessionTimeline::of(id, timeline))
            .collect(),
        skipped: 0,
        on_other_branches: 0,
    }
}

impl ShowOutput {
    fn print(&self) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        for (at, session) in self.sessions.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            if !session.id.is_empty() {
                writeln!(out, "{TITLE}session {}{TITLE:#}", shown(&session.id))?;
            }
            print_timeline(&mut out, session)?;
        }
        if self.sessions.is_empty() {
            writeln!(out, "nothing happened in any session")?;
        }
        if self.on_other_branches > 0 {
            let entries = entries(self.on_other_branches);
            writeln!(
                out,
                "{DIMMED}{entries} on other branches not shown{DIMMED:#}"
            )?;
        }
        if self.skipped > 0 {
            let lines = count(self.skipped, "line");
            writeln!(
                out,
                "{NOTABLE}note:{NOTABLE:#} {lines} could not be read as an entry"
            )?;
        }
        Ok(())
    }
}

fn entries(number: usize) -> String {
    let plural = if number == 1 { "entry" } else { "entries" };
    format!("{number} {plural}")
}

fn print_timeline(out: &mut impl Write, timeline: &SessionTimeline) -> io::Result<()> {
    let start = timeline.events.iter().find_map(|event| event.at);
    match start {
        Some(start) => writeln!(out, "{DIMMED}{}{DIMMED:#}", Moment(start).with_seconds())?,
        None if timeline.events.is_empty() => writeln!(out, "no workflow was run")?,
        None => {}
    }
    for event in &timeline.events {
        let times = event.at.zip(start);
        let since = times.map(|(at, start)| at.saturating_sub(start));
        let since = since.map_or(String::new(), |since| format!("+{}", duration(since)));
        write!(out, "{DIMMED}{since:>11}{DIMMED:#}  ")?;
        print_event(out, &event.what)?;
    }
    match &timeline.totals {
        Some(totals) => print_totals(out, totals),
        None => writeln!(
            out,
            "{DIMMED}tool calls and messages are in the session of the host, and not known here{DIMMED:#}"
        ),
    }
}

fn print_event(out: &mut impl Write, what: &TimelineEvent) -> io::Result<()> {
    let after = |lasted: &Option<i64>| {
        lasted.map_or(String::new(), |lasted| {
            format!(" after {}", duration(lasted))
        })
    };
    match what {
        TimelineEvent::Started { workflow, task } => {
            writeln!(
                out,
                "{TITLE}started {}{TITLE:#}: {}",
                shown(workflow),
                shown(task)
            )
        }
        TimelineEvent::Resumed { workflow, task } => {
            writeln!(
                out,
                "{TITLE}taken up {}{TITLE:#}: {}",
                shown(workflow),
                shown(task)
            )
        }
        TimelineEvent::Entered {
            phase,
            by,
            lasted,
            flow,
        } => print_phase(out, phase, by.as_ref(), *lasted, flow),
        TimelineEvent::Denied { tool, reason } => {
            writeln!(out, "{BAD}denied{BAD:#} {}", shown(tool))?;
            out.write_all(block("               ", reason).as_bytes())
        }
        TimelineEvent::Gate { checks } => print_gate(out, checks),
        TimelineEvent::Asked { question, answer } => {
            let answer = answer.as_deref().map_or_else(
                || "no answer".to_owned(),
                |answer| format!("answered {}", shown(answer)),
            );
            writeln!(
                out,
                "{NOTABLE}asked{NOTABLE:#}: {}  {DIMMED}{answer}{DIMMED:#}",
                shown(question)
            )
        }
        TimelineEvent::Answered { choice, comment } => {
            writeln!(
                out,
                "{NOTABLE}the user answered{NOTABLE:#} {}",
                shown(choice)
            )?;
            match comment {
                Some(comment) => out.write_all(block("               ", comment).as_bytes()),
                None => Ok(()),
            }
        }
        TimelineEvent::Refused { action, answer } => {
            writeln!(out, "{BAD}refused{BAD:#} workflow_step {}", shown(action))?;
            out.write_all(block("               ", answer).as_bytes())
        }
        TimelineEvent::Reminded { times } => {
            writeln!(out, "{NOTABLE}reminded{NOTABLE:#}, {times} in a row")
        }
        TimelineEvent::UserMessage { text } => writeln!(out, "the user: {}", shown(text)),
        TimelineEvent::Triggered { text } => {
            writeln!(out, "{NOTABLE}a trigger{NOTABLE:#}: {}", shown(text))
        }
        TimelineEvent::CodeRestored { message } => {
            writeln!(out, "the code: {}", visible(message))
        }
        TimelineEvent::Paused { why } => writeln!(out, "{NOTABLE}{why}{NOTABLE:#}"),
        TimelineEvent::Compacted => {
            writeln!(out, "{DIMMED}older messages became a summary{DIMMED:#}")
        }
        TimelineEvent::Completed { lasted, flow } => {
            let by = flow.user_command.as_deref().map(by_user);
            let by = by.map_or_else(String::new, |by| format!("{} → ", shown(&by)));
            writeln!(out, "{by}{GOOD}complete{GOOD:#}{}", after(lasted))?;
            print_user(out, flow)
        }
        TimelineEvent::Cancelled { lasted } => {
            writeln!(out, "{BAD}cancelled{BAD:#}{}", after(lasted))
        }
    }
}

/// Prints a phase, and why it was entered.
fn print_phase(
    out: &mut impl Write,
    phase: &str,
    by: Option<&String>,
    lasted: Option<i64>,
    flow: &FlowNotes,
) -> io::Result<()> {
    let cause = if let Some(command) = &flow.user_command {
        by_user(command)
    } else {
        let causes: Vec<&str> = by
            .into_iter()
            .chain(&flow.outcome)
            .map(String::as_str)
            .collect();
        causes.join(" ")
    };
    let cause = match cause.as_str() {
        "" => cause,
        cause => format!("{} → ", shown(cause)),
    };
    let lasted = lasted.map_or(String::new(), |lasted| {
        format!("  {DIMMED}{}{DIMMED:#}", duration(lasted))
    });
    let visit = flow.visit.map(|visit| format!(", visit {visit}"));
    let visit = visit.unwrap_or_default();
    writeln!(out, "{cause}{}{visit}{lasted}", shown(phase))?;
    if !flow.skipped.is_empty() {
        let skipped = shown(&flow.skipped.join(", "));
        writeln!(out, "               {DIMMED}skipped {skipped}{DIMMED:#}")?;
    }
    print_user(out, flow)
}

/// Names a command of the user, as the cause of a move.
fn by_user(command: &str) -> String {
    format!("the user: /workflow-{command}")
}

/// Prints what the user passed over, and the comment of the user.
fn print_user(out: &mut impl Write, flow: &FlowNotes) -> io::Result<()> {
    for overridden in &flow.overrode {
        writeln!(
            out,
            "               {BAD}passed over{BAD:#} {}",
            shown(overridden)
        )?;
    }
    match &flow.comment {
        Some(comment) => out.write_all(block("               ", comment).as_bytes()),
        None => Ok(()),
    }
}

/// Prints the checks of a gate: result, duration and location.
fn print_gate(out: &mut impl Write, checks: &[Report]) -> io::Result<()> {
    let has_passed = checks.iter().all(Report::has_passed);
    let (style, result) = if has_passed {
        (GOOD, "passed")
    } else {
        (BAD, "not passed")
    };
    writeln!(out, "{style}gate {result}{style:#}")?;
    for check in checks {
        let (style, mark) = match check.verdict {
            CheckVerdict::Passed => (GOOD, "✓"),
            CheckVerdict::Failed => (BAD, "✗"),
            CheckVerdict::CouldNotRun(_) => (NOTABLE, "⚠"),
        };
        let lasted = i64::try_from(check.duration_ms).unwrap_or(i64::MAX);
        let why = if check.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", shown(&check.reason))
        };
        writeln!(
            out,
            "               {style}{mark}{style:#} {}{why}  {DIMMED}{}  {}{DIMMED:#}",
            shown(&check.what),
            duration(lasted),
            shown(&check.source)
        )?;
    }
    Ok(())
}

fn print_totals(out: &mut impl Write, totals: &Totals) -> io::Result<()> {
    let number =
        |number: u64, noun: &str| count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let checkpoints = match totals.checkpoints {
        0 => String::new(),
        checkpoints => format!(", {}", number(checkpoints, "checkpoint")),
    };
    writeln!(
        out,
        "{}, {}, {}{checkpoints}",
        number(totals.tool_calls, "tool call"),
        number(totals.denials, "denial"),
        number(totals.reminders, "reminder"),
    )?;
    let sent = [
        (
            totals.context_characters,
            totals.contexts,
            "context message",
        ),
        (
            totals.initial_message_characters,
            totals.initial_messages,
            "initial message",
        ),
        (totals.reminder_characters, totals.reminders, "reminder"),
        (totals.message_characters, totals.messages, "other message"),
    ];
    let characters = sent.iter().map(|(characters, ..)| characters).sum();
    let sent = sent.iter().filter(|(_, messages, _)| *messages > 0);
    let sent: Vec<String> = sent
        .map(|(characters, messages, what)| format!("{characters} in {}", number(*messages, what)))
        .collect();
    if sent.is_empty() {
        return writeln!(out, "nothing added to the model's context");
    }
    writeln!(
        out,
        "{} added to the model's context: {}",
        number(characters, "character"),
        sent.join(", ")
    )
}

/// Formats a duration.
fn duration(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let millis = millis.unsigned_abs();
    let (seconds, minutes, hours) = (millis / 1000, millis / 60_000, millis / 3_600_000);
    if hours > 0 {
        format!("{sign}{hours} h {} min", minutes % 60)
    } else if minutes > 0 {
        format!("{sign}{minutes} min {} s", seconds % 60)
    } else {
        format!("{sign}{seconds}.{} s", millis % 1000 / 100)
    }
}
