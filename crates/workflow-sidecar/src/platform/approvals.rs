//! The store of approval requests, and of decisions that a person makes outside of the host:
//! `workflow-sidecar approve`.
//!
//! Owns the files in the user's directory. For each run there is a file with the request, which only the process
//! writes, and a file with the decision, which only the person's command writes. Each is replaced atomically. A
//! decision names its request and the state of the file that was shown: it does not count for another request, or
//! after that file has changed. Every program that can write there can approve; rules keep an agent's tools out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use workflow_core::event::ApprovalDecision;

use super::private_file::{create_private_dir, read_limited, replace};

const DIRECTORY: &str = "workflow-sidecar/approvals";
/// Ends of the names of a run's files, after its id.
const REQUEST: &str = ".json";
const DECISION: &str = ".word.json";

/// Age at which a file counts as one of an abandoned session.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The approvals of a user.
#[derive(Debug)]
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

/// A request, and the person's decision if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RequestStatus {
    #[serde(flatten)]
    pub(crate) request: StoredRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<String>,
}

/// The decision of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredDecision {
    /// The request.
    nonce: String,
    choice: String,
    /// The state of the file that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
}

impl Approvals {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Self {
        Self(agent_dir.join(DIRECTORY))
    }

    /// All requests, with decisions that were not used yet, in the order of the runs' ids.
    ///
    /// Removes the files of abandoned sessions.
    pub(crate) fn all(&self) -> io::Result<Vec<RequestStatus>> {
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
            if let Some(request) = task_id.and_then(|task_id| self.request(task_id)) {
                let decision = self.decision_about(&request);
                let choice = decision.map(|decision| decision.choice);
                all.push(RequestStatus { request, choice });
            }
        }
        all.sort_by(|a, b| a.request.task_id.cmp(&b.request.task_id));
        Ok(all)
    }

    /// Returns the decision about a request, given the current state of the file that it shows.
    pub(crate) fn decision(
        &self,
        request: &StoredRequest,
        shown: Option<&str>,
    ) -> Option<ApprovalDecision> {
        let decision = self.decision_about(request)?;
        let is_current = self.is_stored(request)
            && request.choices.contains(&decision.choice)
            && decision.shown.as_deref() == shown;
        Some(if is_current {
            ApprovalDecision::Chosen(decision.choice)
        } else {
            ApprovalDecision::Outdated
        })
    }

    /// Stores a request. A decision about the same request stays.
    pub(crate) fn store_request(&self, request: &StoredRequest) -> io::Result<()> {
        if self.decision_about(request).is_none() {
            self.remove(&request.task_id, DECISION);
        }
        self.replace(&request.task_id, REQUEST, request)
    }

    /// Stores a decision, and the state of the file that was shown; `false` if the request is no longer stored.
    pub(crate) fn decide(
        &self,
        request: &StoredRequest,
        choice: &str,
        shown: Option<String>,
    ) -> io::Result<bool> {
        if !self.is_stored(request) {
            return Ok(false);
        }
        let decision = StoredDecision {
            nonce: request.nonce.clone(),
            choice: choice.to_owned(),
            shown,
        };
        self.replace(&request.task_id, DECISION, &decision)?;
        // The run may have moved in the meantime; then the decision belongs to no request.
        Ok(self.is_stored(request))
    }

    /// Removes the request and the decision of a run.
    pub(crate) fn clear(&self, task_id: &str) {
        for kind in [DECISION, REQUEST] {
            self.remove(task_id, kind);
        }
    }

    fn is_stored(&self, request: &StoredRequest) -> bool {
        self.request(&request.task_id).as_ref() == Some(request)
    }

    fn request(&self, task_id: &str) -> Option<StoredRequest> {
        let request: StoredRequest = self.read(task_id, REQUEST)?;
        (request.task_id == task_id).then_some(request)
    }

    fn decision_about(&self, request: &StoredRequest) -> Option<StoredDecision> {
        let decision: StoredDecision = self.read(&request.task_id, DECISION)?;
        (decision.nonce == request.nonce).then_some(decision)
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

    fn request(task_id: &str) -> StoredRequest {
        StoredRequest {
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

    fn chosen(choice: &str) -> ApprovalDecision {
        ApprovalDecision::Chosen(choice.to_owned())
    }

    #[test]
    fn a_decision_belongs_to_one_request_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let request_1 = request("wf-1");
        approvals.store_request(&request_1).unwrap();
        assert_eq!(approvals.decision(&request_1, None), None);
        assert!(approvals.decide(&request_1, "approve", None).unwrap());
        assert_eq!(
            approvals.decision(&request_1, None),
            Some(chosen("approve"))
        );
        assert_eq!(approvals.decision(&request("wf-2"), None), None);
        let later = StoredRequest {
            nonce: "m".to_owned(),
            ..request_1.clone()
        };
        assert_eq!(approvals.decision(&later, None), None);
        approvals.store_request(&later).unwrap();
        assert_eq!(approvals.decision(&later, None), None);
        assert!(!approvals.decide(&request_1, "approve", None).unwrap());
        approvals.clear("wf-1");
        assert!(!approvals.decide(&later, "approve", None).unwrap());
        assert_eq!(approvals.all().unwrap(), []);
    }

    #[test]
    fn a_decision_about_a_changed_request_is_outdated() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let request_1 = request("wf-1");
        approvals.store_request(&request_1).unwrap();
        let shown = || Some("a".to_owned());
        assert!(approvals.decide(&request_1, "approve", shown()).unwrap());
        assert_eq!(
            approvals.decision(&request_1, Some("a")),
            Some(chosen("approve"))
        );
        assert_eq!(
            approvals.decision(&request_1, Some("b")),
            Some(ApprovalDecision::Outdated)
        );
        for other in [
            StoredRequest {
                ask: "Ship it?".to_owned(),
                ..request_1.clone()
            },
            StoredRequest {
                cwd: PathBuf::from("/elsewhere"),
                ..request_1.clone()
            },
            StoredRequest {
                step: 3,
                ..request_1.clone()
            },
        ] {
            assert_eq!(
                approvals.decision(&other, Some("a")),
                Some(ApprovalDecision::Outdated)
            );
        }
    }

    #[test]
    fn storing_the_same_request_again_keeps_its_decision() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        let request_1 = request("wf-1");
        approvals.store_request(&request_1).unwrap();
        approvals.decide(&request_1, "revise", None).unwrap();
        approvals.store_request(&request_1).unwrap();
        assert_eq!(approvals.decision(&request_1, None), Some(chosen("revise")));
        approvals.decide(&request_1, "approve", None).unwrap();
        assert_eq!(
            approvals.decision(&request_1, None),
            Some(chosen("approve"))
        );
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
        assert_eq!(approvals.decision(&request("../../x"), None), None);
    }

    #[test]
    fn other_files_are_ignored_and_old_ones_removed() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path());
        assert_eq!(approvals.all().unwrap(), []);
        for task in ["wf-2", "wf-1", "wf-old"] {
            approvals.store_request(&request(task)).unwrap();
        }
        approvals.decide(&request("wf-2"), "revise", None).unwrap();
        fs::copy(approvals.0.join("wf-1.json"), approvals.0.join("wf-3.json")).unwrap();
        fs::write(approvals.0.join("wf-4.json"), "{}").unwrap();
        fs::write(approvals.0.join(".part"), "").unwrap();
        let old = approvals.0.join("wf-old.json");
        let file = fs::File::options().write(true).open(&old).unwrap();
        file.set_modified(SystemTime::now() - MAX_AGE * 2).unwrap();
        let status = |task: &str, choice: Option<&str>| RequestStatus {
            request: request(task),
            choice: choice.map(str::to_owned),
        };
        assert_eq!(
            approvals.all().unwrap(),
            [status("wf-1", None), status("wf-2", Some("revise"))]
        );
        assert!(!old.exists());
    }
}
