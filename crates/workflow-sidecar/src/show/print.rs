//! Timelines as text.

use clap::builder::styling::Style;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::policy::gate_report::{CheckVerdict, Report};

use super::run::FlowNotes;
use super::timeline::{TimelineEvent, Totals};
use super::{SessionTimeline, Timelines};
use crate::present::{BAD, DIMMED, GOOD, Moment, NOTABLE, Page, TITLE, count, paint};

/// The columns before what belongs to an event.
const INDENT: &str = "               ";

impl Timelines {
    /// Adds the timelines to a page.
    pub(crate) fn print(&self, page: &mut Page) {
        for (at, session) in self.sessions.iter().enumerate() {
            if at > 0 {
                page.line("");
            }
            if !session.id.is_empty() {
                let session = format_args!("session {}", shown(&session.id));
                page.line(paint(TITLE, session));
            }
            session.print(page);
        }
        if self.sessions.is_empty() {
            page.line("nothing happened in any session");
        }
        if let number @ 1.. = self.on_other_branches {
            let entries = if number == 1 { "entry" } else { "entries" };
            let entries = format_args!("{number} {entries} on other branches not shown");
            page.line(paint(DIMMED, entries));
        }
        if self.skipped > 0 {
            let (note, lines) = (paint(NOTABLE, "note:"), count(self.skipped, "line"));
            page.line(format_args!("{note} {lines} could not be read as an entry"));
        }
    }
}

impl SessionTimeline {
    fn print(&self, page: &mut Page) {
        let start = self.events.iter().find_map(|event| event.at);
        match start {
            Some(start) => page.line(paint(DIMMED, Moment(start).with_seconds())),
            None if self.events.is_empty() => page.line("no workflow was run"),
            None => {}
        }
        for event in &self.events {
            let since = event.at.zip(start);
            let since = since.map(|(at, start)| format!("+{}", duration(at.saturating_sub(start))));
            let since = format!("{:>11}", since.unwrap_or_default());
            page.add(&format!("{}  ", paint(DIMMED, since)));
            event.what.print(page);
        }
        match &self.totals {
            Some(totals) => totals.print(page),
            None => page.line(paint(
                DIMMED,
                "tool calls and messages are in the session of the host, and not known here",
            )),
        }
    }
}

impl TimelineEvent {
    /// Adds the line of an event, and the lines below it.
    fn print(&self, page: &mut Page) {
        let mut styled = |style: Style, word: &str, rest: &str, below: Option<&String>| {
            page.line(format_args!("{} {}", paint(style, word), shown(rest)));
            if let Some(below) = below {
                page.block(INDENT, below);
            }
        };
        let after = |lasted: &Option<i64>| match lasted {
            Some(lasted) => format!(" after {}", duration(*lasted)),
            None => String::new(),
        };
        match self {
            Self::Started { workflow, task } => page.line(begun("started", workflow, task)),
            Self::Resumed { workflow, task } => page.line(begun("taken up", workflow, task)),
            Self::Entered {
                phase,
                by,
                lasted,
                flow,
            } => entered(page, phase, by.as_ref(), *lasted, flow),
            Self::Denied { tool, reason } => styled(BAD, "denied", tool, Some(reason)),
            Self::Gate { checks } => gate(page, checks),
            Self::Asked { question, answer } => {
                let answer = match answer {
                    Some(answer) => format!("answered {}", shown(answer)),
                    None => "no answer".to_owned(),
                };
                let (asked, answer) = (paint(NOTABLE, "asked"), paint(DIMMED, answer));
                page.line(format_args!("{asked}: {}  {answer}", shown(question)));
            }
            Self::Answered { choice, comment } => {
                styled(NOTABLE, "the user answered", choice, comment.as_ref());
            }
            Self::Refused { action, answer } => {
                let action = format!("workflow_step {action}");
                styled(BAD, "refused", &action, Some(answer));
            }
            Self::Reminded { times } => {
                let reminded = paint(NOTABLE, "reminded");
                page.line(format_args!("{reminded}, {times} in a row"));
            }
            Self::UserMessage { text } => page.line(format_args!("the user: {}", shown(text))),
            Self::Triggered { text } => {
                let trigger = paint(NOTABLE, "a trigger");
                page.line(format_args!("{trigger}: {}", shown(text)));
            }
            Self::CodeRestored { message } => {
                page.line(format_args!("the code: {}", visible(message)));
            }
            Self::Paused { why } => page.line(paint(NOTABLE, why)),
            Self::Compacted => page.line(paint(DIMMED, "older messages became a summary")),
            Self::Completed { lasted, flow } => {
                let by = flow.user_command.as_deref().map(by_user);
                let by = by.map_or_else(String::new, |by| format!("{} → ", shown(&by)));
                let complete = paint(GOOD, "complete");
                page.line(format_args!("{by}{complete}{}", after(lasted)));
                of_user(page, flow);
            }
            Self::Cancelled { lasted } => {
                let cancelled = paint(BAD, "cancelled");
                page.line(format_args!("{cancelled}{}", after(lasted)));
            }
        }
    }
}

