//! Starting what sends a notice, and writing to the terminal.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use workflow_core::diagnostic::visible;

use crate::platform::process::wait_until;
use crate::threads::spawn;

/// The time that a command has.
const MAX_TIME: Duration = Duration::from_secs(30);
/// The most that are under way at once.
const MAX_AT_ONCE: usize = 4;

/// Bytes of an error that are shown.
const MAX_SAID: u64 = 500;

/// `curl`, which reads what it sends on its standard input, as arguments are for every process to read: without a file of
/// options, as quiet as can be, with an error for an answer that is one or leads elsewhere.
#[rustfmt::skip]
pub(super) const CURL: [&str; 12] = [
    "curl", "-q", "-sSfL", "--max-redirs", "0", "--max-time", "10", "-g", "--proto", "=http,https", "-K", "-",
];

/// The notices that are under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Starts a command with a text; `server` is the one that it sends the text to. Only a thread of its own waits for its end.
pub(super) fn start(command: &[String], text: &str, server: Option<&str>) {
    let name = server.unwrap_or("its program").to_owned();
    let warn = move |why: &str| tracing::warn!("`notify` could not tell {name}: {why}");
    if UNDER_WAY.fetch_add(1, Ordering::Relaxed) >= MAX_AT_ONCE {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        return warn("too many notices are under way");
    }
    // It has the text before anything else happens, since a hook ends soon.
    let child = started(command, text, server.is_some());
    let wait = move || {
        if let Err(error) = child.and_then(ended) {
            warn(&error.to_string());
        }
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    };
    if let Err(error) = spawn("notify", wait) {
        tracing::warn!("nothing waits for the end of a notice: {error}");
    }
}

/// Starts a command that has a text on its standard input.
fn started(command: &[String], text: &str, explains: bool) -> io::Result<Child> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| io::Error::other("it has no name"))?;
    let (mut input, end) = input()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(end).stdout(Stdio::null());
    command.stderr(if explains {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    // It outlives the hook, and a Ctrl-C that is meant for the host.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn()?;
    // A command that does not read it shows something of its own.
    drop(input.write_all(text.as_bytes()));
    Ok(child)
}

/// Waits for the end of a command.
fn ended(mut child: Child) -> io::Result<()> {
    let Some(status) = wait_until(&mut child, Instant::now() + MAX_TIME)? else {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::other("it did not end in time"));
    };
    if status.success() {
        return Ok(());
    }
    let mut why = String::new();
    if let Some(said) = child.stderr {
        said.take(MAX_SAID).read_to_string(&mut why)?;
    }
    Err(io::Error::other(format!(
        "{status} {}",
        visible(why.trim())
    )))
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

/// Writes to the terminal of this process, which is that of the host. Without one, or while it takes nothing, there is no
/// notice.
pub(super) fn to_terminal(text: &str) {
    if let Err(error) = written(text) {
        tracing::debug!("`notify` has no terminal: {error}");
    }
}

#[cfg(unix)]
fn written(text: &str) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = open("/dev/tty", flags, Mode::empty())?;
    std::fs::File::from(terminal).write_all(text.as_bytes())
}

#[cfg(not(unix))]
fn written(_text: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn run(line: &str, text: &str) -> io::Result<()> {
        let command = ["sh", "-c", line].map(str::to_owned);
        ended(started(&command, text, true)?)
    }

    #[test]
    fn the_command_reads_the_text() {
        let directory = tempfile::tempdir().unwrap();
        let shown = directory.path().join("shown");
        run(&format!("cat > '{}'", shown.display()), "the code").unwrap();
        assert_eq!(std::fs::read_to_string(shown).unwrap(), "the code");
    }

    #[test]
    fn a_command_that_fails_is_reported() {
        let error = run("echo why >&2; exit 3", "text").unwrap_err().to_string();
        assert!(error.contains('3') && error.ends_with("why"), "{error}");
        assert!(started(&["/nowhere/notify".to_owned()], "text", false).is_err());
        assert!(started(&[], "text", false).is_err());
    }
}
