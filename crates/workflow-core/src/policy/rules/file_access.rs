//! The places that a call touches, resolved once.
//!
//! Owns how what a call names becomes a place: what of it is plain, and where it leads. It must not
//! know rules.

use std::collections::{HashMap, HashSet};

use super::arguments::{Does, Named};
use super::glob_intersection::Part;
use super::paths::{PathForm, Paths, of_shell};
use crate::diagnostic::shown;
use workflow_shell::{AccessKind, Analysis, FileAccess, Writes};

/// How many places of one call are looked at.
const MOST_PLACES: usize = 1000;

/// A place that a call touches.
#[derive(Debug)]
pub(super) struct Place {
    /// As the call names it.
    path: String,
    /// Where what is plain of it leads; empty where that cannot be seen from the first part on.
    pub(super) forms: Vec<PathForm>,
    /// What stands behind that; empty for a plain path.
    pub(super) tail: Vec<Part>,
    pub(super) change: AccessKind,
}

impl Place {
    /// How it comes to be about what a rule protects, as people read it; empty where the call names that itself.
    pub(super) fn seen(&self) -> String {
        let path = shown(&self.path.replace('\0', "…"));
        if self.change == AccessKind::WriteWithin {
            format!("It may write anywhere in `{path}`.")
        } else if self.change.includes_tree() {
            format!("It takes `{path}` with all that is in it.")
        } else if self.tail.is_empty() {
            String::new()
        } else {
            format!("`{path}` may stand for it.")
        }
    }
}

/// What a call touches.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) seen: Vec<Place>,
    /// Whether that is all: what is not seen may be anywhere.
    pub(super) is_all: bool,
}

/// What a line touches, and what the arguments beside it name.
pub(super) fn places(
    line: Option<&Analysis>,
    named: &[Named<'_>],
    does: Does,
    paths: &dyn Paths,
) -> Places {
    let is_unread = line.is_some_and(|line| matches!(line.writes, Writes::Unreadable(_)));
    let mut is_all = !is_unread && !named.contains(&Named::Unseen);
    let change = match does {
        Does::Changes(change) => change,
        Does::Reads | Does::Runs | Does::Unknown => AccessKind::Read,
    };
    let named = named.iter().filter_map(|named| touch(named, change));
    let of_line = line.into_iter().flat_map(|line| &line.file_accesses);
    let of_line = of_line.map(|touch| FileAccess {
        path: of_shell(&touch.path).into_owned(),
        ..touch.clone()
    });
    let mut met = HashSet::new();
    let is_new = |touch: &FileAccess| met.insert(touch.clone());
    let touches: Vec<FileAccess> = named.chain(of_line).filter(is_new).collect();
    is_all &= !is_too_much(touches.len());
    let mut known = HashMap::new();
    let looked_at = touches.iter().take(MOST_PLACES);
    let seen = looked_at
        .map(|touch| place(touch, paths, &mut known))
        .collect();
    Places { seen, is_all }
}

fn touch(named: &Named<'_>, change: AccessKind) -> Option<FileAccess> {
    let (path, is_pattern, change) = match named {
        Named::Unseen => return None,
        Named::Path(path) => (path.to_string(), false, change),
        Named::Directory(path) => ((*path).to_owned(), false, AccessKind::Read),
        Named::Glob(glob) => {
            let anywhere = format!("\0/{}", glob.trim_start_matches('/'));
            (anywhere, true, AccessKind::Read)
        }
    };
    Some(FileAccess {
        path,
        is_glob: is_pattern,
        kind: change,
    })
}

/// Whether what is written is so much that it is not looked at one by one.
pub(super) fn is_too_much(count: usize) -> bool {
    count > MOST_PLACES
}

fn place(
    touch: &FileAccess,
    paths: &dyn Paths,
    known: &mut HashMap<String, Vec<PathForm>>,
) -> Place {
    let (head, tail) = split(touch);
    let forms = head.map_or_else(Vec::new, |head| {
        let found = known.entry(head.to_owned());
        found.or_insert_with(|| paths.forms(head)).clone()
    });
    Place {
        path: touch.path.clone(),
        forms,
        tail,
        change: touch.kind,
    }
}

/// What of a path is plain, and what stands behind that.
fn split(touch: &FileAccess) -> (Option<&str>, Vec<Part>) {
    let path = touch.path.as_str();
    let is_open =
        |part: &str| part.contains('\0') || touch.is_glob && part.contains(['*', '?', '[']);
    let mut at = 0;
    let open = path.split('/').find(|part| {
        let is_open = is_open(part);
        at += if is_open { 0 } else { part.len() + 1 };
        is_open
    });
    if open.is_none() {
        return (Some(path), Vec::new());
    }
    let begins_unknown = at == 0 && path.starts_with('\0');
    let mut tail = Vec::new();
    if begins_unknown {
        tail.push(Part::Unknown);
    }
    for part in path[at..].split('/') {
        match part {
            "" | "." => {}
            ".." => match tail.last() {
                Some(Part::Unknown | Part::Any) => {}
                Some(Part::One(_)) => drop(tail.pop()),
                // It leads out of what is plain.
                None => return (None, vec![Part::Unknown]),
            },
            part => {
                let next = if touch.is_glob || part.contains('\0') {
                    Part::glob(part, false)
                } else {
                    Part::literal(part)
                };
                if next != Part::Unknown || tail.last() != Some(&Part::Unknown) {
                    tail.push(next);
                }
            }
        }
    }
    let head = if at == 0 { "." } else { &path[..at] };
    ((!begins_unknown).then_some(head), tail)
}
