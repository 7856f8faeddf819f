//! A hook: one process, one event, one answer, in time whatever happens.
//!
//! Hosts let a tool run if its hook is late, crashes or prints something else. So a second thread answers after three
//! seconds, a panic becomes an answer, and nothing but the answer is ever printed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use workflow_core::definition::Loaded;

use super::HookHost;
use super::answer::{BLOCKED, HookAnswer, Printed};
use super::decide::EventHandler;
use super::event::{EventName, EventPayload};
use super::{hosts, prompt};
use crate::definitions::{Loader, OnDisk};
use crate::files::read_at_most;
use crate::install::{InstallTarget, installed};
use crate::platform::disk::user_agent_dir;
use crate::store::{self, has_active_runs, state_directory};

/// The time for an answer. Much less than the time that hosts give a hook.
const TIME_TO_ANSWER: Duration = Duration::from_secs(3);
/// The time for the definitions, where there is no decision.
const TIME_TO_LOAD: Duration = Duration::from_secs(1);
/// The longest event, in bytes.
const MAX_EVENT: u64 = 64 << 20;

/// Answers the event on standard input, and gives the exit code.
pub(crate) fn run(host: &'static HookHost, state: Option<&Path>) -> u8 {
    // What a panic would print is in the answer.
    std::panic::set_hook(Box::new(|_| {}));
    let Ok(output) = HookOutput::take() else {
        return BLOCKED;
    };
    let hook = Arc::new(Hook {
        host,
        directory: state_directory(state).map_err(|error| error.to_string()),
        output: Mutex::new(Some(output)),
        progress: Mutex::default(),
    });
    let watched = Arc::clone(&hook);
    let watchdog = thread::Builder::new().spawn(move || {
        thread::sleep(TIME_TO_ANSWER);
        let late = format!("it took more than {} s", TIME_TO_ANSWER.as_secs());
        if let Some(code) = watched.print(Err(late)) {
            std::process::exit(i32::from(code));
        }
    });
    let answer = match watchdog {
        Ok(_) => catch_unwind(AssertUnwindSafe(|| hook.answer()))
            .unwrap_or_else(|_| Err("workflow-sidecar failed at it".to_owned())),
        Err(error) => Err(format!("nothing can watch over it: {error}")),
    };
    match hook.print(answer) {
        Some(code) => code,
        // The other thread has answered, and ends the process.
        None => loop {
            thread::park();
        },
    }
}

/// A hook at work.
struct Hook {
    host: &'static HookHost,
    /// The directory of the store, or why there is none.
    directory: Result<PathBuf, String>,
    /// `None` once the answer is printed.
    output: Mutex<Option<HookOutput>>,
    progress: Mutex<Progress>,
}

/// Facts about the event so far.
#[derive(Clone, Default)]
struct Progress {
    /// The host that has written the event.
    host: Option<&'static HookHost>,
    event: EventName,
    /// A prompt of the person.
    prompt: Option<String>,
    /// The directory of the event.
    cwd: Option<PathBuf>,
    /// The result of a tool.
    result: Option<Value>,
    /// True if a run is active in the session, or the settings have rules.
    is_guarded: Option<bool>,
}

impl Hook {
    /// Reads the event, and has it decided with the store.
    fn answer(&self) -> Result<HookAnswer, String> {
        let read = read_at_most(io::stdin().lock(), MAX_EVENT);
        let text = read.map_err(|error| format!("the event cannot be read: {error}"))?;
        let text = text.ok_or_else(|| format!("the event is longer than {MAX_EVENT} bytes"))?;
        let payload = EventPayload::parse(&text)?;
        let host = sender(self.host, &payload);
        let name = payload.name(host.events);
        *self.progress.lock() = Progress {
            host: Some(host),
            event: name,
            prompt: (name == EventName::Prompt).then(|| payload.prompt().to_owned()),
            cwd: payload.cwd.clone().filter(|cwd| cwd.is_absolute()),
            ..Progress::default()
        };
        if payload.is_foreign() {
            return Err(format!(
                "these are the hooks of {}, and a host that shows the model nothing of a workflow runs them. In Grok, \
                 `[compat.claude] hooks = false` in ~/.grok/config.toml ends that",
                host.title
            ));
        }
        // Where its own hooks run as well, they decide.
        if name == EventName::Unused || host.name != self.host.name && is_installed(host, name) {
            return Ok(HookAnswer::default());
        }
        let event = payload.event(name)?;
        let result = payload.result();
        self.progress.lock().result = result.and_then(|it| serde_json::from_str(it.get()).ok());
        let directory = self.directory.clone()?;
        let store = store::open(directory, &user_agent_dir(None));
        let store = store
            .map_err(|error| format!("the store of workflow-sidecar cannot be used: {error}"))?
            .for_one_event();
        let variable = |name: &str| std::env::var_os(name)?.into_string().ok();
        let surroundings = host.surroundings(&variable);
        if name == EventName::SessionStart {
            // A host that the agent starts has its own rules then.
            let _ = surroundings.name_session(&event.key(host));
        }
        let handler = EventHandler {
            host,
            store: &store,
            surroundings: &surroundings,
            process: host.process(),
            on_loaded: &|is_guarded| self.progress.lock().is_guarded = Some(is_guarded),
        };
        (handler.decide(&event)).map_err(|failure| failure.to_string())
    }

