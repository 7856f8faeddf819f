//! What a host cannot enforce, for `explain --host` and `check`.

/// What a host cannot enforce.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The results of tool calls that rules can withhold or change.
    pub(crate) results: Results,
    /// Ways around the hooks, each a sentence.
    pub(crate) holes: &'static [&'static str],
}

/// The results of tool calls that a hook can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    All,
    /// Those of MCP servers only.
    OfMcp,
    None,
}
