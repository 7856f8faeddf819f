//! A run's way back from the session's entries (state-management: "Reconstruction").
//!
//! Whatever an entry holds, the worst it can do is to be reported and left out.

use serde_json::{Map, Value};

use crate::definition::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::guard::Pace;
use crate::input::Entry;

use super::stored::{VERSION, entry_type};
use super::{Path, PathSegment, RunState, StoredDefinition, StoredRun};

/// A state entry longer than this is not ours.
const MAX_STATE_BYTES: usize = 256 * 1024;
/// The last moment that has a date in ECMAScript, in milliseconds.
const MAX_TIME: f64 = 8.64e15;
/// Whole numbers up to here are exact in every implementation.
const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;

/// What the entries say.
#[derive(Debug, Default)]
pub struct Restored {
    /// The state of the last run.
    pub state: Option<RunState>,
    /// The definition stored with it, with its hash.
    pub definition: Option<(Catalog, String)>,
    /// How far pushing went in it.
    pub pace: Pace,
    /// What could not be used.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the session's entries, oldest first.
#[must_use]
pub fn restore(entries: &[Entry<'_>]) -> Restored {
    let mut restored = Restored::default();
    restored.state = last_state(entries).and_then(|state| match state {
        Ok(state) => Some(state),
        Err(damage) => {
            restored.diagnostics.push(
                Diagnostic::new(Code::StoredDamaged, Severity::Warning, format!("the stored workflow state is left out: {damage}"))
                    .with_help("start the workflow again with /workflow, or go back to an earlier point of the session"),
            );
            None
        }
    });
    if let Some(task_id) = restored.state.as_ref().map(|state| state.task_id.clone()) {
        restored.definition = last_definition(entries, &task_id, &mut restored.diagnostics);
        restored.pace = last_pace(entries, &task_id, &mut restored.diagnostics);
    }
    restored
}

/// What is wrong with a stored state.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Damage {
    #[error("it is longer than {MAX_STATE_BYTES} bytes")]
    TooLong,
    #[error("`{field}` is not {expected}")]
    Field {
        field: &'static str,
        expected: &'static str,
    },
}

/// The newest state entry that names a workflow; older ones are not looked at (A08).
fn last_state(entries: &[Entry<'_>]) -> Option<Result<RunState, Damage>> {
    entries
        .iter()
        .rev()
        .filter(|entry| entry.custom_type == entry_type::STATE)
        .find_map(|entry| {
            let text = entry.data?.get();
            if text.len() > MAX_STATE_BYTES {
                return Some(Err(Damage::TooLong));
            }
            let Ok(Value::Object(data)) = serde_json::from_str(text) else {
                return None;
            };
            data.get("workflowKey").filter(|key| !key.is_null())?;
            Some(state_from(&data))
        })
}

fn state_from(data: &Map<String, Value>) -> Result<RunState, Damage> {
    let workflow_key = string(data, "workflowKey")?.unwrap_or_default();
    let current_path = path_from(data, &workflow_key)?;
    let global_step_count = match data.get("globalStepCount") {
        // Migration of early states: the root's index stands in for the count.
        None => current_path.segments()[0].phase_index as u64,
        Some(count) => whole(count).ok_or(Damage::Field {
            field: "globalStepCount",
            expected: "a whole number",
        })?,
    };
    Ok(RunState {
        active: boolean(data, "active")?.ok_or(Damage::Field {
            field: "active",
            expected: "true or false",
        })?,
        workflow_key,
        current_path,
        global_step_count,
        task_id: string(data, "taskId")?.unwrap_or_default(),
        task_description: data
            .get("taskDescription")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        started_at: data.get("startedAt").and_then(time).ok_or(Damage::Field {
            field: "startedAt",
            expected: "a time in milliseconds",
        })?,
        completion_notified: boolean(data, "completionNotified")?.unwrap_or_default(),
        cancelled: boolean(data, "cancelled")?.unwrap_or_default(),
    })
}

/// The path, or the one that `currentPhaseIndex` of the first versions stands for.
fn path_from(data: &Map<String, Value>, workflow_key: &str) -> Result<Path, Damage> {
    const INDEX: Damage = Damage::Field {
        field: "phaseIndex",
        expected: "a whole number",
    };
    if let (Some(index), false) = (
        data.get("currentPhaseIndex"),
        data.get("currentPath").is_some_and(is_truthy),
    ) {
        return Ok(Path::root(workflow_key, index_from(index).ok_or(INDEX)?));
    }
    let segments = data.get("currentPath").and_then(Value::as_array);
    let segments = segments.ok_or(Damage::Field {
        field: "currentPath",
        expected: "a list of segments",
    })?;
    let segments = segments.iter().map(|segment| {
        let workflow_key = segment.get("workflowKey").and_then(Value::as_str);
        let workflow_key = workflow_key
            .ok_or(Damage::Field {
                field: "workflowKey",
                expected: "a text",
            })?
            .to_owned();
        let phase_index = segment
            .get("phaseIndex")
            .and_then(index_from)
            .ok_or(INDEX)?;
        Ok(PathSegment {
            workflow_key,
            phase_index,
        })
    });
    Path::new(segments.collect::<Result<_, _>>()?).ok_or(Damage::Field {
        field: "currentPath",
        expected: "longer than nothing",
    })
}

/// Whether ECMAScript takes a value for true, as the package's migration does.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn string(data: &Map<String, Value>, field: &'static str) -> Result<Option<String>, Damage> {
    match data.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Damage::Field {
            field,
            expected: "a text",
        }),
    }
}

