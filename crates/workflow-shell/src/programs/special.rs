//! Programs that a row of a table cannot describe.

use super::arguments::{Arguments, Style, gather};
use super::runners::leading;
use super::scope::Input;
use super::{Word, Write, code, git, languages};

/// What such a program writes.
pub(super) fn writes(name: &str, arguments: &[Word], input: &Input) -> Vec<Write> {
    match name {
        "sed" | "gsed" => sed(arguments, input),
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments, input),
        "aws" => aws(arguments),
        "make" | "gmake" => made(arguments, input),
        "time" | "gtime" => timed(arguments),
        "tar" | "gtar" | "bsdtar" => tar(arguments),
        "dd" => dd(arguments),
        "find" | "gfind" => find(arguments),
        "sqlite3" => sqlite(arguments, input),
        "git" => git::configured_programs(arguments).into_iter().collect(),
        _ => code::writes(name, arguments, input),
    }
}

/// Whether git, a pager or a shell runs what a variable is set to.
pub(super) fn runs_its_value(variable: &str, value: &str) -> bool {
    const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4"];
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
    let substitutes = value.contains("$(") || value.contains('`');
    NAMES.contains(&variable)
        || variable.starts_with("GIT_CONFIG_VALUE")
        || PROMPTS.contains(&variable) && substitutes
}

/// Whether tests that see this variable write down what they find.
pub(super) fn renews_files(variable: &str, value: &str) -> bool {
    const NAMES: &[&str] = &[
        "BLESS",
        "GOLDEN_UPDATE",
        "INSTA_FORCE_UPDATE",
        "INSTA_UPDATE",
        "REGENERATE",
        "SNAPSHOT_UPDATE",
        "UPDATE",
        "UPDATE_EXPECT",
        "UPDATE_FIXTURES",
        "UPDATE_GOLDEN",
        "UPDATE_GOLDENS",
        "UPDATE_SNAPSHOT",
        "UPDATE_SNAPSHOTS",
    ];
    let on = !matches!(value, "" | "0" | "no" | "false" | "off");
    on && NAMES.contains(&variable) || variable == "TRYBUILD" && value == "overwrite"
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

fn written_to<'a>(how: &str, words: impl IntoIterator<Item = &'a Word>) -> Vec<Write> {
    let write = |word| Write::at(how.to_owned(), word);
    words.into_iter().map(write).collect()
}

fn written(how: &str, paths: impl IntoIterator<Item = Option<String>>) -> Vec<Write> {
    paths
        .into_iter()
        .map(|path| Write::new(how.to_owned(), path))
        .collect()
}

fn sed(arguments: &[Word], input: &Input) -> Vec<Write> {
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
    let unseen = program_files(&given, input, &mut scripts);
    if scripts.is_empty()
        && !given.has(&["-f", "--file"])
        && let [script, rest @ ..] = operands
    {
        scripts.push(script);
        operands = rest;
    }
    let mut writes = Vec::new();
    if unseen {
        writes.extend(written("a `sed` script that is not in the line", [None]));
    }
    if in_place && operands.is_empty() {
        writes.extend(written("`sed -i`", [None]));
    } else if in_place {
        writes.extend(written_to("`sed -i`", operands));
    }
    for script in scripts {
        writes.extend(written(
            "`w` in a `sed` script",
            languages::sed(script.shape()),
        ));
    }
    writes
}

fn awk(arguments: &[Word], input: &Input) -> Vec<Write> {
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
    let unseen = program_files(&given, input, &mut programs);
    if programs.is_empty()
        && !given.has(&["-f", "--file", "-E", "--exec"])
        && let [program, rest @ ..] = operands
    {
        programs.push(program);
        operands = rest;
    }
    let mut writes = Vec::new();
    if unseen {
        writes.extend(written("an `awk` program that is not in the line", [None]));
    }
    let in_place = given
        .values(&["-i", "--include"])
        .flatten()
        .any(|word| word.shape().starts_with("inplace"));
    if in_place {
        writes.extend(written_to("`awk -i inplace`", operands));
    }
    for program in programs {
        writes.extend(written(
            "an output in an `awk` program",
            languages::awk(program.shape()),
        ));
    }
    writes
}

