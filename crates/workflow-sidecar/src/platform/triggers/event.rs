//! Events of triggers, and their texts.
//!
//! Owns the bounds of incoming text, and its conversion to text without control characters.

pub(crate) use workflow_core::effect::TriggerOutcome;

/// Bytes of text that are accepted.
pub(super) const MAX_TEXT: usize = 64 * 1024;

/// Delivers a text for the agent, or a problem for a person. `None`: the session has ended.
pub(super) type Deliver =
    Box<dyn Fn(Result<String, String>) -> Option<TriggerOutcome> + Send + Sync>;

/// Converts input to text without control characters. The part beyond the bound is replaced by a note.
pub(super) fn as_text(bytes: &[u8], length: u64) -> String {
    let accepted = &bytes[..bytes.len().min(MAX_TEXT)];
    let text = String::from_utf8_lossy(accepted);
    let is_text = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    let text: String = text.chars().filter(is_text).collect();
    let text = text.trim();
    match length.saturating_sub(accepted.len() as u64) {
        0 => text.to_owned(),
        more => format!("{text}\n(… {more} more bytes are left out)"),
    }
}
