//! What a session was told of the world beyond files, as a transcript holds it: heard while it is
//! recorded, said again where it is replayed.
//!
//! Owns the shape of `world` and `gate` lines, and both worlds. Must not know what is decided by it.

mod held;
mod watched;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use workflow_core::event::RestoreOutcome as Restored;
use workflow_core::policy::gate::Report;
use workflow_core::policy::rules::PathForm;
use workflow_core::types::{GateRunId, Snapshot};

use super::payload::{Payload, REDACTED};
use super::secrets::hidden;
use crate::platform::paths::WrittenPaths;
use crate::serve::{GateName, GateNews, TriggerName, TriggerNews, WorldProject};

pub(super) use held::HeldWorld;
pub(super) use watched::WatchedWorld;

/// Something that the world answered, as the value of a `world` line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Answer {
    /// How things stood when a phase was entered.
    Baseline(Box<RawValue>),
    /// Whether the user trusted the commands of a project.
    Trusted(bool),
    /// What the user had said beforehand about leaving a phase. Nothing, unless it is written.
    Word(String),
    /// What a file said that was shown with a question.
    Excerpt(String),
    /// Whether something had changed since it was shown, so that what the user said did not count. It had not,
    /// unless it is written.
    Changed(bool),
    /// Where a path led, unless it led where it says.
    Path(Led),
    /// Whether the user's answers were kept there, where it does not look so.
    Answers(Kept),
    /// What the code was kept under.
    Snapshot(Snapshot),
    /// Why the code was not kept: what failed, or that there is no repository.
    NoSnapshot(Option<String>),
    /// Why the code could not be brought back at all; else that is told later.
    Restored(Restored),
    /// Why a gate could not be started; else what becomes of it is told later.
    NotStarted(Vec<Report>),
    /// What came of watching triggers.
    Watched(Watch),
    /// Whether names that differ only in case were the same file. They are not, unless it is written.
    IgnoresCase(bool),
}

/// Where a path led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Led {
    written: String,
    forms: Vec<Form>,
}

/// Whether the user's answers were kept at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    absolute: String,
    held: bool,
}

/// [`Watched`] as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watch {
    begun: Vec<String>,
    problems: Vec<String>,
    untrusted: bool,
}

/// What a trigger had, as the value of a `trigger` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TriggerLine {
    /// The session, which may have no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    session: String,
    /// For the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// For a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl TriggerLine {
    pub(super) fn of(name: &TriggerName, news: &TriggerNews) -> Self {
        let (text, problem) = match news {
            TriggerNews::Text(text) => (Some(text.clone()), None),
            TriggerNews::Problem(problem) => (None, Some(problem.clone())),
        };
        Self {
            session: name.session.clone(),
            text,
            problem,
        }
    }

    /// The line as it is recorded.
    pub(super) fn recorded(mut self, payload: Payload) -> Self {
        if payload == Payload::Redacted && self.text.is_some() {
            self.text = Some(REDACTED.to_owned());
        }
        self
    }

    /// Which trigger, and what it had; none if that is not one thing.
    pub(crate) fn news(&self) -> Option<(TriggerName, TriggerNews)> {
        let name = TriggerName {
            session: self.session.clone(),
            number: 0,
        };
        let news = match (&self.text, &self.problem) {
            (Some(text), None) => TriggerNews::Text(text.clone()),
            (None, Some(problem)) => TriggerNews::Problem(problem.clone()),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some((name, news))
    }
}

/// [`PathForm`] as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Form {
    absolute: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_home: Option<String>,
}

/// What was told of a gate, or of a way back of the code, as the value of a `gate` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateLine {
    /// The session, which may have no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) session: String,
    /// Which of them, counted from 1.
    pub(crate) gate: u64,
    /// It goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<String>,
    /// It is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reports: Option<Vec<Report>>,
    /// The code is back, or is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restored: Option<Restored>,
}

