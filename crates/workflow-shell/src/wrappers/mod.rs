//! Programs that run other programs: what they run is looked at as if it stood in the line.
//!
//! Owns where in their arguments the other command begins. It must not know what commands write.

mod scripts;
mod table;

use super::Word;
use super::arguments::{Arguments, Style, gather};
use super::scope::Input;
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
    /// No command, but a variable that it sets for others.
    Variable(String, Word),
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

#[rustfmt::skip] // A program a line.
fn inner(name: &str, words: &[Word], input: &Input) -> Vec<Inner> {
    let arguments = &words[1..];
    let unseen = || vec![Inner::Unseen(name.to_owned())];
    match name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "rbash" => shell(name, arguments, input),
        "source" | "." => sourced(name, arguments, input),
        "eval" => joined(arguments).map(Inner::Evaluated).into_iter().collect(),
        "trap" => trapped(arguments),
        "alias" => aliased(arguments),
        "let" if arguments.iter().any(|word| word.shape().contains("$(") || word.shape().contains('`')) => unseen(),
        "unset" | "read" | "printf" | "test" | "[" | "export" | "declare" | "typeset" | "readonly" | "local" if arguments.iter().any(Word::runs_in_index) => unseen(),
        "export" | "declare" | "typeset" | "readonly" | "local" => variables(arguments),
        "hash" if arguments.iter().any(|word| word.shape().starts_with("-p")) => unseen(),
        "cmd" if arguments.iter().any(|word| matches!(word.shape(), "/c" | "/C" | "/k" | "/K")) => unseen(),
        "socat" if arguments.iter().any(opens) => unseen(),
        "mapfile" | "readarray" | "compgen" | "complete" => scripts(arguments, &["-C"]),
        "man" => scripts(arguments, &["-P", "--pager"]),
        "find" | "gfind" => found(arguments),
        "fd" | "fdfind" => per_file(arguments),
        "rg" => scripts(arguments, &["--pre"]),
        "env" => both(scripts(arguments, &["-S", "--split-string"]), name, words),
        "npx" | "bunx" | "pnpx" | "npm" | "pnpm" => both(scripts(arguments, &["-c", "--call"]), name, words),
        "flock" => both(scripts(arguments, &["-c", "--command"]), name, words),
        "sudo" if leading(arguments, &["-u", "-g"]).has(&["-e", "--edit"]) => vec![Inner::Command(vec![Word::literal("sudoedit"), Word::unknown()])],
        "su" | "runuser" | "script" => scripts(arguments, &["-c", "--command"]),
        "nix-shell" => scripts(arguments, &["--run", "--command"]),
        "nix" => behind(arguments, &["-c", "--command"]),
        "mise" | "distrobox" | "distrobox-enter" | "toolbox" | "guix" | "op" | "doppler" | "infisical" | "aws-vault" | "dotenvx" | "chamber" if arguments.iter().any(|word| word.shape() == "--") => behind(arguments, &["--"]),
        "setarch" => behind_architecture(arguments),
        "cargo" => both(watched(arguments), name, words),
        "nodemon" | "chokidar" => scripts(arguments, &["-x", "--exec", "-c", "--command"]),
        "concurrently" => gather(arguments, Style::Letters, &["-n", "-c", "--names"]).operands.into_iter().map(Inner::Script).collect(),
        "parallel" => in_parallel(words, input),
        "hyperfine" => measured(arguments),
        "entr" => vec![Inner::Command(arguments.iter().skip_while(|word| word.shape().starts_with('-')).cloned().collect())],
        "ssh" => remote(arguments),
        "python" | "pypy" => module(arguments),
        _ => table::commands(name, words),
    }
}

fn both(mut inner: Vec<Inner>, name: &str, words: &[Word]) -> Vec<Inner> {
    inner.extend(table::commands(name, words));
    inner
}

/// The options that stand before the first operand.
pub(super) fn leading(arguments: &[Word], takes: &[&str]) -> Arguments {
    let left = Rest::new(arguments, takes).left.len();
    gather(&arguments[..arguments.len() - left], Style::Letters, takes)
}

/// Variables that are set: `env NAME=value`, `export NAME=value`.
fn variables(arguments: &[Word]) -> Vec<Inner> {
    let assignments = arguments.iter().filter_map(Word::assignment);
    assignments
        .map(|(name, value)| Inner::Variable(name.to_owned(), value))
        .collect()
}

fn trapped(arguments: &[Word]) -> Vec<Inner> {
    let first = arguments.iter().find(|word| word.shape() != "--");
    let script = first.filter(|word| !word.shape().starts_with('-'));
    script.cloned().map(Inner::Script).into_iter().collect()
}

