//! Which paths a simple command touches, beyond those that it is known to write.
//!
//! Owns which of its words may be paths, which are text for people or patterns for a search, and what
//! is taken as a whole: removed, moved, copied. It must not know rules.

use super::arguments::{Arguments, Style, gather};
use super::{Change, Word, code, git};

/// A place as a command names it, seen from the directory in which it runs. NUL stands for what only
/// the shell knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) shape: String,
    pub(super) pattern: bool,
    pub(super) change: Change,
}

impl Spot {
    pub(super) fn of(word: &Word, change: Change) -> Self {
        Self {
            shape: word.place(),
            pattern: word.is_pattern(),
            change,
        }
    }

    pub(super) fn at(path: &str, change: Change) -> Self {
        Self {
            shape: path.to_owned(),
            pattern: false,
            change,
        }
    }

    /// Any place: only the running shell knows.
    pub(super) fn anywhere() -> Self {
        Self::at("\0", Change::Written)
    }

    /// Wherever a program likes to write.
    pub(super) fn own(program: &str) -> Self {
        let whole_machine = SYSTEM.contains(&program);
        Self::at(if whole_machine { "/" } else { "." }, Change::Own)
    }
}

/// Programs whose own choice of where to write is not the project.
#[rustfmt::skip] // Programs that belong together.
const SYSTEM: &[&str] = &[
    "apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk", "brew", "port", "snap", "flatpak", "pacman", "yay", "paru", "dpkg", "rpm",
    "at", "batch", "chsh", "crontab", "cryptsetup", "defaults", "fdisk", "groupadd", "ldconfig", "losetup", "mke2fs", "mkfs", "mknod", "mount",
    "parted", "passwd", "setfacl", "sudoedit", "swapon", "systemctl", "umount", "update-alternatives", "useradd", "userdel", "usermod", "visudo", "wipefs",
];

/// What a command's words say that it touches. `heard` tells whether its output names files for another command.
pub(super) fn mentioned(name: &str, words: &[Word], heard: bool) -> Vec<Spot> {
    let arguments = &words[1..];
    if matches!(name, "echo" | "printf") && !heard {
        return Vec::new();
    }
    let said_first = said_first(name, arguments);
    let acts = heard || arguments.iter().any(acts_on_what_is_found);
    let mut spots = Vec::new();
    for (place, word) in arguments.iter().enumerate() {
        if said_first == Some(place) || is_text(name, arguments, place) {
            continue;
        }
        let glob = is_glob(name, arguments, place, acts);
        for mut candidate in candidates(word) {
            if glob && candidate.shape.contains(['*', '?', '[']) {
                candidate.pattern = true;
                candidate.shape = format!("\0/{}", candidate.shape.trim_start_matches('/'));
            }
            spots.push(candidate);
        }
    }
    if code::is_interpreter(name) || matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        let texts = arguments.iter().flat_map(|word| quoted_texts(word.shape()));
        spots.extend(texts.map(|text| Spot::at(text, Change::Read)));
    }
    spots
}

/// The texts in quotes in a piece of code that could be paths.
pub(super) fn quoted_texts(code: &str) -> impl Iterator<Item = &str> {
    const QUOTES: [char; 3] = ['\'', '"', '`'];
    let mut rest = code;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(QUOTES)?;
            rest = &rest[at + 1..];
            let end = rest.find(QUOTES)?;
            let text = &rest[..end];
            if !text.is_empty() && !text.contains(char::is_whitespace) {
                return Some(text);
            }
        }
    })
}

