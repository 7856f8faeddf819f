//! Programs whose arguments are another command.
//!
//! Each knows its own options exactly. With any other option it is unknown, because then it is not certain where the command
//! starts; the commands that rules on `command` see are guesses.

use super::names::is_shell;
use super::options::{Known, Place, argument, expansion, joined, split};
use super::outcome::{Invocation, NestedCommand, Outcome, Result, VariableKind};
use super::shells::script;
use super::table::is_harmless_variable;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// The number of words that may be the first of the command of a wrapper that is unknown.
const MAX_GUESSES: usize = 12;

/// A program whose arguments are another command.
struct Wrapper {
    names: &'static [&'static str],
    options: &'static str,
    /// Options with which it runs no command.
    idle: &'static [&'static str],
    /// The number of operands before the command.
    skip: usize,
}

const fn plain(names: &'static [&'static str], options: &'static str, skip: usize) -> Wrapper {
    Wrapper {
        names,
        options,
        idle: &[],
        skip,
    }
}

#[rustfmt::skip] // A row a line.
const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: &["command"], options: "-pvV", idle: &["-v", "-V"], skip: 0 },
    plain(&["builtin", "noglob", "nocorrect", "exec"], "", 0),
    Wrapper { names: &["sudo"], options: "-nEHPkKvlV -u= -g= -D= --non-interactive --preserve-env --set-home --user= --group= --list --validate --chdir=", idle: &["-v", "-l", "-K", "-V", "--list", "--validate"], skip: 0 },
    plain(&["doas"], "-n -u=", 0),
    plain(&["nohup", "unbuffer", "eatmydata", "fakeroot", "chronic", "catchsegv"], "", 0),
    plain(&["setsid"], "-cfw --ctty --fork --wait", 0),
    plain(&["nice"], "-n= --adjustment= -<n>", 0),
    plain(&["ionice"], "-t -c= -n= --class= --classdata= --ignore", 0),
    plain(&["stdbuf"], "-i= -o= -e= --input= --output= --error=", 0),
    plain(&["timeout"], "-v -k= -s= --foreground --preserve-status --verbose --kill-after= --signal=", 1),
    plain(&["taskset"], "-ac --all-tasks --cpu-list", 1),
    plain(&["caffeinate"], "-dimsu -t= -w=", 0),
    plain(&["linux32", "linux64", "i386", "x86_64"], "", 0),
    plain(&["strace"], "-fcCyTtvqrxki -e= -s= -S= -P= -a= -I= -p=", 0),
    plain(&["busybox", "toybox"], "", 0),
    plain(&["entr"], "-crdpsnz", 0),
];

/// Programs that run their arguments too, of which no options are known.
#[rustfmt::skip] // Names in order.
const OTHER_WRAPPERS: &[&str] = &[
    "arch", "asdf", "aws-vault", "bunx", "bwrap", "cgexec", "chamber", "choom", "chroot", "chrt", "concurrently", "coverage", "cross-env", "daemonize", "dbus-run-session", "devbox", "direnv",
    "distrobox", "distrobox-enter", "doppler", "dotenv", "dotenvx", "dumb-init", "faketime", "firejail", "flatpak-spawn", "gosu", "guix", "infisical", "logsave", "ltrace", "mise", "nix", "nix-shell",
    "nocache", "nodemon", "nq", "nsenter", "numactl", "opam", "op", "parallel", "perf", "pkexec", "prlimit", "proot", "proxychains", "proxychains4", "rlwrap", "run0", "runuser", "s6-setuidgid",
    "script", "setarch", "setpriv", "setuidgid", "sg", "shx", "start-stop-daemon", "su", "su-exec", "systemd-inhibit", "systemd-run", "tini", "toolbox", "torsocks", "tsp", "unshare", "valgrind",
    "watchexec", "chokidar", "wsl", "xargo", "xvfb-run", "capsh", "ssh-agent", "newgrp", "tmux", "screen", "cargo", "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "uv", "uvx", "poetry", "pdm",
    "pipenv", "hatch", "rye", "pixi", "conda", "mamba", "micromamba", "bundle", "rbenv", "pyenv", "nodenv", "stack", "cabal", "volta", "fnm", "rustup", "rtk",
    "ld.so",
];

