//! Limits that are reached, and what `onLimit` does then.

use super::questions::Topic;
use super::run::not_moved;
use super::step_answers::{self, entered_text};
use super::{Session, auto_continue, budget};
use crate::definition::Target;
use crate::effect::Delivery;
use crate::reminders::PauseReason;
use crate::run::{ReachedLimit, TransitionError, follow_limit};

impl Session {
    /// Does what the limit says. Returns what the agent reads if the run has moved or is over; otherwise it is paused.
    pub(super) fn follow_limit(&mut self, limit: &ReachedLimit) -> Option<String> {
        let jumps = self.jumps();
        let run = self.run.as_mut()?;
        let mut why = limit.why.clone();
        let asks = limit.to == Target::Cancel && run.is_cancelled_by_user();
        if limit.to != Target::Pause && !asks {
            match follow_limit(run.progress(), limit, jumps, run.catalog()) {
                Ok(to) => {
                    run.budgets.lead(limit, &to.state.current_path);
                    self.move_by_tool(to);
                    return self.at_limit();
                }
                Err(TransitionError::Limit(visits)) => {
                    self.stay_at(&visits);
                    return None;
                }
                Err(error) => {
                    if let Some(said) = not_moved(&error) {
                        why = format!("{why}. {}", said.trim_end_matches('.'));
                    }
                }
            }
        }
        let why = &*why;
        let text = match limit.reason {
            PauseReason::Budget => budget::paused(why),
            PauseReason::Tries => format!(
                "⏸ The workflow is paused: {why}. /workflow-resume allows one more try; /workflow-goto goes elsewhere."
            ),
            reason => {
                auto_continue::pause(run, reason, why, &mut self.out);
                String::new()
            }
        };
        if !text.is_empty() {
            run.pause(limit.reason, &mut self.out);
            self.out.warn(text);
        }
        if asks {
            self.ask_to_cancel(Some(why));
        }
        None
    }

    /// Follows the limit of a budget that leads elsewhere, and tells the agent.
    pub(super) fn follow_budget(&mut self) {
        let run = self.active().filter(|run| !run.is_paused());
        let reached = run.and_then(|run| run.budgets.reached());
        let elsewhere = reached.filter(|limit| limit.to != Target::Pause);
        if let Some(text) = elsewhere.and_then(|limit| self.follow_limit(&limit)) {
            self.send_to_agent(text, Some(Delivery::Steer));
        }
    }

    /// What the agent reads after a limit has moved or ended the run.
    fn at_limit(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        let notes = step_answers::move_notes(run).join(" ");
        Some(match run.phase() {
            Some(phase) => format!(
                "[workflow] {notes} The workflow went to {}",
                entered_text(phase)
            ),
            None => format!(
                "[workflow] {notes} The workflow is over. Stop here, and say what is done and what is left."
            ),
        })
    }

    /// Asks the user to cancel the run, which only a person may do.
    pub(super) fn ask_to_cancel(&mut self, why: Option<&str>) {
        if let Some(run) = &self.run
            && !self.questions.is_open(Topic::is_cancel)
            && self.questions.can_ask()
        {
            let question = step_answers::cancellation_question(run, why);
            self.ask(Topic::Cancel, question);
        }
    }
}
