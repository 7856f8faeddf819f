//! A session that is named by a file or a run, or that is active in a project, or the newest there.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, bail, ensure};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::run::entry_type;

use super::file::{SessionEntry, SessionFile, is_session, read_file};
use crate::files::{expanded_home, json};
use crate::install::pi;
use crate::platform::disk::HOST_DIRECTORY;
use crate::store::{IndexedRun, RunQuery, Store, of_agent_dir};

/// A session, and the run by which it was found.
pub(crate) struct FoundSession {
    /// The session, in the form of a session file; `None` if its host keeps it where it cannot be read.
    pub(crate) bytes: Option<Vec<u8>>,
    /// The file of the session, if it was not found by a run.
    pub(crate) file: Option<PathBuf>,
    pub(crate) run: Option<IndexedRun>,
    /// True if the session has what was said and done, and not only the entries of the run.
    pub(crate) has_messages: bool,
}

impl FoundSession {
    /// The run of an id, the session of a file, or what is done in the project: the run that is active there, if one is and
    /// its host is not pi, or else pi's newest session, or else the last run of another host.
    pub(crate) fn find(
        named: Option<&Path>,
        project: Option<&Path>,
        agent_dir: &Path,
    ) -> anyhow::Result<Self> {
        if let Some(file) = named {
            return match run_id(file) {
                Some(id) => Self::of_run(id, agent_dir),
                None if !file.exists() => bail!(
                    "{} is neither a file nor a run: `workflow-sidecar runs --all` lists the runs",
                    file.display()
                ),
                None => Self::of_file(file.to_path_buf()),
            };
        }
        let project = project.unwrap_or(Path::new("."));
        let in_store = || Self::in_project(&project.canonicalize()?, agent_dir);
        match newest_session(project, agent_dir) {
            Ok(newest) => match in_store() {
                Ok(Some(found)) if found.is_active_outside_pi() => Ok(found),
                _ => Self::of_file(newest),
            },
            Err(none) => in_store()?.ok_or(none),
        }
    }

    fn is_active_outside_pi(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| is_active(run) && run.key.host != pi::NAME)
    }

    /// The session of a run, by its id or its beginning.
    pub(crate) fn of_run(id: &str, agent_dir: &Path) -> anyhow::Result<Self> {
        let store = of_agent_dir(agent_dir)?;
        Self::in_store(one_run(&store, id)?, &store)
    }

    fn of_file(file: PathBuf) -> anyhow::Result<Self> {
        let bytes = read_file(&file)?;
        ensure!(
            is_session(&bytes),
            "{} is no session of pi: its first line would be {{\"type\":\"session\",…}}. `workflow-sidecar show` shows a recording",
            file.display()
        );
        Ok(Self {
            bytes: Some(bytes),
            file: Some(file),
            run: None,
            has_messages: true,
        })
    }

    /// The run that is active in a project, or else the last one of it. The error names several.
    fn in_project(project: &Path, agent_dir: &Path) -> anyhow::Result<Option<Self>> {
        let store = of_agent_dir(agent_dir)?;
        let mut here = store.runs(&RunQuery::default())?;
        here.retain(|run| {
            store.is_here(run) && run.cwd.canonicalize().is_ok_and(|cwd| cwd == project)
        });
        let named = |run: &IndexedRun| {
            let id = visible(&run.run.task_id);
            format!("{id} ({})", visible(&run.key.host))
        };
        let active = here.iter().filter(|run| is_active(run)).map(named);
        let active: Vec<String> = active.collect();
        let (number, active) = (active.len(), active.join(", "));
        if number > 1 {
            let project = visible(&project.to_string_lossy());
            bail!("{number} runs are active in {project}: {active}. Name one");
        }
        // An active run comes first; the list has the newest first.
        here.sort_by_key(|run| !is_active(run));
        let run = here.into_iter().next();
        run.map(|run| Self::in_store(run, &store)).transpose()
    }

    pub(crate) fn in_store(run: IndexedRun, store: &Store) -> anyhow::Result<Self> {
        let head = json!({"type": "session", "cwd": run.cwd}).to_string();
        let (bytes, has_messages) = match run.file.as_deref().map(Path::new) {
            Some(file) if file.is_file() => {
                let bytes = read_file(file)?;
                let is_session = is_session(&bytes);
                // A host whose sessions cannot have entries keeps them in a file of their own.
                let head = (!is_session).then(|| format!("{head}\n").into_bytes());
                let bytes = [head.unwrap_or_default(), bytes].concat();
                (Some(bytes), is_session)
            }
            Some(_) => (None, true),
            None => {
                let entries = store.look_at(&run.key)?.entries;
                let lines = entries.iter().map(|entry| {
                    let at = i64::try_from(entry.at).ok().filter(|at| *at > 0);
                    let at = at.and_then(|at| Timestamp::from_millisecond(at).ok());
                    let at = at.map(|at| at.to_string());
                    json!({"type": "custom", "customType": entry.custom_type, "data": entry.data, "timestamp": at})
                        .to_string()
                });
                let lines: Vec<String> = std::iter::once(head).chain(lines).collect();
                let is_here = !entries.is_empty();
                (is_here.then(|| lines.join("\n").into_bytes()), false)
            }
        };
        Ok(Self {
            bytes,
            file: None,
            run: Some(run),
            has_messages,
        })
    }

    /// The entries of the session, or of the run by which it was found.
    pub(crate) fn entries(&self) -> SessionFile<'_> {
        let mut file = SessionFile::parse(self.bytes.as_deref().unwrap_or_default());
        if let Some(run) = &self.run {
            keep_run(&mut file, run);
        }
        file
    }

    /// Says where the session of a run is.
    pub(crate) fn place(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        let machine = match run.machine.as_str() {
            // Only a store of several machines names them.
            "" => String::new(),
            machine => format!(" on {}", visible(machine)),
        };
        let kept = format!("the session is kept by {}{machine}", visible(&run.key.host));
        Some(match &run.file {
            Some(file) => format!("{kept} in {}, which is not here", visible(file)),
            None => format!("{kept}, which names no `sessionFile`"),
        })
    }
}

