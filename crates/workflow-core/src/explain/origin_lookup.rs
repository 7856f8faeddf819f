//! The lookup of origins for the values of a phase.

use std::rc::Rc;

use crate::definition::{
    Catalog, ContinueRule, EntryOrigin, KeyLocations, Loaded, Origins, Settings, SettingsOrigin,
    TierSettings, ToolAccess, Workflow, WorkflowOrigin,
};
use crate::policy::rules::RuleSource;
use crate::run::{Path, Position, RunState, ScopeLevel};
use crate::session::phase::ResolvedPhase;

use super::row::{Origin, OriginKind};

/// A phase, its values, and the files to look up their origins.
pub(super) struct OriginLookup<'a> {
    pub(super) state: &'a RunState,
    pub(super) catalog: &'a Catalog,
    pub(super) settings: &'a Settings,
    pub(super) position: &'a Position<'a>,
    pub(super) resolved: &'a ResolvedPhase,
    origins: &'a Origins<'a>,
    /// The workflows around the phase, root first, and their origins.
    scopes: Vec<(ScopeLevel<'a>, Option<Rc<WorkflowOrigin>>)>,
}

impl<'a> OriginLookup<'a> {
    pub(super) fn new(
        state: &'a RunState,
        loaded: &'a Loaded,
        position: &'a Position<'a>,
        resolved: &'a ResolvedPhase,
        origins: &'a Origins<'a>,
    ) -> Self {
        let levels = position.levels.iter().chain(&position.drilled);
        Self {
            state,
            catalog: &loaded.catalog,
            settings: &loaded.settings,
            position,
            resolved,
            origins,
            scopes: levels
                .map(|&level| (level, origins.workflow(&level.workflow.key)))
                .collect(),
        }
    }

    /// The phase says so.
    pub(super) fn phase(&self, key: &[&str]) -> Origin {
        let entry = self.phase_entry();
        let location = entry.and_then(|entry| entry.keys.of(key).or(entry.entry.as_ref()));
        Origin {
            kind: OriginKind::Phase,
            location: location.cloned(),
        }
    }

    fn phase_entry(&self) -> Option<&EntryOrigin> {
        let (level, origin) = self.scopes.last()?;
        origin.as_ref()?.entries.get(level.index)
    }

    /// The root workflow, if it is given there.
    pub(super) fn root(&self, is_given: bool, key: &str) -> Origin {
        match self.scopes.first() {
            Some((level, origin)) if is_given => workflow(*level, origin.as_deref(), &[key]),
            _ => Origin::default_value(),
        }
    }

    /// The innermost workflow, if it contains the key.
    pub(super) fn scope(&self, key: &str) -> Origin {
        let innermost = self.scopes.get(self.position.levels.len() - 1);
        let Some((level, Some(origin))) = innermost else {
            return Origin::default_value();
        };
        match origin.keys.of(&[key]) {
            Some(_) => workflow(*level, Some(origin), &[key]),
            None => Origin::default_value(),
        }
    }

    /// The workflow around a path's end says that this entry comes there.
    pub(super) fn entry(&self, path: &Path) -> Origin {
        let segment = path.innermost();
        let origin = self.origins.workflow(&segment.workflow_key);
        let location =
            origin.and_then(|origin| origin.entries.get(segment.phase_index)?.entry.clone());
        Origin {
            kind: OriginKind::Workflow(segment.workflow_key.clone()),
            location,
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
        let scopes = scopes.filter_map(move |(level, origin)| {
            let value = of_workflow(level.workflow)?;
            Some((value, workflow(*level, origin.as_deref(), key)))
        });
        let files = self.origins.settings().iter();
        let files =
            files.filter_map(move |file| Some((of_settings(&file.said)?, settings(file, key))));
        scopes.chain(files)
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
        match whose {
            RuleSource::Settings(tier) => {
                let mut files = self.origins.settings().iter();
                let file = files.find(|file| file.tier == tier);
                Origin {
                    kind: OriginKind::Settings(tier),
                    location: location(file.map(|file| &file.keys), key),
                }
            }
            RuleSource::Workflow(name) => {
                let mut scopes = self.scopes.iter();
                let scope = scopes.find(|(level, _)| level.workflow.key == name);
                let origin = scope.and_then(|(_, origin)| origin.as_deref());
                Origin {
                    kind: OriginKind::Workflow(name.to_owned()),
                    location: location(origin.map(|origin| &origin.keys), key),
                }
            }
            RuleSource::Phase => self.phase(key),
        }
    }
}

fn workflow(level: ScopeLevel<'_>, origin: Option<&WorkflowOrigin>, key: &[&str]) -> Origin {
    Origin {
        kind: OriginKind::Workflow(level.workflow.key.clone()),
        location: location(origin.map(|origin| &origin.keys), key),
    }
}

fn settings(file: &SettingsOrigin, key: &[&str]) -> Origin {
    Origin {
        kind: OriginKind::Settings(file.tier),
        location: location(Some(&file.keys), key),
    }
}

fn location(keys: Option<&KeyLocations>, key: &[&str]) -> Option<crate::diagnostic::Location> {
    keys?.of(key).cloned()
}
