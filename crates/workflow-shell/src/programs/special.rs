//! Programs that a table row cannot describe.

use super::arguments::{Arguments, OptionStyle, leading_options, split_arguments};
use super::{git, interpreters, sed_awk};
use crate::analysis::FileWrite;
use crate::command::StandardInput;
use crate::word::Word;

/// Returns the writes of such a program.
pub(crate) fn writes(name: &str, arguments: &[Word], input: &StandardInput) -> Vec<FileWrite> {
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
        _ => interpreters::writes(name, arguments, input),
    }
}

/// Returns whether git, a pager or a shell runs the value of a variable.
pub(crate) fn runs_its_value(variable: &str, value: &str) -> bool {
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

/// Returns whether tests update their snapshots if this variable is set.
pub(crate) fn updates_snapshots(variable: &str, value: &str) -> bool {
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

/// Returns whether `--help` at the end may be another program's argument.
pub(crate) fn runs_anything(name: &str) -> bool {
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

fn written_to<'a>(operation: &str, words: impl IntoIterator<Item = &'a Word>) -> Vec<FileWrite> {
    let write = |word| FileWrite::to_word(operation.to_owned(), word);
    words.into_iter().map(write).collect()
}

fn written(operation: &str, paths: impl IntoIterator<Item = Option<String>>) -> Vec<FileWrite> {
    paths
        .into_iter()
        .map(|path| FileWrite::new(operation.to_owned(), path))
        .collect()
}

fn sed(arguments: &[Word], input: &StandardInput) -> Vec<FileWrite> {
    let given = split_arguments(
        arguments,
        OptionStyle::Letters,
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
        // The suffix in BSD's syntax.
        operands = rest;
    }
    let mut scripts: Vec<&Word> = given.values(&["-e", "--expression"]).flatten().collect();
    let hidden = program_files(&given, input, &mut scripts);
    if scripts.is_empty()
        && !given.has(&["-f", "--file"])
        && let [script, rest @ ..] = operands
    {
        scripts.push(script);
        operands = rest;
    }
    let mut writes = Vec::new();
    if hidden {
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
            sed_awk::sed(script.shape()),
        ));
    }
    writes
}

fn awk(arguments: &[Word], input: &StandardInput) -> Vec<FileWrite> {
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
    let given = split_arguments(arguments, OptionStyle::Letters, &takes);
    let mut operands: &[Word] = &given.operands;
    let mut programs: Vec<&Word> = given.values(&["-e", "--source"]).flatten().collect();
    let hidden = program_files(&given, input, &mut programs);
    if programs.is_empty()
        && !given.has(&["-f", "--file", "-E", "--exec"])
        && let [program, rest @ ..] = operands
    {
        programs.push(program);
        operands = rest;
    }
    let mut writes = Vec::new();
    if hidden {
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
            sed_awk::awk(program.shape()),
        ));
    }
    writes
}

/// Adds programs that `-f` names and the line contains. Returns whether there is one that it does not contain.
fn program_files<'a>(
    given: &'a Arguments,
    input: &'a StandardInput,
    programs: &mut Vec<&'a Word>,
) -> bool {
    let mut hidden = false;
    for file in given.values(&["-f", "--file", "-E", "--exec"]).flatten() {
        match input {
            _ if file.is_process_substitution() => hidden = true,
            StandardInput::Text(text) if file.is_standard_input() => programs.push(text),
            StandardInput::Pipe if file.is_standard_input() => hidden = true,
            _ => {}
        }
    }
    hidden
}

/// `aws s3 cp` and similar, if the last operand is a local path.
fn aws(arguments: &[Word]) -> Vec<FileWrite> {
    let given = split_arguments(arguments, OptionStyle::Letters, &["--profile", "--region"]);
    let words: Vec<&str> = given.operands.iter().map(Word::shape).collect();
    match words.as_slice() {
        ["s3", "mv", ..] => written("`aws s3 mv`", [None]),
        ["s3", "cp" | "sync", _, to, ..] if *to != "-" && !to.starts_with("s3://") => {
            written("`aws s3`", [given.operands.get(3).and_then(Word::path)])
        }
        _ => Vec::new(),
    }
}

