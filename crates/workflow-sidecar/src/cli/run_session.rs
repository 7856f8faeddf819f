//! A run that is named by its id, or that is active in a project, and its session.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::run::entry_type;

use crate::session_file::{SessionEntry, SessionFile, is_session, read_file};
use crate::store::{IndexedRun, RunQuery, Store, of_agent_dir};

/// A run, and its session where it can be read.
pub(super) struct RunSession {
    pub(super) run: IndexedRun,
    /// The session, in the form of a session file; `None` if its host keeps it where it cannot be read.
    pub(super) bytes: Option<Vec<u8>>,
    /// True if the session has what was said and done, and not only the entries of the run.
    pub(super) has_messages: bool,
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
    session_of(run, &*store)
}

/// Finds the run that is active in a project, or else the last one of it. The error names several.
pub(super) fn run_in_project(
    project: &Path,
    agent_dir: &Path,
) -> anyhow::Result<Option<RunSession>> {
    let store = of_agent_dir(agent_dir)?;
    let is_here = |run: &IndexedRun| run.cwd.canonicalize().is_ok_and(|cwd| cwd == project);
    let mut here = store.runs(&RunQuery::default())?;
    here.retain(is_here);
    let is_active = |run: &&IndexedRun| run.run.is_active && run.run.state != "closed";
    let active: Vec<String> = here.iter().filter(is_active).map(named).collect();
    if active.len() > 1 {
        bail!(
            "{} runs are active in {}: {}. Name one",
            active.len(),
            visible(&project.to_string_lossy()),
            active.join(", ")
        );
    }
    // An active run comes first; the list has the newest first.
    here.sort_by_key(|run| !is_active(&run));
    let run = here.into_iter().next();
    run.map(|run| session_of(run, &*store)).transpose()
}

/// The run with exactly this id that is kept in this file.
pub(super) fn run_of_file(
    id: &str,
    file: &Path,
    agent_dir: &Path,
) -> anyhow::Result<Option<IndexedRun>> {
    let query = RunQuery {
        task_id: id,
        ..RunQuery::default()
    };
    let file = file.canonicalize()?;
    let is_it = |run: &IndexedRun| {
        let kept = run.file.as_ref().map(|kept| Path::new(kept).canonicalize());
        run.run.task_id == id && kept.is_some_and(|kept| kept.is_ok_and(|kept| kept == file))
    };
    let runs = of_agent_dir(agent_dir)?.runs(&query)?;
    Ok(runs.into_iter().find(is_it))
}

fn session_of(run: IndexedRun, store: &dyn Store) -> anyhow::Result<RunSession> {
    let head = json!({"type": "session", "cwd": run.cwd}).to_string();
    let (bytes, has_messages) = match run.file.as_ref().map(PathBuf::from) {
        Some(file) if file.is_file() => {
            let bytes = read_file(&file)?;
            let is_session = is_session(&bytes);
            // A host whose sessions cannot have entries keeps them in a file of their own.
            let bytes = if is_session {
                bytes
            } else {
                [format!("{head}\n").into_bytes(), bytes].concat()
            };
            (Some(bytes), is_session)
        }
        Some(_) => (None, true),
        None => {
            let entries = store.load(&run.key)?.entries;
            let lines = entries.iter().map(|entry| {
                json!({"type": "custom", "customType": entry.custom_type, "data": entry.data})
                    .to_string()
            });
            let lines: Vec<String> = std::iter::once(head).chain(lines).collect();
            let is_here = !entries.is_empty();
            (is_here.then(|| lines.join("\n").into_bytes()), false)
        }
    };
    Ok(RunSession {
        run,
        bytes,
        has_messages,
    })
}

/// Finds the only run whose id begins so.
fn one_run(store: &dyn Store, id: &str) -> anyhow::Result<IndexedRun> {
    let mut found = store.runs(&RunQuery {
        task_id: id,
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

fn named(run: &IndexedRun) -> String {
    let id = visible(&run.run.task_id);
    format!("{id} ({})", visible(&run.key.host))
}

/// Says where the session of a run is.
pub(super) fn place_of(run: &IndexedRun) -> String {
    let machine = match run.machine.as_str() {
        // Only a store of several machines names them.
        "" => String::new(),
        machine => format!(" on {}", visible(machine)),
    };
    let host = visible(&run.key.host);
    match &run.file {
        Some(file) => format!(
            "the session is kept by {host}{machine} in {}, which is not here",
            visible(file)
        ),
        None => format!("the session is kept by {host}{machine}, which has not named its file"),
    }
}

/// Keeps the entries of one run of a session: from its first one to the next run, and of a run that ended to its last one.
pub(super) fn keep_run(file: &mut SessionFile<'_>, run: &IndexedRun) {
    let id = run.run.task_id.as_str();
    let is_of_run = |entry: &SessionEntry<'_>| run_of_entry(entry).is_some_and(|of| of == id);
    let begins_other = |entry: &SessionEntry<'_>| {
        let is_state = entry.custom_type.as_deref() == Some(entry_type::STATE);
        is_state && run_of_entry(entry).is_some_and(|of| of != id)
    };
    let first = file.entries.iter().position(is_of_run);
    file.entries.drain(..first.unwrap_or(file.entries.len()));
    if let Some(other) = file.entries.iter().position(begins_other) {
        file.entries.truncate(other);
    }
    if !run.run.is_active {
        let last = file.entries.iter().rposition(is_of_run);
        file.entries.truncate(last.map_or(0, |last| last + 1));
    }
}

/// The id of the run that an entry of ours belongs to.
fn run_of_entry(entry: &SessionEntry<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct OfRun {
        task_id: String,
    }
    let data: &RawValue = entry.ours()?.data?;
    let of: OfRun = serde_json::from_str(data.get()).ok()?;
    Some(of.task_id)
}
