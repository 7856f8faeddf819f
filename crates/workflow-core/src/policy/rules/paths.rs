//! Paths as rules compare them, and the interface to the file system.

use std::borrow::Cow;
use std::fmt;

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

    /// Returns the files and directories that decide which guards hold: definitions, settings, the session's file, the
    /// host's hooks.
    fn protected(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The files and directories with definitions and settings, in the project and in the user's directory.
#[must_use]
pub fn definition_paths(project: &str, agent_dir: &str) -> Vec<String> {
    let directories = [format!("{project}/.pi"), agent_dir.to_owned()];
    let files =
        |directory: &String| ["workflows", SETTINGS_FILE].map(|name| format!("{directory}/{name}"));
    directories.iter().flat_map(files).collect()
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathForm {
    /// The path relative to the root of the file system.
    pub absolute: String,
    /// The path relative to the project, if it is inside; empty for the project itself.
    pub in_project: Option<String>,
    /// The path relative to the home directory, if it is inside.
    pub in_home: Option<String>,
}

/// Paths without links, with the project at `/project`, the home directory at `/home` and the user's
/// directory in `.pi/agent`: for tests and dry runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainPaths;

impl Paths for PlainPaths {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let path = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("/home{rest}"),
            _ if path.starts_with('/') => path.to_owned(),
            _ => format!("/project/{path}"),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let below = |root: &str| (parts.first() == Some(&root)).then(|| parts[1..].join("/"));
        vec![PathForm {
            absolute: format!("/{}", parts.join("/")),
            in_project: below("project"),
            in_home: below("home"),
        }]
    }

    fn ignores_case(&self) -> bool {
        false
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let inside = |path: &String| {
            path.strip_prefix(".pi/agent/workflow-sidecar")
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        form.in_home.as_ref().is_some_and(inside)
    }

    fn protected(&self) -> Vec<String> {
        let mut paths = definition_paths("/project", "/home/.pi/agent");
        paths.push("/home/.pi/agent/sessions/session.jsonl".to_owned());
        paths
    }
}
