//! The person's controls of a run: the commands beside `/workflow` and `/cancel-workflow`.
//!
//! Plans a move and writes the texts for the person. The session makes the move.

use std::collections::BTreeMap;

use super::leave::{leads_to, meaning_of};
use super::phase::ResolvedPhase;
use super::phase_exit::ExitActivity;
use super::phase_rules::needed_to_leave;
use super::questions::{QuestionTable, QuestionText, Topic};
use super::run::ActiveRun;
use super::step_tool::{entered_text, said};
use crate::definition::{Approval, Bound, Catalog, Phase, PhaseEntry, Target, Workflow};
use crate::diagnostic::visible;
use crate::effect::{DeferredAnswer, Effects};
use crate::event::Answer;
use crate::policy::gate_report::Report;
use crate::reminders::PauseReason;
use crate::run::{Mover, PersonMove, RunProgress, RunState, advance, entry_name, jump, phase_name};
use crate::text;
use crate::types::{QuestionId, RequestId, Severity};
use crate::white_space;

/// UTF-16 units of a question that the status line shows.
const MAX_ASK_IN_STATUS: u32 = 60;
/// The name of the author of a move, in the session's entry.
const PERSON: &str = "person";

/// A command that controls the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Shows the phase, the rules, and what is needed to leave it.
    Status,
    /// Sends no reminders until the run is resumed.
    Pause,
    /// Resumes the run.
    Resume,
    /// Leaves the phase; its gate runs first.
    Next,
    /// Leaves the phase without its gate.
    Skip,
    /// Moves to another phase of the scope.
    Goto,
    /// Answers the question for approval.
    Approve,
}

impl Control {
    /// All of them, in the order in which hosts list them.
    pub const ALL: [Self; 7] = [
        Self::Status,
        Self::Pause,
        Self::Resume,
        Self::Next,
        Self::Skip,
        Self::Goto,
        Self::Approve,
    ];

    /// Finds the control of a command.
    #[must_use]
    pub fn of_command(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|control| control.command() == name)
    }

    /// The name of its command.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Self::Status => "workflow-status",
            Self::Pause => "workflow-pause",
            Self::Resume => "workflow-resume",
            Self::Next => "workflow-next",
            Self::Skip => "workflow-skip",
            Self::Goto => "workflow-goto",
            Self::Approve => "workflow-approve",
        }
    }

    /// The description of its command.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Status => "Show the phase, its rules, and what is needed to leave it",
            Self::Pause => "Pause the workflow: no reminders until /workflow-resume",
            Self::Resume => "Resume a paused workflow",
            Self::Next => "Finish the phase yourself: its gate runs, then the next phase begins",
            Self::Skip => "Skip the rest of the phase, without its gate and its approval",
            Self::Goto => "Go to another phase of this workflow: /workflow-goto {phase}",
            Self::Approve => {
                "Answer the question for approval: /workflow-approve {choice} {comment}"
            }
        }
    }

    /// True if its arguments can be completed.
    #[must_use]
    pub fn completes(self) -> bool {
        matches!(self, Self::Next | Self::Goto | Self::Approve)
    }

    /// The name of the command in the record of a move.
    fn short_name(self) -> &'static str {
        self.command().trim_start_matches("workflow-")
    }
}

/// A move of the run by a person.
#[derive(Debug, Clone)]
pub(crate) struct PlannedMove {
    /// The state that the question to the person was about.
    from: RunState,
    /// The progress to enter.
    pub(crate) to: RunProgress,
    control: Control,
    /// The gates and approvals that are passed over.
    overrode: Vec<String>,
    /// The person's comment for the agent.
    comment: Option<String>,
}

/// A command that leaves the phase through its gate.
#[derive(Debug, Clone)]
pub(crate) struct PersonExit {
    request: RequestId,
    control: Control,
    comment: Option<String>,
}

/// The commands that wait: for the gate of the phase, and for a confirmation.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingControls {
    exit: Option<PersonExit>,
    confirmations: BTreeMap<QuestionId, PendingConfirmation>,
}

