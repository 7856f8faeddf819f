//! `status --line`: what Claude Code shows below its prompt. It starts this after each message, and waits for the end.

use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Deserializer, Value};
use workflow_core::diagnostic::visible;

use crate::platform::disk::user_agent_dir;
use crate::store::{SessionKey, open, state_directory};

/// The time after which nothing is shown.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Prints the line of the active run of the session on standard input: nothing without one, or if it is not known in time.
pub(super) fn print(state: Option<&Path>) {
    thread::spawn(|| {
        thread::sleep(TIME_LIMIT);
        std::process::exit(0);
    });
    if let Ok(Some(line)) = line(state) {
        let _ = writeln!(io::stdout(), "{}", visible(&line));
    }
}

fn line(state: Option<&Path>) -> anyhow::Result<Option<String>> {
    let shown = Value::deserialize(&mut Deserializer::from_reader(io::stdin().lock()))?;
    let key = SessionKey {
        host: "claude".to_owned(),
        session: shown["session_id"].as_str().unwrap_or_default().to_owned(),
    };
    let run = open(state_directory(state)?, &user_agent_dir(None))?.active_run(&key)?;
    // One whose workflow is gone has no status.
    Ok(run.map(|run| match &*run.run.status {
        "" => run.run.words().to_owned(),
        status => status.to_owned(),
    }))
}
