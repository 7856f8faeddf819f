//! A workflow with the locations of its flow, and findings in its files.

use crate::definition::model::{Parameter, Phase, Subject, Workflow};
use crate::definition::schema::{Reader, Sites, listed, nearest};
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

/// Reports a finding in the file of a phase, or in the definition.
pub(crate) fn report_in(reader: &mut Reader<'_>, sites: &Sites, finding: Finding) {
    match &sites.source {
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

    /// The input or output of a name; `None` is a number of visits.
    pub(super) fn named<'n>(
        &'n self,
        subject: &'n Subject,
    ) -> Result<Option<&'n Parameter>, UnknownName<'n>> {
        let parameter =
            |of: &'n [Parameter], name: &String| of.iter().find(|known| known.name == *name);
        let names = |of: &'n [Parameter]| of.iter().map(|known| &*known.name).collect();
        let no_phase = |id: &str| format!("this workflow has no phase `{id}`");
        let (part, why, known): (_, _, Vec<&'n str>) = match subject {
            Subject::Visits(id) if self.phase(id).is_some() => return Ok(None),
            Subject::Visits(id) => {
                let ids = self.phases().map(|(_, phase, _)| &*phase.id);
                (1, no_phase(id), ids.collect())
            }
            Subject::Input(name) => {
                let inputs = &self.workflow.inputs;
                if let Some(input) = parameter(inputs, name) {
                    return Ok(Some(input));
                }
                let why = format!("this workflow has no input `{name}`");
                (1, why, names(inputs))
            }
            Subject::Output { phase: id, name } => {
                if let Some((_, phase)) = self.phase(id) {
                    if let Some(output) = parameter(&phase.outputs, name) {
                        return Ok(Some(output));
                    }
                    let why = format!("`{id}` has no output `{name}`");
                    (2, why, names(&phase.outputs))
                } else {
                    let phases = self.phases().map(|(_, phase, _)| phase);
                    let phases = phases.filter(|phase| parameter(&phase.outputs, name).is_some());
                    (1, no_phase(id), phases.map(|phase| &*phase.id).collect())
                }
            }
        };
        let subject = subject.to_string();
        Err(UnknownName {
            why,
            subject,
            part,
            known,
        })
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

/// A name of a value that there is not.
pub(super) struct UnknownName<'n> {
    pub(super) why: String,
    subject: String,
    /// The index of the part that is wrong.
    part: usize,
    /// What that can be.
    known: Vec<&'n str>,
}

impl UnknownName<'_> {
    /// The finding with the name that is most likely meant, in the form in which names are written there.
    pub(super) fn suggest(&self, finding: Finding, written: fn(&str) -> String) -> Finding {
        let mut parts: Vec<&str> = self.subject.split('.').collect();
        let known = || self.known.iter().copied();
        let Some(near) = nearest(parts[self.part], known()) else {
            return match &*self.known {
                [] => finding,
                _ => finding.help(format!("known here: {}", listed(known()))),
            };
        };
        parts[self.part] = near;
        let near = written(&parts.join("."));
        finding.meant(&written(&self.subject), &near)
    }
}
