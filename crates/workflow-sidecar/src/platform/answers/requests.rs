//! The approval requests in the store: what `workflow-sidecar approve` knows of the runs that wait.
//!
//! For each run there is a request, which the sidecar writes, and beside it the decision. Anybody can write either: what
//! counts is what [`code`](super::code) proves, or the database.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use workflow_core::approval::{Decision, Request};
use workflow_core::event::Order;
use workflow_core::session::RunCondition;

use crate::store::{
    AnswerRight, IndexedRun, RunQuery, Store, StoreError, StoredOrder, of_agent_dir,
};
use crate::time::wall_time;

/// Milliseconds after which a request counts as one of an abandoned session.
const MAX_AGE: u64 = 30 * 24 * 60 * 60 * 1000;

/// Time between two looks at the store while something waits.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);
/// The same at a server, where orders may come for each active run. Each look is a connection, and one for each run that waits.
pub(super) const INTERVAL_AT_SERVER: Duration = Duration::from_secs(5);

/// The time between two looks of a process with this right.
pub(crate) fn interval(right: AnswerRight) -> Duration {
    match right {
        AnswerRight::NeedsProof => INTERVAL,
        AnswerRight::MayRead | AnswerRight::MayAnswer => INTERVAL_AT_SERVER,
    }
}

/// The time before which a request is of an abandoned session.
pub(super) fn oldest() -> u64 {
    wall_time().saturating_sub(MAX_AGE)
}

/// A request, and its decision that was not used yet.
pub(crate) type AskedRequest = (Request, Option<Decision>);

/// The approval requests of a user.
pub(crate) struct Requests(Store);

impl Requests {
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Result<Self, StoreError> {
        Ok(Self::of(of_agent_dir(agent_dir)?))
    }

    pub(crate) fn of(store: Store) -> Self {
        Self(store)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0
    }

    /// All requests, with decisions that were not used yet, in the order of the runs' ids. Those of abandoned sessions are
    /// left out.
    pub(crate) fn all(&self) -> Result<Vec<AskedRequest>, StoreError> {
        let rows = self.0.requests(oldest())?;
        let requests = rows.into_iter().filter_map(|row| {
            let request: Request = read(&row.request)?;
            let decision = row.answer.and_then(|answer| read(&answer));
            let decision = decision.filter(|it: &Decision| it.request == request.id);
            Some((request, decision))
        });
        Ok(requests.collect())
    }

    /// The host of a run, if it is known.
    pub(crate) fn host_of(&self, task_id: &str) -> Option<String> {
        Some(self.run(task_id).ok()??.key.host)
    }

    /// The run with exactly this id, in the session that went on last.
    pub(crate) fn run(&self, task_id: &str) -> Result<Option<IndexedRun>, StoreError> {
        let query = RunQuery {
            task_id,
            ..RunQuery::default()
        };
        let runs = self.0.runs(&query)?.into_iter();
        let runs = runs.filter(|run| run.run.task_id == task_id);
        Ok(runs.max_by_key(|run| run.updated))
    }

    /// Changes the state of runs that wait for an approval that the user has given, though their sessions do not know it yet.
    pub(crate) fn note_answers(&self, runs: &mut [IndexedRun]) -> Result<(), StoreError> {
        let waits = |run: &&mut IndexedRun| run.run.waiting == RunCondition::AwaitsApproval.words();
        let mut waiting = runs.iter_mut().filter(waits).peekable();
        if waiting.peek().is_none() {
            return Ok(());
        }
        let all = self.all()?.into_iter();
        let answered = all.filter(|(_, decision)| decision.is_some());
        let answered: BTreeSet<String> = answered.map(|(request, _)| request.task_id).collect();
        for IndexedRun { run, .. } in waiting.filter(|run| answered.contains(&run.run.task_id)) {
            RunCondition::Answered.state().clone_into(&mut run.state);
            RunCondition::Answered.words().clone_into(&mut run.waiting);
        }
        Ok(())
    }

    /// Stores a request, and removes a decision about another one of the run.
    pub(crate) fn put(&self, request: &Request) -> anyhow::Result<()> {
        let (task_id, id) = (&request.task_id, &request.id);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if task_id.is_empty() || task_id.len() > 100 || !task_id.chars().all(is_name) {
            bail!("the run's id has other characters than letters, digits, `-` and `_`");
        }
        let text = to_text(request)?;
        Ok(self.0.put_request(task_id, id, &text, wall_time())?)
    }

    /// Says what this process may do about answers. A store that cannot be reached gives no right.
    pub(crate) fn answer_right(&self) -> AnswerRight {
        self.0.answer_right().unwrap_or_else(|error| {
            tracing::warn!("{error}");
            AnswerRight::NeedsProof
        })
    }