/// Adds programs that `-f` names and the line holds; whether there is one that it does not hold.
fn program_files<'a>(given: &'a Arguments, input: &'a Input, programs: &mut Vec<&'a Word>) -> bool {
    let mut unseen = false;
    for file in given.values(&["-f", "--file", "-E", "--exec"]).flatten() {
        match input {
            _ if file.is_process() => unseen = true,
            Input::Text(text) if file.is_input() => programs.push(text),
            Input::Pipe if file.is_input() => unseen = true,
            _ => {}
        }
    }
    unseen
}

/// `aws s3 cp` and its kin, where the last operand is a place on this machine.
fn aws(arguments: &[Word]) -> Vec<Write> {
    let given = gather(arguments, Style::Letters, &["--profile", "--region"]);
    let words: Vec<&str> = given.operands.iter().map(Word::shape).collect();
    match words.as_slice() {
        ["s3", "mv", ..] => written("`aws s3 mv`", [None]),
        ["s3", "cp" | "sync", _, to, ..] if *to != "-" && !to.starts_with("s3://") => {
            written("`aws s3`", [given.operands.get(3).and_then(Word::path)])
        }
        _ => Vec::new(),
    }
}

/// `make` with rules that do not stand in a file of the project.
fn made(arguments: &[Word], input: &Input) -> Vec<Write> {
    let given = gather(
        arguments,
        Style::Letters,
        &["-f", "--file", "--makefile", "-C", "-j?"],
    );
    let here = matches!(input, Input::Text(_) | Input::Pipe);
    let mut files = given.values(&["-f", "--file", "--makefile"]).flatten();
    let unseen = files.any(|file| file.is_process() || here && file.is_input());
    if unseen {
        written("`make` with rules from its input", [None])
    } else {
        Vec::new()
    }
}

/// `time -o file`; what stands behind the command belongs to it.
fn timed(arguments: &[Word]) -> Vec<Write> {
    let leading = leading(arguments, &["-o", "--output", "-f", "--format"]);
    let values = leading.values(&["-o", "--output"]);
    written("`time`", values.map(|value| value.and_then(Word::path)))
}

#[rustfmt::skip] // Options that belong together.
fn tar(arguments: &[Word]) -> Vec<Write> {
    const PROGRAMS: &[&str] = &["-I", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script", "-F"];
    let takes = [
        "-f", "--file", "-C", "--directory", "-T", "-X", "-b", "--exclude", "--transform", "--to-command", "--checkpoint-action",
        "-I", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script", "-F",
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
    let compresses = |word: &Word| {
        let program = word.shape().split(' ').next().unwrap_or_default();
        [
            "gzip", "pigz", "bzip2", "lbzip2", "pbzip2", "xz", "zstd", "zstdmt", "lz4", "brotli",
        ]
        .contains(&program)
    };
    let runs_other = given
        .values(PROGRAMS)
        .any(|word| !word.is_some_and(compresses));
    if runs_other || given.has(&["--to-command", "--checkpoint-action", "--remove-files"]) {
        writes.extend(written("`tar`", [None]));
    }
    if given.has(&["-x", "--extract", "--get"]) && !given.has(&["-O", "--to-stdout"]) {
        let mut places = given.values(&["-C", "--directory"]);
        let place = match (places.next(), places.next()) {
            _ if given.has(&["-P", "--absolute-names"]) => None,
            (None, _) => Some(".".to_owned()),
            (Some(place), None) => place.and_then(Word::path),
            // Each is seen from the one before.
            (Some(_), Some(_)) => None,
        };
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
        (None, Input::Pipe | Input::File) => Some(""),
        (None, Input::Inherited) => None,
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