impl Answer {
    /// The answer as it is recorded; none if it is not.
    pub(super) fn recorded(self, payload: Payload) -> Option<Self> {
        match self {
            Self::Excerpt(text) if payload == Payload::Redacted && !text.trim().is_empty() => {
                Some(Self::Excerpt(REDACTED.to_owned()))
            }
            // Where what a tool was given is left out, so is where it leads.
            Self::Path(_) | Self::Answers(_) if payload == Payload::Redacted => None,
            answer => Some(answer),
        }
    }
}

impl GateLine {
    pub(super) fn of(name: &GateName, news: &GateNews) -> Self {
        let mut line = Self {
            session: name.session.clone(),
            gate: name.gate.0,
            progress: None,
            reports: None,
            restored: None,
        };
        match news {
            GateNews::Progress(text) => line.progress = Some(text.clone()),
            GateNews::Over(reports) => line.reports = Some(reports.clone()),
            GateNews::Restored(restored) => line.restored = Some(restored.clone()),
        }
        line
    }

    /// The line as it is recorded.
    pub(super) fn recorded(mut self, payload: Payload) -> Self {
        if payload == Payload::Redacted {
            for report in self.reports.iter_mut().flatten() {
                report.tail = hidden(&report.tail).to_owned();
            }
        }
        self
    }

    /// Which gate, and what is told of it; none if that is not one thing.
    pub(crate) fn news(&self) -> Option<(GateName, GateNews)> {
        let name = GateName {
            session: self.session.clone(),
            gate: GateRunId(self.gate),
        };
        let news = match (&self.progress, &self.reports, &self.restored) {
            (Some(text), None, None) => GateNews::Progress(text.clone()),
            (None, Some(reports), None) => GateNews::Over(reports.clone()),
            (None, None, Some(restored)) => GateNews::Restored(restored.clone()),
            _ => return None,
        };
        Some((name, news))
    }
}

impl From<PathForm> for Form {
    fn from(form: PathForm) -> Self {
        let PathForm {
            absolute,
            in_project,
            in_home,
        } = form;
        Self {
            absolute,
            in_project,
            in_home,
        }
    }
}

impl From<Form> for PathForm {
    fn from(form: Form) -> Self {
        let Form {
            absolute,
            in_project,
            in_home,
        } = form;
        Self {
            absolute,
            in_project,
            in_home,
        }
    }
}

/// The paths of a project as they are written, without a look at the disk.
fn written(project: &WorldProject<'_>, home: &str) -> WrittenPaths {
    let (cwd, agent_dir) = (
        project.cwd.to_string_lossy(),
        project.agent_dir.to_string_lossy(),
    );
    WrittenPaths::new(&cwd, &agent_dir, home)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_is_written_so_that_it_is_read_again() {
        for json in [
            r#"{"baseline":{"head":1,"a":1.50}}"#,
            r#"{"trusted":true}"#,
            r#"{"word":"approve"}"#,
            r#"{"excerpt":"plan"}"#,
            r#"{"changed":true}"#,
            r#"{"path":{"written":"a","forms":[{"absolute":"/p/a","inProject":"a"}]}}"#,
            r#"{"ignoresCase":true}"#,
        ] {
            assert_eq!(
                serde_json::to_string(&serde_json::from_str::<Answer>(json).unwrap()).unwrap(),
                json
            );
        }
        for json in [r#"{"word":null}"#, r#"{"what":1}"#, "{}", r#""baseline""#] {
            assert!(serde_json::from_str::<Answer>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn news_of_a_gate_are_one_thing() {
        let news = |json: &str| {
            let line: GateLine = serde_json::from_str(json).unwrap();
            line.news()
        };
        assert!(news(r#"{"gate":1,"progress":"a"}"#).is_some());
        assert!(news(r#"{"session":"s","gate":1,"reports":[]}"#).is_some());
        assert!(news(r#"{"gate":1}"#).is_none());
        assert!(news(r#"{"gate":1,"progress":"a","reports":[]}"#).is_none());
    }
}
