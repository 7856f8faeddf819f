//! The gate of a phase: runs it, and continues with its result.

use super::{Awaited, Exit, ExitContext, ExitOutcome, Next, cancelled};
use crate::definition::{Check, Gate, RunCheck};
use crate::effect::{Effect, Effects, GateRun};
use crate::policy::STEP_TOOL;
use crate::policy::gate_report::{CheckError, CheckVerdict, Report};
use crate::policy::results::Results;
use crate::run::StoredGate;

const NO_PHASE: &str = "the run is in no phase any more";

impl Exit {
    /// Runs the gate, if its commands are trusted.
    pub(super) fn start_gate(context: &mut ExitContext<'_>, out: &mut Effects) -> Next {
        let commands = context.commands_to_trust();
        Self::run_gate(commands, context, out)
    }

    /// Runs the gate; `commands` are those that need the user's trust.
    pub(super) fn run_gate(
        commands: Vec<RunCheck>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Next {
        let run = context.active_run();
        let Some((run, gates)) = run.and_then(|run| {
            let gates = run.phase()?.phase.gate.clone();
            Some((run, gates))
        }) else {
            return Err(ExitOutcome::Stay(cancelled(NO_PHASE)));
        };
        let baseline = run.baseline().map(ToOwned::to_owned);
        let gate = context.ids.gate_run();
        out.perform(Effect::RunGate(GateRun {
            id: gate,
            gates,
            baseline,
            commands,
        }));
        Ok(Awaited::Gate {
            gate,
            in_widget: false,
        })
    }

    /// Stores the reports of the gate, and continues with the approval or the next phase if it passed.
    pub(super) fn end_gate(
        &mut self,
        reports: Vec<Report>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Next {
        let Some(run) = context.active_run() else {
            return Err(ExitOutcome::Stay(cancelled(NO_PHASE)));
        };
        run.tally_mut().count_checks(&reports);
        let Some(phase) = run.phase() else {
            return Err(ExitOutcome::Stay(cancelled(NO_PHASE)));
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
            return Err(ExitOutcome::NotPassed(reports));
        }
        if run.approval().is_none() || self.approved {
            return Err(ExitOutcome::Advance(reports));
        }
        self.reports = reports;
        self.checked = Some(out.now());
        self.need_approval(context, out)
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
pub(super) fn not_trusted(context: &ExitContext<'_>, why: &str) -> Vec<Report> {
    let is_command = |gate: &&Gate| matches!(gate.check, Check::Run(_));
    let reason = format!(
        "the commands of this project are not trusted, and {why}. The user can trust them with `workflow-sidecar trust` once this session is closed"
    );
    could_not_run(context, is_command, CheckError::NotTrusted, reason)
}

/// The report on the first check of the gate that fits.
pub(super) fn could_not_run(
    context: &ExitContext<'_>,
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
