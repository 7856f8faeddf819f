//! A workflow with the locations of its flow, and findings in its files.

use crate::definition::model::{Parameter, Phase, Subject, Workflow};
use crate::definition::schema::{Reader, Sites, listed, nearest};
use crate::definition::syntax::Source;
use crate::diagnostic::Finding;

/// A workflow with the locations of its flow.
pub(crate) struct Flow<'a> {
    pub(crate) workflow: &'a Workflow,
    /// The locations of what the workflow says for all of its phases.
    pub(crate) own: &'a Sites,
    /// The locations of its entries, in order.
    pub(crate) phases: &'a [Sites],
    /// The jumps that lead into a phase without `maxVisits` at most.
    pub(crate) jumps: u32,
}

/// Reports a finding in one of the files of a workflow.
pub(crate) fn report_in(reader: &mut Reader<'_>, source: Option<&Source>, finding: Finding) {
    match source {
        Some(source) => reader.findings.add(source, finding),
        None => reader.report(finding),
    }
}

impl<'a> Flow<'a> {
    /// Its phases, each with its index and its locations.
    pub(crate) fn phases(&self) -> impl Iterator<Item = (usize, &'a Phase, &'a Sites)> {
        let entries = self.workflow.phases.iter().zip(self.phases).enumerate();
        entries.filter_map(|(at, (entry, sites))| Some((at, entry.phase()?, sites)))
    }

    /// The phase with an id.
    pub(super) fn phase(&self, id: &str) -> Option<(usize, &'a Phase)> {
        let mut phases = self.phases();
        phases.find_map(|(at, phase, _)| (phase.id == id).then_some((at, phase)))
    }

    /// The ids of its phases.
    pub(super) fn phase_ids(&self) -> impl Iterator<Item = &'a str> {
        self.phases().map(|(_, phase, _)| &*phase.id)
    }

    /// The input or output of a name; `None` is a number of visits.
    pub(super) fn named<'n>(
        &'n self,
        subject: &'n Subject,
    ) -> Result<Option<&'n Parameter>, UnknownName<'n>> {
        let unknown = |start: &str, wrong: &'n str, end: String, known: Vec<&'n str>, why| {
            let (start, end) = (start.to_owned(), end);
            Err(UnknownName {
                why,
                start,
                wrong,
                end,
                known,
            })
        };
        match subject {
            Subject::Visits(id) if self.phase(id).is_some() => Ok(None),
            Subject::Visits(id) => {
                let why = format!("this workflow has no phase `{id}`");
                unknown(
                    "visits.",
                    id,
                    String::new(),
                    self.phase_ids().collect(),
                    why,
                )
            }
            Subject::Input(name) => {
                let inputs = &self.workflow.inputs;
                let why = || format!("this workflow has no input `{name}`");
                match parameter(inputs, name) {
                    Some(input) => Ok(Some(input)),
                    None => unknown("inputs.", name, String::new(), names(inputs), why()),
                }
            }
            Subject::Output { phase: id, name } => {
                let Some((_, phase)) = self.phase(id) else {
                    let has_output = |phase: &Phase| parameter(&phase.outputs, name).is_some();
                    let phases = self.phases().filter(|(_, phase, _)| has_output(phase));
                    let known = phases.map(|(_, phase, _)| &*phase.id).collect();
                    let why = format!("this workflow has no phase `{id}`");
                    return unknown("outputs.", id, format!(".{name}"), known, why);
                };
                if let Some(output) = parameter(&phase.outputs, name) {
                    return Ok(Some(output));
                }
                let why = format!("`{id}` has no output `{name}`");
                let start = format!("outputs.{id}.");
                unknown(&start, name, String::new(), names(&phase.outputs), why)
            }
        }
    }

    /// Returns whether it has anything to check. Most workflows have not.
    pub(super) fn is_plain(&self) -> bool {
        let is_plain = |sites: &Sites| {
            sites.targets.is_empty()
                && sites.when.is_empty()
                && sites.max_visits.is_none()
                && sites.references.is_empty()
        };
        is_plain(self.own) && self.phases.iter().all(is_plain)
    }
}

fn parameter<'p>(parameters: &'p [Parameter], name: &str) -> Option<&'p Parameter> {
    parameters.iter().find(|known| known.name == name)
}

fn names(parameters: &[Parameter]) -> Vec<&str> {
    parameters.iter().map(|known| &*known.name).collect()
}

/// A name of a value that there is not.
pub(super) struct UnknownName<'n> {
    pub(super) why: String,
    start: String,
    /// The part that is wrong.
    wrong: &'n str,
    end: String,
    /// What it can be.
    known: Vec<&'n str>,
}

impl UnknownName<'_> {
    /// The finding with the name that is most likely meant, in the form in which names are written there.
    pub(super) fn suggest(&self, finding: Finding, written: fn(String) -> String) -> Finding {
        let form = |name: &str| written([&*self.start, name, &self.end].concat());
        let known = || self.known.iter().copied();
        match nearest(self.wrong, known()) {
            Some(near) => finding
                .help(format!("did you mean `{}`?", form(near)))
                .fix(&form(self.wrong), &form(near)),
            None if self.known.is_empty() => finding,
            None => finding.help(format!("known here: {}", listed(known()))),
        }
    }
}