#[derive(Debug, Clone)]
struct PendingConfirmation {
    request: RequestId,
    planned: PlannedMove,
    /// The option that confirms.
    yes: String,
}

impl PendingControls {
    /// Notes that this request leaves the phase.
    pub(crate) fn begin_exit(
        &mut self,
        request: RequestId,
        control: Control,
        comment: Option<String>,
    ) {
        self.exit = Some(PersonExit {
            request,
            control,
            comment,
        });
    }

    /// Returns true if a person leaves the phase.
    pub(crate) fn is_leaving(&self) -> bool {
        self.exit.is_some()
    }

    /// Takes the command that this request is, if it leaves the phase.
    pub(crate) fn take_exit(&mut self, request: RequestId) -> Option<PersonExit> {
        self.exit.take_if(|exit| exit.request == request)
    }

    /// Puts a command back whose gate or question goes on.
    pub(crate) fn put_back(&mut self, exit: PersonExit) {
        self.exit = Some(exit);
    }

    /// Asks a person to confirm a move that passes gates or approvals over.
    pub(crate) fn ask(
        &mut self,
        request: RequestId,
        planned: PlannedMove,
        text: ConfirmationText,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        let ConfirmationText {
            title,
            message,
            no,
            yes,
        } = text;
        let text = QuestionText {
            title,
            message,
            options: vec![no, yes.clone()],
            ..QuestionText::default()
        };
        let question = questions.ask(Topic::Move, text, out);
        let pending = PendingConfirmation {
            request,
            planned,
            yes,
        };
        self.confirmations.insert(question, pending);
    }

    /// Takes the move that a person confirmed, or answers the command without one.
    pub(crate) fn on_answer(
        &mut self,
        question: QuestionId,
        answer: Answer<'_>,
        state: Option<&RunState>,
        out: &mut Effects,
    ) -> Option<(RequestId, PlannedMove)> {
        let pending = self.confirmations.remove(&question)?;
        let notice = if !matches!(answer, Answer::Chosen(choice) if choice == pending.yes) {
            "The workflow was not moved."
        } else if state == Some(&pending.planned.from) {
            return Some((pending.request, pending.planned));
        } else {
            "The workflow has moved in the meantime, so your answer does not count. Nothing was done."
        };
        settle(pending.request, Severity::Info, notice.to_owned(), out);
        None
    }

    /// Answers a command without a move, because its question ended.
    pub(crate) fn end_question(&mut self, question: QuestionId, notice: String, out: &mut Effects) {
        if let Some(pending) = self.confirmations.remove(&question) {
            settle(pending.request, Severity::Warning, notice, out);
        }
    }

    /// Withdraws every confirmation, because the run has changed.
    pub(crate) fn cancel_confirmations(
        &mut self,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        while let Some((question, pending)) = self.confirmations.pop_first() {
            questions.close(question, out);
            let notice =
                "The workflow has moved in the meantime. Your command was not carried out.";
            settle(pending.request, Severity::Info, notice.to_owned(), out);
        }
    }
}

/// Answers a command with a notification.
pub(crate) fn settle(request: RequestId, severity: Severity, notice: String, out: &mut Effects) {
    let mut collected = Effects::at(out.now());
    collected.notify(severity, notice);
    out.answer(request, DeferredAnswer::Command, collected);
}

impl PersonExit {
    pub(crate) fn request(&self) -> RequestId {
        self.request
    }

    /// Notes the comment of the dialog, if there is one.
    pub(crate) fn note_comment(&mut self, comment: Option<&str>) {
        if let Some(comment) = comment {
            self.comment = Some(comment.to_owned());
        }
    }

    pub(crate) fn comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Plans the move to the next phase, past what is named.
    pub(crate) fn plan(&self, run: &ActiveRun, overrode: Vec<String>) -> Option<PlannedMove> {
        let to = run.plan_leave(Mover::Person).ok()?;
        Some(PlannedMove {
            from: run.state().clone(),
            to,
            control: self.control,
            overrode,
            comment: self.comment.clone(),
        })
    }
}

