//! Programs that run other programs: what they run is looked at as if it stood in the line.
//!
//! Owns where in their arguments the other command begins. It must not know what commands write.

use super::arguments::{Style, gather};
use super::reader::Input;
use super::{Word, packages};

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

/// A program whose arguments are another command with its arguments.
struct Runner {
    names: &'static [&'static str],
    /// A first word without which it is no runner: `exec` in `npm exec`.
    sub: &'static [&'static str],
    takes: &'static [&'static str],
    /// Options with which it runs nothing.
    idle: &'static [&'static str],
    /// How many words stand before the command.
    skip: usize,
    kind: Behind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// In the same shell.
    Here,
    /// As it is.
    Command,
    /// With arguments that are read from the input.
    More,
    /// As a text, all words together.
    Script,
}

const fn plain(
    names: &'static [&'static str],
    takes: &'static [&'static str],
    skip: usize,
) -> Runner {
    Runner {
        names,
        sub: &[],
        takes,
        idle: &[],
        skip,
        kind: Behind::Command,
    }
}

const fn sub(
    names: &'static [&'static str],
    sub: &'static [&'static str],
    takes: &'static [&'static str],
    skip: usize,
) -> Runner {
    Runner {
        names,
        sub,
        takes,
        idle: &[],
        skip,
        kind: Behind::Command,
    }
}

