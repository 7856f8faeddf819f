//! Moves of the run by a person: what is planned, what is confirmed, and the messages about them.

use super::command::Control;
use super::texts::no_definition;
use crate::definition::{Catalog, Phase, PhaseEntry, Workflow};
use crate::diagnostic::{shown, visible};
use crate::effect::Question;
use crate::policy::gate_report::{Report, listed};
use crate::run::{
    Path, RunProgress, TransitionError, UserMove, advance, entry_name, jump, phase_name,
};
use crate::session::phase::ResolvedPhase;
use crate::session::run::{ActiveRun, Move, leads_back, not_moved};
use crate::session::step_answers::{answer_text, entered_text};
use crate::text;

/// The name of the author of a move, in the session's entry.
const USER: &str = "user";

/// A move of the run by a person.
#[derive(Debug, Clone)]
pub(crate) struct PlannedMove {
    pub(crate) moved: Move,
    /// The record of the move in the session, with the gates and approvals that are passed over.
    pub(crate) record: UserMove,
}

impl PlannedMove {
    /// The move with these gates and approvals passed over.
    pub(crate) fn new(moved: Move, control: Control, overrode: Vec<String>) -> Self {
        let record = UserMove {
            by: USER.to_owned(),
            approver: None,
            command: control.short_name().to_owned(),
            step: moved.to.state.global_step_count,
            overrode,
        };
        Self { moved, record }
    }

    /// The same move as an approver orders it.
    pub(crate) fn ordered_by(mut self, approver: &str) -> Self {
        self.record.approver = Some(visible(approver));
        self
    }

    /// The message to the agent; `run` has moved.
    pub(crate) fn message_to_agent(&self, run: &ActiveRun) -> String {
        let from = &self.moved.left;
        let text = match (&self.moved.answer, run.phase()) {
            (Some(answer), _) => answer_text(answer, &self.moved, run),
            (None, Some(phase)) => {
                let entered = entered_text(phase);
                format!("The user moved the workflow: {from} → {entered}")
            }
            (None, None) if run.state().cancelled => {
                "The user cancelled the workflow: nothing is left to do in it.".to_owned()
            }
            (None, None) => format!(
                "The user moved the workflow: {from} → DONE. The workflow is complete. There is nothing left to do in it."
            ),
        };
        let item = run.phase().and_then(|phase| phase.item.as_ref());
        match item {
            Some(item) => format!("[workflow] {text}").replacen('\n', &format!("\n{item}.\n"), 1),
            None => format!("[workflow] {text}"),
        }
    }

    /// The message to the person; `run` has moved.
    pub(crate) fn notice(&self, run: &ActiveRun) -> String {
        let (from, record) = (&self.moved.left, &self.record);
        let by = record.approver.as_deref().unwrap_or("you");
        if run.state().cancelled {
            return format!("The workflow is cancelled in {from}, by {by}.");
        }
        let to = run.phase().map(ResolvedPhase::label);
        let to = to.as_deref().unwrap_or("DONE");
        let item = run.phase().and_then(|phase| phase.item.as_ref());
        let mut over = item.map_or_else(String::new, |item| format!(" {item}."));
        if !record.overrode.is_empty() {
            over = format!("{over} Skipped: {}.", record.overrode.join("; "));
        }
        let went_back = leads_back(&self.moved.from, run.state());
        let answer = self.moved.answer.as_ref();
        if answer.is_some_and(|answer| answer.sends_back(went_back)) {
            return format!("↩ {from} is not approved: sent back to {to}, by {by}.{over}");
        }
        format!("✓ {from} → {to}, by {by}.{over}")
    }
}

/// The question after a gate that did not pass, before a move that passes over all of `left_out`.
pub(crate) fn not_passed(
    phase: &ResolvedPhase,
    next: &str,
    reports: &[Report],
    left_out: &[String],
) -> Question {
    let question = passes_over(phase, next, left_out);
    Question {
        title: format!("Leave {} although its gate did not pass?", phase.phase.name),
        message: format!("{}\n\n{}", listed(reports), question.message),
        ..question
    }
}

/// The question before a move that passes gates and approvals over. The last option confirms it: hosts preselect the first.
fn passes_over(phase: &ResolvedPhase, next: &str, passed: &[String]) -> Question {
    let name = &phase.phase.name;
    let lines = text::join(passed.iter().map(|line| format!("  {line}")), "\n");
    let no = format!("No, stay in {name}");
    Question {
        options: vec![no, format!("Yes, go to {next} without them")],
        ..Question::new(
            format!("Leave {name} without its checks?"),
            format!("{}\n\nThis skips:\n{lines}", phase.location()),
        )
    }
}

/// A move that is planned. It is made at once, or after a confirmation.
type Plan = (PlannedMove, Option<Question>);

/// Plans `/workflow-skip`.
pub(crate) fn plan_skip(run: &ActiveRun) -> Result<Plan, String> {
    let phase = run.phase().ok_or_else(no_definition)?;
    let mut from = run.progress().clone();
    from.data.forget_outcome(&from.state, run.catalog());
    let to = advance(&from, run.catalog());
    let to = to.map_err(|error| not_moved(&error).unwrap_or_else(no_definition))?;
    let passed = conditions(&phase.phase).collect();
    Ok(plan(run, phase, to, Control::Skip, passed))
}

