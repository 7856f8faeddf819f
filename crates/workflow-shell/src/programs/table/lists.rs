//! The files of the tables: entries with continuation lines, lists of names, and lists in parentheses.

include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// Names, the shorter ones first: most are told apart by their lengths.
#[derive(Clone, Copy)]
pub(crate) struct List(&'static [&'static str]);

impl List {
    /// Returns a list of `names.txt` or `variables.txt`; an empty one if there is none of this name.
    pub(crate) fn named(name: &str) -> Self {
        let index = find(LISTS, name, |(name, _)| name);
        Self(index.map_or(&[], |index| LISTS[index].1))
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }

    pub(crate) fn has(self, name: &str) -> bool {
        find(self.0, name, |name| name).is_some()
    }
}

/// Returns the index of a name in a table with the shorter names first.
pub(super) fn find<'t, T>(
    table: &'t [T],
    name: &str,
    of: impl Fn(&'t T) -> &'t str,
) -> Option<usize> {
    let key = |row| {
        let name = of(row);
        (name.len(), name)
    };
    table.binary_search_by_key(&(name.len(), name), key).ok()
}

/// Returns whether a list of `names.txt` has a name.
pub(crate) fn is_listed(list: &str, name: &str) -> bool {
    List::named(list).has(name)
}

/// A row or a list, with its continuation lines.
pub(super) struct Entry {
    pub(super) head: &'static str,
    pub(super) has_colon: bool,
    /// The lines with its items.
    lines: Vec<&'static str>,
}

impl Entry {
    pub(super) fn items(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.lines.iter();
        lines.flat_map(|line| line.split_ascii_whitespace())
    }
}

/// Returns the entries of a file with the numbers of their lines.
pub(super) fn entries(text: &'static str) -> Vec<(usize, Entry)> {
    let mut entries: Vec<(usize, Entry)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if line.starts_with(' ') {
            if let Some((_, entry)) = entries.last_mut() {
                entry.lines.push(line);
            }
            continue;
        }
        let separator = if line.starts_with('@') { " = " } else { ": " };
        let (head, items) = match line.split_once(separator) {
            Some((head, items)) => (head, Some(items)),
            None => match line.strip_suffix(separator.trim_end()) {
                Some(head) => (head, Some("")),
                None => (line, None),
            },
        };
        let entry = Entry {
            head: head.trim(),
            has_colon: items.is_some(),
            lines: vec![items.unwrap_or_default()],
        };
        entries.push((index + 1, entry));
    }
    entries
}

/// Returns whether a text starts or ends as a pattern says: `LC_*`, `*_OPTIONS`.
pub(super) fn is_like(pattern: &str, text: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => text.starts_with(start),
        (None, Some(end)) => text.ends_with(end),
        (None, None) => false,
    }
}

/// Parses `(a|b)`.
pub(super) fn alternatives(text: &'static str) -> Option<Vec<&'static str>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    Some(inside.split('|').collect())
}
