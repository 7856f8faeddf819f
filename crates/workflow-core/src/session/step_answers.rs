//! The answers of `workflow_step`.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::json;

use super::handover::{UserAnswer, asked_and_chose};
use super::phase::ResolvedPhase;
use super::phase_texts::PROFILES;
use super::run::{ActiveRun, Move, NONE_APPLIES, leads_back};
use crate::diagnostic::visible;
use crate::effect::{AnswerKind, Question, ToolAnswer};
use crate::policy::gate_report::{self, Report};
use crate::run::{RunData, RunState, TransitionError, VisitLimit};
use crate::text;

pub(crate) const NO_WORKFLOW: &str =
    "No active workflow. Use /workflow {name} {description} to start one.";

/// The answer to a move that was not made.
pub(crate) fn not_advanced(text: impl Into<String>) -> ToolAnswer {
    ToolAnswer::error(text, json!({ "active": true, "advanced": false }))
}

/// The answer to a call of `next` that was cancelled.
pub(crate) fn not_left(why: &str) -> ToolAnswer {
    let text = format!("Leaving the phase was cancelled: {why}.");
    ToolAnswer::error(text, json!({ "advanced": false }))
}

/// The same for a run that waits for something.
pub(crate) fn waiting(for_what: &str, text: impl Into<String>) -> ToolAnswer {
    with_detail(not_advanced(text), "waiting", &for_what)
}

fn with_detail(mut answer: ToolAnswer, name: &str, value: &impl Serialize) -> ToolAnswer {
    answer.details[name] = json!(value);
    answer
}

/// Answers `status`.
pub(crate) fn status(run: Option<&ActiveRun>) -> ToolAnswer {
    let Some(run) = run.filter(|run| run.is_active()) else {
        return none_active(NO_WORKFLOW);
    };
    let (state, Some(phase)) = (run.state(), run.phase()) else {
        return stale();
    };
    let (key, path) = (&state.workflow_key, &state.current_path);
    ToolAnswer::plain(
        status_text(run, state, phase),
        json!({ "active": true, "workflowKey": key, "currentPath": path }),
    )
}

/// The answer to a move when a budget is used up.
pub(crate) fn budget_used_up(used_up: &str) -> ToolAnswer {
    let text = format!(
        "⏸ The budget of the workflow is used up ({used_up}), and the workflow is paused. Stop here, say what is done and what is \
         left, and wait for the user."
    );
    waiting("budget", text)
}

/// The answer to a move into a phase that may not be entered again; the run is paused.
pub(crate) fn visits_used_up(limit: &VisitLimit, run: Option<&ActiveRun>) -> ToolAnswer {
    let here = run.map_or("", ActiveRun::phase_name);
    let text = format!(
        "⏸ {limit}: you are still in {here}, and the workflow is paused. Stop here and wait for the user, who can allow one more \
         visit with /workflow-resume, or go elsewhere with /workflow-goto."
    );
    waiting("visits", text)
}

/// The answer to a move while the run is paused, because a check has failed too often.
pub(crate) fn tries_used_up(run: &ActiveRun) -> ToolAnswer {
    let text = format!(
        "⏸ The gate of {} has failed as often as it may, and the workflow is paused. Stop here, say what is wrong, and wait for the user, \
         who can allow one more try with /workflow-resume.",
        run.phase_name()
    );
    waiting("tries", text)
}

/// The answer to a move that cancelled the run, because an answer of a person or a limit of visits says so.
fn cancelled_by_move(run: &ActiveRun) -> Option<ToolAnswer> {
    let state = run.state();
    let is_cancelled = state.cancelled && !state.active;
    let reason = reason(&run.progress().data);
    let task = &state.task_description;
    is_cancelled.then(|| cancelled(format!("The workflow is cancelled: \"{task}\"{reason}")))
}

pub(crate) fn cancelled(text: String) -> ToolAnswer {
    let details = json!({ "active": false, "cancelled": true });
    ToolAnswer::of_kind(AnswerKind::Cancel, text, details)
}