    /// Prints the answer, once: gives the exit code, or `None` if an answer was printed before.
    fn print(&self, answer: Result<HookAnswer, String>) -> Option<u8> {
        let answer = answer.unwrap_or_else(|reason| self.without_decision(&reason));
        let mut output = self.output.lock().take()?;
        let progress = self.progress.lock();
        let HookHost { form, events, .. } = progress.host.unwrap_or(self.host);
        let printed = form.print(progress.event, events, &answer, progress.result.as_ref());
        let is_whole = output.print(&printed);
        Some(if is_whole { printed.code } else { BLOCKED })
    }

    /// The answer without a decision. It is closed while a run is or may be active, and where the settings have rules or
    /// cannot be read.
    fn without_decision(&self, reason: &str) -> HookAnswer {
        let progress = self.progress.lock().clone();
        let (prompt, is_guarded) = (progress.prompt, progress.is_guarded);
        let cwd = progress.cwd.or_else(|| std::env::current_dir().ok());
        let load = || load_in_time(cwd.clone().unwrap_or_default());
        let loaded = (prompt.is_some() || is_guarded.is_none())
            .then(load)
            .flatten();
        let is_command = |text: String| {
            let mut all = loaded.iter().flatten();
            all.any(|loaded| prompt::parse(&text, loaded).is_some())
        };
        if prompt.is_some_and(is_command) {
            // The person waits for the result of the command.
            return HookAnswer::not_done(reason);
        }
        let may_be_active = || match (&self.directory, &cwd) {
            (Ok(directory), Some(cwd)) => has_active_runs(directory, cwd),
            (Err(_), _) | (_, None) => true,
        };
        let may_have_rules = || {
            let all = loaded.as_ref();
            all.is_none_or(|all| all.iter().any(|loaded| loaded.settings.has_rules()))
        };
        if is_guarded.unwrap_or_else(|| may_have_rules() || may_be_active()) {
            HookAnswer::closed(progress.event, reason)
        } else {
            HookAnswer::default()
        }
    }
}

/// The host that has written an event. Copilot CLI runs the hooks of Claude Code in a project that it trusts. A Claude Code that
/// its agent starts inherits the variable, and not the envelope.
fn sender(host: &'static HookHost, payload: &EventPayload<'_>) -> &'static HookHost {
    let copilot = hosts::host("copilot").filter(|_| {
        host.name == "claude"
            && payload.is_of_copilot()
            && std::env::var_os("COPILOT_CLI").is_some()
    });
    copilot.unwrap_or(host)
}

/// Returns true if a host runs a hook of ours at an event, for all projects.
fn is_installed(host: &'static HookHost, event: EventName) -> bool {
    let target = InstallTarget::of_process(None).ok();
    let installed = target.and_then(|target| installed(host, &target));
    let name = event.of(host.events);
    installed.is_some_and(|it| it.commands.iter().any(|(known, _)| *known == name))
}

/// Loads the definitions of each directory that may be the project of an event, because the store that knows it may be
/// damaged. `None` if that takes too long or fails.
fn load_in_time(cwd: PathBuf) -> Option<Vec<Arc<Loaded>>> {
    let (done, result) = channel();
    let loader = thread::Builder::new().spawn(move || {
        let is_project = |directory: &&Path| *directory == cwd || directory.join(".pi").is_dir();
        let projects = cwd.ancestors().filter(is_project);
        let load = |project| OnDisk::default().load(&user_agent_dir(None), project);
        // Nobody waits any more if it took too long.
        let _ = done.send(projects.map(load).collect());
    });
    loader.ok()?;
    result.recv_timeout(TIME_TO_LOAD).ok()
}

/// Standard output and standard error, for this process alone.
///
/// A host waits until every process that has the pipe closes it, then gives up waiting, and lets the tool run. So no child
/// may inherit it: both descriptors are moved to ones that are closed when another program starts, and replaced by the null
/// device.
struct HookOutput {
    stdout: File,
    stderr: File,
}

impl HookOutput {
    /// Takes the streams of the process.
    #[cfg(unix)]
    fn take() -> io::Result<Self> {
        let own = |stream| rustix::io::fcntl_dupfd_cloexec(stream, 3).map(File::from);
        let output = Self {
            stdout: own(rustix::stdio::stdout())?,
            stderr: own(rustix::stdio::stderr())?,
        };
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        Ok(output)
    }

    /// Takes the streams of the process.
    #[cfg(windows)]
    fn take() -> io::Result<Self> {
        use std::os::windows::io::AsHandle;
        let own = |handle: std::os::windows::io::BorrowedHandle<'_>| {
            handle.try_clone_to_owned().map(File::from)
        };
        Ok(Self {
            stdout: own(io::stdout().as_handle())?,
            stderr: own(io::stderr().as_handle())?,
        })
    }

    /// Prints an answer: each stream in one write. Returns whether all of it was written.
    fn print(&mut self, printed: &Printed) -> bool {
        let lines = [
            (&mut self.stderr, &printed.stderr),
            (&mut self.stdout, &printed.stdout),
        ];
        let written = lines.map(|(stream, text)| {
            let line = format!("{text}\n");
            text.is_empty() || stream.write_all(line.as_bytes()).is_ok()
        });
        written == [true; 2]
    }
}
