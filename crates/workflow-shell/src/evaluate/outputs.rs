//! Outputs of commands that are known in part: names of files, texts.

use crate::parse::tree::{Command, CommandKind, List, RawWord, WordPart};

/// Returns whether a substitution prints at most one name of a branch, a tag or a commit, which has no blanks.
pub(super) fn prints_name(list: &List) -> bool {
    let [item] = list.as_slice() else {
        return false;
    };
    let [command] = item.pipeline.as_slice() else {
        return false;
    };
    texts(command).is_some_and(|words| {
        matches!(
            words.as_slice(),
            [Some("git"), Some("branch"), Some("--show-current")]
                | [Some("git"), Some("rev-parse"), Some("HEAD")]
                | [
                    Some("git"),
                    Some("rev-parse"),
                    Some("--abbrev-ref" | "--short"),
                    Some("HEAD")
                ]
                | [
                    Some("git"),
                    Some("describe"),
                    Some("--tags" | "--abbrev=0" | "--always"),
                    ..
                ]
        )
    })
}

/// Returns the text of a word without expansions.
pub(super) fn text(word: &RawWord) -> Option<&str> {
    match word.0.as_slice() {
        [WordPart::Text { text, .. }] => Some(text),
        [
            WordPart::Text { text, .. },
            WordPart::Text { text: more, .. },
        ] if text.is_empty() => Some(more),
        _ => None,
    }
}

/// Returns the words of a simple command; `None` where one is not a text.
pub(super) fn texts(command: &Command) -> Option<Vec<Option<&str>>> {
    match &command.kind {
        CommandKind::Simple(command) => Some(command.words.iter().map(text).collect()),
        _ => None,
    }
}

