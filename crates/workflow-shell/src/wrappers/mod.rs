//! Commands that run other commands: wrappers, shells, `eval`, `find -exec`, `ssh`.
//!
//! This module finds the nested command in the arguments. It does not know what commands write.

mod scripts;
mod table;

use crate::command::StandardInput;
use crate::programs::arguments::{LeadingOptions, OptionStyle, leading_options, split_arguments};
use crate::word::Word;
use scripts::{node_script, shell, sourced};

/// A command that another command runs.
pub(crate) enum NestedCommand {
    /// A command in the same shell.
    SameShell(Vec<Word>),
    /// A command.
    Command(Vec<Word>),
    /// A command in another directory.
    OtherDirectory(Vec<Word>),
    /// A script that a new shell runs.
    Script(Word),
    /// A script that the same shell runs.
    Eval(Word),
    /// A script that a shell on another machine runs.
    Remote(Word),
    /// Code that is not in the line.
    Hidden(String),
    /// A variable that is set for other commands.
    Variable(String, Word),
}

/// The commands that a command runs.
pub(crate) struct NestedCommands {
    pub(crate) commands: Vec<NestedCommand>,
    /// True if the program does nothing else.
    pub(crate) is_wrapper_only: bool,
}

/// Returns the commands that a command runs.
pub(crate) fn nested_commands(name: &str, words: &[Word], input: &StandardInput) -> NestedCommands {
    if let Some(commands) = node_script(name, &words[1..]) {
        return NestedCommands {
            commands,
            is_wrapper_only: true,
        };
    }
    let commands = commands_of(name, words, input);
    NestedCommands {
        is_wrapper_only: table::has_subcommand(name) && !commands.is_empty(),
        commands,
    }
}

#[rustfmt::skip] // A program a line.
fn commands_of(name: &str, words: &[Word], input: &StandardInput) -> Vec<NestedCommand> {
    let arguments = &words[1..];
    let hidden = || vec![NestedCommand::Hidden(name.to_owned())];
    match name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "rbash" => shell(name, arguments, input),
        "source" | "." => sourced(name, arguments, input),
        "eval" => joined(arguments).map(NestedCommand::Eval).into_iter().collect(),
        "trap" => trapped(arguments),
        "alias" => aliased(arguments),
        "let" if arguments.iter().any(|word| word.shape().contains("$(") || word.shape().contains('`')) => hidden(),
        "unset" | "read" | "printf" | "test" | "[" | "export" | "declare" | "typeset" | "readonly" | "local" if arguments.iter().any(Word::has_substitution_in_index) => hidden(),
        "export" | "declare" | "typeset" | "readonly" | "local" => variables(arguments),
        "hash" if arguments.iter().any(|word| word.shape().starts_with("-p")) => hidden(),
        "cmd" if arguments.iter().any(|word| matches!(word.shape(), "/c" | "/C" | "/k" | "/K")) => hidden(),
        "socat" if arguments.iter().any(opens) => hidden(),
        "mapfile" | "readarray" | "compgen" | "complete" => scripts(arguments, &["-C"]),
        "man" => scripts(arguments, &["-P", "--pager"]),
        "find" | "gfind" => executed_by_find(arguments),
        "fd" | "fdfind" => per_file(arguments),
        "rg" => scripts(arguments, &["--pre"]),
        "env" => both(scripts(arguments, &["-S", "--split-string"]), name, words),
        "npx" | "bunx" | "pnpx" | "npm" | "pnpm" => both(scripts(arguments, &["-c", "--call"]), name, words),
        "flock" => both(scripts(arguments, &["-c", "--command"]), name, words),
        "sudo" if leading_options(arguments, &["-u", "-g"]).has(&["-e", "--edit"]) => vec![NestedCommand::Command(vec![Word::literal("sudoedit"), Word::unknown()])],
        "su" | "runuser" | "script" => scripts(arguments, &["-c", "--command"]),
        "nix-shell" => scripts(arguments, &["--run", "--command"]),
        "nix" => after(arguments, &["-c", "--command"]),
        "mise" | "distrobox" | "distrobox-enter" | "toolbox" | "guix" | "op" | "doppler" | "infisical" | "aws-vault" | "dotenvx" | "chamber" if arguments.iter().any(|word| word.shape() == "--") => after(arguments, &["--"]),
        "setarch" => after_architecture(arguments),
        "cargo" => both(watched(arguments), name, words),
        "nodemon" | "chokidar" => scripts(arguments, &["-x", "--exec", "-c", "--command"]),
        "concurrently" => split_arguments(arguments, OptionStyle::Letters, &["-n", "-c", "--names"]).operands.into_iter().map(NestedCommand::Script).collect(),
        "parallel" => in_parallel(words, input),
        "hyperfine" => measured(arguments),
        "entr" => vec![NestedCommand::Command(arguments.iter().skip_while(|word| word.shape().starts_with('-')).cloned().collect())],
        "ssh" => remote(arguments),
        "python" | "pypy" => module(arguments),
        _ => table::commands(name, words),
    }
}

