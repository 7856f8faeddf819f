//! Moves of the run by a person: what is planned, what is confirmed, and the messages about them.

use super::command::Control;
use super::texts::no_definition;
use crate::definition::{Catalog, Phase, PhaseEntry, Workflow};
use crate::diagnostic::{shown, visible};
use crate::effect::Question;
use crate::policy::gate_report::Report;
use crate::run::{
    Actor, RunProgress, TransitionError, UserMove, advance, entry_name, jump, phase_name,
};
use crate::session::phase::ResolvedPhase;
use crate::session::run::{ActiveRun, Move, leads_back};
use crate::session::step_tool::{answer_text, entered_text};
use crate::types::RequestId;

/// The name of the author of a move, in the session's entry.
const USER: &str = "user";

/// A move of the run by a person.
#[derive(Debug, Clone)]
pub(crate) struct PlannedMove {
    pub(crate) moved: Move,
    control: Control,
    /// The gates and approvals that are passed over.
    overrode: Vec<String>,
}

/// A command that leaves the phase through its gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserExit {
    /// `None` if the person answered in a terminal.
    pub(crate) request: Option<RequestId>,
    pub(crate) control: Control,
}

impl UserExit {
    /// The actor that moves the run. An answer in a terminal, like one in a dialog, follows the call of the agent.
    pub(crate) fn actor(self, jumps: u32) -> Actor {
        match self.request {
            Some(_) => Actor::User,
            None => Actor::Agent { jumps },
        }
    }

    /// Plans the move to the next phase, past what is named; `jumps` is the limit of the agent.
    pub(crate) fn plan(
        self,
        run: &ActiveRun,
        jumps: u32,
        overrode: Vec<String>,
    ) -> Result<PlannedMove, TransitionError> {
        Ok(PlannedMove {
            moved: run.plan_leave(self.actor(jumps))?,
            control: self.control,
            overrode,
        })
    }
}

impl PlannedMove {
    /// The record of the move in the session.
    pub(crate) fn record(&self) -> UserMove {
        UserMove {
            by: USER.to_owned(),
            command: self.control.short_name().to_owned(),
            step: self.moved.to.state.global_step_count,
            overrode: self.overrode.clone(),
        }
    }

    /// The gates and approvals that are passed over.
    pub(crate) fn overrode(&self) -> &[String] {
        &self.overrode
    }

    /// The message to the agent; `run` has moved.
    pub(crate) fn message_to_agent(&self, run: &ActiveRun) -> String {
        let from = &self.moved.left;
        let text = match (&self.moved.answer, run.phase()) {
            (Some(answer), _) => answer_text(answer, &self.moved, run),
            (None, Some(phase)) => {
                format!(
                    "The user moved the workflow: {from} → {}",
                    entered_text(phase)
                )
            }
            (None, None) if run.state().cancelled => {
                "The user cancelled the workflow: nothing is left to do in it.".to_owned()
            }
            (None, None) => format!(
                "The user moved the workflow: {from} → DONE. The workflow is complete. There is nothing left to do in it."
            ),
        };
        format!("[workflow] {text}")
    }

    /// The message to the person; `run` has moved.
    pub(crate) fn notice(&self, run: &ActiveRun) -> String {
        let from = &self.moved.left;
        if run.state().cancelled {
            return format!("The workflow is cancelled in {from}, by you.");
        }
        let to = run
            .phase()
            .map_or_else(|| "DONE".to_owned(), ResolvedPhase::label);
        let over = match &*self.overrode {
            [] => String::new(),
            passed => format!(" Skipped: {}.", passed.join("; ")),
        };
        let went_back = leads_back(&self.moved.from, run.state());
        let answer = self.moved.answer.as_ref();
        if answer.is_some_and(|answer| answer.sends_back(went_back)) {
            return format!("↩ {from} is not approved: sent back to {to}, by you.{over}");
        }
        format!("✓ {from} → {to}, by you.{over}")
    }
}