/// Plans `/workflow-goto`; the error is shown to the person.
pub(crate) fn plan_goto(run: &ActiveRun, argument: &str) -> Result<Plan, String> {
    let phase = run.phase().ok_or_else(no_definition)?;
    let (path, catalog) = (&run.state().current_path, run.catalog());
    let (_, innermost) = scopes_of(run).next().ok_or_else(no_definition)?;
    let listed = scopes_of(run).map(|(at, scope)| listing(scope, &at, catalog));
    let listed = text::join(listed, "\n\n");
    if argument.is_empty() {
        return Err(format!("Usage: /workflow-goto {{phase}}\n\n{listed}"));
    }
    let found = scopes_of(run)
        .find_map(|(at, scope)| Some((at, scope, find_entry(scope, argument, catalog)?)));
    let (at, scope, index) = found.ok_or_else(|| {
        let (name, wanted) = (&innermost.name, visible(argument));
        let elsewhere = workflow_with(run, argument).map_or_else(String::new, |workflow| {
            format!(" It is a phase of {workflow}; /workflow-goto moves inside of {name} and the workflows around it only.")
        });
        format!("There is no phase \"{wanted}\" in {name}.{elsewhere}\n\n{listed}")
    })?;
    let to = at.moved_to(index);
    if to == *path {
        let label = phase.label();
        return Err(format!("The workflow is in {label} already.\n\n{listed}"));
    }
    let entry = &scope.phases[index];
    let name = entry_name(entry, catalog);
    let moved = jump(run.progress(), &to, catalog).map_err(|error| {
        if error != TransitionError::NoneApplies {
            return not_moved(&error).unwrap_or_else(no_definition);
        }
        format!("The conditions (`when`) of all phases of {name} are not met, so the workflow was not moved.")
    })?;
    // Also what is left of the workflows inside.
    let left = scopes_of(run).take(path.depth() - at.depth());
    let left = left.map(|(inside, scope)| (inside, scope, scope.phases.len()));
    let on = index > at.innermost().phase_index;
    let passed = left.chain([(at, scope, index)]).filter(|_| on);
    let mut passed: Vec<String> = passed
        .flat_map(|(at, scope, end)| {
            // The subworkflow that is left is in the scopes before.
            let begin = at.innermost().phase_index + usize::from(at != *path);
            scope.phases.get(begin..end).unwrap_or_default()
        })
        .flat_map(|entry| conditions_of(entry, catalog))
        .collect();
    if !run.progress().data.admits(entry, &to, catalog) {
        passed.push(format!("{name}: condition (`when`)"));
    }
    Ok(plan(run, phase, moved, Control::Goto, passed))
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
    let moved = run.move_to(phase.phase.name.clone(), to);
    (PlannedMove::new(moved, control, passed), question)
}

/// The refusal of a move that needs a confirmation which cannot be asked for.
pub(crate) fn cannot_confirm(planned: &PlannedMove, why: &str) -> String {
    format!(
        "The workflow was not moved. The move skips {}, which you must confirm, and {why}.",
        planned.record.overrode.join("; ")
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
    if phase.approve.is_some() && run.user_answer.is_some() {
        left.pop();
    }
    left
}

/// The gate and the approval of a phase, by name.
fn conditions(phase: &Phase) -> impl Iterator<Item = String> {
    let (name, gates) = (&phase.name, phase.gate.iter());
    let gates = gates.map(move |gate| format!("{name}: gate `{}`", gate.check.called(shown)));
    let approval = phase.approve.iter();
    let approval =
        approval.map(move |approval| format!("{name}: approval \"{}\"", shown(&approval.ask)));
    gates.chain(approval)
}

fn conditions_of(entry: &PhaseEntry, catalog: &Catalog) -> Vec<String> {
    match entry {
        PhaseEntry::Phase(phase) => conditions(phase).collect(),
        // Ends, as no workflow contains itself.
        PhaseEntry::Subworkflow(key) => {
            let entries = catalog.get(key).into_iter().flat_map(|inner| &inner.phases);
            entries
                .flat_map(|entry| conditions_of(entry, catalog))
                .collect()
        }
    }
}

/// The scopes around the phase, the innermost first, each with its workflow.
pub(super) fn scopes_of(run: &ActiveRun) -> impl Iterator<Item = (Path, &Workflow)> {
    let scopes = run.state().current_path.scopes();
    scopes.map_while(|at| Some((at.clone(), at.workflow(run.catalog())?)))
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

fn listing(scope: &Workflow, at: &Path, catalog: &Catalog) -> String {
    let entries = scope.phases.iter().enumerate();
    let lines = entries.map(|(index, entry)| {
        let here = if index == at.innermost().phase_index {
            " (now)"
        } else {
            ""
        };
        format!("  {} — {}{here}", entry.id(), entry_name(entry, catalog))
    });
    format!("Phases of {}:\n{}", scope.name, text::join(lines, "\n"))
}
