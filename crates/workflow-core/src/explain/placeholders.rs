//! Placeholders: what stands for the values that only a run has.

use std::collections::BTreeMap;

use crate::definition::{Catalog, Parameter};
use crate::run::{Path, PhaseAnswer, Position, RunData, RunValues, Values, output_key};

/// Inputs or outputs, each as the name of its variable.
pub(super) fn values(variables: &str, parameters: &[Parameter]) -> Values {
    let named = |parameter: &Parameter| {
        let name = parameter.name.clone();
        let placeholder = format!("{{{variables}.{name}}}");
        (name, placeholder.into())
    };
    parameters.iter().map(named).collect()
}

/// The values of a run, each as the name of its variable.
pub(super) fn data(position: &Position<'_>, catalog: &Catalog) -> RunData {
    let root = position.root();
    let mut all = RunValues {
        inputs: values("inputs", &root.inputs),
        ..RunValues::default()
    };
    for workflow in catalog.reachable_from(&root.key) {
        for phase in workflow.own_phases() {
            let key = output_key(&workflow.key, &phase.id);
            let id = &phase.id;
            let outputs = values(&format!("outputs.{id}"), &phase.outputs);
            all.outputs.insert(key.clone(), outputs);
            let answer = PhaseAnswer {
                choice: format!("{{answer.{id}.choice}}"),
                comment: format!("{{answer.{id}.comment}}"),
            };
            all.answers.insert(key.clone(), answer);
            all.outcomes.insert(key, format!("{{outcome.{id}}}"));
        }
    }
    RunData {
        values: all,
        ..RunData::default()
    }
}

/// The variables of the texts of a phase, each with its own name as the value.
pub(super) fn variables(path: &Path, catalog: &Catalog) -> BTreeMap<String, String> {
    let mut variables = RunData::default().variables(path, catalog);
    for (name, value) in &mut variables {
        *value = format!("{{{name}}}");
    }
    variables
}