/// Returns true if a run goes on.
fn is_active(run: &IndexedRun) -> bool {
    run.run.is_active && run.run.state != "closed"
}

/// Returns the id if an argument is one of a run, and no file.
pub(crate) fn run_id(argument: &Path) -> Option<&str> {
    let id = argument.to_str()?;
    (id.starts_with("wf-") && !id.contains(['/', '.']) && !argument.exists()).then_some(id)
}

/// The run with exactly this id that is kept in this file.
pub(crate) fn run_of_file(
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

/// Finds the only run whose id begins so.
pub(crate) fn one_run(store: &Store, id: &str) -> anyhow::Result<IndexedRun> {
    let mut found = store.runs(&RunQuery {
        task_id: id,
        ..RunQuery::default()
    })?;
    // The same run may be in two sessions, one being a fork of the other: the newer one counts.
    found.sort_by_key(|found| std::cmp::Reverse(found.updated));
    let id = shown(id);
    let Some(first) = found.first() else {
        bail!("there is no run `{id}` in the store: `workflow-sidecar runs --all` lists them");
    };
    let mut others = found.iter();
    if others.any(|other| other.run.task_id != first.run.task_id) {
        bail!("several runs begin with `{id}`: name more of the id");
    }
    Ok(found.remove(0))
}

/// Keeps the entries of one run of a session: from its first one to the next run, and of a run that ended to its last one.
fn keep_run(file: &mut SessionFile<'_>, run: &IndexedRun) {
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
    let of: OfRun = serde_json::from_str(entry.ours()?.data?.get()).ok()?;
    Some(of.task_id)
}

/// The environment variable with pi's directory for sessions.
const VARIABLE: &str = "PI_CODING_AGENT_SESSION_DIR";
/// The setting of pi with that directory.
const SETTING: &str = "sessionDir";

/// Finds the newest session of pi in a project.
fn newest_session(project: &Path, agent_dir: &Path) -> anyhow::Result<PathBuf> {
    let project = project
        .canonicalize()
        .with_context(|| format!("{} cannot be read", project.display()))?;
    let directory = session_directory(&project, agent_dir);
    let mut sessions = files(&directory);
    sessions.sort_by(|a, b| b.cmp(a));
    let mut newest = sessions.into_iter().map(|(_, path)| path);
    newest.find(|path| is_of(path, &project)).with_context(|| {
        format!(
            "no run in {}: pi has no session of it in {}, and no other host has a run there. `workflow-sidecar runs` lists the runs of all projects",
            project.display(),
            directory.display()
        )
    })
}

/// The session files of a directory, each with the time of its last change. One that cannot be read has none.
fn files(directory: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let path = entry.path();
        path.extension().filter(|extension| *extension == "jsonl")?;
        Some((entry.metadata().ok()?.modified().ok()?, path))
    });
    found.collect()
}

/// Returns true if a session file is one of the project: a directory may have those of several.
fn is_of(path: &Path, project: &Path) -> bool {
    let bytes = match read_file(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::debug!("{error:#}");
            return false;
        }
    };
    let first = bytes.split(|byte| *byte == b'\n').next();
    let cwd = SessionFile::parse(first.unwrap_or_default()).cwd;
    cwd.is_none_or(|cwd| {
        let cwd = Path::new(&*cwd);
        cwd == project || cwd.canonicalize().is_ok_and(|real| real == project)
    })
}

