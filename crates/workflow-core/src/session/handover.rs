//! The handover at the end of a phase: the outcome and the outputs that the agent names, and a person's answer.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::phase::ResolvedPhase;
use crate::definition::{Approval, Phase, PhaseOutcome, Target};
use crate::diagnostic::shown;
use crate::effect::{AnswerKind, ToolAnswer};
use crate::run::{HandedOver, RunData, Values, problems};

/// A call of `workflow_step`.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepCall<'a> {
    /// The action: `next`, `status`, `loop` or `cancel`.
    pub action: Option<&'a str>,
    /// The agent's summary of the phase, for a person who approves.
    pub summary: Option<&'a str>,
    /// The outcome of the phase.
    pub outcome: Option<&'a str>,
    /// The outputs of the phase: an object.
    pub outputs: Option<&'a RawValue>,
}

/// The handover of the current phase: the outcome and outputs of the agent, and the answer of a person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handover {
    outcome: Option<PhaseOutcome>,
    outputs: Values,
    answer: Option<Target>,
    /// True if a person has answered.
    is_answered: bool,
    /// The comment of that person.
    comment: Option<String>,
}

impl Handover {
    /// Notes the outcome and the outputs of a call of `next`; the error is the answer to a call that lacks some. Outputs
    /// of an earlier call in the same phase count.
    pub(crate) fn accept(
        &mut self,
        call: &StepCall<'_>,
        resolved: &ResolvedPhase,
    ) -> Result<(), ToolAnswer> {
        let phase = &resolved.phase;
        let mut refused = Vec::new();
        let outcome = read_outcome(phase, call.outcome).unwrap_or_else(|problem| {
            refused.push(problem);
            None
        });
        let mut outputs = self.outputs.clone();
        match read_outputs(call.outputs) {
            Ok(mut given) => {
                refused.extend(unwrap_nested(phase, &mut given));
                outputs.extend(given);
                let found = problems(&phase.outputs, &outputs);
                refused.extend(
                    found
                        .into_iter()
                        .map(|problem| format!("Output {problem}.")),
                );
            }
            Err(problem) => refused.push(problem),
        }
        if !refused.is_empty() {
            return Err(incomplete(resolved, &refused, &outputs));
        }
        *self = Self {
            outcome,
            outputs,
            ..Self::default()
        };
        Ok(())
    }

    /// The outcome and the outputs that a restarted sidecar needs when a person answers.
    pub(crate) fn handed_over(&self) -> HandedOver {
        HandedOver {
            outcome: self.outcome.as_ref().map(|outcome| outcome.name.clone()),
            outputs: self.outputs.clone(),
        }
    }

    /// The handover from before a restart, without values that the phase no longer has.
    pub(crate) fn restored(handed_over: &HandedOver, phase: &Phase) -> Self {
        let named = handed_over.outcome.as_deref();
        let outcome = phase
            .outcomes
            .iter()
            .find(|outcome| Some(&*outcome.name) == named);
        Self {
            outcome: outcome.cloned(),
            outputs: handed_over.outputs.clone(),
            ..Self::default()
        }
    }

    /// Notes a person's answer: the place that it leads to.
    pub(crate) fn decide(&mut self, target: Target) {
        self.answer = Some(target);
        self.is_answered = true;
    }

    /// Notes the comment of the person who answered.
    pub(crate) fn comment(&mut self, comment: &str) {
        self.is_answered = true;
        self.comment = Some(comment.to_owned());
    }

    /// Notes the outcome that a person chose.
    pub(crate) fn choose(&mut self, outcome: PhaseOutcome) {
        self.outcome = Some(outcome);
    }

    /// Forgets a person's answer, because the run did not follow it.
    pub(crate) fn forget_answer(&mut self) {
        self.answer = None;
        self.is_answered = false;
        self.comment = None;
    }

    /// The route on which the phase is left. A person's answer that leads somewhere wins over an outcome.
    pub(crate) fn route(&self) -> ExitRoute<'_> {
        match (&self.answer, &self.outcome) {
            (Some(answer), _) if *answer != Target::Next => ExitRoute::Answer(answer),
            (_, Some(outcome)) => ExitRoute::Outcome(outcome),
            (_, None) => ExitRoute::Next,
        }
    }

    pub(crate) fn outputs(&self) -> &Values {
        &self.outputs
    }

    /// The comment of the person who answered.
    pub(crate) fn new_comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Replaces the comment of an earlier answer, if an approval was answered.
    pub(crate) fn note_comment(&self, data: &mut RunData) {
        if self.is_answered {
            data.comment.clone_from(&self.comment);
        }
    }
}

/// The route on which a phase is left.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExitRoute<'a> {
    /// A person's answer leads there.
    Answer(&'a Target),
    Outcome(&'a PhaseOutcome),
    Next,
}

fn read_outcome(phase: &Phase, given: Option<&str>) -> Result<Option<PhaseOutcome>, String> {
    let Some(name) = given else {
        return match &*phase.outcomes {
            [] => Ok(None),
            _ => Err("Say how the phase ended: the outcome is missing.".to_owned()),
        };
    };
    let found = phase.outcomes.iter().find(|outcome| outcome.name == name);
    match found {
        Some(outcome) => Ok(Some(outcome.clone())),
        None if phase.outcomes.is_empty() => Err(format!(
            "{} has no outcomes: leave out outcome='{}'.",
            phase.name,
            shown(name)
        )),
        None => Err(format!(
            "'{}' is not an outcome of {}.",
            shown(name),
            phase.name
        )),
    }
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
        refused.push(format!(
            "`{}` contains outputs: write them directly into `outputs`.",
            shown(name)
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
    ToolAnswer {
        text: lines.join("\n"),
        details: json!({ "active": true, "advanced": false, "problems": refused }),
        kind: Some(AnswerKind::Error),
    }
}

/// The arguments of a call that leaves the phase, with those of the given values that are valid.
fn example(phase: &Phase, given: &Values) -> Value {
    let mut call = json!({ "action": "next" });
    if let Some(outcome) = phase.outcomes.first() {
        call["outcome"] = json!(outcome.name);
    }
    let outputs = phase.outputs.iter().filter_map(|output| {
        let right = given.get(&output.name);
        let value = right.filter(|value| output.check(value).is_ok()).cloned();
        let value = value.or_else(|| output.required.then(|| output.example()))?;
        Some((output.name.clone(), value))
    });
    let outputs: Map<String, Value> = outputs.collect();
    if !outputs.is_empty() {
        call["outputs"] = Value::Object(outputs);
    }
    call
}

/// The consequence of an answer to an approval.
pub(crate) fn meaning_of(approval: &Approval, choice: usize) -> String {
    match approval.target(choice) {
        None => "stays in the phase".to_owned(),
        Some(Target::Next) if approval.targets.is_empty() => "leaves the phase".to_owned(),
        Some(target) => leads_to(&target),
    }
}

/// The consequence of a way out of a phase.
pub(crate) fn leads_to(target: &Target) -> String {
    match target {
        Target::Next => "continues with the next phase".to_owned(),
        Target::End => "ends this part of the workflow".to_owned(),
        Target::Done => "completes the workflow".to_owned(),
        Target::Cancel => "cancels the workflow".to_owned(),
        Target::Phase(id) => format!("goes to {id}"),
    }
}
