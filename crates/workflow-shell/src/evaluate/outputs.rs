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

/// What the lines that a pipeline prints consist of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Names of files, commits, packages or containers, or numbers. Names that start with a dash are not expected.
    Names,
    /// Columns, of which these are names; the first is 1.
    Columns(&'static [usize]),
    Unknown,
}

/// Returns whether a pipeline prints names.
pub(super) fn prints_files(pipeline: &[Command]) -> bool {
    printed_lines(pipeline) == Lines::Names
}

/// Returns what the lines that a pipeline prints consist of.
pub(super) fn printed_lines(pipeline: &[Command]) -> Lines {
    let mut commands = pipeline.iter();
    let Some(words) = commands.next().and_then(joined_texts) else {
        return Lines::Unknown;
    };
    let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
    let mut lines = if lists_files(&words) {
        Lines::Names
    } else {
        name_columns(&words).map_or(Lines::Unknown, Lines::Columns)
    };
    for command in commands {
        let Some(words) = texts(command) else {
            return Lines::Unknown;
        };
        if filters_lines(&words) {
            continue;
        }
        lines = match (lines, selected_column(&words)) {
            (Lines::Names, Some(column)) if column.number == 1 || column.of_path => Lines::Names,
            (Lines::Columns(names), Some(column))
                if !column.of_path && names.contains(&column.number) =>
            {
                Lines::Names
            }
            _ => return Lines::Unknown,
        };
    }
    lines
}

/// Returns the columns of a table that are names.
fn name_columns(words: &[Option<&str>]) -> Option<&'static [usize]> {
    let words: Option<Vec<&str>> = words.iter().copied().collect();
    let words = words?;
    let has = |texts: &[&str]| words.iter().any(|word| texts.contains(word));
    let starts = |prefix: &str| words.iter().any(|word| word.starts_with(prefix));
    let of_all: &[usize] = if has(&["-A", "--all-namespaces"]) {
        &[1, 2]
    } else {
        &[1]
    };
    match words.as_slice() {
        ["kubectl" | "oc", "get", ..]
        | [
            "kubectl" | "oc",
            "-n" | "--namespace" | "--context",
            _,
            "get",
            ..,
        ] => {
            let is_table = !starts("-o") && !starts("--output") && !starts("--template")
                || has(&["-owide", "-o=wide", "--output=wide"]);
            is_table.then_some(of_all)
        }
        ["helm", "list" | "ls", ..] => (!starts("-o") && !starts("--output")).then_some(of_all),
        ["docker" | "podman", "ps" | "images", ..] => (!starts("--format")).then_some(&[1]),
        ["git", "log", rest @ ..] => {
            let selects = |word: &&str| {
                *word == "--oneline" || *word == "--no-decorate" || selects_commits(word)
            };
            (has(&["--oneline"]) && rest.iter().all(selects)).then_some(&[1])
        }
        ["git", "status", rest @ ..] => rest
            .iter()
            .all(|word| {
                matches!(
                    *word,
                    "-s" | "--short" | "--porcelain" | "-uno" | "-uall" | "-u"
                )
            })
            .then_some(&[2]),
        ["git", "diff", rest @ ..] if has(&["--name-status"]) => {
            (!rest.iter().any(|word| word.starts_with("--line-prefix"))).then_some(&[2])
        }
        ["git", "worktree" | "stash", "list"] => Some(&[1]),
        ["git", "ls-remote", ..] | ["git", "remote", "-v"] => Some(&[1, 2]),
        ["ps", "aux" | "-ef" | "auxww" | "-eF"] => Some(&[2]),
        ["ps", "ax"] => Some(&[1]),
        ["wc", "-l" | "-c" | "-w", rest @ ..] if !rest.is_empty() => Some(&[2]),
        _ => None,
    }
}

/// A column that a filter selects.
struct Column {
    number: usize,
    /// The parts between slashes are the columns.
    of_path: bool,
}

/// Returns the column that a command prints of each line: `awk '{print $2}'`, `cut -d/ -f2`.
fn selected_column(words: &[Option<&str>]) -> Option<Column> {
    let words: Option<Vec<&str>> = words.iter().copied().collect();
    match words?.as_slice() {
        ["awk", program] => Some(Column {
            number: printed_column(program)?,
            of_path: false,
        }),
        ["awk", "-F/", program] | ["awk", "-F", "/", program] => Some(Column {
            number: printed_column(program)?,
            of_path: true,
        }),
        ["cut", arguments @ ..] => {
            let joined = arguments.join("\u{1}");
            let (mut delimiter, mut field) = (None, None);
            let joined = joined.replace("-d\u{1}", "-d").replace("-f\u{1}", "-f");
            for argument in joined.split('\u{1}') {
                match argument.split_at_checked(2) {
                    Some(("-d", text)) => delimiter = Some(text),
                    Some(("-f", text)) => field = text.parse().ok(),
                    Some(("-c", text)) if text.starts_with(['1', '-']) => field = Some(1),
                    _ => return None,
                }
            }
            Some(Column {
                number: field.filter(|number| *number == 1 || delimiter == Some("/"))?,
                of_path: delimiter == Some("/"),
            })
        }
        _ => None,
    }
}

