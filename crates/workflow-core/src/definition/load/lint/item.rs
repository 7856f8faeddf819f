//! A text of a rule, and its correction.

use crate::definition::syntax::Span;
use crate::diagnostic::{Finding, shown};

/// A text of a rule and its location.
pub(super) type Item<'m> = (&'m str, Option<Span>);

/// Returns a finding whose correction is one text instead of another.
pub(super) fn corrected(finding: Finding, from: &str, to: &str) -> Finding {
    finding.help(format!("write `{}`", shown(to))).fix(from, to)
}
