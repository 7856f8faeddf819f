//! Reads the settings files: `continue`, `context`, `checkpoint`, `limits`, where the project's wins, key by key;
//! `tools`, `results` and `triggers`, where both hold.
//!
//! A settings file with a mistake keeps its valid keys: what it says about guards still holds, and what cannot be
//! read of them is closed.

use super::closed;
use super::continue_rule::{read_context, read_continue};
use super::findings::{Finding, Reader};
use super::keys;
use super::language::Level;
use super::model::{Limits, Settings, Tier};
use super::node::{Kind, Map};
use super::rules::{Guards, Reading};
use super::tool_rules::{ReadTools, read_results, read_tools};
use super::triggers::{read_checkpoint, read_triggers};
use super::values::{optional_text, place_of, present, whole_number, wrong_type};
use crate::diagnostic::{Code, Diagnostic, Severity};

/// What one settings file says: a limit it does not name is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TierSettings {
    settings: Settings,
    limits: LimitsSaid,
    guards: Guards,
}

impl TierSettings {
    /// Stands in for a file of which nothing can be read, for this reason.
    pub(super) fn closed(file: &str, why: &Diagnostic) -> Self {
        let place = why.place.as_ref();
        let source = match place.and_then(crate::diagnostic::Place::line) {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        Self {
            guards: Guards {
                rules: closed::rules(file, &source, &why.message).to_vec(),
                reading: Reading::Never,
                ..Guards::default()
            },
            ..Self::default()
        }
    }

    /// What the file says, but for its limits.
    pub(super) fn said(self) -> Settings {
        self.settings
    }

    /// Whether nothing is missing of its guards, or there is no file.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.guards.reading.is_whole()
    }

    /// The same, held to while the file cannot be read any more.
    #[must_use]
    pub fn held_to(mut self) -> Self {
        self.guards.reading = Reading::Earlier;
        self
    }
}

/// The limits a file names, in the order of [`Level::Limits`]' keys.
type LimitsSaid = [Option<u32>; 6];

/// Reads the map of a tier's settings file.
pub(super) fn read_settings(reader: &mut Reader<'_>, mut map: Map<'_>, tier: Tier) -> TierSettings {
    keys::check(reader, Level::Settings, &map);
    let lost: Vec<_> = keys::lost_guards(Level::Settings, &map).collect();
    optional_text(reader, &mut map, "$schema");
    let auto_continue = read_continue(reader, &mut map);
    let context = read_context(reader, &mut map);
    let limits = read_limits(reader, &mut map);
    let mut tools = read_tools(reader, &mut map);
    let mut results = read_results(reader, &mut map);
    for (meant, span) in lost {
        if meant == "results" {
            results.push(closed::results(place_of(reader, span)));
        } else if tools.reading.is_whole() {
            tools.close(reader, span);
        }
    }
    let ReadTools {
        access,
        rules,
        mut reading,
    } = tools;
    if results.iter().any(|rule| rule.unread) {
        reading = Reading::Never;
    }
    TierSettings {
        settings: Settings {
            auto_continue,
            context,
            limits: Limits::default(),
            checkpoint: read_checkpoint(reader, &mut map),
            triggers: read_triggers(reader, &mut map, tier),
            ..Settings::default()
        },
        limits,
        guards: Guards {
            tools: access,
            rules,
            results,
            reading,
        },
    }
}

/// The settings in force.
pub(super) fn merged([global, project]: &[TierSettings; 2]) -> Settings {
    let (outer, inner) = (&global.settings, &project.settings);
    let mut limits = Limits::default();
    for said in [global.limits, project.limits] {
        for (limit, said) in limits_mut(&mut limits).into_iter().zip(said) {
            *limit = said.unwrap_or(*limit);
        }
    }
    Settings {
        auto_continue: inner.auto_continue.within(&outer.auto_continue),
        context: inner.context.or(outer.context),
        limits,
        user: global.guards.clone(),
        project: project.guards.clone(),
        checkpoint: inner.checkpoint.or(outer.checkpoint),
        triggers: [&*outer.triggers, &*inner.triggers].concat(),
    }
}

fn read_limits(reader: &mut Reader<'_>, map: &mut Map<'_>) -> LimitsSaid {
    let mut said = LimitsSaid::default();
    let Some(entry) = present(reader, map, "limits") else {
        return said;
    };
    let span = entry.value.span;
    let Kind::Map(mut limits) = entry.value.kind else {
        let kind = &entry.value.kind;
        reader.report(wrong_type(Severity::Error, "limits", "a map", kind, span));
        return said;
    };
    keys::check(reader, Level::Limits, &limits);
    let mut highest = Limits::HIGHEST;
    let highest = limits_mut(&mut highest).map(|limit| *limit);
    for ((said, key), highest) in said.iter_mut().zip(Level::Limits.keys()).zip(highest) {
        *said = read_limit(reader, &mut limits, key.name, highest);
    }
    said
}

fn read_limit(
    reader: &mut Reader<'_>,
    limits: &mut Map<'_>,
    key: &str,
    highest: u32,
) -> Option<u32> {
    let entry = limits.take(key)?;
    let span = entry.value.span;
    match whole_number(&entry.value) {
        None | Some(0) => {
            let message = format!("`{key}` must be a whole number from 1 on: the default is used");
            let finding = Finding::warning(Code::InvalidValue, span, message);
            reader.report(finding.example(key));
            None
        }
        Some(limit) if limit > highest => {
            let message = format!("`{key}` can be at most {highest}: that is used");
            let finding = Finding::warning(Code::LimitTooHigh, span, message);
            reader.report(finding.help(format!("write `{key}: {highest}`, or less")));
            Some(highest)
        }
        limit => limit,
    }
}

/// The limits in the order of [`Level::Limits`]' keys.
fn limits_mut(limits: &mut Limits) -> [&mut u32; 6] {
    let Limits {
        max_file_bytes,
        max_total_bytes,
        max_depth,
        max_phases,
        max_workflows,
        max_nesting,
    } = limits;
    [
        max_file_bytes,
        max_total_bytes,
        max_depth,
        max_phases,
        max_workflows,
        max_nesting,
    ]
}
