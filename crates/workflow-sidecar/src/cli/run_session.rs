//! The session of a run that is named by its id, wherever it went on.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::json;
use workflow_core::diagnostic::{shown, visible};

use crate::session_file::read_file;
use crate::store::{IndexedRun, RunQuery, Store, of_agent_dir};

/// Facts about a run.
pub(super) enum RunSession {
    /// The session, in the form of a session file.
    Entries(Vec<u8>),
    /// The session is kept by its host on another machine.
    Elsewhere(Box<IndexedRun>),
}

/// Returns the id if an argument is one of a run, and no file.
pub(super) fn run_id(argument: &Path) -> Option<&str> {
    let id = argument.to_str()?;
    (id.starts_with("wf-") && !id.contains(['/', '.']) && !argument.exists()).then_some(id)
}

/// Finds a run by its id, or its beginning.
pub(super) fn run_session(id: &str, agent_dir: &Path) -> anyhow::Result<RunSession> {
    let store = of_agent_dir(agent_dir)?;
    let run = one_run(&*store, id)?;
    if let Some(file) = run.file.as_ref().map(PathBuf::from) {
        return Ok(if file.is_file() {
            RunSession::Entries(read_file(&file)?)
        } else {
            RunSession::Elsewhere(Box::new(run))
        });
    }
    let session = store.load(&run.key)?;
    if session.entries.is_empty() {
        return Ok(RunSession::Elsewhere(Box::new(run)));
    }
    let head = json!({"type": "session", "cwd": run.cwd});
    let entries = session.entries.iter().map(
        |entry| json!({"type": "custom", "customType": entry.custom_type, "data": entry.data}),
    );
    let lines = std::iter::once(head).chain(entries);
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    Ok(RunSession::Entries(lines.join("\n").into_bytes()))
}

/// Finds the only run whose id begins so.
fn one_run(store: &dyn Store, id: &str) -> anyhow::Result<IndexedRun> {
    let mut found = store.runs(&RunQuery {
        task_id: id,
        limit: Some(2),
        ..RunQuery::default()
    })?;
    // The same run may be in two sessions, one being a fork of the other: the newer one counts.
    found.sort_by_key(|found| std::cmp::Reverse(found.updated));
    let is_same = found
        .iter()
        .all(|other| other.run.task_id == found[0].run.task_id);
    if found.is_empty() {
        bail!(
            "there is no run `{}` in the store: `workflow-sidecar runs --all` lists them",
            shown(id)
        );
    }
    if !is_same {
        bail!(
            "several runs begin with `{}`: name more of the id",
            shown(id)
        );
    }
    Ok(found.remove(0))
}

/// Says what the index knows of a run, and where the rest is.
pub(super) fn elsewhere(run: &IndexedRun) -> anyhow::Error {
    let machine = if run.machine.is_empty() {
        "another machine"
    } else {
        &run.machine
    };
    anyhow::anyhow!(
        "the session of {} is kept by {} on {}, in {}: the run is {} in {}",
        visible(&run.run.task_id),
        visible(&run.key.host),
        visible(machine),
        visible(run.file.as_deref().unwrap_or("its own files")),
        visible(&run.run.state),
        visible(&run.run.phase),
    )
}
