//! Auto-continue: the countdown and the reminder for an agent that stopped early (hook-lifecycle: "handleAgentEnd").

use serde::{Deserialize, Serialize};

use super::context::SentContext;
use super::host::Host;
use super::run::ActiveRun;
use crate::definition::{Bound, Target};
use crate::effect::{Effects, message_type};
use crate::event::LastAssistant;
use crate::reminders::{ContinueCounters, PauseReason, StopDecision};
use crate::run::ReachedLimit;
use crate::types::Millis;
use crate::white_space;

/// One second.
const SECOND: Millis = 1000;

/// The countdown, and the last reminder.
#[derive(Debug, Clone, Default)]
pub(crate) struct AutoContinue {
    countdown: Option<Countdown>,
    /// True after the user stopped the countdown by typing, until the agent or the user does something.
    pub(super) is_held: bool,
    /// The last reminder, until the agent stops again or a person sends a message.
    pub(super) reminded: Option<SentReminder>,
}

/// The time before a reminder.
#[derive(Debug, Clone)]
struct Countdown {
    seconds_left: u32,
    /// True if it is shown in a widget, which has to be cleared.
    in_widget: bool,
    due: Millis,
}

/// A reminder that was sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SentReminder {
    /// True once the agent started on it.
    started: bool,
    /// True if the agent called a tool since.
    used_tools: bool,
}

impl AutoContinue {
    /// When the countdown needs attention.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        self.countdown.as_ref().map(|countdown| countdown.due)
    }

    /// The seconds until the reminder.
    pub(crate) fn seconds_left(&self) -> Option<u32> {
        let countdown = self.countdown.as_ref();
        countdown.map(|countdown| countdown.seconds_left)
    }

    /// Cancels the countdown.
    pub(crate) fn cancel_countdown(&mut self, out: &mut Effects) {
        self.is_held = false;
        let countdown = self.countdown.take();
        if countdown.is_some_and(|countdown| countdown.in_widget) {
            out.clear_widget();
        }
    }

    /// Cancels the countdown, because the user types.
    pub(crate) fn hold(&mut self, out: &mut Effects) {
        let is_held = self.is_held || self.countdown.is_some();
        self.cancel_countdown(out);
        self.is_held = is_held;
    }

    /// Notes that the agent called a tool.
    pub(crate) fn on_tool_used(&mut self, out: &mut Effects) {
        self.cancel_countdown(out);
        if let Some(reminded) = &mut self.reminded {
            reminded.used_tools = true;
        }
    }

    /// Returns true if the agent starts on a reminder, which must not reset the counters.
    ///
    /// A host may add text around a prompt, or not send it; and a sidecar that was restarted in between knows of the
    /// reminder from the session's entries only.
    pub(crate) fn starts_on_reminder(
        &mut self,
        prompt: Option<&str>,
        run: Option<&ActiveRun>,
    ) -> bool {
        let run = run.filter(|run| run.counters().reminders > 0);
        let Some(phase) = run.and_then(ActiveRun::phase) else {
            return false;
        };
        let contains = |prompt: &str, reminder| match white_space::trim(reminder) {
            "" => white_space::trim(prompt).is_empty(),
            reminder => prompt.contains(reminder),
        };
        let started = self.reminded.as_ref().map(|reminded| reminded.started);
        let is_reminder = match prompt {
            Some(prompt) => phase.reminder.texts().any(|text| contains(prompt, text)),
            None => started == Some(false),
        };
        if let Some(reminded) = self.reminded.as_mut().filter(|_| is_reminder) {
            reminded.started = true;
        }
        is_reminder
    }

    /// Decides about an agent that stopped while the run is active: counts down, or pauses the run. Returns the limit
    /// that leads elsewhere.
    pub(crate) fn on_agent_stopped(
        &mut self,
        last: Option<LastAssistant<'_>>,
        run: &mut ActiveRun,
        host: &Host,
        out: &mut Effects,
    ) -> Option<ReachedLimit> {
        let mut policy = run.phase()?.auto_continue.clone();
        if host.abilities.reminders_left == Some(0) {
            policy.max = Bound::Times(0);
            // A host that reminds no more cannot follow a move either.
            if policy.on_limit != Target::Cancel {
                policy.on_limit = Target::Pause;
            }
        }
        if host.abilities.awaits_reminder {
            policy.countdown = 0;
        }
        let used_tools = self.reminded.take().map(|reminded| reminded.used_tools);
        let (counters, decision) = run.counters().after_stop(&policy, last, used_tools);
        run.set_counters(counters);
        match decision {
            StopDecision::Nothing => {}
            // The agent can do nothing about that.
            StopDecision::Remind | StopDecision::Limit(_) if run.unasked().is_some() => {
                run.pause(PauseReason::Question, out);
            }
            StopDecision::Remind => self.count_down(policy.countdown, host.shows_widgets(), out),
            StopDecision::Limit(reason) if policy.on_limit != Target::Pause => {
                let depth = run.state().current_path.depth();
                return Some(ReachedLimit {
                    to: policy.on_limit,
                    depth: depth.saturating_sub(policy.limit_scopes_up).max(1),
                    why: describe(counters.reminders, reason),
                    reason,
                });
            }
            StopDecision::Pause(reason) | StopDecision::Limit(reason) => {
                pause(run, reason, &describe(counters.reminders, reason), out);
            }
        }
        None
    }

    fn count_down(&mut self, seconds: u32, shows_widgets: bool, out: &mut Effects) {
        let in_widget = seconds > 0 && shows_widgets;
        if in_widget {
            out.show_widget(countdown_line(seconds));
        } else if seconds > 0 {
            let text =
                format!("Auto-continuing workflow in {seconds}s... (type anything to interrupt)");
            out.send_message(message_type::COUNTDOWN, text);
        }
        let first = if seconds == 0 { 0 } else { SECOND };
        self.countdown = Some(Countdown {
            seconds_left: seconds,
            in_widget,
            due: out.now().saturating_add(first),
        });
    }

    /// Shows the seconds that passed, and returns true if none are left.
    pub(crate) fn poll_deadline(&mut self, out: &mut Effects) -> bool {
        while let Some(countdown) = self.countdown.as_mut()
            && countdown.due <= out.now()
        {
            countdown.seconds_left = countdown.seconds_left.saturating_sub(1);
            countdown.due = countdown.due.saturating_add(SECOND);
            if countdown.seconds_left == 0 {
                return true;
            }
            if countdown.in_widget {
                out.show_widget(countdown_line(countdown.seconds_left));
            }
        }
        false
    }

    /// Ends the countdown and returns the reminder for the phase as it is now (B13).
    pub(crate) fn remind(
        &mut self,
        run: Option<&mut ActiveRun>,
        sent: &SentContext,
        out: &mut Effects,
    ) -> Option<String> {
        let countdown = self.countdown.take()?;
        let run = run?;
        let phase = run.phase()?;
        let has_instructions = sent.has_instructions(&phase.context);
        let text = phase.reminder.text(has_instructions).to_owned();
        let counters = run.counters();
        run.set_counters(ContinueCounters {
            reminders: counters.reminders.saturating_add(1),
            ..counters
        });
        run.persist_counters(out);
        if countdown.in_widget {
            out.clear_widget();
        }
        self.reminded = Some(SentReminder::default());
        Some(text)
    }
}

