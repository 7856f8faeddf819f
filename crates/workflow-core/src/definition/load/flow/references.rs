//! The checks of what templates and conditions refer to: names that there are, and outputs that have a value by then.

use std::collections::HashMap;

use serde_json::{Number, Value};

use super::graph::FlowGraph;
use super::located::{Flow, NamePlace, PendingName, report_in};
use crate::definition::guard_text::leaves_project;
use crate::definition::model::{
    Comparison, Condition, Fact, ParameterKind, PhaseEntry, Subject, Test, value_text,
};
use crate::definition::schema::{Reader, Sites, TemplateReference};
use crate::definition::syntax::Span;
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::pattern::ProjectGlob;
use crate::template::{Family, TemplateKind};

/// Phases whose outputs are followed through the graph; each costs a walk.
const MAX_FOLLOWED: usize = 200;

/// Checks the references of a workflow.
pub(super) fn check_references(
    reader: &mut Reader<'_>,
    flow: &Flow<'_>,
    graph: &FlowGraph<'_>,
) -> Vec<PendingName> {
    let mut checks = References {
        flow,
        graph,
        known: HashMap::new(),
    };
    let mut pending = Vec::new();
    let location = |reader: &Reader<'_>, sites: &Sites, span| {
        let source = sites.source.as_ref().unwrap_or(reader.source);
        source.location(span)
    };
    let of_reference = |subject: &Subject| match subject {
        Subject::Output { phase, .. } => flow.reference(phase).is_some(),
        _ => false,
    };
    let entries = flow.entries();
    let entries = entries.map(|(at, entry, sites)| (Some((at, entry)), sites));
    for (entry, sites) in entries.chain([(None, flow.own)]) {
        for reference in &sites.references {
            let subject = Subject::named(&reference.name);
            if let Some(subject) = subject.filter(of_reference) {
                pending.push(PendingName {
                    subject,
                    place: NamePlace::Template(reference.clone()),
                    location: location(reader, sites, reference.span),
                });
            }
            if let Some(finding) = checks.finding(reference, entry) {
                report_in(reader, sites, finding);
            }
        }
    }
    for (at, entry, sites) in flow.entries() {
        let comparisons = entry.when().iter().flat_map(Condition::comparisons);
        for (comparison, &span) in comparisons.zip(&sites.when) {
            let subject = &comparison.subject;
            let wrong = if of_reference(subject) {
                pending.push(PendingName {
                    subject: subject.clone(),
                    place: NamePlace::When(comparison.clone()),
                    location: location(reader, sites, span),
                });
                None
            } else {
                check_comparison(flow, comparison, span).err()
            };
            let unset = checks.unset(&comparison.subject, graph.before(at), span);
            for finding in wrong.into_iter().chain(unset) {
                report_in(reader, sites, finding);
            }
        }
    }
    pending
}

struct References<'f, 'a, 'g> {
    flow: &'f Flow<'a>,
    graph: &'f FlowGraph<'g>,
    /// The nodes that are reached without the outputs of a phase, and those after them, by its index.
    known: HashMap<usize, [Vec<bool>; 2]>,
}

