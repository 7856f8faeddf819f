//! Budgets: the limits of what a run or a phase may use.

use serde::{Deserialize, Serialize};

use crate::definition::schema::{Declared, FromMap, MapReader, Section, section};
use crate::definition::syntax::Span;
use crate::definition::value::{Cents, Whole};
use crate::diagnostic::{Code, Finding, Severity};

section! {
    Section::guard("`budget`");
    /// The limits of what a run or a phase may use. At a limit the run pauses.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Budget {
        /// Responses of the model.
        #[key("turns": Whole<1, { u32::MAX }, u64>, otherwise("no limit"), example("120"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub turns: Option<u64>,
        /// Tool calls.
        #[key("toolCalls": Whole<1, { u32::MAX }, u64>, otherwise("no limit"), example("800"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tool_calls: Option<u64>,
        /// Minutes in which the agent works.
        #[key("minutes": Whole<1, { u32::MAX }, u64>, otherwise("no limit"), example("180"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub minutes: Option<u64>,
        /// Tokens, where the host reports them.
        #[key("tokens": Whole<1, { u32::MAX }, u64>, otherwise("no limit"), example("2000000"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tokens: Option<u64>,
        /// US dollars, where the host reports costs.
        #[key("usd": Cents, otherwise("no limit"), example("2.50"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub us_cents: Option<u64>,
    }
}

impl Budget {
    /// Returns true if it limits nothing.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// The findings about bounds of a phase that its workflow's come before.
    pub(crate) fn check_within(
        &self,
        workflow: &Self,
        span: Option<Span>,
    ) -> impl Iterator<Item = Finding> {
        let bounds = [
            ("turns", self.turns, workflow.turns),
            ("toolCalls", self.tool_calls, workflow.tool_calls),
            ("minutes", self.minutes, workflow.minutes),
            ("tokens", self.tokens, workflow.tokens),
            ("usd", self.us_cents, workflow.us_cents),
        ];
        let is_idle = |(_, of_phase, of_run): &(_, Option<u64>, Option<u64>)| {
            of_phase
                .zip(*of_run)
                .is_some_and(|(phase, run)| phase > run)
        };
        bounds.into_iter().filter(is_idle).map(move |(name, ..)| {
            let message =
                format!("`{name}` of the phase can never act: that of the workflow is lower");
            Finding::warning(Code::IdleVisits, span, message).help("lower it, or remove it")
        })
    }
}

impl FromMap for Budget {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        if keys.is_empty() {
            let finding =
                Finding::error(Code::MissingKey, keys.key_span(), "`budget` limits nothing");
            let help = keys.for_example();
            keys.report(finding.help(help));
        }
        let reported = [
            ("tokens", keys.place(&Self::tokens)),
            ("usd", keys.place(&Self::us_cents)),
        ];
        let reported: Vec<_> = reported
            .into_iter()
            .filter_map(|(name, place)| Some((name, place?)))
            .collect();
        if let [(_, first), more @ ..] = &*reported {
            let verb = if more.is_empty() { "is" } else { "are" };
            let names: Vec<&str> = reported.iter().map(|(name, _)| *name).collect();
            let names = names.join("` and `");
            let message = format!("`{names}` {verb} enforced only where the host reports usage");
            let finding = Finding::new(Severity::Info, Code::HostReports, first.key, message);
            let mut enforced = ["turns", "toolCalls", "minutes"].iter();
            let is_enforced = enforced.any(|name| keys.has(name));
            keys.report(if is_enforced {
                finding.help("nothing: the other limits of this budget are enforced everywhere")
            } else {
                finding
            });
        }
        let mut budget = Self::default();
        budget.read_keys(keys);
        Some(budget)
    }
}
