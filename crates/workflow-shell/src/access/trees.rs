//! Directories that a command accesses as a whole.

use std::borrow::Cow;

use super::operands::find_glob;
use crate::file_access::{AccessKind, Location};
use crate::programs::{Reading, is_listed, names_trees, reading, unbundled};
use crate::word::Word;

/// Returns the locations that a command accesses with everything below them, and the targets of its copies.
pub(crate) fn whole_trees(name: &str, arguments: &[Word]) -> Vec<Location> {
    if is_listed("unpackers", name) {
        return vec![Location::at(".", AccessKind::WriteWithin)];
    }
    if name == "find" {
        return removed_by_find(arguments);
    }
    if !names_trees(name) {
        return Vec::new();
    }
    let unbundled = match name {
        "tar" | "bsdtar" => Cow::Owned(unbundled(arguments).unwrap_or_default()),
        _ => Cow::Borrowed(arguments),
    };
    let Some(reading) = reading(name, &unbundled) else {
        return Vec::new();
    };
    let trees = reading.trees.iter();
    let trees = trees.map(|(kind, word)| Location::of(word, *kind));
    let mut locations: Vec<Location> = trees.chain(copies(&reading)).collect();
    if let Some(from) = reading.prefix.values(&["-C", "--work-tree"]).last() {
        for location in &mut locations {
            location.shape = format!("{}/{}", from.location(), location.shape);
            location.is_glob |= from.is_glob;
        }
    }
    locations
}

/// Returns what copies and moves write in the target, and all of it if the contents of a directory are copied.
fn copies(reading: &Reading<'_>) -> Vec<Location> {
    let mut locations = Vec::new();
    let Some((target, sources)) = &reading.target else {
        return locations;
    };
    for source in sources {
        locations.extend(copy_inside(source, target));
        if reading.found.has(&["-s", "--symbolic", "--symbolic-link"]) {
            locations.extend(linked(source, target));
        }
        let path = source.shape();
        let is_rsync = reading.path.first() == Some(&"rsync");
        if matches!(path, "." | "./") || path.ends_with("/.") || is_rsync && path.ends_with('/') {
            locations.push(Location::of(target, AccessKind::ReplaceTree));
        }
    }
    locations
}

/// Returns the locations to which a symbolic link may lead: a relative one starts from the directory of the link, which is the target
/// or contains it.
fn linked(source: &Word, target: &Word) -> Vec<Location> {
    if source.shape().starts_with(['/', '~', '\0']) {
        return Vec::new();
    }
    let (target, source) = (target.location(), source.location());
    let parent = target.rsplit_once('/').map_or("", |(parent, _)| parent);
    let from = |directory: &str| {
        let path = format!("{directory}/{source}");
        let path = if directory.is_empty() { &source } else { &path };
        Location::at(path, AccessKind::Read)
    };
    vec![from(parent), from(&target)]
}

/// Returns the location of a copy inside the target, in case the target is a directory.
fn copy_inside(source: &Word, target: &Word) -> Option<Location> {
    let path = source.location();
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    if matches!(name, "" | "." | "..") || name.chars().all(|c| c == '\0') {
        return None;
    }
    Some(Location {
        shape: format!("{}/{name}", target.location().trim_end_matches('/')),
        is_glob: source.is_glob || target.is_glob,
        kind: AccessKind::Write,
    })
}

/// Returns what `find … -delete` removes: its starting points, or the names it searches for.
fn removed_by_find(arguments: &[Word]) -> Vec<Location> {
    if !arguments.iter().any(|word| word.shape() == "-delete") {
        return Vec::new();
    }
    let tests = ["-name", "-iname", "-path", "-wholename"];
    let mut named = arguments
        .windows(2)
        .filter(|pair| tests.contains(&pair[0].shape()));
    let name = named
        .next()
        .filter(|_| named.next().is_none())
        .map(|pair| &pair[1]);
    let starts: Vec<&Word> = arguments
        .iter()
        .skip_while(|word| matches!(word.shape(), "-H" | "-L" | "-P"))
        .take_while(|word| !word.shape().starts_with(['-', '(', '!']))
        .collect();
    let here = Word::literal(".");
    let starts = if starts.is_empty() {
        vec![&here]
    } else {
        starts
    };
    let location = |start: &&Word| match name {
        Some(name) => Location {
            shape: format!(
                "{}/**/{}",
                start.location().trim_end_matches('/'),
                find_glob(name.shape())
            ),
            is_glob: true,
            kind: AccessKind::Write,
        },
        None => Location::of(start, AccessKind::RemoveTree),
    };
    starts.iter().map(location).collect()
}

/// Returns whether a git command changes files in git's own directory only.
pub(crate) fn changes_only_git_directory(arguments: &[Word]) -> bool {
    reading("git", arguments).is_some_and(|reading| {
        let command = reading.path.get(1);
        command.is_some_and(|command| is_listed("git_directory", command))
    })
}
