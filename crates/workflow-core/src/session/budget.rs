//! Budgets: what a run uses, the warning before a limit, and the pause at it.

use serde::{Deserialize, Serialize};

use crate::definition::{Budget, Target};
use crate::diagnostic::visible;
use crate::reminders::PauseReason;
use crate::run::{BudgetUse, Path, ReachedLimit, ScopeUsage, Spending, Unit, read_allowances};
use crate::text;
use crate::types::Millis;

/// The tool calls that a process counts before it stores the use in the middle of a turn: so many may be lost with it.
const CALLS_UNTIL_STORED: u32 = 10;

/// The budgets of a run: of the scopes of its path, the root first, and of its phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budgets {
    limits: Vec<Limit>,
    spending: Spending,
    persisted: Spending,
    /// The tool calls that this process has counted since the use was stored.
    unstored_calls: u32,
    pub(super) work: Option<Work>,
}

/// The work of the agent that is not counted yet.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Work {
    since: Millis,
    /// The scopes that the response in progress has not left, if it has entered another phase. It belongs to these only.
    scopes: Option<usize>,
}

/// The budget of a scope or of the phase, and its name.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) of: String,
    pub(crate) budget: Budget,
    /// The entry of its scope.
    pub(crate) entry: usize,
}

/// The host's report about a response of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// Tokens that it took.
    pub tokens: u64,
    /// Its cost in millionths of a US dollar.
    pub micro_usd: u64,
}

impl Budgets {
    /// The budgets of a restored run.
    pub(crate) fn restored(spending: Spending) -> Self {
        Self {
            persisted: spending.clone(),
            spending,
            ..Self::default()
        }
    }

    /// Adopts the limits that apply in the phase; one for each scope, then the phase's.
    pub(crate) fn adopt(&mut self, limits: Vec<Limit>) {
        let scopes = limits.len().saturating_sub(1);
        for spending in [&mut self.spending, &mut self.persisted] {
            spending.scopes.resize(scopes, ScopeUsage::default());
        }
        self.limits = limits;
    }

    /// Moves to another phase.
    pub(crate) fn enter(&mut self, before: &Path, after: &Path) {
        let kept = self.spending.enter(before, after);
        if let Some(work) = &mut self.work {
            work.scopes = Some(work.scopes.map_or(kept, |scopes| scopes.min(kept)));
        }
    }

    /// The use so far, if something is limited.
    pub(crate) fn spending(&self) -> Option<Spending> {
        (!self.is_empty()).then(|| self.spending.clone())
    }

    /// Adopts what another process has counted, and the work that it has begun to count.
    pub(crate) fn recall(&mut self, spending: Option<Spending>, work: Option<Work>) {
        if let Some(spending) = spending {
            let scopes = self.spending.scopes.len();
            self.spending = spending;
            self.spending.scopes.resize(scopes, ScopeUsage::default());
        }
        self.work = work;
    }

    /// Returns true if nothing is limited.
    pub(crate) fn is_empty(&self) -> bool {
        self.limits.iter().all(|limit| limit.budget.is_unlimited())
    }

    /// Adds the time since the agent began to work, or since this was last called.
    pub(crate) fn tick(&mut self, now: Millis) {
        let scopes = self.work.and_then(|work| work.scopes);
        let before = self.work.replace(Work { since: now, scopes });
        if let Some(before) = before {
            let spent = now.saturating_sub(before.since);
            self.spending
                .add(|usage| usage.milliseconds = usage.milliseconds.saturating_add(spent));
        }
    }

    /// Adds the last time, and stops the clock.
    pub(crate) fn stop(&mut self, now: Millis) {
        if self.work.is_some() {
            self.tick(now);
            self.work = None;
        }
    }

    /// Counts a response of the model, with what the host reports about it, where the response began.
    pub(crate) fn count_turn(&mut self, turn: TurnUsage) {
        let scopes = self.work.as_mut().and_then(|work| work.scopes.take());
        self.spending.add_in(scopes, |usage| {
            usage.turns = usage.turns.saturating_add(1);
            usage.tokens = usage.tokens.saturating_add(turn.tokens);
            usage.micro_usd = usage.micro_usd.saturating_add(turn.micro_usd);
        });
    }

    /// Counts a tool call, unless a budget is used up.
    pub(crate) fn count_call(&mut self) {
        if self.used_up().is_none() {
            self.spending
                .add(|usage| usage.tool_calls = usage.tool_calls.saturating_add(1));
            self.unstored_calls = self.unstored_calls.saturating_add(1);
        }
    }

    /// The first limit that is used up, as people read it.
    pub(crate) fn used_up(&self) -> Option<String> {
        self.first_used_up().map(|(_, share)| described(share))
    }

    /// The first limit that is used up, and what it does. One that has led elsewhere before pauses the run.
    pub(crate) fn reached(&self) -> Option<ReachedLimit> {
        let (at, share) = self.first_used_up()?;
        let scopes = self.spending.scopes.len();
        let led_to = self.spending.scopes.get(at).and_then(|scope| scope.led_to);
        let to = self.limits[at].budget.on_limit.clone();
        Some(ReachedLimit {
            to: to.filter(|_| led_to.is_none()).unwrap_or(Target::Pause),
            depth: (at + 1).min(scopes),
            why: described(share),
            reason: PauseReason::Budget,
        })
    }

