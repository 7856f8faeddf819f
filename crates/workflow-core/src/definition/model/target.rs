//! Where a phase leads: targets, outcomes, and what happens at a limit.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::definition::schema::{JumpKind, KeyType, NAME, Reader, Shape, Written, map_to, only};
use crate::definition::syntax::{Kind, Map, Span};
use crate::definition::value::{Choices, FilledText, is_name, items, not_a_name};
use crate::diagnostic::{Code, Finding, shown};
use crate::white_space::trim;

/// A place that a phase is left for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// The run stays, and waits for the user. Only a limit leads there.
    Pause,
    /// The entry that follows in order.
    Next,
    /// The end of this scope: a subworkflow returns, the root workflow is complete.
    End,
    /// The end of this scope with a name, which the reference to the subworkflow leads on. At the root it is `end`.
    EndAs(String),
    /// The end of the run.
    Done,
    /// The run is cancelled. Only a person's answer and a limit lead there.
    Cancel,
    /// The entry of the same scope with this id: a phase's id, or a subworkflow's key.
    Phase(String),
}

impl Target {
    /// The words that are not ids of phases.
    pub const WORDS: [(&str, Self); 5] = [
        ("pause", Self::Pause),
        ("next", Self::Next),
        ("end", Self::End),
        ("done", Self::Done),
        ("cancel", Self::Cancel),
    ];

    /// Returns true if it leads on; false if it leads to a phase that is named, or cancels the run.
    pub(crate) fn is_onward(&self) -> bool {
        matches!(self, Self::Next | Self::End | Self::EndAs(_) | Self::Done)
    }

    /// The target in a sentence: a word, or `→` and the id of the entry.
    pub fn described(&self) -> String {
        let arrow = self.phase().map_or("", |_| "→ ");
        format!("{arrow}{}", shown(&self.to_string()))
    }

    /// The id of the entry that it leads to, if it is one.
    pub(crate) fn phase(&self) -> Option<&str> {
        match self {
            Self::Phase(id) => Some(id),
            _ => None,
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
            Self::EndAs(name) => write!(f, "end: {name}"),
            word => {
                let known = Self::WORDS.iter().find(|(_, target)| target == word);
                f.write_str(known.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A named way out of a phase: an outcome that the agent names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    const SHAPE: Shape = Shape::new(named_targets, "map of targets").meant(|finding, written| {
        let names = items(&written.entry.value).map(|(name, _)| format!("{name}: next"));
        let names: Vec<String> = names.collect();
        let is_list = matches!(written.kind(), Kind::List(_)) && !names.is_empty();
        is_list.then(|| finding.help(format!("write `outcomes: {{{}}}`", names.join(", "))))
    });

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
        || json!({"anyOf": [(Choices::SHAPE.schema)(), named_targets()]}),
        "list of texts, or map of targets",
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

/// The place to which the run goes when a check fails: a phase, `end` or `done`.
pub(crate) struct OnFail;

/// What happens at a limit: `pause`, `cancel`, `end`, `done`, or a phase.
pub(crate) struct OnLimit;

/// The same for visits, where `next` is behind the phase that may not be entered.
pub(crate) struct OnVisitLimit;

/// The schema of a target.
fn one_target() -> Value {
    let end = only("end", &json!({"type": "string", "pattern": NAME}));
    json!({"anyOf": [(FilledText::SHAPE.schema)(), end]})
}

/// The schema of a map of targets.
fn named_targets() -> Value {
    map_to(&one_target())
}

/// Reads `{end: name}`.
fn named_end(reader: &mut Reader<'_>, map: &Map<'_>, span: Option<Span>) -> Option<Target> {
    let name = match &*map.entries {
        [entry] if entry.key == "end" => entry.value.kind.text(),
        _ => None,
    };
    let Some(name) = name.filter(|name| is_name(name)) else {
        let message = "a target as a map has `end` with a name of letters, digits, `_` and `-`";
        let finding = Finding::error(Code::WrongType, span, message);
        return reader.refuse(finding.help("write `{end: stuck}`"));
    };
    reader.sites.ends.push(name.to_owned());
    Some(Target::EndAs(name.to_owned()))
}

/// Declares the type of a key that has one target.
macro_rules! target_key {
    ($($name:ident: $jump:ident,)*) => { $(
        impl KeyType for $name {
            type Value = Target;
            const SHAPE: Shape = Shape::new(one_target, FilledText::SHAPE.described);

            fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Target> {
                if let Kind::Map(map) = written.kind() {
                    return named_end(reader, map, written.span());
                }
                let text = FilledText::read(reader, written)?;
                reader.jump(JumpKind::$jump, &text, written.span());
                Some(JumpKind::$jump.target(&text))
            }
        }
    )* };
}

target_key! {
    OnFail: OnFail,
    OnLimit: OnLimit,
    OnVisitLimit: OnVisitLimit,
}

impl JumpKind {
    /// Its key, and the words that it takes beside ids.
    pub(crate) fn form(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Outcome => ("outcomes", &["next", "end", "done"]),
            Self::OnFail => ("onFail", &["end", "done"]),
            Self::Choice => ("choices", &["next", "end", "done", "cancel"]),
            Self::OnLimit => ("onLimit", &["pause", "cancel", "end", "done"]),
            Self::OnVisitLimit => ("onLimit", &["pause", "cancel", "next", "end", "done"]),
        }
    }

    /// The target that a text names. A word of another key is an id here.
    fn target(self, text: &str) -> Target {
        if self.form().1.contains(&text) {
            Target::from(text)
        } else {
            Target::Phase(text.to_owned())
        }
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
        let span = entry.span();
        let name = shown(&entry.key);
        let is_answer = jump == JumpKind::Choice;
        let what = if is_answer { "answer" } else { "outcome" };
        if let Kind::Map(map) = &entry.value.kind {
            let end = named_end(reader, map, span);
            read.extend(end.map(|end| (entry.key.to_string(), end)));
            continue;
        }
        let message = match &entry.value.kind {
            Kind::Text(to) if !trim(to).is_empty() => {
                reader.jump(jump, to, span);
                read.push((entry.key.to_string(), jump.target(to)));
                continue;
            }
            Kind::Null | Kind::Text(_) => format!("{what} `{name}` has no target"),
            kind => {
                let kind = kind.describe();
                format!("the target of {what} `{name}` must be text, not {kind}")
            }
        };
        let finding = Finding::error(Code::WrongType, span, message);
        let help = format!("write `{name}: next`, or the id of a phase of this workflow");
        reader.report(finding.help(help));
    }
    Some(read)
}