/// Returns the column that a program of `awk` prints: `NR>1 {print $1}`, `/x/{print $2}`.
fn printed_column(program: &str) -> Option<usize> {
    let (pattern, action) = program.trim().split_once('{')?;
    let pattern = pattern.trim();
    let rows = pattern
        .strip_prefix("NR")
        .map(|rest| rest.trim_start_matches([' ', '>', '!', '=']));
    let is_rows = rows.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let expression = pattern.trim_start_matches('!').strip_prefix('/');
    let is_expression = expression
        .and_then(|rest| rest.strip_suffix('/'))
        .is_some_and(|rest| !rest.contains('/'));
    let is_known = pattern.is_empty() || is_rows && !pattern.contains("NR=1") || is_expression;
    let printed = action
        .trim()
        .strip_suffix('}')?
        .trim()
        .trim_end_matches(';');
    let column = printed
        .trim()
        .strip_prefix("print")?
        .trim()
        .strip_prefix('$')?;
    is_known.then(|| column.parse().ok()).flatten()
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
        // It prints numbers.
        "pgrep" => {
            !starts("-l")
                && !starts("-a")
                && !starts("--list")
                && !starts("-d")
                && !starts("--delimiter")
        }
        "pidof" => !starts("-S"),
        "lsof" => arguments.iter().any(|word| matches!(*word, "-t" | "-ti")),
        "date" => {
            let format = arguments.last().and_then(|word| word.strip_prefix("+%"));
            let is_time = format.is_some_and(|format| {
                format.starts_with(|c| "YFsHdmTDyjMSIekl".contains(c))
                    && !format.contains(char::is_whitespace)
            });
            is_time || starts("-I") || starts("--iso-8601")
        }
        "gcloud" => starts("--format=value(name") && arguments.contains(&"list"),
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
                    ["Arn", "Arns", "Id", "Ids"]
                        .iter()
                        .any(|end| query.ends_with(end))
                })
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
    let starts = |prefix: &str| arguments.iter().any(|word| word.starts_with(prefix));
    let has = |texts: &[&str]| arguments.iter().any(|word| texts.contains(word));
    let names_reference = |word: &str| {
        matches!(
            word,
            "--format=%(refname:short)"
                | "--format=%(refname)"
                | "--format=%(objectname)"
                | "--format=%(objectname:short)"
        )
    };
    match arguments.first() {
        Some(&"for-each-ref") => {
            starts("--format")
                && arguments[1..].iter().all(|word| {
                    !word.starts_with('-')
                        || names_reference(word)
                        || [
                            "--sort=",
                            "--count=",
                            "--merged",
                            "--no-merged",
                            "--contains",
                        ]
                        .iter()
                        .any(|start| word.starts_with(start))
                })
        }
        Some(&"branch") if starts("--format") => arguments[1..].iter().all(|word| {
            !word.starts_with('-')
                || names_reference(word)
                || ["--sort=", "--merged", "--no-merged", "--contains"]
                    .iter()
                    .any(|start| word.starts_with(start))
                || matches!(*word, "-r" | "-a" | "--all" | "--remotes" | "--list" | "-l")
        }),
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

/// Returns whether an argument of `git log` selects commits, and changes nothing about how they are shown.
fn selects_commits(word: &str) -> bool {
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
    let is_one = |words: &[Option<&str>]| match words {
        [Some("pgrep"), options @ ..] => options
            .iter()
            .flatten()
            .any(|word| matches!(*word, "-n" | "-o" | "-nf" | "-of" | "-nx" | "-ox")),
        [Some("pidof"), Some("-s"), ..] | [Some("date"), ..] => true,
        _ => false,
    };
    rest.iter().any(is_head)
        || is_one(first)
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

fn filters_lines(words: &[Option<&str>]) -> bool {
    let Some((Some(program), arguments)) = words.split_first() else {
        return false;
    };
    let arguments: Vec<&str> = arguments.iter().flatten().copied().collect();
    match *program {
        // It has them in one line.
        "tr" => arguments == ["\\n", " "],
        "xargs" => matches!(
            arguments.as_slice(),
            ["-n1" | "-I{}", "dirname" | "basename"]
                | ["dirname"]
                | ["-n", "1", "dirname" | "basename"]
        ),
        "sort" | "uniq" | "head" | "tail" => arguments
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
    if !command.redirections.is_empty() {
        return None;
    }
    if let CommandKind::Group(list) | CommandKind::Subshell(list) = &command.kind {
        let texts = list.iter().map(|item| match item.pipeline.as_slice() {
            [command] if !item.background => printed_text(command),
            _ => None,
        });
        return texts.collect();
    }
    match texts(command)?.as_slice() {
        [Some("echo")] => Some("\n".to_owned()),
        [Some("echo"), Some(text)] if !text.starts_with('-') && !text.contains('\\') => {
            Some(format!("{text}\n"))
        }
        [Some("printf"), Some(text)] if !text.starts_with('-') && !text.contains('%') => {
            let text = text.replace("\\r", "\r").replace("\\n", "\n");
            (!text.contains('\\')).then_some(text)
        }
        [Some("sleep" | ":" | "true"), ..] => Some(String::new()),
        _ => None,
    }
}

/// Returns whether a command prints nothing but a text of the line: `echo`, `printf 'PING'`, or no command.
pub(super) fn prints_only_text(command: &Command) -> bool {
    texts(command).is_some_and(|words| {
        matches!(
            words.first(),
            None | Some(Some("echo" | "printf" | ":" | "true"))
        ) && words.iter().all(Option::is_some)
    })
}
