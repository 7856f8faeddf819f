//! Programs that a row of a table cannot describe.

use super::arguments::{Arguments, Style, gather};
use super::reader::Input;
use super::{Word, Write, code, git, languages};

/// What such a program writes.
pub(super) fn writes(name: &str, arguments: &[Word], input: &Input) -> Vec<Write> {
    match name {
        "sed" | "gsed" => sed(arguments),
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
        "tar" | "gtar" | "bsdtar" => tar(arguments),
        "dd" => dd(arguments),
        "find" | "gfind" => find(arguments),
        "sqlite3" => sqlite(arguments, input),
        "git" => git::configured_programs(arguments).into_iter().collect(),
        _ => code::writes(name, arguments, input),
    }
}

/// Variables whose value git, pagers or shells run.
pub(super) fn runs_its_value(variable: &str) -> bool {
    const NAMES: &[&str] = &[
        "BASH_ENV",
        "EDITOR",
        "ENV",
        "GIT_ASKPASS",
        "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "LESSOPEN",
        "MANPAGER",
        "PAGER",
        "PROMPT_COMMAND",
        "VISUAL",
    ];
    NAMES.contains(&variable)
}

/// Programs for which `--help` at the end may be another program's argument.
pub(super) fn runs_anything(name: &str) -> bool {
    matches!(
        name,
        "npm"
            | "pnpm"
            | "yarn"
            | "bun"
            | "eval"
            | "xargs"
            | "env"
            | "exec"
            | "command"
            | "builtin"
            | "nohup"
            | "time"
            | "echo"
            | "sh"
            | "bash"
    )
}

fn written(how: &str, paths: impl IntoIterator<Item = Option<String>>) -> Vec<Write> {
    paths
        .into_iter()
        .map(|path| Write::new(how.to_owned(), path))
        .collect()
}

fn sed(arguments: &[Word]) -> Vec<Write> {
    let given = gather(
        arguments,
        Style::Letters,
        &[
            "-e",
            "--expression",
            "-f",
            "--file",
            "-l",
            "--line-length",
            "-i?",
            "-I?",
        ],
    );
    let mut operands: &[Word] = &given.operands;
    let in_place = given.has(&["-i", "-I", "--in-place"]);
    if in_place
        && let [first, rest @ ..] = operands
        && first.shape().is_empty()
    {
        // The suffix, as BSD has it.
        operands = rest;
    }
    let mut scripts: Vec<&Word> = given.values(&["-e", "--expression"]).flatten().collect();
    if scripts.is_empty()
        && !given.has(&["-f", "--file"])
        && let [script, rest @ ..] = operands
    {
        scripts.push(script);
        operands = rest;
    }
    let mut writes = Vec::new();
    if in_place && operands.is_empty() {
        writes.extend(written("`sed -i`", [None]));
    } else if in_place {
        writes.extend(written("`sed -i`", operands.iter().map(Word::path)));
    }
    for script in scripts {
        writes.extend(written(
            "`w` in a `sed` script",
            languages::sed(script.shape()),
        ));
    }
    writes
}

fn awk(arguments: &[Word]) -> Vec<Write> {
    let takes = [
        "-F",
        "--field-separator",
        "-v",
        "--assign",
        "-f",
        "--file",
        "-i",
        "--include",
        "-e",
        "--source",
        "-E",
        "--exec",
    ];
    let given = gather(arguments, Style::Letters, &takes);
    let mut operands: &[Word] = &given.operands;
    let mut programs: Vec<&Word> = given.values(&["-e", "--source"]).flatten().collect();
    if programs.is_empty()
        && !given.has(&["-f", "--file", "-E", "--exec"])
        && let [program, rest @ ..] = operands
    {
        programs.push(program);
        operands = rest;
    }
    let mut writes = Vec::new();
    let in_place = given
        .values(&["-i", "--include"])
        .flatten()
        .any(|word| word.shape().starts_with("inplace"));
    if in_place {
        writes.extend(written("`awk -i inplace`", operands.iter().map(Word::path)));
    }
    for program in programs {
        writes.extend(written(
            "an output in an `awk` program",
            languages::awk(program.shape()),
        ));
    }
    writes
}