/// What an alias stands for, with any arguments behind it.
fn aliased(arguments: &[Word]) -> Vec<Inner> {
    let aliases = arguments.iter().filter_map(Word::assignment_like);
    aliases
        .filter_map(|value| joined(&[value, Word::unknown()]))
        .map(Inner::Script)
        .collect()
}

/// The command behind one of these words.
fn behind(arguments: &[Word], names: &[&str]) -> Vec<Inner> {
    let place = arguments
        .iter()
        .position(|word| names.contains(&word.shape()));
    place
        .map(|place| Inner::Command(arguments[place + 1..].to_vec()))
        .into_iter()
        .collect()
}

/// `setarch` may leave out the architecture.
fn behind_architecture(arguments: &[Word]) -> Vec<Inner> {
    let left = Rest::new(arguments, &[]).left;
    let named = left.first().is_some_and(|word| {
        matches!(
            word.shape(),
            "x86_64" | "i386" | "i686" | "linux32" | "linux64" | "aarch64" | "uname26"
        )
    });
    vec![Inner::Command(left[usize::from(named)..].to_vec())]
}

/// `cargo watch -x test -s 'text'`
fn watched(arguments: &[Word]) -> Vec<Inner> {
    if arguments.first().and_then(Word::text) != Some("watch") {
        return Vec::new();
    }
    let given = gather(
        arguments,
        Style::Letters,
        &["-x", "--exec", "-s", "--shell", "-w", "-i", "-d"],
    );
    let cargo = Word::literal("cargo");
    let commands = given.values(&["-x", "--exec"]).flatten();
    let commands = commands.filter_map(|word| joined(&[cargo.clone(), word.clone()]));
    let texts = given.values(&["-s", "--shell"]).flatten().cloned();
    commands.chain(texts).map(Inner::Script).collect()
}

/// `parallel` runs what stands behind `:::` or comes in, if it is given no command.
fn in_parallel(words: &[Word], input: &Input) -> Vec<Inner> {
    let arguments = &words[1..];
    let commands = table::commands("parallel", words);
    let place = arguments.iter().position(|word| word.shape() == ":::");
    let left = Rest::new(arguments, &["-j", "--jobs"]).left;
    match (left.first().map(Word::shape), place) {
        (Some(":::"), Some(place)) => arguments[place + 1..]
            .iter()
            .cloned()
            .map(Inner::Script)
            .collect(),
        (None, _) if !matches!(input, Input::Inherited) => {
            vec![Inner::Unseen("parallel".to_owned())]
        }
        _ => commands,
    }
}

fn measured(arguments: &[Word]) -> Vec<Inner> {
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
    let commands = gather(arguments, Style::Letters, TAKES).operands;
    let mut inner: Vec<Inner> = commands.into_iter().map(Inner::Script).collect();
    inner.extend(scripts(
        arguments,
        &["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"],
    ));
    inner
}

/// An address that runs a program or writes a file.
fn opens(address: &Word) -> bool {
    let address = address.shape().to_ascii_lowercase();
    ["exec:", "system:", "open:", "create:", "gopen:", "file:"]
        .iter()
        .any(|kind| address.contains(kind))
}

/// Words as one text; what is unknown stays so.
fn joined(words: &[Word]) -> Option<Word> {
    let text: Vec<&str> = words.iter().map(Word::shape).collect();
    (!text.is_empty()).then(|| Word::literal(&text.join(" ")))
}

/// The texts that these options have.
fn scripts(arguments: &[Word], names: &[&str]) -> Vec<Inner> {
    let given = gather(arguments, Style::Letters, names);
    let texts = given.values(names).flatten();
    texts.cloned().map(Inner::Script).collect()
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
    let mut place = 0;
    while let Some(word) = arguments
        .get(place)
        .filter(|word| word.shape().starts_with('-'))
    {
        let letters = word.shape().trim_start_matches('-');
        match letters.find(['c', 'm', 'W', 'X']) {
            Some(at) if letters[at..].starts_with('m') => {
                let joined = &letters[at + 1..];
                let mut command = arguments[place + 1..].to_vec();
                if !joined.is_empty() {
                    command.insert(0, Word::literal(joined));
                }
                return vec![Inner::Command(command)];
            }
            Some(at) if letters[at..].starts_with('c') => return Vec::new(),
            // A value that is the next word.
            Some(at) if at + 1 == letters.len() => place += 2,
            _ => place += 1,
        }
    }
    Vec::new()
}