fn both(mut inner: Vec<NestedCommand>, name: &str, words: &[Word]) -> Vec<NestedCommand> {
    inner.extend(table::commands(name, words));
    inner
}

/// Returns the variables that are set: `env NAME=value`, `export NAME=value`.
fn variables(arguments: &[Word]) -> Vec<NestedCommand> {
    let assignments = arguments.iter().filter_map(Word::assignment);
    assignments
        .map(|(name, value)| NestedCommand::Variable(name.to_owned(), value))
        .collect()
}

fn trapped(arguments: &[Word]) -> Vec<NestedCommand> {
    let first = arguments.iter().find(|word| word.shape() != "--");
    let script = first.filter(|word| !word.shape().starts_with('-'));
    script
        .cloned()
        .map(NestedCommand::Script)
        .into_iter()
        .collect()
}

/// Returns the commands of aliases, with unknown arguments.
fn aliased(arguments: &[Word]) -> Vec<NestedCommand> {
    let aliases = arguments.iter().filter_map(Word::after_equals);
    aliases
        .filter_map(|value| joined(&[value, Word::unknown()]))
        .map(NestedCommand::Script)
        .collect()
}

/// Returns the command after one of these words.
fn after(arguments: &[Word], names: &[&str]) -> Vec<NestedCommand> {
    let index = arguments
        .iter()
        .position(|word| names.contains(&word.shape()));
    index
        .map(|index| NestedCommand::Command(arguments[index + 1..].to_vec()))
        .into_iter()
        .collect()
}

/// `setarch`, whose architecture is optional.
fn after_architecture(arguments: &[Word]) -> Vec<NestedCommand> {
    let rest = LeadingOptions::new(arguments, &[]).rest;
    let named = rest.first().is_some_and(|word| {
        matches!(
            word.shape(),
            "x86_64" | "i386" | "i686" | "linux32" | "linux64" | "aarch64" | "uname26"
        )
    });
    vec![NestedCommand::Command(rest[usize::from(named)..].to_vec())]
}

/// `cargo watch -x test -s 'text'`
fn watched(arguments: &[Word]) -> Vec<NestedCommand> {
    if arguments.first().and_then(Word::text) != Some("watch") {
        return Vec::new();
    }
    let given = split_arguments(
        arguments,
        OptionStyle::Letters,
        &["-x", "--exec", "-s", "--shell", "-w", "-i", "-d"],
    );
    let cargo = Word::literal("cargo");
    let commands = given.values(&["-x", "--exec"]).flatten();
    let commands = commands.filter_map(|word| joined(&[cargo.clone(), word.clone()]));
    let texts = given.values(&["-s", "--shell"]).flatten().cloned();
    commands.chain(texts).map(NestedCommand::Script).collect()
}

/// `parallel` without a command runs the words after `:::` or the lines of its input.
fn in_parallel(words: &[Word], input: &StandardInput) -> Vec<NestedCommand> {
    let arguments = &words[1..];
    let commands = table::commands("parallel", words);
    let index = arguments.iter().position(|word| word.shape() == ":::");
    let rest = LeadingOptions::new(arguments, &["-j", "--jobs"]).rest;
    match (rest.first().map(Word::shape), index) {
        (Some(":::"), Some(index)) => arguments[index + 1..]
            .iter()
            .cloned()
            .map(NestedCommand::Script)
            .collect(),
        (None, _) if !matches!(input, StandardInput::Inherited) => {
            vec![NestedCommand::Hidden("parallel".to_owned())]
        }
        _ => commands,
    }
}