/// What of a word may be a path: `x`, `--file=x`, `-fx`, `@x`, `HEAD:x`.
fn candidates(word: &Word) -> Vec<Spot> {
    let shape = word.shape();
    let mut found = vec![Spot::of(word, Change::Read)];
    let mut add = |text: &str| {
        if !text.is_empty() && text.len() < shape.len() {
            found.push(Spot {
                shape: text.to_owned(),
                pattern: word.is_pattern(),
                change: Change::Read,
            });
        }
    };
    if let Some((_, value)) = shape.split_once('=') {
        add(value);
        add(value.trim_start_matches('@'));
    }
    if let Some(file) = shape.strip_prefix('@') {
        add(file);
    }
    for part in shape.split(':').skip(1) {
        add(part);
    }
    if let Some((first, _)) = shape.split_once(':') {
        add(first);
    }
    if shape.starts_with('-') && !shape.starts_with("--") {
        let behind = shape.char_indices().nth(2).map(|(at, _)| at);
        let letters = shape[1..].find(|c: char| !c.is_ascii_alphabetic());
        add(behind.map_or("", |at| &shape[at..]));
        add(letters.map_or("", |at| &shape[at + 1..]));
        add(letters.map_or("", |at| shape[at + 1..].trim_start_matches('@')));
    }
    found
}

/// Programs whose first operand is a program or a pattern, and the options that give it instead.
#[rustfmt::skip] // A row a line.
const SAID_FIRST: &[(&[&str], &[&str])] = &[
    (&["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"], &["-e", "--regexp", "-f", "--file"]),
    (&["sed", "gsed"], &["-e", "--expression", "-f", "--file"]),
    (&["awk", "gawk", "mawk", "nawk"], &["-f", "--file"]),
    (&["jq", "yq"], &["-f", "--from-file"]),
];

/// Options whose value is text, by program; `*` is any.
#[rustfmt::skip] // A row a line.
const SAID: &[(&str, &[&str])] = &[
    ("git", &["-m", "--message", "--grep", "-S", "-G", "--author", "--exclude"]),
    ("gh", &["-b", "--body", "-t", "--title"]),
    ("grep", &["-e", "--regexp"]), ("egrep", &["-e", "--regexp"]), ("rg", &["-e", "--regexp"]),
    ("sed", &["-e", "--expression"]), ("find", &["-printf"]),
    ("tree", &["-I"]),
    ("*", &["--exclude", "--exclude-dir", "--ignore", "--ignore-pattern"]),
];

/// Whether a word is text, or names what is left out.
fn is_text(name: &str, arguments: &[Word], place: usize) -> bool {
    let shape = arguments[place].shape();
    let before = place.checked_sub(1).map(|at| arguments[at].shape());
    let said = |option: &str| {
        let mut rows = SAID.iter().filter(|(of, _)| *of == name || *of == "*");
        rows.any(|(_, options)| options.contains(&option))
    };
    if before.is_some_and(said)
        || shape
            .split_once('=')
            .is_some_and(|(option, _)| said(option))
    {
        return true;
    }
    name == "find" && place > 1 && matches!(arguments[place - 2].shape(), "-not" | "!")
}

/// Where the program or the pattern stands that is no file.
fn said_first(name: &str, arguments: &[Word]) -> Option<usize> {
    let git_grep = name == "git" && arguments.first().is_some_and(|word| word.shape() == "grep");
    let row = SAID_FIRST
        .iter()
        .find(|(names, _)| names.contains(&name) || git_grep && names.contains(&"grep"));
    let (_, instead) = row?;
    let given = |word: &Word| {
        instead
            .iter()
            .any(|option| word.shape().split('=').next() == Some(option))
    };
    if arguments.iter().any(given) {
        return None;
    }
    let behind = usize::from(git_grep);
    let takes = |at: usize| at > 0 && TAKES.contains(&arguments[at - 1].shape());
    let is_operand = |at: &usize| !arguments[*at].shape().starts_with('-') && !takes(*at);
    (behind..arguments.len()).find(is_operand)
}

/// Options of searches with a value that is no pattern of what is searched for.
const TAKES: &[&str] = &[
    "-g", "--glob", "--iglob", "-t", "--type", "-A", "-B", "-C", "-m",
];

/// Whether a word makes `find` or `fd` act on what it finds.
fn acts_on_what_is_found(word: &Word) -> bool {
    let shape = word.shape();
    ["-exec", "-ok", "-delete"]
        .iter()
        .any(|action| shape.starts_with(action))
        || matches!(shape, "-x" | "-X" | "--exec" | "--exec-batch")
}

