//! The parts of its budgets that a run has used.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Path;
use crate::definition::{Budget, Target, words};
use crate::text;

const MINUTE: u64 = 60_000;
/// Millionths of a dollar in a cent.
const CENT: u64 = 10_000;

/// Amounts of what a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Responses of the model.
    pub turns: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Milliseconds in which the agent worked.
    pub milliseconds: u64,
    /// Tokens.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

words! {
    /// A unit of a budget, as it is written in `/workflow-resume +20 turns`, in the order of their importance.
    pub enum Unit {
        /// Responses of the model.
        "turns" => Turns,
        /// Tool calls.
        "toolCalls" => ToolCalls,
        /// Minutes of work.
        "minutes" => Minutes,
        /// Tokens.
        "tokens" => Tokens,
        /// Cents of a US dollar.
        "usd" => UsCents,
    }
}

/// The name of a unit for people, its value in its smallest amount, its limit in a budget, and its amount in what is used.
type UnitRow = (
    &'static str,
    u64,
    fn(&Budget) -> Option<u64>,
    fn(&mut Usage) -> &mut u64,
);

impl Unit {
    #[rustfmt::skip] // A row a line.
    fn row(self) -> UnitRow {
        match self {
            Self::Turns => ("turns", 1, |of| of.turns, |of| &mut of.turns),
            Self::ToolCalls => ("tool calls", 1, |of| of.tool_calls, |of| &mut of.tool_calls),
            Self::Minutes => ("minutes", MINUTE, |of| of.minutes, |of| &mut of.milliseconds),
            Self::Tokens => ("tokens", 1, |of| of.tokens, |of| &mut of.tokens),
            Self::UsCents => ("US dollars", CENT, |of| of.us_cents, |of| &mut of.micro_usd),
        }
    }

    /// The limit of a budget in this unit, in the unit's smallest amount.
    fn limit(self, budget: &Budget) -> Option<u64> {
        let (_, smallest, limit, _) = self.row();
        let limit = limit(budget).filter(|limit| *limit != Budget::UNKNOWN);
        Some(limit?.saturating_mul(smallest))
    }

    /// An amount with its unit: `1 turn`, `120 turns`.
    fn counted(self, amount: u64) -> String {
        let (amount, unit) = (self.shown(amount), self.to_string());
        let one = unit.strip_suffix('s').filter(|_| amount == "1");
        format!("{amount} {}", one.unwrap_or(&unit))
    }

    fn amount(self, usage: &mut Usage) -> &mut u64 {
        self.row().3(usage)
    }

    /// An amount as people read it, without its unit.
    fn shown(self, amount: u64) -> String {
        let amount = amount / self.row().1;
        if self == Self::UsCents {
            return format!("{}.{:02}", amount / 100, amount % 100);
        }
        amount.to_string()
    }

    /// Reads an amount that a person wrote.
    fn read(self, text: &str) -> Option<u64> {
        let amount: u64 = if self == Self::UsCents {
            let (dollars, cents) = text.split_once('.').unwrap_or((text, "00"));
            let cents: u64 = match cents.len() {
                1 => cents.parse::<u64>().ok()? * 10,
                2 => cents.parse().ok()?,
                _ => return None,
            };
            let dollars = dollars.parse::<u64>().ok()?.checked_mul(100)?;
            dollars.checked_add(cents)?
        } else {
            text.parse().ok()?
        };
        amount.checked_mul(self.row().1)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

/// The use of one scope, or of the phase, and the amount that a person has allowed beyond its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeUsage {
    /// The amount that is used.
    pub used: Usage,
    /// The amount that a person has allowed in addition.
    pub extra: Usage,
    /// The entry of the scope to which its limit has led: there it does not count, and elsewhere it pauses the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub led_to: Option<usize>,
}

/// The use of a run: in each scope of its path, the root first, and in its phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// The scopes.
    pub scopes: Vec<ScopeUsage>,
    /// The phase, since it was entered.
    pub phase: ScopeUsage,
}

/// A limit of a budget, and what is used of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetUse {
    /// The unit.
    pub unit: Unit,
    /// The amount that is used, and the limit, in the smallest amount of the unit.
    amounts: (u64, u64),
}

impl BudgetUse {
    /// The limit, as people read it.
    pub(crate) fn limit(&self) -> String {
        self.unit.counted(self.amounts.1)
    }

    /// The amount that is used beyond the limit.
    pub(crate) fn excess(&self) -> u64 {
        self.amounts.0.saturating_sub(self.amounts.1)
    }

