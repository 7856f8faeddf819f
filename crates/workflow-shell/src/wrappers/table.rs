//! Programs whose arguments are another command with its arguments, a row each.

use super::super::Word;
use super::super::arguments::{Style, gather};
use super::{Inner, joined, variables};

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
    Runner { names: &["noglob", "nocorrect"], sub: &[], takes: &[], idle: &[], skip: 0, kind: Behind::Here },
    plain(&["doas", "pkexec", "run0"], &["-u", "--user", "-C"], 0),
    plain(&["env"], &["-u", "--unset", "-C", "--chdir", "-S", "--split-string"], 0),
    plain(&["nohup", "setsid", "unbuffer", "catchsegv", "eatmydata", "fakeroot", "chronic", "cross-env", "dotenv", "dbus-run-session", "valgrind", "shx", "tini", "dumb-init", "torsocks", "nocache", "nq", "tsp", "daemonize", "flatpak-spawn"], &[], 0),
    plain(&["numactl"], &["-N", "-m", "-C", "-P", "-i", "-l"], 0),
    plain(&["setpriv"], &["--reuid", "--regid", "--groups", "--ambient-caps", "--inh-caps", "--bounding-set"], 0),
    plain(&["prlimit", "choom", "cgexec", "proxychains", "proxychains4"], &["-p", "-n", "-g", "-f"], 0),
    plain(&["gosu", "su-exec", "setuidgid", "s6-setuidgid", "faketime"], &["-f"], 1),
    plain(&["arch"], &["-arch", "-e", "-d"], 0),
    plain(&["ld.so"], &["--library-path", "--preload", "--argv0"], 0),
    plain(&["wsl"], &["-d", "--distribution", "-u", "--user", "--cd"], 0),
    plain(&["watchexec"], &["-w", "--watch", "-e", "--exts", "-f", "--filter", "-i", "--ignore", "-d", "--debounce", "-s", "--signal"], 0),
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
    plain(&["chroot", "taskset", "chrt"], &["-p"], 1),
    plain(&["linux32", "linux64", "i386", "x86_64"], &[], 0),
    plain(&["flock"], &["-w", "--timeout", "-E", "-c", "--command"], 1),
    plain(&["busybox", "toybox", "xargo", "rtk"], &[], 0),
    plain(&["unshare", "nsenter"], &["-t", "-S", "-G"], 0),
    Runner { names: &["xargs", "gxargs"], sub: &[], takes: &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "-J", "-R", "--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-lines", "-i?", "-l?", "-e?"], idle: &[], skip: 0, kind: Behind::More },
    Runner { names: &["parallel"], sub: &[], takes: &["-j", "--jobs", "-a", "--arg-file", "-I", "-n", "-N", "--colsep", "-C", "--delay", "--timeout", "--joblog", "--results", "--tmpdir", "-S", "-L"], idle: &["--dry-run", "--dryrun"], skip: 0, kind: Behind::More },
    Runner { names: &["watch"], sub: &[], takes: &["-n", "--interval"], idle: &[], skip: 0, kind: Behind::Script },
    plain(&["npx", "bunx", "pnpx", "uvx"], &["-p", "--package", "-c", "--call", "-w", "--from", "--with", "--python"], 0),
    sub(&["npm", "pnpm", "yarn", "bun"], &["exec", "x", "dlx"], &["-p", "--package", "-c", "--call", "-w", "--filter", "-F", "-C", "--prefix", "--dir", "--cwd"], 0),
    sub(&["uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "conda", "mamba", "micromamba"], &["tool run", "run"], &["--with", "--with-requirements", "--python", "-p", "--extra", "--group", "--directory", "--project", "--env-file", "-n", "--name", "-C", "-e", "--package", "--index"], 0),
    sub(&["bundle", "mise", "asdf", "rbenv", "pyenv", "nodenv", "opam", "stack", "cabal", "volta", "fnm", "devbox", "doppler", "op", "aws-vault", "infisical", "dotenvx", "chamber"], &["exec", "run", "x"], &["--using", "--env-file", "-e"], 0),
    sub(&["rustup"], &["run"], &[], 1),
    sub(&["direnv"], &["exec"], &[], 1),
    sub(&["perf"], &["stat", "record", "trace"], &["-e", "-o", "--output", "-F", "-c", "-r", "--call-graph"], 0),
    sub(&["git"], &["bisect run"], super::super::git::TAKES, 0),
    sub(&["cargo"], &["watch"], &["-w", "--watch", "-i", "--ignore", "-d", "--delay", "-s", "--shell", "-x", "--exec"], 0),
    sub(&["coverage"], &["run"], &["--source", "--omit", "--include", "--rcfile", "-m"], 0),
];

/// What such a program runs, and the variables that it sets before.
pub(super) fn commands(name: &str, words: &[Word]) -> Vec<Inner> {
    RUNNERS
        .iter()
        .filter(|runner| runner.names.contains(&name))
        .find_map(|runner| runner.behind(words))
        .unwrap_or_default()
}

/// Whether a program runs another one only behind a word like `exec`, and nothing else then.
pub(super) fn has_subcommand(name: &str) -> bool {
    RUNNERS
        .iter()
        .any(|runner| !runner.sub.is_empty() && runner.names.contains(&name))
}

impl Runner {
    fn behind(&self, words: &[Word]) -> Option<Vec<Inner>> {
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
            .skip_while(|word| word.assignment().is_some())
            .cloned()
            .collect();
        let mut inner = variables(&arguments[..arguments.len() - left.len()]);
        if left.is_empty() {
            return Some(inner);
        }
        inner.push(match self.kind {
            Behind::Here => Inner::Here(left),
            Behind::Command if moved => Inner::Elsewhere(left),
            Behind::Command => Inner::Command(left),
            Behind::More => more(&left, rest.replaced.as_deref()),
            Behind::Script => Inner::Script(joined(&left)?),
        });
        Some(inner)
    }
}

/// Arguments behind the options that stand before them.
pub(super) struct Rest<'a> {
    pub(super) left: &'a [Word],
    pub(super) options: Vec<String>,
    /// What `-I` says will be replaced.
    replaced: Option<String>,
}

impl<'a> Rest<'a> {
    pub(super) fn new(left: &'a [Word], takes: &[&str]) -> Self {
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
            let assignment = word.assignment().is_some();
            if !assignment && (shape.len() < 2 || !shape.starts_with('-')) {
                return;
            }
            self.left = behind;
            if assignment {
                continue;
            }
            // The word alone: a value that is the next word must be taken from what is left.
            let given = gather(std::slice::from_ref(word), Style::Letters, takes);
            let value_follows = given.options.last().is_some_and(|option| {
                option.value.is_none() && takes.contains(&option.name.as_str())
            });
            let mut value = given.options.last().and_then(|option| option.value.clone());
            if value_follows && let Some((next, behind)) = self.left.split_first() {
                value = Some(next.clone());
                self.left = behind;
            }
            self.options
                .extend(given.options.into_iter().map(|option| option.name));
            if matches!(
                self.options.last().map(String::as_str),
                Some("-I" | "-i" | "-J" | "--replace")
            ) {
                self.replaced =
                    Some(value.map_or_else(|| "{}".to_owned(), |value| value.shape().to_owned()));
            }
        }
    }
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
