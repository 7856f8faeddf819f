//! An event in words: what the text, the web page and the Markdown of `show` say about it.

use workflow_core::diagnostic::{shown, visible};
use workflow_core::policy::gate_report::{CheckVerdict, Report};
use workflow_core::without_secrets;

use super::run::FlowNotes;
use super::timeline::{TimedEvent, TimelineEvent};

/// What the first words of an event, or of a line below it, are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tone {
    #[default]
    Plain,
    Title,
    Good,
    Bad,
    Notable,
    Quiet,
}

/// An event in words. Its texts have one line each, and no control characters.
#[derive(Debug, Default)]
pub(super) struct Described {
    /// The cause, before the word.
    pub(super) cause: String,
    pub(super) tone: Tone,
    /// The word for the event.
    pub(super) word: String,
    pub(super) rest: String,
    /// The duration, or the answer.
    pub(super) note: String,
    pub(super) below: Vec<Below>,
}

/// What belongs to an event.
#[derive(Debug)]
pub(super) enum Below {
    /// A text as it was given, with its lines.
    Text(String),
    /// A word and what it is about.
    Note(Tone, &'static str, String),
    /// The result of a check.
    Check(CheckLine),
}

/// The result of a check.
#[derive(Debug)]
pub(super) struct CheckLine {
    pub(super) tone: Tone,
    /// A sign of the verdict.
    pub(super) mark: &'static str,
    /// The check, and why it did not pass.
    pub(super) what: String,
    /// Its duration, and where it is defined.
    pub(super) source: String,
    /// What a page shows below: the reason, if its line is too short for it, and the end of the output.
    pub(super) output: String,
}

impl Tone {
    /// Its class on a page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Title => "title",
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Notable => "notable",
            Self::Quiet => "quiet",
        }
    }
}

impl Described {
    fn new(tone: Tone, word: impl Into<String>, rest: impl Into<String>) -> Self {
        Self {
            tone,
            word: word.into(),
            rest: rest.into(),
            ..Self::default()
        }
    }

    fn with(self, below: Option<&String>) -> Self {
        Self {
            below: below.into_iter().cloned().map(Below::Text).collect(),
            ..self
        }
    }

    /// The parts of the line.
    pub(super) fn line(&mut self) -> [&mut String; 4] {
        let Self {
            cause,
            word,
            rest,
            note,
            ..
        } = self;
        [cause, word, rest, note]
    }

    /// Describes an event.
    pub(super) fn of(event: &TimelineEvent) -> Self {
        use Tone::{Bad, Good, Notable, Plain, Quiet};
        let after = |lasted: &Option<i64>| match lasted {
            Some(lasted) => format!(" after {}", duration(*lasted)),
            None => String::new(),
        };
        match event {
            TimelineEvent::Started { workflow, task } => begun("started", workflow, task),
            TimelineEvent::Resumed { workflow, task } => begun("taken up", workflow, task),
            TimelineEvent::Entered {
                phase,
                by,
                lasted,
                flow,
                ..
            } => entered(phase, by.as_ref(), *lasted, flow),
            TimelineEvent::Denied { tool, reason } => {
                Self::new(Bad, "denied", format!(" {}", shown(tool))).with(Some(reason))
            }
            TimelineEvent::Gate { checks } => gate(checks),
            TimelineEvent::Asked { question, answer } => Self {
                note: match answer {
                    Some(answer) => format!("answered {}", shown(answer)),
                    None => "no answer".to_owned(),
                },
                ..Self::new(Notable, "asked", format!(": {}", shown(question)))
            },
            TimelineEvent::Answered { choice, comment } => {
                let choice = format!(" {}", shown(choice));
                Self::new(Notable, "the user answered", choice).with(comment.as_ref())
            }
            TimelineEvent::Refused { action, answer } => {
                let step = format!(" workflow_step {}", shown(action));
                Self::new(Bad, "refused", step).with(Some(answer))
            }
            TimelineEvent::Reminded { times } => {
                Self::new(Notable, "reminded", format!(", {times} in a row"))
            }
            TimelineEvent::UserMessage { text } => {
                Self::new(Plain, "", format!("the user: {}", shown(text)))
            }
            TimelineEvent::Triggered { text } => {
                Self::new(Notable, "a trigger", format!(": {}", shown(text)))
            }
            TimelineEvent::CodeRestored { message } => {
                Self::new(Plain, "", format!("the code: {}", visible(message)))
            }
            TimelineEvent::Paused { why } => Self::new(Notable, *why, ""),
            TimelineEvent::Compacted => Self::new(Quiet, "older messages became a summary", ""),
            TimelineEvent::Completed { lasted, flow } => Self {
                cause: arrow(by_user(flow)),
                below: of_user(flow).collect(),
                ..Self::new(Good, "complete", after(lasted))
            },
            TimelineEvent::Cancelled { lasted } => Self::new(Bad, "cancelled", after(lasted)),
        }
    }
}

