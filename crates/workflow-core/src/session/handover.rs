//! The handover at the end of a phase: what the agent names in a call of `next`, and a person's answer.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::phase::ResolvedPhase;
use crate::definition::{Phase, Target};
use crate::diagnostic::shown;
use crate::effect::ToolAnswer;
use crate::run::{HandedOver, Values, problems};
use crate::text::shortened;
use crate::{Text, text_or_none};

/// The size of all outputs of a run together, in bytes as JSON.
const MAX_OUTPUTS: usize = 1 << 20;
/// UTF-16 units of a value in an example.
const MAX_EXAMPLE: u32 = 60;
/// UTF-16 units of the agent's summary that are kept.
const MAX_SUMMARY: u32 = 2000;

/// A call of `workflow_step`, as a model writes it. Arguments of a wrong type count as missing: the session answers a call
/// without an action.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StepCall<'a> {
    /// The action: `next`, `status`, `loop` or `cancel`.
    #[serde(borrow, deserialize_with = "text_or_none")]
    pub action: Option<Text<'a>>,
    /// The agent's summary of the phase, for a person who approves.
    #[serde(borrow, deserialize_with = "text_or_none")]
    pub summary: Option<Text<'a>>,
    /// The outcome of the phase.
    #[serde(borrow, deserialize_with = "text_or_none")]
    pub outcome: Option<Text<'a>>,
    /// The outputs of the phase: an object.
    #[serde(borrow)]
    pub outputs: Option<&'a RawValue>,
}

impl<'a> StepCall<'a> {
    /// Reads the arguments. Something that is not an object has none.
    pub fn read(arguments: &'a RawValue) -> Self {
        // `serde` would take an array for the struct as well.
        let object = Some(arguments.get()).filter(|json| json.starts_with('{'));
        object
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default()
    }

    /// Reads what a call of `next` hands over; the error is the answer to a call that lacks some. Outputs of an earlier
    /// call in the same phase count. Functions have what only the run knows: the size of all outputs with these, and their problems.
    pub(crate) fn handed_over(
        &self,
        before: &HandedOver,
        resolved: &ResolvedPhase,
        size_with: impl FnOnce(&Values) -> usize,
        more_problems: impl Fn(&Values) -> Vec<String>,
    ) -> Result<HandedOver, ToolAnswer> {
        let phase = &resolved.phase;
        let mut refused = Vec::new();
        let outcome = read_outcome(phase, self.outcome.as_deref()).unwrap_or_else(|problem| {
            refused.push(problem);
            None
        });
        let mut outputs = before.outputs.clone();
        match read_outputs(self.outputs) {
            Ok(mut given) => {
                refused.extend(unwrap_nested(phase, &mut given));
                let gives_nothing = given.is_empty();
                outputs.extend(given);
                let found = problems(&phase.outputs, &outputs).into_iter();
                refused.extend(found.map(|problem| format!("Output {problem}.")));
                if !gives_nothing && size_with(&outputs) > MAX_OUTPUTS {
                    refused.push(format!(
                        "All outputs of a run may take {} KiB together, and these are more: write them to a file and name the file.",
                        MAX_OUTPUTS >> 10
                    ));
                }
                refused.extend(more_problems(&outputs));
            }
            Err(problem) => refused.push(problem),
        }
        if !refused.is_empty() {
            outputs.retain(|name, value| {
                let one = Values::from([(name.clone(), value.clone())]);
                more_problems(&one).is_empty()
            });
            return Err(incomplete(resolved, &refused, &outputs));
        }
        let summary = self.summary.as_deref();
        Ok(HandedOver {
            outcome,
            outputs,
            summary: summary.map(|text| shortened(text, MAX_SUMMARY)),
        })
    }
}

/// The answer of a person to the approval of a phase, if it leads somewhere.
#[derive(Debug, Clone)]
pub(crate) struct UserAnswer {
    /// The question.
    pub(crate) ask: String,
    pub(crate) choice: String,
    pub(crate) target: Target,
    /// True for the first choice, which is no rejection wherever it leads.
    pub(crate) is_first: bool,
    /// The comment for the agent.
    pub(crate) comment: Option<String>,
}

