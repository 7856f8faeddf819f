//! Commands in containers: `docker run`, `docker exec`, `kubectl exec`.

use super::options::{Place, argument, split};
use super::outcome::{Invocation, NestedCommand, Outcome, Result};
use super::table::is_harmless_variable;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of a subcommand that runs a command in a container.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let all = without_prefix(invocation.name, invocation.arguments);
    let words: Vec<Option<&str>> = all.iter().take(3).map(Word::text).collect();
    let (start, runs) = match (invocation.name, words.as_slice()) {
        ("docker" | "podman", [Some("run"), ..]) => (1, true),
        ("docker" | "podman", [Some("container"), Some("run"), ..]) => (2, true),
        ("docker" | "podman", [Some("container" | "compose"), Some("exec"), ..]) => (2, false),
        ("docker" | "podman" | "docker-compose" | "podman-compose", [Some("exec"), ..]) => {
            (1, false)
        }
        ("kubectl" | "oc" | "k" | "kubecolor", [Some("exec"), ..]) => {
            return Some(in_pod(&all[1..]));
        }
        _ => return None,
    };
    let arguments = &all[start..];
    Some(if runs {
        run(arguments)
    } else {
        executed(arguments)
    })
}

/// Returns the arguments without the options before the subcommand that say where it works: `kubectl -n prod exec`,
/// `docker compose -f file exec`.
fn without_prefix(name: &str, arguments: &[Word]) -> Vec<Word> {
    let (options, start) = match (name, arguments.first().and_then(Word::text)) {
        ("kubectl" | "oc" | "k" | "kubecolor", _) => ("-n= --namespace= --context= --cluster=", 0),
        ("docker" | "podman", Some("compose")) => {
            ("-f= --file= -p= --project-name= --profile= --env-file=", 1)
        }
        ("docker-compose" | "podman-compose", _) => {
            ("-f= --file= -p= --project-name= --profile= --env-file=", 0)
        }
        _ => return arguments.to_vec(),
    };
    match split(&arguments[start..], options, Place::Leading) {
        Ok(known) => [&arguments[..start], &arguments[start + known.length..]].concat(),
        Err(_) => arguments.to_vec(),
    }
}

/// `docker run image command`: the files of the host change only through a mount.
fn run(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-itdq -e= -w= -p= -u= -v= -h= -m= --rm --interactive --tty --detach --quiet --init --read-only --env= --workdir= --publish= --user= --volume= --mount= --name= --network= --net= --platform= --pull= --entrypoint= --hostname= --memory= --cpus= --gpus= --add-host= --tmpfs= --shm-size= --label= --restart= --no-healthcheck";
    let known = split(arguments, OPTIONS, Place::Leading)?;
    for word in known.values(&["-v", "--volume"]) {
        let is_read_only = word.shape().rsplit(':').next().is_some_and(|last| {
            last.split(',').any(|option| option == "ro")
                && last
                    .split(',')
                    .all(|option| matches!(option, "ro" | "z" | "Z" | "cached" | "consistent"))
        });
        if !is_read_only || word.shape().split(':').count() != 3 {
            return Err(argument(word));
        }
    }
    for word in known.values(&["--mount"]) {
        if !is_read_only_mount(word.shape()) {
            return Err(argument(word));
        }
    }
    let rest = &arguments[known.length..];
    if rest.is_empty() {
        return Err(Unknown::new("run", UnknownReason::Missing));
    }
    Ok(Outcome::of(Effect::RunsProjectCode))
}

/// Returns whether a mount certainly changes nothing on the host. Of a field that occurs twice, the last one counts.
fn is_read_only_mount(mount: &str) -> bool {
    let fields: Vec<&str> = mount.split(',').map(str::trim).collect();
    let of = |names: &[&str]| {
        let name = |field: &&&str| names.contains(&field.split('=').next().unwrap_or_default());
        let mut found = fields.iter().filter(name).copied();
        found.next().filter(|_| found.next().is_none())
    };
    matches!(
        of(&["readonly", "ro"]),
        Some("readonly" | "ro" | "readonly=true" | "ro=true")
    ) || of(&["type"]) == Some("type=tmpfs")
}

/// `docker exec container command`: the container may have the files of the project.
fn executed(arguments: &[Word]) -> Result {
    const OPTIONS: &str =
        "-itT -e= -w= -u= --interactive --tty --no-TTY --env= --workdir= --user= --index=";
    let known = split(arguments, OPTIONS, Place::Leading)?;
    for word in known.values(&["-e", "--env"]) {
        let (name, value) = word.shape().split_once('=').unwrap_or((word.shape(), ""));
        if !is_harmless_variable(name, Some(value).filter(|value| !value.contains('\0'))) {
            return Err(Unknown::new(name, UnknownReason::Variable));
        }
    }
    match &arguments[known.length..] {
        [_, command @ ..] if !command.is_empty() => {
            Ok(Outcome::runs([NestedCommand::OtherDirectory(
                command.to_vec(),
            )]))
        }
        _ => Err(Unknown::new("exec", UnknownReason::Missing)),
    }
}

fn in_pod(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-itq -c= -n= --stdin --tty --quiet --container= --namespace= --context= --pod-running-timeout=";
    let end = arguments.iter().position(|word| word.shape() == "--");
    let Some(end) = end else {
        return Err(Unknown::new("--", UnknownReason::Missing));
    };
    split(&arguments[..end], OPTIONS, Place::Anywhere)?;
    match &arguments[end + 1..] {
        [] => Err(Unknown::new("exec", UnknownReason::Missing)),
        command => Ok(Outcome::runs([NestedCommand::OtherDirectory(
            command.to_vec(),
        )])),
    }
}