/// The question after a gate that did not pass, before a move that passes over all of `left_out`.
pub(crate) fn not_passed(
    phase: &ResolvedPhase,
    next: &str,
    reports: &[Report],
    left_out: &[String],
) -> Question {
    let reports: Vec<String> = reports.iter().map(Report::describe).collect();
    let question = passes_over(phase, next, left_out);
    Question {
        title: format!("Leave {} although its gate did not pass?", phase.phase.name),
        message: format!("{}\n\n{}", reports.join("\n"), question.message),
        ..question
    }
}

/// The question before a move that passes gates and approvals over. The last option confirms it: hosts preselect the first.
fn passes_over(phase: &ResolvedPhase, next: &str, passed: &[String]) -> Question {
    let lines: Vec<String> = passed.iter().map(|line| format!("  {line}")).collect();
    let no = format!("No, stay in {}", phase.phase.name);
    Question {
        title: format!("Leave {} without its checks?", phase.phase.name),
        message: format!("{}\n\nThis skips:\n{}", phase.location(), lines.join("\n")),
        options: vec![no, format!("Yes, go to {next} without them")],
        ..Question::default()
    }
}

/// A move that is planned: made at once, or after a confirmation.
#[derive(Debug)]
pub(crate) enum Plan {
    Move(PlannedMove),
    Confirm(PlannedMove, Question),
}

/// Plans `/workflow-skip`.
pub(crate) fn plan_skip(run: &ActiveRun) -> Result<Plan, String> {
    let phase = run.phase().ok_or_else(no_definition)?;
    let to = advance(run.progress(), run.catalog()).map_err(|_| no_definition())?;
    let passed = conditions(&phase.phase).collect();
    Ok(plan(run, phase, to, Control::Skip, passed))
}

/// Plans `/workflow-goto`; the error is shown to the person.
pub(crate) fn plan_goto(run: &ActiveRun, argument: &str) -> Result<Plan, String> {
    let phase = run.phase().ok_or_else(no_definition)?;
    let (scope, now) = scope_of(run).ok_or_else(no_definition)?;
    let listed = listing(scope, now, run.catalog());
    if argument.is_empty() {
        return Err(format!("Usage: /workflow-goto {{phase}}\n\n{listed}"));
    }
    let index = find_entry(scope, argument, run.catalog()).ok_or_else(|| {
        let elsewhere = workflow_with(run, argument).map_or_else(String::new, |workflow| {
            format!(
                " It is a phase of {workflow}; /workflow-goto moves inside of {} only.",
                scope.name
            )
        });
        format!(
            "There is no phase \"{}\" in {}.{elsewhere}\n\n{listed}",
            visible(argument),
            scope.name
        )
    })?;
    if index == now {
        return Err(format!(
            "The workflow is in {} already.\n\n{listed}",
            phase.label()
        ));
    }
    let entry = &scope.phases[index];
    let to = jump(run.progress(), index, run.catalog()).map_err(|error| match error {
        TransitionError::NoneApplies => format!(
            "The conditions (`when`) of all phases of {} are not met, so the workflow was not moved.",
            entry_name(entry, run.catalog())
        ),
        TransitionError::DefinitionMismatch(_)
        | TransitionError::NotLoopable
        | TransitionError::Limit(_) => no_definition(),
    })?;
    let between = scope.phases.get(now..index).unwrap_or_default();
    let mut passed: Vec<String> = between
        .iter()
        .flat_map(|entry| conditions_of(entry, run.catalog()))
        .collect();
    let path = run.state().current_path.moved_to(index);
    if !run.progress().data.admits(entry, &path, run.catalog()) {
        passed.push(format!(
            "{}: condition (`when`)",
            entry_name(entry, run.catalog())
        ));
    }
    Ok(plan(run, phase, to, Control::Goto, passed))
}

