//! The tool `workflow_step`: status, next, loop, cancel.

use serde_json::{Value, json};

use crate::Session;
use crate::effect::{AnswerKind, Effects, Reply, ToolAnswer};
use crate::policy::gate::{Report, passed};
use crate::run::{TransitionError, advance, cancel, repeat};
use crate::session::Run;
use crate::standing::Standing;
use crate::text;
use crate::types::{Millis, RequestId};

const NO_WORKFLOW: &str = "No active workflow. Use /workflow {name} {description} to start one.";

impl Session {
    pub(crate) fn step_tool(
        &mut self,
        now: Millis,
        request: RequestId,
        action: Option<&str>,
        out: &mut Effects,
    ) {
        self.agent_is_running(out);
        self.tool_was_used();
        if action != Some("cancel") {
            self.forget_cancel();
        }
        let answer = match action {
            Some("status") => self.step_status(),
            Some("next") => {
                out.reply = self.step_next(now, request, out);
                return;
            }
            Some("loop") => self.step_loop(out),
            Some("cancel") => self.step_cancel(out),
            other => unknown_action(other),
        };
        out.reply = Reply::Tool(answer);
    }

    fn active_run(&self) -> Option<&Run> {
        self.run.as_ref().filter(|run| run.state.active)
    }

    fn step_status(&self) -> ToolAnswer {
        let Some(run) = self.active_run() else {
            return none_active(NO_WORKFLOW);
        };
        let Ok(standing) = &run.standing else {
            return stale();
        };
        let state = &run.state;
        plain(
            status_text(run, standing),
            json!({
                "active": true,
                "workflowKey": state.workflow_key,
                "currentPath": state.current_path,
            }),
        )
    }

    /// The host does not want the answer to a call any more: what it waits for is called off.
    pub(crate) fn step_cancelled(&mut self, request: RequestId, out: &mut Effects) {
        if self.is_leaving(request) {
            self.stop_leaving("the call was cancelled", out);
        }
    }

    fn step_next(&mut self, now: Millis, request: RequestId, out: &mut Effects) -> Reply {
        if let Some((_, standing)) = self.standing() {
            if self.turn_moved == Some(true) {
                return Reply::Tool(read_first(standing));
            }
            if let Some(reply) = self.leave(now, request, out) {
                return reply;
            }
        }
        Reply::Tool(self.advance_now(&[], out))
    }

    /// Leaves the phase, whose gate came to this.
    pub(crate) fn advance_now(&mut self, reports: &[Report], out: &mut Effects) -> ToolAnswer {
        let mut answer = self.advanced(out);
        if !reports.is_empty() {
            answer.text = format!("{}\n\n{}", passed(reports), answer.text);
            answer.details["gate"] = json!(reports);
        }
        answer
    }

    fn advanced(&mut self, out: &mut Effects) -> ToolAnswer {
        let Some(run) = self.active_run() else {
            return none_active(NO_WORKFLOW);
        };
        let gone = || ToolAnswer {
            text: format!(
                "Workflow definition '{}' not found.",
                run.state.workflow_key
            ),
            details: json!({ "active": true, "stale": true }),
            kind: Some(AnswerKind::Error),
        };
        let Ok(standing) = &run.standing else {
            return gone();
        };
        let from = standing.phase.name.clone();
        let depth = run.state.current_path.depth();
        let Ok(state) = advance(&run.state, &run.catalog) else {
            return gone();
        };
        let active = state.active;
        self.move_to(state, out);
        self.tell_instructions();
        if !active {
            return ToolAnswer {
                text: format!("✓ Advanced: {from} → DONE\n\n🎉 **All phases complete!**"),
                details: json!({ "advanced": true, "from": from, "to": "DONE" }),
                kind: Some(AnswerKind::Complete),
            };
        }
        let Some((run, standing)) = self.standing() else {
            return unresolved("advance");
        };
        let verb = match run.state.current_path.depth().cmp(&depth) {
            std::cmp::Ordering::Greater => {
                format!("Entered subworkflow '{}'", standing.scope_name())
            }
            std::cmp::Ordering::Less => format!(
                "Exited subworkflow, returning to {}",
                standing.breadcrumb_names()
            ),
            std::cmp::Ordering::Equal => "Advanced".to_owned(),
        };
        let to = &standing.phase.name;
        plain(
            format!("✓ {verb}: {from} → {}", entered_text(standing)),
            json!({ "advanced": true, "from": from, "to": to }),
        )
    }

    fn step_loop(&mut self, out: &mut Effects) -> ToolAnswer {
        let Some(run) = self.active_run() else {
            return none_active("No active workflow to loop.");
        };
        let restarted = &run.state.current_path.innermost().workflow_key;
        let scope = run.catalog.get(restarted);
        let scope = scope.map_or_else(String::new, |workflow| workflow.name.clone());
        let state = match repeat(&run.state, &run.catalog) {
            Ok(state) => state,
            Err(TransitionError::Stale(_)) => return stale(),
            Err(refusal @ TransitionError::NotLoopable) => {
                return ToolAnswer {
                    text: format!("⚠️ {refusal}"),
                    details: json!({ "active": true, "error": refusal.to_string() }),
                    kind: Some(AnswerKind::Error),
                };
            }
        };
        self.move_to(state, out);
        self.tell_instructions();
        let Some((_, standing)) = self.standing() else {
            return unresolved("loop");
        };
        plain(
            format!("🔄 Looped '{}' back to: {}", scope, entered_text(standing)),
            json!({ "looped": true, "to": standing.phase.name }),
        )
    }