impl TimedEvent {
    /// The time since another moment, in words; empty if it is not known.
    pub(super) fn since(&self, start: Option<i64>) -> String {
        let since = self.at.zip(start);
        let since = since.map(|(at, start)| format!("+{}", duration(at.saturating_sub(start))));
        since.unwrap_or_default()
    }
}

/// The beginning of a run.
fn begun(how: &str, workflow: &str, task: &str) -> Described {
    let head = format!("{how} {}", shown(workflow));
    Described::new(Tone::Title, head, format!(": {}", shown(task)))
}

/// A phase, and why it was entered.
fn entered(phase: &str, by: Option<&String>, lasted: Option<i64>, flow: &FlowNotes) -> Described {
    let cause = by_user(flow).unwrap_or_else(|| {
        let causes = by.into_iter().chain(&flow.outcome);
        causes.map(String::as_str).collect::<Vec<_>>().join(" ")
    });
    let visit = flow.visit.map(|visit| format!(", visit {visit}"));
    let phase = format!("{}{}", shown(phase), visit.unwrap_or_default());
    let skipped = (!flow.skipped.is_empty()).then(|| {
        let skipped = format!("skipped {}", shown(&flow.skipped.join(", ")));
        Below::Note(Tone::Quiet, "", skipped)
    });
    Described {
        cause: arrow(Some(cause).filter(|cause| !cause.is_empty())),
        note: lasted.map(duration).unwrap_or_default(),
        below: skipped.into_iter().chain(of_user(flow)).collect(),
        ..Described::new(Tone::Plain, "", phase)
    }
}

/// A cause before what it led to.
fn arrow(cause: Option<String>) -> String {
    cause.map_or_else(String::new, |cause| format!("{} → ", shown(&cause)))
}

/// Names a command of the user, as the cause of a move.
fn by_user(flow: &FlowNotes) -> Option<String> {
    let user = flow.approver.as_deref().unwrap_or("the user");
    let command = flow.user_command.as_ref()?;
    Some(format!("{user}: /workflow-{command}"))
}

/// What the user passed over, and the comment of the user.
fn of_user(flow: &FlowNotes) -> impl Iterator<Item = Below> {
    let passed_over = |what: &String| Below::Note(Tone::Bad, "passed over", shown(what));
    let comment = flow.comment.iter().cloned().map(Below::Text);
    flow.overrode.iter().map(passed_over).chain(comment)
}

/// The checks of a gate: result, duration and location.
fn gate(checks: &[Report]) -> Described {
    let (tone, word) = if checks.iter().all(Report::has_passed) {
        (Tone::Good, "gate passed")
    } else {
        (Tone::Bad, "gate not passed")
    };
    let check = |check: &Report| {
        let (tone, mark) = match check.verdict {
            CheckVerdict::Passed => (Tone::Good, "✓"),
            CheckVerdict::Failed => (Tone::Bad, "✗"),
            CheckVerdict::CouldNotRun(_) => (Tone::Notable, "⚠"),
        };
        let lasted = duration(i64::try_from(check.duration_ms).unwrap_or(i64::MAX));
        let why = match check.reason.as_str() {
            "" => String::new(),
            reason => format!(": {}", shown(reason)),
        };
        Below::Check(CheckLine {
            tone,
            mark,
            what: shown(&without_secrets(&check.what)) + &why,
            source: format!("{lasted}  {}", shown(&check.source)),
            output: match &*check.tail {
                tail if !is_cut(&check.reason) => tail.to_owned(),
                "" => check.reason.clone(),
                tail => format!("{}\n{tail}", check.reason),
            },
        })
    };
    Described {
        below: checks.iter().map(check).collect(),
        ..Described::new(tone, word, "")
    }
}

/// Returns true if the line of an event does not show all of a text.
pub(super) fn is_cut(text: &str) -> bool {
    text.contains('\n') || shown(text).ends_with('…')
}

/// Formats a duration.
pub(crate) fn duration(millis: i64) -> String {
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
