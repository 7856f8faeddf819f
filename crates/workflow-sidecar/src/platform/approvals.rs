//! The store of approval requests: the files with which `workflow-sidecar approve` knows what waits.
//!
//! Owns the files in the user's directory. For each run there is a file with the request, which the process writes. A file
//! with a decision exists only if the person decided while no sidecar was running; it has the code that proves it. Each is
//! replaced atomically, and readable by its owner only. What decides is never in these files alone: a running process
//! keeps decisions in memory, and checks the code against the seal in the session's entries.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::private_file::{create_private_dir, read_limited, replace};

const DIRECTORY: &str = "workflow-sidecar/approvals";
/// Ends of the names of a run's files, after its id.
const REQUEST: &str = ".json";
const DECISION: &str = ".word.json";

/// Age at which a file counts as one of an abandoned session.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The approval requests of a user.
#[derive(Debug, Clone)]
pub(crate) struct Approvals(PathBuf);

/// A request of a run for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredRequest {
    pub(crate) task_id: String,
    /// The number of steps that the run had made.
    pub(crate) step: u64,
    /// Identifies the request: a decision belongs to one, and is used once.
    #[serde(default)]
    pub(crate) nonce: String,
    /// The workflow's name.
    pub(crate) workflow: String,
    /// The phase's name.
    pub(crate) phase: String,
    /// The task of the run.
    pub(crate) task: String,
    /// The working directory of the session.
    pub(crate) cwd: PathBuf,
    /// The question.
    pub(crate) ask: String,
    /// The possible answers; the first one approves.
    pub(crate) choices: Vec<String>,
    /// A file to read, relative to `cwd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) show: Option<String>,
}

/// The content of a request's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestFile {
    #[serde(flatten)]
    pub(crate) request: StoredRequest,
    /// The hash of the code with which the person answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seal: Option<String>,
    /// The name of the sidecar that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sidecar: Option<String>,
    /// The decision that the sidecar has taken, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<String>,
}

/// The decision of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredDecision {
    /// The request.
    pub(crate) nonce: String,
    pub(crate) choice: String,
    /// The person's comment for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<String>,
    /// The state of the file that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<String>,
    /// The code of the request.
    #[serde(default)]
    pub(crate) code: String,
}

impl Approvals {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Self {
        Self(agent_dir.join(DIRECTORY))
    }

