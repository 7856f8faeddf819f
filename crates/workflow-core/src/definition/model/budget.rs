//! Budgets: the limits of what a run or a phase may use.

use super::target::{OnLimit, Target};
use crate::definition::schema::{Declared, FromMap, Key, MapReader, Section, section};
use crate::definition::syntax::Span;
use crate::definition::value::{Cents, OrValue, WholeOrValue};
use crate::diagnostic::{Code, Finding, Severity};
use crate::text::join;

section! {
    Section::guard("`budget`");
    /// The limits of what a run or a phase may use.
    #[derive(Default)]
    pub struct Budget {
        /// Responses of the model.
        #[key("turns"?: WholeOrValue<u64>, default: Described("no limit"), example: "120")]
        pub turns: Option<u64>,
        /// Tool calls.
        #[key("toolCalls"?: WholeOrValue<u64>, default: Described("no limit"), example: "800")]
        pub tool_calls: Option<u64>,
        /// Minutes in which the agent works.
        #[key("minutes"?: WholeOrValue<u64>, default: Described("no limit"), example: "180")]
        pub minutes: Option<u64>,
        /// Tokens, where the host reports them.
        #[key("tokens"?: WholeOrValue<u64>, default: Described("no limit"), example: "2000000")]
        pub tokens: Option<u64>,
        /// US dollars, where the host reports costs. A value is a whole number.
        #[key("usd"?: OrValue<Cents>, default: Described("no limit"), example: "2.50")]
        pub us_cents: Option<u64>,
        /// What happens at a limit: `pause`, `cancel`, `end`, `{end: name}`, `done`, or an id of the same workflow.
        #[key("onLimit"?: OnLimit, default: Text("pause"), example: r#""cancel""#)]
        pub on_limit: Option<Target>,
    }
}

impl Budget {
    /// A limit that is a value which the run does not have yet.
    pub(crate) const UNKNOWN: u64 = u32::MAX as u64;

    /// Lowers a limit, by its key.
    pub(crate) fn lower(&mut self, key: &str, to: u64) {
        let (limit, to) = match key {
            "turns" => (&mut self.turns, to),
            "toolCalls" => (&mut self.tool_calls, to),
            "minutes" => (&mut self.minutes, to),
            "usd" => (&mut self.us_cents, to.saturating_mul(100)),
            _ => (&mut self.tokens, to),
        };
        *limit = least(*limit, Some(to));
    }

    /// Returns true if it limits nothing.
    pub fn is_unlimited(&self) -> bool {
        let limits = [self.turns, self.tool_calls, self.minutes, self.tokens];
        limits.iter().chain([&self.us_cents]).all(Option::is_none)
    }

    /// The stricter limits of both.
    #[must_use]
    pub(crate) fn stricter(&self, other: &Self) -> Self {
        Self {
            turns: least(self.turns, other.turns),
            tool_calls: least(self.tool_calls, other.tool_calls),
            minutes: least(self.minutes, other.minutes),
            tokens: least(self.tokens, other.tokens),
            us_cents: least(self.us_cents, other.us_cents),
            on_limit: self.on_limit.clone().or_else(|| other.on_limit.clone()),
        }
    }

    /// The findings about bounds of a phase that its workflow's come before.
    pub(crate) fn check_within(&self, workflow: &Self, span: Option<Span>) -> Vec<Finding> {
        let is_idle = |key: &&Key| {
            let bound = |of: &Self| of.value_of(key.name)?.as_u64();
            bound(self)
                .zip(bound(workflow))
                .is_some_and(|(of_phase, of_run)| of_phase > of_run && of_phase < Self::UNKNOWN)
        };
        let idle = Self::SECTION.keys.iter().filter(is_idle);
        let findings = idle.map(|Key { name, .. }| {
            let message =
                format!("`{name}` of the phase can never act: that of the workflow is lower");
            Finding::warning(Code::IdleVisits, span, message).help("lower it, or remove it")
        });
        findings.collect()
    }
}

/// The bounds that are values of the run: the key, and the name of the value.
pub(crate) type Bounds = Vec<(String, String)>;

/// The bound of a key, as people read it: the name of a value that the run does not have.
pub(super) fn bound_in_words(
    most: Option<u32>,
    key: &str,
    bounds: &[(String, String)],
) -> Option<String> {
    let is_unknown = most? == u32::MAX;
    let mut named = bounds.iter().filter(|(of, _)| is_unknown && of == key);
    let name = named.next().map(|(_, name)| format!("{{{name}}}"));
    name.or_else(|| Some(most?.to_string()))
}

/// The lower of two limits.
pub(crate) fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl FromMap for Budget {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let mut limits = Self::SECTION.keys.iter();
        let has_limit = limits.any(|key| key.name != "onLimit" && keys.has(key.name));
        if let Some(written) = keys.of.filter(|_| !has_limit) {
            let span = written.entry.key_span;
            let finding = written.empty("`budget` limits nothing");
            keys.report(Finding { span, ..finding });
        }
        let reported = ["tokens", "usd"].into_iter();
        let reported: Vec<_> = reported.filter_map(|name| keys.entry(name)).collect();
        if let [first, more @ ..] = &*reported {
            let verb = if more.is_empty() { "is" } else { "are" };
            let names = join(reported.iter().map(|entry| &*entry.key), "` and `");
            let message = format!("`{names}` {verb} enforced only where the host reports usage");
            let finding = Finding::new(Severity::Info, Code::HostReports, first.key_span, message);
            let mut enforced = ["turns", "toolCalls", "minutes"].iter();
            let is_enforced = enforced.any(|name| keys.has(name));
            let help = "nothing: the other limits of this budget are enforced everywhere";
            let help = if is_enforced {
                help
            } else {
                Code::HostReports.help()
            };
            keys.report(finding.help(help));
        }
        Some(keys.read())
    }
}
