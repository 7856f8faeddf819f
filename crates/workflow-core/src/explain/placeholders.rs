//! Placeholders: what stands for the values that only a run has.

use std::collections::BTreeMap;

use crate::definition::{Catalog, Parameter, Workflow};
use crate::run::{Position, RunData, RunState, RunValues, Values};

/// The inputs of a workflow, each as the name of its variable.
pub(super) fn inputs(workflow: &Workflow) -> Values {
    let named = |input: &Parameter| {
        let placeholder = format!("{{inputs.{}}}", input.name);
        (input.name.clone(), placeholder.into())
    };
    workflow.inputs.iter().map(named).collect()
}

/// The inputs and outputs of a run, each as the name of its variable.
pub(super) fn data(position: &Position<'_>, catalog: &Catalog) -> RunData {
    let root = position.root();
    let mut outputs: BTreeMap<String, Values> = BTreeMap::new();
    for workflow in catalog.reachable_from(&root.key) {
        for phase in workflow.own_phases() {
            let values = phase.outputs.iter().map(|output| {
                let placeholder = format!("{{outputs.{}.{}}}", phase.id, output.name);
                (output.name.clone(), placeholder.into())
            });
            let key = RunData::output_key(&workflow.key, &phase.id);
            outputs.insert(key, values.collect());
        }
    }
    let values = RunValues {
        inputs: inputs(root),
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
