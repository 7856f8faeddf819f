//! Subworkflow references: cycles, broken references, nesting.
//!
//! Works on indexes and edges, never on the text of a message (B08), and walks no links while it
//! changes them (B09). After it, every reference leads to a workflow that is left, and none leads back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::directory::{Draft, ReferenceSites};
use super::passing::{ClosedValues, check_passing};
use crate::definition::model::graph::{contains_itself, levels, reversed, strongly_connected};
use crate::definition::schema::nearest;
use crate::diagnostic::{Code, Diagnostic, Severity, shown};

/// Checks the references of all workflows against each other.
///
/// `found` are the keys of all directories with a definition: a reference to one of them that is not
/// among the drafts leads to a workflow that was left out for its own errors. Gives for each draft whether it is kept and what its
/// commands may contain, and the reasons why others are not.
pub(super) fn check_references<'d>(
    drafts: &'d [(usize, Draft)],
    found: &'d BTreeSet<&'d str>,
    max_nesting: u32,
) -> (Vec<(bool, ClosedValues)>, Vec<Diagnostic>) {
    let drafts: Vec<&Draft> = drafts.iter().map(|(_, draft)| draft).collect();
    let keys = drafts.iter().map(|draft| &*draft.workflow.key).zip(0..);
    let by_key: HashMap<&str, usize> = keys.collect();
    // The first one to each workflow.
    let references_of = |draft: &&'d Draft| -> Vec<WorkflowReference<'d>> {
        let mut named = HashSet::new();
        let references = draft.references.iter();
        let first = references.filter(|sites| named.insert(&sites.key));
        first
            .map(|sites| (by_key.get(&*sites.key).copied(), sites))
            .collect()
    };
    let references: Vec<_> = drafts.iter().map(references_of).collect();
    let targets_of = |of: &Vec<WorkflowReference<'_>>| of.iter().filter_map(|to| to.0).collect();
    let targets: Vec<Vec<usize>> = references.iter().map(targets_of).collect();
    let mut check = ReferenceCheck {
        kept: vec![true; drafts.len()],
        values: vec![ClosedValues::new(); drafts.len()],
        cyclic: HashSet::new(),
        diagnostics: Vec::new(),
        suggestions_left: 20,
        drafts,
        found,
        references,
        referrers: reversed(&targets),
        targets,
    };
    let groups = strongly_connected(&check.targets);
    check.leave_out_cycles(&groups);
    // The groups come targets first, and those left are single workflows.
    let order: Vec<usize> = groups.into_iter().flatten().collect();
    check.leave_out_unfitting(&order);
    check.leave_out_broken();
    check.leave_out_deep(&order, max_nesting);
    let kept = check.kept.into_iter().zip(check.values);
    (kept.collect(), check.diagnostics)
}

/// The target of a reference, if it is there, and its locations.
type WorkflowReference<'d> = (Option<usize>, &'d ReferenceSites);

struct ReferenceCheck<'d> {
    kept: Vec<bool>,
    /// What their commands may contain.
    values: Vec<ClosedValues>,
    /// Those that contain themselves.
    cyclic: HashSet<usize>,
    diagnostics: Vec<Diagnostic>,
    /// Each suggestion compares a key with all others.
    suggestions_left: usize,
    drafts: Vec<&'d Draft>,
    found: &'d BTreeSet<&'d str>,
    references: Vec<Vec<WorkflowReference<'d>>>,
    /// The workflows each one refers to.
    targets: Vec<Vec<usize>>,
    /// The workflows that refer to each one.
    referrers: Vec<Vec<usize>>,
}

impl<'d> ReferenceCheck<'d> {
    /// The key of a workflow, as it is shown.
    fn key(&self, at: usize) -> String {
        shown(&self.drafts[at].workflow.key)
    }

    /// Leaves a workflow out, for a reason at a reference of it.
    fn leave_out(
        &mut self,
        at: usize,
        reference: Option<&ReferenceSites>,
        code: Code,
        message: String,
    ) -> &mut Diagnostic {
        let Draft { workflow, file, .. } = self.drafts[at];
        let location = reference.map_or(file, |sites| &sites.location).clone();
        let found = Diagnostic::new(code, Severity::Error, message).at(location);
        self.kept[at] = false;
        self.diagnostics.push(found.about(&workflow.key));
        self.diagnostics.last_mut().expect("it was added")
    }

    /// Leaves out every workflow that contains itself, directly or through others.
    fn leave_out_cycles(&mut self, groups: &[Vec<usize>]) {
        let cycles = groups.iter();
        let cycles = cycles.filter(|group| contains_itself(group, &self.targets));
        let mut cycles: Vec<Vec<usize>> = cycles.cloned().collect();
        for cycle in &mut cycles {
            cycle.sort_unstable();
        }
        cycles.sort_unstable();
        self.cyclic = cycles.iter().flatten().copied().collect();
        for cycle in cycles {
            self.leave_out_cycle(&cycle);
        }
    }