impl UserAnswer {
    /// True if the answer itself sends the run back. After one that leads on, the agent's outcome may do that.
    pub(crate) fn sends_back(&self, went_back: bool) -> bool {
        went_back && !self.is_first && !self.target.is_onward()
    }

    /// What the answer says of the phase that the run has left.
    pub(crate) fn verdict(&self, went_back: bool) -> &'static str {
        if self.sends_back(went_back) {
            "↩ Not approved"
        } else if self.target.is_onward() {
            "✓ Approved"
        } else {
            "✓ Answered"
        }
    }
}

/// What the user was asked and chose, as a clause.
pub(crate) fn asked_and_chose(ask: &str, choice: &str) -> String {
    let ask = shown(ask);
    format!("the user was asked \"{ask}\" and chose \"{choice}\"")
}

fn read_outcome(phase: &Phase, given: Option<&str>) -> Result<Option<String>, String> {
    let Some(name) = given else {
        return match &*phase.outcomes {
            [] => Ok(None),
            _ => Err("Say how the phase ended: the outcome is missing.".to_owned()),
        };
    };
    if phase.outcomes.iter().any(|outcome| outcome.name == name) {
        return Ok(Some(name.to_owned()));
    }
    let (name, phase_name) = (shown(name), &phase.name);
    Err(if phase.outcomes.is_empty() {
        format!("{phase_name} has no outcomes: leave out outcome='{name}'.")
    } else {
        format!("'{name}' is not an outcome of {phase_name}.")
    })
}

fn read_outputs(given: Option<&RawValue>) -> Result<Values, String> {
    let Some(given) = given.filter(|given| given.get() != "null") else {
        return Ok(Values::new());
    };
    let read = serde_json::from_str::<Map<String, Value>>(given.get());
    read.map(|map| map.into_iter().collect())
        .map_err(|_| "`outputs` must be an object: a name and a value for each output.".to_owned())
}

/// Replaces objects that contain outputs by their content, because no output is an object. The problems name those
/// objects: the call is refused, and its example has the values where they belong.
fn unwrap_nested(phase: &Phase, given: &mut Values) -> Vec<String> {
    let is_declared = |name: &str| phase.outputs.iter().any(|output| output.name == name);
    let mut nested = Values::new();
    let mut refused = Vec::new();
    given.retain(|name, value| {
        let object = value.as_object();
        let Some(inside) = object.filter(|inside| inside.keys().any(|name| is_declared(name)))
        else {
            return true;
        };
        nested.extend(inside.clone());
        let name = shown(name);
        refused.push(format!(
            "`{name}` contains outputs: write them directly into `outputs`."
        ));
        false
    });
    for (name, value) in nested {
        given.entry(name).or_insert(value);
    }
    refused
}

/// The answer to a `next` that lacks an outcome or an output.
fn incomplete(resolved: &ResolvedPhase, refused: &[String], outputs: &Values) -> ToolAnswer {
    let phase = &resolved.phase;
    let mut lines = vec![format!("You are still in {}.", phase.name)];
    lines.extend(refused.iter().cloned());
    if !phase.outcomes.is_empty() {
        lines.push(format!("Outcomes: {}", resolved.outcomes));
    }
    lines.push(format!(
        "Example: workflow_step {}",
        example(phase, outputs)
    ));
    let details = json!({ "active": true, "advanced": false, "problems": refused });
    ToolAnswer::error(lines.join("\n"), details)
}

/// The arguments of a call that leaves the phase, with those of the given values that are valid, shortened.
fn example(phase: &Phase, given: &Values) -> Value {
    let mut call = json!({ "action": "next" });
    if let Some(outcome) = phase.outcomes.first() {
        call["outcome"] = json!(outcome.name);
    }
    let outputs = phase.outputs.iter().filter_map(|output| {
        let right = given.get(&output.name);
        let right = right.filter(|value| output.check(value).is_ok());
        let value = right.and_then(|value| match value {
            Value::String(text) => Some(shortened(text, MAX_EXAMPLE).into()),
            value => (value.to_string().len() <= MAX_EXAMPLE as usize).then(|| value.clone()),
        });
        let value = value.or_else(|| output.required.then(|| output.fitting()))?;
        Some((output.name.clone(), value))
    });
    let outputs: Map<String, Value> = outputs.collect();
    if !outputs.is_empty() {
        call["outputs"] = Value::Object(outputs);
    }
    call
}
