//! The reader of `continue`, which means the same in a workflow, a phase and the settings.

use crate::definition::model::ContinueRule;
use crate::definition::schema::keys::{auto_continue, workflow};
use crate::definition::schema::{Key, MapReader, Section, wrong_type};
use crate::definition::syntax::{Kind, Map, Reader};
use crate::diagnostic::{Code, Finding, shown};

/// Reads `continue`. It is a guard: whatever is wrong is an error.
pub(super) fn read_continue(keys: &mut MapReader<'_, '_, '_>, key: &Key) -> ContinueRule {
    let Some(entry) = keys.entry(key) else {
        return ContinueRule::default();
    };
    let span = entry.value.span;
    let finding = match entry.value.kind {
        Kind::Map(rule) => return read_rule(keys.reader, rule),
        Kind::Text(text) if text == "wait" => {
            return ContinueRule {
                wait: Some(true),
                ..ContinueRule::default()
            };
        }
        Kind::Text(text) => {
            let message = format!("`continue` must be `wait` or a map, not `{}`", shown(&text));
            let finding = Finding::error(Code::InvalidValue, span, message);
            if means_wait(&text) {
                keys.report(finding.help("did you mean `wait`?").fix(&text, "wait"));
                return ContinueRule::default();
            }
            finding
        }
        kind => wrong_type(key, "`wait` or a map", &kind, span),
    };
    // The example is always a map, even if that of the section is a text.
    keys.report(finding.help(workflow::CONTINUE.for_example()));
    ContinueRule::default()
}

/// Returns true for other words for `wait`.
fn means_wait(text: &str) -> bool {
    let text = text.to_lowercase();
    text.starts_with("wait") || ["pause", "paused", "manual", "stop", "hold"].contains(&&*text)
}

fn read_rule(reader: &mut Reader<'_>, rule: Map<'_>) -> ContinueRule {
    let mut keys = MapReader::new(reader, Section::Continue, rule, None);
    ContinueRule {
        // A map says how to continue, and by that also that this level continues.
        wait: Some(false),
        max: keys.get(&auto_continue::MAX),
        max_stale: keys.get(&auto_continue::MAX_STALE),
        on_error: keys.get(&auto_continue::ON_ERROR),
        on_question: keys.get(&auto_continue::ON_QUESTION),
        on_limit: keys.get(&auto_continue::ON_LIMIT),
        countdown: keys.get(&auto_continue::COUNTDOWN),
    }
}