/// The limits that led a move elsewhere or ended the run, as the end of a text.
fn reason(data: &RunData) -> String {
    let note = data.limits_note();
    note.map_or_else(String::new, |note| format!("\nReason: {note}"))
}

/// The sentence about the end of a run.
fn completed(run: &ActiveRun) -> String {
    let (entered, all) = run.progress().completed(run.catalog());
    if entered == all {
        return "🎉 **All phases complete!**".to_owned();
    }
    format!("The workflow is complete: {entered} of its {all} phases were entered.")
}

/// Answers `next` after the run has moved; `run` is the run as it is now.
pub(crate) fn advanced(moved: &Move, run: Option<&ActiveRun>) -> ToolAnswer {
    let Some(run) = run else {
        return unresolved("advance");
    };
    let from = &moved.left;
    let mut answer = if !run.is_active() {
        let cancelled = cancelled_by_move(run).filter(|_| !moved.from.cancelled);
        let text = format!("✓ Advanced: {from} → DONE\n\n{}", completed(run));
        cancelled.unwrap_or_else(|| done(from, text))
    } else if let Some(phase) = run.phase() {
        let depth = moved.from.current_path.depth();
        let scope = phase.breadcrumb.last().map_or("", |crumb| &crumb.name);
        let verb = match run.state().current_path.depth().cmp(&depth) {
            Ordering::Greater => format!("Entered subworkflow '{scope}'"),
            Ordering::Less => format!(
                "Exited subworkflow, returning to {}",
                phase.breadcrumb_names()
            ),
            Ordering::Equal => "Advanced".to_owned(),
        };
        ToolAnswer::plain(
            format!("✓ {verb}: {from} → {}", entered_text(phase)),
            json!({ "advanced": true, "from": from, "to": phase.phase.name }),
        )
    } else {
        return unresolved("advance");
    };
    if let Some(given) = &moved.answer {
        answer.text = answer_text(given, moved, run);
        answer.details["approval"] = json!(given.choice);
        if let Some(comment) = &given.comment {
            answer.details["comment"] = json!(comment);
        }
    }
    if run.state().cancelled {
        return answer;
    }
    let data = &run.progress().data;
    if let Some(outcome) = &data.outcome {
        answer.details["outcome"] = json!(outcome);
    }
    if !data.skipped.is_empty() {
        answer.details["skipped"] = json!(data.skipped);
    }
    let notes = move_notes(run);
    if !notes.is_empty() {
        add_to_move(&mut answer, &format!("\n{}", notes.join(" ")));
    }
    answer
}

/// What the run did after the answer of a person, for the agent; `run` has moved.
pub(crate) fn answer_text(answer: &UserAnswer, moved: &Move, run: &ActiveRun) -> String {
    let Move { left, from, .. } = moved;
    let asked = asked_and_chose(&answer.ask, &answer.choice);
    let mut text = match run.phase() {
        Some(phase) => {
            let went_back = leads_back(from, run.state());
            let is_said = answer.sends_back(went_back) || answer.target.is_onward();
            let did = if went_back && is_said {
                "went back"
            } else {
                "moved"
            };
            let (verdict, entered) = (answer.verdict(went_back), entered_text(phase));
            format!("{verdict}: {asked}. The workflow {did}: {left} → {entered}")
        }
        None if run.state().cancelled => format!(
            "❌ Cancelled: {asked}. The workflow ended in {left}, and nothing is left to do in it.{}",
            reason(&run.progress().data)
        ),
        None => format!(
            "✓ Approved: {asked}. The workflow is complete, and nothing is left to do in it."
        ),
    };
    if let Some(comment) = &answer.comment {
        text = format!("{text}\n\n{}", user_comment(comment));
    }
    text
}