fn measured(arguments: &[Word]) -> Vec<NestedCommand> {
    const TAKES: &[&str] = &[
        "-w",
        "--warmup",
        "-r",
        "--runs",
        "-m",
        "-M",
        "-p",
        "--prepare",
        "-n",
        "-L",
        "--export-json",
        "--export-markdown",
    ];
    let commands = split_arguments(arguments, OptionStyle::Letters, TAKES).operands;
    let mut inner: Vec<NestedCommand> = commands.into_iter().map(NestedCommand::Script).collect();
    inner.extend(scripts(
        arguments,
        &["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"],
    ));
    inner
}

/// Returns whether an address of `socat` runs a program or writes a file.
fn opens(address: &Word) -> bool {
    let address = address.shape().to_ascii_lowercase();
    ["exec:", "system:", "open:", "create:", "gopen:", "file:"]
        .iter()
        .any(|kind| address.contains(kind))
}

/// Joins words into one text.
fn joined(words: &[Word]) -> Option<Word> {
    let text: Vec<&str> = words.iter().map(Word::shape).collect();
    (!text.is_empty()).then(|| Word::literal(&text.join(" ")))
}

/// Returns the scripts that are values of these options.
fn scripts(arguments: &[Word], names: &[&str]) -> Vec<NestedCommand> {
    let given = split_arguments(arguments, OptionStyle::Letters, names);
    let texts = given.values(names).flatten();
    texts.cloned().map(NestedCommand::Script).collect()
}

/// `find -exec command {} ;` and similar.
fn executed_by_find(arguments: &[Word]) -> Vec<NestedCommand> {
    let mut inner = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let elsewhere = matches!(word.shape(), "-execdir" | "-okdir");
        if !elsewhere && !matches!(word.shape(), "-exec" | "-ok") {
            continue;
        }
        let command: Vec<Word> = words
            .by_ref()
            .take_while(|word| !matches!(word.shape(), ";" | "+"))
            .map(|word| word.with_unknown("{}"))
            .collect();
        inner.push(if elsewhere {
            NestedCommand::OtherDirectory(command)
        } else {
            NestedCommand::Command(command)
        });
    }
    inner
}

/// `fd -x command`
fn per_file(arguments: &[Word]) -> Vec<NestedCommand> {
    let index = arguments
        .iter()
        .position(|word| matches!(word.shape(), "-x" | "--exec" | "-X" | "--exec-batch"));
    let Some(index) = index else {
        return Vec::new();
    };
    let mut command: Vec<Word> = arguments[index + 1..]
        .iter()
        .take_while(|word| word.shape() != ";")
        .map(|word| {
            ["{}", "{.}", "{/}", "{//}", "{/.}"]
                .iter()
                .fold(word.clone(), |word, index| word.with_unknown(index))
        })
        .collect();
    command.push(Word::unknown());
    vec![NestedCommand::Command(command)]
}

fn remote(arguments: &[Word]) -> Vec<NestedCommand> {
    let takes = [
        "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o",
        "-p", "-Q", "-R", "-S", "-W", "-w",
    ];
    let leading = LeadingOptions::new(arguments, &takes);
    let local = arguments.iter().any(|word| {
        let text = word.shape().to_ascii_lowercase();
        text.contains("proxycommand") || text.contains("localcommand")
    });
    let command = leading
        .rest
        .get(1..)
        .and_then(joined)
        .map(NestedCommand::Remote);
    command
        .into_iter()
        .chain(local.then(|| NestedCommand::Hidden("ssh -o ProxyCommand".to_owned())))
        .collect()
}

/// `python -m module` runs as the program of that name.
fn module(arguments: &[Word]) -> Vec<NestedCommand> {
    let mut index = 0;
    while let Some(word) = arguments
        .get(index)
        .filter(|word| word.shape().starts_with('-'))
    {
        let letters = word.shape().trim_start_matches('-');
        match letters.find(['c', 'm', 'W', 'X']) {
            Some(at) if letters[at..].starts_with('m') => {
                let joined = &letters[at + 1..];
                let mut command = arguments[index + 1..].to_vec();
                if !joined.is_empty() {
                    command.insert(0, Word::literal(joined));
                }
                return vec![NestedCommand::Command(command)];
            }
            Some(at) if letters[at..].starts_with('c') => return Vec::new(),
            // The value is the next word.
            Some(at) if at + 1 == letters.len() => index += 2,
            _ => index += 1,
        }
    }
    Vec::new()
}
