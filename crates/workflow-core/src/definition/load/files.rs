//! The port through which definitions are read, and the paths that a definition may name.
//!
//! One function yields the path that is checked and opened (B25 to B28), in two steps that the types
//! keep together. Step one is here and pure: [`FilePath`] has no constructor that accepts a path
//! leaving its root. Step two is the implementation's: it opens the real path of a `FilePath`, and
//! only if that lies in the real root or in the real directory of the workflow itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::definition::model::SETTINGS_FILE;
use crate::definition::tier::{Root, Tier};

/// The files of definitions and settings: on a disk, or in memory.
pub trait Files {
    /// The entries of a workflows directory, in byte order of their names.
    ///
    /// One that does not exist has no entries. Plain files are not entries; a link to a
    /// directory is one like any other.
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem>;

    /// The bytes of a file, at most `max_bytes` of them.
    ///
    /// Only regular files are read. The file must really lie in its root, or in the
    /// directory of the same workflow, wherever links lead.
    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem>;

    /// The path of a file as it is shown to people.
    fn shown(&self, path: &FilePath) -> String;
}

/// An entry of a workflows directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierEntry {
    /// The name of a directory, which may be a workflow's: then it is the workflow's key. Of one that is skipped the part
    /// that can be shown.
    pub name: String,
    /// The reason for skipping it, if it cannot be used.
    pub problem: Option<FileProblem>,
}

/// The reason why a file or directory cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileProblem {
    /// There is no such file.
    #[error("does not exist")]
    Missing,
    /// A link leads out of the workflows directory.
    #[error("leads out of the workflows directory")]
    Escapes,
    /// It is a directory, a pipe or a device.
    #[error("is not a regular file")]
    NotAFile,
    /// It has more bytes than requested.
    #[error("is larger than {limit} bytes")]
    TooLarge {
        /// The requested number of bytes.
        limit: u32,
    },
    /// All files together exceed the limit.
    #[error("is not read: all files together have more than {limit} bytes")]
    TooMuch {
        /// The number of bytes that may be read.
        limit: u32,
    },
    /// Its name is not UTF-8.
    #[error("has a name that is not UTF-8")]
    NameNotUtf8,
    /// The system refuses.
    #[error("cannot be read: {0}")]
    #[serde(untagged)]
    Unreadable(
        /// The system's reason.
        String,
    ),
}

/// A file under a root that it cannot leave by its spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath {
    root: Root,
    /// The workflow's directory; `None` is the settings file.
    directory: Option<String>,
    /// From the root, with `/` between its parts.
    relative: String,
}

impl FilePath {
    /// The settings file of a tier; its root contains the workflows directory.
    pub fn settings(tier: Tier) -> Self {
        Self {
            root: tier.into(),
            directory: None,
            relative: SETTINGS_FILE.to_owned(),
        }
    }

    /// A workflows directory.
    pub fn workflows(root: impl Into<Root>) -> Self {
        Self::entry(root, "")
    }

    /// An entry of a workflows directory.
    pub fn entry(root: impl Into<Root>, name: &str) -> Self {
        Self {
            root: root.into(),
            directory: Some(name.to_owned()),
            relative: name.to_owned(),
        }
    }

    /// A file right in a workflow's directory, by a name that means nothing else.
    pub fn definition(root: impl Into<Root>, directory: &str, name: &str) -> Self {
        Self {
            root: root.into(),
            directory: Some(directory.to_owned()),
            relative: [directory, "/", name].concat(),
        }
    }

    /// A file named as an entry of a workflow names it: relative to the workflow's directory, under the root.
    ///
    /// Else what is wrong with the path, before any file is looked for.
    pub fn in_workflow(
        root: impl Into<Root>,
        directory: &str,
        entry: &str,
    ) -> Result<Self, &'static str> {
        let mut parts = vec![directory];
        for part in entry_parts(entry)? {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(ESCAPES)?;
                }
                part => parts.push(part),
            }
        }
        // What is left must name something in the root; `..` may have used up even the directory.
        if parts.is_empty() {
            return Err(ESCAPES);
        }
        Ok(Self {
            root: root.into(),
            directory: Some(directory.to_owned()),
            relative: parts.join("/"),
        })
    }

    /// The workflows directory at which the path starts, or beside which the settings file is.
    pub fn root(&self) -> Root {
        self.root
    }

    /// Whose file it is.
    pub fn tier(&self) -> Tier {
        self.root.tier()
    }

    /// The workflow's directory in the workflows directory; `None` is the settings file.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The path from the root, with `/` between its parts and without `.` and `..`.
    pub fn relative(&self) -> &str {
        &self.relative
    }
}

