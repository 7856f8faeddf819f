//! Corrections of definitions: replacements of texts at the locations of diagnostics.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use workflow_core::diagnostic::{Diagnostic, Fix, Region};

/// One replaced line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AppliedFix {
    /// The file, as it is shown.
    pub(crate) file: String,
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// The line before.
    pub(crate) before: String,
    /// The line after.
    pub(crate) after: String,
}

/// Applies the corrections of diagnostics to their files; without `write` only says which.
pub(crate) fn apply(diagnostics: &[Diagnostic], write: bool) -> anyhow::Result<Vec<AppliedFix>> {
    let mut by_file: BTreeMap<PathBuf, Vec<(&Region, &Fix)>> = BTreeMap::new();
    for found in diagnostics {
        let region = found
            .location
            .as_ref()
            .and_then(|location| location.region.as_ref());
        if let (Some(location), Some(region), Some(fix)) = (&found.location, region, &found.fix) {
            let file = PathBuf::from(&*location.file);
            by_file.entry(file).or_default().push((region, fix));
        }
    }
    let mut changes = Vec::new();
    for (file, mut fixes) in by_file {
        let text = fs::read_to_string(&file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        // From the end, so that columns before a replacement stay as they are.
        fixes.sort_by_key(|(region, _)| std::cmp::Reverse((region.line, region.column)));
        fixes.dedup_by_key(|(region, _)| (region.line, region.column));
        let (corrected, mut lines) = fixed(&file, &text, &fixes);
        if write && corrected != text {
            replace(&file, &corrected)?;
        }
        lines.reverse();
        changes.extend(lines);
    }
    Ok(changes)
}

/// Returns the text of a file with its corrections, and the changed lines, last first.
fn fixed(file: &Path, text: &str, fixes: &[(&Region, &Fix)]) -> (String, Vec<AppliedFix>) {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut changes: Vec<AppliedFix> = Vec::new();
    for (region, fix) in fixes {
        let Some(line) = lines.get_mut(region.line as usize - 1) else {
            continue;
        };
        let Some(after) = replaced(line, region, fix) else {
            continue;
        };
        let shown = |line: &str| line.trim_end_matches(['\n', '\r']).to_owned();
        match changes.last_mut().filter(|last| last.line == region.line) {
            Some(last) => last.after = shown(&after),
            None => changes.push(AppliedFix {
                file: file.display().to_string(),
                line: region.line,
                before: shown(line),
                after: shown(&after),
            }),
        }
        *line = after;
    }
    (lines.concat(), changes)
}

/// Returns the line with the text replaced, if it occurs once in the region.
fn replaced(line: &str, region: &Region, fix: &Fix) -> Option<String> {
    // Only within one line the columns are those of the line.
    if region.line != region.end_line || fix.from.is_empty() || fix.to.contains(['\n', '"', '\'']) {
        return None;
    }
    let byte_at = |column: u32| {
        let mut starts = line.char_indices().map(|(at, _)| at);
        starts.nth(column as usize - 1).unwrap_or(line.len())
    };
    let (start, end) = (byte_at(region.column), byte_at(region.end_column));
    let inside = line.get(start..end)?;
    let mut found = inside.match_indices(&fix.from);
    let (at, _) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let at = start + at;
    Some(format!(
        "{}{}{}",
        &line[..at],
        fix.to,
        &line[at + fix.from.len()..]
    ))
}

/// Writes a file whole, or not at all.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let what = || format!("{} cannot be written", file.display());
    let target = fs::canonicalize(file).with_context(what)?;
    let directory = target.parent().unwrap_or(Path::new("."));
    let permissions = fs::metadata(&target).with_context(what)?.permissions();
    let temporary = tempfile::NamedTempFile::new_in(directory).with_context(what)?;
    fs::write(temporary.path(), text).with_context(what)?;
    fs::set_permissions(temporary.path(), permissions).with_context(what)?;
    temporary.persist(&target).with_context(what)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use workflow_core::diagnostic::{Excerpt, Region};

    fn region(line: u32, column: u32, end_column: u32) -> Region {
        Region {
            line,
            column,
            end_line: line,
            end_column,
            excerpt: Excerpt {
                text: String::new(),
                start: 0,
                end: 0,
            },
        }
    }

    fn fix(from: &str, to: &str) -> Fix {
        Fix {
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    #[test]
    fn two_corrections_in_one_line_are_both_made() {
        let text = "a: ['ä', 'rde', 'x']\nb\n";
        let (first, second) = (region(1, 10, 15), region(1, 17, 20));
        let (rde, x) = (fix("rde", "read"), fix("x", "y"));
        let (fixed, changes) = fixed(Path::new("f"), text, &[(&second, &x), (&first, &rde)]);
        assert_eq!(fixed, "a: ['ä', 'read', 'y']\nb\n");
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].after, "a: ['ä', 'read', 'y']");
    }

    #[test]
    fn a_text_that_occurs_twice_or_not_at_all_stays() {
        let twice = replaced("aa", &region(1, 1, 3), &fix("a", "b"));
        let nowhere = replaced("aa", &region(1, 1, 3), &fix("c", "b"));
        assert_eq!((twice, nowhere), (None, None));
    }
}
