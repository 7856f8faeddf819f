//! The checks of what templates and conditions refer to: names that there are, and outputs that have a value by then.

use std::collections::HashMap;

use super::graph::FlowGraph;
use super::located::{Flow, report_in};
use crate::definition::model::{Phase, Subject};
use crate::definition::schema::{Reader, TemplateReference, listed, nearest};
use crate::definition::syntax::Span;
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::template::{Family, TemplateKind};

/// Phases whose outputs are followed through the graph; each costs a walk.
const MAX_FOLLOWED: usize = 200;

/// The nodes at which the outputs of a phase have a value.
struct Known {
    /// Reached without the outputs.
    without: Vec<bool>,
    /// Reached after them.
    after: Vec<bool>,
}

/// Checks the references of a workflow.
pub(super) fn check_references(reader: &mut Reader<'_>, flow: &Flow<'_>, graph: &FlowGraph<'_>) {
    let mut checks = References {
        flow,
        graph,
        known: HashMap::new(),
        asks_for_comment: flow.workflow.own_phases().any(|phase| {
            phase
                .approve
                .as_ref()
                .is_some_and(|approve| approve.comment)
        }),
    };
    for (at, phase, sites) in flow.phases() {
        let mut findings = Vec::new();
        for reference in &sites.references {
            findings.extend(checks.finding(reference, Some((at, phase))));
        }
        for finding in findings {
            report_in(reader, sites.source.as_ref(), finding);
        }
    }
    for (at, (entry, sites)) in flow.workflow.phases.iter().zip(flow.phases).enumerate() {
        for (condition, &span) in entry.when().iter().zip(&sites.when) {
            if let Subject::Output { phase: id, .. } = &condition.subject {
                let name = condition.subject.to_string();
                if let Some(finding) = checks.unset(id, &name, graph.before(at), span) {
                    report_in(reader, sites.source.as_ref(), finding);
                }
            }
        }
    }
    for reference in &flow.own.references {
        if let Some(finding) = checks.finding(reference, None) {
            reader.report(finding);
        }
    }
}

struct References<'f, 'a> {
    flow: &'f Flow<'a>,
    graph: &'f FlowGraph<'a>,
    /// By the index of the phase that hands the outputs over.
    known: HashMap<usize, Known>,
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
        let suggest =
            |finding: Finding, start: &str, wrong: &str, end: &str, known: &[&str]| match nearest(
                wrong,
                known.iter().copied(),
            ) {
                Some(near) => {
                    let meant = format!("{{{start}{near}{end}}}");
                    let help = format!("did you mean `{meant}`?");
                    finding.help(help).fix(&format!("{{{name}}}"), &meant)
                }
                None if known.is_empty() => finding,
                None => finding.help(format!("known here: {}", listed(known.iter().copied()))),
            };
        let (family, rest) = Family::of(name)?;
        let parts: Vec<&str> = rest.split('.').collect();
        match (family, &*parts) {
            (Family::Comment, ["comment"]) => (!self.asks_for_comment).then(|| {
                let message = format!("`{{{name}}}` has no value: no approval asks for a comment");
                Finding::warning(Code::NoComment, *span, message)
            }),
            (Family::Inputs, [input]) => {
                let inputs = self.flow.workflow.inputs.iter();
                let known: Vec<&str> = inputs.map(|input| &*input.name).collect();
                (!known.contains(input)).then(|| {
                    let finding = unknown(format!("this workflow has no input `{input}`"));
                    suggest(finding, "inputs.", input, "", &known)
                })
            }
            (Family::Visits, [id]) => {
                let known: Vec<&str> = self.flow.phase_ids().collect();
                (!known.contains(id)).then(|| {
                    let finding = unknown(format!("this workflow has no phase `{id}`"));
                    suggest(finding, "visits.", id, "", &known)
                })
            }
            (Family::Outputs, [id, output]) => {
                let Some((producer, phase)) = self.flow.phase(id) else {
                    let has_output = |phase: &Phase| {
                        let mut outputs = phase.outputs.iter();
                        outputs.any(|known| known.name == **output)
                    };
                    let phases = self.flow.phases();
                    let known: Vec<&str> = phases
                        .filter_map(|(_, phase, _)| has_output(phase).then_some(&*phase.id))
                        .collect();
                    let finding = unknown(format!("this workflow has no phase `{id}`"));
                    return Some(suggest(
                        finding,
                        "outputs.",
                        id,
                        &format!(".{output}"),
                        &known,
                    ));
                };
                let outputs = phase.outputs.iter();
                let known: Vec<&str> = outputs.map(|output| &*output.name).collect();
                if !known.contains(output) {
                    let finding = unknown(format!("`{id}` has no output `{output}`"));
                    return Some(suggest(
                        finding,
                        &format!("outputs.{id}."),
                        output,
                        "",
                        &known,
                    ));
                }
                // A question comes after the phase has handed its outputs over.
                if *kind == TemplateKind::Ask && of.is_none_or(|(at, _)| at == producer) {
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
            (Family::Comment, _) => {
                let why = "of an approval, only the comment is known".to_owned();
                Some(unknown(why).help("write `{approval.comment}`"))
            }
            (family, _) => {
                let help = format!("write `{{{}}}`", family.form());
                Some(unknown("it has too many or too few parts".to_owned()).help(help))
            }
        }
    }

    /// The finding about an output that has no value at a node, on some path or on all of them.
    fn unset(&mut self, id: &str, name: &str, node: usize, span: Option<Span>) -> Option<Finding> {
        let (producer, _) = self.flow.phase(id)?;
        if !self.known.contains_key(&producer) && self.known.len() == MAX_FOLLOWED {
            return None;
        }
        let graph = self.graph;
        let known = self.known.entry(producer).or_insert_with(|| Known {
            without: graph.reached(Some(producer)),
            after: graph.after(producer),
        });
        if !known.without[node] {
            return None;
        }
        let id = shown(id);
        Some(if known.after[node] {
            let message =
                format!("`{name}` may have no value yet: a path leads here without `{id}`");
            Finding::new(Severity::Info, Code::UnsetOutput, span, message)
        } else {
            let message = format!("`{name}` has no value here: `{id}` does not come before");
            Finding::warning(Code::UnsetOutput, span, message)
        })
    }
}
