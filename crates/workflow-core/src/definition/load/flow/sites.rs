//! The locations of the flow of a phase, for the checks across phases.

use crate::definition::model::Target;
use crate::definition::schema::{Text, references_in};
use crate::definition::syntax::{Reader, Source, Span};
use crate::template::TemplateKind;

/// The kind of a jump: the key that declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::definition::load) enum JumpKind {
    /// An outcome of the phase.
    Outcome,
    /// A check that did not pass.
    OnFail,
    /// An answer of a person.
    Choice,
    /// More visits than the phase may have.
    OnMaxVisits,
}

impl JumpKind {
    /// Its key.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Outcome => "outcomes",
            Self::OnFail => "onFail",
            Self::Choice => "choices",
            Self::OnMaxVisits => "onMaxVisits",
        }
    }

    /// The words that it takes beside ids.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Outcome => &["next", "end", "done"],
            Self::OnFail => &[],
            Self::Choice => &["next", "end", "done", "cancel"],
            Self::OnMaxVisits => &["pause", "cancel"],
        }
    }
}

/// A jump and its location.
#[derive(Debug, Clone)]
pub(in crate::definition::load) struct Site {
    pub(in crate::definition::load) kind: JumpKind,
    pub(in crate::definition::load) to: Target,
    pub(in crate::definition::load) span: Option<Span>,
}

/// A dotted name in a template.
#[derive(Debug, Clone)]
pub(in crate::definition::load) struct TemplateReference {
    pub(in crate::definition::load) name: String,
    pub(in crate::definition::load) kind: TemplateKind,
    pub(in crate::definition::load) span: Option<Span>,
}

impl PhaseSites {
    /// Notes what a template refers to.
    pub(in crate::definition::load) fn refer(
        &mut self,
        reader: &Reader<'_>,
        kind: TemplateKind,
        text: &Text,
    ) {
        let found = references_in(reader, kind, text).into_iter();
        self.references
            .extend(found.map(|(name, span)| TemplateReference { name, kind, span }));
    }
}

/// The locations of what a phase says of the flow.
#[derive(Debug, Default)]
pub(in crate::definition::load) struct PhaseSites {
    /// The phase file; `None` is the definition itself.
    pub(in crate::definition::load) source: Option<Source>,
    pub(in crate::definition::load) id: Option<Span>,
    pub(in crate::definition::load) targets: Vec<Site>,
    /// The location of each condition.
    pub(in crate::definition::load) when: Vec<Option<Span>>,
    pub(in crate::definition::load) max_visits: Option<Span>,
    pub(in crate::definition::load) budget: Option<Span>,
    pub(in crate::definition::load) references: Vec<TemplateReference>,
}