fn boolean(data: &Map<String, Value>, field: &'static str) -> Result<Option<bool>, Damage> {
    match data.get(field) {
        None => Ok(None),
        Some(Value::Bool(truth)) => Ok(Some(*truth)),
        Some(_) => Err(Damage::Field {
            field,
            expected: "true or false",
        }),
    }
}

/// A number that counts something; `1.0` is one (B21: `-1` and `0.5` are none).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first"
)]
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=MAX_WHOLE).contains(&number)).then_some(number as u64)
}

fn index_from(value: &Value) -> Option<usize> {
    usize::try_from(whole(value)?).ok()
}

/// A moment that has a date (B22: `1e20` has none).
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked first"
)]
fn time(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    (number.abs() <= MAX_TIME).then_some(number.trunc() as i64)
}

fn last_definition(
    entries: &[Entry<'_>],
    task_id: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Catalog, String)> {
    let stored: StoredDefinition =
        last_of_run(entries, entry_type::DEFINITION, task_id, diagnostics)?;
    let catalog = Catalog::checked(stored.workflows);
    if catalog.is_none() {
        diagnostics.push(damaged(entry_type::DEFINITION));
    }
    Some((catalog?, stored.hash))
}

fn last_pace(entries: &[Entry<'_>], task_id: &str, diagnostics: &mut Vec<Diagnostic>) -> Pace {
    let stored: Option<StoredRun> = last_of_run(entries, entry_type::RUN, task_id, diagnostics);
    stored.map(|stored| stored.pace).unwrap_or_default()
}

/// The newest entry of a type that belongs to a run; those of later versions are skipped.
fn last_of_run<T: serde::de::DeserializeOwned>(
    entries: &[Entry<'_>],
    custom_type: &'static str,
    task_id: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Header {
        version: u32,
        task_id: String,
    }
    for entry in entries
        .iter()
        .rev()
        .filter(|entry| entry.custom_type == custom_type)
    {
        let text = entry.data.map_or("null", serde_json::value::RawValue::get);
        match serde_json::from_str::<Header>(text) {
            Ok(header) if header.task_id != task_id => {}
            Ok(header) if header.version > VERSION => diagnostics.push(Diagnostic::new(
                Code::StoredLater,
                Severity::Info,
                format!("a `{custom_type}` entry of version {} is skipped: this sidecar knows version {VERSION}", header.version),
            )),
            Ok(_) => match serde_json::from_str(text) {
                Ok(stored) => return Some(stored),
                Err(_) => diagnostics.push(damaged(custom_type)),
            },
            Err(_) => diagnostics.push(damaged(custom_type)),
        }
    }
    None
}

fn damaged(custom_type: &str) -> Diagnostic {
    Diagnostic::new(
        Code::StoredDamaged,
        Severity::Warning,
        format!("a stored `{custom_type}` entry is damaged and left out"),
    )
}
