//! Approvals that a run waits for, and the words of a person about them, said outside of the host:
//! `workflow-sidecar approve`.
//!
//! Owns where they are kept, in the user's own directory: a file a run with what the process waits for, which
//! only the process writes, and one beside it with the word, which only the person's command writes. Each is
//! replaced whole. A word names the waiting that it is about and says what was shown: about another one, or
//! about something that has changed since, it does not count. Whoever can write there can approve; that an
//! agent's tools cannot is what rules are for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use workflow_core::event::ApprovalDecision as Word;

use crate::private::create_private;

const DIRECTORY: &str = "workflow-sidecar/approvals";
/// What stands behind a run's id in the names of its files: what it waits for, what was said.
const WAITS: &str = ".json";
const SAID: &str = ".word.json";

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
    /// How often the run had moved.
    pub(crate) step: u64,
    /// Names this waiting: a word is about one, once.
    #[serde(default)]
    pub(crate) nonce: String,
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
}

/// An approval that a run waits for, and what the person chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Waits {
    #[serde(flatten)]
    pub(crate) awaited: Awaited,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<String>,
}

/// The word of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    /// The waiting it is about.
    nonce: String,
    choice: String,
    /// How the file stood that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
}

impl Approvals {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Self {
        Self(agent_dir.join(DIRECTORY))
    }

    /// All that waits, and what was answered and not used yet, by the runs' ids.
    ///
    /// What is so old that nobody waits any more is removed on the way.
    pub(crate) fn all(&self) -> io::Result<Vec<Waits>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if is_old(&path) {
                remove(&path);
                continue;
            }
            let name = path.file_name().and_then(|name| name.to_str());
            let task_id = name.and_then(|name| name.strip_suffix(WAITS));
            if let Some(awaited) = task_id.and_then(|task_id| self.awaited(task_id)) {
                let said = self.said(&awaited);
                let choice = said.map(|said| said.choice);
                all.push(Waits { awaited, choice });
            }
        }
        all.sort_by(|a, b| a.awaited.task_id.cmp(&b.awaited.task_id));
        Ok(all)
    }

    /// What was said about this, where the file that belongs to it stands like this.
    pub(crate) fn word(&self, awaited: &Awaited, shown: Option<&str>) -> Option<Word> {
        let said = self.said(awaited)?;
        let is_about_this = self.awaited(&awaited.task_id).as_ref() == Some(awaited)
            && awaited.choices.contains(&said.choice)
            && said.shown.as_deref() == shown;
        Some(if is_about_this {
            Word::Chosen(said.choice)
        } else {
            Word::Outdated
        })
    }

    /// Keeps what is waited for. A word about the same waiting stays.
    pub(crate) fn keep(&self, awaited: &Awaited) -> io::Result<()> {
        if self.said(awaited).is_none() {
            self.remove(&awaited.task_id, SAID);
        }
        self.replace(&awaited.task_id, WAITS, awaited)
    }

    /// Keeps what was chosen when the file stood like this, unless the run waits for something else or for
    /// nothing by now.
    pub(crate) fn choose(
        &self,
        awaited: &Awaited,
        choice: &str,
        shown: Option<String>,
    ) -> io::Result<bool> {
        let still_waits = || self.awaited(&awaited.task_id).as_ref() == Some(awaited);
        if !still_waits() {
            return Ok(false);
        }
        let said = Said {
            nonce: awaited.nonce.clone(),
            choice: choice.to_owned(),
            shown,
        };
        self.replace(&awaited.task_id, SAID, &said)?;
        // It may have gone on at this very moment; what was written then is about nothing.
        Ok(still_waits())
    }

    /// Forgets what is kept of a run.
    pub(crate) fn forget(&self, task_id: &str) {
        for of_run in [SAID, WAITS] {
            self.remove(task_id, of_run);
        }
    }

    /// What a run waits for.
    fn awaited(&self, task_id: &str) -> Option<Awaited> {
        let awaited: Awaited = self.read(task_id, WAITS)?;
        (awaited.task_id == task_id).then_some(awaited)
    }

    /// The word about this waiting.
    fn said(&self, awaited: &Awaited) -> Option<Said> {
        let said: Said = self.read(&awaited.task_id, SAID)?;
        (said.nonce == awaited.nonce).then_some(said)
    }

    /// What a file of a run says. One that is not what was written is none.
    fn read<T: DeserializeOwned>(&self, task_id: &str, of_run: &str) -> Option<T> {
        use io::Read;
        let mut text = Vec::new();
        let file = fs::File::open(self.file(task_id, of_run)?).ok()?;
        file.take(LONGEST).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes a file of a run whole, so that nobody reads a part of it.
    fn replace(&self, task_id: &str, of_run: &str, value: &impl Serialize) -> io::Result<()> {
        let file = self.file(task_id, of_run);
        let file = file.ok_or_else(|| io::Error::other("the run's id is no name of a file"))?;
        for directory in [self.0.parent(), Some(&*self.0)].into_iter().flatten() {
            create_private(directory)?;
        }
        let mut new = tempfile::NamedTempFile::new_in(&self.0)?;
        serde_json::to_writer(&mut new, value)?;
        new.persist(file)?;
        Ok(())
    }

    fn remove(&self, task_id: &str, of_run: &str) {
        if let Some(file) = self.file(task_id, of_run) {
            remove(&file);
        }
    }

    fn file(&self, task_id: &str, of_run: &str) -> Option<PathBuf> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = !task_id.is_empty() && task_id.len() <= 100 && task_id.chars().all(is_name);
        fits.then(|| self.0.join(format!("{task_id}{of_run}")))
    }
}

