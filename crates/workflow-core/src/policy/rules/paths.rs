//! Paths as rules compare them, and the interface to the file system.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::definition::SETTINGS_FILE;

/// Resolution of paths. The process implements it with its file system.
pub trait Paths: fmt::Debug {
    /// Returns the forms of a path: as it is written, and with links resolved.
    fn forms(&self, path: &str) -> Vec<PathForm>;

    /// Returns whether names that differ only in case are the same file.
    fn ignores_case(&self) -> bool;

    /// Returns whether the user's decisions are stored at the path: approvals and trust.
    fn holds_answers(&self, _form: &PathForm) -> bool {
        false
    }

    /// Returns the absolute forms of the files and directories that decide which guards hold: definitions, settings, the
    /// session's file, the host's hooks.
    fn protected(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The files and directories with definitions and settings, in the project and in the user's directory.
pub fn definition_paths(project: &str, agent_dir: &str) -> Vec<String> {
    let directories = [format!("{project}/.pi"), agent_dir.to_owned()];
    let files =
        |directory: &String| ["workflows", SETTINGS_FILE].map(|name| format!("{directory}/{name}"));
    let of_agents = format!("{project}/.agents/workflows");
    let files = directories.iter().flat_map(files);
    files.chain([of_agents]).collect()
}

/// Returns a path of a shell line in the syntax of the hosts' tools, which ignore a leading `@`.
pub(super) fn of_shell(path: &str) -> Cow<'_, str> {
    if path.starts_with('@') {
        Cow::Owned(format!("./{path}"))
    } else {
        Cow::Borrowed(path)
    }
}

/// A form of a path, without `.` and `..`, with `/` between its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathForm {
    /// The path relative to the root of the file system.
    pub absolute: String,
    /// The path relative to the project, if it is inside; empty for the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_project: Option<String>,
}

/// Paths as they are written, without a disk: there are no links.
#[derive(Debug)]
pub struct WrittenPaths {
    agent_dir: String,
    session_file: Option<String>,
    project: Vec<String>,
    home: Vec<String>,
    answers: Vec<String>,
}

/// Paths of a project at `/project` and a home directory at `/home`, with the user's directory in `.pi/agent`: for tests and
/// dry runs.
pub static PLAIN_PATHS: LazyLock<WrittenPaths> = LazyLock::new(|| {
    let session_file = "/home/.pi/agent/sessions/session.jsonl".to_owned();
    WrittenPaths::new("/project", "/home/.pi/agent", "/home", Some(session_file))
});

impl WrittenPaths {
    /// Creates paths relative to a working directory, with a home directory and the file that the session is stored in.
    pub fn new(cwd: &str, agent_dir: &str, home: &str, session_file: Option<String>) -> Self {
        let parts = |path| written_parts(Vec::new(), path);
        Self {
            agent_dir: agent_dir.to_owned(),
            session_file,
            project: parts(cwd),
            home: parts(home),
            answers: parts(&format!("{agent_dir}/workflow-sidecar")),
        }
    }
}

impl Paths for WrittenPaths {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let path = normalized_path(path);
        let parts = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                written_parts(self.home.clone(), rest)
            }
            _ if path.starts_with('/') => written_parts(Vec::new(), &path),
            _ => written_parts(self.project.clone(), &path),
        };
        let root = Some(&*self.project).filter(|root| !root.is_empty());
        let inside = root.and_then(|root| parts.strip_prefix(root));
        vec![PathForm {
            absolute: format!("/{}", parts.join("/")),
            in_project: inside.map(|inside| inside.join("/")),
        }]
    }

    fn ignores_case(&self) -> bool {
        false
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        written_parts(Vec::new(), &form.absolute).starts_with(&self.answers)
    }

    fn protected(&self) -> Vec<String> {
        let project = format!("/{}", self.project.join("/"));
        let mut paths = definition_paths(&project, &self.agent_dir);
        paths.extend(self.session_file.clone());
        let forms = paths.iter().flat_map(|path| self.forms(path));
        forms.map(|form| form.absolute).collect()
    }
}

/// Returns the parts of a path from a directory, without `.` and `..`.
fn written_parts(mut parts: Vec<String>, path: &str) -> Vec<String> {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

/// Returns a path after the substitutions of the hosts' tools (pi: a leading `@` is dropped, Unicode spaces are spaces).
pub fn normalized_path(path: &str) -> String {
    let path = path.strip_prefix('@').unwrap_or(path);
    let is_space = |c: char| {
        matches!(
            c,
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
    };
    path.replace(is_space, " ")
}
