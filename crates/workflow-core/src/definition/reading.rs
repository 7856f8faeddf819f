//! Reads the workflows directories of both tiers: what is needed first, then the rest in byte order, as far as the limits allow.
//!
//! Owns the order of reading. So it is the same for a run whether the rest is read as well, and no other workflow
//! takes the room of one that a run stands in. Must not know what workflows are to each other, but for what refers to what.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::ops::ControlFlow;

use super::directory::{Directory, Draft, Found};
use super::files::{FilePath, FileProblem, Files, TierEntry};
use super::model::{Limits, PhaseEntry, Tier};
use crate::diagnostic::{Code, Diagnostic, Place, Severity, shown};

/// The workflows that are read before all others, and with them all that they refer to: those that a run stands in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needed(BTreeSet<String>);

impl FromIterator<String> for Needed {
    fn from_iter<I: IntoIterator<Item = String>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}

const TIERS: [Tier; 2] = [Tier::Global, Tier::Project];

/// The workflows of both tiers, each in byte order of its key.
pub(super) type Tiers = [Vec<(String, Found)>; 2];

/// The reading of both tiers, before it is over.
pub(super) struct Reading<'a> {
    files: &'a dyn Files,
    limits: &'a Limits,
    /// How many diagnostics there are already.
    said: usize,
    /// How many entries of each tier were looked at.
    counts: [usize; 2],
    /// What was read because it is needed.
    first: [BTreeMap<String, Read>; 2],
}

/// What was read of a directory, which may hold no workflow.
struct Read {
    diagnostics: Vec<Diagnostic>,
    found: Option<Found>,
}

impl Read {
    fn draft(&self) -> Option<&Draft> {
        self.found.as_ref()?.draft.as_ref()
    }

    fn is_broken(&self) -> bool {
        let found = self.found.as_ref();
        found.is_some_and(|found| found.draft.is_none())
    }
}

impl<'a> Reading<'a> {
    /// Begins, after so many diagnostics of other things.
    pub(super) fn new(files: &'a dyn Files, limits: &'a Limits, said: usize) -> Self {
        Self {
            files,
            limits,
            said,
            counts: [0; 2],
            first: [BTreeMap::new(), BTreeMap::new()],
        }
    }

