//! What a run may spend, and what happens at the limit.

use super::ActiveRun;
use crate::definition::{Catalog, Target};
use crate::effect::{Action, Delivery, Effects};
use crate::reminders::PauseReason;
use crate::run::{Position, RunState};
use crate::session::budget::{self, Budgets, Limit};

impl ActiveRun {
    /// Allows more of the budgets, as the argument of a command says.
    pub(crate) fn allow(&mut self, argument: &str, out: &mut Effects) -> Result<(), String> {
        self.budgets.allow(argument)?;
        self.persist_spending(out);
        Ok(())
    }

    /// Stops the clock of the budgets.
    pub(crate) fn stop_clock(&mut self, out: &mut Effects) {
        self.budgets.stop(out.now());
        self.persist_spending(out);
    }

    /// Counts what the agent does, and pauses the run at the limit of a budget. Returns the limit if it was used up before.
    pub(crate) fn spend(
        &mut self,
        count: impl FnOnce(&mut Budgets),
        out: &mut Effects,
    ) -> Option<String> {
        let before = self.budgets.spending()?;
        self.budgets.tick(out.now());
        let used_up_before = self.budgets.used_up();
        count(&mut self.budgets);
        if self.budgets.is_due() {
            self.persist_spending(out);
        }
        let warnings = self.budgets.newly_scarce(&before);
        if let Some(limit) = self.budgets.reached() {
            // One that leads elsewhere is followed with the next call, or at the end of the turn.
            if limit.to == Target::Pause && !self.is_paused_for(PauseReason::Budget) {
                self.persist_spending(out);
                self.pause(PauseReason::Budget, out);
                out.warn(budget::paused(&limit.why));
            }
        } else if !warnings.is_empty() {
            out.act(Action::SendUserMessage {
                content: budget::warning(&warnings),
                deliver_as: Some(Delivery::Steer),
            });
        }
        used_up_before
    }
}

/// The budgets of the scopes of a path, the root first, and of its phase; empty where the run does not fit.
pub(super) fn limits(state: &RunState, catalog: &Catalog) -> Vec<Limit> {
    let Ok(position) = Position::of(state, catalog) else {
        return Vec::new();
    };
    let scopes = position.levels.iter().map(|level| Limit {
        of: format!("workflow {}", level.workflow.name),
        budget: level.workflow.budget.clone(),
        entry: level.index,
    });
    let phase = Limit {
        of: format!("phase {}", position.phase.name),
        budget: position.phase.budget.clone(),
        entry: position.innermost().index,
    };
    scopes.chain([phase]).collect()
}
