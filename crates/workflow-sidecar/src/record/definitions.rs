//! Directories of definitions in a transcript.
//!
//! Decides the names of files in a definitions line, and how a file is written that is not text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use workflow_core::definition::{FilePath, FileProblem, Root, SETTINGS_FILE, TierEntry};

/// The project itself, seen from the directory of its definitions. It has a problem if there is no project.
pub(super) const PROJECT: &str = "..";

/// The beginning of the paths of all workflows in a directory.
fn workflows(root: Root) -> &'static str {
    match root {
        Root::Agents => "../.agents/workflows/",
        Root::User | Root::Project => "workflows/",
    }
}

/// The value of a `definitions` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum DefinitionsLine {
    /// A directory beside the transcript, for the host's `$AGENT` and `$CWD`.
    Named(String),
    /// The content of directories from here on, each by its name: an agent directory as the host named it,
    /// or a project's `<cwd>/.pi`.
    Embedded(BTreeMap<String, RecordedDirectory>),
}

/// The content of a directory of definitions: settings and workflows, by their paths from it.
///
/// The path of a directory without any file ends in `/`. A project that does not exist is `..` with a problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RecordedDirectory(pub(crate) BTreeMap<String, FileContent>);

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum FileContent {
    /// Its text.
    Text(String),
    /// Its bytes, which are not UTF-8.
    Bytes { bytes: Vec<u8> },
    /// The reason why it cannot be read, or why a directory is not searched.
    Unreadable { problem: FileProblem },
    /// A directory without files.
    Empty(()),
}

impl FileContent {
    /// The content of a file with this problem.
    pub(crate) fn problem(problem: &FileProblem) -> Self {
        Self::Unreadable {
            problem: problem.clone(),
        }
    }

    /// The bytes of a file, or its problem.
    fn read(&self, limit: u32) -> Result<&[u8], FileProblem> {
        let bytes = match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes { bytes } => bytes,
            Self::Unreadable { problem } => return Err(problem.clone()),
            Self::Empty(()) => return Err(FileProblem::NotAFile),
        };
        if bytes.len() > limit as usize {
            return Err(FileProblem::TooLarge { limit });
        }
        Ok(bytes)
    }
}

impl RecordedDirectory {
    /// The name that a file has here.
    pub(crate) fn name_of(path: &FilePath) -> String {
        match path.directory() {
            None => SETTINGS_FILE.to_owned(),
            Some(_) => format!("{}{}", workflows(path.root()), path.relative()),
        }
    }

    /// The bytes of a file.
    pub(crate) fn read(&self, path: &FilePath, limit: u32) -> Result<&[u8], FileProblem> {
        let content = self.0.get(&Self::name_of(path));
        content.ok_or(FileProblem::Missing)?.read(limit)
    }

    /// The entries of a workflows directory, in byte order of their names.
    pub(crate) fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        if let Some(FileContent::Unreadable { problem }) = self.0.get(workflows(root)) {
            return Err(problem.clone());
        }
        let entries = self.0.iter().filter_map(|(path, content)| {
            let (name, file) = path.strip_prefix(workflows(root))?.split_once('/')?;
            let problem = match content {
                FileContent::Unreadable { problem } if file.is_empty() => Some(problem.clone()),
                _ => None,
            };
            let entry = TierEntry {
                name: name.to_owned(),
                problem,
            };
            Some((name, entry))
        });
        Ok(entries.collect::<BTreeMap<_, _>>().into_values().collect())
    }

    /// Notes the entries of a workflows directory, or why it cannot be read. Its files are noted when they are read.
    pub(crate) fn note_entries(
        &mut self,
        root: Root,
        entries: &Result<Vec<TierEntry>, FileProblem>,
    ) {
        let workflows = workflows(root);
        if let Err(problem) = entries {
            let closed = FileContent::problem(problem);
            self.0.insert(workflows.to_owned(), closed);
        }
        for TierEntry { name, problem } in entries.iter().flatten() {
            let problem = problem.as_ref().map(FileContent::problem);
            let content = problem.unwrap_or(FileContent::Empty(()));
            self.0.insert(format!("{workflows}{name}/"), content);
        }
    }

    /// Notes what was read of a file. A file that does not exist is not in the directory.
    pub(crate) fn note_file(&mut self, path: &FilePath, read: &Result<Vec<u8>, FileProblem>) {
        let content = match read {
            Ok(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => FileContent::Text(text.to_owned()),
                Err(_) => FileContent::Bytes {
                    bytes: bytes.clone(),
                },
            },
            Err(FileProblem::Missing) => return,
            Err(problem) => FileContent::problem(problem),
        };
        self.0.insert(Self::name_of(path), content);
    }

    /// Removes the entries of directories that have files.
    pub(crate) fn tidy(&mut self) {
        let names: Vec<String> = self.0.keys().cloned().collect();
        for (name, next) in names.iter().zip(names.iter().skip(1)) {
            if next.starts_with(name) && self.0[name] == FileContent::Empty(()) {
                self.0.remove(name);
            }
        }
    }
}

