//! The lookup of origins for the values of a phase.

use crate::definition::{
    Catalog, ContinueRule, KeyLocations, Loaded, Settings, Tier, TierSettings, ToolAccess,
    Workflow, WorkflowOrigin,
};
use crate::diagnostic::Location;
use crate::policy::rules::RuleSource;
use crate::run::{Path, Position, RunState, ScopeLevel};
use crate::session::phase::ResolvedPhase;

use super::row::{Origin, OriginKind};

/// A phase, its values, and the origins of what was loaded.
pub(super) struct OriginLookup<'a> {
    pub(super) state: &'a RunState,
    pub(super) catalog: &'a Catalog,
    pub(super) settings: &'a Settings,
    pub(super) position: &'a Position<'a>,
    pub(super) resolved: &'a ResolvedPhase,
    loaded: &'a Loaded,
    /// The workflows around the phase, root first.
    scopes: Vec<ScopeLevel<'a>>,
}

impl<'a> OriginLookup<'a> {
    pub(super) fn new(
        state: &'a RunState,
        loaded: &'a Loaded,
        position: &'a Position<'a>,
        resolved: &'a ResolvedPhase,
    ) -> Self {
        Self {
            state,
            catalog: &loaded.catalog,
            settings: &loaded.settings,
            position,
            resolved,
            loaded,
            scopes: (position.levels.iter().chain(&position.drilled))
                .copied()
                .collect(),
        }
    }

    fn workflow(&self, key: &str) -> Option<&'a WorkflowOrigin> {
        self.loaded.origins.workflow(key)
    }

    /// The phase says so.
    pub(super) fn phase(&self, key: &[&str]) -> Origin {
        self.key_of(RuleSource::Phase, key)
    }

    /// The root workflow, if it is given there.
    pub(super) fn root(&self, is_given: bool, key: &str) -> Origin {
        match self.scopes.first() {
            Some(level) if is_given => {
                self.key_of(RuleSource::Workflow(&level.workflow.key), &[key])
            }
            _ => Origin::default_value(),
        }
    }

    /// The innermost workflow, if it contains the key.
    pub(super) fn scope(&self, key: &str) -> Origin {
        let own = &self.position.innermost().workflow.key;
        let origin = self.key_of(RuleSource::Workflow(own), &[key]);
        match origin.location {
            Some(_) => origin,
            None => Origin::default_value(),
        }
    }

    /// The workflow around a path's end says that this entry comes there.
    pub(super) fn entry(&self, path: &Path) -> Origin {
        let segment = path.innermost();
        let entries = self.workflow(&segment.workflow_key);
        let entry = entries.and_then(|origin| origin.entries.get(segment.phase_index));
        Origin {
            kind: OriginKind::Workflow(segment.workflow_key.clone()),
            location: entry.and_then(|entry| Some(entry.entry.as_ref()?.file_and_line())),
        }
    }

    /// Returns the origin of a part of `continue`: the phase, the scopes from the innermost one, the settings.
    pub(super) fn continue_rule(
        &self,
        key: &str,
        is_given: fn(&ContinueRule) -> bool,
    ) -> Option<Origin> {
        let key = ["continue", key];
        if is_given(&self.position.phase.auto_continue) {
            return Some(self.phase(&key));
        }
        let mut around = self.around(
            false,
            &key,
            |workflow| is_given(&workflow.auto_continue).then_some(()),
            |settings| is_given(&settings.auto_continue).then_some(()),
        );
        around.next().map(|((), origin)| origin)
    }

    /// The values around the phase with their origins: the scopes from the innermost one, or the root alone, then the settings.
    pub(super) fn around<T>(
        &self,
        root_only: bool,
        key: &[&str],
        of_workflow: impl Fn(&Workflow) -> Option<T>,
        of_settings: impl Fn(&TierSettings) -> Option<T>,
    ) -> impl Iterator<Item = (T, Origin)> {
        let asked = if root_only { 1 } else { self.scopes.len() };
        let scopes = self.scopes.iter().take(asked).rev();
        let scopes = scopes.filter_map(move |level| {
            let value = of_workflow(level.workflow)?;
            let whose = RuleSource::Workflow(&level.workflow.key);
            Some((value, self.key_of(whose, key)))
        });
        let settings = [Tier::Project, Tier::Global].into_iter();
        let settings = settings.filter_map(move |tier| {
            let value = of_settings(&self.loaded.tiers[tier as usize])?;
            Some((value, self.key_of(RuleSource::Settings(tier), key)))
        });
        scopes.chain(settings)
    }

    /// A level around the phase says which tools may run.
    pub(super) fn list(&self, whose: RuleSource<'_>, tools: Option<&ToolAccess>) -> Origin {
        let key: &[&str] = match tools {
            Some(ToolAccess::Whitelist(_)) => &["tools", "whitelist"],
            Some(ToolAccess::Blacklist(_)) | None => &["tools", "blacklist"],
            Some(ToolAccess::ReadOnly { .. }) => &["tools"],
        };
        self.key_of(whose, key)
    }

    /// The origin of a key of a level.
    pub(super) fn key_of(&self, whose: RuleSource<'_>, key: &[&str]) -> Origin {
        let of = |keys: &'a KeyLocations| keys.of(key);
        let location = match whose {
            RuleSource::Settings(tier) => {
                let mut files = self.loaded.origins.settings().iter();
                let file = files.find(|file| file.tier == tier);
                file.and_then(|file| of(&file.keys))
            }
            RuleSource::Workflow(name) => self.workflow(name).and_then(|origin| of(&origin.keys)),
            RuleSource::Phase => self.scopes.last().and_then(|level| {
                let origin = self.workflow(&level.workflow.key)?;
                let entry = origin.entries.get(level.index)?;
                of(&entry.keys).or(entry.entry.as_ref())
            }),
        };
        let location = location.map(Location::file_and_line);
        Origin {
            location,
            ..Origin::at(whose, "")
        }
    }
}
