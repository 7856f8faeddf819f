//! A file that is being read: its source, its findings, and what is noted of it for later checks.

use super::locations::KeyLocations;
use super::section::Sections;
use crate::definition::syntax::{Findings, Map, Source, Span};
use crate::definition::tier::Tier;
use crate::diagnostic::Finding;
use crate::template::TemplateKind;

/// A source that is being read, and the collector of its findings.
pub(crate) struct Reader<'a> {
    pub(crate) source: &'a Source,
    pub(crate) findings: &'a mut Findings,
    pub(crate) tier: Tier,
    /// The maps of the language: what an unknown key may belong in.
    pub(crate) sections: Sections,
    /// The locations that the checks across phases need.
    pub(crate) sites: Sites,
    /// True if the locations of all keys are kept.
    pub(crate) keeps_locations: bool,
}

impl Reader<'_> {
    /// A location in the source as people read it: `file:line`.
    pub(crate) fn file_and_line(&self, span: Option<Span>) -> String {
        self.source.location(span).file_and_line()
    }

    pub(crate) fn report(&mut self, finding: Finding) {
        self.findings.add(self.source, finding);
    }

    /// Reports why there is no value.
    pub(crate) fn refuse<T>(&mut self, finding: Finding) -> Option<T> {
        self.report(finding);
        None
    }

    /// Reports what was found, and returns true if that is nothing.
    pub(crate) fn passes(&mut self, finding: Option<Finding>) -> bool {
        finding.map(|finding| self.report(finding)).is_none()
    }

    /// Keeps the locations of the keys of a map, where they are wanted. `body` are the instructions below it.
    pub(crate) fn keep_locations(&mut self, map: &Map<'_>, body: Option<Span>) {
        if self.keeps_locations {
            self.sites.keys.add_all(self.source, "", map);
            if body.is_some() {
                let location = self.source.location(body);
                self.sites.keys.add("instructions", location);
            }
        }
    }

    /// Notes where a key leads.
    pub(crate) fn jump(&mut self, kind: JumpKind, to: &str, span: Option<Span>) {
        let to = to.to_owned();
        self.sites.targets.push(Site { kind, to, span });
    }
}

/// The locations in a phase, or in a workflow outside of its phases, for the checks across phases.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    /// The phase file; `None` is the definition itself.
    pub(crate) source: Option<Source>,
    /// All keys, where they are kept.
    pub(crate) keys: KeyLocations,
    /// The entry of `phases`.
    pub(crate) entry: Option<Span>,
    pub(crate) id: Option<Span>,
    pub(crate) targets: Vec<Site>,
    /// The named ends.
    pub(crate) ends: Vec<String>,
    /// The location of each condition.
    pub(crate) when: Vec<Option<Span>>,
    pub(crate) max_visits: Option<Span>,
    /// The bounds that are values of the run: the key, and the name of the value.
    pub(crate) bounds: Vec<(String, String)>,
    pub(crate) budget: Option<Span>,
    /// The dotted names in its templates.
    pub(crate) references: Vec<TemplateReference>,
    /// The entries in which a rule set does not hold.
    pub(crate) excepted: Vec<(String, Option<Span>)>,
    /// The keys of what is open where a phase is read-only.
    pub(crate) openings: Vec<(&'static str, Option<Span>)>,
    /// True if an input or an output could not be read, so that a name may be known.
    pub(crate) lacks_values: bool,
}

/// The kind of a jump: the key that declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpKind {
    /// An outcome of the phase.
    Outcome,
    /// A check that did not pass.
    OnFail,
    /// An answer of a person.
    Choice,
    /// More turns, reminders or failures than there may be.
    OnLimit,
    /// More visits than the phase may have.
    OnVisitLimit,
}

/// A jump and its location.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) kind: JumpKind,
    pub(crate) to: String,
    pub(crate) span: Option<Span>,
}

/// A dotted name in a template.
#[derive(Debug, Clone)]
pub(crate) struct TemplateReference {
    pub(crate) name: String,
    pub(crate) kind: TemplateKind,
    pub(crate) span: Option<Span>,
    /// True in a path of the project.
    pub(crate) is_path: bool,
}