/// The beginning of a run.
fn begun(how: &str, workflow: &str, task: &str) -> String {
    let head = paint(TITLE, format_args!("{how} {}", shown(workflow)));
    format!("{head}: {}", shown(task))
}

/// Adds a phase, and why it was entered.
fn entered(
    page: &mut Page,
    phase: &str,
    by: Option<&String>,
    lasted: Option<i64>,
    flow: &FlowNotes,
) {
    let cause = if let Some(command) = &flow.user_command {
        by_user(command)
    } else {
        let causes = by.into_iter().chain(&flow.outcome);
        causes.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    let cause = match cause.as_str() {
        "" => cause,
        cause => format!("{} → ", shown(cause)),
    };
    let lasted = lasted.map(|lasted| format!("  {}", paint(DIMMED, duration(lasted))));
    let visit = flow.visit.map(|visit| format!(", visit {visit}"));
    let (visit, lasted) = (visit.unwrap_or_default(), lasted.unwrap_or_default());
    page.line(format_args!("{cause}{}{visit}{lasted}", shown(phase)));
    if !flow.skipped.is_empty() {
        let skipped = format!("skipped {}", shown(&flow.skipped.join(", ")));
        page.line(format_args!("{INDENT}{}", paint(DIMMED, skipped)));
    }
    of_user(page, flow);
}

/// Names a command of the user, as the cause of a move.
fn by_user(command: &str) -> String {
    format!("the user: /workflow-{command}")
}

/// Adds what the user passed over, and the comment of the user.
fn of_user(page: &mut Page, flow: &FlowNotes) {
    for overridden in &flow.overrode {
        let passed_over = paint(BAD, "passed over");
        page.line(format_args!("{INDENT}{passed_over} {}", shown(overridden)));
    }
    if let Some(comment) = &flow.comment {
        page.block(INDENT, comment);
    }
}

/// Adds the checks of a gate: result, duration and location.
fn gate(page: &mut Page, checks: &[Report]) {
    page.line(if checks.iter().all(Report::has_passed) {
        paint(GOOD, "gate passed")
    } else {
        paint(BAD, "gate not passed")
    });
    for check in checks {
        let mark = match check.verdict {
            CheckVerdict::Passed => paint(GOOD, "✓"),
            CheckVerdict::Failed => paint(BAD, "✗"),
            CheckVerdict::CouldNotRun(_) => paint(NOTABLE, "⚠"),
        };
        let lasted = duration(i64::try_from(check.duration_ms).unwrap_or(i64::MAX));
        let why = match check.reason.as_str() {
            "" => String::new(),
            reason => format!(": {}", shown(reason)),
        };
        let source = paint(DIMMED, format_args!("{lasted}  {}", shown(&check.source)));
        let what = shown(&check.what);
        page.line(format_args!("{INDENT}{mark} {what}{why}  {source}"));
    }
}

impl Totals {
    fn print(&self, page: &mut Page) {
        let mut counts = vec![
            count(self.tool_calls, "tool call"),
            count(self.denials, "denial"),
            count(self.reminders, "reminder"),
        ];
        if self.checkpoints > 0 {
            counts.push(count(self.checkpoints, "checkpoint"));
        }
        page.line(counts.join(", "));
        let sent = [
            (self.context_characters, self.contexts, "context message"),
            (
                self.initial_message_characters,
                self.initial_messages,
                "initial message",
            ),
            (self.reminder_characters, self.reminders, "reminder"),
            (self.message_characters, self.messages, "other message"),
        ];
        let characters = sent.iter().map(|(characters, ..)| characters).sum();
        let sent = sent.iter().filter(|(_, messages, _)| *messages > 0);
        let sent = sent.map(|(characters, messages, what)| {
            format!("{characters} in {}", count(*messages, what))
        });
        let sent = sent.collect::<Vec<_>>().join(", ");
        page.line(if sent.is_empty() {
            "nothing added to the model's context".to_owned()
        } else {
            let characters = count(characters, "character");
            format!("{characters} added to the model's context: {sent}")
        });
    }
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
