//! The reader of the settings files: `continue`, `context`, `checkpoint`, `limits`, where the project's wins, key by key;
//! `tools`, `results` and `triggers`, where both apply.
//!
//! A settings file with a mistake keeps its valid keys. Guards that cannot be read fail closed.

use super::auto_continue::read_continue;
use super::fail_closed;
use super::rule_sets::{RuleSets, read_rule_sets};
use super::tools::{ReadTools, read_results, read_tools};
use super::triggers::read_triggers;
use crate::definition::model::{
    Guards, Limits, OnRepeat, Settings, SettingsStatus, Tier, UnknownAction,
};
use crate::definition::schema::keys::{limits, settings};
use crate::definition::schema::{Field, MapReader, Section, Typed, lost_guards};
use crate::definition::syntax::{Map, Reader};
use crate::diagnostic::{Code, Diagnostic, Finding};

/// The content of one settings file. A limit that it does not name is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TierSettings {
    settings: Settings,
    limits: LimitsGiven,
    guards: Guards,
    /// The rule sets that workflows of the tier may use.
    rule_sets: RuleSets,
}

impl TierSettings {
    /// The rule sets that workflows of the tier may use.
    pub(super) fn rule_sets(&self) -> &RuleSets {
        &self.rule_sets
    }

    /// The replacement for a file that cannot be read, for this reason: everything is forbidden.
    pub(super) fn fail_closed(file: &str, why: &Diagnostic) -> Self {
        let location = why.location.as_ref();
        let source = match location.and_then(crate::diagnostic::Location::line) {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        Self {
            guards: Guards {
                rules: fail_closed::rules(file, &source, &why.message).to_vec(),
                status: SettingsStatus::Unreadable,
                ..Guards::default()
            },
            ..Self::default()
        }
    }

    /// The settings of the file, except for its limits.
    pub(super) fn into_settings(self) -> Settings {
        self.settings
    }

    /// Returns true if all of its guards were loaded, or there is no file.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.guards.status.is_loaded()
    }

    /// The same settings, for a file that can no longer be read.
    #[must_use]
    pub fn last_known_good(mut self) -> Self {
        self.guards.status = SettingsStatus::LastKnownGood;
        self
    }
}

/// The key of a limit, and its value among the limits.
type LimitOf = (Typed<u32>, fn(&mut Limits) -> &mut u32);

/// All limits. The length is checked: a key without a value does not compile.
const LIMITS: [LimitOf; limits::KEYS.len()] = [
    (limits::MAX_FILE_BYTES, |all| &mut all.max_file_bytes),
    (limits::MAX_TOTAL_BYTES, |all| &mut all.max_total_bytes),
    (limits::MAX_DEPTH, |all| &mut all.max_depth),
    (limits::MAX_PHASES, |all| &mut all.max_phases),
    (limits::MAX_WORKFLOWS, |all| &mut all.max_workflows),
    (limits::MAX_NESTING, |all| &mut all.max_nesting),
    (limits::MAX_VISITS, |all| &mut all.jumps),
];

/// The limits that a file names, in the order of [`LIMITS`].
type LimitsGiven = [Option<u32>; LIMITS.len()];

/// Reads the map of a settings file.
pub(super) fn read_settings(
    reader: &mut Reader<'_>,
    map: Map<'_>,
    tier: Tier,
    outer: &RuleSets,
) -> TierSettings {
    let lost: Vec<_> = lost_guards(Section::Settings, &map).collect();
    let mut keys = MapReader::new(reader, Section::Settings, map, None);
    keys.get(&settings::SCHEMA);
    check_store(&mut keys, tier);
    let auto_continue = read_continue(&mut keys, &settings::CONTINUE);
    let context = keys.get(&settings::CONTEXT);
    let limits = read_limits(&mut keys);
    let sets = read_rule_sets(&mut keys, &settings::RULESETS, outer);
    let rule_sets = sets.sets.unwrap_or_else(|| outer.clone());
    let mut tools = read_tools(&mut keys, &settings::TOOLS, &rule_sets);
    if let Some(&span) = sets.lost.first()
        && tools.status.is_loaded()
    {
        tools.fail_closed(keys.reader, span);
    }
    let mut results = read_results(&mut keys, &settings::RESULTS);
    for (guard, span) in lost {
        if guard == "results" {
            results.push(fail_closed::results(keys.reader.file_and_line(span)));
        } else if tools.status.is_loaded() {
            tools.fail_closed(keys.reader, span);
        }
    }
    let unknown = match keys.field(&settings::UNKNOWN) {
        Field::Absent => None,
        Field::NoValue | Field::Wrong { .. } => Some(UnknownAction::Block),
        Field::Value { value, .. } => Some(value),
    };
    let ReadTools {
        access,
        rules,
        mut status,
    } = tools;
    if results.iter().any(|rule| rule.unread) {
        status = SettingsStatus::Unreadable;
    }
    TierSettings {
        settings: Settings {
            auto_continue,
            context,
            limits: Limits::default(),
            checkpoint: keys.get(&settings::CHECKPOINT),
            on_repeat: keys.get(&settings::ON_REPEAT),
            question_timeout: keys.get(&settings::QUESTION_TIMEOUT),
            triggers: read_triggers(&mut keys, tier),
            ..Settings::default()
        },
        limits,
        guards: Guards {
            tools: access,
            rules,
            results,
            unknown,
            status,
        },
        rule_sets,
    }
}

/// Checks the store. The platform reads it before anything else is loaded; a project must not redirect answers of persons.
fn check_store(keys: &mut MapReader<'_, '_, '_>, tier: Tier) {
    let Field::Value { value, span, .. } = keys.field(&settings::STORE) else {
        return;
    };
    let is_server = ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| value.value.starts_with(scheme));
    let (message, help) = match tier {
        Tier::Project => (
            "`store` is a setting of the user, and has no effect in a project",
            "move it to `workflow-sidecar.json5` of your agent directory",
        ),
        Tier::Global if !is_server => (
            "`store` is no address of a PostgreSQL server",
            "write `postgres://user@server/database`, or remove it to keep the store on this machine",
        ),
        Tier::Global => return,
    };
    keys.reader
        .report(Finding::error(Code::InvalidValue, span, message).help(help));
}

/// The settings in force.
pub(super) fn merged([global, project]: &[TierSettings; 2]) -> Settings {
    let (outer, inner) = (&global.settings, &project.settings);
    let mut limits = Limits::default();
    for given in [global.limits, project.limits] {
        for ((_, limit), given) in LIMITS.into_iter().zip(given) {
            let limit = limit(&mut limits);
            *limit = given.unwrap_or(*limit);
        }
    }
    Settings {
        auto_continue: inner.auto_continue.within(&outer.auto_continue),
        context: inner.context.or(outer.context),
        limits,
        user: global.guards.clone(),
        project: project.guards.clone(),
        checkpoint: inner.checkpoint.or(outer.checkpoint),
        on_repeat: [inner.on_repeat, outer.on_repeat]
            .into_iter()
            .flatten()
            .max_by_key(|on_repeat| *on_repeat == OnRepeat::Block),
        question_timeout: inner.question_timeout.or(outer.question_timeout),
        triggers: [&*outer.triggers, &*inner.triggers].concat(),
    }
}

fn read_limits(keys: &mut MapReader<'_, '_, '_>) -> LimitsGiven {
    let Some(map) = keys.map(&settings::LIMITS).value() else {
        return LimitsGiven::default();
    };
    let mut keys = MapReader::new(keys.reader, Section::Limits, map, None);
    LIMITS.map(|(key, _)| keys.get(&key))
}