impl References<'_, '_, '_> {
    /// The finding about a reference of a phase, or of the workflow itself.
    fn finding(
        &mut self,
        reference: &TemplateReference,
        of: Option<(usize, &PhaseEntry)>,
    ) -> Option<Finding> {
        let TemplateReference {
            name, kind, span, ..
        } = reference;
        let is_passed = *kind == TemplateKind::With;
        let family = Family::of(name)?;
        if family == Family::Approval {
            let severity = Severity::error_if(name == "approval.comment");
            let message = format!("`{{{name}}}` has another name now");
            let finding = Finding::new(severity, Code::UnknownVariable, *span, message);
            let asking = self.flow.phases().map(|(_, phase, _)| phase);
            let mut asking = asking.filter(|phase| phase.approve.is_some());
            let id = asking.next().map_or("<phase>", |phase| &phase.id);
            let mut part = name
                .strip_prefix("approval.")
                .unwrap_or_default()
                .to_owned();
            if !part.contains('.') {
                part = format!("{id}.{part}");
            }
            return Some(finding.help(format!("write `{{answer.{part}}}`")));
        }
        let Some(subject) = Subject::named(name) else {
            let help = format!("write `{{{}}}`", family.form());
            let why = "it has too many or too few parts";
            return Some(unknown(reference, why).help(help));
        };
        if subject == Subject::Change(Fact::Paths) {
            let why = "paths are for `when` only";
            return Some(unknown(reference, why).help("write `{change.files}`"));
        }
        if subject.is_item() && is_passed {
            return None;
        }
        let wrong = match &subject {
            Subject::Output { phase, .. } if self.flow.reference(phase).is_some() => None,
            subject => wrong_name(self.flow, subject, reference),
        };
        if wrong.is_some() {
            return wrong;
        }
        // A gate and a question come after the phase has handed over its outputs and its outcome.
        let is_own = |(_, entry): (usize, &PhaseEntry)| Some(entry.id()) == subject.producer();
        let is_handed_over = matches!(subject, Subject::Output { .. } | Subject::Outcome(_));
        if matches!(kind, TemplateKind::Ask | TemplateKind::Guard)
            && is_handed_over
            && of.is_none_or(is_own)
        {
            return None;
        }
        let node = match (of, kind) {
            (Some((at, _)), TemplateKind::With) => self.graph.before(at),
            (Some((at, _)), _) => self.graph.inside(at),
            (None, TemplateKind::Completion | TemplateKind::With) => self.graph.end(),
            // Read in every phase, and so in the first.
            (None, _) => self.graph.before(0),
        };
        let mut unset = self.unset(&subject, node, *span)?;
        // A workflow returns what it has, and a list without a value is an empty one.
        let reference = of.and_then(|(_, entry)| entry.subworkflow());
        let is_list = reference.is_some_and(|of| of.for_each.as_ref() == Some(&subject));
        if (of.is_none() || is_list) && is_passed && unset.severity == Severity::Info {
            return None;
        }
        if kind.is_guard() || is_passed && unset.severity == Severity::Warning {
            unset.severity = Severity::Error;
        }
        Some(unset)
    }

    /// The finding about a name that has no value at a node, on some path or on all of them.
    fn unset(&mut self, subject: &Subject, node: usize, span: Option<Span>) -> Option<Finding> {
        let id = subject.producer()?;
        let producer = self.graph.entry(id)?;
        if !self.known.contains_key(&producer) && self.known.len() == MAX_FOLLOWED {
            return None;
        }
        let graph = self.graph;
        let known = self.known.entry(producer);
        let [without, after] =
            known.or_insert_with(|| [graph.reached(Some(producer)), graph.after(producer)]);
        if !without[node] {
            return None;
        }
        let (id, name) = (shown(id), subject);
        // Texts say what the user answered, if that is known.
        if after[node] && !matches!(subject, Subject::Output { .. }) {
            return None;
        }
        Some(if after[node] {
            let message =
                format!("`{name}` may have no value yet: a path leads here without `{id}`");
            Finding::new(Severity::Info, Code::UnsetOutput, span, message)
        } else {
            let message = format!("`{name}` has no value here: `{id}` does not come before");
            Finding::warning(Code::UnsetOutput, span, message)
        })
    }
}

/// The finding about a name that no value has.
fn unknown(reference: &TemplateReference, why: &str) -> Finding {
    let TemplateReference {
        name, kind, span, ..
    } = reference;
    let message = format!("unknown variable `{{{name}}}`: {why}");
    let severity = Severity::error_if(*kind == TemplateKind::With || kind.is_guard());
    let code = match Subject::named(name) {
        Some(Subject::Comment(_)) => Code::NoComment,
        _ => Code::UnknownVariable,
    };
    Finding::new(severity, code, *span, message)
}

