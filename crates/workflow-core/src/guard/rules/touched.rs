//! The places that a call touches, resolved once.
//!
//! Owns how what a call names becomes a place: what of it is plain, and where it leads. It must not
//! know rules.

use std::collections::{HashMap, HashSet};

use super::fields::{Does, Named};
use super::meeting::Part;
use super::paths::{PathForm, Paths};
use crate::guard::shell::{Change, Line, Touch, Writes};

/// How many places of one call are looked at.
const MOST_PLACES: usize = 1000;

/// A place that a call touches.
#[derive(Debug)]
pub(super) struct Place {
    /// Where what is plain of it leads; empty where that cannot be seen from the first part on.
    pub(super) forms: Vec<PathForm>,
    /// What stands behind that; empty for a plain path.
    pub(super) tail: Vec<Part>,
    pub(super) change: Change,
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
    line: Option<&Line>,
    named: &[Named<'_>],
    does: Does,
    paths: &dyn Paths,
) -> Places {
    let is_unread = line.is_some_and(|line| matches!(line.writes, Writes::Unreadable(_)));
    let mut is_all = !is_unread && !named.contains(&Named::Unseen);
    let change = match does {
        Does::Changes(change) => change,
        Does::Reads | Does::Runs | Does::Unknown => Change::Read,
    };
    let mut touches: HashSet<Touch> = HashSet::new();
    for named in named {
        touches.insert(match named {
            Named::Unseen => continue,
            Named::Path(path) => Touch {
                path: (*path).to_owned(),
                is_pattern: false,
                change,
            },
            Named::Directory(path) => Touch {
                path: (*path).to_owned(),
                is_pattern: false,
                change: Change::Read,
            },
            Named::Glob(glob) => Touch {
                path: format!("\0/{}", glob.trim_start_matches('/')),
                is_pattern: true,
                change: Change::Read,
            },
        });
    }
    touches.extend(line.into_iter().flat_map(|line| &line.touches).cloned());
    is_all &= !is_too_much(touches.len());
    let mut known = HashMap::new();
    let looked_at = touches.iter().take(MOST_PLACES);
    let seen = looked_at
        .map(|touch| place(touch, paths, &mut known))
        .collect();
    Places { seen, is_all }
}

/// Whether what is written is so much that it is not looked at one by one.
pub(super) fn is_too_much(count: usize) -> bool {
    count > MOST_PLACES
}

fn place(touch: &Touch, paths: &dyn Paths, known: &mut HashMap<String, Vec<PathForm>>) -> Place {
    let (head, tail) = split(touch);
    let forms = head.map_or_else(Vec::new, |head| {
        let found = known.entry(head.to_owned());
        found.or_insert_with(|| paths.forms(head)).clone()
    });
    Place {
        forms,
        tail,
        change: touch.change,
    }
}

/// What of a path is plain, and what stands behind that.
fn split(touch: &Touch) -> (Option<&str>, Vec<Part>) {
    let path = touch.path.as_str();
    let is_open =
        |part: &str| part.contains('\0') || touch.is_pattern && part.contains(['*', '?', '[']);
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
                let next = if touch.is_pattern || part.contains('\0') {
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
