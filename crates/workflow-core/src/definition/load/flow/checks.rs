//! The checks of the flow of a workflow: targets, loops, visits, conditions.

use std::collections::HashSet;

use super::graph::FlowGraph;
use super::located::{Flow, PendingName, report_in};
use super::references::check_references;
use crate::definition::model::{Phase, PhaseEntry, Target};
use crate::definition::schema::{JumpKind, Reader, Site, listed, nearest};
use crate::diagnostic::{Code, Finding, shown};

/// Checks the flow of a workflow.
pub(crate) fn check_flow(reader: &mut Reader<'_>, flow: &Flow<'_>) -> Vec<PendingName> {
    if flow.is_plain() {
        return Vec::new();
    }
    let graph = FlowGraph::new(flow.workflow);
    check_targets(reader, flow);
    check_unreachable(reader, flow, &graph);
    check_loops(reader, flow, &graph);
    check_visits(reader, flow, &graph);
    if flow.sites().any(|sites| sites.lacks_values) {
        return Vec::new();
    }
    check_references(reader, flow, &graph)
}

fn check_targets(reader: &mut Reader<'_>, flow: &Flow<'_>) {
    let (mut ids, mut twice) = (HashSet::new(), HashSet::new());
    for entry in &flow.workflow.phases {
        if !ids.insert(entry.id()) {
            twice.insert(entry.id());
        }
    }
    let mut is_named = false;
    for sites in flow.sites() {
        for site in &sites.targets {
            is_named |= matches!(site.kind, JumpKind::Outcome | JumpKind::Choice);
            if let Some(finding) = wrong_target(site, &ids, &twice) {
                report_in(reader, sites, finding);
            }
        }
    }
    for (_, phase, sites) in flow.phases().filter(|_| is_named) {
        if Target::from(&*phase.id).phase().is_none() {
            let message = format!("`{}` is also the name of a built-in target", phase.id);
            let finding = Finding::warning(Code::TargetWord, sites.id, message);
            report_in(reader, sites, finding);
        }
    }
}

/// The finding about a jump that leads nowhere, or to more than one place.
fn wrong_target(site: &Site, ids: &HashSet<&str>, twice: &HashSet<&str>) -> Option<Finding> {
    let ((key, words), to) = (site.kind.form(), &*site.to);
    let error = |code, message: String| Finding::error(code, site.span, message);
    if site.kind == JumpKind::Outcome && to == "cancel" {
        let message = "an outcome cannot cancel the run: only an answer of `approve` can";
        let help = "lead it to `done`, or to a phase whose `approve` leads to `cancel`";
        return Some(error(Code::UnknownTarget, message.to_owned()).help(help));
    }
    if matches!(site.kind, JumpKind::OnFail | JumpKind::OnLimit) && to == "next" {
        let message = format!(
            "`{key}` cannot lead to `next`: that would pass the gate and the approval of the phase"
        );
        let words = listed(words.iter().copied());
        let help = format!("write the id of a phase, or {words}");
        return Some(error(Code::UnknownTarget, message).help(help));
    }
    if words.contains(&to) {
        let message = format!("`{to}` of `{key}` is both a phase and a built-in target");
        return ids.contains(to).then(|| error(Code::TargetWord, message));
    }
    if twice.contains(to) {
        let message = format!("`{key}` leads to `{}`, of which there are two", shown(to));
        let help = "give one of them another id: that of a subworkflow is `as`";
        return Some(error(Code::UnknownTarget, message).help(help));
    }
    if ids.contains(to) {
        return None;
    }
    let message = format!(
        "`{key}` leads to `{}`, which is no phase of this workflow: a jump stays inside its workflow",
        shown(to)
    );
    let finding = error(Code::UnknownTarget, message);
    if to.contains('{') {
        let help = "a target has no variables: give each value an outcome or a `when` of its own";
        return Some(finding.help(help));
    }
    let mut known: Vec<&str> = ids.iter().copied().collect();
    known.sort_unstable();
    known.extend(words);
    if let Some(near) = nearest(to, known.iter().copied()) {
        return Some(finding.meant(to, near));
    }
    let known = listed(known.into_iter().take(30));
    Some(finding.help(format!("known here: {known}")))
}

