//! Placeholders: what stands for the values that only a run has.

use std::collections::BTreeMap;

use crate::definition::{Catalog, Parameter};
use crate::run::{Position, RunData, RunState, RunValues, Values};

/// Inputs or outputs, each as the name of its variable.
pub(super) fn values(variables: &str, parameters: &[Parameter]) -> Values {
    let named = |parameter: &Parameter| {
        let name = parameter.name.clone();
        let placeholder = format!("{{{variables}.{name}}}");
        (name, placeholder.into())
    };
    parameters.iter().map(named).collect()
}

/// The inputs and outputs of a run, each as the name of its variable.
pub(super) fn data(position: &Position<'_>, catalog: &Catalog) -> RunData {
    let root = position.root();
    let mut outputs: BTreeMap<String, Values> = BTreeMap::new();
    for workflow in catalog.reachable_from(&root.key) {
        for phase in workflow.own_phases() {
            let key = RunData::output_key(&workflow.key, &phase.id);
            let variables = format!("outputs.{}", phase.id);
            outputs.insert(key, values(&variables, &phase.outputs));
        }
    }
    let values = RunValues {
        inputs: values("inputs", &root.inputs),
        outputs,
    };
    RunData {
        values,
        ..RunData::default()
    }
}

/// The variables of the texts of a phase, each with its own name as the value.
pub(super) fn variables(
    state: &RunState,
    position: &Position<'_>,
    catalog: &Catalog,
) -> BTreeMap<String, String> {
    let path = &state.current_path;
    let mut variables = data(position, catalog).variables(path, position, catalog);
    for (name, value) in &mut variables {
        if name.starts_with("visits.") {
            *value = format!("{{{name}}}");
        }
    }
    variables
}