fn plan(
    run: &ActiveRun,
    phase: &ResolvedPhase,
    to: RunProgress,
    control: Control,
    passed: Vec<String>,
) -> Plan {
    let next = phase_name(&to.state, run.catalog());
    let question = (!passed.is_empty()).then(|| passes_over(phase, &next, &passed));
    let planned = PlannedMove {
        moved: run.move_to(phase.phase.name.clone(), to),
        control,
        overrode: passed,
    };
    match question {
        Some(question) => Plan::Confirm(planned, question),
        None => Plan::Move(planned),
    }
}

/// The refusal of a move that needs a confirmation which cannot be asked for.
pub(crate) fn cannot_confirm(planned: &PlannedMove, why: &str) -> String {
    format!(
        "The workflow was not moved. The move skips {}, which you must confirm, and {why}.",
        planned.overrode.join("; ")
    )
}

/// What a move past a gate with these reports passes over: checks that did not pass or did not run, and an approval that
/// is not given.
pub(crate) fn left_out(run: &ActiveRun, reports: &[Report]) -> Vec<String> {
    let Some(phase) = run.phase().map(|phase| &phase.phase) else {
        return Vec::new();
    };
    let passed = reports.iter().take_while(|report| report.has_passed());
    let mut left: Vec<String> = conditions(phase).skip(passed.count()).collect();
    if phase.approve.is_some() && run.user_answer().is_some() {
        left.pop();
    }
    left
}

/// The gate and the approval of a phase, by name.
fn conditions(phase: &Phase) -> impl Iterator<Item = String> {
    let gates = phase
        .gate
        .iter()
        .map(|gate| format!("{}: gate `{}`", phase.name, gate.check.describe()));
    let approval = phase
        .approve
        .iter()
        .map(|approval| format!("{}: approval \"{}\"", phase.name, shown(&approval.ask)));
    gates.chain(approval)
}

fn conditions_of(entry: &PhaseEntry, catalog: &Catalog) -> Vec<String> {
    match entry {
        PhaseEntry::Phase(phase) => conditions(phase).collect(),
        // Ends, as no workflow contains itself.
        PhaseEntry::Subworkflow(key) => catalog.get(key).map_or_else(Vec::new, |workflow| {
            let entries = workflow.phases.iter();
            entries
                .flat_map(|entry| conditions_of(entry, catalog))
                .collect()
        }),
    }
}

/// The innermost workflow, and the index of the entry that the run is at.
pub(super) fn scope_of(run: &ActiveRun) -> Option<(&Workflow, usize)> {
    let segment = run.state().current_path.innermost();
    let scope = run.catalog().get(&segment.workflow_key)?;
    Some((scope, segment.phase_index))
}

/// Finds an entry by its id, or by its name if that is unique.
fn find_entry(scope: &Workflow, wanted: &str, catalog: &Catalog) -> Option<usize> {
    let by_id = scope.phases.iter().position(|entry| entry.id() == wanted);
    by_id.or_else(|| {
        let is_named = |entry: &PhaseEntry| {
            let name = entry_name(entry, catalog);
            name.to_lowercase() == wanted.to_lowercase() || entry.id().eq_ignore_ascii_case(wanted)
        };
        let mut found = (0..scope.phases.len()).filter(|&index| is_named(&scope.phases[index]));
        found.next().filter(|_| found.next().is_none())
    })
}

/// The name of another workflow of the run that has this entry.
fn workflow_with(run: &ActiveRun, wanted: &str) -> Option<String> {
    let catalog = run.catalog();
    let workflows = catalog.reachable_from(&run.state().workflow_key);
    let mut with = workflows
        .into_iter()
        .filter(|workflow| find_entry(workflow, wanted, catalog).is_some());
    with.next().map(|workflow| workflow.name.clone())
}

fn listing(scope: &Workflow, now: usize, catalog: &Catalog) -> String {
    let lines: Vec<String> = scope
        .phases
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            let here = if index == now { " (now)" } else { "" };
            format!("  {} — {}{here}", entry.id(), entry_name(entry, catalog))
        })
        .collect();
    format!("Phases of {}:\n{}", scope.name, lines.join("\n"))
}