    /// Notes where the limit leads that is used up.
    pub(crate) fn lead(&mut self, limit: &ReachedLimit, path: &Path) {
        let at = self.first_used_up().map(|(at, _)| at);
        let at = at.filter(|_| limit.reason == PauseReason::Budget && limit.to.phase().is_some());
        let scope = at.and_then(|at| self.spending.scopes.get_mut(at));
        let segment = path.segments().get(limit.depth - 1);
        if let (Some(scope), Some(segment)) = (scope, segment) {
            scope.led_to = Some(segment.phase_index);
        }
    }

    /// The index of the first limit that is used up, and what is used.
    fn first_used_up(&self) -> Option<(usize, (&str, BudgetUse))> {
        let limits = self.limits.iter().zip(self.spending.all()).enumerate();
        let mut limits = limits.filter(|(_, (limit, usage))| usage.led_to != Some(limit.entry));
        limits.find_map(|(at, (limit, usage))| {
            let mut shares = usage.shares(&limit.budget);
            let share = shares.find(BudgetUse::is_used_up)?;
            Some((at, (&*limit.of, share)))
        })
    }

    /// All limits, with what is used of each.
    fn shares<'a>(&'a self, spending: &'a Spending) -> impl Iterator<Item = (&'a str, BudgetUse)> {
        let usages = self.limits.iter().zip(spending.all());
        usages.flat_map(|(limit, usage)| {
            let shares = usage.shares(&limit.budget);
            shares.map(|share| (&*limit.of, share))
        })
    }

    /// The limits and what is used of them, in one line; `None` without limits.
    pub(crate) fn describe(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.description(&self.spending))
    }

    fn description(&self, spending: &Spending) -> String {
        text::join(self.shares(spending).map(described), "; ")
    }

    /// The limits that are nearly used up, and were not before.
    pub(crate) fn newly_scarce(&self, before: &Spending) -> Vec<String> {
        let scarce = |(_, share): &(&str, BudgetUse)| share.is_nearly_used_up();
        let shares = self.shares(&self.spending).zip(self.shares(before));
        let shares = shares.filter(|(now, before)| scarce(now) && !scarce(before));
        shares.map(|(now, _)| described(now)).collect()
    }

    /// Allows what the argument of `/workflow-resume` says; the refusal is shown to the user.
    pub(crate) fn allow(&mut self, argument: &str) -> Result<(), String> {
        let Some((_, (of, share))) = self.first_used_up() else {
            return Err(format!(
                "No budget is used up, so there is nothing to allow, and \"{}\" changes nothing.",
                visible(argument)
            ));
        };
        let (unit, used_up) = (share.unit, described((of, share)));
        let allowances = read_allowances(argument, unit).map_err(|part| {
            let (part, units) = (visible(part.trim()), Unit::ALL.map(Unit::word).join(", "));
            format!(
                "\"{part}\" is no amount and unit. Write for example /workflow-resume +20 turns. Units: {units}."
            )
        })?;
        let mut spending = self.spending.clone();
        for (amount, unit) in allowances {
            if !self.allow_in(&mut spending, amount, unit) {
                return Err(format!(
                    "No limit of {unit} is used up, so nothing was allowed. Used up: {used_up}."
                ));
            }
        }
        self.spending = spending;
        Ok(())
    }

    /// Allows more of a unit than is used now, wherever it is used up. Returns false if it is nowhere.
    fn allow_in(&self, spending: &mut Spending, amount: u64, unit: Unit) -> bool {
        let mut found = false;
        let usages = spending.scopes.iter_mut().chain([&mut spending.phase]);
        for (limit, usage) in self.limits.iter().zip(usages) {
            let fits = |share: &BudgetUse| share.unit == unit && share.is_used_up();
            let used_up = usage.shares(&limit.budget).find(fits);
            if let Some(used_up) = used_up {
                usage.allow(amount.saturating_add(used_up.excess()), unit);
                found = true;
            }
        }
        found
    }

    /// Returns true if the use must be stored before the turn ends: a process that is killed would lose what people read of it.
    pub(crate) fn is_due(&self) -> bool {
        self.unstored_calls >= CALLS_UNTIL_STORED
            && self.description(&self.spending) != self.description(&self.persisted)
    }

    /// The use to be stored, if it changed and is limited.
    pub(crate) fn unsaved(&mut self) -> Option<&Spending> {
        if self.is_empty() || self.spending == self.persisted {
            return None;
        }
        self.persisted.clone_from(&self.spending);
        self.unstored_calls = 0;
        Some(&self.spending)
    }
}

fn described((of, share): (&str, BudgetUse)) -> String {
    format!("{share} of {of}")
}

/// The message to the person about a budget that is used up.
pub(crate) fn paused(used_up: &str) -> String {
    format!(
        "⏸ The workflow is paused: its budget is used up ({used_up}). /workflow-resume +20 turns allows more (or toolCalls, minutes, \
         tokens, usd); /workflow-next and /workflow-goto go elsewhere; /cancel-workflow ends the run."
    )
}

/// The message to the agent about limits that are nearly reached.
pub(crate) fn warning(nearly: &[String]) -> String {
    format!(
        "[workflow] The budget is nearly used up: {}. Finish what matters most, and call workflow_step with action='next' when the phase is done.",
        nearly.join("; ")
    )
}

/// The reason of a call that is blocked when a budget is used up.
pub(crate) fn blocked(used_up: &str) -> String {
    format!(
        "The budget of the workflow is used up ({used_up}), and the workflow is paused: no tool may run. Stop here, say what is \
        done and what is left, and wait for the user."
    )
}
