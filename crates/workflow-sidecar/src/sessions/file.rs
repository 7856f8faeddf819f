//! Session files of pi: the entries of the current branch.
//!
//! One JSON object per line, linked to a tree by `id` and `parentId`; the last entry is the current one. A line
//! that cannot be read is skipped and counted. The meaning of our entries is not known here.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::event::Entry;
use workflow_core::text_or_none;
use workflow_protocol::Text;

/// A parsed session file.
pub(crate) struct SessionFile<'a> {
    /// The session's working directory.
    pub(crate) cwd: Option<Text<'a>>,
    /// The entries from the root to the current one.
    pub(crate) entries: Vec<SessionEntry<'a>>,
    /// The number of entries on other branches.
    pub(crate) on_other_branches: usize,
    /// The number of lines that could not be read.
    pub(crate) skipped: usize,
}

/// The used fields of a line of a session file.
#[serde_with::apply(
    Option<Text> => #[serde(borrow, default, deserialize_with = "text_or_none")],
    Option<&RawValue> => #[serde(borrow)],
)]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionEntry<'a> {
    /// The kind of entry: `message`, `custom`, `custom_message`, …
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    id: Option<Text<'a>>,
    parent_id: Option<Text<'a>>,
    timestamp: Option<Text<'a>>,
    cwd: Option<Text<'a>>,
    /// The owner of a `custom` or `custom_message` entry.
    pub(crate) custom_type: Option<Text<'a>>,
    /// The data of a `custom` entry.
    pub(crate) data: Option<&'a RawValue>,
    /// The content of a `custom_message`.
    pub(crate) content: Option<&'a RawValue>,
    /// The message of a `message` entry.
    pub(crate) message: Option<&'a RawValue>,
}

/// Reads a file, with its path in the error.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    ensure!(!path.is_dir(), "{shown} is a directory: name a file in it");
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Returns true if the first line is that of a session file.
pub(crate) fn is_session(bytes: &[u8]) -> bool {
    let first = lines(bytes)
        .next()
        .and_then(|line| serde_json::from_slice::<SessionEntry<'_>>(line).ok());
    first.is_some_and(|first| &*first.kind == "session")
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}

impl<'a> SessionFile<'a> {
    /// Parses a file. It never fails: see the module's documentation.
    pub(crate) fn parse(bytes: &'a [u8]) -> Self {
        let mut read = Vec::new();
        let (mut cwd, mut skipped) = (None, 0);
        for line in lines(bytes) {
            match serde_json::from_slice::<SessionEntry<'_>>(line) {
                Ok(entry) if &*entry.kind == "session" => cwd = entry.cwd,
                Ok(entry) => read.push(entry),
                Err(_) => skipped += 1,
            }
        }
        let all = read.len();
        let entries = branch(read);
        Self {
            cwd,
            on_other_branches: all - entries.len(),
            entries,
            skipped,
        }
    }

    /// Returns our entries on the branch, for the engine.
    pub(crate) fn ours(&self) -> Vec<Entry<'_>> {
        self.entries.iter().filter_map(SessionEntry::ours).collect()
    }
}

/// Returns the entries from the root to the last one. The first versions of the format had no ids: there every
/// entry belongs to the branch.
fn branch(entries: Vec<SessionEntry<'_>>) -> Vec<SessionEntry<'_>> {
    if entries.last().is_none_or(|last| last.id.is_none()) {
        return entries;
    }
    let by_id: HashMap<&str, usize> = entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| Some((entry.id.as_deref()?, at)))
        .collect();
    let mut on_branch = HashSet::new();
    let mut at = entries.len().checked_sub(1);
    // Ends at a parent that was visited already: the links may form a cycle.
    while let Some(found) = at.filter(|at| on_branch.insert(*at)) {
        let parent = entries[found].parent_id.as_deref();
        at = parent.and_then(|parent| by_id.get(parent).copied());
    }
    let indexed = entries.into_iter().enumerate();
    indexed
        .filter_map(|(at, entry)| on_branch.contains(&at).then_some(entry))
        .collect()
}

impl SessionEntry<'_> {
    /// Returns the entry for the engine, if it is one of ours.
    pub(crate) fn ours(&self) -> Option<Entry<'_>> {
        let custom_type = self.custom_type.as_deref();
        let custom_type = custom_type.filter(|_| &*self.kind == "custom")?;
        custom_type.starts_with("workflow:").then_some(Entry {
            custom_type,
            data: self.data,
        })
    }

    /// Returns when it was written, in milliseconds since 1970, if its timestamp can be parsed.
    pub(crate) fn at(&self) -> Option<i64> {
        let moment: jiff::Timestamp = self.timestamp.as_deref()?.parse().ok()?;
        Some(moment.as_millisecond())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> (Vec<String>, usize, usize) {
        let file = SessionFile::parse(text.as_bytes());
        let kinds = file
            .entries
            .iter()
            .map(|entry| entry.kind.to_string())
            .collect();
        (kinds, file.on_other_branches, file.skipped)
    }

    #[test]
    fn only_the_branch_that_leads_to_the_last_entry_counts() {
        let text = r#"{"type":"session","version":3,"cwd":"/p"}
            {"type":"a","id":"1","parentId":null}
            {"type":"b","id":"2","parentId":"1"}
            {"type":"c","id":"3","parentId":"1"}
            {"type":"d","id":"4","parentId":"3"}"#;
        assert_eq!(
            kinds(text),
            (vec!["a".into(), "c".into(), "d".into()], 1, 0)
        );
        assert!(is_session(text.as_bytes()));
    }

    #[test]
    fn entries_without_ids_all_count() {
        assert_eq!(kinds("{\"type\":\"a\"}\n{\"type\":\"b\"}").0.len(), 2);
    }

    #[test]
    fn a_line_that_is_not_an_entry_is_skipped_and_counted() {
        let deep = "[".repeat(100_000);
        let text = format!(
            "nope\n{{}}\n{{\"type\":7}}\n{deep}\n{{\"type\":\"a\",\"id\":\"1\",\"parentId\":\"1\"}}\n{{\"type\":\"b\",\"id\":\"2\",\"par"
        );
        assert_eq!(kinds(&text), (vec!["a".into()], 0, 5));
        assert_eq!(kinds("").0.len(), 0);
        assert_eq!(SessionFile::parse(b"\xff\xfe{\"type\"").skipped, 1);
        let odd = kinds("{\"type\":\"custom\",\"customType\":7,\"timestamp\":1,\"id\":{}}");
        assert_eq!(odd.0.len(), 1);
    }

    #[test]
    fn a_timestamp_is_parsed() {
        let file = SessionFile::parse(b"{\"type\":\"a\",\"timestamp\":\"2026-11-20T16:11:43.388Z\"}\n{\"type\":\"b\",\"timestamp\":\"soon\"}");
        let at: Vec<_> = file.entries.iter().map(SessionEntry::at).collect();
        assert_eq!(at, [Some(1_795_191_103_388), None]);
    }
}
