//! Programs that run other programs: what they run is looked at as if it stood in the line.
//!
//! Owns where in their arguments the other command begins. It must not know what commands write.

mod scripts;
mod table;

use super::Word;
use super::arguments::{Style, gather};
use super::reader::Input;
use scripts::{node_script, shell, sourced};
use table::Rest;

/// What a command runs.
pub(super) enum Inner {
    /// A command in the same shell.
    Here(Vec<Word>),
    /// A command.
    Command(Vec<Word>),
    /// A command in another directory.
    Elsewhere(Vec<Word>),
    /// A text that a shell of its own reads.
    Script(Word),
    /// A text that this shell reads.
    Evaluated(Word),
    /// A text that a shell on another machine reads.
    Remote(Word),
    /// Something that is not in the line.
    Unseen(String),
}

/// What a command runs.
pub(super) struct Runs {
    pub(super) inner: Vec<Inner>,
    /// Whether the program does nothing but run that.
    pub(super) nothing_else: bool,
}

/// What this command runs, if it runs others.
pub(super) fn runs(name: &str, words: &[Word], input: &Input) -> Runs {
    if let Some(inner) = node_script(name, &words[1..]) {
        return Runs {
            inner,
            nothing_else: true,
        };
    }
    let inner = inner(name, words, input);
    Runs {
        nothing_else: table::has_subcommand(name) && !inner.is_empty(),
        inner,
    }
}

fn inner(name: &str, words: &[Word], input: &Input) -> Vec<Inner> {
    let arguments = &words[1..];
    match name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "rbash" => {
            shell(name, arguments, input)
        }
        "eval" => joined(arguments)
            .map(Inner::Evaluated)
            .into_iter()
            .collect(),
        "trap" => arguments
            .iter()
            .find(|word| word.shape() != "--")
            .filter(|word| !word.shape().starts_with('-'))
            .cloned()
            .map(Inner::Script)
            .into_iter()
            .collect(),
        "alias" => arguments
            .iter()
            .filter_map(|word| Some(Inner::Script(word.from(word.shape().find('=')? + 1))))
            .collect(),
        "source" | "." => sourced(name, arguments, input),
        "find" | "gfind" => found(arguments),
        "fd" | "fdfind" => per_file(arguments),
        "rg" => option_values(arguments, "--pre")
            .map(|word| Inner::Command(vec![word]))
            .collect(),
        "env" => split_string(arguments)
            .into_iter()
            .chain(table::commands(name, words))
            .collect(),
        "su" | "runuser" | "script" | "flock" => scripts(arguments, &["-c", "--command"])
            .chain(table::commands(name, words))
            .collect(),
        "nix-shell" | "nix" => scripts(arguments, &["--run", "--command", "-c"]).collect(),
        "hyperfine" => gather(
            arguments,
            Style::Letters,
            &[
                "-w",
                "-r",
                "-m",
                "-M",
                "-p",
                "-n",
                "--warmup",
                "--runs",
                "--prepare",
                "--export-json",
                "-L",
                "--export-markdown",
            ],
        )
        .operands
        .into_iter()
        .map(Inner::Script)
        .chain(scripts(
            arguments,
            &["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"],
        ))
        .collect(),
        "entr" => vec![Inner::Command(
            arguments
                .iter()
                .skip_while(|word| word.shape().starts_with('-'))
                .cloned()
                .collect(),
        )],
        "ssh" => remote(arguments),
        "python" | "pypy" => module(arguments),
        _ => table::commands(name, words).into_iter().collect(),
    }
}

/// Words as one text; what is unknown stays so.
fn joined(words: &[Word]) -> Option<Word> {
    let text: Vec<&str> = words.iter().map(Word::shape).collect();
    (!text.is_empty()).then(|| Word::literal(&text.join(" ")))
}

fn scripts<'a>(arguments: &'a [Word], names: &'a [&'a str]) -> impl Iterator<Item = Inner> + 'a {
    let given = gather(arguments, Style::Letters, names);
    let scripts: Vec<Inner> = given
        .values(names)
        .flatten()
        .cloned()
        .map(Inner::Script)
        .collect();
    scripts.into_iter()
}

fn option_values<'a>(arguments: &'a [Word], name: &'a str) -> impl Iterator<Item = Word> + 'a {
    let given = gather(arguments, Style::Letters, &[name]);
    let values: Vec<Word> = given.values(&[name]).flatten().cloned().collect();
    values.into_iter()
}

fn split_string(arguments: &[Word]) -> Vec<Inner> {
    scripts(arguments, &["-S", "--split-string"]).collect()
}

/// `find -exec command {} ;` and its kin.
fn found(arguments: &[Word]) -> Vec<Inner> {
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
            .map(|word| word.replacing("{}"))
            .collect();
        inner.push(if elsewhere {
            Inner::Elsewhere(command)
        } else {
            Inner::Command(command)
        });
    }
    inner
}

/// `fd -x command`
fn per_file(arguments: &[Word]) -> Vec<Inner> {
    let place = arguments
        .iter()
        .position(|word| matches!(word.shape(), "-x" | "--exec" | "-X" | "--exec-batch"));
    let Some(place) = place else {
        return Vec::new();
    };
    let mut command: Vec<Word> = arguments[place + 1..]
        .iter()
        .take_while(|word| word.shape() != ";")
        .map(|word| {
            ["{}", "{.}", "{/}", "{//}", "{/.}"]
                .iter()
                .fold(word.clone(), |word, place| word.replacing(place))
        })
        .collect();
    command.push(Word::unknown());
    vec![Inner::Command(command)]
}

fn remote(arguments: &[Word]) -> Vec<Inner> {
    let takes = [
        "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o",
        "-p", "-Q", "-R", "-S", "-W", "-w",
    ];
    let rest = Rest::new(arguments, &takes);
    let local = arguments.iter().any(|word| {
        let text = word.shape().to_ascii_lowercase();
        text.contains("proxycommand") || text.contains("localcommand")
    });
    let command = rest.left.get(1..).and_then(joined).map(Inner::Remote);
    command
        .into_iter()
        .chain(local.then(|| Inner::Unseen("ssh -o ProxyCommand".to_owned())))
        .collect()
}

/// `python -m module` runs as the program of that name.
fn module(arguments: &[Word]) -> Vec<Inner> {
    let rest = Rest::new(arguments, &["-W", "-X", "-m", "-c"]);
    let place = arguments
        .iter()
        .take(arguments.len() - rest.left.len())
        .position(|word| word.shape() == "-m");
    match place {
        Some(place) if place + 1 < arguments.len() && !rest.options.contains(&"-c".to_owned()) => {
            vec![Inner::Command(arguments[place + 1..].to_vec())]
        }
        _ => Vec::new(),
    }
}
