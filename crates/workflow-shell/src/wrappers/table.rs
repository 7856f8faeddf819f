//! Programs whose arguments are another command, a row each.

use super::{NestedCommand, joined, variables};
use crate::programs::arguments::LeadingOptions;
use crate::programs::git;
use crate::word::Word;

/// A program whose arguments are another command.
struct Wrapper {
    names: &'static [&'static str],
    /// The subcommands that run a command: `exec` in `npm exec`. Empty if the program itself does.
    sub: &'static [&'static str],
    takes: &'static [&'static str],
    /// Options with which it runs no command.
    idle: &'static [&'static str],
    /// The number of words before the command.
    skip: usize,
    execution: Execution,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Execution {
    /// In the same shell.
    Here,
    /// In a new process.
    Command,
    /// With further arguments from the standard input.
    WithInputArguments,
    /// As a script of all words joined.
    Script,
}

const fn plain(
    names: &'static [&'static str],
    takes: &'static [&'static str],
    skip: usize,
) -> Wrapper {
    Wrapper {
        names,
        sub: &[],
        takes,
        idle: &[],
        skip,
        execution: Execution::Command,
    }
}

const fn sub(
    names: &'static [&'static str],
    sub: &'static [&'static str],
    takes: &'static [&'static str],
    skip: usize,
) -> Wrapper {
    Wrapper {
        names,
        sub,
        takes,
        idle: &[],
        skip,
        execution: Execution::Command,
    }
}

