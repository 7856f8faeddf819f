//! The checks of what templates and conditions refer to: names that there are, and outputs that have a value by then.

use std::collections::HashMap;

use super::graph::FlowGraph;
use super::located::{Flow, report_in};
use crate::definition::model::{Condition, ParameterKind, Phase, Subject, value_text};
use crate::definition::schema::{Reader, TemplateReference};
use crate::definition::syntax::Span;
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::template::{Family, TemplateKind};

/// Phases whose outputs are followed through the graph; each costs a walk.
const MAX_FOLLOWED: usize = 200;

/// Checks the references of a workflow.
pub(super) fn check_references(reader: &mut Reader<'_>, flow: &Flow<'_>, graph: &FlowGraph<'_>) {
    let mut checks = References {
        flow,
        graph,
        known: HashMap::new(),
        asks_for_comment: (flow.workflow.own_phases())
            .any(|phase| phase.approve.iter().any(|approve| approve.comment)),
    };
    let phases = flow
        .phases()
        .map(|(at, phase, sites)| (Some((at, phase)), sites));
    for (phase, sites) in phases.chain([(None, flow.own)]) {
        for reference in &sites.references {
            if let Some(finding) = checks.finding(reference, phase) {
                report_in(reader, sites, finding);
            }
        }
    }
    for (at, (entry, sites)) in flow.workflow.phases.iter().zip(flow.phases).enumerate() {
        for (condition, &span) in entry.when().iter().zip(&sites.when) {
            let wrong = check_condition(flow, condition, span).err();
            let unset = match &condition.subject {
                Subject::Output { phase: id, .. } => {
                    let name = condition.subject.to_string();
                    checks.unset(id, &name, graph.before(at), span)
                }
                Subject::Input(_) | Subject::Visits(_) => None,
            };
            for finding in wrong.into_iter().chain(unset) {
                report_in(reader, sites, finding);
            }
        }
    }
}

struct References<'f, 'a> {
    flow: &'f Flow<'a>,
    graph: &'f FlowGraph<'a>,
    /// The nodes that are reached without the outputs of a phase, and those after them, by its index.
    known: HashMap<usize, [Vec<bool>; 2]>,
    asks_for_comment: bool,
}

impl References<'_, '_> {
    /// The finding about a reference of a phase, or of the workflow itself.
    fn finding(
        &mut self,
        reference: &TemplateReference,
        of: Option<(usize, &Phase)>,
    ) -> Option<Finding> {
        let TemplateReference { name, kind, span } = reference;
        let unknown = |why: String| {
            let message = format!("unknown variable `{{{name}}}`: {why}");
            Finding::warning(Code::UnknownVariable, *span, message)
        };
        let (family, rest) = Family::of(name)?;
        if family == Family::Comment && rest == "comment" {
            let message = format!("`{{{name}}}` has no value: no approval asks for a comment");
            let finding = Finding::warning(Code::NoComment, *span, message);
            return (!self.asks_for_comment).then_some(finding);
        }
        if family == Family::Comment {
            let why = "of an approval, only the comment is known".to_owned();
            return Some(unknown(why).help("write `{approval.comment}`"));
        }
        let Some(subject) = Subject::named(name) else {
            let help = format!("write `{{{}}}`", family.form());
            return Some(unknown("it has too many or too few parts".to_owned()).help(help));
        };
        if let Err(name) = self.flow.named(&subject) {
            let finding = unknown(name.why.clone());
            return Some(name.suggest(finding, |name| format!("{{{name}}}")));
        }
        let Subject::Output { phase: id, .. } = &subject else {
            return None;
        };
        // A question comes after the phase has handed its outputs over.
        let is_own = |(_, phase): (usize, &Phase)| phase.id == *id;
        if *kind == TemplateKind::Ask && of.is_none_or(is_own) {
            return None;
        }
        let node = match (of, kind) {
            (Some((at, _)), _) => self.graph.inside(at),
            (None, TemplateKind::Completion) => self.graph.end(),
            // Read in every phase, and so in the first.
            (None, _) => self.graph.before(0),
        };
        self.unset(id, name, node, *span)
    }

    /// The finding about an output that has no value at a node, on some path or on all of them.
    fn unset(&mut self, id: &str, name: &str, node: usize, span: Option<Span>) -> Option<Finding> {
        let (producer, _) = self.flow.phase(id)?;
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
        let id = shown(id);
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

/// Checks that a condition compares a value that there is with values that it can have.
fn check_condition(
    flow: &Flow<'_>,
    condition: &Condition,
    span: Option<Span>,
) -> Result<(), Finding> {
    let subject = condition.subject.to_string();
    let unknown = |why: String| {
        let message = format!("`when` cannot look at `{subject}`: {why}");
        Finding::error(Code::UnknownSubject, span, message)
    };
    let named = flow.named(&condition.subject);
    let value = named.map_err(|name| name.suggest(unknown(name.why.clone()), str::to_owned))?;
    let kind = value.map_or(&ParameterKind::Number, |value| &value.kind);
    let incomparable = match (&condition.subject, kind) {
        (Subject::Output { .. }, ParameterKind::Text(_)) => Some(("text", "the output")),
        (_, ParameterKind::List) => Some(("list", "it")),
        _ => None,
    };
    if let Some((kind, what)) = incomparable {
        let why = format!("a {kind} is compared with nothing");
        let help = format!("give {what} the type `{{oneOf: [..]}}` or `flag`");
        return Err(unknown(why).help(help));
    }
    match condition.values.iter().find(|value| !kind.takes(value)) {
        None => Ok(()),
        Some(value) => {
            let value = shown(&value_text(value));
            let message = format!("`{subject}` is never `{value}`: it is {}", kind.in_words());
            let finding = Finding::error(Code::ValueOutsideType, span, message);
            Err(finding.help(format!("compare it with {}", kind.in_words())))
        }
    }
}