fn check_unreachable(reader: &mut Reader<'_>, flow: &Flow<'_>, graph: &FlowGraph<'_>) {
    let reached = graph.reached(None);
    for (at, entry, sites) in flow.entries() {
        if !reached[graph.inside(at)] {
            let message = format!("no path leads to `{}`", shown(entry.id()));
            let finding = Finding::warning(Code::UnreachablePhase, sites.id, message);
            report_in(reader, sites, finding);
        }
    }
}

/// Reports loops of outcomes and checks in which no phase has a bound, each once.
fn check_loops(reader: &mut Reader<'_>, flow: &Flow<'_>, graph: &FlowGraph<'_>) {
    let groups = graph.loops(true);
    let mut seen = HashSet::new();
    for (at, entry, sites) in flow.entries() {
        let Some(group) = groups[graph.inside(at)].filter(|group| !seen.contains(group)) else {
            continue;
        };
        // The checks of the workflow are those of each of its phases.
        let levels = [sites, flow.own].into_iter();
        let jumps = levels.flat_map(|of| of.targets.iter().map(move |site| (site, of)));
        let mut back = jumps.filter(|(site, _)| {
            matches!(
                site.kind,
                JumpKind::Outcome | JumpKind::OnFail | JumpKind::OnLimit
            ) && (graph.entry(&site.to))
                .is_some_and(|to| to <= at && groups[graph.before(to)] == Some(group))
        });
        let Some((site, sites)) = back.next() else {
            continue;
        };
        seen.insert(group);
        let (id, to, jumps) = (shown(entry.id()), shown(&site.to), flow.jumps);
        let entry_to = graph.entry(&site.to).map(|to| &flow.workflow.phases[to]);
        let (why, unbounded) = match entry_to.and_then(PhaseEntry::max_visits) {
            Some(_) => (
                format!("the `onLimit` of `{to}` leads on in this loop"),
                id.clone(),
            ),
            None => (
                "no phase of this loop has `maxVisits`".to_owned(),
                to.clone(),
            ),
        };
        let message =
            format!("`{id}` leads back to `{to}`, and {why}: `limits.maxVisits` ({jumps}) applies");
        let finding = Finding::warning(Code::UnboundedLoop, site.span, message);
        let help = format!("give `{unbounded}` a bound: `maxVisits: 3`");
        report_in(reader, sites, finding.help(help));
    }
}

/// Reports bounds that can never act, and those that lead back to themselves.
fn check_visits(reader: &mut Reader<'_>, flow: &Flow<'_>, graph: &FlowGraph<'_>) {
    let groups = graph.loops(false);
    for (at, phase, sites) in flow.phases() {
        if phase.max_visits.is_none() {
            continue;
        }
        if !flow.workflow.loopable && groups[graph.inside(at)].is_none() {
            let id = shown(&phase.id);
            let message = format!("`maxVisits` has no effect: nothing leads back to `{id}`");
            let finding = Finding::warning(Code::IdleVisits, sites.max_visits, message);
            report_in(reader, sites, finding);
        }
        let mut targets = sites.targets.iter();
        let site = targets.find(|site| site.kind == JumpKind::OnVisitLimit);
        let error = |code, message| Finding::error(code, site.and_then(|site| site.span), message);
        if leads_back(flow, at) {
            let message = format!("`onLimit` of `{}` leads back to itself", shown(&phase.id));
            report_in(reader, sites, error(Code::VisitsCycle, message));
        }
        if flow.workflow.limit_passes_guard(at, false) {
            let id = shown(&phase.id);
            let message = format!(
                "`onLimit` of `{id}` leads behind it: that would pass its gate or its approval"
            );
            let finding = error(Code::UnknownTarget, message);
            let help = "write `onLimit: pause`, or the id of a phase before it, or give the limit to a phase without them";
            report_in(reader, sites, finding.help(help));
        }
    }
}

/// Returns whether the phases that are entered in place of each other form a circle.
fn leads_back(flow: &Flow<'_>, start: usize) -> bool {
    let mut at = start;
    for _ in 0..flow.workflow.phases.len() {
        let instead = flow.workflow.phases.get(at).and_then(PhaseEntry::phase);
        at = match instead.and_then(Phase::instead_of_visit) {
            Some(Target::Next) => at + 1,
            Some(Target::Phase(id)) => match flow.phase(id) {
                Some((to, _)) => to,
                None => return false,
            },
            _ => return false,
        };
        if at == start {
            return true;
        }
    }
    false
}
