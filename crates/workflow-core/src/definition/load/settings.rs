//! The reader of the settings files: `defaults`, `context`, `checkpoint`, `limits`, where the project's wins, key by key;
//! `tools`, `results` and `triggers`, where both apply.
//!
//! A settings file with a mistake keeps its valid keys. Guards that cannot be read fail closed.

use crate::definition::model::{
    Defaults, Guards, Limits, Place, RuleAction, Settings, SettingsStatus, TierSettings,
    WithoutRun, fail_closed, read_level,
};
use crate::definition::schema::{Declared, MapReader, Reader};
use crate::definition::syntax::{Kind, Map};
use crate::definition::tier::Tier;
use crate::diagnostic::{Code, Diagnostic, Finding, Location};

impl TierSettings {
    /// The settings of a project without a file.
    pub(super) fn inside(outer: &Self) -> Self {
        Self {
            limits: outer.limits,
            rule_sets: outer.rule_sets.clone(),
            ..Self::default()
        }
    }

    /// The replacement for a file that cannot be read, for this reason: everything is forbidden.
    pub(super) fn fail_closed(file: &str, why: &Diagnostic, outer: &Self) -> Self {
        let location = why.location.as_ref();
        let source = location.map_or_else(|| file.to_owned(), Location::file_and_line);
        Self {
            guards: Guards {
                rules: fail_closed::rules(file, &source, &why.message).to_vec(),
                status: SettingsStatus::Unreadable,
                ..Guards::default()
            },
            ..Self::inside(outer)
        }
    }

    /// Returns true if all of its guards were loaded, or there is no file.
    pub fn is_loaded(&self) -> bool {
        self.guards.status.is_loaded()
    }
}

/// Reads the map of a settings file, inside of those further out.
pub(super) fn read_settings(
    reader: &mut Reader<'_>,
    map: &Map<'_>,
    outer: &TierSettings,
) -> TierSettings {
    let mut keys = MapReader::new(reader, TierSettings::SECTION, map, None);
    let mut settings = TierSettings::inside(outer);
    settings.read_keys(&mut keys);
    keys.get(&TierSettings::schema);
    check_own(&mut keys);
    read_limits(&mut keys, &mut settings.limits);
    settings.guards = read_guards(&mut keys, &mut settings);
    let references = std::mem::take(&mut reader.sites.references).into_iter();
    for reference in references.filter(|reference| reference.kind.is_guard()) {
        let name = &reference.name;
        let message =
            format!("`{{{name}}}` is the value of a workflow, and no guard of the settings has it");
        let finding = Finding::error(Code::UnknownVariable, reference.span, message);
        reader.report(finding.help("write the value itself"));
    }
    settings
}

/// Reads the guards. What may be one that is misspelled is lost.
fn read_guards(keys: &mut MapReader<'_, '_, '_>, settings: &mut TierSettings) -> Guards {
    let sets = &mut settings.rule_sets;
    let lost_sets = match keys.get(&TierSettings::rulesets) {
        Some(mut own) => sets.add(&mut own, keys.reader),
        None if keys.has("rulesets") => vec![keys.span_of(&TierSettings::rulesets)],
        None => Vec::new(),
    };
    let (tools, results) = (&TierSettings::level_tools, &TierSettings::level_results);
    let mut level = read_level(keys, tools, results, sets, Place::Settings);
    let lost_sets = lost_sets.into_iter().map(|span| ("rulesets", span));
    for (guard, span) in lost_sets.chain(keys.lost_guards()) {
        if guard == "results" {
            let results = fail_closed::results(keys.reader.file_and_line(span));
            level.results.push(results);
        } else if level.status.is_loaded() {
            level.fail_closed(keys.reader, span);
        }
    }
    if let Some(written) = keys.written(&TierSettings::all_defaults) {
        let (defaults, is_sound) = Defaults::read(keys.reader, written, sets);
        if !is_sound {
            level.fail_closed(keys.reader, written.entry.key_span);
        }
        settings.defaults = defaults;
    }
    let without_run = keys.written(&TierSettings::without_run).map(|written| {
        let start = match written.kind() {
            Kind::Map(map) => map.get("start").and_then(|start| start.value.span),
            _ => None,
        };
        let span = start.or(written.span());
        settings.start_at = Some(keys.reader.source.location(span));
        Box::new(WithoutRun::read(keys.reader, written, sets))
    });
    let mut guards = Guards {
        tools: level.tools,
        rules: level.rules,
        results: level.results,
        unknown: keys.get(&TierSettings::unknown),
        on_repeat: keys.get(&TierSettings::on_repeat),
        defaults: settings.defaults.tools.clone(),
        without_run,
        status: level.status,
    };
    if keys.is_unreadable(&TierSettings::unknown) {
        guards.unknown = Some(RuleAction::Block);
    }
    if guards.results.iter().any(|rule| rule.unread) {
        guards.status = SettingsStatus::Unreadable;
    }
    guards
}

/// Reads `limits`. Those that the file does not name stay as they are.
fn read_limits(keys: &mut MapReader<'_, '_, '_>, limits: &mut Limits) {
    let Some(written) = keys.written(&TierSettings::own_limits) else {
        return;
    };
    match written.kind() {
        Kind::Map(map) => {
            let mut keys = MapReader::new(keys.reader, Limits::SECTION, map, None);
            limits.read_keys(&mut keys);
        }
        _ => keys.report(written.wrong_type("a map")),
    }
}

/// Checks the settings that only the user's own file has. The platform reads them itself: a project must neither redirect
/// answers of the user nor run a program.
fn check_own(keys: &mut MapReader<'_, '_, '_>) {
    let address = keys.get(&TierSettings::store);
    keys.get(&TierSettings::notify);
    for name in ["store", "notify"] {
        if keys.reader.tier == Tier::Project && keys.has(name) {
            let span = keys.entry(name).and_then(|entry| entry.value.span);
            let message =
                format!("`{name}` is a setting of the user, and has no effect in a project");
            let finding = Finding::error(Code::InvalidValue, span, message);
            let help = "move it to `workflow-sidecar.json5` of your agent directory";
            keys.report(finding.help(help));
        }
    }
    let is_server = |address: &String| {
        address.starts_with("postgres://") || address.starts_with("postgresql://")
    };
    if keys.reader.tier == Tier::Global && address.is_some_and(|address| !is_server(&address)) {
        let span = keys.span_of(&TierSettings::store);
        let message = "`store` is no address of a PostgreSQL server";
        let help = "write `postgres://user@server/database`, or remove it to keep the store on this machine";
        keys.report(Finding::error(Code::InvalidValue, span, message).help(help));
    }
}

/// The settings in force.
pub(super) fn merged([outer, inner]: &[TierSettings; 2]) -> Settings {
    Settings {
        auto_continue: inner
            .defaults
            .auto_continue
            .within(&outer.defaults.auto_continue),
        context: inner.context.or(outer.context),
        limits: inner.limits,
        user: outer.guards.clone(),
        project: inner.guards.clone(),
        checkpoint: inner.checkpoint.or(outer.checkpoint),
        question_timeout: inner.question_timeout.or(outer.question_timeout),
        triggers: [&*outer.triggers, &*inner.triggers].concat(),
    }
}