/// Returns the words of a simple command, also of those that are quoted in part: `jsonpath='{.metadata.name}'`.
fn joined_texts(command: &Command) -> Option<Vec<Option<String>>> {
    let CommandKind::Simple(command) = &command.kind else {
        return None;
    };
    let joined = |word: &RawWord| {
        let texts = word.0.iter().map(|part| match part {
            WordPart::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    };
    Some(command.words.iter().map(joined).collect())
}

/// Returns whether a command prints names of files, commits, packages or containers, or numbers. Names that start with a dash are not expected.
pub(super) fn prints_files(pipeline: &[Command]) -> bool {
    let mut commands = pipeline.iter();
    let lists = commands.next().and_then(joined_texts).is_some_and(|words| {
        let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
        lists_files(&words)
    });
    lists && commands.all(|command| texts(command).is_some_and(|words| filters_lines(&words)))
}

fn lists_files(words: &[Option<&str>]) -> bool {
    let Some((Some(program), arguments)) = words.split_first() else {
        return false;
    };
    if arguments.iter().any(Option::is_none) {
        return false;
    }
    let arguments: Vec<&str> = arguments.iter().flatten().copied().collect();
    let has = |texts: &[&str]| arguments.iter().any(|word| texts.contains(word));
    let starts = |prefix: &str| arguments.iter().any(|word| word.starts_with(prefix));
    match *program {
        "find" => {
            !starts("-printf")
                && !starts("-exec")
                && !starts("-ok")
                && !starts("-fprint")
                && !starts("-ls")
                && !starts("-fls")
                && !starts("-files0")
        }
        "fd" | "fdfind" => {
            !starts("-x")
                && !starts("-X")
                && !starts("--exec")
                && !starts("--format")
                && !starts("-l")
                && !starts("--list-details")
        }
        // A long listing prints modes, which start with a dash, and dates in any format.
        "ls" => arguments.iter().all(|word| {
            let letters = word.strip_prefix('-');
            letters
                .is_none_or(|letters| letters.bytes().all(|byte| b"1aAdrtRSXUFp".contains(&byte)))
        }),
        "git" => lists_of_git(&arguments),
        // With these options, it prints import paths.
        "go" => {
            matches!(
                arguments.as_slice(),
                [
                    "env",
                    "GOPATH" | "GOROOT" | "GOMODCACHE" | "GOBIN" | "GOCACHE"
                ]
            ) || arguments.first() == Some(&"list")
                && arguments[1..]
                    .iter()
                    .all(|word| !word.starts_with('-') || matches!(*word, "-e" | "-deps" | "-test"))
        }
        // They print paths, or nothing.
        "which" => arguments
            .iter()
            .all(|word| !word.starts_with('-') || *word == "-a"),
        "pwd" => arguments.is_empty(),
        "npm" | "pnpm" | "yarn" => matches!(
            arguments.as_slice(),
            ["root" | "bin" | "prefix"] | ["root" | "bin" | "prefix", "-g"]
        ),
        "rustc" => arguments == ["--print", "sysroot"],
        "brew" => {
            arguments.first() == Some(&"--prefix")
                && arguments[1..].iter().all(|word| !word.starts_with('-'))
        }
        "docker" | "podman" => lists_containers(&arguments),
        "kubectl" | "oc" => lists_resources(&arguments),
        "gh" => lists_numbers(&arguments),
        "grep" | "rg" | "egrep" => {
            let lists = |word: &&str| {
                word.starts_with('-')
                    && !word.starts_with("--")
                    && word[1..].contains('l')
                    && word[1..]
                        .bytes()
                        .all(|byte| b"lrRinEFwsIHzZ".contains(&byte))
            };
            arguments.iter().any(lists) || has(&["--files-with-matches", "--files"])
        }
        _ => false,
    }
}

/// Returns whether arguments of `git` list files, or names of branches, tags or commits.
fn lists_of_git(arguments: &[&str]) -> bool {
    let is_count =
        |word: &str| word.len() > 1 && word[1..].bytes().all(|byte| byte.is_ascii_digit());
    let starts = |prefix: &str| arguments.iter().any(|word| word.starts_with(prefix));
    match arguments.first() {
        Some(&"for-each-ref") => {
            starts("--format")
                && arguments[1..].iter().all(|word| {
                    !word.starts_with('-')
                        || *word == "--format=%(refname:short)"
                        || word.starts_with("--sort=")
                })
        }
        // With another operand, it makes a tag.
        Some(&"tag") => {
            let rest = &arguments[1..];
            let lists = rest.iter().any(|word| matches!(*word, "-l" | "--list"));
            rest.iter().all(|word| match word.strip_prefix('-') {
                Some(option) => matches!(option, "l" | "-list") || option.starts_with("-sort="),
                None => lists,
            })
        }
        Some(&"ls-files") => !starts("--format"),
        Some(&"branch") => arguments[1..] == ["--show-current"],
        Some(&"describe") => arguments[1..].iter().all(|word| {
            !word.starts_with('-')
                || matches!(*word, "--tags" | "--always" | "--abbrev=0" | "--all")
        }),
        Some(&"log") => {
            let (formats, others): (Vec<&str>, Vec<&str>) = arguments[1..]
                .iter()
                .partition(|word| word.starts_with("--format") || word.starts_with("--pretty"));
            let is_commit = |word: &&&str| {
                matches!(
                    word.split_once('='),
                    Some((
                        _,
                        "%h" | "%H"
                            | "format:%h"
                            | "format:%H"
                            | "%ct"
                            | "%at"
                            | "%cI"
                            | "%aI"
                            | "%cs"
                            | "%as"
                    ))
                )
            };
            let selects = |word: &&str| {
                !word.starts_with('-')
                    || word[1..].bytes().all(|byte| byte.is_ascii_digit())
                    || matches!(
                        *word,
                        "--no-merges"
                            | "--merges"
                            | "--reverse"
                            | "--all"
                            | "--first-parent"
                            | "--"
                            | "-n"
                    )
                    || ["--since=", "--until=", "--author=", "--grep="]
                        .iter()
                        .any(|start| word.starts_with(start))
            };
            formats.len() == 1
                && formats.iter().all(|word| is_commit(&word))
                && others.iter().all(selects)
        }
        // Names of commits: what is none is printed as it is.
        Some(&"rev-parse" | &"merge-base") => arguments[1..].iter().all(|word| {
            !word.starts_with('-')
                || matches!(
                    *word,
                    "--short" | "--verify" | "--show-toplevel" | "--abbrev-ref" | "--git-dir"
                )
        }),
        Some(&"rev-list") => arguments[1..].iter().all(|word| {
            !word.starts_with('-') || matches!(*word, "--all" | "-n") || is_count(word)
        }),
        Some(&"diff") => {
            arguments.contains(&"--name-only") && !starts("--line-prefix") && !starts("--output")
        }
        _ => false,
    }
}

/// Returns whether a list is expected to have one item: the newest, the first, or those of a name.
pub(super) fn lists_one(list: &List) -> bool {
    let [item] = list.as_slice() else {
        return false;
    };
    let stages: Option<Vec<_>> = item.pipeline.iter().map(texts).collect();
    let Some([first, rest @ ..]) = stages.as_deref() else {
        return false;
    };
    let is_head = |words: &Vec<Option<&str>>| {
        matches!(
            words.as_slice(),
            [Some("head" | "tail"), Some("-1" | "-n1")]
                | [Some("head" | "tail"), Some("-n"), Some("1")]
        )
    };
    let selects = |word: Option<&str>| {
        word.is_some_and(|word| {
            word == "--latest"
                || word.starts_with("--filter")
                || word.starts_with('-') && !word.starts_with("--") && word.contains(['f', 'l'])
        })
    };
    rest.iter().any(is_head)
        || matches!(first.as_slice(), [Some("docker" | "podman"), Some("ps"), arguments @ ..] if arguments.iter().copied().any(selects))
        || matches!(first.as_slice(), [Some("docker"), Some("compose"), Some("ps"), arguments @ ..] if arguments.iter().flatten().any(|word| !word.starts_with('-')))
}

/// Returns whether arguments of `docker` list identifiers: `ps -q`, `compose ps -q`.
fn lists_containers(arguments: &[&str]) -> bool {
    let (["ps" | "images", rest @ ..]
    | [
        "container" | "image" | "network" | "volume",
        "ls",
        rest @ ..,
    ]
    | ["compose", "ps", rest @ ..]
    | ["compose", "-f" | "-p" | "--profile", _, "ps", rest @ ..]) = arguments
    else {
        return false;
    };
    let is_quiet = |word: &&str| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        *word == "--quiet"
            || letters.is_some_and(|letters| {
                letters.split('f').next().unwrap_or_default().contains('q')
                    && letters.bytes().all(|byte| b"aqflns".contains(&byte))
            })
    };
    rest.iter().any(is_quiet) && !rest.iter().any(|word| word.starts_with("--format"))
}

/// Returns whether arguments of `kubectl` list names of resources.
fn lists_resources(arguments: &[&str]) -> bool {
    #[rustfmt::skip] // Formats in order.
    const NAMES: &[&str] = &[
        "name", "custom-columns=:.metadata.name", "custom-columns=:metadata.name", "custom-columns=NAME:.metadata.name", "jsonpath={.items..metadata.name}", "jsonpath={.items[*].metadata.name}",
        "jsonpath={.items[0].metadata.name}", "jsonpath={.metadata.name}",
    ];
    let is_get = matches!(
        arguments,
        ["get", ..] | ["-n" | "--namespace" | "--context", _, "get", ..]
    );
    let mut formats = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        let next = || arguments.get(index + 1).copied().unwrap_or_default();
        if matches!(*word, "-o" | "--output") {
            formats.push(next());
        } else if let Some(rest) = word.strip_prefix("--output=") {
            formats.push(rest);
        } else if let Some(rest) = word.strip_prefix("-o") {
            formats.push(rest.trim_start_matches('='));
        } else if word.starts_with("--template")
            || word.starts_with('-') && !word.starts_with("--") && word.contains('o')
        {
            return false;
        }
    }
    is_get && matches!(formats.as_slice(), [format] if NAMES.contains(format))
}

