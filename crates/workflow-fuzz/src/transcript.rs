//! Target `transcript`: the text of a transcript.

use workflow_sidecar::{bless_text, differences_of_text};

/// Reads any text or refuses it; a blessed transcript replays without a difference.
///
/// A transcript without a virtual clock is played on the system's, so it is compared only if two runs agree.
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
            "with a virtual clock two runs are equal"
        );
        return;
    }
    assert_eq!(
        bless_text(&blessed).as_ref(),
        Some(&blessed),
        "blessing twice changes nothing"
    );
    assert_eq!(differences_of_text(&blessed), Some(0));
}
