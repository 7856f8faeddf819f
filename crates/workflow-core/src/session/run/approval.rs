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
        let open = self.record.approval_request.as_ref();
        open.filter(|_| self.approval().is_some())
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
        let mut lines: Vec<String> = checks.collect();
        let outcome = self.outcome();
        lines.extend(outcome.map(|outcome| format!("The agent's outcome: {}", outcome.name)));
        let summary = self.progress.data.handed_over.summary.as_ref();
        lines.extend(summary.map(|summary| format!("The agent says: {}", visible(summary))));
        lines
    }

    /// The question for approval as a command shows it.
    pub(crate) fn asks(&self) -> String {
        let ask = self.approval().map_or("", |approval| &approval.ask);
        format!("{ask}\n\n{}", self.asks_about(&[]).join("\n"))
    }

    /// What is below the question for approval: the place, and what the agent hands over.
    pub(crate) fn asks_about(&self, reports: &[Report]) -> Vec<String> {
        let location = self.phase().map(ResolvedPhase::location);
        let mut lines: Vec<String> = location.into_iter().collect();
        let approval = self.approval();
        let source = approval.map_or("", |approval| &approval.source);
        if !source.is_empty() {
            lines.push(format!("Defined in: {}", visible(source)));
        }
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
}

/// The notice that a terminal does not list a request for approval.
pub(crate) fn approval_not_stored(reason: &str) -> String {
    format!(
        "[workflow] The run waits for your approval, but the request could not be stored, so `workflow-sidecar approve` does not \
         list it: {reason}. Answer in this session. Or correct the problem and have the agent call workflow_step with \
         action='next' again."
    )
}
