//! Triggers, which start the agent from outside: a file, or a port.
//!
//! Owns the bounds of incoming text, and its conversion to text without control characters.
//!
//! Each trigger has a thread, which ends when its [`ActiveTrigger`] is dropped. Must not know of sessions, nor decide when the agent gets a text:
//! the caller of [`start`] gets the events, and returns their outcome.

mod file;
mod unauthenticated;
mod webhook;

use std::fmt::Debug;
use std::path::Path;

use workflow_core::definition::{Tier, Token, Trigger, TriggerOn};
use workflow_core::event::{PlatformEvent, WatchReport};

use self::file::FileLocation;
use self::webhook::Webhook;
use crate::files::expanded_home;

pub(crate) use workflow_core::effect::TriggerOutcome;

/// Bytes of text that are accepted.
const MAX_TEXT: usize = 64 * 1024;

/// Delivers a text for the agent, or a problem for a person. `None`: the session has ended.
type Deliver = Box<dyn Fn(Result<String, String>) -> Option<TriggerOutcome> + Send + Sync>;

/// Converts input to text without control characters. The part beyond the bound is replaced by a note.
fn as_text(bytes: &[u8], length: u64) -> String {
    let accepted = &bytes[..bytes.len().min(MAX_TEXT)];
    let text = String::from_utf8_lossy(accepted);
    let is_text = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    let text: String = text.chars().filter(is_text).collect();
    let text = text.trim();
    match length.saturating_sub(accepted.len() as u64) {
        0 => text.to_owned(),
        more => format!("{text}\n(… {more} more bytes are left out)"),
    }
}

/// A trigger that is watched until this is dropped.
pub(crate) type ActiveTrigger = Box<dyn Debug + Send>;

/// Starts to watch a trigger.
pub(crate) fn start(
    trigger: &Trigger,
    cwd: &Path,
    deliver: impl Fn(PlatformEvent) -> Option<TriggerOutcome> + Send + Sync + 'static,
) -> Result<ActiveTrigger, String> {
    let definition = trigger.clone();
    let deliver: Deliver = Box::new(move |event| {
        deliver(match event {
            Ok(text) => PlatformEvent::Triggered {
                text: definition.message(&text),
            },
            Err(problem) => PlatformEvent::TriggersWatched {
                report: WatchReport {
                    problems: vec![problem],
                    ..WatchReport::default()
                },
            },
        })
    });
    Ok(match &trigger.on {
        TriggerOn::File(path) => {
            let location = file_location(path, trigger.tier, cwd)?;
            Box::new(file::watch(location, deliver)?)
        }
        TriggerOn::Http { port, token } => {
            let token = token_text(token, *port)?;
            Box::new(Webhook::start(*port, &token, deliver)?)
        }
    })
}

/// Returns the location of a trigger's file.
///
/// A path in the user's settings applies in every project, one in a project's settings only inside of that project.
fn file_location(path: &str, tier: Tier, cwd: &Path) -> Result<FileLocation, String> {
    let problem = |reason: &str| format!("The trigger {path:?} is not watched: {reason}.");
    match tier {
        Tier::Global => {
            // Without a home directory the path is relative.
            let path = expanded_home(path);
            if !path.is_absolute() {
                return Err(problem(
                    "your settings must name it by its whole path, or `~/…`",
                ));
            }
            Ok(FileLocation { path, within: None })
        }
        Tier::Project => {
            let within = cwd
                .canonicalize()
                .map_err(|error| problem(&error.to_string()))?;
            Ok(FileLocation {
                path: within.join(path),
                within: Some(within),
            })
        }
    }
}

fn token_text(token: &Token, port: u16) -> Result<String, String> {
    match token {
        Token::Text(text) => Ok(text.trim().to_owned()),
        Token::Environment(name) => std::env::var(name)
            // A value that is not UTF-8 counts as not set.
            .ok()
            // A variable that was read from a file often ends with a line break.
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .ok_or_else(|| {
                format!(
                    "Nothing listens at port {port}: the environment variable {name:?}, which contains its token, is not set."
                )
            }),
    }
}
