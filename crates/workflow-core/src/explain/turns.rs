//! What holds around turns: what is kept of the code, and what wakes the agent.

use crate::definition::Checkpoint;

use super::here::Here;
use super::row::{Row, Section, Value};
use super::rows::said_by;
use crate::policy::rules::RuleSource;

/// What holds in a phase.
pub(super) fn of_phase(here: &Here<'_>) -> Vec<Row> {
    let own = here.position.phase.checkpoint;
    let own = own.map(|said| checkpoint(said, here.phase(&["checkpoint"])));
    let kept = own.or_else(|| around(here, false));
    kept.into_iter().chain(triggers(here)).collect()
}

/// What holds in every phase of a run that says nothing else.
pub(super) fn of_workflow(here: &Here<'_>) -> Vec<Row> {
    around(here, true)
        .into_iter()
        .chain(triggers(here))
        .collect()
}

/// What the workflows around the phase say, the innermost first, or the root alone; then the settings.
fn around(here: &Here<'_>, root_only: bool) -> Option<Row> {
    let said = here.scope_or_settings(
        root_only,
        &["checkpoint"],
        |workflow| workflow.checkpoint,
        |settings| settings.checkpoint,
    );
    said.map(|(said, origin)| checkpoint(said, origin))
}

fn checkpoint(said: Checkpoint, origin: super::row::Origin) -> Row {
    let said = match said {
        Checkpoint::Git => "git",
        Checkpoint::Off => "off",
    };
    Row {
        section: Section::Turns,
        key: "checkpoint",
        value: Value::Word(said.to_owned()),
        origin: Some(origin),
    }
}

/// Each with what it waits for and what the agent is told.
fn triggers(here: &Here<'_>) -> Vec<Row> {
    let triggers = here.settings.triggers.iter();
    let rows = triggers.map(|trigger| Row {
        section: Section::Turns,
        key: "trigger",
        value: Value::Word(format!("{}: \"{}\"", trigger.in_words(), trigger.prompt)),
        origin: Some(said_by(RuleSource::Settings(trigger.tier), &trigger.source)),
    });
    rows.collect()
}