    /// state-management: "Two-Step Cancellation".
    fn step_cancel(&mut self, out: &mut Effects) -> ToolAnswer {
        let Some(run) = self.run.as_mut().filter(|run| run.state.active) else {
            return none_active("No active workflow to cancel.");
        };
        let task = run.state.task_description.clone();
        if !run.cancel_pending {
            run.cancel_pending = true;
            return ToolAnswer {
                text: format!(
                    "⚠️ **Confirm cancellation** of workflow \"{task}\"?\nCall workflow_step with action='cancel' again \
                     to confirm. This cannot be undone."
                ),
                details: json!({ "active": true, "cancelPending": true }),
                kind: Some(AnswerKind::Cancel),
            };
        }
        let state = cancel(&run.state);
        self.enter(state, out);
        ToolAnswer {
            text: format!("Workflow cancelled: \"{task}\""),
            details: json!({ "active": false, "cancelled": true }),
            kind: Some(AnswerKind::Cancel),
        }
    }

    fn move_to(&mut self, state: crate::run::RunState, out: &mut Effects) {
        self.turn_moved = self.turn_moved.map(|_| true);
        self.enter(state, out);
    }

    /// What to do in the phase stands in the answer ([`entered_text`]).
    fn tell_instructions(&mut self) {
        let mut told = std::mem::take(&mut self.told);
        if let Some((_, standing)) = self.standing() {
            told.hear_instructions(&standing.context);
        }
        self.told = told;
    }
}

fn status_text(run: &Run, standing: &Standing) -> String {
    let state = &run.state;
    let (current, total) = standing.progress;
    let phase = &standing.phase;
    let mut lines = vec![
        format!(
            "**Workflow:** {} ({})",
            standing.workflow_name, state.workflow_key
        ),
        format!("**Task ID:** {}", state.task_id),
        format!("**Description:** {}", state.task_description),
    ];
    let mut place = format!(
        "**Phase:** {} {} [{current}/{total}]",
        phase.emoji, phase.name
    );
    if state.current_path.depth() > 1 {
        lines.push(format!("**Path:** {}", standing.breadcrumb_names()));
        place = format!("{place} (step {})", state.global_step_count);
    }
    lines.extend([
        place,
        format!("**Started:** {}", text::moment(state.started_at)),
        String::new(),
        "**What to do:**".to_owned(),
        phase.instructions.clone(),
        String::new(),
        format!(
            "**Available profiles:** {}",
            text::list(phase.available_profiles.as_deref().unwrap_or_default())
        ),
    ]);
    lines.join("\n")
}

/// Names the phase that was entered, and what to do in it.
fn entered_text(standing: &Standing) -> String {
    let phase = &standing.phase;
    format!(
        "{} {}\n\n**What to do in {}:**\n{}",
        phase.emoji, phase.name, phase.name, phase.instructions
    )
}

fn plain(text: String, details: Value) -> ToolAnswer {
    ToolAnswer {
        text,
        details,
        kind: None,
    }
}

fn none_active(text: &str) -> ToolAnswer {
    plain(text.to_owned(), json!({ "active": false }))
}

/// The definition is gone (B06, B54: the details are the package's).
fn stale() -> ToolAnswer {
    ToolAnswer {
        text: "The workflow configuration for this session is no longer available. Use workflow_step with \
               action='cancel' to clear it, or reload the workflow definitions."
            .to_owned(),
        details: json!({ "active": false, "stale": true }),
        kind: Some(AnswerKind::Error),
    }
}

fn unresolved(after: &str) -> ToolAnswer {
    ToolAnswer {
        text: format!("Error: could not resolve active workflow after {after}."),
        details: json!({}),
        kind: Some(AnswerKind::Error),
    }
}

/// One response moves the run once: a phase that nobody read would be skipped.
fn read_first(standing: &Standing) -> ToolAnswer {
    let phase = &standing.phase;
    ToolAnswer {
        text: format!(
            "This response has already moved the workflow to {} {}. Read the new phase first: do what it asks, then \
             call workflow_step with action='next' in a later response.",
            phase.emoji, phase.name
        ),
        details: json!({ "active": true, "advanced": false }),
        kind: Some(AnswerKind::Error),
    }
}

fn unknown_action(action: Option<&str>) -> ToolAnswer {
    let named = action.map_or("no action".to_owned(), |action| {
        format!("the unknown action \"{action}\"")
    });
    ToolAnswer {
        text: format!(
            "workflow_step was called with {named}. Use \"next\", \"status\", \"cancel\" or \"loop\"."
        ),
        details: json!({}),
        kind: Some(AnswerKind::Error),
    }
}
