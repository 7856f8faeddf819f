//! Limits of a host, for `explain --host` and `check`.

/// Limits of a host.
#[derive(Debug)]
pub(crate) struct HookLimits {
    /// The results of tool calls that rules can withhold or change.
    pub(crate) results: ChangeableResults,
    /// What the hooks do not enforce, each a sentence.
    pub(crate) not_enforced: &'static [&'static str],
}

pub(super) const NO_TEXT_IN_PROMPTS: &str = "No text can be added to a prompt: the agent reads the phase when its first tool call is refused, or when it stops.";
pub(super) const AGENTS_LOOK_ALIKE: &str =
    "It does not say which agent makes a call, so sub-agents can call `workflow_step`.";

/// The results of tool calls that a hook can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeableResults {
    All,
    /// Those of MCP servers only.
    OfMcp,
    None,
}