/// The finding about a name that no value has, or in a guard about a value that can be any text or, as a bound, any number, or
/// that may be missing.
pub(crate) fn wrong_name(
    flow: &Flow<'_>,
    subject: &Subject,
    reference: &TemplateReference,
) -> Option<Finding> {
    let leads_elsewhere = |text: &String| leaves_project(text) || ProjectGlob::read(text).is_some();
    let value = match flow.named(subject) {
        Ok(value) if reference.kind.is_guard() => value,
        Ok(_) => return None,
        Err(name) => {
            let finding = unknown(reference, &name.why);
            return Some(name.suggest(finding, |name| format!("{{{name}}}")));
        }
    };
    let is_bound = value.kind == ParameterKind::Number && value.least() >= Some(1.0);
    let is_open = matches!(subject, Subject::Output { .. }) && value.most().is_none();
    let (why, help) = if reference.kind == TemplateKind::Bound && !is_bound {
        let why = "is no bound: it may be less than 1";
        (why, "write `type: number, min: 1`")
    } else if reference.kind == TemplateKind::Bound && is_open {
        let why = "is no bound: the agent may hand over any number";
        (why, "give it a `max`")
    } else if value.closed_texts().is_none() {
        let why = "can be any text, which is no part of a command, a path or a bound";
        (why, "give it the type `{oneOf: [..]}`, `flag` or `number`")
    } else if !value.required && value.default.is_none() {
        let why = "may have no value, and a guard needs one";
        (why, "give it a default, or require it")
    } else if reference.is_path && value.closed_texts()?.iter().any(leads_elsewhere) {
        let why = "may be a pattern or lead out of its directory, and a path takes neither";
        (why, "write names of files in `oneOf`")
    } else {
        return None;
    };
    let message = format!("`{subject}` {why}");
    Some(Finding::error(Code::InvalidValue, reference.span, message).help(help))
}

/// Checks that a comparison is about a value that there is, and can hold.
pub(crate) fn check_comparison(
    flow: &Flow<'_>,
    comparison: &Comparison,
    span: Option<Span>,
) -> Result<(), Finding> {
    let subject = comparison.subject.to_string();
    let unknown = |why: String| {
        let message = format!("`when` cannot look at `{subject}`: {why}");
        Finding::error(Code::UnknownSubject, span, message)
    };
    let named = flow.named(&comparison.subject);
    let value = named.map_err(|name| name.suggest(unknown(name.why.clone()), str::to_owned))?;
    let words = value.in_words();
    let is_output = matches!(comparison.subject, Subject::Output { .. });
    if is_output && matches!(value.kind, ParameterKind::Text(_)) {
        let help = "give the output the type `{oneOf: [..]}` or `flag`";
        return Err(unknown("a text is compared with nothing".to_owned()).help(help));
    }
    let is_list = value.kind == ParameterKind::List;
    let never = |what: String| {
        let message = format!("`{subject}` is never {what}: it is {words}");
        let finding = Finding::error(Code::ValueOutsideType, span, message);
        finding.help(format!("compare it with {words}"))
    };
    match &comparison.test {
        Test::Values { values, .. } => {
            let is_wrong = |one: &&Value| !(value.takes(one) || is_list && one.is_string());
            let wrong = values.iter().find(is_wrong);
            let wrong = wrong.map(|one| never(format!("`{}`", shown(&value_text(one)))));
            wrong.map_or(Ok(()), Err)
        }
        Test::Only { .. } => Ok(()),
        Test::Within { .. } if !is_list && value.kind != ParameterKind::Number => {
            let why = format!("`min` and `max` are about numbers and lists, and it is {words}");
            Err(unknown(why).help(format!("compare it with {words}")))
        }
        test @ Test::Within { min, max } => {
            let [min, max] = [min, max].map(|bound| bound.as_ref().and_then(Number::as_f64));
            let is_above = |one: Option<f64>, other: Option<f64>| {
                one.zip(other).is_some_and(|(one, other)| one > other)
            };
            let (least, most) = (value.least(), value.most());
            if is_above(min, max) || is_above(min, most) || is_above(least, max) {
                let test = test.to_string();
                return Err(never(test.trim_start_matches("is ").to_owned()));
            }
            Ok(())
        }
    }
}