/// `make` with rules that are not in a file of the project.
fn made(arguments: &[Word], input: &StandardInput) -> Vec<FileWrite> {
    let given = split_arguments(
        arguments,
        OptionStyle::Letters,
        &["-f", "--file", "--makefile", "-C", "-j?"],
    );
    let here = matches!(input, StandardInput::Text(_) | StandardInput::Pipe);
    let mut files = given.values(&["-f", "--file", "--makefile"]).flatten();
    let hidden =
        files.any(|file| file.is_process_substitution() || here && file.is_standard_input());
    if hidden {
        written("`make` with rules from its input", [None])
    } else {
        Vec::new()
    }
}

/// `time -o file`; the options after the command belong to the command.
fn timed(arguments: &[Word]) -> Vec<FileWrite> {
    let leading = leading_options(arguments, &["-o", "--output", "-f", "--format"]);
    let values = leading.values(&["-o", "--output"]);
    written("`time`", values.map(|value| value.and_then(Word::path)))
}

#[rustfmt::skip] // Options that belong together.
fn tar(arguments: &[Word]) -> Vec<FileWrite> {
    const PROGRAMS: &[&str] = &["-I", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script", "-F"];
    let takes = [
        "-f", "--file", "-C", "--directory", "-T", "-X", "-b", "--exclude", "--transform", "--to-command", "--checkpoint-action",
        "-I", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script", "-F",
    ];
    let (mut given, archive) = match arguments.split_first() {
        // `tar xzf archive`: letters first, followed by their values in the same order.
        Some((first, rest)) if !first.shape().starts_with('-') => {
            let letters = split_arguments(
                &[Word::literal(&format!("-{}", first.shape()))],
                OptionStyle::Letters,
                &[],
            );
            let mut rest = split_arguments(rest, OptionStyle::Letters, &takes);
            let archive = (letters.has(&["-f"]) && !rest.operands.is_empty())
                .then(|| rest.operands.remove(0));
            rest.options.extend(letters.options);
            (rest, archive)
        }
        _ => (split_arguments(arguments, OptionStyle::Letters, &takes), None),
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
        let mut directories = given.values(&["-C", "--directory"]);
        let directory = match (directories.next(), directories.next()) {
            _ if given.has(&["-P", "--absolute-names"]) => None,
            (None, _) => Some(".".to_owned()),
            (Some(directory), None) => directory.and_then(Word::path),
            // Each is relative to the previous one.
            (Some(_), Some(_)) => None,
        };
        writes.extend(written("`tar`", [directory]));
    }
    let makes = given.has(&[
        "-c", "--create", "-r", "--append", "-u", "--update", "-A", "--delete",
    ]);
    if let Some(archive) = archive.filter(|archive| makes && archive.shape() != "-") {
        writes.extend(written("`tar`", [archive.path()]));
    }
    writes
}

fn dd(arguments: &[Word]) -> Vec<FileWrite> {
    written(
        "`dd`",
        arguments
            .iter()
            .filter(|word| word.shape().starts_with("of="))
            .map(|word| word.suffix(3).path()),
    )
}

fn find(arguments: &[Word]) -> Vec<FileWrite> {
    let mut writes = Vec::new();
    let next = |index: usize| arguments.get(index + 1).and_then(Word::path);
    for (index, word) in arguments.iter().enumerate() {
        match word.shape() {
            "-delete" => writes.extend(written("`find -delete`", starting_points(arguments))),
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                writes.extend(written("`find`", [next(index)]));
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

fn sqlite(arguments: &[Word], input: &StandardInput) -> Vec<FileWrite> {
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
    let given: Arguments = split_arguments(
        arguments,
        OptionStyle::Words,
        &["-cmd", "-init", "-separator", "-nullvalue"],
    );
    let Some(database) = given.operands.first() else {
        return Vec::new();
    };
    let statement = match (given.operands.get(1), input) {
        (Some(word), _) | (None, StandardInput::Text(word)) => Some(word.shape()),
        (None, StandardInput::Pipe | StandardInput::File) => Some(""),
        (None, StandardInput::Inherited) => None,
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
