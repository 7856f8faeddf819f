//! Words of a person about leaving a phase, said outside of the host: `workflow-sidecar approve`.
//!
//! Owns where they are kept: a file a run, in the user's own directory. Whoever can write there can
//! approve; that an agent's tools cannot is what rules are for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const DIRECTORY: &str = "workflow-sidecar/approvals";

/// The words of a user.
#[derive(Debug)]
pub(crate) struct Approvals(PathBuf);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    task_id: String,
    /// How often the run had moved: a word is about one phase, once.
    step: u64,
    choice: String,
}

impl Approvals {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Self {
        Self(agent_dir.join(DIRECTORY))
    }

    /// What was chosen for a run that stands here.
    pub(crate) fn word(&self, task_id: &str, step: u64) -> Option<String> {
        let text = fs::read_to_string(self.file(task_id)?).ok()?;
        let said: Said = serde_json::from_str(&text).ok()?;
        (said.task_id == task_id && said.step == step).then_some(said.choice)
    }

    /// Keeps what was chosen, until the run asks.
    pub(crate) fn say(&self, task_id: &str, step: u64, choice: &str) -> io::Result<()> {
        let file = self.file(task_id);
        let file = file.ok_or_else(|| io::Error::other("the run's id is no name of a file"))?;
        fs::create_dir_all(&self.0)?;
        let said = Said {
            task_id: task_id.to_owned(),
            step,
            choice: choice.to_owned(),
        };
        let mut new = tempfile::NamedTempFile::new_in(&self.0)?;
        serde_json::to_writer(&mut new, &said)?;
        new.persist(file)?;
        Ok(())
    }

    /// Forgets what was said of a run.
    pub(crate) fn forget(&self, task_id: &str) {
        if let Some(file) = self.file(task_id)
            && let Err(error) = fs::remove_file(&file)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("{}: {error}", file.display());
        }
    }

    fn file(&self, task_id: &str) -> Option<PathBuf> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = !task_id.is_empty() && task_id.len() <= 100 && task_id.chars().all(is_name);
        fits.then(|| self.0.join(format!("{task_id}.json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_about_one_phase_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        approvals.say("wf-1", 2, "approve").unwrap();
        assert_eq!(approvals.word("wf-1", 2).as_deref(), Some("approve"));
        assert_eq!(approvals.word("wf-1", 3), None);
        assert_eq!(approvals.word("wf-2", 2), None);
        approvals.forget("wf-1");
        assert_eq!(approvals.word("wf-1", 2), None);
    }

    #[test]
    fn an_id_that_leads_elsewhere_is_no_name() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert!(approvals.say("../../x", 0, "approve").is_err());
        assert_eq!(approvals.word("../../x", 0), None);
    }
}
