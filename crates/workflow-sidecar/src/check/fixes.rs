//! Corrections of definitions: replacements of texts at the locations of diagnostics, and names of files.
//!
//! Each is made on its own, and checked before the next. One that leaves its problem, or adds another, is taken back. The
//! files are written at the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use workflow_core::diagnostic::{Code, Diagnostic, Fix, Location, Region, shown, visible};

use super::CheckReport;
use crate::files::write_atomically;
use crate::platform::paths::lexical;

/// Changes of files, by their full paths.
pub(crate) type Edits = BTreeMap<PathBuf, Edit>;

/// A change of a file.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    /// It has this content.
    Text(String),
    /// It has this path instead.
    Renamed(PathBuf),
}

/// Corrections that are tried at most.
const MAX_TRIED: usize = 500;

/// Corrections that hold, and what is left.
pub(crate) struct Corrected {
    /// Each replaced line of a file, or its name, as it is shown.
    pub(crate) changes: Vec<String>,
    pub(crate) report: CheckReport,
    edits: Edits,
}

/// Corrects what a check finds. `check` checks files with edits; `here` is the working directory.
pub(crate) fn correct(
    here: &Path,
    check: impl Fn(&Edits) -> anyhow::Result<CheckReport>,
) -> anyhow::Result<Corrected> {
    let mut corrected = Corrected {
        changes: Vec::new(),
        report: check(&Edits::new())?,
        edits: Edits::new(),
    };
    let mut tried: Vec<(Option<Location>, Option<Fix>)> = Vec::new();
    while tried.len() < MAX_TRIED {
        let is_new = |found: &&Diagnostic| {
            let is_it = |(location, fix): &(_, _)| (location, fix) == (&found.location, &found.fix);
            found.fix.is_some() && !tried.iter().any(is_it)
        };
        let Some(found) = corrected.report.diagnostics.iter().find(is_new) else {
            break;
        };
        tried.push((found.location.clone(), found.fix.clone()));
        let Some((edits, change)) = edited(here, &corrected.edits, found)? else {
            continue;
        };
        let report = check(&edits)?;
        if is_better(found, &corrected.report, &report) {
            corrected.changes.push(change);
            corrected.edits = edits;
            corrected.report = report;
        }
    }
    Ok(corrected)
}

impl Corrected {
    /// Writes the files.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        for (file, edit) in &self.edits {
            if let Edit::Renamed(to) = edit {
                let what = || format!("{} cannot be renamed", file.display());
                fs::rename(file, to).with_context(what)?;
            }
        }
        for (file, edit) in &self.edits {
            if let Edit::Text(text) = edit
                && fs::read_to_string(file).ok().as_ref() != Some(text)
            {
                let what = || format!("{} cannot be written", file.display());
                write_atomically(file, text).with_context(what)?;
            }
        }
        Ok(())
    }
}

/// A problem, wherever it is in its file.
fn problem(found: &Diagnostic) -> (Option<&str>, Code, &str) {
    let location = found.location.as_ref();
    let file = location.map(|location| &*location.file);
    (file, found.code, &found.message)
}

/// Returns whether a correction removed its problem, and added none but what the problem hid: lighter ones, those that can be
/// corrected in turn, and those of a file that could not be read.
fn is_better(corrected: &Diagnostic, before: &CheckReport, after: &CheckReport) -> bool {
    let number = |report: &CheckReport, found| {
        let same = |other: &&Diagnostic| problem(other) == problem(found);
        report.diagnostics.iter().filter(same).count()
    };
    let is_gone = number(after, corrected) < number(before, corrected);
    let was_unread = matches!(
        corrected.code,
        Code::Syntax | Code::MisnamedDefinition | Code::MissingFile
    );
    let is_hidden = |found: &Diagnostic| {
        found.severity < corrected.severity
            || found.fix.is_some()
            || was_unread && found.code != Code::Syntax
    };
    let mut others = after.diagnostics.iter().filter(|found| !is_hidden(found));
    is_gone && others.all(|found| number(after, found) <= number(before, found))
}

/// Returns the edits with one more correction, and what it changes; `None` if it does not apply.
fn edited(
    here: &Path,
    edits: &Edits,
    found: &Diagnostic,
) -> anyhow::Result<Option<(Edits, String)>> {
    let (Some(location), Some(fix)) = (&found.location, &found.fix) else {
        return Ok(None);
    };
    let file = lexical(&here.join(&*location.file));
    let text = match edits.get(&file) {
        Some(Edit::Text(text)) => text.clone(),
        Some(Edit::Renamed(_)) => return Ok(None),
        None => fs::read_to_string(&file)
            .with_context(|| format!("{} cannot be read", file.display()))?,
    };
    let mut edits = edits.clone();
    let place = shown(&location.file);
    let Some(region) = &location.region else {
        let renamed = file.with_file_name(&fix.to);
        if renamed.exists() || !file.ends_with(&fix.from) {
            return Ok(None);
        }
        edits.insert(file, Edit::Renamed(renamed.clone()));
        edits.insert(renamed, Edit::Text(text));
        return Ok(Some((edits, change(&place, &fix.from, &fix.to))));
    };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(line) = lines.get_mut(region.line as usize - 1) else {
        return Ok(None);
    };
    let Some(after) = replaced(line, region, fix) else {
        return Ok(None);
    };
    let without_end = |line: &str| line.trim_end_matches(['\n', '\r']).to_owned();
    let place = format!("{place}:{}", region.line);
    let change = change(&place, &without_end(line), &without_end(&after));
    *line = &after;
    edits.insert(file, Edit::Text(lines.concat()));
    Ok(Some((edits, change)))
}

/// A line or a name before and after.
fn change(place: &str, before: &str, after: &str) -> String {
    format!("{place}\n- {}\n+ {}", visible(before), visible(after))
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
    fn a_text_that_occurs_twice_or_not_at_all_stays() {
        let twice = replaced("aa", &region(1, 1, 3), &fix("a", "b"));
        let nowhere = replaced("aa", &region(1, 1, 3), &fix("c", "b"));
        assert_eq!((twice, nowhere), (None, None));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_with_another_name_is_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let [kept, from, to] = ["kept", "a.yml", "a.yaml"].map(|name| directory.path().join(name));
        fs::write(&kept, "text").unwrap();
        std::os::unix::fs::symlink(&kept, &from).unwrap();
        let edits = [
            (from.clone(), Edit::Renamed(to.clone())),
            (to.clone(), Edit::Text("text".to_owned())),
        ];
        let corrected = Corrected {
            changes: Vec::new(),
            report: CheckReport::default(),
            edits: edits.into(),
        };
        corrected.write().unwrap();
        assert!(fs::read_link(&to).is_ok_and(|target| target == kept) && !from.exists());
    }
}