/// Returns whether arguments of `gh` print a field that is a number or a commit: `run list --json databaseId -q '.[0].databaseId'`.
fn lists_numbers(arguments: &[&str]) -> bool {
    let is_list = matches!(arguments, ["run" | "pr" | "issue", "list" | "view", ..]);
    let mut filters = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        let next = || arguments.get(index + 1).copied().unwrap_or_default();
        if matches!(*word, "-q" | "--jq") {
            filters.push(next());
        } else if let Some(rest) = word.strip_prefix("--jq=") {
            filters.push(rest);
        } else if word.starts_with("-q") || word.starts_with("-t") || word.starts_with("--template")
        {
            return false;
        }
    }
    let is_number = |filter: &str| {
        let (list, field) = filter.rsplit_once('.').unwrap_or_default();
        let index = list
            .strip_prefix(".[")
            .and_then(|list| list.strip_suffix(']'));
        (list.is_empty()
            || index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit())))
            && matches!(field, "databaseId" | "number" | "headSha" | "headRefOid")
    };
    is_list && matches!(filters.as_slice(), [filter] if is_number(filter))
}

fn filters_lines(words: &[Option<&str>]) -> bool {
    let Some((Some(program), arguments)) = words.split_first() else {
        return false;
    };
    let arguments: Vec<&str> = arguments.iter().flatten().copied().collect();
    match *program {
        "sort" | "uniq" | "head" => arguments
            .iter()
            .all(|word| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit())),
        "grep" => {
            arguments
                .iter()
                .filter(|word| !word.starts_with('-'))
                .count()
                == 1
                && !arguments.iter().any(|word| {
                    word.starts_with("--")
                        || word.starts_with('-') && word.contains(['o', 'b', 'f', 'c'])
                })
        }
        _ => false,
    }
}

/// Returns the text that a command prints.
pub(super) fn printed_text(command: &Command) -> Option<String> {
    let words = texts(command).filter(|_| command.redirections.is_empty())?;
    match words.as_slice() {
        [Some("echo"), Some(text)] if !text.starts_with('-') && !text.contains('\\') => {
            Some(format!("{text}\n"))
        }
        _ => None,
    }
}
