//! The values of turns: the checkpoint, the time for an answer, and the triggers.

use crate::definition::Checkpoint;

use super::origin_lookup::OriginLookup;
use super::row::{Origin, Row, Topic, Value};
use super::rows::Rows;
use crate::policy::rules::RuleSource;

/// The values of a phase.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let own = lookup.position.phase.checkpoint;
    let own = own.map(|said| (said, lookup.phase(&["checkpoint"])));
    turns(lookup, own, false)
}

/// The values of every phase that has none itself.
pub(super) fn of_workflow(lookup: &OriginLookup<'_>) -> Vec<Row> {
    turns(lookup, None, true)
}

/// What the phase has itself, else the values of the workflows around it, or of the root alone, and of the settings.
fn turns(
    lookup: &OriginLookup<'_>,
    own: Option<(Checkpoint, Origin)>,
    root_only: bool,
) -> Vec<Row> {
    let mut rows = Rows::of(Topic::Turns);
    let key = ["checkpoint"];
    let mut around = lookup.around(
        root_only,
        &key,
        |said| said.checkpoint,
        |said| said.checkpoint,
    );
    if let Some((checkpoint, origin)) = own.or_else(|| around.next()) {
        rows.label("checkpoint", checkpoint.word(), origin);
    }
    let key = ["questionTimeout"];
    let mut timeouts = lookup.around(root_only, &key, |_| None, |said| said.question_timeout);
    if let Some((seconds, origin)) = timeouts.next() {
        rows.add("questionTimeout", Value::Count(seconds.into()), origin);
    }
    for trigger in &lookup.settings.triggers {
        let value = format!("{}: \"{}\"", trigger.describe(), trigger.prompt);
        let whose = RuleSource::Settings(trigger.tier);
        rows.label("trigger", value, Origin::at(whose, &trigger.source));
    }
    rows.finish()
}