#[rustfmt::skip] // A row a line.
const RUNNERS: &[Runner] = &[
    Runner { names: &["command"], sub: &[], takes: &[], idle: &["-v", "-V"], skip: 0, kind: Behind::Here },
    Runner { names: &["builtin"], sub: &[], takes: &[], idle: &[], skip: 0, kind: Behind::Here },
    Runner { names: &["exec"], sub: &[], takes: &["-a"], idle: &[], skip: 0, kind: Behind::Here },
    Runner { names: &["sudo"], sub: &[], takes: &["-u", "--user", "-g", "--group", "-h", "-p", "-C", "-D", "-R", "-r", "-t", "-T", "-U"], idle: &["-l", "-v", "-k", "-K", "-V"], skip: 0, kind: Behind::Command },
    plain(&["doas", "pkexec", "run0"], &["-u", "--user", "-C"], 0),
    plain(&["env"], &["-u", "--unset", "-C", "--chdir", "-S", "--split-string"], 0),
    plain(&["nohup", "setsid", "unbuffer", "catchsegv", "eatmydata", "fakeroot", "chronic", "cross-env", "dotenv", "dbus-run-session", "numactl", "valgrind"], &[], 0),
    plain(&["nice"], &["-n", "--adjustment"], 0),
    plain(&["ionice"], &["-c", "-n", "-p", "-P", "-u", "--class", "--classdata"], 0),
    plain(&["stdbuf"], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    plain(&["time", "gtime"], &["-o", "--output", "-f", "--format"], 0),
    plain(&["caffeinate"], &["-t", "-w"], 0),
    plain(&["rlwrap"], &["-C", "-H", "-f", "-p"], 0),
    plain(&["xvfb-run"], &["-n", "-s", "-e", "-f", "-w", "--server-num", "--server-args"], 0),
    plain(&["systemd-run", "systemd-inhibit"], &["-u", "-p", "-E", "--unit", "--property", "--setenv"], 0),
    plain(&["firejail", "bwrap", "proot"], &[], 0),
    plain(&["ltrace"], &["-e", "-o", "-p", "-s", "-u", "-n"], 0),
    plain(&["strace"], &["-e", "-o", "-p", "-s", "-P", "-E", "-u", "-a"], 0),
    plain(&["timeout", "gtimeout"], &["-s", "--signal", "-k", "--kill-after"], 1),
    plain(&["chroot", "taskset", "chrt", "setarch", "linux64"], &["-p"], 1),
    plain(&["flock"], &["-w", "--timeout", "-E", "-c", "--command"], 1),
    plain(&["busybox", "toybox", "xargo", "rtk"], &[], 0),
    plain(&["unshare", "nsenter"], &["-t", "-S", "-G"], 0),
    Runner { names: &["xargs", "gxargs"], sub: &[], takes: &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "-J", "-R", "--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-lines", "-i?", "-l?", "-e?"], idle: &[], skip: 0, kind: Behind::More },
    Runner { names: &["parallel"], sub: &[], takes: &["-j", "--jobs", "-a", "--arg-file", "-I", "-n", "-N", "--colsep", "-C", "--delay", "--timeout", "--joblog", "--results", "--tmpdir", "-S", "-L"], idle: &[], skip: 0, kind: Behind::More },
    Runner { names: &["watch"], sub: &[], takes: &["-n", "--interval"], idle: &[], skip: 0, kind: Behind::Script },
    plain(&["npx", "bunx", "pnpx", "uvx"], &["-p", "--package", "-c", "--call", "-w", "--from", "--with", "--python"], 0),
    sub(&["npm", "pnpm", "yarn", "bun"], &["exec", "x", "dlx"], &["-p", "--package", "-c", "--call", "-w", "--filter", "-F", "-C", "--prefix", "--dir", "--cwd"], 0),
    sub(&["uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "conda", "mamba", "micromamba"], &["run"], &["--with", "--with-requirements", "--python", "-p", "--extra", "--group", "--directory", "--project", "--env-file", "-n", "--name", "-C", "-e", "--package", "--index"], 0),
    sub(&["bundle", "mise", "asdf", "rbenv", "pyenv", "nodenv", "opam", "stack", "cabal", "volta", "fnm", "devbox", "doppler", "op", "aws-vault", "direnv", "infisical"], &["exec", "run", "x"], &["--using", "--env-file", "-e"], 0),
    sub(&["rustup"], &["run"], &[], 1),
    sub(&["git"], &["bisect run"], super::git::TAKES, 0),
    sub(&["cargo"], &["watch"], &["-w", "-i", "-d", "-s", "-x"], 0),
    sub(&["coverage"], &["run"], &["--source", "--omit", "--include", "--rcfile", "-m"], 0),
];

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
    let subcommand = RUNNERS
        .iter()
        .any(|runner| !runner.sub.is_empty() && runner.names.contains(&name));
    Runs {
        nothing_else: subcommand && !inner.is_empty(),
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
            .chain(table(name, words))
            .collect(),
        "su" | "runuser" | "script" | "flock" => scripts(arguments, &["-c", "--command"])
            .chain(if name == "flock" {
                table(name, words)
            } else {
                Vec::new()
            })
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
        _ => table(name, words),
    }
}

fn table(name: &str, words: &[Word]) -> Vec<Inner> {
    RUNNERS
        .iter()
        .filter(|runner| runner.names.contains(&name))
        .find_map(|runner| runner.behind(words))
        .into_iter()
        .collect()
}

impl Runner {
    fn behind(&self, words: &[Word]) -> Option<Inner> {
        let arguments = &words[1..];
        let mut rest = Rest::new(arguments, self.takes);
        if !self.sub.is_empty() {
            // Options may stand before the subcommand and behind it.
            let found = self.sub.iter().find(|sub| {
                sub.split(' ')
                    .enumerate()
                    .all(|(place, word)| rest.left.get(place).and_then(Word::text) == Some(word))
            })?;
            rest.left = &rest.left[found.split(' ').count()..];
            rest.skip_options(self.takes);
        }
        if rest
            .options
            .iter()
            .any(|option| self.idle.contains(&option.as_str()))
        {
            return None;
        }
        rest.left = rest.left.get(self.skip..).unwrap_or_default();
        let moved = rest.options.iter().any(|option| {
            matches!(
                option.as_str(),
                "-C" | "--chdir" | "-D" | "--directory" | "--dir" | "--cwd" | "--prefix"
            )
        });
        let left: Vec<Word> = rest
            .left
            .iter()
            .skip_while(|word| is_assignment(word))
            .cloned()
            .collect();
        if left.is_empty() {
            return None;
        }
        Some(match self.kind {
            Behind::Here => Inner::Here(left),
            Behind::Command if moved => Inner::Elsewhere(left),
            Behind::Command => Inner::Command(left),
            Behind::More => more(&left, rest.replaced.as_deref()),
            Behind::Script => Inner::Script(joined(&left)?),
        })
    }
}

/// Arguments behind the options that stand before them.
struct Rest<'a> {
    left: &'a [Word],
    options: Vec<String>,
    /// What `-I` says will be replaced.
    replaced: Option<String>,
}

impl<'a> Rest<'a> {
    fn new(left: &'a [Word], takes: &[&str]) -> Self {
        let mut rest = Self {
            left,
            options: Vec::new(),
            replaced: None,
        };
        rest.skip_options(takes);
        rest
    }

    fn skip_options(&mut self, takes: &[&str]) {
        while let Some((word, behind)) = self.left.split_first() {
            let shape = word.shape();
            if shape == "--" {
                self.left = behind;
                return;
            }
            let assignment = is_assignment(word);
            if !assignment && (shape.len() < 2 || !shape.starts_with('-')) {
                return;
            }
            self.left = behind;
            if assignment {
                continue;
            }
            // Letters may be joined; the last one's value may be the next word.
            let given = gather(self.left_with(word), Style::Letters, takes);
            let taken = given.options.last().is_some_and(|option| {
                option.value.is_none() && takes.contains(&option.name.as_str())
            });
            let mut value = given.options.last().and_then(|option| option.value.clone());
            if taken && let Some((next, behind)) = self.left.split_first() {
                value = Some(next.clone());
                self.left = behind;
            }
            self.options
                .extend(given.options.into_iter().map(|option| option.name));
            if matches!(
                self.options.last().map(String::as_str),
                Some("-I" | "-i" | "-J")
            ) {
                self.replaced =
                    Some(value.map_or_else(|| "{}".to_owned(), |value| value.shape().to_owned()));
            }
        }
    }

