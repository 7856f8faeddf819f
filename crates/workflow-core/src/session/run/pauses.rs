//! Pauses of a run, and what ends them.

use super::ActiveRun;
use crate::effect::Effects;
use crate::policy::rules::{Call, hash_of};
use crate::reminders::{ContinueCounters, PauseReason};
use crate::run::VisitLimit;
use crate::session::call_guard::Unasked;

impl ActiveRun {
    /// Starts the counts anew, and ends a pause, unless only a command of the user, an approval or more of a budget ends it.
    pub(crate) fn reset_counters(&mut self, out: &mut Effects) {
        if !self.progress.state.active {
            return;
        }
        self.memory.unasked = None;
        let stays = |reason: &PauseReason| {
            matches!(
                reason,
                PauseReason::Approval | PauseReason::Budget | PauseReason::LaterVersion
            )
        };
        self.record.counters = ContinueCounters {
            paused: self.record.counters.paused.filter(stays),
            paused_by_owner: self.record.counters.paused_by_owner,
            ..ContinueCounters::default()
        };
        self.persist_counters(out);
    }

    /// Returns true if the run is paused, for whatever reason.
    pub(crate) fn is_paused(&self) -> bool {
        self.record.counters.paused_by_owner || self.record.counters.paused.is_some()
    }

    /// Returns true if the run is paused for this reason.
    pub(crate) fn is_paused_for(&self, reason: PauseReason) -> bool {
        self.record.counters.paused == Some(reason)
    }

    /// The call of this step that waits for the user's consent: its tool, and the rule that asks.
    pub(crate) fn unasked(&self) -> Option<&str> {
        let (step, unasked) = self.memory.unasked.as_ref()?;
        (*step == self.step()).then_some(&unasked.what)
    }

    /// Notes that a call is allowed. Returns true if the run waited for consent to it.
    pub(crate) fn forget_unasked(&mut self, allowed: &Call<'_>) -> bool {
        let is_it = |(_, unasked): &mut (u64, Unasked)| {
            unasked.call == *hash_of([allowed.tool(), allowed.input_text()])
        };
        self.memory.unasked.take_if(is_it).is_some()
    }

    /// Pauses the run.
    pub(crate) fn pause(&mut self, reason: PauseReason, out: &mut Effects) {
        self.record.counters.paused = Some(reason);
        self.persist_counters(out);
    }

    /// Pauses the run until its owner resumes it.
    pub(crate) fn pause_by_owner(&mut self, out: &mut Effects) {
        self.record.counters.paused_by_owner = true;
        self.persist_counters(out);
    }

    /// Pauses the run, because a phase may not be entered again unless the user allows it.
    pub(crate) fn pause_at_visits(&mut self, limit: &VisitLimit, out: &mut Effects) {
        self.user_answer = None;
        self.clear_approval(out);
        self.progress.data.refused_visit = Some(limit.key.clone());
        self.pause(PauseReason::Visits, out);
    }

    /// Ends every pause but that for an approval, or for a budget that is used up.
    pub(crate) fn resume(&mut self, out: &mut Effects) {
        self.record.counters.paused_by_owner = false;
        let is_used_up = self.budgets.used_up().is_some();
        self.record.counters.paused.take_if(|reason| match reason {
            PauseReason::LaterVersion => true,
            PauseReason::Budget => !is_used_up,
            _ => false,
        });
        self.reset_counters(out);
    }
}
