//! Subworkflow references: cycles, broken references, nesting.
//!
//! Works on indexes and edges, never on the text of a message (B08), and walks no links while it
//! changes them (B09). After it, every reference leads to a workflow that is left, and none leads back.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::directory::Draft;
use super::passing::check_passing;
use crate::definition::model::graph::{contains_itself, levels, reversed, strongly_connected};
use crate::definition::schema::nearest;
use crate::diagnostic::{Code, Diagnostic, Location, Severity, shown};

/// Checks the references of all workflows against each other.
///
/// `found` are the keys of all directories with a definition: a reference to one of them that is not
/// among the drafts leads to a workflow that was left out for its own errors. Gives for each draft whether it is kept, and the
/// reasons why others are not.
pub(super) fn check_references<'d>(
    drafts: &'d [(usize, Draft)],
    found: &'d BTreeSet<&'d str>,
    max_nesting: u32,
) -> (Vec<bool>, Vec<Diagnostic>) {
    let by_key: HashMap<&str, usize> = drafts
        .iter()
        .enumerate()
        .map(|(at, (_, draft))| (&*draft.workflow.key, at))
        .collect();
    // The first one to each workflow.
    let references_of = |(_, draft): &'d (usize, Draft)| -> Vec<WorkflowReference<'d>> {
        let mut named = HashSet::new();
        let references = draft.references.iter();
        references
            .filter(|sites| named.insert(&sites.key))
            .map(|sites| WorkflowReference {
                key: &sites.key,
                target: by_key.get(&*sites.key).copied(),
                location: &sites.location,
            })
            .collect()
    };
    let references: Vec<Vec<WorkflowReference<'d>>> = drafts.iter().map(references_of).collect();
    let targets: Vec<Vec<usize>> = references
        .iter()
        .map(|of| of.iter().filter_map(|reference| reference.target).collect())
        .collect();
    let mut check = ReferenceCheck {
        kept: vec![true; drafts.len()],
        diagnostics: Vec::new(),
        suggestions_left: 20,
        drafts,
        found,
        references,
        referrers: reversed(&targets),
        targets,
        unfitting: drafts.iter().map(|_| Vec::new()).collect(),
    };
    let groups = strongly_connected(&check.targets);
    check.leave_out_cycles(&groups);
    // The groups come targets first, and those left are single workflows.
    let order: Vec<usize> = groups.into_iter().flatten().collect();
    check.leave_out_unfitting(&order);
    check.leave_out_broken();
    check.leave_out_deep(&order, max_nesting);
    (check.kept, check.diagnostics)
}

/// A reference, its target and its location.
#[derive(Clone, Copy)]
struct WorkflowReference<'d> {
    key: &'d str,
    target: Option<usize>,
    location: &'d Location,
}

struct ReferenceCheck<'d> {
    kept: Vec<bool>,
    diagnostics: Vec<Diagnostic>,
    /// Each suggestion compares a key with all others.
    suggestions_left: usize,
    drafts: &'d [(usize, Draft)],
    found: &'d BTreeSet<&'d str>,
    references: Vec<Vec<WorkflowReference<'d>>>,
    /// The workflows each one refers to.
    targets: Vec<Vec<usize>>,
    /// The workflows that refer to each one.
    referrers: Vec<Vec<usize>>,
    /// What does not fit in each.
    unfitting: Vec<Vec<Diagnostic>>,
}

impl<'d> ReferenceCheck<'d> {
    fn key(&self, at: usize) -> &str {
        &self.drafts[at].1.workflow.key
    }

    fn error(
        &self,
        code: Code,
        at: usize,
        location: Option<&Location>,
        message: String,
    ) -> Diagnostic {
        let location = location.unwrap_or(&self.drafts[at].1.file);
        Diagnostic::new(code, Severity::Error, message)
            .at(location.clone())
            .about(self.key(at))
    }

    /// Leaves out every workflow that contains itself, directly or through others.
    fn leave_out_cycles(&mut self, groups: &[Vec<usize>]) {
        let mut cycles: Vec<Vec<usize>> = groups
            .iter()
            .filter(|group| contains_itself(group, &self.targets))
            .cloned()
            .collect();
        for cycle in &mut cycles {
            cycle.sort_unstable();
        }
        cycles.sort_unstable();
        for cycle in cycles {
            self.leave_out_cycle(&cycle);
        }
    }