const ESCAPES: &str = "leads out of the workflows directory";

/// The parts of a path in a definition, if it means the same on every system.
fn entry_parts(entry: &str) -> Result<std::str::Split<'_, char>, &'static str> {
    let drive = entry.as_bytes().get(1) == Some(&b':') && entry.as_bytes()[0].is_ascii_alphabetic();
    if entry.starts_with(['/', '\\']) || drive {
        return Err("is absolute");
    }
    if entry.contains(['\\', '\0']) {
        return Err("has a character that is not allowed in a path");
    }
    if entry.is_empty() || entry.ends_with('/') {
        return Err("names no file");
    }
    Ok(entry.split('/'))
}

/// Definitions in memory, for tests and for replaying a session.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles {
    /// By their paths as they are shown.
    files: BTreeMap<String, Vec<u8>>,
}

impl MemoryFiles {
    /// No files at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same files and one more, named from the workflows directory: `bugfix/workflow.yaml`.
    #[must_use]
    pub fn with(self, root: impl Into<Root>, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.and(&FilePath::entry(root, path), content)
    }

    /// The same files and a settings file.
    #[must_use]
    pub fn with_settings(self, tier: Tier, content: impl Into<Vec<u8>>) -> Self {
        self.and(&FilePath::settings(tier), content)
    }

    fn and(mut self, path: &FilePath, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(self.shown(path), content.into());
        self
    }
}

impl Files for MemoryFiles {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        let root = self.shown(&FilePath::workflows(root));
        let paths = self.files.keys();
        let inside = paths.filter_map(|path| path.strip_prefix(&root)?.split_once('/'));
        let names: BTreeSet<&str> = inside.map(|(directory, _)| directory).collect();
        let entries = names.into_iter().map(|name| TierEntry {
            name: name.to_owned(),
            problem: None,
        });
        Ok(entries.collect())
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let bytes = self.files.get(&self.shown(path));
        let bytes = bytes.ok_or(FileProblem::Missing)?;
        if bytes.len() > max_bytes as usize {
            return Err(FileProblem::TooLarge { limit: max_bytes });
        }
        Ok(bytes.clone())
    }

    fn shown(&self, path: &FilePath) -> String {
        let root = match path.root() {
            Root::User => "~/.pi/agent",
            Root::Agents => ".agents",
            Root::Project => ".pi",
        };
        match path.directory() {
            None => format!("{root}/{}", path.relative()),
            Some(_) => format!("{root}/workflows/{}", path.relative()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(entry: &str) -> Result<String, &'static str> {
        FilePath::in_workflow(Tier::Project, "w", entry).map(|path| path.relative)
    }

    #[test]
    fn a_path_may_lie_anywhere_under_the_root() {
        assert_eq!(relative("a.md").unwrap(), "w/a.md");
        assert_eq!(relative("./sub//a.md").unwrap(), "w/sub/a.md");
        assert_eq!(relative("../_shared/a.md").unwrap(), "_shared/a.md");
        assert_eq!(relative("../a.md").unwrap(), "a.md");
        assert_eq!(relative("x/../../w/a.md").unwrap(), "w/a.md");
    }

    #[test]
    fn a_path_out_of_the_root_is_refused() {
        assert_eq!(relative("../../a.md"), Err(ESCAPES));
        assert_eq!(relative("../.."), Err(ESCAPES));
        assert_eq!(relative(".."), Err(ESCAPES));
        assert_eq!(relative("../../w/a.md"), Err(ESCAPES));
    }

    #[test]
    fn an_absolute_path_is_refused_even_inside_the_root() {
        assert_eq!(relative("/../../../../root/w/a.md"), Err("is absolute"));
        assert_eq!(relative("/w/a.md"), Err("is absolute"));
        assert_eq!(relative("C:/w/a.md"), Err("is absolute"));
        assert_eq!(relative("c:a.md"), Err("is absolute"));
        assert_eq!(relative("\\\\server\\a.md"), Err("is absolute"));
    }

    #[test]
    fn a_path_must_mean_the_same_everywhere_and_name_a_file() {
        assert_eq!(
            relative("..\\..\\a.md"),
            Err("has a character that is not allowed in a path")
        );
        assert_eq!(
            relative("a\0.md"),
            Err("has a character that is not allowed in a path")
        );
        assert_eq!(relative(""), Err("names no file"));
        assert_eq!(relative("sub/"), Err("names no file"));
    }
}