    /// Returns true if nothing is left.
    pub(crate) fn is_used_up(&self) -> bool {
        self.amounts.0 >= self.amounts.1
    }

    /// Returns true if four fifths are used.
    pub(crate) fn is_nearly_used_up(&self) -> bool {
        self.amounts.0.saturating_mul(5) >= self.amounts.1.saturating_mul(4)
    }
}

impl fmt::Display for BudgetUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.unit.shown(self.amounts.0);
        write!(f, "{used} of {}", self.limit())
    }
}

impl Budget {
    /// The limits, as people read them: `120 turns, 180 minutes`, with the names of values that are not known. Empty without limits.
    pub fn describe(&self, bounds: &[(String, String)]) -> String {
        let unused = ScopeUsage::default();
        let known = unused.shares(self).map(|share| share.limit());
        let unknown = Unit::ALL
            .into_iter()
            .filter(|unit| unit.limit(self).is_none());
        let named = unknown.filter_map(|unit| {
            let (_, name) = bounds.iter().find(|(key, _)| key == unit.word())?;
            Some(format!("{{{name}}} {unit}"))
        });
        let limits = text::join(known.chain(named), ", ");
        match &self.on_limit {
            Some(target) if *target != Target::Pause => {
                format!("{limits}, then {}", target.described())
            }
            _ => limits,
        }
    }
}

impl ScopeUsage {
    /// The limits of a budget, with what is used of each.
    pub fn shares(&self, budget: &Budget) -> impl Iterator<Item = BudgetUse> {
        let mut usage = *self;
        Unit::ALL.into_iter().filter_map(move |unit| {
            let limit = unit.limit(budget)?;
            let most = limit.saturating_add(*unit.amount(&mut usage.extra));
            let amounts = (*unit.amount(&mut usage.used), most);
            Some(BudgetUse { unit, amounts })
        })
    }

    /// Allows more than the budget.
    pub(crate) fn allow(&mut self, amount: u64, unit: Unit) {
        let extra = unit.amount(&mut self.extra);
        *extra = extra.saturating_add(amount);
    }
}

impl Spending {
    /// That of the scopes, and then of the phase.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ScopeUsage> {
        self.scopes.iter().chain([&self.phase])
    }

    /// Adds to everything that the run is in.
    pub(crate) fn add(&mut self, add: impl Fn(&mut Usage)) {
        self.add_in(None, add);
    }

    /// Adds to so many outer scopes; without a number, to all and to the phase.
    pub(crate) fn add_in(&mut self, scopes: Option<usize>, add: impl Fn(&mut Usage)) {
        let phase = scopes.is_none().then_some(&mut self.phase);
        let scopes = scopes.unwrap_or(usize::MAX);
        for usage in self.scopes.iter_mut().take(scopes).chain(phase) {
            add(&mut usage.used);
        }
    }

    /// Moves to another phase: scopes that are entered anew, and the phase, begin at nothing. Returns the number of the others.
    pub(crate) fn enter(&mut self, before: &Path, after: &Path) -> usize {
        let (before, after) = (before.segments(), after.segments());
        // A scope stays the same as long as the entries of the scopes around it do.
        let is_same = |depth: usize| {
            depth < before.len()
                && before[..depth] == after[..depth]
                && before[depth].workflow_key == after[depth].workflow_key
        };
        let kept = (0..after.len()).take_while(|&depth| is_same(depth)).count();
        self.scopes.truncate(kept);
        self.scopes.resize(after.len(), ScopeUsage::default());
        self.phase = ScopeUsage::default();
        kept
    }
}

/// Reads `+20 turns`, or several of them: the amounts and their units. An amount without a unit has this one. The error names
/// the part that cannot be read.
pub(crate) fn read_allowances(text: &str, unit: Unit) -> Result<Vec<(u64, Unit)>, &str> {
    let Some(parts) = text.strip_prefix('+') else {
        return Err(text);
    };
    let read = |part: &str| {
        let part = part.trim().trim_end_matches(',');
        let end = part.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (amount, word) = part.split_at(end.unwrap_or(part.len()));
        let word = word.trim();
        let is_it = |unit: &Unit| {
            let names = [unit.word().to_owned(), unit.to_string()];
            names.iter().any(|name| {
                let one = name.strip_suffix('s').unwrap_or(name);
                word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(one)
            })
        };
        let unit = match word {
            "" => unit,
            _ => Unit::ALL.into_iter().find(is_it)?,
        };
        Some((unit.read(amount)?, unit)).filter(|(amount, _)| *amount > 0)
    };
    parts
        .split('+')
        .map(|part| read(part).ok_or(part))
        .collect()
}
