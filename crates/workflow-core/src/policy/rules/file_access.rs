//! Paths that a call accesses, resolved once.
//!
//! A path is split into its literal head, which is resolved to the files it leads to, and the parts after that.

use std::collections::{HashMap, HashSet};

use super::arguments::PathArgument;
use super::glob_intersection::Part;
use super::line_verdict::hides_commands;
use super::paths::{PathForm, Paths, of_shell};
use crate::diagnostic::shown;
use crate::tool_names::ToolEffect;
use workflow_shell::{AccessKind, Analysis, FileAccess};

/// The number of paths of one call that are examined.
const MAX_PATHS: usize = 1000;

/// A path that a call accesses.
#[derive(Debug)]
pub(super) struct AccessedPath {
    /// The path as the call names it.
    pub(super) path: String,
    /// The literal head in all its forms; empty if the first part is unknown.
    pub(super) forms: Vec<PathForm>,
    /// The parts after the head, in lower case if case is ignored; empty for a literal path.
    pub(super) tail: Vec<Part>,
    pub(super) kind: AccessKind,
}

impl AccessedPath {
    /// Its name, for display.
    pub(super) fn name(&self) -> String {
        shown(&self.path.replace('\0', "…"))
    }

    /// Explains, for display, why the path may be one that a rule protects; empty if the call names that itself.
    pub(super) fn explanation(&self) -> String {
        let path = self.name();
        if self.kind == AccessKind::WriteWithin {
            format!("It may write anywhere in `{path}`.")
        } else if self.kind.includes_tree() {
            format!("It takes `{path}` with all that is in it.")
        } else if self.tail.is_empty() {
            String::new()
        } else {
            format!("`{path}` may refer to it.")
        }
    }
}

/// All paths that a call accesses.
#[derive(Debug, Default)]
pub(super) struct AccessedPaths {
    pub(super) paths: Vec<AccessedPath>,
    /// True if these are all: an unknown path may be anywhere.
    pub(super) is_complete: bool,
}

/// Collects the paths of shell lines and of other arguments.
pub(super) fn accessed_paths(
    line: Option<&Analysis>,
    named: &[PathArgument],
    tool_effect: ToolEffect,
    paths: &dyn Paths,
) -> AccessedPaths {
    let mut is_complete =
        !line.is_some_and(hides_commands) && !named.contains(&PathArgument::Opaque);
    let kind = match tool_effect {
        ToolEffect::Changes(kind) => kind,
        ToolEffect::Reads | ToolEffect::RunsShell | ToolEffect::Unknown => AccessKind::Read,
    };
    let named = named.iter().filter_map(|named| file_access(named, kind));
    let of_line = line.into_iter().flat_map(|line| &line.file_accesses);
    let of_line = of_line.map(|access| FileAccess {
        path: of_shell(&access.path).into_owned(),
        ..access.clone()
    });
    let mut found = HashSet::new();
    let is_new = |access: &FileAccess| found.insert(access.clone());
    let accesses: Vec<FileAccess> = named.chain(of_line).filter(is_new).collect();
    is_complete &= !is_too_many(accesses.len());
    let mut known = HashMap::new();
    // One more says that there are too many.
    let examined = accesses.iter().take(MAX_PATHS + 1);
    let paths = examined
        .map(|access| resolve(access, paths, &mut known))
        .collect();
    AccessedPaths { paths, is_complete }
}

fn file_access(named: &PathArgument, kind: AccessKind) -> Option<FileAccess> {
    let (path, is_glob, kind) = match named {
        PathArgument::Opaque => return None,
        PathArgument::Path(path) => (path.clone(), false, kind),
        PathArgument::Directory(path) => (path.clone(), false, AccessKind::Read),
        PathArgument::Glob(glob) => {
            let anywhere = format!("\0/{}", glob.trim_start_matches('/'));
            (anywhere, true, AccessKind::Read)
        }
    };
    Some(FileAccess {
        path,
        is_glob,
        kind,
    })
}

/// Returns whether there are more paths than are examined.
pub(super) fn is_too_many(count: usize) -> bool {
    count > MAX_PATHS
}

/// Resolves a path that is accessed. `known` has the paths that were resolved before.
pub(super) fn resolve(
    access: &FileAccess,
    paths: &dyn Paths,
    known: &mut HashMap<String, Vec<PathForm>>,
) -> AccessedPath {
    let (head, tail) = split(access, paths.ignores_case());
    let forms = head.map_or_else(Vec::new, |head| {
        let found = known.entry(head.to_owned());
        found.or_insert_with(|| paths.forms(head)).clone()
    });
    AccessedPath {
        path: access.path.clone(),
        forms,
        tail,
        kind: access.kind,
    }
}

/// Splits a path into its literal head and the parts after it.
fn split(access: &FileAccess, ignores_case: bool) -> (Option<&str>, Vec<Part>) {
    let path = access.path.as_str();
    let is_open =
        |part: &str| part.contains('\0') || access.is_glob && part.contains(['*', '?', '[']);
    let mut at = 0;
    let open = path.split('/').find(|part| {
        let is_open = is_open(part);
        at += if is_open { 0 } else { part.len() + 1 };
        is_open
    });
    if open.is_none() {
        return (Some(path), Vec::new());
    }
    let starts_unknown = at == 0 && path.starts_with('\0');
    let mut tail = Vec::new();
    if starts_unknown {
        tail.push(Part::Unknown);
    }
    for part in path[at..].split('/') {
        match part {
            "" | "." => {}
            ".." => match tail.last() {
                Some(Part::Unknown | Part::Any) => {}
                Some(Part::One(_)) => drop(tail.pop()),
                // It leaves the literal head.
                None => return (None, vec![Part::Unknown]),
            },
            part => {
                let next = if access.is_glob || part.contains('\0') {
                    Part::glob(part, false, ignores_case)
                } else {
                    Part::literal(part, ignores_case)
                };
                if next != Part::Unknown || tail.last() != Some(&Part::Unknown) {
                    tail.push(next);
                }
            }
        }
    }
    let head = if at == 0 { "." } else { &path[..at] };
    ((!starts_unknown).then_some(head), tail)
}