impl PlannedMove {
    /// The record of the move in the session.
    pub(crate) fn record(&self) -> PersonMove {
        PersonMove {
            by: PERSON.to_owned(),
            command: self.control.short_name().to_owned(),
            step: self.to.state.global_step_count,
            overrode: self.overrode.clone(),
        }
    }

    /// Returns true if it is an answer that leads back.
    fn sends_back(&self) -> bool {
        let indexes = |state: &RunState| {
            let segments = state.current_path.segments().iter();
            segments
                .map(|segment| segment.phase_index)
                .collect::<Vec<_>>()
        };
        let to = &self.to.state;
        self.control == Control::Approve && to.active && indexes(to) <= indexes(&self.from)
    }

    /// The message to the agent; `run` has moved, `from` is the phase before.
    pub(crate) fn message_to_agent(&self, from: &str, run: &ActiveRun) -> String {
        let verb = if self.sends_back() {
            format!("The user did not approve {from}, and sent the workflow back")
        } else if self.control == Control::Approve {
            format!("The user approved {from}. The workflow moved")
        } else {
            "The user moved the workflow".to_owned()
        };
        let mut message = match run.phase() {
            Some(phase) => format!("[workflow] {verb}: {from} → {}", entered_text(phase)),
            None if run.state().cancelled => {
                "[workflow] The user cancelled the workflow: nothing is left to do in it."
                    .to_owned()
            }
            None => format!(
                "[workflow] {verb}: {from} → DONE. The workflow is complete. There is nothing left to do in it."
            ),
        };
        if let Some(comment) = &self.comment {
            message = format!("{message}\n\n{}", said(comment));
        }
        message
    }

    /// The message to the person; `run` has moved, `from` is the phase before.
    pub(crate) fn notice(&self, from: &str, run: &ActiveRun) -> String {
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
        if self.sends_back() {
            return format!("↩ {from} is not approved: sent back to {to}, by you.{over}");
        }
        format!("✓ {from} → {to}, by you.{over}")
    }
}

/// The text of a question that confirms a move.
#[derive(Debug)]
pub(crate) struct ConfirmationText {
    title: String,
    message: String,
    /// The first option, which hosts preselect.
    no: String,
    yes: String,
}

impl ConfirmationText {
    /// The question after a gate that did not pass.
    pub(crate) fn not_passed(phase: &ResolvedPhase, next: &str, reports: &[Report]) -> Self {
        let lines: Vec<String> = reports.iter().map(Report::describe).collect();
        Self {
            title: format!("Leave {} although its gate did not pass?", phase.phase.name),
            message: format!("{}\n\n{}", phase.place(), lines.join("\n")),
            no: format!("No, stay in {}", phase.phase.name),
            yes: format!("Yes, go on to {next} without the gate"),
        }
    }

    /// The question before a move that passes gates and approvals over.
    fn passes_over(phase: &ResolvedPhase, next: &str, passed: &[String]) -> Self {
        let lines: Vec<String> = passed.iter().map(|line| format!("  {line}")).collect();
        Self {
            title: format!("Leave {} without its checks?", phase.phase.name),
            message: format!("{}\n\nThis skips:\n{}", phase.place(), lines.join("\n")),
            no: format!("No, stay in {}", phase.phase.name),
            yes: format!("Yes, go on to {next} without them"),
        }
    }
}

/// A move that is planned: made at once, or after a confirmation.
#[derive(Debug)]
pub(crate) enum Plan {
    Move(PlannedMove),
    Confirm(PlannedMove, ConfirmationText),
}

