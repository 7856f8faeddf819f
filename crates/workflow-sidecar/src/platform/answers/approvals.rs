//! The approval requests in the store: what `workflow-sidecar approve` knows of the runs that wait.
//!
//! For each run there is a request, which the process writes. An answer is beside it only if the person decided while no
//! sidecar was running; it has the code that proves it. What decides is never in the store alone: a running process keeps
//! decisions in memory, and checks the code against the seal in the session's entries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::platform::file_excerpt::ShownFile;
use crate::store::{AnswerRight, RequestRow, Store, StoreError, of_agent_dir};
use crate::time::wall_time;

/// Milliseconds after which a request counts as one of an abandoned session.
const MAX_AGE: u64 = 30 * 24 * 60 * 60 * 1000;

/// The approval requests of a user.
#[derive(Debug, Clone)]
pub(crate) struct Approvals(Arc<dyn Store>);

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
    /// This file when the run asked, for an approver who does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown_file: Option<ShownFile>,
    /// The result of the gate, the outcome and the summary of the agent, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) about: Vec<String>,
    /// What each choice does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) consequences: Vec<String>,
}

impl StoredRequest {
    /// Returns true if another request asks the same, even if the shown file or the agent's summary has changed meanwhile.
    pub(crate) fn asks_the_same_as(&self, other: &Self) -> bool {
        let question = |request: &Self| Self {
            shown_file: None,
            about: Vec::new(),
            ..request.clone()
        };
        question(self) == question(other)
    }
}

/// A request, and what its sidecar notes with it.
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
    /// The question as the person read it, if the database proves who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<StoredRequest>,
}

/// A request that cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApprovalsError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the request cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the run's id has other characters than letters, digits, `-` and `_`")]
    Id,
}

impl Approvals {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Result<Self, StoreError> {
        Ok(Self(of_agent_dir(agent_dir)?.into()))
    }

    /// All requests, with decisions that were not used yet, in the order of the runs' ids. Those of abandoned sessions are
    /// left out.
    pub(crate) fn all(&self) -> Result<Vec<RequestFile>, StoreError> {
        let rows = self.0.requests(wall_time().saturating_sub(MAX_AGE))?;
        let files = rows.into_iter().filter_map(|row| {
            let answer = row.answer.as_deref().and_then(decision_of);
            let mut file = file_of(row)?;
            let chosen = answer.map(|answer| answer.choice);
            file.choice = file.choice.or(chosen);
            Some(file)
        });
        Ok(files.collect())
    }

    /// Reads the request of a run. One that cannot be read counts as missing, so that nothing is approved by it.
    pub(crate) fn request(&self, task_id: &str) -> Option<RequestFile> {
        file_of(self.row(task_id)?)
    }

    /// Stores a request, and removes a decision about another one of the run.
    pub(crate) fn store_request(&self, file: &RequestFile) -> Result<(), ApprovalsError> {
        let task_id = &file.request.task_id;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if task_id.is_empty() || task_id.len() > 100 || !task_id.chars().all(is_name) {
            return Err(ApprovalsError::Id);
        }
        self.0.put_request(&RequestRow {
            task_id: task_id.clone(),
            nonce: file.request.nonce.clone(),
            request: serde_json::to_string(&file.request)?,
            seal: file.seal.clone(),
            sidecar: file.sidecar.clone(),
            choice: file.choice.clone(),
            answer: None,
            changed: wall_time(),
        })?;
        Ok(())
    }

    /// Says what this process may do about answers. A store that cannot be reached gives no right.
    pub(crate) fn answer_right(&self) -> AnswerRight {
        self.0.answer_right().unwrap_or_else(|error| {
            tracing::warn!("{error}");
            AnswerRight::NeedsProof
        })
    }

    /// Reads the decision about a request that was made while no sidecar was running.
    pub(crate) fn decision(&self, request: &StoredRequest) -> Option<StoredDecision> {
        let answer = self.row(&request.task_id)?.answer?;
        let decision = decision_of(&answer)?;
        (decision.nonce == request.nonce).then_some(decision)
    }

    /// Stores a decision; `false` if the request is no longer stored.
    pub(crate) fn store_decision(
        &self,
        request: &StoredRequest,
        decision: &StoredDecision,
    ) -> Result<bool, ApprovalsError> {
        let row = self.0.request(&request.task_id)?;
        let is_same = |row: &RequestRow| {
            let stored = file_of(row.clone());
            stored.is_some_and(|file| file.request == *request)
        };
        let Some(row) = row.filter(is_same) else {
            return Ok(false);
        };
        Ok(self.0.put_answer(&row, &serde_json::to_string(decision)?)?)
    }

    /// Removes the request and the decision of a run.
    pub(crate) fn clear(&self, task_id: &str) {
        if let Err(error) = self.0.clear_request(task_id) {
            tracing::warn!("the request of a run cannot be removed: {error}");
        }
    }

    fn row(&self, task_id: &str) -> Option<RequestRow> {
        self.0.request(task_id).unwrap_or_else(|error| {
            tracing::warn!("what a run waits for cannot be read: {error}");
            None
        })
    }
}

