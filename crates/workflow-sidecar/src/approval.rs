//! Approvals that a run waits for, and the words of a person about them, said outside of the host:
//! `workflow-sidecar approve`.
//!
//! Owns where they are kept: a file a run, in the user's own directory. The process writes what it waits
//! for, the person's command writes the choice, the process reads it at the next `next`. Whoever can write
//! there can approve; that an agent's tools cannot is what rules are for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

const DIRECTORY: &str = "workflow-sidecar/approvals";

/// A file that nobody has touched for so long is of a session that nobody goes on with.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A longer file is not one of these.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The approvals of a user.
#[derive(Debug)]
pub(crate) struct Approvals(PathBuf);

/// An approval that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Awaited {
    pub(crate) task_id: String,
    /// How often the run had moved: a word is about one phase, once.
    pub(crate) step: u64,
    /// The workflow's name.
    pub(crate) workflow: String,
    /// The phase's name.
    pub(crate) phase: String,
    /// What the run is about.
    pub(crate) task: String,
    /// Where the session works.
    pub(crate) cwd: PathBuf,
    /// The question.
    pub(crate) ask: String,
    /// What can be answered; the first one approves.
    pub(crate) choices: Vec<String>,
    /// A file to look at, from `cwd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) show: Option<String>,
    /// What the person chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<String>,
}

impl Approvals {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Self {
        Self(agent_dir.join(DIRECTORY))
    }

    /// All that waits, and what was answered and not used yet, by the runs' ids.
    ///
    /// What is so old that nobody waits any more is removed on the way.
    pub(crate) fn all(&self) -> io::Result<Vec<Awaited>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(task_id) = name.and_then(|name| name.strip_suffix(".json")) else {
                continue;
            };
            if is_old(&path) {
                self.forget(task_id);
            } else {
                all.extend(self.read(task_id));
            }
        }
        all.sort_by(|a, b| a.task_id.cmp(&b.task_id));
        Ok(all)
    }

    /// What was chosen for a run that stands here.
    pub(crate) fn word(&self, task_id: &str, step: u64) -> Option<String> {
        let awaited = self.read(task_id)?;
        awaited.choice.filter(|_| awaited.step == step)
    }

    /// Keeps what is waited for, or what was chosen, until the run asks.
    pub(crate) fn keep(&self, awaited: &Awaited) -> io::Result<()> {
        let file = self.file(&awaited.task_id);
        let file = file.ok_or_else(|| io::Error::other("the run's id is no name of a file"))?;
        fs::create_dir_all(&self.0)?;
        let mut new = tempfile::NamedTempFile::new_in(&self.0)?;
        serde_json::to_writer(&mut new, awaited)?;
        new.persist(file)?;
        Ok(())
    }

    /// Keeps what was chosen, unless the run waits for something else or for nothing by now.
    pub(crate) fn choose(&self, awaited: Awaited, choice: &str) -> io::Result<bool> {
        let still = self
            .read(&awaited.task_id)
            .is_some_and(|now| now.step == awaited.step);
        if still {
            let choice = Some(choice.to_owned());
            self.keep(&Awaited { choice, ..awaited })?;
        }
        Ok(still)
    }

    /// Forgets what is kept of a run.
    pub(crate) fn forget(&self, task_id: &str) {
        if let Some(file) = self.file(task_id)
            && let Err(error) = fs::remove_file(&file)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("{}: {error}", file.display());
        }
    }

    /// What is kept of a run. A file that is not what was written is none.
    fn read(&self, task_id: &str) -> Option<Awaited> {
        use io::Read;
        let mut text = Vec::new();
        let file = fs::File::open(self.file(task_id)?).ok()?;
        file.take(LONGEST).read_to_end(&mut text).ok()?;
        let awaited: Awaited = serde_json::from_slice(&text).ok()?;
        (awaited.task_id == task_id).then_some(awaited)
    }

    fn file(&self, task_id: &str) -> Option<PathBuf> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = !task_id.is_empty() && task_id.len() <= 100 && task_id.chars().all(is_name);
        fits.then(|| self.0.join(format!("{task_id}.json")))
    }
}

fn is_old(path: &Path) -> bool {
    let changed = path.metadata().and_then(|metadata| metadata.modified());
    let age = changed.map(|changed| SystemTime::now().duration_since(changed));
    matches!(age, Ok(Ok(age)) if age > KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awaited(task_id: &str) -> Awaited {
        Awaited {
            task_id: task_id.to_owned(),
            step: 2,
            workflow: "Feature".to_owned(),
            phase: "Plan".to_owned(),
            task: "a button".to_owned(),
            cwd: PathBuf::from("/project"),
            ask: "Plan OK?".to_owned(),
            choices: vec!["approve".to_owned(), "revise".to_owned()],
            show: None,
            choice: None,
        }
    }

    #[test]
    fn a_word_is_about_one_phase_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        approvals.keep(&awaited("wf-1")).unwrap();
        assert_eq!(approvals.word("wf-1", 2), None);
        assert!(approvals.choose(awaited("wf-1"), "approve").unwrap());
        assert_eq!(approvals.word("wf-1", 2).as_deref(), Some("approve"));
        assert_eq!(approvals.word("wf-1", 3), None);
        assert_eq!(approvals.word("wf-2", 2), None);
        approvals.forget("wf-1");
        assert_eq!(approvals.word("wf-1", 2), None);
        assert!(!approvals.choose(awaited("wf-1"), "approve").unwrap());
    }

    #[test]
    fn an_id_that_leads_elsewhere_is_no_name() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert!(approvals.keep(&awaited("../../x")).is_err());
        assert_eq!(approvals.word("../../x", 2), None);
    }

    #[test]
    fn what_is_no_approval_is_passed_over_and_what_is_old_removed() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert_eq!(approvals.all().unwrap(), []);
        for task in ["wf-2", "wf-1", "wf-old"] {
            approvals.keep(&awaited(task)).unwrap();
        }
        fs::copy(approvals.0.join("wf-1.json"), approvals.0.join("wf-3.json")).unwrap();
        fs::write(approvals.0.join("wf-4.json"), "{}").unwrap();
        fs::write(approvals.0.join(".part"), "").unwrap();
        let old = approvals.0.join("wf-old.json");
        let file = fs::File::options().write(true).open(&old).unwrap();
        file.set_modified(SystemTime::now() - KEPT * 2).unwrap();
        assert_eq!(approvals.all().unwrap(), [awaited("wf-1"), awaited("wf-2")]);
        assert!(!old.exists());
    }
}