/// Plans `/workflow-skip`.
pub(crate) fn plan_skip(run: &ActiveRun) -> Result<Plan, String> {
    let phase = run.phase().ok_or_else(no_definition)?;
    let to = advance(run.progress(), run.catalog()).map_err(|_| no_definition())?;
    let passed = conditions(&phase.phase);
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
        format!(
            "There is no phase \"{}\" in {}.\n\n{listed}",
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
    let to = jump(run.progress(), index, run.catalog()).map_err(|_| no_definition())?;
    let passed = if index > now {
        let between = &scope.phases[now..index];
        between
            .iter()
            .flat_map(|entry| conditions_of(entry, run.catalog()))
            .collect()
    } else {
        Vec::new()
    };
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
    let text = (!passed.is_empty()).then(|| ConfirmationText::passes_over(phase, &next, &passed));
    let planned = PlannedMove {
        from: run.state().clone(),
        to,
        control,
        overrode: passed,
        comment: None,
    };
    match text {
        Some(text) => Plan::Confirm(planned, text),
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

/// The gate and the approval of a phase, by name.
fn conditions(phase: &Phase) -> Vec<String> {
    let gates = phase
        .gate
        .iter()
        .map(|gate| format!("{}: gate `{}`", phase.name, gate.check.describe()));
    let approval = phase
        .approve
        .iter()
        .map(|approval| format!("{}: approval \"{}\"", phase.name, approval.ask));
    gates.chain(approval).collect()
}

fn conditions_of(entry: &PhaseEntry, catalog: &Catalog) -> Vec<String> {
    match entry {
        PhaseEntry::Phase(phase) => conditions(phase),
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
fn scope_of(run: &ActiveRun) -> Option<(&Workflow, usize)> {
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

/// The proposals for the argument of a command: the value and a description of each.
pub(crate) fn complete(
    control: Control,
    run: Option<&ActiveRun>,
    prefix: &str,
) -> Vec<(String, String)> {
    let Some(run) = run.filter(|run| run.phase().is_some()) else {
        return Vec::new();
    };
    let all: Vec<(String, String)> = match control {
        Control::Goto => scope_of(run).map_or_else(Vec::new, |(scope, now)| {
            let others = scope.phases.iter().enumerate();
            let others = others.filter(|(index, _)| *index != now);
            let named = |(_, entry): (usize, &PhaseEntry)| {
                let name = entry_name(entry, run.catalog());
                (entry.id().to_owned(), name.to_owned())
            };
            others.map(named).collect()
        }),
        Control::Approve => run.approval().map_or_else(Vec::new, |approval| {
            let described =
                |(index, choice): (usize, &String)| (choice.clone(), meaning_of(approval, index));
            approval.choices.iter().enumerate().map(described).collect()
        }),
        Control::Next => run.phase().map_or_else(Vec::new, |phase| {
            let outcomes = phase.phase.outcomes.iter();
            let described = outcomes.map(|outcome| (outcome.name.clone(), leads_to(&outcome.to)));
            described.collect()
        }),
        Control::Status | Control::Pause | Control::Resume | Control::Skip => Vec::new(),
    };
    all.into_iter()
        .filter(|(value, _)| value.starts_with(prefix))
        .collect()
}

/// Notes the outcome that a person names; the refusal is shown to the person.
pub(crate) fn choose_outcome(run: &mut ActiveRun, name: &str) -> Result<(), String> {
    let Some(phase) = run.phase().map(|phase| &phase.phase) else {
        return Ok(());
    };
    let found = phase.outcomes.iter().find(|outcome| outcome.name == name);
    let outcome = match found {
        Some(outcome) => outcome.clone(),
        None if phase.outcomes.is_empty() && name.is_empty() => return Ok(()),
        None if phase.outcomes.is_empty() => return Err(takes_no_argument(Control::Next, name)),
        None => return Err(name_an_outcome(phase, name)),
    };
    run.leave.choose(outcome);
    Ok(())
}

/// The answer to `/workflow-next` in a phase with outcomes, where none or an unknown one is named.
fn name_an_outcome(phase: &Phase, argument: &str) -> String {
    let lines = phase.outcomes.iter();
    let lines: Vec<String> = lines
        .map(|outcome| format!("  {} — {}", outcome.name, leads_to(&outcome.to)))
        .collect();
    let unknown = match argument {
        "" => String::new(),
        argument => format!(
            "\"{}\" is not an outcome of {}. ",
            visible(argument),
            phase.name
        ),
    };
    format!(
        "{unknown}Say how {} ended: /workflow-next {{outcome}}\n{}",
        phase.name,
        lines.join("\n")
    )
}

/// The answer of a person by `/workflow-approve`.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    pub(crate) choice: &'a str,
    /// The place that it leads to; `None` stays in the phase.
    pub(crate) target: Option<Target>,
    pub(crate) comment: Option<String>,
}

/// Reads the arguments of `/workflow-approve`; the error is shown to the person.
pub(crate) fn read_reply<'a>(approval: &'a Approval, arguments: &str) -> Result<Reply<'a>, String> {
    let usage = || {
        let listed = approval
            .choices
            .iter()
            .enumerate()
            .map(|(index, choice)| format!("  {choice} — {}", meaning_of(approval, index)));
        let listed: Vec<String> = listed.collect();
        let show = approval.show.as_deref();
        let show = show.map_or_else(String::new, |file| format!("\nLook at: {file}"));
        format!(
            "{}{show}\n\nAnswer with /workflow-approve {{choice}} {{comment}}:\n{}",
            approval.ask,
            listed.join("\n")
        )
    };
    if arguments.is_empty() {
        return Err(usage());
    }
    let rest_after = |choice: &str| {
        let head = arguments.get(..choice.len())?;
        let rest = &arguments[choice.len()..];
        let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
        (head.eq_ignore_ascii_case(choice) && ends).then_some(rest)
    };
    let fitting = approval.choices.iter().enumerate();
    let fitting = fitting.filter_map(|(index, choice)| Some((index, choice, rest_after(choice)?)));
    let Some((index, choice, rest)) = fitting.max_by_key(|(_, choice, _)| choice.len()) else {
        return Err(format!(
            "\"{}\" does not start with one of the choices.\n\n{}",
            visible(arguments),
            usage()
        ));
    };
    let comment = white_space::trim(rest);
    Ok(Reply {
        choice,
        target: approval.target(index),
        comment: (!comment.is_empty()).then(|| comment.to_owned()),
    })
}

/// The answer without a run.
pub(crate) fn no_run(control: Control) -> String {
    let what = match control {
        Control::Status => "No workflow is active.",
        Control::Pause => "No workflow is active, so there is nothing to pause.",
        Control::Resume => "No workflow is active, so there is nothing to resume.",
        Control::Next | Control::Skip | Control::Goto => {
            "No workflow is active, so there is no phase to leave."
        }
        Control::Approve => "No workflow is active, so nothing waits for approval.",
    };
    format!("{what} Use /workflow {{name}} {{description}} to start one.")
}

/// The answer to a command with an argument that it does not take.
pub(crate) fn takes_no_argument(control: Control, argument: &str) -> String {
    let name = control.command();
    format!(
        "/{name} takes no argument, so \"{}\" was not understood. Nothing was done.",
        visible(argument)
    )
}

/// The answer to `/workflow-resume` with an argument that allows nothing.
pub(crate) fn no_allowance(argument: &str, used_up: Option<String>) -> String {
    match used_up {
        Some(used_up) => format!(
            "\"{}\" allows nothing: the budget that is used up is {used_up}. Write for example /workflow-resume +20 turns.",
            visible(argument)
        ),
        None => format!(
            "No budget is used up, so there is nothing to allow: \"{}\" was not understood, and nothing was done.",
            visible(argument)
        ),
    }
}

/// The answer without a definition.
pub(crate) fn no_definition() -> String {
    "The definition of this workflow is missing, so the run cannot be moved. /cancel-workflow ends it."
        .to_owned()
}

/// The answer to a command that would leave a phase while its exit is in progress.
pub(crate) fn exit_refusal(activity: ExitActivity) -> &'static str {
    match activity {
        ExitActivity::AwaitingTrust => {
            "A dialog is open: do you trust the commands of this phase's gate? Answer it first."
        }
        ExitActivity::RunningGate => "The gate of this phase is running. Wait for its result.",
        ExitActivity::AwaitingApproval => {
            "This phase waits for your approval. Answer with /workflow-approve."
        }
    }
}

/// The addition to the status line: why the run does not go on.
pub(crate) fn status_note(run: &ActiveRun, exit: Option<ExitActivity>) -> Option<String> {
    let approval = || {
        if let Some(choice) = &run.answered {
            let choice = text::shortened(choice, MAX_ASK_IN_STATUS);
            return format!("✓ answered: {choice} · tell the agent to go on");
        }
        let ask = run.approval().map_or("", |approval| &approval.ask);
        let ask = text::shortened(ask, MAX_ASK_IN_STATUS);
        format!("⏸ waiting for approval: {ask}")
    };
    Some(match (exit, run.counters.paused) {
        (Some(ExitActivity::RunningGate), _) => "⏳ gate running".to_owned(),
        (Some(ExitActivity::AwaitingTrust), _) => {
            "⏸ waiting for your trust in the gate's commands".to_owned()
        }
        (Some(ExitActivity::AwaitingApproval), _) | (None, Some(PauseReason::Approval)) => {
            approval()
        }
        (None, _) if run.counters.paused_by_owner => "⏸ paused by you".to_owned(),
        (None, Some(PauseReason::Max | PauseReason::MaxStale)) => {
            "⏸ paused: reminder limit reached".to_owned()
        }
        (None, Some(PauseReason::Error)) => "⏸ paused: model error".to_owned(),
        (None, Some(PauseReason::Question)) => "⏸ paused: the agent asks you".to_owned(),
        (None, Some(PauseReason::Visits)) => "⏸ paused: limit of visits".to_owned(),
        (None, Some(PauseReason::Budget)) => "⏸ paused: budget used up".to_owned(),
        (None, None) => return None,
    })
}

/// The answer to `/workflow-status`.
pub(crate) fn status_text(run: &ActiveRun, exit: Option<ExitActivity>) -> String {
    let state = run.state();
    let Some(phase) = run.phase() else {
        return no_definition();
    };
    let mut lines = vec![
        format!("{}: {}", phase.workflow_name, state.task_description),
        format!("Phase: {}", phase.status),
    ];
    if let Some(note) = status_note(run, exit) {
        lines.push(format!("Now: {note}"));
    } else if phase.auto_continue.wait {
        lines.push("Now: waiting for you".to_owned());
    }
    if let Some(tools) = &phase.allowed {
        lines.push(format!("Tools: {tools}"));
    }
    let needed = needed_to_leave(&phase.phase);
    let needed =
        needed.unwrap_or_else(|| "the agent calls workflow_step with action='next'".to_owned());
    lines.push(format!("To leave: {needed}"));
    let approval = phase.phase.approve.iter();
    lines.extend(approval.map(|approval| {
        let choices = approval.choices.join(", ");
        format!("Approval: {} ({choices})", approval.ask)
    }));
    let reminders = match (run.counters.reminders, phase.auto_continue.max) {
        (0, _) => None,
        (count, Bound::Times(max)) => Some(format!("Reminders: {count} of {max}")),
        (count, Bound::Unlimited) => Some(format!("Reminders: {count}")),
    };
    lines.extend(reminders);
    if let Some(visit) = run.visit_note() {
        lines.push(visit);
    }
    if !phase.phase.outcomes.is_empty() {
        lines.push(format!("Outcomes: {}", phase.outcomes));
    }
    if !run.budgets.is_empty() {
        lines.push(format!("Budget: {}", run.budgets.describe()));
    }
    lines.push(format!("Steps: {}", state.global_step_count));
    lines.push(format!("Started: {}", text::moment(state.started_at)));
    lines.join("\n")
}
