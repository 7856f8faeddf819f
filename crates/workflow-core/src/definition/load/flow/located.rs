//! A workflow with the locations of its flow, and findings in its files.

use crate::definition::model::{
    Comparison, Fact, Parameter, ParameterKind, Phase, PhaseEntry, Subject, Subworkflow, Workflow,
};
use crate::definition::schema::{Reader, Sites, TemplateReference, listed, nearest};
use crate::diagnostic::{Finding, Location};

/// A workflow with the locations of its flow.
pub(crate) struct Flow<'a> {
    pub(crate) workflow: &'a Workflow,
    /// The locations of what the workflow says for all of its phases.
    pub(crate) own: &'a Sites,
    /// The locations of its entries, in order.
    pub(crate) phases: &'a [Sites],
    /// The jumps that lead into a phase without `maxVisits` at most.
    pub(crate) jumps: u32,
    /// The workflows that its references name, once all are read.
    pub(crate) find: &'a dyn Fn(&str) -> Option<&'a Workflow>,
}

/// The name of an output of a subworkflow, which is checked once all workflows are read.
pub(crate) struct PendingName {
    pub(crate) subject: Subject,
    pub(crate) place: NamePlace,
    pub(crate) location: Location,
}

/// What has a name.
pub(crate) enum NamePlace {
    Template(TemplateReference),
    When(Comparison),
}

/// Reports a finding in the file of a phase, or in the definition.
pub(crate) fn report_in(reader: &mut Reader<'_>, sites: &Sites, finding: Finding) {
    match &sites.source {
        Some(source) => reader.findings.add(source, finding),
        None => reader.report(finding),
    }
}

