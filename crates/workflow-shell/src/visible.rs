//! Text as it is shown: characters that would act on a terminal, or deceive its reader, as escapes.

use std::borrow::{Borrow, Cow};

/// Returns true if a character moves the cursor, ends the line, reverses the text or is invisible.
///
/// Joiners (`U+200C`, `U+200D`) depend on their neighbours: emoji and some scripts need them.
pub fn is_hidden(c: char) -> bool {
    let turns_around = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let breaks_line = matches!(c, '\u{2028}' | '\u{2029}');
    let has_no_width = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    );
    let is_blank = matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    // Tags and the variation selectors that no emoji has: whole sentences can be hidden in them.
    let is_tag = matches!(c, '\u{e0000}'..='\u{e0fff}');
    c.is_control() || turns_around || breaks_line || has_no_width || is_blank || is_tag
}

/// Text from a file or a person, fit for a message: hidden characters escaped, cut when it is long.
pub fn shown(text: &str) -> String {
    const MAX_LENGTH: usize = 80;
    let mut out = String::new();
    for (count, (c, hidden)) in judged(text).enumerate() {
        if count == MAX_LENGTH {
            out.push('…');
            break;
        }
        push(&mut out, c, hidden);
    }
    out
}

/// Text of a command line, fit for a message: its unknown parts are `…`.
pub(crate) fn displayed(text: &str) -> String {
    shown(&text.replace('\0', "…"))
}

/// Text from a file or a person on one line, whole: hidden characters escaped.
pub fn visible(text: &str) -> String {
    escaped(text, |_| false).into_owned()
}

/// Text of several lines, whole: hidden characters escaped, except for the ends of lines and tabs.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    match escaped(text, |c| matches!(c, '\n' | '\t')) {
        // Lines that end as on Windows end there as well.
        Cow::Owned(_) if text.contains("\r\n") => {
            let text = text.replace("\r\n", "\n");
            Cow::Owned(escaped(&text, |c| matches!(c, '\n' | '\t')).into_owned())
        }
        escaped => escaped,
    }
}

/// Joins texts, the first of them if there are more than a number: `a, b and 3 more`.
pub fn few<T: Borrow<str>>(texts: &[T], most: usize) -> String {
    match texts.split_at_checked(most) {
        None | Some((_, [])) => texts.join(", "),
        Some((first, more)) => format!("{} and {} more", first.join(", "), more.len()),
    }
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly all of a text is ASCII, of which only the control characters are hidden.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') || is_kept(char::from(byte));
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (c, hidden) in judged(text) {
        push(&mut out, c, hidden && !is_kept(c));
    }
    Cow::Owned(out)
}

/// The characters of a text, each with whether it is hidden there.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    // A joiner between letters of other scripts, or in an emoji, is needed; beside ASCII it only deceives.
    let is_needed = |neighbour: Option<char>| neighbour.is_some_and(|c| !c.is_ascii());
    text.char_indices().map(move |(at, c)| {
        let hidden = if matches!(c, '\u{200c}' | '\u{200d}') {
            let behind = text[at + c.len_utf8()..].chars().next();
            !is_needed(text[..at].chars().next_back()) || !is_needed(behind)
        } else {
            is_hidden(c)
        };
        (c, hidden)
    })
}

/// Appends a character, escaped if it is hidden.
pub fn push(out: &mut String, c: char, hidden: bool) {
    if hidden {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        let hostile = "a\u{1b}[2J\u{7}\u{9b}1m\u{202e}b\u{e0041}\u{7f}\u{2028}";
        let shown = r"a\u{1b}[2J\u{7}\u{9b}1m\u{202e}b\u{e0041}\u{7f}\u{2028}";
        assert_eq!(visible(hostile), shown);
        assert_eq!(visible_lines(hostile), shown);
    }

    #[test]
    fn lines_and_tabs_are_kept_where_there_may_be_several_lines() {
        assert_eq!(visible("a\n\tb"), r"a\n\tb");
        assert_eq!(visible_lines("a\n\tb"), "a\n\tb");
        assert_eq!(visible_lines("a\r\nb\rc"), "a\nb\\rc");
    }

    #[test]
    fn joiners_are_kept_where_they_are_needed() {
        for text in ["👩‍💻 ❤️‍🔥", "می‌خواهم"] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("app\u{200d}rove"), r"app\u{200d}rove");
    }
}