/// The name of the directory of a project's definitions, the same on every system.
pub(super) fn project_name(cwd: &str) -> String {
    match cwd.chars().last() {
        None | Some('/' | '\\') => format!("{cwd}.pi"),
        Some(_) => format!("{cwd}/.pi"),
    }
}

#[cfg(test)]
mod tests {
    use workflow_core::definition::Tier;

    use super::*;

    fn directory(json: &str) -> RecordedDirectory {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn files_are_found_under_the_names_that_definitions_give_them() {
        let found = directory(r#"{"workflow-sidecar.json5":"{}","workflows/w/a.md":"A"}"#);
        let read = |path: &FilePath| found.read(path, 1).map(<[u8]>::to_vec);
        let inside = |entry| FilePath::in_workflow(Tier::Project, "w", entry).unwrap();
        assert_eq!(read(&inside("a.md")), Ok(b"A".to_vec()));
        assert_eq!(read(&inside("b.md")), Err(FileProblem::Missing));
        let settings = FilePath::settings(Tier::Global);
        assert_eq!(read(&settings), Err(FileProblem::TooLarge { limit: 1 }));
    }

    #[test]
    fn entries_are_directories_with_files_and_noted_directories() {
        let found = directory(
            r#"{"workflows/a.md":"","workflows/b/x/y.md":"","workflows/c/":null,
                "workflows/d/":{"problem":"missing"},"workflow-sidecar.json5":""}"#,
        );
        let missing = Some(FileProblem::Missing);
        let entries = [("b", None), ("c", None), ("d", missing)].map(|(name, problem)| TierEntry {
            name: name.to_owned(),
            problem,
        });
        assert_eq!(found.entries(Root::Project), Ok(entries.to_vec()));
        assert_eq!(found.entries(Root::Agents), Ok(Vec::new()));
        let closed = directory(r#"{"workflows/":{"problem":"No way"}}"#);
        let problem = FileProblem::Unreadable("No way".to_owned());
        assert_eq!(closed.entries(Root::Project), Err(problem));
    }

    #[test]
    fn content_that_is_not_text_is_read_as_it_was_written() {
        for content in [
            FileContent::Bytes {
                bytes: b"\xff\x00a".to_vec(),
            },
            FileContent::Text("é".to_owned()),
            FileContent::problem(&FileProblem::Escapes),
            FileContent::problem(&FileProblem::TooLarge { limit: 5 }),
            FileContent::problem(&FileProblem::Unreadable("Permission denied".to_owned())),
            FileContent::Empty(()),
        ] {
            let json = serde_json::to_string(&content).unwrap();
            assert_eq!(
                serde_json::from_str::<FileContent>(&json).unwrap(),
                content,
                "{json}"
            );
        }
        assert!(serde_json::from_str::<FileContent>(r#"{"bytes":"0"}"#).is_err());
        assert!(serde_json::from_str::<FileContent>(r#"{"bytes":[256]}"#).is_err());
    }
}
