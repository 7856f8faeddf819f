//! What output is for: people, or programs.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;
use workflow_core::diagnostic::{is_hidden, visible};

/// A title.
pub(super) const TITLE: Style = Style::new().bold();
/// What is beside the point, as where something comes from.
pub(super) const ASIDE: Style = Style::new().dimmed();
/// What is as it should be.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// What is refused or wrong.
pub(super) const BAD: Style = AnsiColor::Red.on_default();
/// What wants to be looked at.
pub(super) const NOTABLE: Style = AnsiColor::Yellow.on_default();

/// Whom the output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Human,
    /// For programs
    Json,
}

/// Writes a value for programs.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = escaped(&serde_json::to_string_pretty(value)?);
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

/// The same JSON, with escapes for what a terminal would obey; what is ASCII JSON escapes itself.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_hidden(c) {
            // All of them have one unit.
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// A count with its noun: `1 error`, `2 errors`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A moment, in milliseconds since 1970, with so many digits of its seconds' fraction.
pub(super) fn moment(millis: i64, digits: usize) -> String {
    jiff::Timestamp::from_millisecond(millis).map_or_else(
        |_| millis.to_string(),
        |moment| format!("{moment:.digits$}"),
    )
}

/// Writes a text as it is, each line behind a bar.
pub(super) fn block(out: &mut impl Write, indent: &str, text: &str) -> io::Result<()> {
    for line in text.split('\n') {
        let line = format!("{indent}│ {}", visible(&line.replace('\t', "    ")));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_says_the_same() {
        let value = "é🔨\u{1b}\u{7f}\u{9b}2J\u{202e}\u{2028}\n";
        let json = serde_json::to_string_pretty(&[value]).unwrap();
        let shown = escaped(&json);
        assert_eq!(
            shown,
            "[\n  \"é🔨\\u001b\\u007f\\u009b2J\\u202e\\u2028\\n\"\n]"
        );
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&shown).unwrap(),
            [value]
        );
    }
}