fn tar(arguments: &[Word]) -> Vec<Write> {
    let takes = [
        "-f",
        "--file",
        "-C",
        "--directory",
        "-T",
        "-X",
        "-b",
        "-I",
        "--use-compress-program",
        "--exclude",
        "--transform",
        "--to-command",
        "--checkpoint-action",
    ];
    let (mut given, archive) = match arguments.split_first() {
        // `tar xzf archive`: letters first, their values behind them in their order.
        Some((first, rest)) if !first.shape().starts_with('-') => {
            let letters = gather(
                &[Word::literal(&format!("-{}", first.shape()))],
                Style::Letters,
                &[],
            );
            let mut rest = gather(rest, Style::Letters, &takes);
            let archive = (letters.has(&["-f"]) && !rest.operands.is_empty())
                .then(|| rest.operands.remove(0));
            rest.options.extend(letters.options);
            (rest, archive)
        }
        _ => (gather(arguments, Style::Letters, &takes), None),
    };
    given.options.retain(|option| option.name != "-v");
    let archive = archive.or_else(|| given.values(&["-f", "--file"]).flatten().last().cloned());
    let mut writes = Vec::new();
    if given.has(&["--to-command", "--checkpoint-action", "--remove-files"]) {
        writes.extend(written("`tar`", [None]));
    }
    if given.has(&["-x", "--extract", "--get"]) && !given.has(&["-O", "--to-stdout"]) {
        let place = given
            .values(&["-C", "--directory"])
            .last()
            .map_or(Some(".".to_owned()), |word| word.and_then(Word::path));
        writes.extend(written("`tar`", [place]));
    }
    let makes = given.has(&[
        "-c", "--create", "-r", "--append", "-u", "--update", "-A", "--delete",
    ]);
    if let Some(archive) = archive.filter(|archive| makes && archive.shape() != "-") {
        writes.extend(written("`tar`", [archive.path()]));
    }
    writes
}

fn dd(arguments: &[Word]) -> Vec<Write> {
    written(
        "`dd`",
        arguments
            .iter()
            .filter(|word| word.shape().starts_with("of="))
            .map(|word| word.from(3).path()),
    )
}

fn find(arguments: &[Word]) -> Vec<Write> {
    let mut writes = Vec::new();
    let behind = |place: usize| arguments.get(place + 1).and_then(Word::path);
    for (place, word) in arguments.iter().enumerate() {
        match word.shape() {
            "-delete" => writes.extend(written("`find -delete`", starting_points(arguments))),
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                writes.extend(written("`find`", [behind(place)]));
            }
            _ => {}
        }
    }
    writes
}

fn starting_points(arguments: &[Word]) -> Vec<Option<String>> {
    let points: Vec<Option<String>> = arguments
        .iter()
        .skip_while(|word| matches!(word.shape(), "-H" | "-L" | "-P"))
        .take_while(|word| !word.shape().starts_with(['-', '(', '!']))
        .map(Word::path)
        .collect();
    if points.is_empty() {
        vec![Some(".".to_owned())]
    } else {
        points
    }
}

fn sqlite(arguments: &[Word], input: &Input) -> Vec<Write> {
    const READING: &[&str] = &[
        "select",
        "explain",
        "pragma table",
        "pragma index",
        "pragma integrity",
        "with ",
        ".schema",
        ".tables",
        ".dump",
        ".indexes",
        ".indices",
        ".mode",
        ".headers",
        ".databases",
        ".help",
    ];
    let given: Arguments = gather(
        arguments,
        Style::Words,
        &["-cmd", "-init", "-separator", "-nullvalue"],
    );
    let Some(database) = given.operands.first() else {
        return Vec::new();
    };
    let statement = match (given.operands.get(1), input) {
        (Some(word), _) | (None, Input::Text(word)) => Some(word.shape()),
        (None, Input::Pipe) => Some(""),
        (None, Input::Inherited | Input::File) => None,
    };
    let reads = statement.is_none_or(|statement| {
        let statement = statement.trim_start().to_ascii_lowercase();
        let changes = [
            "insert ", "update ", "delete ", "drop ", "create ", "alter ", "attach ", ".output",
            ".once", ".import", ".system", ".shell",
        ];
        READING.iter().any(|reading| statement.starts_with(reading))
            && !changes.iter().any(|change| statement.contains(change))
    });
    if reads || given.has(&["-readonly"]) {
        Vec::new()
    } else {
        written("`sqlite3`", [database.path()])
    }
}
