//! Text of a line as it is shown to people.

/// The longest text that is shown, in characters.
const MAX_CHARS: usize = 80;

/// Makes text from a line fit for a message: hidden characters are escaped, unknown parts are `…`,
/// and a long text is cut.
pub(crate) fn displayed(text: &str) -> String {
    let mut shown = String::new();
    for (count, c) in text.replace('\0', "…").chars().enumerate() {
        if count == MAX_CHARS {
            shown.push('…');
            break;
        }
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns whether a character moves the cursor, ends the line, changes the direction of the text or is invisible.
/// Characters that join others (`U+200C`, `U+200D`) are not hidden: emoji consist of them.
fn is_hidden(c: char) -> bool {
    let changes_direction = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    let has_no_width = matches!(
        c,
        '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
    );
    c.is_control() || changes_direction || ends_line || has_no_width
}