impl<'a> Flow<'a> {
    /// Its entries, each with its index and its locations.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &'a PhaseEntry, &'a Sites)> {
        let entries = self.workflow.phases.iter().zip(self.phases).enumerate();
        entries.map(|(at, (entry, sites))| (at, entry, sites))
    }

    /// Its phases, each with its index and its locations.
    pub(crate) fn phases(&self) -> impl Iterator<Item = (usize, &'a Phase, &'a Sites)> {
        let entries = self.entries();
        entries.filter_map(|(at, entry, sites)| Some((at, entry.phase()?, sites)))
    }

    /// The locations of its entries, and its own.
    pub(super) fn sites(&self) -> impl Iterator<Item = &'a Sites> {
        self.phases.iter().chain([self.own])
    }

    /// The first entry with an id, if it is a reference.
    pub(crate) fn reference(&self, id: &str) -> Option<&'a Subworkflow> {
        let mut entries = self.workflow.phases.iter();
        entries.find(|entry| entry.id() == id)?.subworkflow()
    }

    /// The phase with an id.
    pub(super) fn phase(&self, id: &str) -> Option<(usize, &'a Phase)> {
        let mut phases = self.workflow.phases.iter().enumerate();
        phases.find_map(|(at, entry)| Some((at, entry.phase().filter(|phase| phase.id == id)?)))
    }

    /// The same of an output that a subworkflow does not return.
    fn not_returned(&self, reference: &Subworkflow, name: &str) -> (usize, String, Vec<&'a str>) {
        let inner = (self.find)(&reference.key);
        let returned = inner.map_or(&[][..], |inner| &inner.outputs);
        let names = || returned.iter().map(|returned| &*returned.name);
        let why = if names().any(|known| known == name) {
            format!("`{name}` is a list, which a loop does not collect")
        } else {
            format!("the workflow `{}` returns no `{name}`", reference.key)
        };
        (2, why, names().filter(|known| *known != name).collect())
    }

    /// The values that a name can have.
    pub(crate) fn named(&self, subject: &Subject) -> Result<Parameter, UnknownName<'a>> {
        let same = subject.producer().map_or(0, |id| {
            let entries = self.workflow.phases.iter();
            entries.filter(|entry| entry.id() == id).count()
        });
        let value = if same > 1 {
            None
        } else {
            self.value_of(subject)
        };
        value.ok_or_else(|| {
            let (part, why, known) = self.why_unknown(subject, same);
            UnknownName {
                why,
                subject: subject.to_string(),
                part,
                known,
            }
        })
    }

    fn value_of(&self, subject: &Subject) -> Option<Parameter> {
        let approval = |id: &str| self.phase(id)?.1.approve.as_ref();
        let kind = match subject {
            Subject::Item | Subject::ItemNumber | Subject::ItemCount => return None,
            Subject::Input(name) => {
                let mut inputs = self.workflow.inputs.iter();
                return inputs.find(|input| input.name == *name).cloned();
            }
            Subject::Output { phase: id, name } => {
                return self.workflow.output_of(id, name, self.find);
            }
            Subject::Outcome(id) => {
                let outcomes = match self.reference(id) {
                    Some(reference) => &reference.outcomes,
                    None => &self.phase(id)?.1.outcomes,
                };
                let outcomes = Some(outcomes).filter(|all| !all.is_empty())?;
                let names = outcomes.iter().map(|outcome| outcome.name.clone());
                ParameterKind::OneOf(names.collect())
            }
            Subject::Visits(id) => {
                let is_there = self.phase(id).is_some() || self.reference(id).is_some();
                is_there.then_some(ParameterKind::Number)?
            }
            Subject::Choice(id) => ParameterKind::OneOf(approval(id)?.choices.clone()),
            Subject::Comment(id) => approval(id)?.comment.then_some(ParameterKind::TEXT)?,
            Subject::Change(Fact::Paths) => ParameterKind::List,
            Subject::Change(_) => ParameterKind::Number,
        };
        // Without git a change has no value.
        let required = !matches!(subject, Subject::Change(Fact::Files | Fact::Lines));
        let value = Parameter::new("", kind);
        Some(Parameter { required, ..value })
    }

    /// The part of a name that is wrong, why there is no such value, and what the part can be.
    fn why_unknown(&self, subject: &Subject, same: usize) -> (usize, String, Vec<&'a str>) {
        let names = |of: &'a [Parameter]| of.iter().map(|known| &*known.name).collect();
        // Why a phase does not have it, and those that do.
        let missing = |id: &str, what: &str, has: &dyn Fn(&Phase) -> bool| {
            let is_there = self.phase(id).is_some() || self.reference(id).is_some();
            let why = if is_there {
                format!("`{id}` {what}")
            } else {
                format!("this workflow has no phase `{id}`")
            };
            let having = self.workflow.own_phases().filter(|phase| has(phase));
            (1, why, having.map(|phase| &*phase.id).collect())
        };
        match subject {
            Subject::Item | Subject::ItemNumber | Subject::ItemCount | Subject::Change(_) => {
                let why = "it is known in `with` of a loop only".to_owned();
                (0, why, Vec::new())
            }
            _ if same > 1 => {
                let id = subject.producer().unwrap_or_default();
                let why = format!("there are two of `{id}`: name one of them with `as`");
                (0, why, Vec::new())
            }
            Subject::Input(name) => {
                let why = format!("this workflow has no input `{name}`");
                (1, why, names(&self.workflow.inputs))
            }
            Subject::Output { phase: id, name } => match (self.reference(id), self.phase(id)) {
                (Some(reference), _) => self.not_returned(reference, name),
                (None, Some((_, phase))) => {
                    let why = format!("`{id}` has no output `{name}`");
                    (2, why, names(&phase.outputs))
                }
                (None, None) => missing(id, "", &|phase| {
                    phase.outputs.iter().any(|output| output.name == *name)
                }),
            },
            Subject::Outcome(id) => {
                missing(id, "has no outcomes", &|phase| !phase.outcomes.is_empty())
            }
            Subject::Choice(id) => missing(id, "has no approval", &|phase| phase.approve.is_some()),
            Subject::Comment(id) => missing(id, "asks for no comment", &|phase| {
                phase.approve.iter().any(|approve| approve.comment)
            }),
            Subject::Visits(id) => missing(id, "", &|_| true),
        }
    }

    /// Returns whether it has anything to check. Most workflows have not.
    pub(super) fn is_plain(&self) -> bool {
        self.sites().all(|sites| {
            sites.targets.is_empty()
                && sites.when.is_empty()
                && sites.max_visits.is_none()
                && sites.references.is_empty()
        })
    }
}

/// A name of a value that there is not.
pub(crate) struct UnknownName<'n> {
    pub(crate) why: String,
    subject: String,
    /// The index of the part that is wrong.
    part: usize,
    /// What that can be.
    known: Vec<&'n str>,
}

impl UnknownName<'_> {
    /// The finding with the name that is most likely meant, in the form in which names are written there.
    pub(crate) fn suggest(&self, finding: Finding, written: fn(&str) -> String) -> Finding {
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
