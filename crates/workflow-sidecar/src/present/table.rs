//! Tables for a terminal: columns fit their text, and the last column is cut to the terminal's width.

use unicode_width::UnicodeWidthStr;

use super::page::{Page, TITLE, paint};

/// Columns between two cells.
const GAP: usize = 2;
/// Minimum width of the last column.
const NARROWEST: usize = 12;

/// Returns the terminal's width, if it is known. `COLUMNS` comes first, as in other programs; a value that is
/// not a number is ignored.
fn terminal() -> Option<usize> {
    let from_variable = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let detected = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    from_variable
        .filter(|&columns| columns > 0)
        .or_else(detected)
}

impl Page {
    /// Adds a table. If the terminal is too narrow, the last column is cut at its start, because the end of a path says more.
    pub(crate) fn table<const N: usize>(&mut self, head: [&str; N], rows: &[[String; N]]) {
        let width = |at: usize| {
            let cells = rows.iter().map(|row| row[at].width());
            cells.chain([head[at].width()]).max().unwrap_or(0)
        };
        let before: usize = (0..N - 1).map(|at| width(at) + GAP).sum();
        let left = terminal().map(|columns| columns.saturating_sub(before).max(NARROWEST));
        let line = |cells: [&str; N]| {
            let mut line = String::new();
            for (at, cell) in cells[..N - 1].iter().enumerate() {
                line += cell;
                line += &" ".repeat(width(at) + GAP - cell.width());
            }
            line += &ending(cells[N - 1], left.unwrap_or(usize::MAX));
            line.trim_end().to_owned()
        };
        self.line(paint(TITLE, line(head)));
        for row in rows {
            self.line(line(row.each_ref().map(String::as_str)));
        }
    }
}

/// Cuts a text at its start to a width, with an ellipsis.
fn ending(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut starts = text.char_indices().map(|(at, _)| at);
    let fits = |at: &usize| text[*at..].width() < columns;
    let start = starts.find(fits).unwrap_or(text.len());
    format!("…{}", &text[start..])
}

/// Cuts a text at its end to a width, with an ellipsis.
pub(crate) fn beginning(text: &str, columns: usize) -> String {
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
    fn a_text_is_cut_to_a_width() {
        assert_eq!(ending("a/b/c", 5), "a/b/c");
        assert_eq!(ending("a/b/c", 4), "…b/c");
        assert_eq!(ending("日本語", 4), "…語");
        assert_eq!(beginning("日本語", 4), "日…");
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abc", 0), "…");
    }
}