/// Returns the outcome of a program that runs its arguments.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    Some(match invocation.name {
        "env" => environment(invocation),
        "time" => timed(invocation),
        "flock" => locked(invocation),
        "watch" => watched(invocation),
        "hyperfine" => measured(invocation),
        name => {
            let wrapper = WRAPPERS
                .iter()
                .find(|wrapper| wrapper.names.contains(&name))?;
            wrapper.outcome(invocation)
        }
    })
}

impl Wrapper {
    fn outcome(&self, invocation: &Invocation<'_>) -> Result {
        let known = split(invocation.arguments, self.options, Place::Leading)?;
        if known.has(self.idle) {
            return Ok(Outcome::reads());
        }
        // `strace -e inject=…` changes what the process does.
        let filters = known.values(&["-e"]);
        let tampers = |word: &&&Word| {
            ["inject", "fault", "\0"]
                .iter()
                .any(|part| word.shape().contains(part))
        };
        if let Some(word) = filters.iter().find(tampers) {
            return Err(argument(word));
        }
        let rest = &invocation.arguments[known.length..];
        if let Some(word) = rest
            .iter()
            .take(self.skip)
            .find(|word| word.may_hide_option())
        {
            return Err(expansion(word));
        }
        let rest = rest.get(self.skip..).unwrap_or_default();
        let (variables, command) = match invocation.name {
            "sudo" => after_assignments(rest, false)?,
            _ => (Vec::new(), rest),
        };
        let nested = |command: &[Word]| match invocation.name {
            "command" | "builtin" | "exec" | "noglob" | "nocorrect" => {
                NestedCommand::SameShell(command.to_vec())
            }
            "sudo" if known.has(&["-D", "--chdir"]) => {
                NestedCommand::OtherDirectory(command.to_vec())
            }
            _ => NestedCommand::Command(command.to_vec()),
        };
        if command.is_empty() {
            return match invocation.name {
                "command" | "builtin" | "exec" | "nice" | "ionice" => Ok(Outcome::reads()),
                // It shows what a process does that runs already.
                "strace" if known.has(&["-p"]) => Ok(Outcome::reads()),
                // It forgets the password. With a command, it runs it.
                "sudo" if known.has(&["-k"]) => Ok(Outcome::reads()),
                name => Err(Unknown::new(name, UnknownReason::HiddenCode)),
            };
        }
        Ok(Outcome {
            variables,
            ..Outcome::runs([nested(command)])
        })
    }
}

/// The variables that a program gets.
type Passed = Vec<(VariableKind, String, Option<Word>)>;

/// Returns the variables that `env` and `sudo` set, and the words after them. In `env`, every word with `=` is one.
fn after_assignments(words: &[Word], any_name: bool) -> Result<(Passed, &[Word])> {
    let mut rest = words;
    let mut passed = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        let Some((name, value)) = word.shape().split_once('=') else {
            break;
        };
        if !any_name && word.assignment().is_none() {
            break;
        }
        let value = (!value.contains('\0') && !word.is_glob).then_some(value);
        if !is_harmless_variable(name, value) {
            return Err(Unknown::new(name, UnknownReason::Variable));
        }
        passed.push((VariableKind::Passed, name.to_owned(), word.after_equals()));
        rest = after;
    }
    Ok((passed, rest))
}

fn environment(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-i0 -u= -C= --ignore-environment --null --unset= --chdir=";
    let known = split(invocation.arguments, OPTIONS, Place::Leading)?;
    let mut rest = &invocation.arguments[known.length..];
    if let Some((first, after)) = rest.split_first()
        && first.shape() == "-"
    {
        rest = after;
    }
    let (variables, command) = after_assignments(rest, true)?;
    let nested = match command {
        [] => return Ok(Outcome::reads()),
        command if known.has(&["-C", "--chdir"]) => NestedCommand::OtherDirectory(command.to_vec()),
        command => NestedCommand::Command(command.to_vec()),
    };
    Ok(Outcome {
        variables,
        ..Outcome::runs([nested])
    })
}

fn timed(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str =
        "-pvqa -f= -o= --portability --verbose --quiet --append --format= --output=";
    let known = split(invocation.arguments, OPTIONS, Place::Leading)?;
    let command = invocation.arguments[known.length..].to_vec();
    let files = known.values(&["-o", "--output"]);
    let nested = (!command.is_empty()).then_some(NestedCommand::Command(command));
    Ok(Outcome::writes("`time`", files).with(nested))
}