/// Notes on a move: the outcome, phases that were skipped, the number of the visit.
pub(crate) fn move_notes(run: &ActiveRun) -> Vec<String> {
    let data = &run.progress().data;
    let mut notes = Vec::new();
    if let Some(outcome) = &data.outcome {
        notes.push(format!("Outcome: {outcome}."));
    }
    let item = run.phase().and_then(|phase| phase.item.as_ref());
    notes.extend(item.map(|item| format!("{item}.")));
    notes.extend(data.limits_note());
    notes.extend(data.skipped_note());
    notes.extend(run.visit_note());
    let used = run.budgets.describe();
    notes.extend(used.map(|used| format!("Used: {used}.")));
    notes
}

/// Adds a text to an answer, after the line with the move.
fn add_to_move(answer: &mut ToolAnswer, text: &str) {
    let line_end = answer.text.find('\n').unwrap_or(answer.text.len());
    answer.text.insert_str(line_end, text);
}

/// The answer to a `next` whose gate did not pass, and that leads nowhere.
pub(crate) fn not_passed(phase: &str, reports: &[Report], what_to_do: &str) -> ToolAnswer {
    let place = format!("You are still in {phase}.");
    let text = gate_report::not_passed(&place, reports, what_to_do);
    with_detail(not_advanced(text), "gate", &reports)
}

/// The answer to a `next` in this phase whose gate failed and led elsewhere; `run` is the run as it is now.
pub(crate) fn sent_back(from: &str, reports: &[Report], run: &ActiveRun) -> ToolAnswer {
    let answer = match (run.phase(), cancelled_by_move(run)) {
        (Some(phase), _) => {
            let data = &run.progress().data;
            let visits = data.visits(&run.state().current_path, &phase.phase.id);
            let back = if visits > 1 { "back" } else { "now" };
            let place = format!("You are {back} in {}.", phase.label());
            let notes = move_notes(run).join(" ");
            let what_to_do = format!("{notes}{}", what_to_do(phase));
            ToolAnswer::plain(
                gate_report::not_passed(&place, reports, what_to_do.trim_start()),
                json!({ "advanced": true, "from": from, "to": phase.phase.name }),
            )
        }
        (None, Some(ended)) => ToolAnswer {
            text: gate_report::not_passed("The workflow is over.", reports, &ended.text),
            ..ended
        },
        (None, None) => {
            let notes = move_notes(run).join(" ");
            let place = "The workflow is complete.";
            done(from, gate_report::not_passed(place, reports, &notes))
        }
    };
    with_detail(answer, "gate", &reports)
}

/// The answer to a move that completed the run.
fn done(from: &str, text: String) -> ToolAnswer {
    let details = json!({ "advanced": true, "from": from, "to": "DONE" });
    ToolAnswer::of_kind(AnswerKind::Complete, text, details)
}

/// Adds the reports of the gate that passed to the answer, after the line with the move.
pub(crate) fn with_reports(mut answer: ToolAnswer, reports: &[Report]) -> ToolAnswer {
    if !reports.is_empty() {
        let listed = gate_report::listed(reports);
        add_to_move(&mut answer, &format!("\n\n{listed}"));
        answer.details["gate"] = json!(reports);
    }
    answer
}

/// The comment of a person, for the agent.
pub(crate) fn user_comment(comment: &str) -> String {
    format!("The user says: {comment}")
}

/// Adds the comment of the person who approved or declined.
pub(crate) fn with_comment(mut answer: ToolAnswer, comment: Option<&str>) -> ToolAnswer {
    if let Some(comment) = comment {
        answer.text = format!("{}\n\n{}", answer.text, user_comment(comment));
        answer.details["comment"] = json!(comment);
    }
    answer
}

/// The answer to `next` in a phase that a person moved the run to, and that the agent has not read.
pub(crate) fn moved_by_user(resolved: &ResolvedPhase) -> ToolAnswer {
    not_advanced(format!(
        "Not advanced: the user has moved the workflow to {}\n\nDo what this phase asks, then call workflow_step with \
         action='next'.",
        entered_text(resolved)
    ))
}

