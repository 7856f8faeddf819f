//! `show`: a recording, or a session file of pi, as a timeline.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use serde::Serialize;
use workflow_core::definition::{Catalog, load};
use workflow_core::diagnostic::{shown, visible};
use workflow_core::guard::gate::{GateVerdict, Report};

use super::format::{ASIDE, BAD, Format, GOOD, NOTABLE, TITLE, block, count, json, moment};
use super::outcome::Outcome;
use super::project::Own;
use crate::record::Transcript;
use crate::session_file::{SessionFile, bytes_of, is_session};
use crate::show::{Happened, Timeline, Totals, of_recording, of_session};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar show ~/.pi/agent/sessions/--project--/session.jsonl
  workflow-sidecar show recording.jsonl
  workflow-sidecar show recording.jsonl --format json | jq '.sessions[].totals'

A file is a session of pi if its first line says so, else it is a recording. Of a session the branch is
shown that it stands on.";

/// Tell a recording or a session file of pi as a timeline
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The recording, or the session's file
    file: PathBuf,
    /// The project that says what phases are called where no definition is stored
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    own: Own,
    /// Whom the output is for
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What is shown of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    /// What kind of file it is.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Each session, by its id; that of a session file has none.
    sessions: Vec<Session>,
    /// Lines that are no entries.
    skipped: usize,
    /// Entries on other branches.
    elsewhere: usize,
}

#[derive(Serialize)]
struct Session {
    id: String,
    #[serde(flatten)]
    timeline: Timeline,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let bytes = bytes_of(&arguments.file)?;
    let loaded = match &arguments.project {
        Some(project) => Some(load(&arguments.own.disk(project)?)),
        None => None,
    };
    let known = loaded.map(|loaded| loaded.catalog);
    let shown = if is_session(&bytes) {
        session(&bytes, known)
    } else {
        let transcript = Transcript::parse(&arguments.file, &bytes)
            .context("this is neither a session of pi nor a recording");
        recording(of_recording(&transcript?, known))
    };
    match arguments.format {
        Format::Json => json(&shown)?,
        Format::Human => shown.tell()?,
    }
    Ok(Outcome::Well)
}

fn session(bytes: &[u8], known: Option<Arc<Catalog>>) -> Shown {
    let file = SessionFile::parse(bytes);
    let timeline = of_session(&file, known);
    Shown {
        kind: "session",
        cwd: file.cwd.as_deref().map(str::to_owned),
        sessions: vec![Session {
            id: String::new(),
            timeline,
        }],
        skipped: file.skipped,
        elsewhere: file.elsewhere,
    }
}

fn recording(sessions: BTreeMap<String, Timeline>) -> Shown {
    let sessions = sessions.into_iter();
    Shown {
        kind: "recording",
        cwd: None,
        sessions: sessions
            .map(|(id, timeline)| Session { id, timeline })
            .collect(),
        skipped: 0,
        elsewhere: 0,
    }
}

