//! `agent_end`: the run is announced, the agent is pushed on, or nothing (hook-lifecycle: "handleAgentEnd").

use crate::Session;
use crate::effect::{Action, Effects, Mutation, Reply, message_type};
use crate::ending;
use crate::event::LastAssistant;
use crate::hook::Pushed;
use crate::policy::{Parked, Push};
use crate::run::cancel;
use crate::standing::Standing;
use crate::types::{Millis, Severity};

/// The grace period before the agent is pushed on.
#[derive(Debug, Clone)]
pub(crate) struct Countdown {
    pub(crate) seconds_left: u32,
    /// Whether it is seen in a widget, which has to be cleared.
    pub(crate) in_widget: bool,
    due: Millis,
}

impl Countdown {
    pub(crate) fn deadline(&self) -> Millis {
        self.due
    }
}

impl Session {
    pub(crate) fn agent_ended(
        &mut self,
        now: Millis,
        last: Option<LastAssistant<'_>>,
        out: &mut Effects,
    ) {
        self.agent_is_running(out);
        self.forget_cancel();
        self.stop_leaving("the agent stopped", out);
        self.turn_moved = None;
        if last.is_some_and(|last| last.stop_reason == Some("aborted")) {
            self.told.doubt_answer();
        }
        out.reply = Reply::Mutation(match &self.run {
            Some(run) if run.state.active => self.stopped_early(now, last, out),
            Some(_) => self.announce_end(out),
            None => Mutation::default(),
        });
    }

    /// Case A. One entry makes sure that the end is never announced twice, for a cancelled run too (A01, A02).
    fn announce_end(&mut self, out: &mut Effects) -> Mutation {
        self.call_off_calls("the run moved on", out);
        let Some(mut run) = self.run.take() else {
            return Mutation::default();
        };
        run.state.completion_notified = true;
        run.store(out);
        out.actions.push(Action::SendMessage {
            custom_type: message_type::COMPLETE,
            content: ending::announced(&run.state, &run.catalog),
        });
        out.actions.push(Action::SetStatus { text: None });
        Mutation {
            unload: true,
            persist: !run.state.cancelled,
        }
    }

    /// Case B.
    fn stopped_early(
        &mut self,
        now: Millis,
        last: Option<LastAssistant<'_>>,
        out: &mut Effects,
    ) -> Mutation {
        let Some(run) = &mut self.run else {
            return Mutation::default();
        };
        let Ok(standing) = &run.standing else {
            return Mutation::default();
        };
        let rule = standing.auto_continue;
        let used_tools = self.pushed.take().map(|pushed| pushed.used_tools);
        let (pace, push) = run.pace.after_stop(&rule, last, used_tools);
        run.pace = pace;
        match push {
            Push::Rest => {}
            Push::Count => self.count_down(now, rule.countdown, out),
            Push::Park(why) => {
                run.pace.parked = Some(why);
                let content = parked_message(standing, run.pace.pushes, why);
                run.store_pace(out);
                out.actions.push(Action::SendMessage {
                    custom_type: message_type::PAUSED,
                    content,
                });
            }
            Push::Cancel(why) => {
                let why = format!(
                    "The workflow is cancelled: {}.",
                    reason(run.pace.pushes, why)
                );
                self.forget_word(out);
                if let Some(run) = &mut self.run {
                    run.state = cancel(&run.state);
                }
                let mutation = self.announce_end(out);
                out.notify(Severity::Warning, why);
                return mutation;
            }
        }
        Mutation::default()
    }

    fn count_down(&mut self, now: Millis, seconds: u32, out: &mut Effects) {
        let in_widget = seconds > 0 && self.shows_widgets();
        if in_widget {
            out.actions.push(widget(seconds));
        } else if seconds > 0 {
            let content =
                format!("Auto-continuing workflow in {seconds}s... (type anything to interrupt)");
            out.actions.push(Action::SendMessage {
                custom_type: message_type::COUNTDOWN,
                content,
            });
        }
        let first = if seconds == 0 { 0 } else { 1000 };
        let due = now.saturating_add(first);
        self.countdown = Some(Countdown {
            seconds_left: seconds,
            in_widget,
            due,
        });
    }

    /// Shows the seconds that passed, and pushes the agent on when none are left.
    pub(crate) fn time_passed(&mut self, now: Millis, out: &mut Effects) {
        while let Some(countdown) = self
            .countdown
            .as_mut()
            .filter(|countdown| countdown.due <= now)
        {
            countdown.seconds_left = countdown.seconds_left.saturating_sub(1);
            countdown.due = countdown.due.saturating_add(1000);
            if countdown.seconds_left == 0 {
                self.push_on(out);
            } else if countdown.in_widget {
                out.actions.push(widget(countdown.seconds_left));
            }
        }
    }

    /// Sends the reminder, made for where the run stands now (B13).
    fn push_on(&mut self, out: &mut Effects) {
        let mut done = Effects::default();
        self.agent_is_running(&mut done);
        let Some(run) = self.run.as_mut().filter(|run| run.state.active) else {
            return;
        };
        let Ok(standing) = &run.standing else { return };
        let knows = self.told.knows_instructions(&standing.context);
        let content = standing.reminder.text(knows).to_owned();
        run.pace.pushes = run.pace.pushes.saturating_add(1);
        run.store_pace(out);
        out.actions.append(&mut done.actions);
        self.pushed = Some(Pushed::default());
        out.actions.push(Action::SendUserMessage {
            content,
            must_arrive: false,
        });
    }
}

fn widget(seconds: u32) -> Action {
    let line = format!("⏳ Auto-continuing in {seconds}s... (type anything to interrupt)");
    Action::SetWidget {
        lines: Some(vec![line]),
    }
}

fn parked_message(standing: &Standing, pushes: u32, why: Parked) -> String {
    let Standing {
        workflow_name,
        phase,
        ..
    } = standing;
    format!(
        "⏸ **{workflow_name} is parked** in {} {}: {}.\nAny message resumes it; /cancel-workflow ends it.",
        phase.emoji,
        phase.name,
        reason(pushes, why)
    )
}

/// Why the agent is not pushed on any more, in words.
fn reason(pushes: u32, why: Parked) -> String {
    match why {
        Parked::Max => format!("{pushes} reminders in a row did not bring it to the next phase"),
        Parked::MaxStale => "the agent called no tool after the last reminders".to_owned(),
        Parked::Error => {
            "the model's last answer ended in an error or at its length limit".to_owned()
        }
        Parked::Question => "the agent asked a question".to_owned(),
        Parked::Approval => "the phase needs your word before it is left".to_owned(),
    }
}
