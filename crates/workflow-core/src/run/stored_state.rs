//! The reader of stored states (state-management: "Reconstruction", "Migration", "Validation").
//!
//! Only the fields of a state are looked at, each on its own: the content,
//! length and depth of an unknown field cannot cost the run.

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Path, PathSegment, RunState};

/// The last moment that has a date in ECMAScript, in milliseconds.
pub(crate) const MAX_TIME: i64 = 8_640_000_000_000_000;
/// Whole numbers up to here are exact in every implementation.
const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;

/// A defect of a stored state.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StateDefect {
    #[error("it cannot be read as JSON")]
    Unreadable,
    #[error("`{0}` is not {1}")]
    Field(&'static str, &'static str),
}

/// The fields of a state, present or not, each as its text.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields<'a> {
    #[serde(borrow, deserialize_with = "present")]
    active: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    workflow_key: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    current_path: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    current_phase_index: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    global_step_count: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    task_description: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    started_at: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    completion_notified: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    cancelled: Option<&'a RawValue>,
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

/// A field that is there, `null` included: `Option` alone would take that for absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the data of a state entry. `None` is an entry that names no workflow: for the documents' "exists", an empty
/// key is as absent as `null`.
pub(super) fn state_from(data: &RawValue) -> Option<Result<RunState, StateDefect>> {
    if !data.get().starts_with('{') {
        return None;
    }
    let Ok(fields) = serde_json::from_str::<Fields<'_>>(data.get()) else {
        return Some(Err(StateDefect::Unreadable));
    };
    let key = fields.workflow_key.filter(|key| is_truthy(key))?;
    Some(fields.state(key))
}

impl Fields<'_> {
    fn state(&self, key: &RawValue) -> Result<RunState, StateDefect> {
        let workflow_key = text("workflowKey", key)?;
        let current_path = self.path(&workflow_key)?;
        let global_step_count = match self.global_step_count {
            // Migration of early states: the root's index replaces the count.
            None => current_path.segments()[0].phase_index as u64,
            Some(count) => {
                whole(count).ok_or(StateDefect::Field("globalStepCount", "a whole number"))?
            }
        };
        let active = self.active.map(|active| truth("active", active));
        let started_at = self
            .started_at
            .and_then(time)
            .ok_or(StateDefect::Field("startedAt", "a time in milliseconds"))?;
        let flag =
            |field, value: Option<&RawValue>| value.map_or(Ok(false), |value| truth(field, value));
        Ok(RunState {
            active: active.unwrap_or(Err(NO_TRUTH))?,
            workflow_key,
            current_path,
            global_step_count,
            task_id: self
                .task_id
                .map_or(Ok(String::new()), |id| text("taskId", id))?,
            // The description is for display only: a damaged one does not cost the run.
            task_description: self
                .task_description
                .and_then(|description| text("taskDescription", description).ok())
                .unwrap_or_default(),
            started_at,
            completion_notified: flag("completionNotified", self.completion_notified)?,
            cancelled: flag("cancelled", self.cancelled)?,
        })
    }

    /// Returns the path, or the one that `currentPhaseIndex` of the first versions means.
    fn path(&self, workflow_key: &str) -> Result<Path, StateDefect> {
        let stored = self.current_path.filter(|path| is_truthy(path));
        if let (Some(index), None) = (self.current_phase_index, stored) {
            return Ok(Path::root(workflow_key, index_from(index)?));
        }
        let segments =
            stored.and_then(|path| serde_json::from_str::<Vec<Segment<'_>>>(path.get()).ok());
        let segments = segments.ok_or(StateDefect::Field("currentPath", "a list of segments"))?;
        let segments = segments.iter().map(|segment| {
            Ok(PathSegment {
                workflow_key: text("workflowKey", segment.workflow_key)?,
                phase_index: index_from(segment.phase_index)?,
            })
        });
        Path::new(segments.collect::<Result<_, _>>()?).ok_or(StateDefect::Field(
            "currentPath",
            "a list with at least one segment",
        ))
    }
}

const NO_TRUTH: StateDefect = StateDefect::Field("active", "true or false");

/// Returns whether ECMAScript takes a value for true, as the package's migration does.
fn is_truthy(value: &RawValue) -> bool {
    match value.get() {
        "null" | "false" | "\"\"" => false,
        other => other.parse::<f64>() != Ok(0.0),
    }
}

fn truth(field: &'static str, value: &RawValue) -> Result<bool, StateDefect> {
    serde_json::from_str(value.get()).map_err(|_| StateDefect::Field(field, "true or false"))
}

fn text(field: &'static str, value: &RawValue) -> Result<String, StateDefect> {
    let text = serde_json::from_str::<AnyText>(value.get());
    text.map(|text| text.0)
        .map_err(|_| StateDefect::Field(field, "a text"))
}

/// A JSON string, also one with half a surrogate pair in it, as ECMAScript writes them.
struct AnyText(String);

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = AnyText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AnyText, E> {
                Ok(AnyText(text.to_owned()))
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<AnyText, E> {
                Ok(AnyText(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// A number that counts something; `1.0` is one (B21: `-1` and `0.5` are none).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first"
)]
fn whole(value: &RawValue) -> Option<u64> {
    let number = number(value)?;
    (number.fract() == 0.0 && (0.0..=MAX_WHOLE).contains(&number)).then_some(number as u64)
}

fn index_from(value: &RawValue) -> Result<usize, StateDefect> {
    let index = whole(value).and_then(|index| usize::try_from(index).ok());
    index.ok_or(StateDefect::Field("phaseIndex", "a whole number"))
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
