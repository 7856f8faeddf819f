//! Output formats, styles, and the text that a command prints.

use std::fmt::{self, Display, Write as _};
use std::io::Write;

use clap::builder::styling::{AnsiColor, Style};
use serde::{Serialize, Serializer};
use unicode_width::UnicodeWidthStr;
use workflow_core::diagnostic::{is_hidden, visible};

/// A title.
pub(crate) const TITLE: Style = Style::new().bold();
/// Secondary information, such as a source location.
pub(crate) const DIMMED: Style = Style::new().dimmed();
/// A success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// A refusal or an error.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// A warning.
pub(crate) const NOTABLE: Style = AnsiColor::Yellow.on_default();

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text
    #[default]
    Human,
    /// JSON for programs
    Json,
}

impl OutputFormat {
    /// Prints a value as JSON, or as the text that a function makes of it.
    pub(crate) fn print<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce(&T, &mut Page),
    ) -> anyhow::Result<()> {
        match self {
            Self::Json => json(value),
            Self::Human => {
                let mut page = Page::default();
                text(value, &mut page);
                page.print()
            }
        }
    }
}

/// A text for standard output, which is printed at once.
#[derive(Debug, Default)]
pub(crate) struct Page(pub(crate) String);

impl Page {
    /// The text without styles.
    pub(crate) fn plain(&self) -> String {
        anstream::adapter::strip_str(&self.0).to_string()
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, line: impl Display) {
        writeln!(self.0, "{line}").expect("writing to a string does not fail");
    }

    /// Adds a text as it is.
    pub(crate) fn add(&mut self, text: &str) {
        self.0 += text;
    }

    /// Adds indented lines, each with a name and what it is, below each other.
    pub(crate) fn pairs(&mut self, pairs: &[(String, impl Display)]) {
        let width = pairs.iter().map(|(name, _)| name.width()).max();
        for (name, what) in pairs {
            let gap = " ".repeat(width.unwrap_or_default() - name.width() + 2);
            self.line(format_args!("  {name}{gap}{what}"));
        }
    }

    /// Adds a text with a bar before each line.
    pub(crate) fn block(&mut self, indent: &str, text: &str) {
        for line in text.split('\n') {
            let line = format!("{indent}│ {}", visible(&line.replace('\t', "    ")));
            self.line(line.trim_end());
        }
    }

    /// Prints what was added, in colour only on a terminal.
    pub(crate) fn print(&mut self) -> anyhow::Result<()> {
        let mut out = anstream::stdout().lock();
        out.write_all(std::mem::take(&mut self.0).as_bytes())?;
        Ok(out.flush()?)
    }
}

/// Prints one line.
pub(crate) fn say(line: impl Display) -> anyhow::Result<()> {
    let mut page = Page::default();
    page.line(line);
    page.print()
}

/// Formats a text in a style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = escaped(&serde_json::to_string_pretty(value)?);
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

/// Escapes the characters that a terminal interprets. JSON already escapes the ASCII ones.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_hidden(c) {
            // All of them are one UTF-16 unit.
            write!(escaped, "\\u{:04x}", u32::from(c)).expect("writing to a string does not fail");
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Formats a count with its noun: `1 error`, `2 errors`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A time in milliseconds since 1970: for people in minutes, for programs with milliseconds. One out of range stays a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    /// The time for people, in seconds.
    pub(crate) fn with_seconds(self) -> String {
        self.formatted("%Y-%m-%d %H:%M:%S UTC")
    }

    /// The time in a format of `strftime`.
    pub(crate) fn formatted(self, format: &str) -> String {
        let moment = jiff::Timestamp::from_millisecond(self.0);
        moment.map_or_else(
            |_| self.0.to_string(),
            |moment| moment.strftime(format).to_string(),
        )
    }
}

impl From<u64> for Moment {
    fn from(millis: u64) -> Self {
        Self(i64::try_from(millis).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.formatted("%Y-%m-%d %H:%M UTC"))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let moment = jiff::Timestamp::from_millisecond(self.0);
        match moment {
            Ok(moment) => serializer.collect_str(&format_args!("{moment:.3}")),
            Err(_) => serializer.collect_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_in_json_without_changing_its_value() {
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