/// The answer to a `next` that leads nowhere.
pub(crate) fn not_moved_on(error: &TransitionError, run: &ActiveRun) -> ToolAnswer {
    let name = run.phase_name();
    match error {
        TransitionError::NoneApplies => not_advanced(format!(
            "Not moved: {NONE_APPLIES}. You are still in {name}. Tell the user, who can move the workflow with /workflow-goto."
        )),
        TransitionError::Given(why) => {
            let is_dropped = !run.progress().data.handed_over.outputs.is_empty();
            let again = if is_dropped {
                " The outputs of this phase were dropped: hand over all of them again."
            } else {
                ""
            };
            not_advanced(format!(
                "Not moved: {why} You are still in {name}. Call workflow_step with action='next' again, with other values.{again}"
            ))
        }
        TransitionError::NoItem(_) => {
            let text = format!(
                "⏸ Not moved: {error} The workflow is paused in {name}. Stop here and wait for the user, who can move it with /workflow-goto."
            );
            waiting("item", text)
        }
        TransitionError::DefinitionMismatch(_)
        | TransitionError::NotLoopable
        | TransitionError::Limit(_) => no_definition(&run.state().workflow_key),
    }
}

/// The answer to a `loop` that leads nowhere.
pub(crate) fn not_repeated(error: &TransitionError) -> ToolAnswer {
    let (text, why) = match error {
        TransitionError::DefinitionMismatch(_) => return stale(),
        TransitionError::NoneApplies => {
            let text = "⚠️ There is nothing to repeat: the conditions of the phases up to this one are not met now. You are still in this \
                        phase. Call workflow_step with action='next' when it is done.";
            (text.to_owned(), "no phase applies".to_owned())
        }
        TransitionError::NotLoopable
        | TransitionError::Given(_)
        | TransitionError::NoItem(_)
        | TransitionError::Limit(_) => {
            let text = format!(
                "⚠️ {error} You are still in this phase. Continue with it, and call workflow_step with action='next' when \
                 it is done."
            );
            (text, error.to_string())
        }
    };
    ToolAnswer::error(text, json!({ "active": true, "error": why }))
}

/// Answers `loop` after the run has moved; `run` is the run as it is now.
pub(crate) fn repeated(moved: &Move, run: Option<&ActiveRun>) -> ToolAnswer {
    let cancelled = run.and_then(cancelled_by_move);
    if let Some(answer) = cancelled.filter(|_| !moved.from.cancelled) {
        return answer;
    }
    let Some(phase) = run.and_then(ActiveRun::phase) else {
        return unresolved("loop");
    };
    let scope = &moved.left;
    ToolAnswer::plain(
        format!("🔄 Looped '{scope}' back to: {}", entered_text(phase)),
        json!({ "looped": true, "to": phase.phase.name }),
    )
}

/// The answer to the first `cancel`.
pub(crate) fn confirm_cancellation(task: &str) -> ToolAnswer {
    let text = format!(
        "⚠️ **Confirm cancellation** of workflow \"{task}\"?\nCall workflow_step with action='cancel' again \
         to confirm. This cannot be undone."
    );
    let details = json!({ "active": true, "cancelPending": true });
    ToolAnswer::of_kind(AnswerKind::Cancel, text, details)
}

/// The question to the person when the agent, or a limit that is reached for this reason, asks for the end of a run that only a
/// person may cancel.
pub(crate) fn cancellation_question(run: &ActiveRun, why: Option<&str>) -> Question {
    let location = run.phase().map(ResolvedPhase::location).unwrap_or_default();
    let who = why.map(|why| format!("{why}: this limit asks"));
    let who = who.unwrap_or_else(|| "The agent asks".to_owned());
    let message = format!(
        "{who} to cancel \"{}\".\n{location}\n\nYes ends the workflow, and its rules no longer apply. No continues it.",
        visible(&run.state().task_description)
    );
    Question::new("Cancel the workflow?", message)
}

/// The answer to `cancel` where only a person may cancel.
pub(crate) fn ask_to_cancel(is_asked: bool) -> ToolAnswer {
    let how = if is_asked {
        "The user has been asked. Stop here and wait."
    } else {
        "Tell the user why you want to stop; the user can cancel it with /cancel-workflow."
    };
    ToolAnswer::error(
        format!("Only the user may cancel this workflow. {how}"),
        json!({ "active": true, "waiting": "cancel" }),
    )
}

