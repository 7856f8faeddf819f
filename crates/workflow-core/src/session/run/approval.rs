//! The open approval request of a run.

use std::path::PathBuf;

use super::ActiveRun;
use crate::approval::{Proofs, Request};
use crate::definition::Approval;
use crate::diagnostic::visible;
use crate::effect::{Effect, Effects};
use crate::policy::gate_report::Report;
use crate::reminders::PauseReason;
use crate::run::{Actor, StoredApproval};
use crate::session::phase::ResolvedPhase;

impl ActiveRun {
    /// The approval that the phase needs, if any.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.phase()?.phase.approve.as_ref()
    }

    /// The open approval request of the phase.
    pub(crate) fn open_request(&self) -> Option<&StoredApproval> {
        self.record
            .approval_request
            .as_ref()
            .filter(|_| self.approval().is_some())
    }

    /// The open approval request of the phase, with what each answer does if this actor moves the run.
    pub(crate) fn approval_request(&self, actor: Actor) -> Option<Request> {
        let open = self.open_request()?;
        let (resolved, state) = (self.phase()?, &self.progress.state);
        let approval = resolved.phase.approve.as_ref()?;
        let consequences = self.consequences(approval, actor).into_iter();
        let about = if open.about.is_empty() {
            self.to_approve(&[])
        } else {
            open.about.clone()
        };
        Some(Request {
            id: open.id.clone(),
            task_id: state.task_id.clone(),
            step: state.global_step_count,
            workflow: resolved.workflow_name.clone(),
            phase: resolved.phase.name.clone(),
            task: state.task_description.clone(),
            cwd: PathBuf::new(),
            ask: approval.ask.clone(),
            choices: approval.choices.clone(),
            show: approval.show.clone(),
            shown_file: None,
            about,
            consequences: consequences.map(|(_, does)| does).collect(),
            proofs: open.proofs.clone(),
        })
    }

    /// What the user approves: the result of the gate, and the outcome and the summary of the agent.
    pub(crate) fn to_approve(&self, reports: &[Report]) -> Vec<String> {
        let checks = reports.iter();
        let checks = checks.map(|report| format!("Check: {}", report.describe()));
        let outcome = self.outcome().into_iter();
        let outcome = outcome.map(|outcome| format!("The agent's outcome: {}", outcome.name));
        let summary = self.progress.data.handed_over.summary.iter();
        let summary = summary.map(|summary| format!("The agent says: {}", visible(summary)));
        checks.chain(outcome).chain(summary).collect()
    }

    /// The question for approval as a command shows it.
    pub(crate) fn asks(&self) -> String {
        let ask = self.approval().map_or("", |approval| &approval.ask);
        format!("{ask}\n\n{}", self.asks_about(&[]).join("\n"))
    }

    /// What is below the question for approval: the place, and what the agent hands over.
    pub(crate) fn asks_about(&self, reports: &[Report]) -> Vec<String> {
        let mut lines: Vec<String> = self
            .phase()
            .map(ResolvedPhase::location)
            .into_iter()
            .collect();
        let approval = self.approval();
        let source = approval.map(|approval| &approval.source);
        let source = source.filter(|source| !source.is_empty());
        lines.extend(source.map(|source| format!("Defined in: {}", visible(source))));
        lines.extend(self.to_approve(reports));
        let show = approval.and_then(|approval| approval.show.as_ref());
        lines.extend(show.map(|file| format!("File: {}", visible(file))));
        lines
    }

    /// Identifies the open approval request among all runs.
    pub(crate) fn approval_key(&self) -> Option<(String, String)> {
        let id = self.record.approval_request.as_ref()?.id.clone();
        Some((self.progress.state.task_id.clone(), id))
    }

    /// Opens an approval request with this id, unless one is open. The gate passed with these reports.
    pub(crate) fn request_approval(
        &mut self,
        id: String,
        reports: &[Report],
        actor: Actor,
        out: &mut Effects,
    ) {
        let about = self.to_approve(reports);
        let open = &mut self.record.approval_request;
        let open = open.get_or_insert_with(|| StoredApproval {
            id,
            ..StoredApproval::default()
        });
        (open.about, open.checked) = (about, out.now());
        self.request_code(actor, out);
    }

    /// Has the platform store the open approval request anew, and make a code that it can show.
    pub(crate) fn request_code(&mut self, actor: Actor, out: &mut Effects) {
        if let Some(open) = &mut self.record.approval_request {
            open.proofs = Proofs::default();
        }
        if let Some(request) = self.approval_request(actor) {
            out.perform(Effect::RequestApproval(request));
        }
    }

    /// Stores what proves an answer to the open approval request. The session's entries have it, so that a row of the store
    /// alone proves nothing.
    pub(crate) fn prove_approval(&mut self, proofs: Proofs, out: &mut Effects) {
        if let Some(request) = &mut self.record.approval_request {
            request.proofs = proofs;
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
        self.answered = None;
        let paused = &mut self.record.counters.paused;
        paused.take_if(|reason| *reason == PauseReason::Approval);
    }

    /// Closes the open approval request and persists that.
    pub(crate) fn drop_approval(&mut self, out: &mut Effects) {
        if self.record.approval_request.is_some() {
            self.clear_approval(out);
            self.persist_counters(out);
        }
    }

    /// Forgets an answer that leads nowhere now. The question is asked anew when the phase is left again.
    pub(crate) fn forget_answer(&mut self, out: &mut Effects) {
        if self.user_answer.take().is_some() {
            self.drop_approval(out);
        }
    }

    /// Closes an approval request that exists only as a dialog.
    pub(crate) fn clear_dialog_approval(&mut self, out: &mut Effects) {
        if self.record.approval_request.is_some() && !self.is_paused_for(PauseReason::Approval) {
            self.clear_approval(out);
        }
    }

    /// Clears approval requests of another run or branch, and makes one that was restored available again; this actor moves
    /// the run after the answer. Where the session moves to it, it needs a new code: an answer may have been used already.
    pub(crate) fn switch_approval(
        before: Option<(String, String)>,
        mut run: Option<&mut Self>,
        moves: bool,
        actor: Actor,
        out: &mut Effects,
    ) {
        let now = run.as_deref().and_then(Self::approval_key);
        let left = before.filter(|before| Some(before) != now.as_ref());
        // A phase that needs approval and has no request in the session's entries gets a new request.
        let here = run.as_deref();
        let here = here.filter(|run| now.is_none() && run.approval().is_some());
        let here = here.map(|run| run.progress.state.task_id.clone());
        let left = left.map(|(task, _)| task);
        let left = left.filter(|task| Some(task) != here.as_ref());
        for task_id in left.into_iter().chain(here) {
            out.perform(Effect::ClearApproval { task_id });
        }
        if let Some(run) = run.as_mut().filter(|_| moves) {
            run.request_code(actor, out);
        } else if let Some(request) = run.and_then(|run| run.approval_request(actor)) {
            out.perform(Effect::RequestApproval(request));
        }
    }
}

/// The notice that a terminal does not list a request for approval.
pub(crate) fn approval_not_stored(reason: &str) -> String {
    format!(
        "[workflow] The run waits for your approval, but the request could not be stored, so `workflow-sidecar approve` does not \
         list it: {reason}. Answer in this session. Or correct the problem and have the agent call workflow_step with \
         action='next' again."
    )
}
