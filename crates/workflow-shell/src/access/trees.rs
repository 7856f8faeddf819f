//! Directories that a command accesses as a whole.

use super::arguments::{Arguments, OptionStyle, split_arguments};
use super::operands::find_glob;
use crate::file_access::{AccessKind, Location};
use crate::word::Word;

/// Returns the locations that a command accesses with everything below them, and the targets of its copies.
pub(crate) fn whole_trees(name: &str, arguments: &[Word]) -> Vec<Location> {
    let all = |words: &[Word], kind: AccessKind| {
        words.iter().map(|word| Location::of(word, kind)).collect()
    };
    match name {
        "rm" | "srm" => {
            let given = split_arguments(arguments, OptionStyle::Letters, &[]);
            let deep = given.has(&["-r", "-R", "--recursive"]);
            if deep {
                all(&given.operands, AccessKind::RemoveTree)
            } else {
                Vec::new()
            }
        }
        "trash" | "trash-put" | "rimraf" | "del" | "del-cli" => all(
            &split_arguments(arguments, OptionStyle::Letters, &[]).operands,
            AccessKind::RemoveTree,
        ),
        "mv" | "cp" | "install" | "ln" | "rsync" | "scp" | "ditto" => copies(name, arguments),
        "chmod" | "chown" | "chgrp" => {
            let given = split_arguments(arguments, OptionStyle::Letters, &[]);
            let deep = given.has(&["-R", "--recursive"]);
            if deep {
                all(&given.operands, AccessKind::ReplaceTree)
            } else {
                Vec::new()
            }
        }
        "tar" | "bsdtar" | "zip" | "7z" | "7za" => archived(name, arguments),
        "unzip" | "patch" | "cpio" | "pax" | "unrar" | "unar" => {
            vec![Location::at(".", AccessKind::WriteWithin)]
        }
        "find" => removed_by_find(arguments),
        "git" => changed_by_git(arguments),
        _ => Vec::new(),
    }
}

const COPY_TAKES: &[&str] = &[
    "-t",
    "--target-directory",
    "-S",
    "--suffix",
    "-m",
    "--mode",
    "-o",
    "--owner",
    "-g",
    "--group",
    "-e",
    "--rsh",
    "-f",
    "--filter",
    "--exclude",
    "--include",
    "--exclude-from",
    "-i",
    "-P",
];

/// Returns sources and targets of copies and moves.
fn copies(name: &str, arguments: &[Word]) -> Vec<Location> {
    let takes = if matches!(name, "rsync" | "scp") {
        COPY_TAKES
    } else {
        &COPY_TAKES[..11]
    };
    let given = split_arguments(arguments, OptionStyle::Letters, takes);
    let target = given.values(&["-t", "--target-directory"]).flatten().last();
    let (target, sources) = match (target, given.operands.split_last()) {
        (Some(target), _) => (target, &given.operands[..]),
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
fn archived(name: &str, arguments: &[Word]) -> Vec<Location> {
    let given = split_arguments(
        arguments,
        OptionStyle::Letters,
        &[
            "-f",
            "--file",
            "-C",
            "--directory",
            "-T",
            "-X",
            "--exclude",
            "-x",
            "-i",
        ],
    );
    let first = arguments.first().map_or("", Word::shape);
    let is_tar = !matches!(name, "zip" | "7z" | "7za");
    let bundled = is_tar && !first.starts_with('-');
    let letter = |letter: char, long: &str| {
        bundled && first.contains(letter) || given.has(&[&format!("-{letter}"), long])
    };
    if is_tar && letter('x', "--extract") {
        let directory = given.values(&["-C", "--directory"]).flatten().last();
        return vec![directory.map_or_else(
            || Location::at(".", AccessKind::WriteWithin),
            |directory| Location::of(directory, AccessKind::WriteWithin),
        )];
    }
    if is_tar && !letter('c', "--create") {
        return Vec::new();
    }
    given
        .operands
        .iter()
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

/// Subcommands that change files in git's own directory only.
const GIT_DIRECTORY_SUBCOMMANDS: &[&str] = &[
    "add",
    "branch",
    "bundle",
    "commit",
    "config",
    "credential",
    "fetch",
    "gc",
    "init",
    "maintenance",
    "notes",
    "pack-refs",
    "prune",
    "push",
    "reflog",
    "remote",
    "repack",
    "stage",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
];

/// Returns whether a git command changes files in git's own directory only.
pub(crate) fn changes_only_git_directory(arguments: &[Word]) -> bool {
    let given = split_arguments(arguments, OptionStyle::Letters, GIT_TAKES);
    let command = given.operands.first().and_then(Word::text);
    command.is_some_and(|command| GIT_DIRECTORY_SUBCOMMANDS.contains(&command))
}

fn changed_by_git(arguments: &[Word]) -> Vec<Location> {
    let given = split_arguments(arguments, OptionStyle::Letters, GIT_TAKES);
    let Some((command, operands)) = given.operands.split_first() else {
        return Vec::new();
    };
    let has = |names: &[&str]| given.has(names);
    let from = given.values(&["-C", "--work-tree"]).flatten().last();
    let at = |word: &Word, kind: AccessKind| {
        let mut location = Location::of(word, kind);
        if let Some(from) = from {
            location.shape = format!("{}/{}", from.location(), location.shape);
            location.is_glob |= from.is_glob;
        }
        location
    };
    let here = Word::literal(".");
    let tree = |kind: AccessKind| vec![at(&here, kind)];
    let each = |kind: AccessKind| {
        operands
            .iter()
            .map(|word| at(word, kind))
            .collect::<Vec<_>>()
    };
    match command.shape() {
        "clean" if has(&["-n", "--dry-run"]) => Vec::new(),
        "clean" if operands.is_empty() => tree(AccessKind::RemoveTree),
        "clean" => each(AccessKind::RemoveTree),
        "rm" if has(&["-r"]) && !has(&["--cached"]) => each(AccessKind::RemoveTree),
        "checkout" | "switch" if has(&["-f", "--force", "--discard-changes"]) => {
            tree(AccessKind::ReplaceTree)
        }
        "checkout" | "restore" => each(AccessKind::ReplaceTree),
        "mv" => copies("mv", &arguments_after(arguments, "mv")),
        "reset" if has(&["--hard", "--merge", "--keep"]) => tree(AccessKind::ReplaceTree),
        "stash" => stashed(&given, tree(AccessKind::ReplaceTree)),
        "read-tree" | "checkout-index" => tree(AccessKind::ReplaceTree),
        "worktree" if operands.first().and_then(Word::text) == Some("remove") => {
            each(AccessKind::RemoveTree)
        }
        _ => Vec::new(),
    }
}

/// Returns the tree if `git stash` saves it.
fn stashed(given: &Arguments, tree: Vec<Location>) -> Vec<Location> {
    let saves = match given.operands.get(1) {
        None => true,
        Some(word) => matches!(word.shape(), "push" | "save"),
    };
    if saves { tree } else { Vec::new() }
}

fn arguments_after(arguments: &[Word], command: &str) -> Vec<Word> {
    let rest = arguments.iter().skip_while(|word| word.shape() != command);
    rest.skip(1).cloned().collect()
}

/// Options of git and its subcommands that take a value.
const GIT_TAKES: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--message",
    "--format",
    "--output",
    "--sort",
    "--contains",
    "--points-at",
    "-S",
    "-G",
    "--author",
    "--since",
    "--until",
    "--grep",
];