fn status_text(run: &ActiveRun, state: &RunState, resolved: &ResolvedPhase) -> String {
    let (current, total) = resolved.progress;
    let phase = &resolved.phase;
    let (name, key) = (&resolved.workflow_name, &state.workflow_key);
    let mut lines = vec![
        format!("**Workflow:** {name} ({key})"),
        format!("**Task ID:** {}", state.task_id),
        format!("**Description:** {}", state.task_description),
    ];
    let mut line = format!("**Phase:** {} [{current}/{total}]", phase.label());
    if state.current_path.depth() > 1 {
        lines.push(format!("**Path:** {}", resolved.breadcrumb_names()));
        line = format!("{line} (step {})", state.global_step_count);
    }
    let item = resolved.item.as_ref();
    lines.extend(item.map(|item| format!("**Item:** {item}")));
    lines.push(line);
    lines.push(format!("**Started:** {}", text::moment(state.started_at)));
    lines.extend(resolved.context.rules());
    lines.extend(run.visit_note());
    let used = run.budgets.describe();
    lines.extend(used.map(|used| format!("**Used:** {used}")));
    let profiles = text::list(phase.available_profiles.as_deref().unwrap_or_default());
    lines.push(format!(
        "\n**What to do:**\n{}\n\n**Available profiles:** {profiles}",
        phase.instructions
    ));
    lines.join("\n")
}

/// The phase that was entered, its rules and its instructions.
pub(crate) fn entered_text(resolved: &ResolvedPhase) -> String {
    format!("{}{}", resolved.label(), what_to_do(resolved))
}

fn what_to_do(resolved: &ResolvedPhase) -> String {
    let ResolvedPhase { phase, context, .. } = resolved;
    let profiles = resolved.profiles();
    let profiles = profiles.map(|names| format!("{PROFILES}{}", text::list(names)));
    let rules = text::join(context.rules().into_iter().chain(profiles), "\n");
    let blank = if rules.is_empty() { "" } else { "\n\n" };
    let (name, instructions) = (&phase.name, &phase.instructions);
    format!("{blank}{rules}\n\n**What to do in {name}:**\n{instructions}")
}

pub(crate) fn none_active(text: &str) -> ToolAnswer {
    ToolAnswer::plain(text, json!({ "active": false }))
}

/// The answer without a definition (B06, B54: the details are those of the npm package).
fn stale() -> ToolAnswer {
    ToolAnswer::error(
        "The workflow configuration for this session is no longer available. Use workflow_step with \
               action='cancel' to clear it, or reload the workflow definitions.",
        json!({ "active": false, "stale": true }),
    )
}

/// The answer to `next` without the definition of the run.
fn no_definition(key: &str) -> ToolAnswer {
    let text = format!("Workflow definition '{key}' not found.");
    ToolAnswer::error(text, json!({ "active": true, "stale": true }))
}

fn unresolved(after: &str) -> ToolAnswer {
    let text = format!("Error: could not resolve active workflow after {after}.");
    ToolAnswer::error(text, json!({}))
}

/// The answer to a second move in one response, which would skip a phase unread.
pub(crate) fn read_first(resolved: &ResolvedPhase) -> ToolAnswer {
    not_advanced(format!(
        "Not advanced: this response has already moved the workflow to {}. Do what this phase asks first, then call \
         workflow_step with action='next' in a later response.",
        resolved.label()
    ))
}

pub(crate) fn unknown_action(action: Option<&str>) -> ToolAnswer {
    let problem = action.map_or("workflow_step needs an action.".to_owned(), |action| {
        format!("workflow_step has no action \"{action}\".")
    });
    let text = format!("{problem} Use \"next\", \"status\", \"cancel\" or \"loop\".");
    ToolAnswer::error(text, json!({}))
}
