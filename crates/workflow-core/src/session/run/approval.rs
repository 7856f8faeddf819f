//! The open approval request of a run.

use super::ActiveRun;
use crate::definition::Approval;
use crate::diagnostic::visible;
use crate::effect::{ApprovalRequest, Effect, Effects};
use crate::policy::gate_report::Report;
use crate::reminders::PauseReason;
use crate::run::Actor;

impl ActiveRun {
    /// The approval that the phase needs, if any.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.phase()?.phase.approve.as_ref()
    }

    /// The nonce of the open approval request of the phase.
    pub(crate) fn approval_nonce(&self) -> Option<&str> {
        self.record
            .approval_request
            .as_deref()
            .filter(|_| self.approval().is_some())
    }

    /// The open approval request of the phase, with what each answer does if this actor moves the run.
    pub(crate) fn approval_request(&self, actor: Actor) -> Option<ApprovalRequest> {
        let nonce = self.approval_nonce()?.to_owned();
        let approval = self.approval()?;
        let consequences = self.consequences(approval, actor).into_iter();
        Some(ApprovalRequest {
            nonce,
            seal: self.record.approval_seal.clone(),
            about: self.to_approve(&[]),
            consequences: consequences.map(|(_, does)| does).collect(),
            approval: approval.clone(),
        })
    }

    /// What a person approves: the result of the gate, and the outcome and the summary of the agent.
    pub(crate) fn to_approve(&self, reports: &[Report]) -> Vec<String> {
        let checks = reports.iter();
        let checks = checks.map(|report| format!("Check: {}", report.describe()));
        let outcome = self.outcome().into_iter();
        let outcome = outcome.map(|outcome| format!("The agent's outcome: {}", outcome.name));
        let summary = self.progress.data.handed_over.summary.iter();
        let summary = summary.map(|summary| format!("The agent says: {}", visible(summary)));
        checks.chain(outcome).chain(summary).collect()
    }

    /// Identifies the open approval request among all runs.
    pub(crate) fn approval_key(&self) -> Option<(String, String)> {
        Some((
            self.progress.state.task_id.clone(),
            self.record.approval_request.clone()?,
        ))
    }

    /// Opens an approval request with this nonce, unless one is open. The gate passed with these reports.
    pub(crate) fn request_approval(
        &mut self,
        nonce: String,
        reports: &[Report],
        actor: Actor,
        out: &mut Effects,
    ) {
        self.record.approval_request.get_or_insert(nonce);
        if let Some(request) = self.approval_request(actor) {
            // Without the seal: a code of an earlier process may be lost, so the platform makes one that it can show.
            out.perform(Effect::RequestApproval(ApprovalRequest {
                seal: None,
                about: self.to_approve(reports),
                ..request
            }));
        }
    }

    /// Stores the seal of the open approval request. The session's entries have it, so that a file in the user's
    /// directory alone proves nothing.
    pub(crate) fn seal_approval(&mut self, seal: String, out: &mut Effects) {
        if self.record.approval_request.is_some() {
            self.record.approval_seal = Some(seal);
            self.persist_counters(out);
        }
    }

    /// Closes the approval request of the phase, if the phase needs approval.
    pub(crate) fn clear_approval(&mut self, out: &mut Effects) {
        if self.approval().is_none() {
            return;
        }
        out.perform(Effect::ClearApproval {
            task_id: self.progress.state.task_id.clone(),
        });
        self.record.approval_request = None;
        self.record.approval_seal = None;
        self.answered = None;
        let paused = &mut self.record.counters.paused;
        paused.take_if(|reason| *reason == PauseReason::Approval);
    }

    /// Closes the approval request and persists that.
    pub(crate) fn drop_approval(&mut self, out: &mut Effects) {
        self.clear_approval(out);
        self.persist_counters(out);
    }

    /// Forgets an answer that leads nowhere now. The question is asked anew when the phase is left again.
    pub(crate) fn forget_answer(&mut self, out: &mut Effects) {
        if self.user_answer.take().is_some() {
            self.drop_open_approval(out);
        }
    }

    /// Closes an approval request after a failed gate, because the code will change.
    pub(crate) fn drop_open_approval(&mut self, out: &mut Effects) {
        if self.record.approval_request.is_some() {
            self.drop_approval(out);
        }
    }

    /// Closes an approval request that exists only as a dialog.
    pub(crate) fn clear_dialog_approval(&mut self, out: &mut Effects) {
        let is_paused = self.record.counters.paused == Some(PauseReason::Approval);
        if self.record.approval_request.is_some() && !is_paused {
            self.clear_approval(out);
        }
    }

    /// Clears approval requests of another run or branch, and makes one that was restored available again; this actor moves
    /// the run after the answer.
    pub(crate) fn switch_approval(
        before: Option<(String, String)>,
        run: Option<&Self>,
        actor: Actor,
        out: &mut Effects,
    ) {
        let now = run.and_then(Self::approval_key);
        let is_new = now != before;
        let left = before.filter(|before| Some(before) != now.as_ref());
        // A phase that needs approval and has no request in the session's entries gets a new request.
        let here = run.filter(|run| now.is_none() && run.approval().is_some());
        let here = here.map(|run| run.progress.state.task_id.clone());
        let left = left.map(|(task, _)| task);
        let left = left.filter(|task| Some(task) != here.as_ref());
        for task_id in left.into_iter().chain(here) {
            out.perform(Effect::ClearApproval { task_id });
        }
        let request = run.and_then(|run| run.approval_request(actor));
        if let Some(request) = request.filter(|_| is_new) {
            out.perform(Effect::RequestApproval(request));
        }
    }
}
