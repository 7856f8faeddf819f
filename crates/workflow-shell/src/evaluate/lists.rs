//! Commands that list names: of files, commits, containers, resources.
//!
//! Names that start with a dash are not expected of them.

/// Returns whether a command lists names of files, commits, packages or containers, or prints numbers.
pub(super) fn lists_files(words: &[Option<&str>]) -> bool {
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
        program => prints_identifiers(program, &arguments),
    }
}

/// Returns whether a program prints identifiers that it gives itself: numbers, times, names of resources.
fn prints_identifiers(program: &str, arguments: &[&str]) -> bool {
    let has = |texts: &[&str]| arguments.iter().any(|word| texts.contains(word));
    let starts = |prefix: &str| arguments.iter().any(|word| word.starts_with(prefix));
    let has_letter = |letters: &str| {
        let options = arguments.iter().filter(|word| !word.starts_with("--"));
        let mut options = options.filter_map(|word| word.strip_prefix('-'));
        options.any(|option| option.contains(|c| letters.contains(c)))
    };
    match program {
        // It prints numbers.
        "pgrep" => !starts("--list") && !starts("--delimiter") && !has_letter("lad"),
        "pidof" => !has_letter("Sd"),
        "lsof" => arguments.iter().any(|word| matches!(*word, "-t" | "-ti")),
        "date" => {
            let format = arguments.last().and_then(|word| word.strip_prefix("+%"));
            let is_time = format.is_some_and(|format| {
                format.starts_with(|c| "YFsHdmTDyjMSIekl".contains(c))
                    && !format.contains(char::is_whitespace)
            });
            is_time || starts("-I") || starts("--iso-8601")
        }
        "gcloud" => {
            has(&["--format=value(name)", "--format=value(projectId)"])
                && arguments.contains(&"list")
        }
        "helm" => {
            matches!(arguments.first(), Some(&"list" | &"ls")) && has(&["-q", "--short", "-aq"])
        }
        // Identifiers that the provider gives.
        "aws" => {
            let query = arguments
                .windows(2)
                .find(|pair| pair[0] == "--query")
                .map(|pair| {
                    pair[1].trim_end_matches(|c: char| c.is_ascii_digit() || "[]".contains(c))
                });
            arguments
                .windows(2)
                .any(|pair| pair == ["--output", "text"])
                && query.is_some_and(|query| {
                    !query.contains(|c| ",{`'\"(|".contains(c))
                        && ["Arn", "Arns", "Id", "Ids"]
                            .iter()
                            .any(|end| query.ends_with(end))
                })
        }
        _ => false,
    }
}

/// Returns whether arguments of `git` list files, or names of branches, tags or commits.
fn lists_of_git(arguments: &[&str]) -> bool {
    let starts = |prefix: &str| arguments.iter().any(|word| word.starts_with(prefix));
    let has = |texts: &[&str]| arguments.iter().any(|word| texts.contains(word));
    match arguments.first() {
        Some(&"for-each-ref") => lists_references(&arguments[1..]),
        Some(&"branch") if starts("--format") => lists_references(&arguments[1..]),
        Some(&"remote") => arguments.len() == 1,
        Some(&"show" | &"log" | &"diff-tree")
            if starts("--name-only")
                && has(&[
                    "--format=",
                    "--pretty=",
                    "--pretty=format:",
                    "--format=format:",
                    "--no-commit-id",
                ]) =>
        {
            !starts("--line-prefix") && !starts("--output") && !starts("--graph")
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
            formats.len() == 1
                && formats.iter().all(|word| is_commit(&word))
                && others.iter().all(|word| selects_commits(word))
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
            selects_commits(word)
                || word.starts_with("--max-parents=")
                || word.starts_with("--min-parents=")
        }),
        Some(&"grep") => has(&[
            "-l",
            "--name-only",
            "--files-with-matches",
            "-lE",
            "-li",
            "-il",
            "-lF",
            "-lw",
        ]),
        Some(&"diff") => {
            arguments.contains(&"--name-only") && !starts("--line-prefix") && !starts("--output")
        }
        _ => false,
    }
}

/// Returns whether arguments of `git for-each-ref` and `git branch` list names of references.
fn lists_references(arguments: &[&str]) -> bool {
    let names_reference = |word: &str| {
        matches!(
            word,
            "--format=%(refname:short)"
                | "--format=%(refname)"
                | "--format=%(objectname)"
                | "--format=%(objectname:short)"
        )
    };
    let selects = |word: &str| {
        [
            "--sort=",
            "--count=",
            "--merged",
            "--no-merged",
            "--contains",
        ]
        .iter()
        .any(|start| word.starts_with(start))
            || matches!(word, "-r" | "-a" | "--all" | "--remotes" | "--list" | "-l")
    };
    arguments.iter().any(|word| word.starts_with("--format"))
        && arguments
            .iter()
            .all(|word| !word.starts_with('-') || names_reference(word) || selects(word))
}

/// Returns whether an argument of `git log` selects commits, and changes nothing about how they are shown.
pub(super) fn selects_commits(word: &str) -> bool {
    !word.starts_with('-')
        || word[1..].bytes().all(|byte| byte.is_ascii_digit())
        || matches!(
            word,
            "--no-merges" | "--merges" | "--reverse" | "--all" | "--first-parent" | "--" | "-n"
        )
        || [
            "--since=",
            "--until=",
            "--author=",
            "--grep=",
            "--after=",
            "--before=",
            "--max-count=",
            "-S",
            "-G",
        ]
        .iter()
        .any(|start| word.starts_with(start))
        || word
            .strip_prefix("-n")
            .is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()))
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
    let mut formats = rest
        .iter()
        .enumerate()
        .filter(|(_, word)| word.starts_with("--format"));
    match (formats.next(), formats.next()) {
        (None, _) => rest.iter().any(is_quiet),
        (Some((at, word)), None) => {
            let format = word
                .strip_prefix("--format=")
                .or_else(|| rest.get(at + 1).copied());
            matches!(
                format,
                Some(
                    "{{.Names}}"
                        | "{{.Name}}"
                        | "{{.ID}}"
                        | "{{.Image}}"
                        | "{{.Repository}}:{{.Tag}}"
                        | "{{.Repository}}"
                )
            )
        }
        _ => false,
    }
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
