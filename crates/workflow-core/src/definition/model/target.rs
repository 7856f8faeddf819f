//! Where a phase leads: targets, outcomes, and what follows too many visits.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::definition::schema::{JumpKind, KeyType, Reader, Shape, Written};
use crate::definition::syntax::Kind;
use crate::definition::value::{Choices, FilledText, NamedTexts, is_name, items, not_a_name};
use crate::diagnostic::{Code, Finding, shown};
use crate::white_space::trim;

/// A place that a phase is left for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// The entry that follows in order.
    Next,
    /// The end of this scope: a subworkflow returns, the root workflow is complete.
    End,
    /// The end of the run.
    Done,
    /// The run is cancelled. Only a person's answer leads there.
    Cancel,
    /// The entry of the same scope with this id: a phase's id, or a subworkflow's key.
    Phase(String),
}

impl Target {
    /// The words that are not ids of phases.
    pub const WORDS: [(&str, Self); 4] = [
        ("next", Self::Next),
        ("end", Self::End),
        ("done", Self::Done),
        ("cancel", Self::Cancel),
    ];

    /// Returns true if it leads on; false if it leads to a phase that is named, or cancels the run.
    pub(crate) fn is_onward(&self) -> bool {
        matches!(self, Self::Next | Self::End | Self::Done)
    }

    /// The id of the entry that it leads to, if it is one.
    pub(crate) fn phase(&self) -> Option<&str> {
        match self {
            Self::Phase(id) => Some(id),
            Self::Next | Self::End | Self::Done | Self::Cancel => None,
        }
    }
}

impl From<&str> for Target {
    fn from(word: &str) -> Self {
        let known = Self::WORDS.into_iter().find(|(name, _)| *name == word);
        known.map_or_else(|| Self::Phase(word.to_owned()), |(_, target)| target)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase(id) => f.write_str(id),
            word => {
                let known = Self::WORDS.iter().find(|(_, target)| target == word);
                f.write_str(known.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A named way out of a phase: an outcome that the agent names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseOutcome {
    /// Its name.
    pub name: String,
    /// The place that it leads to.
    pub to: Target,
}

/// A map of names of outcomes to targets.
pub(crate) struct Outcomes;

impl KeyType for Outcomes {
    type Value = Vec<PhaseOutcome>;
    const SHAPE: Shape = Shape::new(NamedTexts::SHAPE.schema, || "map of targets".to_owned());

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<PhaseOutcome>> {
        let read = targets_of(reader, written, JumpKind::Outcome)?.into_iter();
        Some(read.map(|(name, to)| PhaseOutcome { name, to }).collect())
    }
}

/// A list of answers, or a map of answers to targets.
pub(crate) struct Answers;

impl KeyType for Answers {
    type Value = (Vec<String>, Vec<Target>);
    const SHAPE: Shape = Shape::new(
        || json!({"anyOf": [(Choices::SHAPE.schema)(), (NamedTexts::SHAPE.schema)()]}),
        || "list of texts, or map of targets".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value> {
        if let Kind::Map(_) = written.kind() {
            let targets = targets_of(reader, written, JumpKind::Choice)?;
            return Some(targets.into_iter().unzip());
        }
        for (choice, span) in items(&written.entry.value) {
            reader.passes(written.hidden(choice, span));
        }
        Some((Choices::read(reader, written)?, Vec::new()))
    }
}

/// The id of an entry to which the run goes when a check fails.
pub(crate) struct OnFail;

impl KeyType for OnFail {
    type Value = String;
    const SHAPE: Shape = FilledText::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
        let id = FilledText::read(reader, written)?;
        reader.jump(JumpKind::OnFail, &id, written.span());
        Some(id)
    }
}

/// `pause`, `cancel`, or the id of an entry. `None` is `pause`.
pub(crate) struct AfterVisitLimit;

impl KeyType for AfterVisitLimit {
    type Value = Option<Target>;
    const SHAPE: Shape = FilledText::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Option<Target>> {
        let text = FilledText::read(reader, written)?;
        if text == "pause" {
            return Some(None);
        }
        reader.jump(JumpKind::OnLimit, &text, written.span());
        Some(Some(match &*text {
            "cancel" => Target::Cancel,
            _ => Target::Phase(text),
        }))
    }
}

/// Reads the entries of a map of names to targets.
fn targets_of(
    reader: &mut Reader<'_>,
    written: Written<'_>,
    jump: JumpKind,
) -> Option<Vec<(String, Target)>> {
    let of = written.key.name;
    let empty = format!("`{of}` is empty: nothing leads out of the phase");
    let mut read = Vec::new();
    for entry in written.entries(reader, "a map of names to targets", empty)? {
        if !is_name(&entry.key) && jump == JumpKind::Outcome {
            reader.report(not_a_name("an outcome", &entry.key, entry.key_span));
            continue;
        }
        if trim(&entry.key).is_empty() {
            let message = format!("an answer of `{of}` is empty");
            reader.report(Finding::error(Code::MissingKey, entry.key_span, message));
            continue;
        }
        let span = entry.value.span.or(entry.key_span);
        let name = shown(&entry.key);
        let what = match jump {
            JumpKind::Choice => "answer",
            JumpKind::Outcome | JumpKind::OnFail | JumpKind::OnLimit => "outcome",
        };
        let message = match &entry.value.kind {
            Kind::Text(to) if !trim(to).is_empty() => {
                reader.jump(jump, to, span);
                read.push((entry.key.to_string(), Target::from(&**to)));
                continue;
            }
            Kind::Null | Kind::Text(_) => format!("{what} `{name}` has no target"),
            kind => {
                let kind = kind.describe();
                format!("the target of {what} `{name}` must be text, not {kind}")
            }
        };
        let finding = Finding::error(Code::WrongType, span, message);
        reader.report(finding.help(format!(
            "write `{name}: next`, or the id of a phase of this workflow"
        )));
    }
    Some(read)
}