/// Whether a word in quotes is a glob to the program: what it finds is read or changed.
fn is_glob(name: &str, arguments: &[Word], place: usize, acts: bool) -> bool {
    let before = place.checked_sub(1).map_or("", |at| arguments[at].shape());
    let shape = arguments[place].shape();
    match name {
        "find" | "gfind" => {
            let is_test = matches!(
                before,
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename"
            );
            is_test && acts
        }
        "fd" | "fdfind" => acts,
        "rg" => {
            matches!(before, "-g" | "--glob" | "--iglob")
                || shape.starts_with("--glob=")
                || shape.starts_with("-g")
        }
        "grep" => shape.starts_with("--include="),
        "git" => true,
        _ => false,
    }
}

/// What a command takes as a whole, with all that is in it, and where it puts things.
pub(super) fn wholes(name: &str, arguments: &[Word]) -> Vec<Spot> {
    let all =
        |words: &[Word], change: Change| words.iter().map(|word| Spot::of(word, change)).collect();
    match name {
        "rm" | "srm" => {
            let given = gather(arguments, Style::Letters, &[]);
            let deep = given.has(&["-r", "-R", "--recursive"]);
            if deep {
                all(&given.operands, Change::Removed)
            } else {
                Vec::new()
            }
        }
        "trash" | "trash-put" | "rimraf" | "del" | "del-cli" => all(
            &gather(arguments, Style::Letters, &[]).operands,
            Change::Removed,
        ),
        "mv" | "cp" | "install" | "ln" | "rsync" | "scp" | "ditto" => copied(name, arguments),
        "chmod" | "chown" | "chgrp" => {
            let given = gather(arguments, Style::Letters, &[]);
            let deep = given.has(&["-R", "--recursive"]);
            if deep {
                all(&given.operands, Change::Replaced)
            } else {
                Vec::new()
            }
        }
        "tar" | "gtar" | "bsdtar" | "zip" | "7z" | "7za" => packed(name, arguments),
        "unzip" | "patch" | "cpio" | "pax" | "unrar" | "unar" => vec![Spot::at(".", Change::Own)],
        "find" | "gfind" => found(arguments),
        "git" => in_git(arguments),
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

/// Where copies and what is moved come to lie, and what is taken whole.
fn copied(name: &str, arguments: &[Word]) -> Vec<Spot> {
    let takes = if matches!(name, "rsync" | "scp") {
        COPY_TAKES
    } else {
        &COPY_TAKES[..11]
    };
    let given = gather(arguments, Style::Letters, takes);
    let target = given.values(&["-t", "--target-directory"]).flatten().last();
    let (target, sources) = match (target, given.operands.split_last()) {
        (Some(target), _) => (target, &given.operands[..]),
        (None, Some((target, sources))) => (target, sources),
        (None, None) => return Vec::new(),
    };
    let mut spots = Vec::new();
    for source in sources {
        spots.extend(put(source, target));
        if name == "mv" {
            spots.push(Spot::of(source, Change::Replaced));
        } else if given.has(&["-r", "-R", "-a", "--recursive", "--archive"]) {
            spots.push(Spot::of(source, Change::Copied));
        }
        let inside =
            source.shape().ends_with("/.") || name == "rsync" && source.shape().ends_with('/');
        if inside || matches!(source.shape(), "." | "./") {
            spots.push(Spot::of(target, Change::Replaced));
        }
    }
    if given.has(&[
        "-T",
        "--no-target-directory",
        "--delete",
        "--delete-after",
        "--delete-before",
    ]) {
        spots.push(Spot::of(target, Change::Replaced));
    }
    spots
}

/// What comes to lie in a directory, if the target is one.
fn put(source: &Word, target: &Word) -> Option<Spot> {
    let place = source.place();
    let name = place.trim_end_matches('/').rsplit('/').next()?;
    if matches!(name, "" | "." | "..") || name.chars().all(|c| c == '\0') {
        return None;
    }
    Some(Spot {
        shape: format!("{}/{name}", target.place().trim_end_matches('/')),
        pattern: source.is_pattern() || target.is_pattern(),
        change: Change::Written,
    })
}

/// What an archive takes in, and where one is unpacked.
fn packed(name: &str, arguments: &[Word]) -> Vec<Spot> {
    let given = gather(
        arguments,
        Style::Letters,
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
        let place = given.values(&["-C", "--directory"]).flatten().last();
        return vec![place.map_or_else(
            || Spot::at(".", Change::Own),
            |place| Spot::of(place, Change::Own),
        )];
    }
    if is_tar && !letter('c', "--create") {
        return Vec::new();
    }
    given
        .operands
        .iter()
        .map(|word| Spot::of(word, Change::Copied))
        .collect()
}

/// `find … -delete`: where it starts, and the names it looks for.
fn found(arguments: &[Word]) -> Vec<Spot> {
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
    let spot = |start: &&Word| match name {
        Some(name) => Spot {
            shape: format!(
                "{}/**/{}",
                start.place().trim_end_matches('/'),
                name.shape()
            ),
            pattern: true,
            change: Change::Written,
        },
        None => Spot::of(start, Change::Removed),
    };
    starts.iter().map(spot).collect()
}

/// Subcommands that change nothing but git's own files.
const IN_GIT_DIRECTORY: &[&str] = &[
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

/// Whether a subcommand changes nothing but git's own files.
pub(super) fn stays_in_git_directory(arguments: &[Word]) -> bool {
    let given = gather(arguments, Style::Letters, git::TAKES);
    let command = given.operands.first().and_then(Word::text);
    command.is_some_and(|command| IN_GIT_DIRECTORY.contains(&command))
}

fn in_git(arguments: &[Word]) -> Vec<Spot> {
    let given = gather(arguments, Style::Letters, git::TAKES);
    let Some((command, operands)) = given.operands.split_first() else {
        return Vec::new();
    };
    let has = |names: &[&str]| given.has(names);
    let from = given.values(&["-C", "--work-tree"]).flatten().last();
    let at = |word: &Word, change: Change| {
        let mut spot = Spot::of(word, change);
        if let Some(from) = from {
            spot.shape = format!("{}/{}", from.place(), spot.shape);
            spot.pattern |= from.is_pattern();
        }
        spot
    };
    let here = Word::literal(".");
    let tree = |change: Change| vec![at(&here, change)];
    let each = |change: Change| {
        operands
            .iter()
            .map(|word| at(word, change))
            .collect::<Vec<_>>()
    };
    match command.shape() {
        "clean" if has(&["-n", "--dry-run"]) => Vec::new(),
        "clean" if operands.is_empty() => tree(Change::Removed),
        "clean" => each(Change::Removed),
        "rm" if has(&["-r"]) && !has(&["--cached"]) => each(Change::Removed),
        "checkout" | "switch" if has(&["-f", "--force", "--discard-changes"]) => {
            tree(Change::Replaced)
        }
        "checkout" | "restore" => each(Change::Replaced),
        "mv" => copied("mv", &arguments_behind(arguments, "mv")),
        "reset" if has(&["--hard", "--merge", "--keep"]) => tree(Change::Replaced),
        "stash" => stashed(&given, tree(Change::Replaced)),
        "read-tree" | "checkout-index" => tree(Change::Replaced),
        "worktree" if operands.first().and_then(Word::text) == Some("remove") => {
            each(Change::Removed)
        }
        _ => Vec::new(),
    }
}

/// What `git stash` puts away.
fn stashed(given: &Arguments, tree: Vec<Spot>) -> Vec<Spot> {
    let saves = match given.operands.get(1) {
        None => true,
        Some(word) => matches!(word.shape(), "push" | "save"),
    };
    if saves { tree } else { Vec::new() }
}

fn arguments_behind(arguments: &[Word], command: &str) -> Vec<Word> {
    let rest = arguments.iter().skip_while(|word| word.shape() != command);
    rest.skip(1).cloned().collect()
}