    fn leave_out_cycle(&mut self, members: &[usize]) {
        let first = members[0];
        let inside: HashSet<usize> = members.iter().copied().collect();
        for &member in members {
            self.kept[member] = false;
            let references = &self.references[member];
            let is_inside = |target: usize| inside.contains(&target);
            let location = references
                .iter()
                .find(|reference| reference.target.is_some_and(is_inside))
                .map(|reference| reference.location);
            let (key, first_key) = (shown(self.key(member)), shown(self.key(first)));
            let message = if member == first {
                let round = self.round(first, &inside);
                format!("Cycle detected: {round}. Skipping workflow \"{key}\".")
            } else {
                format!("Workflow \"{key}\" is in a cycle with \"{first_key}\". Skipping.")
            };
            let found = self.error(Code::Cycle, member, location, message);
            self.diagnostics.push(found);
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
        let mut names: Vec<String> = way.iter().map(|&at| shown(self.key(at))).collect();
        if names.len() > NAMED {
            names.splice(NAMED - 2..names.len() - 1, ["…".to_owned()]);
        }
        names.join(" → ")
    }

    /// Leaves out workflows with broken references, then those that refer to them, and so on (B10, B50).
    fn leave_out_broken(&mut self) {
        let mut round: BTreeSet<usize> = (0..self.drafts.len()).collect();
        while !round.is_empty() {
            let broken: Vec<(usize, WorkflowReference<'d>)> = round
                .into_iter()
                .filter(|&at| self.kept[at])
                .flat_map(|at| self.references[at].iter().map(move |to| (at, *to)))
                .filter(|(_, to)| to.target.is_none_or(|target| !self.kept[target]))
                .collect();
            for (at, reference) in &broken {
                self.kept[*at] = false;
                let found = self.broken(*at, reference);
                self.diagnostics.push(found);
            }
            let referrers = broken.iter().flat_map(|(at, _)| &self.referrers[*at]);
            round = referrers.copied().collect();
        }
    }

    /// Leaves out workflows that do not fit their subworkflows: in what they pass to them, and take over from them.
    fn leave_out_unfitting(&mut self, order: &[usize]) {
        let drafts = self.drafts;
        let by_key: HashMap<&str, &Draft> = drafts
            .iter()
            .map(|(_, draft)| (&*draft.workflow.key, draft))
            .collect();
        let mut loops = HashSet::new();
        // Targets come first.
        for &at in order.iter().filter(|&&at| self.kept[at]) {
            let draft = &drafts[at].1;
            let found = check_passing(draft, &by_key, &mut loops);
            self.unfitting[at] = found;
        }
        for at in 0..drafts.len() {
            for found in std::mem::take(&mut self.unfitting[at]) {
                self.kept[at] &= found.severity != Severity::Error;
                self.diagnostics.push(found);
            }
        }
    }

    fn broken(&mut self, at: usize, reference: &WorkflowReference<'d>) -> Diagnostic {
        let message = format!(
            "Workflow \"{}\" references non-existent subworkflow \"{}\". Skipping.",
            shown(self.key(at)),
            shown(reference.key)
        );
        let found = self.error(Code::BrokenReference, at, Some(reference.location), message);
        match self.help_for(reference.key) {
            Some(help) => found.with_help(help),
            None => found,
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
        let deep: Vec<usize> = (0..levels.len())
            .filter(|&at| self.kept[at] && levels[at] > max_nesting)
            .collect();
        for at in deep {
            self.kept[at] = false;
            let references = &self.references[at];
            let deepest = references
                .iter()
                .max_by_key(|reference| reference.target.map(|target| levels[target]));
            let location = deepest.map(|reference| reference.location);
            let message = format!(
                "Workflow \"{}\" has {} levels of subworkflows: at most {max_nesting} are allowed. Skipping.",
                shown(self.key(at)),
                levels[at]
            );
            let found = self.error(Code::NestedTooDeep, at, location, message);
            self.diagnostics.push(found);
        }
    }
}
