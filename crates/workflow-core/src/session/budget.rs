//! Budgets: what a run uses, the warning before a limit, and the pause at it.

use std::collections::BTreeSet;

use crate::definition::Budget;
use crate::effect::{Decider, ToolDecision};
use crate::run::{BudgetUse, Path, ScopeUsage, Spending, Unit};
use crate::types::Millis;

/// The budgets of a run: of the scopes of its path, the root first, and of its phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budgets {
    limits: Vec<Limit>,
    spending: Spending,
    persisted: Spending,
    /// Since when the agent works.
    working_since: Option<Millis>,
    /// The limits about which the agent was warned.
    warned: BTreeSet<(usize, Unit)>,
}

/// The budget of a scope or of the phase, and its name.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) of: String,
    pub(crate) budget: Budget,
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
        self.spending
            .scopes
            .resize(limits.len().saturating_sub(1), ScopeUsage::default());
        self.limits = limits;
    }

    /// Moves to another phase.
    pub(crate) fn enter(&mut self, before: &Path, after: &Path) {
        self.spending.enter(before, after);
        self.warned.clear();
    }

    /// Returns true if nothing is limited.
    pub(crate) fn is_empty(&self) -> bool {
        self.limits.iter().all(|limit| limit.budget.is_unlimited())
    }

    /// Adds the time since the agent began to work, or since this was last called.
    pub(crate) fn tick(&mut self, now: Millis) {
        let since = self.working_since.replace(now).unwrap_or(now);
        self.spending.add_time(now.saturating_sub(since));
    }

    /// Adds the last time, and stops the clock.
    pub(crate) fn stop(&mut self, now: Millis) {
        if self.working_since.is_some() {
            self.tick(now);
            self.working_since = None;
        }
    }

    /// Counts a response of the model, with what the host reports about it.
    pub(crate) fn count_turn(&mut self, turn: TurnUsage) {
        self.spending.add(|usage| {
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
        }
    }

    fn usages(&self) -> impl Iterator<Item = (&Limit, &ScopeUsage)> {
        let usages = self.spending.scopes.iter().chain([&self.spending.phase]);
        self.limits.iter().zip(usages)
    }

    /// The first limit that is used up, as people read it.
    pub(crate) fn used_up(&self) -> Option<String> {
        self.shares()
            .find(|(_, share)| share.is_used_up())
            .map(|(of, share)| described(of, share))
    }

    /// All limits, with what is used of each.
    fn shares(&self) -> impl Iterator<Item = (&str, BudgetUse)> {
        self.usages().flat_map(|(limit, usage)| {
            let shares = usage.shares(&limit.budget);
            shares.map(|share| (limit.of.as_str(), share))
        })
    }

    /// The limits and what is used of them, in one line; empty without limits.
    pub(crate) fn describe(&self) -> String {
        let shares: Vec<String> = self
            .shares()
            .map(|(of, share)| described(of, share))
            .collect();
        shares.join("; ")
    }

    /// The limits that are nearly used up, and about which the agent was not warned yet.
    pub(crate) fn warnings(&mut self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warned = std::mem::take(&mut self.warned);
        for (number, (limit, usage)) in self.usages().enumerate() {
            for share in usage.shares(&limit.budget) {
                if share.is_nearly_used_up() && warned.insert((number, share.unit)) {
                    warnings.push(described(&limit.of, share));
                }
            }
        }
        self.warned = warned;
        warnings
    }

    /// Allows more of a unit, wherever it is used up. Returns false if it is nowhere.
    pub(crate) fn allow(&mut self, amount: u64, unit: Unit) -> bool {
        let mut found = false;
        let usages = self
            .spending
            .scopes
            .iter_mut()
            .chain([&mut self.spending.phase]);
        for (limit, usage) in self.limits.iter().zip(usages) {
            let is_used_up = |share: BudgetUse| share.unit == unit && share.is_used_up();
            if usage.shares(&limit.budget).any(is_used_up) {
                usage.allow(amount, unit);
                found = true;
            }
        }
        self.warned.clear();
        found
    }

    /// The use to be stored, if it changed and is limited.
    pub(crate) fn unsaved(&mut self) -> Option<&Spending> {
        if self.is_empty() || self.spending == self.persisted {
            return None;
        }
        self.persisted.clone_from(&self.spending);
        Some(&self.spending)
    }
}

fn described(of: &str, share: BudgetUse) -> String {
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

/// The decision on a call when a budget is used up.
pub(crate) fn blocked(used_up: &str) -> ToolDecision {
    ToolDecision::Block {
        reason: format!(
            "The budget of the workflow is used up ({used_up}), and the workflow is paused: no tool may run. Stop here, say what is \
             done and what is left, and wait for the user."
        ),
        by: Decider::Rule,
    }
}