/// pi's directory for the sessions of a project: that of the environment, of pi's settings, or the usual one.
fn session_directory(project: &Path, agent_dir: &Path) -> PathBuf {
    let variable = env::var(VARIABLE).ok().filter(|path| !path.is_empty());
    let named = variable
        .or_else(|| setting(&project.join(HOST_DIRECTORY)))
        .or_else(|| setting(agent_dir));
    match named {
        Some(named) => project.join(expanded_home(&named)),
        None => agent_dir.join("sessions").join(usual_name(project)),
    }
}

/// The directory that pi's settings name. Settings that cannot be read name none: pi reports them itself.
fn setting(directory: &Path) -> Option<String> {
    let settings = json(&directory.join("settings.json"))?;
    let named = settings[SETTING].as_str()?;
    (!named.is_empty()).then(|| named.to_owned())
}

/// The name of pi's usual directory for the sessions of a project.
fn usual_name(project: &Path) -> String {
    let project = project.to_string_lossy();
    let project = project.strip_prefix(['/', '\\']).unwrap_or(&project);
    format!("--{}--", project.replace(['/', '\\', ':'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Counts, Run, RunNote};
    use std::fs;
    use std::time::Duration;

    #[test]
    fn an_active_run_is_found_by_its_directory_and_not_that_of_another_machine_with_the_same_path()
    {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().canonicalize().unwrap();
        let note = RunNote {
            host: "codex".to_owned(),
            run: Some(Run {
                task_id: "wf-1".to_owned(),
                workflow: "bugfix".to_owned(),
                phase: "Fix".to_owned(),
                task: String::new(),
                status: String::new(),
                state: "active".to_owned(),
                waiting: String::new(),
                is_active: true,
            }),
            memory: String::new(),
            cwd: project.clone(),
            file: None,
            counts: Counts::default(),
            now: 1,
        };
        of_agent_dir(&project).unwrap().note_run(&note).unwrap();
        let session = project.join("sessions/a.jsonl");
        let settings = json!({ "sessionDir": project.join("sessions") }).to_string();
        std::fs::write(project.join("settings.json"), settings).unwrap();
        std::fs::create_dir(project.join("sessions")).unwrap();
        let head = json!({ "type": "session", "cwd": project }).to_string();
        std::fs::write(session, head).unwrap();
        let named = || FoundSession::find(None, Some(&project), &project).unwrap();
        let host = named().run.map(|run| run.key.host);
        assert_eq!(
            host.as_deref(),
            Some("codex"),
            "its run is active, and none of pi"
        );
        let is_found = || {
            FoundSession::in_project(&project, &project)
                .unwrap()
                .is_some()
        };
        assert!(is_found());
        let file = project.join("workflow-sidecar/store.sqlite3");
        let database = rusqlite::Connection::open(file).unwrap();
        let elsewhere = "UPDATE sessions SET machine = 'other'";
        database.execute_batch(elsewhere).unwrap();
        assert!(!is_found());
        assert!(named().file.is_some(), "the session of pi");
    }

    fn write(path: &Path, cwd: &Path, age: u64) {
        let header = serde_json::json!({ "type": "session", "version": 3, "cwd": cwd });
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{header}\n")).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        let modified = SystemTime::now() - Duration::from_secs(age);
        file.set_modified(modified).unwrap();
    }

    #[test]
    fn the_newest_session_of_the_project_is_found() {
        let agent = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let real = project.path().canonicalize().unwrap();
        assert!(newest_session(&real, agent.path()).is_err());
        let usual = agent.path().join("sessions").join(usual_name(&real));
        write(&usual.join("old.jsonl"), &real, 60);
        write(&usual.join("new.jsonl"), &real, 30);
        // Another project can have the same directory.
        write(&usual.join("other.jsonl"), Path::new("/elsewhere"), 0);
        let found = newest_session(&real, agent.path()).unwrap();
        assert_eq!(found, usual.join("new.jsonl"));
    }

    #[test]
    fn a_directory_of_the_settings_counts_and_the_one_of_the_project_first() {
        let agent = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let real = project.path().canonicalize().unwrap();
        let own = agent.path().join("all");
        let settings = serde_json::json!({ "sessionDir": own }).to_string();
        fs::write(agent.path().join("settings.json"), settings).unwrap();
        write(&own.join("a.jsonl"), &real, 0);
        let found = newest_session(&real, agent.path()).unwrap();
        assert_eq!(found, own.join("a.jsonl"));
        let settings = r#"{"sessionDir": "kept"}"#;
        fs::create_dir(real.join(HOST_DIRECTORY)).unwrap();
        fs::write(real.join(HOST_DIRECTORY).join("settings.json"), settings).unwrap();
        write(&real.join("kept/b.jsonl"), &real, 60);
        let found = newest_session(&real, agent.path()).unwrap();
        assert_eq!(found, real.join("kept/b.jsonl"));
    }
}