/// `flock file command`: it makes the file.
fn locked(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-nxsuoFe -w= -E= --nonblock --exclusive --shared --unlock --close --no-fork --wait= --timeout= --conflict-exit-code= --verbose";
    let known = split(invocation.arguments, OPTIONS, Place::Leading)?;
    let rest = &invocation.arguments[known.length..];
    let Some((file, command)) = rest.split_first() else {
        return Err(Unknown::new("flock", UnknownReason::Missing));
    };
    let outcome = Outcome::writes("`flock`", [file]);
    match command {
        [] => Ok(outcome),
        [option, text] if matches!(option.shape(), "-c" | "--command") => {
            let inner = script(text.clone(), NestedCommand::Script);
            Ok(Outcome {
                effect: outcome.effect.and(inner.effect),
                ..outcome
            }
            .with(inner.nested))
        }
        [first, ..] if first.shape().starts_with('-') => Err(argument(first)),
        command => Ok(outcome.with([NestedCommand::Command(command.to_vec())])),
    }
}

fn watched(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-dtcgebxw -n= --interval= --no-title --color --chgexit --errexit --beep --exec --differences?= --no-wrap";
    let known = split(invocation.arguments, OPTIONS, Place::Leading)?;
    let rest = &invocation.arguments[known.length..];
    if known.has(&["-x", "--exec"]) && !rest.is_empty() {
        return Ok(Outcome::runs([NestedCommand::Command(rest.to_vec())]));
    }
    let text = joined(rest).ok_or_else(|| Unknown::new("watch", UnknownReason::Missing))?;
    Ok(script(text, NestedCommand::Script))
}

fn measured(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-iN -w= -r= -m= -M= -n= --warmup= --runs= --min-runs= --max-runs= --ignore-failure --command-name= --style= --show-output";
    let known = split(invocation.arguments, OPTIONS, Place::Anywhere)?;
    let Known { operands, .. } = known;
    if let Some(word) = operands.iter().find(|word| word.shape().contains('\0')) {
        return Err(expansion(word));
    }
    let scripts = operands.into_iter().cloned().map(NestedCommand::Script);
    Ok(Outcome::runs(scripts))
}

/// Returns the commands that a program whose arguments are not known may run, for rules on commands.
pub(super) fn guesses(invocation: &Invocation<'_>) -> Vec<NestedCommand> {
    let name = invocation.name;
    let arguments = invocation.arguments;
    if name == "git" {
        let bisects = |words: &[Word]| words[0].shape() == "bisect" && words[1].shape() == "run";
        let start = arguments.windows(2).position(bisects);
        let command = start.map(|start| NestedCommand::Guess(arguments[start + 2..].to_vec()));
        return command.into_iter().collect();
    }
    let is_wrapper = OTHER_WRAPPERS.contains(&name)
        || WRAPPERS.iter().any(|wrapper| wrapper.names.contains(&name))
        || is_shell(name)
        || matches!(
            name,
            "env"
                | "time"
                | "flock"
                | "watch"
                | "hyperfine"
                | "xargs"
                | "find"
                | "fd"
                | "fdfind"
                | "eval"
        );
    if !is_wrapper {
        return Vec::new();
    }
    let starts = |word: &Word| {
        !word.shape().starts_with('-') && word.assignment().is_none() && word.program().is_some()
    };
    let mut guesses = Vec::new();
    for (index, word) in arguments.iter().enumerate().take(MAX_GUESSES) {
        let value = word
            .shape()
            .strip_prefix("--")
            .and_then(|_| word.after_equals());
        let word = value.as_ref().unwrap_or(word);
        if word.shape().contains(char::is_whitespace) {
            guesses.push(NestedCommand::GuessedScript(word.clone()));
        } else if starts(word) {
            let end = arguments[index..]
                .iter()
                .position(|word| word.shape() == ";");
            let end = end.map_or(arguments.len(), |end| index + end);
            guesses.push(NestedCommand::Guess(arguments[index..end].to_vec()));
        }
    }
    guesses
}

/// Creates the effect of a program that runs code of the project, whatever its command does.
pub(super) fn project_runner(command: Vec<Word>) -> Outcome {
    Outcome::of(Effect::RunsProjectCode).with([NestedCommand::Command(command)])
}