#[rustfmt::skip] // A row a line.
const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: &["command"], sub: &[], takes: &[], idle: &["-v", "-V"], skip: 0, execution: Execution::Here },
    Wrapper { names: &["builtin"], sub: &[], takes: &[], idle: &[], skip: 0, execution: Execution::Here },
    Wrapper { names: &["exec"], sub: &[], takes: &["-a"], idle: &[], skip: 0, execution: Execution::Here },
    Wrapper { names: &["sudo"], sub: &[], takes: &["-u", "--user", "-g", "--group", "-h", "-p", "-C", "-D", "-R", "-r", "-t", "-T", "-U"], idle: &["-l", "-v", "-k", "-K", "-V"], skip: 0, execution: Execution::Command },
    Wrapper { names: &["noglob", "nocorrect"], sub: &[], takes: &[], idle: &[], skip: 0, execution: Execution::Here },
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
    Wrapper { names: &["xargs", "gxargs"], sub: &[], takes: &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "-J", "-R", "--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-lines", "-i?", "-l?", "-e?"], idle: &[], skip: 0, execution: Execution::WithInputArguments },
    Wrapper { names: &["parallel"], sub: &[], takes: &["-j", "--jobs", "-a", "--arg-file", "-I", "-n", "-N", "--colsep", "-C", "--delay", "--timeout", "--joblog", "--results", "--tmpdir", "-S", "-L"], idle: &["--dry-run", "--dryrun"], skip: 0, execution: Execution::WithInputArguments },
    Wrapper { names: &["watch"], sub: &[], takes: &["-n", "--interval"], idle: &[], skip: 0, execution: Execution::Script },
    plain(&["npx", "bunx", "pnpx", "uvx"], &["-p", "--package", "-c", "--call", "-w", "--from", "--with", "--python"], 0),
    sub(&["npm", "pnpm", "yarn", "bun"], &["exec", "x", "dlx"], &["-p", "--package", "-c", "--call", "-w", "--filter", "-F", "-C", "--prefix", "--dir", "--cwd"], 0),
    sub(&["uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "conda", "mamba", "micromamba"], &["tool run", "run"], &["--with", "--with-requirements", "--python", "-p", "--extra", "--group", "--directory", "--project", "--env-file", "-n", "--name", "-C", "-e", "--package", "--index"], 0),
    sub(&["bundle", "mise", "asdf", "rbenv", "pyenv", "nodenv", "opam", "stack", "cabal", "volta", "fnm", "devbox", "doppler", "op", "aws-vault", "infisical", "dotenvx", "chamber"], &["exec", "run", "x"], &["--using", "--env-file", "-e"], 0),
    sub(&["rustup"], &["run"], &[], 1),
    sub(&["direnv"], &["exec"], &[], 1),
    sub(&["perf"], &["stat", "record", "trace"], &["-e", "-o", "--output", "-F", "-c", "-r", "--call-graph"], 0),
    sub(&["git"], &["bisect run"], git::TAKES, 0),
    sub(&["cargo"], &["watch"], &["-w", "--watch", "-i", "--ignore", "-d", "--delay", "-s", "--shell", "-x", "--exec"], 0),
    sub(&["coverage"], &["run"], &["--source", "--omit", "--include", "--rcfile", "-m"], 0),
];

/// Returns the command that such a program runs, and the variables that it sets for it.
pub(crate) fn commands(name: &str, words: &[Word]) -> Vec<NestedCommand> {
    WRAPPERS
        .iter()
        .filter(|wrapper| wrapper.names.contains(&name))
        .find_map(|wrapper| wrapper.commands(words))
        .unwrap_or_default()
}

/// Returns whether a program runs another one only with a subcommand such as `exec`.
pub(crate) fn has_subcommand(name: &str) -> bool {
    WRAPPERS
        .iter()
        .any(|wrapper| !wrapper.sub.is_empty() && wrapper.names.contains(&name))
}

impl Wrapper {
    fn commands(&self, words: &[Word]) -> Option<Vec<NestedCommand>> {
        let arguments = &words[1..];
        let mut leading = LeadingOptions::new(arguments, self.takes);
        if !self.sub.is_empty() {
            // Options may precede and follow the subcommand.
            let found = self.sub.iter().find(|sub| {
                sub.split(' ')
                    .enumerate()
                    .all(|(index, word)| leading.rest.get(index).and_then(Word::text) == Some(word))
            })?;
            leading.rest = &leading.rest[found.split(' ').count()..];
            leading.skip_options(self.takes);
        }
        if leading
            .options
            .iter()
            .any(|option| self.idle.contains(&option.as_str()))
        {
            return None;
        }
        leading.rest = leading.rest.get(self.skip..).unwrap_or_default();
        let changes_directory = leading.options.iter().any(|option| {
            matches!(
                option.as_str(),
                "-C" | "--chdir" | "-D" | "--directory" | "--dir" | "--cwd" | "--prefix"
            )
        });
        let command: Vec<Word> = leading
            .rest
            .iter()
            .skip_while(|word| word.assignment().is_some())
            .cloned()
            .collect();
        let mut inner = variables(&arguments[..arguments.len() - command.len()]);
        if command.is_empty() {
            return Some(inner);
        }
        inner.push(match self.execution {
            Execution::Here => NestedCommand::SameShell(command),
            Execution::Command if changes_directory => NestedCommand::OtherDirectory(command),
            Execution::Command => NestedCommand::Command(command),
            Execution::WithInputArguments => {
                with_input_arguments(&command, leading.placeholder.as_deref())
            }
            Execution::Script => NestedCommand::Script(joined(&command)?),
        });
        Some(inner)
    }
}

/// Returns a command with further arguments that are not in the line.
fn with_input_arguments(words: &[Word], placeholder: Option<&str>) -> NestedCommand {
    let end = words
        .iter()
        .position(|word| matches!(word.shape(), ":::" | "::::" | ":::+"))
        .unwrap_or(words.len());
    let mut words = words[..end].to_vec();
    match placeholder {
        Some(placeholder) if !placeholder.is_empty() => {
            for word in &mut words {
                *word = word.with_unknown(placeholder);
            }
        }
        _ => {
            for word in &mut words {
                *word = word.with_unknown("{}");
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
        return joined(&words).map_or(NestedCommand::Command(words), NestedCommand::Script);
    }
    NestedCommand::Command(words)
}
