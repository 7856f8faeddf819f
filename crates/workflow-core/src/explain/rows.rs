//! The rows in the making, and where their values come from.

use serde_json::Value as Json;

use crate::definition::{Declared, Loaded, Tier};
use crate::diagnostic::Location;
use crate::policy::rules::RuleSource;
use crate::run::{Path, Position, RunState};
use crate::session::phase::ResolvedPhase;

use super::row::{Origin, OriginKind, Row, Topic, Value};

/// The values of a phase, topic by topic.
pub(super) struct Rows<'a> {
    pub(super) state: &'a RunState,
    pub(super) loaded: &'a Loaded,
    pub(super) position: &'a Position<'a>,
    pub(super) resolved: &'a ResolvedPhase,
    pub(super) initial_message: &'a str,
    /// The topic of the next rows.
    pub(super) topic: Topic,
    pub(super) made: Vec<Row>,
}

impl<'a> Rows<'a> {
    /// Adds a value. Without an origin it follows from the others.
    pub(super) fn add(
        &mut self,
        key: &'static str,
        value: impl Into<Value>,
        origin: impl Into<Option<Origin>>,
    ) {
        self.made.push(Row {
            topic: self.topic,
            key,
            value: value.into(),
            origin: origin.into(),
        });
    }

    /// Adds what a level allows and blocks.
    pub(super) fn add_tools(&mut self, allowed: Value, blocked: Value, origin: Origin) {
        self.add("allowed", allowed, origin.clone());
        self.add("blocked", blocked, origin);
    }

    /// Adds the value of a key as a level gives it, if it does.
    pub(super) fn add_key(&mut self, whose: RuleSource<'_>, key: &'static str) {
        self.add_nearest(&[whose], key);
    }

    /// Adds the value of a key of the level that decides: the first of these that gives it.
    pub(super) fn add_nearest(&mut self, levels: &[RuleSource<'_>], key: &'static str) {
        if let Some(value) = levels.iter().find_map(|of| self.given(*of, &[key])) {
            self.add(key, value, self.nearest(levels, &[key]));
        }
    }

    /// Adds a text that the first of these keys changes which the root workflow gives.
    pub(super) fn add_text(&mut self, key: &'static str, text: String, keys: &[&str]) {
        self.add(key, Value::Text(text), self.of_root(keys));
    }

    /// The root workflow.
    pub(super) fn root(&self) -> RuleSource<'a> {
        RuleSource::Workflow(&self.position.root().key)
    }

    /// The phase and the scopes around it, from the innermost one, then the settings.
    pub(super) fn around(&self) -> Vec<RuleSource<'a>> {
        let scopes = self.position.scopes().rev();
        let scopes = scopes.map(|of| RuleSource::Workflow(&of.workflow.key));
        let phase = [RuleSource::Phase].into_iter();
        phase.chain(scopes).chain(SETTINGS).collect()
    }

    /// The root workflow, then the settings.
    pub(super) fn of_run(&self) -> Vec<RuleSource<'a>> {
        [self.root()].into_iter().chain(SETTINGS).collect()
    }

    /// The origin of the first of these keys that the root workflow gives, else the default.
    pub(super) fn of_root(&self, keys: &[&str]) -> Origin {
        let mut keys = keys.iter().map(std::slice::from_ref);
        let given = keys.find_map(|key| self.nearest(&[self.root()], key));
        given.unwrap_or(OriginKind::Default.into())
    }

    /// The origin of a key of the first of these levels that gives it.
    pub(super) fn nearest(&self, levels: &[RuleSource<'_>], key: &[&str]) -> Option<Origin> {
        let level = levels.iter().find(|of| self.given(**of, key).is_some())?;
        Some(self.origin(*level, key))
    }

    /// The value of a key as a level gives it. `["continue", "max"]` is a key of a map in its map.
    fn given(&self, whose: RuleSource<'_>, key: &[&str]) -> Option<Value> {
        let (outer, inner) = key.split_first()?;
        let given = match whose {
            RuleSource::Settings(tier) => {
                let settings = &self.loaded.tiers[tier as usize];
                let of_all = || settings.defaults.value_of(outer);
                settings.value_of(outer).or_else(of_all)
            }
            RuleSource::Workflow(key) => self.loaded.catalog.get(key)?.value_of(outer),
            RuleSource::Phase => self.position.phase.value_of(outer),
        };
        let given = given?;
        Some(
            match inner.first().map_or(Some(&given), |key| given.get(key))? {
                Json::Bool(flag) => Value::Flag(*flag),
                Json::Number(number) => Value::Count(number.as_u64()?),
                Json::String(text) if !text.is_empty() => text.as_str().into(),
                Json::Array(names) if !names.is_empty() => {
                    let names = names.iter().filter_map(Json::as_str);
                    Value::Names(names.map(str::to_owned).collect())
                }
                Json::Object(_) => Value::None,
                Json::Null | Json::String(_) | Json::Array(_) => return None,
            },
        )
    }

    /// The location of a key of a level; a phase without it is where its entry is.
    pub(super) fn origin(&self, whose: RuleSource<'_>, key: &[&str]) -> Origin {
        let origins = &self.loaded.origins;
        let location = match whose {
            RuleSource::Settings(tier) => {
                let mut key = key.to_vec();
                if key.first() == Some(&"continue") {
                    key.insert(0, "defaults");
                }
                origins.settings[tier as usize].of(&key)
            }
            RuleSource::Workflow(name) => {
                origins.workflows.get(name).and_then(|of| of.keys.of(key))
            }
            RuleSource::Phase => self.position.scopes().next_back().and_then(|level| {
                let origin = origins.workflows.get(&level.workflow.key)?;
                let entry = origin.entries.get(level.index)?;
                entry.keys.of(key).or(entry.entry.as_ref())
            }),
        };
        located(whose, location)
    }

    /// The entry at the end of a path, in the workflow around it.
    pub(super) fn entry(&self, path: &Path) -> Origin {
        let segment = path.innermost();
        let origin = self.loaded.origins.workflows.get(&segment.workflow_key);
        let entry = origin.and_then(|of| of.entries.get(segment.phase_index)?.entry.as_ref());
        located(RuleSource::Workflow(&segment.workflow_key), entry)
    }
}

/// The settings, the inner ones first.
const SETTINGS: [RuleSource<'static>; 2] = [
    RuleSource::Settings(Tier::Project),
    RuleSource::Settings(Tier::Global),
];

fn located(whose: RuleSource<'_>, location: Option<&Location>) -> Origin {
    let location = location.map(Location::file_and_line);
    Origin::at(whose, &location.unwrap_or_default())
}