    /// Reads the decision about a request. One that cannot be read decides nothing.
    pub(crate) fn decision(&self, request: &Request) -> Option<Decision> {
        let row = self.0.request(&request.task_id).unwrap_or_else(|error| {
            tracing::warn!("what a run waits for cannot be read: {error}");
            None
        });
        let decision: Decision = read(&row?.answer?)?;
        (decision.request == request.id).then_some(decision)
    }

    /// Stores a decision; `false` if the request is no longer stored.
    pub(crate) fn decide(
        &self,
        request: &Request,
        decision: &Decision,
    ) -> Result<bool, StoreError> {
        let text = to_text(decision)?;
        self.0.put_answer(&request.task_id, &request.id, &text)
    }

    /// Lists what approvers ordered. Only a server has orders.
    pub(crate) fn orders(&self) -> Result<Vec<(StoredOrder, Order)>, StoreError> {
        let orders = self.0.orders()?.into_iter();
        let orders = orders.filter_map(|stored| {
            let order = read(&stored.text)?;
            Some((stored, order))
        });
        Ok(orders.collect())
    }

    /// Stores what an approver orders for a run; `false` if that is over.
    pub(crate) fn order(&self, task_id: &str, order: &Order) -> Result<bool, StoreError> {
        self.0.put_order(task_id, &to_text(order)?)
    }

    /// Removes the request and the decision of a run.
    pub(crate) fn clear(&self, task_id: &str) {
        if let Err(error) = self.0.clear_request(task_id) {
            tracing::warn!("the request of a run cannot be removed: {error}");
        }
    }
}

fn to_text(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::new(error.to_string()))
}

pub(crate) fn read<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text)
        .inspect_err(|error| {
            tracing::warn!("a stored request, answer or order cannot be read: {error}");
        })
        .ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::PathBuf;

    use workflow_core::approval::{Proofs, ShownFile};

    use super::*;

    /// An agent directory whose settings name a server, and the approval requests that a login sees from there.
    #[cfg(all(unix, feature = "postgres"))]
    pub(crate) fn requests_of(
        server: &crate::store::tests::server::Server,
        login: &str,
    ) -> (PathBuf, Requests) {
        let agent_dir = server.directory(login);
        std::fs::create_dir_all(&agent_dir).unwrap();
        let settings = serde_json::json!({ "store": server.url(login) }).to_string();
        std::fs::write(agent_dir.join("workflow-sidecar.json5"), settings).unwrap();
        let requests = Requests::in_agent_dir(&agent_dir).unwrap();
        (agent_dir, requests)
    }

    /// The request of the tests: "Plan OK?" of a run.
    pub(crate) fn request(task_id: &str) -> Request {
        Request {
            id: "n".to_owned(),
            task_id: task_id.to_owned(),
            step: 2,
            workflow: "Feature".to_owned(),
            phase: "Plan".to_owned(),
            task: "a button".to_owned(),
            cwd: PathBuf::from("/project"),
            ask: "Plan OK?".to_owned(),
            choices: vec!["approve".to_owned(), "revise".to_owned()],
            show: Some("plan.md".to_owned()),
            shown_file: Some(ShownFile {
                excerpt: "A button.".to_owned(),
                state: "one".to_owned(),
            }),
            about: vec!["The agent says: It is a button.".to_owned()],
            consequences: vec!["goes to 🔧 Build".to_owned(), "stays in Plan".to_owned()],
            proofs: Proofs::default(),
        }
    }

    #[test]
    fn a_stored_decision_belongs_to_one_request_of_one_run() {
        let agent = tempfile::tempdir().unwrap();
        let requests = Requests::in_agent_dir(agent.path()).unwrap();
        let asked = request("wf-1");
        let approve = Decision {
            request: "n".to_owned(),
            choice: "approve".to_owned(),
            ..Decision::default()
        };
        requests.put(&asked).unwrap();
        assert_eq!(requests.decision(&asked), None);
        assert!(requests.decide(&asked, &approve).unwrap());
        requests.put(&asked).unwrap();
        assert_eq!(requests.decision(&asked), Some(approve.clone()));
        assert_eq!(requests.decision(&request("wf-2")), None);
        let later = Request {
            id: "m".to_owned(),
            ..asked.clone()
        };
        assert_eq!(requests.decision(&later), None);
        requests.put(&later).unwrap();
        assert_eq!(requests.all().unwrap(), [(later.clone(), None)]);
        assert!(!requests.decide(&asked, &approve).unwrap());
        requests.clear("wf-1");
        assert!(!requests.decide(&later, &approve).unwrap());
        assert_eq!(requests.all().unwrap(), []);
    }

    #[test]
    fn a_run_whose_id_is_no_name_is_not_stored() {
        let agent = tempfile::tempdir().unwrap();
        let requests = Requests::in_agent_dir(agent.path()).unwrap();
        for id in ["", "../x", "a b", &"x".repeat(101)] {
            let stored = requests.put(&request(id));
            assert!(
                stored.unwrap_err().to_string().contains("characters"),
                "{id}"
            );
        }
    }
}