    /// Reads what is needed and nothing else; `None` if not all of it is there and sound.
    pub(super) fn reached(
        mut self,
        needed: &Needed,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Tiers> {
        // No run stands in more: who says so is not believed one by one.
        if needed.0.len() > Limits::HIGHEST.max_nesting as usize + 1 {
            return None;
        }
        let files = self.files;
        self.follow(needed, &mut |tier, key| files.holds(tier, key), true)?;
        let mut read = self.first.iter().flat_map(BTreeMap::values);
        if read.any(Read::is_broken) {
            return None;
        }
        Some(self.first.map(|first| {
            let read = first.into_iter();
            read.filter_map(|(key, read)| {
                diagnostics.extend(read.diagnostics);
                Some((key, read.found?))
            })
            .collect()
        }))
    }

    /// Reads all there is, for as long as it is to go on. Says as well whether it came to the end.
    pub(super) fn all(
        mut self,
        needed: &Needed,
        go_on: &mut dyn FnMut() -> bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Tiers, bool) {
        let listed = TIERS.map(|tier| self.list(tier));
        if *needed != Needed::default() {
            let keys = listed.each_ref().map(|(entries, _)| keys(entries));
            let is_there = &mut |tier, key: &str| Some(keys[tier as usize].contains(key));
            self.follow(needed, is_there, false);
        }
        let mut found = [Vec::new(), Vec::new()];
        for (tier, (entries, problem)) in TIERS.into_iter().zip(listed) {
            self.said += problem.iter().len();
            diagnostics.extend(problem);
            for entry in entries {
                match self.entry(tier, entry, go_on, diagnostics) {
                    ControlFlow::Continue(read) => found[tier as usize].extend(read),
                    ControlFlow::Break(()) => return (found, false),
                }
            }
        }
        (found, true)
    }

    /// Reads an entry of a tier, unless it was read first or there is no room for it; or breaks off.
    fn entry(
        &mut self,
        tier: Tier,
        entry: TierEntry,
        go_on: &mut dyn FnMut() -> bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> ControlFlow<(), Option<(String, Found)>> {
        let was_read = match &entry {
            TierEntry::Directory(key) => self.first[tier as usize].remove(key),
            TierEntry::Skipped { .. } => None,
        };
        let (key, read) = match (entry, was_read) {
            (TierEntry::Directory(key), Some(read)) => (key, read),
            _ if !self.has_room(tier) => return ControlFlow::Continue(None),
            (TierEntry::Directory(key), None) => {
                if !go_on() {
                    return ControlFlow::Break(());
                }
                let read = self.read(tier, &key);
                (key, read)
            }
            (TierEntry::Skipped { name, problem }, _) => {
                self.counts[tier as usize] += 1;
                self.said += 1;
                let place = Place::file(&self.files.shown(&FilePath::entry(tier, &name)));
                diagnostics.push(skipped(tier, &name, &problem).at(place));
                return ControlFlow::Continue(None);
            }
        };
        diagnostics.extend(read.diagnostics);
        ControlFlow::Continue(read.found.map(|found| (key, found)))
    }

    /// Reads what is needed, and what that refers to, where it is there. If all of it is wanted, nothing comes back where
    /// something is not there, there is no room for it, or nobody can say.
    fn follow(
        &mut self,
        needed: &Needed,
        is_there: &mut dyn FnMut(Tier, &str) -> Option<bool>,
        all: bool,
    ) -> Option<()> {
        let mut met = needed.0.clone();
        let mut waiting: VecDeque<String> = needed.0.iter().cloned().collect();
        while let Some(key) = waiting.pop_front() {
            for tier in TIERS {
                if !is_there(tier, &key)? {
                    continue;
                }
                if self.has_room(tier) {
                    let read = self.read(tier, &key);
                    self.first[tier as usize].insert(key.clone(), read);
                } else if all {
                    return None;
                }
            }
            // The project's takes the place of the user's, unless it is broken.
            let [global, project] = &self.first;
            let draft =
                |read: &'_ BTreeMap<String, Read>| read.get(&key)?.draft().map(references_of);
            let Some(references) = draft(project).or_else(|| draft(global)) else {
                if all {
                    return None;
                }
                continue;
            };
            let new = references.into_iter().filter(|key| met.insert(key.clone()));
            waiting.extend(new);
        }
        Some(())
    }

    fn read(&mut self, tier: Tier, key: &str) -> Read {
        let directory = Directory {
            files: self.files,
            tier,
            key,
            limits: self.limits,
        };
        let mut diagnostics = Vec::new();
        let found = directory.read(self.said, &mut diagnostics);
        self.counts[tier as usize] += 1;
        self.said += diagnostics.len();
        Read { diagnostics, found }
    }

    fn has_room(&self, tier: Tier) -> bool {
        self.counts[tier as usize] < self.limits.max_workflows as usize
    }

    /// The entries of a tier, and what is wrong with all of them together.
    fn list(&self, tier: Tier) -> (Vec<TierEntry>, Option<Diagnostic>) {
        let directory = || Place::file(&self.files.shown(&FilePath::workflows(tier)));
        let most = self.limits.max_workflows as usize;
        match self.files.entries(tier) {
            Ok(entries) if entries.len() > most => {
                let problem = too_many(tier, most).at(directory());
                (entries, Some(problem))
            }
            Ok(entries) => (entries, None),
            Err(problem) => {
                let message = format!("the {} workflows directory {problem}", name_of(tier));
                let diagnostic = Diagnostic::new(Code::Unreadable, Severity::Error, message);
                (Vec::new(), Some(diagnostic.at(directory())))
            }
        }
    }
}

fn keys(entries: &[TierEntry]) -> HashSet<&str> {
    let keys = entries.iter().filter_map(|entry| match entry {
        TierEntry::Directory(key) => Some(&**key),
        TierEntry::Skipped { .. } => None,
    });
    keys.collect()
}

/// The keys of the workflows that a workflow refers to.
fn references_of(draft: &Draft) -> Vec<String> {
    let entries = draft.workflow.phases.iter();
    let keys = entries.filter_map(|entry| match entry {
        PhaseEntry::Subworkflow(key) => Some(key.clone()),
        PhaseEntry::Phase(_) => None,
    });
    keys.collect()
}

fn name_of(tier: Tier) -> &'static str {
    match tier {
        Tier::Global => "global",
        Tier::Project => "project's",
    }
}

fn too_many(tier: Tier, most: usize) -> Diagnostic {
    let message = format!(
        "more than {most} directories in the {} workflows directory: only the first {most} are read",
        name_of(tier)
    );
    Diagnostic::new(Code::OverLimit, Severity::Error, message)
        .with_help("remove some, or raise `limits.maxWorkflows` in the settings")
}

/// B25: what is not followed is said.
fn skipped(tier: Tier, name: &str, problem: &FileProblem) -> Diagnostic {
    let message = format!(
        "`{}` in the {} workflows directory is skipped: it {problem}",
        shown(name),
        name_of(tier)
    );
    Diagnostic::new(Code::EntrySkipped, Severity::Warning, message)
}
