//! Reads `continue` and `context`, which mean the same in a workflow, a phase and the settings.

use super::findings::{Finding, Reader};
use super::keys;
use super::language::Level;
use super::model::{Bound, ContextMode, ContinueRule, OnLimit, OnStop};
use super::node::{Entry, Kind, Map};
use super::values::{choice, present, whole_number, wrong_type};
use crate::diagnostic::{Code, Severity, shown};

/// The longest countdown, in seconds.
pub(super) const LONGEST_COUNTDOWN: u32 = 3600;

/// What a map says under `continue`. It is a guard: whatever is wrong is an error.
pub(super) fn read_continue(reader: &mut Reader<'_>, map: &mut Map<'_>) -> ContinueRule {
    let Some(entry) = present(reader, map, "continue") else {
        return ContinueRule::default();
    };
    let span = entry.value.span;
    match entry.value.kind {
        Kind::Text(text) if text == "wait" => ContinueRule {
            wait: Some(true),
            ..ContinueRule::default()
        },
        Kind::Text(text) => {
            let message = format!("`continue` must be `wait` or a map, not `{}`", shown(&text));
            let finding = Finding::error(Code::InvalidValue, span, message);
            reader.report(finding.example("continue"));
            ContinueRule::default()
        }
        Kind::Map(rule) => read_rule(reader, rule),
        kind => {
            let expected = "`wait` or a map";
            reader.report(wrong_type(
                Severity::Error,
                "continue",
                expected,
                &kind,
                span,
            ));
            ContinueRule::default()
        }
    }
}

fn read_rule(reader: &mut Reader<'_>, mut rule: Map<'_>) -> ContinueRule {
    keys::check(reader, Level::Continue, &rule);
    let on_stop = [("pause", OnStop::Pause), ("continue", OnStop::Continue)];
    let on_limit = [("park", OnLimit::Park), ("cancel", OnLimit::Cancel)];
    let mut one_of = |reader: &mut Reader<'_>, key: &str| {
        let entry = rule.take(key)?;
        choice(reader, Severity::Error, &entry, &on_stop)
    };
    let (on_error, on_question) = (one_of(reader, "onError"), one_of(reader, "onQuestion"));
    ContinueRule {
        // A map says how to go on, and so that this level does.
        wait: Some(false),
        max: rule.take("max").and_then(|entry| bound(reader, &entry)),
        max_stale: rule
            .take("maxStale")
            .and_then(|entry| bound(reader, &entry)),
        on_error,
        on_question,
        on_limit: rule
            .take("onLimit")
            .and_then(|entry| choice(reader, Severity::Error, &entry, &on_limit)),
        countdown: rule
            .take("countdown")
            .and_then(|entry| countdown(reader, &entry)),
    }
}

fn bound(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Bound> {
    if let Some(times) = whole_number(&entry.value) {
        return Some(Bound::Times(times));
    }
    if matches!(&entry.value.kind, Kind::Text(text) if text == "unlimited") {
        return Some(Bound::Unlimited);
    }
    let message = format!(
        "`{}` must be a whole number from 0 on, or `unlimited`",
        entry.key
    );
    let finding = Finding::error(Code::InvalidValue, entry.value.span, message);
    reader.report(finding.example(&entry.key));
    None
}

fn countdown(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<u32> {
    let seconds = whole_number(&entry.value).filter(|&seconds| seconds <= LONGEST_COUNTDOWN);
    if seconds.is_none() {
        let message = format!("`countdown` must be whole seconds from 0 to {LONGEST_COUNTDOWN}");
        let finding = Finding::error(Code::InvalidValue, entry.value.span, message);
        reader.report(finding.example(&entry.key));
    }
    seconds
}

/// What a map says under `context`.
pub(super) fn read_context(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<ContextMode> {
    let entry = present(reader, map, "context")?;
    let words = [
        ("by-change", ContextMode::ByChange),
        ("every-turn", ContextMode::EveryTurn),
    ];
    choice(reader, Severity::Warning, &entry, &words)
}