    /// The one word, as a slice: `gather` then takes no value from behind it.
    fn left_with<'b>(&self, word: &'b Word) -> &'b [Word] {
        std::slice::from_ref(word)
    }
}

fn is_assignment(word: &Word) -> bool {
    word.shape().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.as_bytes()[0].is_ascii_digit()
    })
}

/// A command with arguments that are not in the line.
fn more(words: &[Word], replaced: Option<&str>) -> Inner {
    let end = words
        .iter()
        .position(|word| matches!(word.shape(), ":::" | "::::" | ":::+"))
        .unwrap_or(words.len());
    let mut words = words[..end].to_vec();
    match replaced {
        Some(replaced) if !replaced.is_empty() => {
            for word in &mut words {
                *word = word.replacing(replaced);
            }
        }
        _ => {
            for word in &mut words {
                *word = word.replacing("{}");
            }
            words.push(Word::unknown());
        }
    }
    // One word may be a whole command line, as `parallel` has it.
    if words
        .first()
        .and_then(Word::text)
        .is_some_and(|text| text.contains(' '))
    {
        return joined(&words).map_or(Inner::Command(words), Inner::Script);
    }
    Inner::Command(words)
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

fn shell(name: &str, arguments: &[Word], input: &Input) -> Vec<Inner> {
    let given = gather(
        arguments,
        Style::Letters,
        &["-o", "-O", "--rcfile", "--init-file"],
    );
    let mut operands = given
        .operands
        .iter()
        .filter(|word| !word.shape().starts_with('+'));
    if given.has(&["-n"]) && !given.has(&["-c"]) {
        return Vec::new();
    }
    let first = operands.next();
    if given.has(&["-c"]) || given.has(&["--command"]) {
        let value = given.values(&["--command"]).flatten().next().cloned();
        return first
            .cloned()
            .or(value)
            .map(Inner::Script)
            .into_iter()
            .collect();
    }
    match first {
        Some(word) if !given.has(&["-s"]) => sourced(name, std::slice::from_ref(word), input),
        _ => read_by(name, input).map_or_else(Vec::new, |word| match word {
            Some(word) => vec![Inner::Script(word)],
            None => vec![Inner::Unseen(name.to_owned())],
        }),
    }
}

/// A script that is a file is the project's; one that comes from elsewhere is not in the line.
fn sourced(name: &str, arguments: &[Word], input: &Input) -> Vec<Inner> {
    let Some(word) = arguments.first() else {
        return Vec::new();
    };
    let is_input = matches!(
        word.shape(),
        "/dev/stdin" | "-" | "/dev/fd/0" | "/proc/self/fd/0"
    );
    match read_by(name, input) {
        _ if word.is_process() => vec![Inner::Unseen(name.to_owned())],
        Some(Some(text)) if is_input => vec![Inner::Script(text)],
        Some(None) if is_input => vec![Inner::Unseen(name.to_owned())],
        _ => Vec::new(),
    }
}

/// The program that a command reads from its input: a text, or what nobody sees, or none.
pub(super) fn read_by<'a>(_name: &str, input: &'a Input) -> Option<Option<Word>> {
    match input {
        Input::Text(word) => Some(Some(word.clone())),
        Input::Pipe => Some(None),
        Input::Inherited | Input::File => None,
    }
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

/// `npm run script` and the like: a script that does more than check cannot be seen.
fn node_script(name: &str, arguments: &[Word]) -> Option<Vec<Inner>> {
    if !matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
        return None;
    }
    let given = gather(
        arguments,
        Style::Letters,
        &[
            "-C",
            "--prefix",
            "--filter",
            "-F",
            "-w",
            "--workspace",
            "--cwd",
            "--dir",
        ],
    );
    let first = given.operands.first()?.text()?.to_owned();
    let (script, runs) = match first.as_str() {
        "run" | "run-script" | "rum" | "urn" => {
            (given.operands.get(1).map_or(Some(""), Word::text), true)
        }
        "test" | "t" | "tst" | "start" | "stop" | "restart" => (Some("test"), true),
        other => (Some(other), false),
    };
    let reads =
        script.is_some_and(|script| script.is_empty() || packages::script_reads(script, arguments));
    let installed = super::programs::is_tool(&first) && !runs && name != "npm";
    if installed {
        let place = arguments.iter().position(|word| word.shape() == first)?;
        return Some(vec![Inner::Command(arguments[place..].to_vec())]);
    }
    // `yarn lint` is short for `yarn run lint`.
    let short = !runs && reads && matches!(name, "yarn" | "pnpm");
    (runs || short).then(|| {
        if reads {
            Vec::new()
        } else {
            vec![Inner::Unseen(format!("{name} {first}"))]
        }
    })
}
