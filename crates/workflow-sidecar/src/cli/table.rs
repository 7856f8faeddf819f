//! Tables for a terminal: columns as wide as their text, nothing raw from a file, cut where the terminal ends.

use std::io::{self, Write};

use clap::builder::styling::Style;
use unicode_width::UnicodeWidthStr;
use workflow_core::diagnostic::shown;

/// A title.
const HEAD: Style = Style::new().bold();
/// Between columns.
const GAP: usize = 2;
/// The last column is never cut below this.
const NARROWEST: usize = 12;

/// How wide the terminal is; `None` if nobody says so.
fn terminal() -> Option<usize> {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|said| said.parse().ok());
    let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    said.filter(|&columns| columns > 0).or_else(asked)
}

/// Text with every control character escaped, however long it is.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| shown(c.encode_utf8(&mut [0; 4])))
        .collect()
}

/// Writes a table. The last column loses its start, a path's least telling part, if the terminal is too narrow.
pub(super) fn write<const N: usize>(
    out: &mut impl Write,
    head: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].width());
        cells.chain([head[at].width()]).max().unwrap_or(0)
    };
    let before: usize = (0..N - 1).map(|at| width(at) + GAP).sum();
    let left = terminal().map(|columns| columns.saturating_sub(before).max(NARROWEST));
    let line = |cells: &[&str; N]| {
        let mut line = String::new();
        for (at, cell) in cells[..N - 1].iter().enumerate() {
            line += cell;
            line += &" ".repeat(width(at) + GAP - cell.width());
        }
        line + &ending(cells[N - 1], left.unwrap_or(usize::MAX))
    };
    writeln!(out, "{HEAD}{}{HEAD:#}", line(&head).trim_end())?;
    for row in rows {
        let cells: [&str; N] = std::array::from_fn(|at| &*row[at]);
        writeln!(out, "{}", line(&cells).trim_end())?;
    }
    Ok(())
}

/// The end of a text that fits, behind an ellipsis if that is not all.
fn ending(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut starts = text.char_indices().map(|(at, _)| at);
    let fits = |at: &usize| text[*at..].width() < columns;
    let start = starts.find(fits).unwrap_or(text.len());
    format!("…{}", &text[start..])
}

/// The start of a text that fits, before an ellipsis if that is not all.
pub(super) fn beginning(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut ends = text.char_indices().map(|(at, _)| at).rev();
    let fits = |at: &usize| text[..*at].width() < columns;
    let end = ends.find(fits).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_it_tells_least() {
        assert_eq!(ending("a/b/c", 5), "a/b/c");
        assert_eq!(ending("a/b/c", 4), "…b/c");
        assert_eq!(ending("日本語", 4), "…語");
        assert_eq!(beginning("日本語", 4), "日…");
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abc", 0), "…");
    }

    #[test]
    fn nothing_that_moves_the_cursor_is_left() {
        assert_eq!(one_line("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(one_line(&"x".repeat(200)).len(), 200);
    }
}