fn countdown_line(seconds: u32) -> String {
    format!("⏳ Auto-continuing in {seconds}s... (type anything to interrupt)")
}

/// Pauses the run until any message, and says so.
pub(super) fn pause(run: &mut ActiveRun, reason: PauseReason, why: &str, out: &mut Effects) {
    run.pause(reason, out);
    if let Some(phase) = run.phase() {
        let (workflow, phase) = (&phase.workflow_name, phase.label());
        let text = format!(
            "⏸ {workflow} is paused in {phase}: {why}.\nAny message resumes it. /cancel-workflow ends it."
        );
        out.send_message(message_type::PAUSED, text);
    }
}

/// The reason why no more reminders are sent, as text.
fn describe(reminders: u32, reason: PauseReason) -> String {
    let why = match reason {
        PauseReason::Max if reminders == 1 => "one reminder did not lead to the next phase",
        PauseReason::Max => {
            return format!("{reminders} reminders in a row did not lead to the next phase");
        }
        PauseReason::MaxStale => "the agent called no tool after the last reminders",
        PauseReason::Error => {
            "the last response of the model ended in an error or at its length limit"
        }
        PauseReason::Question => "the agent asked a question",
        PauseReason::Visits => "a phase may not be entered again",
        PauseReason::Tries => "a check has failed too often",
        PauseReason::Budget => "a budget is used up",
        PauseReason::LaterVersion => "a later version stored parts of the run",
        PauseReason::Approval => "the phase needs your approval",
    };
    why.to_owned()
}
