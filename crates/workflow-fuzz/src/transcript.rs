//! A transcript's text.

use workflow_sidecar::{bless_text, differences_of_text};

/// Any text is read or refused; what the engine wrote down is what it says.
///
/// A transcript without a clock of its own is played on the machine's: only what comes out twice is compared.
pub fn play(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some(blessed) = bless_text(text) else {
        return;
    };
    if bless_text(text).as_ref() != Some(&blessed) {
        assert!(
            !text.contains("\"virtual\""),
            "a virtual clock makes it say the same twice"
        );
        return;
    }
    assert_eq!(
        bless_text(&blessed).as_ref(),
        Some(&blessed),
        "what was written down stays"
    );
    assert_eq!(differences_of_text(&blessed), Some(0));
}
