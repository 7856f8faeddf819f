//! Parameters of `initialize`, `shutdown` and `clock/advance`.

use schemars::JsonSchema;
use serde::Deserialize;
use workflow_core::Text;

/// The host's description of itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitializeParams<'a> {
    /// The version of the protocol: the number 1.
    pub protocol_version: u32,
    /// The name and version of the host.
    #[serde(borrow)]
    pub host: HostInfo<'a>,
    /// The working directory; project definitions are looked for here.
    #[serde(borrow)]
    pub cwd: Text<'a>,
    /// The directory of the user's own definitions, if it is not the usual one.
    #[serde(borrow)]
    pub agent_dir: Option<Text<'a>>,
    /// The host's capabilities.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// The source of time.
    #[serde(default)]
    pub clock: Clock,
}

/// The name and version of the host.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostInfo<'a> {
    /// The host's name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The host's version.
    #[serde(borrow)]
    pub version: Text<'a>,
}

/// The host's capabilities; unknown flags are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    /// It answers `ui/confirm`, `ui/select` and `ui/input`.
    pub dialogs: bool,
    /// It closes a dialog when `ui/dismiss` says that the question is settled.
    pub dismiss: bool,
    /// It shows widgets; if this is left out, it does where a session's `hasUI` is true.
    pub widgets: Option<bool>,
    /// It sends `hook/agent_end` when the agent has settled: no retry and no queued message will follow.
    pub settle: bool,
    /// It applies the action `setHints`.
    pub hints: bool,
    /// It answers `host/exec`.
    pub exec: bool,
}

/// The source of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Clock {
    /// The system's clock.
    #[default]
    System,
    /// Only `clock/advance` moves time; the same input gives the same bytes.
    Virtual {
        /// The time at the start, in milliseconds since 1970.
        now: u64,
        /// The seed of task ids.
        #[serde(default)]
        seed: u64,
    },
}

/// No parameters at all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// `shutdown` takes no parameters.
pub type ShutdownParams<'a> = NoParams;

session_bound! {
    /// The duration by which the virtual clock moves.
    pub struct ClockAdvanceParams<'a> {
        /// Milliseconds to move on.
        pub ms: u64,
    }
}

answer! {
    /// The actions that came due in a session while the clock moved.
    pub struct ClockAdvanceResult {}
}
