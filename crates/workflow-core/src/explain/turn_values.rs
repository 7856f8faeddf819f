//! The values of turns: the checkpoint and the triggers.

use crate::definition::Checkpoint;

use super::origin_lookup::OriginLookup;
use super::row::{Origin, Row, Topic, Value};
use crate::policy::rules::RuleSource;

/// The values of a phase.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let own = lookup.position.phase.checkpoint;
    let own = own.map(|said| checkpoint(said, lookup.phase(&["checkpoint"])));
    let kept = own.or_else(|| around(lookup, false));
    kept.into_iter().chain(triggers(lookup)).collect()
}

/// The values of every phase that has none itself.
pub(super) fn of_workflow(lookup: &OriginLookup<'_>) -> Vec<Row> {
    around(lookup, true)
        .into_iter()
        .chain(triggers(lookup))
        .collect()
}

/// The values of the workflows around the phase, the innermost first, or of the root alone; then those of the settings.
fn around(lookup: &OriginLookup<'_>, root_only: bool) -> Option<Row> {
    let said = lookup.scope_or_settings(
        root_only,
        &["checkpoint"],
        |workflow| workflow.checkpoint,
        |settings| settings.checkpoint,
    );
    said.map(|(said, origin)| checkpoint(said, origin))
}

fn checkpoint(said: Checkpoint, origin: Origin) -> Row {
    let said = match said {
        Checkpoint::Git => "git",
        Checkpoint::Off => "off",
    };
    Row {
        topic: Topic::Turns,
        key: "checkpoint",
        value: Value::Label(said.to_owned()),
        origin: Some(origin),
    }
}

/// The triggers, each with its event and its message.
fn triggers(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let triggers = lookup.settings.triggers.iter();
    let rows = triggers.map(|trigger| Row {
        topic: Topic::Turns,
        key: "trigger",
        value: Value::Label(format!("{}: \"{}\"", trigger.describe(), trigger.prompt)),
        origin: Some(Origin::at(
            RuleSource::Settings(trigger.tier),
            &trigger.source,
        )),
    });
    rows.collect()
}
