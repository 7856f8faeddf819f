//! Where a path leads: what rules must know of the world, as a port.

use std::borrow::Cow;
use std::fmt;

/// Tells where paths lead. The process answers from its file system.
pub trait Paths: fmt::Debug {
    /// The ways to write where a path leads: as it is written, and as it is with links followed.
    fn forms(&self, path: &str) -> Vec<PathForm>;

    /// Whether names that differ only in case are the same file.
    fn ignores_case(&self) -> bool;

    /// Whether the user's answers are kept there: approvals, and trust.
    fn holds_answers(&self, _form: &PathForm) -> bool {
        false
    }
}

/// A path of a shell line, for tools of the hosts: to those a leading `@` is no part of the name.
pub(super) fn of_shell(path: &str) -> Cow<'_, str> {
    if path.starts_with('@') {
        Cow::Owned(format!("./{path}"))
    } else {
        Cow::Borrowed(path)
    }
}

/// One way to write where a path leads, without `.` and `..`, with `/` between its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathForm {
    /// From the root of the file system.
    pub absolute: String,
    /// From the project, if it lies there; the project itself is empty.
    pub in_project: Option<String>,
    /// From the home directory, if it lies there.
    pub in_home: Option<String>,
}

/// Paths of a project at `/project` and a home at `/home` in which nothing is a link, with the user's own
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
}
