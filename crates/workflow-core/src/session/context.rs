//! The context message (hook-lifecycle: "buildContextPrompt Details"), and the parts of it that the model has.
//!
//! [`PhaseContext`] is the whole message of a phase; [`SentContext`] is what was sent already. At a start of the agent
//! the difference is sent (behaviour: "Context").

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::phase_texts::ContextTopic;
use crate::run::Position;
use crate::text;

/// The context message of a phase, part by part.
#[derive(Debug, Clone)]
pub(crate) struct PhaseContext {
    header: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    about: ContextTopic,
    text: String,
    digest: u64,
}

/// The parts that the conversation contains, as hashes.
///
/// A part about a phase counts only if it was sent since the phase was entered. Empty where the conversation may have
/// lost what was sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SentContext(BTreeMap<ContextTopic, u64>);

impl SentContext {
    /// Forgets the parts about a phase, because another one is entered.
    pub(crate) fn leave_phase(&mut self) {
        self.0.retain(|about, _| !about.is_of_phase());
    }

    /// Notes that the instructions, the rules and maybe the subagents are in the answer of `workflow_step` that entered the phase.
    pub(crate) fn note_step_answer(&mut self, context: &PhaseContext, names_profiles: bool) {
        let has = |about: ContextTopic| {
            about.is_in_step_answer() || names_profiles && about == ContextTopic::Profiles
        };
        let in_answer = context.parts.iter().filter(|part| has(part.about));
        self.0
            .extend(in_answer.map(|part| (part.about, part.digest)));
    }

    /// Notes that the last answer of `workflow_step` may not have reached the model as it was sent. The parts that were
    /// sent at a start of the agent count as well.
    pub(crate) fn forget_step_answer(&mut self) {
        if !self.0.contains_key(&ContextTopic::Progress) {
            self.leave_phase();
        }
    }

    /// Returns true if the conversation contains the instructions of the phase.
    pub(crate) fn has_instructions(&self, context: &PhaseContext) -> bool {
        let mut parts = context.parts.iter();
        parts.any(|part| part.about == ContextTopic::Instructions && self.has(part))
    }

    fn has(&self, part: &Part) -> bool {
        self.0.get(&part.about) == Some(&part.digest)
    }
}

impl PhaseContext {
    /// A message with these parts.
    pub(crate) fn new(position: &Position<'_>, parts: Vec<(ContextTopic, String)>) -> Self {
        let (path, label) = (position.breadcrumb(), position.phase.label());
        let part = |(about, text): (ContextTopic, String)| {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let digest = hasher.finish();
            Part {
                about,
                text,
                digest,
            }
        };
        Self {
            header: format!("[Workflow path: {path} ▸ {label}]"),
            parts: parts.into_iter().map(part).collect(),
        }
    }

    /// The lines about the rules of the phase; `None` if there are none.
    pub(crate) fn rules(&self) -> Option<String> {
        let rules = self.parts.iter().filter(|part| part.about.is_rule());
        let rules: Vec<&str> = rules.map(|part| &*part.text).collect();
        (!rules.is_empty()).then(|| rules.join("\n"))
    }

    /// The whole message.
    pub(crate) fn in_full(&self) -> String {
        with_parts(&self.header, &self.parts.iter().collect::<Vec<_>>())
    }

    /// The message where the conversation contains all parts.
    pub(crate) fn line(&self) -> String {
        format!("{} Instructions and rules are unchanged.", self.header)
    }

    /// The message with the parts that were not sent yet, which count as sent afterwards.
    pub(crate) fn update(&self, sent: &mut SentContext) -> String {
        let unknown: Vec<&Part> = self.parts.iter().filter(|part| !sent.has(part)).collect();
        let message = if unknown.is_empty() {
            self.line()
        } else if unknown.len() == self.parts.len() {
            with_parts(&self.header, &unknown)
        } else {
            let mut topics: Vec<&str> = unknown.iter().map(|part| part.about.name()).collect();
            topics.dedup();
            let (header, topics) = (&self.header, text::joined(&topics, "and"));
            let header = format!("{header} New {topics}. All other rules are unchanged.");
            with_parts(&header, &unknown)
        };
        sent.0
            .extend(unknown.iter().map(|part| (part.about, part.digest)));
        message
    }
}

fn with_parts(header: &str, parts: &[&Part]) -> String {
    let length: usize = parts.iter().map(|part| part.text.len() + 2).sum();
    let mut message = String::with_capacity(header.len() + length);
    message.push_str(header);
    let mut before = None;
    for part in parts {
        let follows = before.is_some_and(|before| part.about.follows(before));
        message.push_str(if follows { "\n" } else { "\n\n" });
        message.push_str(&part.text);
        before = Some(part.about);
    }
    message
}