fn remove(file: &Path) {
    if let Err(error) = fs::remove_file(file)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!("{}: {error}", file.display());
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
            nonce: "n".to_owned(),
            workflow: "Feature".to_owned(),
            phase: "Plan".to_owned(),
            task: "a button".to_owned(),
            cwd: PathBuf::from("/project"),
            ask: "Plan OK?".to_owned(),
            choices: vec!["approve".to_owned(), "revise".to_owned()],
            show: None,
        }
    }

    fn chosen(choice: &str) -> Word {
        Word::Chosen(choice.to_owned())
    }

    #[test]
    fn a_word_is_about_one_waiting_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let this = awaited("wf-1");
        approvals.keep(&this).unwrap();
        assert_eq!(approvals.word(&this, None), None);
        assert!(approvals.choose(&this, "approve", None).unwrap());
        assert_eq!(approvals.word(&this, None), Some(chosen("approve")));
        assert_eq!(approvals.word(&awaited("wf-2"), None), None);
        let later = Awaited {
            nonce: "m".to_owned(),
            ..this.clone()
        };
        assert_eq!(approvals.word(&later, None), None);
        approvals.keep(&later).unwrap();
        assert_eq!(approvals.word(&later, None), None);
        assert!(!approvals.choose(&this, "approve", None).unwrap());
        approvals.forget("wf-1");
        assert!(!approvals.choose(&later, "approve", None).unwrap());
        assert_eq!(approvals.all().unwrap(), []);
    }

    #[test]
    fn a_word_about_something_that_has_changed_does_not_count() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let this = awaited("wf-1");
        approvals.keep(&this).unwrap();
        let shown = || Some("a".to_owned());
        assert!(approvals.choose(&this, "approve", shown()).unwrap());
        assert_eq!(approvals.word(&this, Some("a")), Some(chosen("approve")));
        assert_eq!(approvals.word(&this, Some("b")), Some(Word::Outdated));
        for other in [
            Awaited {
                ask: "Ship it?".to_owned(),
                ..this.clone()
            },
            Awaited {
                cwd: PathBuf::from("/elsewhere"),
                ..this.clone()
            },
            Awaited {
                step: 3,
                ..this.clone()
            },
        ] {
            assert_eq!(approvals.word(&other, Some("a")), Some(Word::Outdated));
        }
    }

    #[test]
    fn what_is_waited_for_still_leaves_a_word_about_it_alone() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let this = awaited("wf-1");
        approvals.keep(&this).unwrap();
        approvals.choose(&this, "revise", None).unwrap();
        approvals.keep(&this).unwrap();
        assert_eq!(approvals.word(&this, None), Some(chosen("revise")));
        approvals.choose(&this, "approve", None).unwrap();
        assert_eq!(approvals.word(&this, None), Some(chosen("approve")));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_what_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        fs::create_dir_all(&approvals.0).unwrap();
        fs::set_permissions(&approvals.0, fs::Permissions::from_mode(0o755)).unwrap();
        approvals.keep(&awaited("wf-1")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&approvals.0), 0o700);
        assert_eq!(mode(approvals.0.parent().unwrap()), 0o700);
        assert_eq!(mode(&approvals.0.join("wf-1.json")), 0o600);
    }

    #[test]
    fn an_id_that_leads_elsewhere_is_no_name() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert!(approvals.keep(&awaited("../../x")).is_err());
        assert_eq!(approvals.word(&awaited("../../x"), None), None);
    }

    #[test]
    fn what_is_no_approval_is_passed_over_and_what_is_old_removed() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert_eq!(approvals.all().unwrap(), []);
        for task in ["wf-2", "wf-1", "wf-old"] {
            approvals.keep(&awaited(task)).unwrap();
        }
        approvals.choose(&awaited("wf-2"), "revise", None).unwrap();
        fs::copy(approvals.0.join("wf-1.json"), approvals.0.join("wf-3.json")).unwrap();
        fs::write(approvals.0.join("wf-4.json"), "{}").unwrap();
        fs::write(approvals.0.join(".part"), "").unwrap();
        let old = approvals.0.join("wf-old.json");
        let file = fs::File::options().write(true).open(&old).unwrap();
        file.set_modified(SystemTime::now() - KEPT * 2).unwrap();
        let waits = |task: &str, choice: Option<&str>| Waits {
            awaited: awaited(task),
            choice: choice.map(str::to_owned),
        };
        assert_eq!(
            approvals.all().unwrap(),
            [waits("wf-1", None), waits("wf-2", Some("revise"))]
        );
        assert!(!old.exists());
    }
}