/// Reads a stored decision. One that cannot be read decides nothing.
fn decision_of(answer: &str) -> Option<StoredDecision> {
    serde_json::from_str(answer)
        .inspect_err(|error| tracing::warn!("a stored answer cannot be read: {error}"))
        .ok()
}

/// Reads a row; `None` if it is not a request of its run.
fn file_of(row: RequestRow) -> Option<RequestFile> {
    let request: StoredRequest = serde_json::from_str(&row.request)
        .inspect_err(|error| {
            tracing::warn!("the request of {} cannot be read: {error}", row.task_id);
        })
        .ok()?;
    (request.task_id == row.task_id && request.nonce == row.nonce).then_some(RequestFile {
        request,
        seal: row.seal,
        sidecar: row.sidecar,
        choice: row.choice,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An agent directory whose settings name a server, and the approval requests that a login sees from there.
    #[cfg(all(unix, feature = "postgres"))]
    pub(crate) fn approvals_of(
        server: &crate::store::tests::server::Server,
        login: &str,
    ) -> (PathBuf, Approvals) {
        let agent_dir = server.directory(login);
        std::fs::create_dir_all(&agent_dir).unwrap();
        let settings = serde_json::json!({ "store": server.url(login) }).to_string();
        std::fs::write(agent_dir.join("workflow-sidecar.json5"), settings).unwrap();
        let approvals = Approvals::in_agent_dir(&agent_dir).unwrap();
        (agent_dir, approvals)
    }

    /// The request of the tests: "Plan OK?" of the run `wf-1`.
    pub(crate) fn stored_request() -> StoredRequest {
        StoredRequest {
            task_id: "wf-1".to_owned(),
            step: 2,
            nonce: "n".to_owned(),
            workflow: "Feature".to_owned(),
            phase: "Plan".to_owned(),
            task: "a button".to_owned(),
            cwd: PathBuf::from("/project"),
            ask: "Plan OK?".to_owned(),
            choices: vec!["approve".to_owned(), "revise".to_owned()],
            show: None,
            shown_file: None,
            about: vec!["The agent says: It is a button.".to_owned()],
            consequences: vec!["goes to 🔧 Build".to_owned(), "stays in Plan".to_owned()],
        }
    }

    /// The approval of a request, with a code.
    pub(crate) fn approval_with_code(code: &str) -> StoredDecision {
        StoredDecision {
            nonce: "n".to_owned(),
            choice: "approve".to_owned(),
            comment: None,
            shown: None,
            code: code.to_owned(),
            asked: None,
        }
    }

    /// The approval of an approver, who answers with the rights of the database instead of a code.
    pub(crate) fn approval_of_approver(asked: &StoredRequest) -> StoredDecision {
        StoredDecision {
            shown: asked.shown_file.clone().map(|file| file.state),
            asked: Some(asked.clone()),
            ..approval_with_code("")
        }
    }

    fn request(task_id: &str) -> RequestFile {
        RequestFile {
            request: StoredRequest {
                task_id: task_id.to_owned(),
                ..stored_request()
            },
            seal: Some("5ea1".to_owned()),
            sidecar: Some("7".to_owned()),
            choice: None,
        }
    }

    fn decision(choice: &str) -> StoredDecision {
        StoredDecision {
            choice: choice.to_owned(),
            ..approval_with_code("CODE")
        }
    }

    #[test]
    fn a_stored_decision_belongs_to_one_request_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path()).unwrap();
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
        let approvals = Approvals::in_agent_dir(agent.path()).unwrap();
        let file = request("wf-1");
        approvals.store_request(&file).unwrap();
        let revise = decision("revise");
        approvals.store_decision(&file.request, &revise).unwrap();
        approvals.store_request(&file).unwrap();
        assert_eq!(approvals.decision(&file.request), Some(revise));
    }

    #[test]
    fn an_id_with_a_path_is_refused() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path()).unwrap();
        assert!(approvals.store_request(&request("../../x")).is_err());
        assert_eq!(approvals.decision(&request("../../x").request), None);
    }

    #[test]
    fn rows_that_are_no_requests_and_old_ones_are_left_out() {
        let agent = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent.path()).unwrap();
        assert_eq!(approvals.all().unwrap(), []);
        for task in ["wf-2", "wf-1", "wf-old"] {
            approvals.store_request(&request(task)).unwrap();
        }
        let of_2 = request("wf-2").request;
        approvals
            .store_decision(&of_2, &decision("revise"))
            .unwrap();
        let of_1 = approvals.0.request("wf-1").unwrap().unwrap();
        let of_another_run = RequestRow {
            task_id: "wf-3".to_owned(),
            ..of_1.clone()
        };
        let damaged = RequestRow {
            task_id: "wf-4".to_owned(),
            request: "{}".to_owned(),
            ..of_1
        };
        let old = approvals.0.request("wf-old").unwrap().unwrap();
        let old = RequestRow {
            changed: wall_time() - MAX_AGE * 2,
            ..old
        };
        for row in [of_another_run, damaged, old] {
            approvals.0.put_request(&row).unwrap();
        }
        let status = |task: &str, choice: Option<&str>| RequestFile {
            choice: choice.map(str::to_owned),
            ..request(task)
        };
        assert_eq!(
            approvals.all().unwrap(),
            [status("wf-1", None), status("wf-2", Some("revise"))]
        );
    }
}
