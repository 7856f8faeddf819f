//! The gate of a phase: runs it, and continues with its result.

use super::state::{ExitContext, ExitOutcome, ExitStep, PendingApproval, PhaseExit, cancelled};
use crate::definition::{Check, Gate, RunCheck};
use crate::effect::{Effect, Effects, GateRun};
use crate::policy::STEP_TOOL;
use crate::policy::gate_report::{CheckError, CheckVerdict, Report};
use crate::policy::results::Results;
use crate::run::StoredGate;
use crate::types::RequestId;

const NO_PHASE: &str = "the run is in no phase any more";

impl PhaseExit {
    /// Runs the gate, if its commands are trusted.
    pub(super) fn start_gate(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let run = context.active_run();
        let commands = run.map(|run| run.commands_to_trust()).unwrap_or_default();
        self.run_gate(request, approved, commands, context, out)
    }

    /// Runs the gate; `commands` are those that need the user's trust.
    pub(super) fn run_gate(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        commands: Vec<RunCheck>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let gate = context.run.as_deref().and_then(|run| {
            let phase = run.phase()?;
            Some((
                phase.phase.gate.clone(),
                run.baseline().map(ToOwned::to_owned),
            ))
        });
        let Some((gates, baseline)) = gate else {
            return ExitOutcome::Stay(cancelled(NO_PHASE));
        };
        let id = context.ids.gate_run();
        out.perform(Effect::RunGate(GateRun {
            id,
            gates,
            baseline,
            commands,
        }));
        *self = Self::RunningGate {
            request,
            gate: id,
            approved,
            in_widget: false,
        };
        ExitOutcome::Wait
    }

    /// Stores the reports of the gate, and continues with the approval or the next phase if it passed.
    pub(super) fn finish_gate(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        reports: Vec<Report>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitStep {
        let since = out.mark();
        let outcome = self.gate_outcome(request, approved, reports, context, out);
        ExitStep {
            request,
            outcome,
            since,
        }
    }

    pub(super) fn gate_outcome(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        reports: Vec<Report>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let Some(run) = context.active_run() else {
            return ExitOutcome::Stay(cancelled(NO_PHASE));
        };
        run.tally_mut().count_checks(&reports);
        let Some(phase) = run.phase() else {
            return ExitOutcome::Stay(cancelled(NO_PHASE));
        };
        // A host may keep the newest entry only, so it contains everything about the phase.
        let stored = StoredGate {
            step: run.state().global_step_count,
            phase: phase.phase.id.clone(),
            baseline: run.baseline().map(ToOwned::to_owned),
            reports: reports.clone(),
        };
        run.append(&stored, out);
        let has_passed = !reports.is_empty() && reports.iter().all(Report::has_passed);
        if !has_passed {
            run.drop_open_approval(out);
            return ExitOutcome::NotPassed(reports);
        }
        if run.approval().is_none() || approved {
            return ExitOutcome::Advance(reports);
        }
        let pending = PendingApproval {
            request,
            reports,
            checked: Some(out.now()),
        };
        self.need_approval(pending, context, out)
    }
}

/// Redacts what checks report, because the reports are in the result of `workflow_step` and in the session.
pub(super) fn redact(reports: &mut [Report], results: &Results) {
    let is_error = !reports.iter().all(Report::has_passed);
    for report in reports {
        for text in [&mut report.what, &mut report.reason, &mut report.tail] {
            if !text.is_empty() {
                results.redact_text(STEP_TOOL, is_error, text);
            }
        }
    }
}

/// The report on a gate with commands that are not trusted.
pub(super) fn not_trusted(context: &mut ExitContext<'_>, why: &str) -> Vec<Report> {
    let is_command = |gate: &&Gate| matches!(gate.check, Check::Run(_));
    let reason = format!(
        "the commands of this project are not trusted, and {why}. The user can trust them with `workflow-sidecar trust`"
    );
    could_not_run(context, is_command, CheckError::NotTrusted, reason)
}

/// The report on the first check of the gate that fits.
pub(super) fn could_not_run(
    context: &mut ExitContext<'_>,
    fits: impl FnMut(&&Gate) -> bool,
    error: CheckError,
    reason: String,
) -> Vec<Report> {
    let phase = context.phase();
    let gates = phase.map_or(&[][..], |phase| &phase.phase.gate);
    let gate = gates.iter().find(fits);
    let report = gate.map(|gate| Report::new(gate, CheckVerdict::CouldNotRun(error), reason));
    report.into_iter().collect()
}
