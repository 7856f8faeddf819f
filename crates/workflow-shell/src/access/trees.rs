//! Directories that a command accesses as a whole.

use super::operands::find_glob;
use crate::file_access::{AccessKind, Location};
use crate::programs::{Found, Reading, is_listed, reading, unbundled};
use crate::word::Word;

/// Returns the locations that a command accesses with everything below them, and the targets of its copies.
pub(crate) fn whole_trees(name: &str, arguments: &[Word]) -> Vec<Location> {
    if is_listed("unpackers", name) {
        return vec![Location::at(".", AccessKind::WriteWithin)];
    }
    if matches!(name, "tar" | "bsdtar") {
        let arguments = unbundled(arguments);
        let arguments = arguments.as_deref().unwrap_or_default();
        return reading(name, arguments).map_or_else(Vec::new, |reading| archived(&reading.found));
    }
    if name == "find" {
        return removed_by_find(arguments);
    }
    let Some(reading) = reading(name, arguments) else {
        return Vec::new();
    };
    match name {
        "mv" | "cp" | "install" | "ln" | "rsync" | "scp" | "ditto" => copies(name, &reading.found),
        "git" => changed_by_git(&reading),
        _ => {
            let trees = reading.trees.iter();
            trees
                .map(|(kind, word)| Location::of(word, *kind))
                .collect()
        }
    }
}

/// Returns sources and targets of copies and moves.
fn copies(name: &str, given: &Found) -> Vec<Location> {
    let targets = given.values(&["-t", "--target-directory"]);
    let (target, sources) = match (targets.last(), given.operands.split_last()) {
        (Some(target), _) => (*target, &given.operands[..]),
        (None, Some((target, sources))) => (target, sources),
        (None, None) => return Vec::new(),
    };
    let mut locations = Vec::new();
    for source in sources {
        locations.extend(copy_inside(source, target));
        if given.has(&["-s", "--symbolic", "--symbolic-link"]) {
            locations.extend(linked(source, target));
        }
        if name == "mv" {
            locations.push(Location::of(source, AccessKind::ReplaceTree));
        } else if given.has(&["-r", "-R", "-a", "--recursive", "--archive"]) {
            locations.push(Location::of(source, AccessKind::ReadTree));
        }
        let inside =
            source.shape().ends_with("/.") || name == "rsync" && source.shape().ends_with('/');
        if inside || matches!(source.shape(), "." | "./") {
            locations.push(Location::of(target, AccessKind::ReplaceTree));
        }
    }
    if given.has(&[
        "-T",
        "--no-target-directory",
        "--delete",
        "--delete-after",
        "--delete-before",
    ]) {
        locations.push(Location::of(target, AccessKind::ReplaceTree));
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

/// Returns the files that are packed into an archive, or the directory in which one is unpacked.
fn archived(given: &Found) -> Vec<Location> {
    if given.has(&["-x", "--extract", "--get"]) {
        let directories = given.values(&["-C", "--directory"]);
        return vec![directories.last().map_or_else(
            || Location::at(".", AccessKind::WriteWithin),
            |directory| Location::of(directory, AccessKind::WriteWithin),
        )];
    }
    if !given.has(&["-c", "--create"]) {
        return Vec::new();
    }
    let files = given.operands.iter();
    files
        .map(|word| Location::of(word, AccessKind::ReadTree))
        .collect()
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
    reading("git", arguments).is_some_and(|reading| is_listed("git_directory", command(&reading).0))
}

/// Returns the command of git, and its operands.
fn command<'a>(reading: &'a Reading<'_>) -> (&'a str, Vec<&'a Word>) {
    let mut operands = reading.found.operands.iter();
    let known = reading.path.get(1).copied();
    let command = known.or_else(|| operands.next().map(Word::shape));
    (command.unwrap_or_default(), operands.collect())
}

fn changed_by_git(reading: &Reading<'_>) -> Vec<Location> {
    let given = &reading.found;
    let (command, operands) = command(reading);
    let has = |names: &[&str]| given.has(names);
    let directories = reading.prefix.values(&["-C", "--work-tree"]);
    let at = |word: &Word, kind: AccessKind| {
        let mut location = Location::of(word, kind);
        if let Some(from) = directories.last() {
            location.shape = format!("{}/{}", from.location(), location.shape);
            location.is_glob |= from.is_glob;
        }
        location
    };
    let tree = |kind: AccessKind| vec![at(&Word::literal("."), kind)];
    let each = |kind: AccessKind| operands.iter().map(|word| at(word, kind)).collect();
    match command {
        "clean" if has(&["-n", "--dry-run"]) => Vec::new(),
        "clean" if operands.is_empty() => tree(AccessKind::RemoveTree),
        "clean" => each(AccessKind::RemoveTree),
        "rm" if has(&["-r"]) && !has(&["--cached"]) => each(AccessKind::RemoveTree),
        "checkout" | "switch" if has(&["-f", "--force", "--discard-changes"]) => {
            tree(AccessKind::ReplaceTree)
        }
        "checkout" | "restore" => each(AccessKind::ReplaceTree),
        "mv" => copies("mv", given),
        "reset" if has(&["--hard", "--merge", "--keep"]) => tree(AccessKind::ReplaceTree),
        "read-tree" | "checkout-index" => tree(AccessKind::ReplaceTree),
        "stash" if saves(reading) => tree(AccessKind::ReplaceTree),
        "worktree" if reading.path.get(2) == Some(&"remove") => each(AccessKind::RemoveTree),
        _ => Vec::new(),
    }
}

/// Returns whether `git stash` saves the tree.
fn saves(reading: &Reading<'_>) -> bool {
    let first = reading.found.operands.first().map(Word::shape);
    let action = reading.path.get(2).copied().or(first);
    matches!(action, None | Some("push" | "save"))
}
