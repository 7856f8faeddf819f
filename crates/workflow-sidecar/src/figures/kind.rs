//! The names of what is counted, as they are stored.

/// Runs by what became of them.
pub(crate) const RUN: &str = "run";
pub(crate) const STARTED: &str = "started";
/// Visits of a phase: the bucket of their time and the phase.
pub(crate) const PHASE: &str = "phase";
/// Times in which a run did not go on: the bucket and what it waited for.
pub(crate) const WAITED: &str = "waited";
/// Checks of gates by their result.
pub(crate) const PASSED: &str = "passed";
pub(crate) const FAILED: &str = "failed";
pub(crate) const UNRUN: &str = "unrun";
/// Calls that a rule stopped, by what became of them.
pub(crate) const DENIED: &str = "denied";
pub(crate) const ASKED: &str = "asked";
pub(crate) const ALLOWED: &str = "allowed";
pub(crate) const DECLINED: &str = "declined";
/// Reminders by phase.
pub(crate) const REMINDED: &str = "reminded";
/// Gates and approvals that a person passed over.
pub(crate) const OVERRODE: &str = "overrode";
/// What the host reports of the model's responses.
pub(crate) const TURNS: &str = "turns";
pub(crate) const TOKENS: &str = "tokens";
pub(crate) const MICRO_USD: &str = "microUsd";
