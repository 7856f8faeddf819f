//! The user's `notify` command: shows a text to the user where the host does not.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::files::absolute;
use crate::platform::on_path;
use crate::platform::process::wait_until;
use crate::threads::spawn;
use crate::user_settings::user_setting;

/// The time that the command has.
const MAX_TIME: Duration = Duration::from_secs(30);

/// A program with its arguments. It reads the text on its standard input: arguments are for every process to read.
pub(crate) type Notifier = Vec<String>;

/// Those that this process found first, by agent directory. What a tool of the agent writes later, to the settings or to an
/// earlier directory of `PATH`, must not be shown the codes.
static KNOWN: Mutex<BTreeMap<PathBuf, Option<Notifier>>> = Mutex::new(BTreeMap::new());

/// Returns that of the user's settings. Settings of a project have none.
pub(crate) fn notifier(agent_dir: &Path) -> Option<Notifier> {
    let mut known = KNOWN.lock();
    let known = known.entry(agent_dir.to_path_buf());
    known.or_insert_with(|| find(agent_dir)).clone()
}

fn find(agent_dir: &Path) -> Option<Notifier> {
    let setting = user_setting(agent_dir, "notify");
    let setting = setting.inspect_err(|error| tracing::warn!("{error}"));
    let mut command: Notifier = setting.ok()??;
    let program = command.first_mut()?;
    let Some(found) = on_path(program) else {
        tracing::warn!("there is no `{program}` on PATH: `notify` shows nothing");
        return None;
    };
    *program = absolute(&found).into_os_string().into_string().ok()?;
    Some(command)
}

/// Shows a text, on a thread of its own: nothing waits for the command.
pub(super) fn show(command: Notifier, text: String) {
    let run = move || {
        if let Err(error) = run(&command, &text) {
            tracing::warn!("the command of `notify` failed: {error}");
        }
    };
    if let Err(error) = spawn("notify", run) {
        tracing::warn!("the command of `notify` cannot be run: {error}");
    }
}

fn run(command: &[String], text: &str) -> io::Result<()> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| io::Error::other("it names no program"))?;
    let (mut input, end) = input()?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(end)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // A command that does not read it shows something of its own.
    drop(input.write_all(text.as_bytes()));
    drop(input);
    match wait_until(&mut child, Instant::now() + MAX_TIME)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(io::Error::other(status.to_string())),
        None => {
            child.kill()?;
            child.wait()?;
            Err(io::Error::other("it did not end in time"))
        }
    }
}

/// Both ends of an input. A pipe could be opened by the user's other processes, a socket cannot.
#[cfg(unix)]
fn input() -> io::Result<(impl Write, Stdio)> {
    let (input, end) = std::os::unix::net::UnixStream::pair()?;
    // A text is short enough for the socket to take it, so a command that reads nothing holds nothing.
    input.set_write_timeout(Some(MAX_TIME))?;
    Ok((input, Stdio::from(std::os::fd::OwnedFd::from(end))))
}

#[cfg(not(unix))]
fn input() -> io::Result<(impl Write, Stdio)> {
    let (end, input) = io::pipe()?;
    Ok((input, Stdio::from(end)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Vec<String> {
        ["sh", "-c", line].map(str::to_owned).to_vec()
    }

    #[test]
    fn the_command_reads_the_text() {
        let directory = tempfile::tempdir().unwrap();
        let shown = directory.path().join("shown");
        run(&shell(&format!("cat > '{}'", shown.display())), "the code").unwrap();
        assert_eq!(std::fs::read_to_string(shown).unwrap(), "the code");
    }

    #[test]
    fn a_command_that_fails_is_reported() {
        assert!(run(&shell("exit 3"), "text").is_err());
        assert!(run(&["/nowhere/notify".to_owned()], "text").is_err());
        assert!(run(&[], "text").is_err());
    }
}
