//! Watches what wakes the agent from outside: a file, or a port.
//!
//! Owns that what comes in is bounded and is text, and that nothing runs for a trigger that is not there. Each trigger has
//! threads of its own, which end when its [`Running`] is dropped. Must not know of sessions, nor decide when the agent
//! is told: whoever starts a trigger takes what it has, and answers what becomes of it.

mod file;
mod http;

use std::path::{Path, PathBuf};

use workflow_core::definition::{Tier, Token, Trigger, TriggerOn};
use workflow_core::effect::TriggerOutcome as Heard;

use file::Place;

/// How much is taken of what comes in, in bytes.
const LONGEST: usize = 64 * 1024;

/// What is told of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// What the agent is to be told.
    Text(String),
    /// What goes wrong, for a person.
    Problem(String),
}

/// Takes what a trigger has. `None`: nobody waits for it any more.
type Tell = Box<dyn Fn(News) -> Option<Heard> + Send + Sync>;

/// A trigger that is watched, until this is dropped.
#[derive(Debug)]
pub(crate) struct Running(#[expect(dead_code, reason = "it is held, and let go of")] Watching);

#[derive(Debug)]
#[expect(dead_code, reason = "they are held, and let go of")]
enum Watching {
    File(file::Watcher),
    Http(http::Webhook),
}

/// Starts to watch, or says why that cannot be.
pub(crate) fn start(
    trigger: &Trigger,
    cwd: &Path,
    tell: impl Fn(News) -> Option<Heard> + Send + Sync + 'static,
) -> Result<Running, String> {
    let of = trigger.clone();
    let tell: Tell = Box::new(move |news| {
        tell(match news {
            News::Text(text) => News::Text(of.told(&text)),
            News::Problem(problem) => News::Problem(problem),
        })
    });
    let watching = match &trigger.on {
        TriggerOn::File(path) => {
            let place = place(path, trigger.tier, cwd)?;
            Watching::File(file::Watcher::start(place, tell)?)
        }
        TriggerOn::Http { port, token } => {
            let secret = secret(token, *port)?;
            Watching::Http(http::Webhook::start(*port, &secret, tell)?)
        }
    };
    Ok(Running(watching))
}

/// Where the file of a trigger is, and what it must not leave.
///
/// The user's settings hold in every project, and a project's in the project only.
fn place(path: &str, tier: Tier, cwd: &Path) -> Result<Place, String> {
    let problem = |why: &str| format!("The trigger {path:?} is not watched: {why}.");
    match tier {
        Tier::Global => {
            let whole = match path.strip_prefix("~/") {
                Some(rest) => crate::home::home_dir().unwrap_or_default().join(rest),
                None => PathBuf::from(path),
            };
            if !whole.is_absolute() {
                return Err(problem(
                    "your settings must name it by its whole path, or `~/…`",
                ));
            }
            Ok(Place {
                path: whole,
                within: None,
            })
        }
        Tier::Project => {
            let within = cwd
                .canonicalize()
                .map_err(|error| problem(&error.to_string()))?;
            Ok(Place {
                path: within.join(path),
                within: Some(within),
            })
        }
    }
}

fn secret(token: &Token, port: u16) -> Result<String, String> {
    match token {
        Token::Text(text) => Ok(text.trim().to_owned()),
        // A variable that was read from a file often ends with its line.
        Token::Environment(name) => std::env::var(name)
            .ok()
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .ok_or_else(|| {
                format!(
                    "Nothing listens at port {port}: the environment variable {name:?}, which holds its token, is not set."
                )
            }),
    }
}

/// What came in, as text that moves no cursor. What is beyond the bound is left out, and that is said.
fn as_text(bytes: &[u8], length: u64) -> String {
    let kept = &bytes[..bytes.len().min(LONGEST)];
    let text = String::from_utf8_lossy(kept);
    let is_text = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    let text: String = text.chars().filter(is_text).collect();
    let text = text.trim();
    match length.saturating_sub(kept.len() as u64) {
        0 => text.to_owned(),
        more => format!("{text}\n(… {more} more bytes are left out)"),
    }
}
