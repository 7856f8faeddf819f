//! Numbers without a sign, in columns that have one.

/// Reads a number that is never negative.
pub(super) fn number(row: &rusqlite::Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(index)?;
    Ok(u64::try_from(number).unwrap_or_default())
}

/// The nearest number that a column takes.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