    /// All requests, with decisions that were not used yet, in the order of the runs' ids.
    ///
    /// Removes the files of abandoned sessions.
    pub(crate) fn all(&self) -> io::Result<Vec<RequestFile>> {
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
            let task_id = name.and_then(|name| name.strip_suffix(REQUEST));
            if let Some(mut file) = task_id.and_then(|task_id| self.request(task_id)) {
                let decision = || self.decision(&file.request);
                file.choice = file.choice.or_else(|| Some(decision()?.choice));
                all.push(file);
            }
        }
        all.sort_by(|a, b| a.request.task_id.cmp(&b.request.task_id));
        Ok(all)
    }

    /// Reads the file of a request.
    pub(crate) fn request(&self, task_id: &str) -> Option<RequestFile> {
        let file: RequestFile = self.read(task_id, REQUEST)?;
        (file.request.task_id == task_id).then_some(file)
    }

    /// Stores a request, and removes a decision about another one of the run.
    pub(crate) fn store_request(&self, file: &RequestFile) -> io::Result<()> {
        if self.decision(&file.request).is_none() {
            self.remove(&file.request.task_id, DECISION);
        }
        self.replace(&file.request.task_id, REQUEST, file)
    }

    /// Reads the decision about a request that was made while no sidecar was running.
    pub(crate) fn decision(&self, request: &StoredRequest) -> Option<StoredDecision> {
        let decision: StoredDecision = self.read(&request.task_id, DECISION)?;
        (decision.nonce == request.nonce).then_some(decision)
    }

    /// Stores a decision; `false` if the request is no longer stored.
    pub(crate) fn store_decision(
        &self,
        request: &StoredRequest,
        decision: &StoredDecision,
    ) -> io::Result<bool> {
        let is_stored = || {
            let file = self.request(&request.task_id);
            file.is_some_and(|file| file.request == *request)
        };
        if !is_stored() {
            return Ok(false);
        }
        self.replace(&request.task_id, DECISION, decision)?;
        // The run may have moved in the meantime; then the decision belongs to no request.
        Ok(is_stored())
    }

    /// Removes the request and the decision of a run.
    pub(crate) fn clear(&self, task_id: &str) {
        for kind in [DECISION, REQUEST] {
            self.remove(task_id, kind);
        }
    }

    /// Reads a file of a run. A file that cannot be read counts as missing, so that nothing is approved by it.
    fn read<T: DeserializeOwned>(&self, task_id: &str, kind: &str) -> Option<T> {
        let path = self.file(task_id, kind)?;
        let read = read_limited(&path).and_then(|text| {
            let value = text.map(|text| serde_json::from_slice(&text)).transpose();
            Ok(value?)
        });
        read.unwrap_or_else(|error| {
            tracing::debug!("{}: {error}", path.display());
            None
        })
    }

    /// Replaces a file of a run atomically.
    fn replace(&self, task_id: &str, kind: &str, value: &impl Serialize) -> io::Result<()> {
        let file = self.file(task_id, kind);
        let file = file.ok_or_else(|| io::Error::other("the run's id is no name of a file"))?;
        for directory in [self.0.parent(), Some(&*self.0)].into_iter().flatten() {
            create_private_dir(directory)?;
        }
        replace(&file, &serde_json::to_string(value)?)
    }

    fn remove(&self, task_id: &str, kind: &str) {
        if let Some(file) = self.file(task_id, kind) {
            remove(&file);
        }
    }

    fn file(&self, task_id: &str, kind: &str) -> Option<PathBuf> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = !task_id.is_empty() && task_id.len() <= 100 && task_id.chars().all(is_name);
        fits.then(|| self.0.join(format!("{task_id}{kind}")))
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
    matches!(age, Ok(Ok(age)) if age > MAX_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(task_id: &str) -> RequestFile {
        RequestFile {
            request: StoredRequest {
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
            },
            seal: Some("5ea1".to_owned()),
            sidecar: Some("7".to_owned()),
            choice: None,
        }
    }

    fn decision(choice: &str) -> StoredDecision {
        StoredDecision {
            nonce: "n".to_owned(),
            choice: choice.to_owned(),
            comment: None,
            shown: None,
            code: "CODE".to_owned(),
        }
    }

    #[test]
    fn a_stored_decision_belongs_to_one_request_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let file = request("wf-1");
        let request_1 = &file.request;
        approvals.store_request(&file).unwrap();
        assert_eq!(approvals.decision(request_1), None);
        let approve = decision("approve");
        assert!(approvals.store_decision(request_1, &approve).unwrap());
        assert_eq!(approvals.decision(request_1), Some(approve.clone()));
        assert_eq!(approvals.decision(&request("wf-2").request), None);
        let mut later = file.clone();
        later.request.nonce = "m".to_owned();
        assert_eq!(approvals.decision(&later.request), None);
        approvals.store_request(&later).unwrap();
        assert_eq!(approvals.decision(&later.request), None);
        assert!(!approvals.store_decision(request_1, &approve).unwrap());
        approvals.clear("wf-1");
        assert!(!approvals.store_decision(&later.request, &approve).unwrap());
        assert_eq!(approvals.all().unwrap(), []);
    }

    #[test]
    fn storing_the_same_request_again_keeps_its_decision() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let file = request("wf-1");
        approvals.store_request(&file).unwrap();
        let revise = decision("revise");
        approvals.store_decision(&file.request, &revise).unwrap();
        approvals.store_request(&file).unwrap();
        assert_eq!(approvals.decision(&file.request), Some(revise));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_files() {
        use std::os::unix::fs::PermissionsExt;
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        fs::create_dir_all(&approvals.0).unwrap();
        fs::set_permissions(&approvals.0, fs::Permissions::from_mode(0o755)).unwrap();
        approvals.store_request(&request("wf-1")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&approvals.0), 0o700);
        assert_eq!(mode(approvals.0.parent().unwrap()), 0o700);
        assert_eq!(mode(&approvals.0.join("wf-1.json")), 0o600);
    }

    #[test]
    fn an_id_with_a_path_is_refused() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert!(approvals.store_request(&request("../../x")).is_err());
        assert_eq!(approvals.decision(&request("../../x").request), None);
    }

    #[test]
    fn other_files_are_ignored_and_old_ones_removed() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert_eq!(approvals.all().unwrap(), []);
        for task in ["wf-2", "wf-1", "wf-old"] {
            approvals.store_request(&request(task)).unwrap();
        }
        let of_2 = request("wf-2").request;
        approvals
            .store_decision(&of_2, &decision("revise"))
            .unwrap();
        fs::copy(approvals.0.join("wf-1.json"), approvals.0.join("wf-3.json")).unwrap();
        fs::write(approvals.0.join("wf-4.json"), "{}").unwrap();
        fs::write(approvals.0.join(".part"), "").unwrap();
        let old = approvals.0.join("wf-old.json");
        let file = fs::File::options().write(true).open(&old).unwrap();
        file.set_modified(SystemTime::now() - MAX_AGE * 2).unwrap();
        let status = |task: &str, choice: Option<&str>| RequestFile {
            choice: choice.map(str::to_owned),
            ..request(task)
        };
        assert_eq!(
            approvals.all().unwrap(),
            [status("wf-1", None), status("wf-2", Some("revise"))]
        );
        assert!(!old.exists());
    }
}