impl Shown {
    fn tell(&self) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        for (at, Session { id, timeline }) in self.sessions.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            if !id.is_empty() {
                writeln!(out, "{TITLE}session {}{TITLE:#}", shown(id))?;
            }
            tell(&mut out, timeline)?;
        }
        if self.sessions.is_empty() {
            writeln!(out, "nothing happened in any session")?;
        }
        if self.elsewhere > 0 {
            let entries = entries(self.elsewhere);
            writeln!(out, "{ASIDE}{entries} on other branches not shown{ASIDE:#}")?;
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

fn tell(out: &mut impl Write, timeline: &Timeline) -> io::Result<()> {
    let start = timeline.events.iter().find_map(|event| event.at);
    match start {
        Some(start) => writeln!(out, "{ASIDE}{}{ASIDE:#}", moment(start, 0))?,
        None if timeline.events.is_empty() => writeln!(out, "no workflow was run")?,
        None => {}
    }
    for event in &timeline.events {
        let times = event.at.zip(start);
        let since = times.map(|(at, start)| at.saturating_sub(start));
        let since = since.map_or(String::new(), |since| format!("+{}", duration(since)));
        write!(out, "{ASIDE}{since:>11}{ASIDE:#}  ")?;
        tell_one(out, &event.what)?;
    }
    totals(out, &timeline.totals)
}

fn tell_one(out: &mut impl Write, what: &Happened) -> io::Result<()> {
    let after = |lasted: &Option<i64>| {
        lasted.map_or(String::new(), |lasted| {
            format!(" after {}", duration(lasted))
        })
    };
    match what {
        Happened::Started { workflow, task } => {
            writeln!(
                out,
                "{TITLE}started {}{TITLE:#}: {}",
                shown(workflow),
                shown(task)
            )
        }
        Happened::Resumed { workflow, task } => {
            writeln!(
                out,
                "{TITLE}taken up {}{TITLE:#}: {}",
                shown(workflow),
                shown(task)
            )
        }
        Happened::Entered { phase, by, lasted } => {
            let by = by
                .as_deref()
                .map_or(String::new(), |by| format!("{} → ", shown(by)));
            let lasted = lasted.map_or(String::new(), |lasted| {
                format!("  {ASIDE}{}{ASIDE:#}", duration(lasted))
            });
            writeln!(out, "{by}{}{lasted}", shown(phase))
        }
        Happened::Denied { tool, reason } => {
            writeln!(out, "{BAD}denied{BAD:#} {}", shown(tool))?;
            block(out, "               ", reason)
        }
        Happened::Gate { checks } => gate(out, checks),
        Happened::Asked { question, answer } => {
            let answer = answer.as_deref().map_or_else(
                || "no answer".to_owned(),
                |answer| format!("answered {}", shown(answer)),
            );
            writeln!(
                out,
                "{NOTABLE}asked{NOTABLE:#}: {}  {ASIDE}{answer}{ASIDE:#}",
                shown(question)
            )
        }
        Happened::Refused { action, answer } => {
            writeln!(out, "{BAD}refused{BAD:#} workflow_step {}", shown(action))?;
            block(out, "               ", answer)
        }
        Happened::Pushed { times } => {
            writeln!(out, "{NOTABLE}told to go on{NOTABLE:#}, {times} in a row")
        }
        Happened::Spoke { text } => writeln!(out, "a person: {}", shown(text)),
        Happened::Woken { text } => {
            writeln!(out, "{NOTABLE}a trigger{NOTABLE:#}: {}", shown(text))
        }
        Happened::BroughtBack { said } => writeln!(out, "the code: {}", visible(said)),
        Happened::Parked { why } => writeln!(out, "{NOTABLE}parked{NOTABLE:#}: {why}"),
        Happened::Compacted => writeln!(out, "{ASIDE}older messages became a summary{ASIDE:#}"),
        Happened::Completed { lasted } => writeln!(out, "{GOOD}complete{GOOD:#}{}", after(lasted)),
        Happened::Cancelled { lasted } => writeln!(out, "{BAD}cancelled{BAD:#}{}", after(lasted)),
    }
}

/// The checks of a gate: what ran, how it ended, how long it took, where it stands.
fn gate(out: &mut impl Write, checks: &[Report]) -> io::Result<()> {
    let has_passed = checks.iter().all(Report::has_passed);
    let (style, verdict) = if has_passed {
        (GOOD, "passed")
    } else {
        (BAD, "closed")
    };
    writeln!(out, "{style}gate {verdict}{style:#}")?;
    for check in checks {
        let (style, mark) = match check.verdict {
            GateVerdict::Passed => (GOOD, "✓"),
            GateVerdict::Failed => (BAD, "✗"),
            GateVerdict::CouldNotRun(_) => (NOTABLE, "⚠"),
        };
        let lasted = i64::try_from(check.duration_ms).unwrap_or(i64::MAX);
        let why = if check.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", shown(&check.reason))
        };
        writeln!(
            out,
            "               {style}{mark}{style:#} {}{why}  {ASIDE}{}  {}{ASIDE:#}",
            shown(&check.what),
            duration(lasted),
            shown(&check.source)
        )?;
    }
    Ok(())
}

fn totals(out: &mut impl Write, totals: &Totals) -> io::Result<()> {
    let number =
        |number: u64, noun: &str| count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let kept = match totals.checkpoints {
        0 => String::new(),
        kept => format!(", {}", number(kept, "checkpoint")),
    };
    writeln!(
        out,
        "{}, {}, {}{kept}",
        number(totals.tool_calls, "tool call"),
        number(totals.denials, "denial"),
        number(totals.pushes, "reminder"),
    )?;
    let told = [
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
    ];
    let characters = told.iter().map(|(characters, ..)| characters).sum();
    let told = told.iter().filter(|(_, messages, _)| *messages > 0);
    let told: Vec<String> = told
        .map(|(characters, messages, what)| format!("{characters} in {}", number(*messages, what)))
        .collect();
    if told.is_empty() {
        return writeln!(out, "nothing put into the model's context");
    }
    writeln!(
        out,
        "{} put into the model's context: {}",
        number(characters, "character"),
        told.join(", ")
    )
}

/// Milliseconds as people read them.
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
