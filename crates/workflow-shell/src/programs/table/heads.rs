//! The programs that a row names, for the parser of the tables and for the build script that makes their index.

/// Returns the programs that a line of a table names; none if it does not start a row.
#[allow(dead_code, reason = "the build script alone needs it")]
pub(crate) fn programs_of_line(line: &str) -> impl Iterator<Item = &str> {
    let is_row = !line.starts_with(['#', ' ', '@']);
    programs(if is_row { line } else { "" })
}

/// Returns the programs that the head of a row names.
pub(crate) fn programs(head: &str) -> impl Iterator<Item = &str> {
    let first = head.split_ascii_whitespace().next().unwrap_or_default();
    let first = first.split('[').next().unwrap_or_default();
    let first = first.strip_suffix(':').unwrap_or(first);
    first.split('|').filter(|name| !name.is_empty())
}