    fn leave_out_cycle(&mut self, members: &[usize]) {
        let first = members[0];
        let inside: HashSet<usize> = members.iter().copied().collect();
        for &member in members {
            let mut references = self.references[member].iter();
            let is_inside =
                |(to, _): &&WorkflowReference<'_>| to.is_some_and(|to| inside.contains(&to));
            let reference = references.find(is_inside).map(|(_, sites)| *sites);
            let (key, first_key) = (self.key(member), self.key(first));
            let message = if member == first {
                let round = self.round(first, &inside);
                format!("Cycle detected: {round}. Skipping workflow \"{key}\".")
            } else {
                format!("Workflow \"{key}\" is in a cycle with \"{first_key}\". Skipping.")
            };
            self.leave_out(member, reference, Code::Cycle, message);
        }
    }

    /// Describes a shortest path from a workflow back to itself.
    fn round(&self, start: usize, inside: &HashSet<usize>) -> String {
        const NAMED: usize = 8;
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        'search: while let Some(at) = queue.pop_front() {
            for &target in &self.targets[at] {
                if target == start {
                    came_from.insert(start, at);
                    break 'search;
                }
                if inside.contains(&target) && !came_from.contains_key(&target) {
                    came_from.insert(target, at);
                    queue.push_back(target);
                }
            }
        }
        let mut way = vec![start];
        let mut at = start;
        while let Some(&before) = came_from.get(&at).filter(|&&before| before != start) {
            way.push(before);
            at = before;
        }
        way.push(start);
        way.reverse();
        let mut names: Vec<String> = way.iter().map(|&at| self.key(at)).collect();
        if names.len() > NAMED {
            names.splice(NAMED - 2..names.len() - 1, ["…".to_owned()]);
        }
        names.join(" → ")
    }

    /// Leaves out workflows with broken references, then those that refer to them, and so on (B10, B50).
    fn leave_out_broken(&mut self) {
        let mut round: BTreeSet<usize> = (0..self.drafts.len()).collect();
        while !round.is_empty() {
            let kept = round.into_iter().filter(|&at| self.kept[at]);
            let references =
                kept.flat_map(|at| self.references[at].iter().map(move |to| (at, *to)));
            let is_broken = |to: Option<usize>| to.is_none_or(|to| !self.kept[to]);
            let broken = references.filter(|(_, (to, _))| is_broken(*to));
            let broken: Vec<(usize, WorkflowReference<'d>)> = broken.collect();
            for &(at, (to, sites)) in &broken {
                let (key, target) = (self.key(at), shown(&sites.key));
                // The text of the npm package is also about a cycle (B50).
                let has_errors = match to {
                    Some(to) => !self.cyclic.contains(&to),
                    None => self.found.contains(&*sites.key),
                };
                let message = if has_errors {
                    format!("`{key}` cannot run, because its subworkflow `{target}` has errors")
                } else {
                    format!(
                        "Workflow \"{key}\" references non-existent subworkflow \"{target}\". Skipping."
                    )
                };
                let help = self.help_for(&sites.key);
                let found = self.leave_out(at, Some(sites), Code::BrokenReference, message);
                found.help = help.or_else(|| found.help.take());
            }
            let referrers = broken.iter().flat_map(|(at, _)| &self.referrers[*at]);
            round = referrers.copied().collect();
        }
    }

    /// Leaves out workflows that do not fit their subworkflows: in what they pass to them, and take over from them.
    fn leave_out_unfitting(&mut self, order: &[usize]) {
        let drafts = self.drafts.iter();
        let by_key = drafts.map(|draft| (&*draft.workflow.key, *draft)).collect();
        let (mut loops, mut found) = (HashSet::new(), BTreeMap::new());
        // Targets come first.
        for &at in order.iter().filter(|&&at| self.kept[at]) {
            let (of_draft, values) = check_passing(self.drafts[at], &by_key, &mut loops);
            found.insert(at, of_draft);
            self.values[at] = values;
        }
        for (at, found) in found {
            let mut severities = found.iter().map(|found| found.severity);
            self.kept[at] = severities.all(|severity| severity != Severity::Error);
            self.diagnostics.extend(found);
        }
    }

    fn help_for(&mut self, target: &str) -> Option<String> {
        if self.found.contains(target) {
            return Some("it has errors: correct them".into());
        }
        if target.contains('/') {
            return Some("name a directory that is directly in the workflows directory".into());
        }
        self.suggestions_left = self.suggestions_left.checked_sub(1)?;
        let near = nearest(target, self.found.iter().copied())?;
        Some(format!("did you mean `{}`?", shown(near)))
    }

    /// Leaves out workflows with more levels of subworkflows than allowed. `order` has targets first.
    fn leave_out_deep(&mut self, order: &[usize], max_nesting: u32) {
        let levels = levels(&self.targets, order);
        for (at, &number) in levels.iter().enumerate() {
            if !self.kept[at] || number <= max_nesting {
                continue;
            }
            let references = self.references[at].iter();
            let deepest = references.max_by_key(|(to, _)| to.map(|to| levels[to]));
            let reference = deepest.map(|(_, sites)| *sites);
            let key = self.key(at);
            let message = format!(
                "Workflow \"{key}\" has {number} levels of subworkflows: at most {max_nesting} are allowed. Skipping."
            );
            self.leave_out(at, reference, Code::NestedTooDeep, message);
        }
    }
}
