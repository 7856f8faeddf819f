//! The reader of stored states (state-management: "Reconstruction", "Migration", "Validation").
//!
//! Only the fields of a state are looked at, each on its own: the content,
//! length and depth of an unknown field cannot cost the run.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Path, PathSegment, RunState};
use crate::json_text::Text;
use crate::types::whole;

/// The last moment that has a date in ECMAScript, in milliseconds.
pub(crate) const MAX_TIME: i64 = 8_640_000_000_000_000;
/// Whole numbers up to here are exact in every implementation.
const MAX_WHOLE: u64 = 9_007_199_254_740_991;

const TRUTH: &str = "true or false";

/// The defect of a field that is not of this form.
fn not(field: &str, form: &str) -> String {
    format!("`{field}` is not {form}")
}

/// The fields of a state.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Fields<'a> {
    active: Field<'a>,
    workflow_key: Field<'a>,
    current_path: Field<'a>,
    current_phase_index: Field<'a>,
    global_step_count: Field<'a>,
    task_id: Field<'a>,
    task_description: Field<'a>,
    started_at: Field<'a>,
    completion_notified: Field<'a>,
    cancelled: Field<'a>,
}

/// A field as its text. One that is `null` is there: `Option` alone would take that for absent.
#[derive(Default)]
struct Field<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|value| Self(Some(value)))
    }
}

/// A segment of a stored path.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Segment<'a> {
    #[serde(borrow)]
    workflow_key: &'a RawValue,
    #[serde(borrow)]
    phase_index: &'a RawValue,
}

/// Reads the data of a state entry. `None` is an entry that names no workflow: for the documents' "exists", an empty
/// key is as absent as `null`.
pub(super) fn state_from(data: &RawValue) -> Option<Result<RunState, String>> {
    if !data.get().starts_with('{') {
        return None;
    }
    let Ok(fields) = serde_json::from_str::<Fields<'_>>(data.get()) else {
        return Some(Err("it cannot be read as JSON".to_owned()));
    };
    let key = fields.workflow_key.0.filter(|key| is_truthy(key))?;
    Some(fields.state(key))
}

impl Fields<'_> {
    fn state(&self, key: &RawValue) -> Result<RunState, String> {
        let workflow_key = text("workflowKey", key)?;
        let current_path = self.path(&workflow_key)?;
        let global_step_count = match self.global_step_count.0 {
            // Migration of early states: the root's index replaces the count.
            None => current_path.segments()[0].phase_index as u64,
            Some(steps) => count(steps).ok_or_else(|| not("globalStepCount", "a whole number"))?,
        };
        let started_at = self.started_at.0.and_then(time);
        let started_at = started_at.ok_or_else(|| not("startedAt", "a time in milliseconds"))?;
        let flag = |field, value: &Field<'_>| value.0.map_or(Ok(false), |it| truth(field, it));
        let text = |field, value: &Field<'_>| {
            let value = value.0;
            value.map_or(Ok(String::new()), |value| text(field, value))
        };
        let active = self.active.0.map(|active| truth("active", active));
        Ok(RunState {
            active: active.unwrap_or_else(|| Err(not("active", TRUTH)))?,
            workflow_key,
            current_path,
            global_step_count,
            task_id: text("taskId", &self.task_id)?,
            // The description is for display only: a damaged one does not cost the run.
            task_description: text("taskDescription", &self.task_description).unwrap_or_default(),
            started_at,
            completion_notified: flag("completionNotified", &self.completion_notified)?,
            cancelled: flag("cancelled", &self.cancelled)?,
        })
    }

    /// Returns the path, or the one that `currentPhaseIndex` of the first versions means.
    fn path(&self, workflow_key: &str) -> Result<Path, String> {
        let stored = self.current_path.0.filter(|path| is_truthy(path));
        if let (Some(index), None) = (self.current_phase_index.0, stored) {
            return Ok(Path::root(workflow_key, index_from(index)?));
        }
        let segments =
            stored.and_then(|path| serde_json::from_str::<Vec<Segment<'_>>>(path.get()).ok());
        let segments = segments.ok_or_else(|| not("currentPath", "a list of segments"))?;
        let segments = segments.iter().map(|segment| {
            Ok(PathSegment {
                workflow_key: text("workflowKey", segment.workflow_key)?,
                phase_index: index_from(segment.phase_index)?,
            })
        });
        Path::new(segments.collect::<Result<_, String>>()?)
            .ok_or_else(|| not("currentPath", "a list with at least one segment"))
    }
}

/// Returns whether ECMAScript takes a value for true, as the package's migration does.
fn is_truthy(value: &RawValue) -> bool {
    match value.get() {
        "null" | "false" | "\"\"" => false,
        other => other.parse::<f64>() != Ok(0.0),
    }
}

fn truth(field: &'static str, value: &RawValue) -> Result<bool, String> {
    serde_json::from_str(value.get()).map_err(|_| not(field, TRUTH))
}

fn text(field: &'static str, value: &RawValue) -> Result<String, String> {
    let text = serde_json::from_str::<Text<'_>>(value.get());
    text.map(Text::into_owned).map_err(|_| not(field, "a text"))
}

/// A number that counts something; `1.0` is one (B21: `-1` and `0.5` are none).
fn count(value: &RawValue) -> Option<u64> {
    whole(number(value)?).filter(|number| *number <= MAX_WHOLE)
}

fn index_from(value: &RawValue) -> Result<usize, String> {
    let index = count(value).and_then(|index| usize::try_from(index).ok());
    index.ok_or_else(|| not("phaseIndex", "a whole number"))
}

/// A moment that has a date (B22: `1e20` has none).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the range is checked first, and is exact"
)]
fn time(value: &RawValue) -> Option<i64> {
    let number = number(value)?;
    (number.abs() <= MAX_TIME as f64).then_some(number.trunc() as i64)
}

fn number(value: &RawValue) -> Option<f64> {
    serde_json::from_str::<Value>(value.get()).ok()?.as_f64()
}
