//! The hosts, a file each.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod qwen;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::host::HookHost;

/// The hosts.
pub(crate) const HOSTS: [&HookHost; 5] = [
    &codex::HOST,
    &claude::HOST,
    &copilot::HOST,
    &gemini::HOST,
    &qwen::HOST,
];

/// The names of the hosts, for the command line.
pub(crate) fn names() -> impl Iterator<Item = PossibleValue> {
    let value = |host: &'static HookHost| PossibleValue::new(host.name).help(host.title);
    HOSTS.into_iter().map(value)
}

/// The parser of a host's name on the command line.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static HookHost> {
    PossibleValuesParser::new(names()).try_map(|name| host(&name).ok_or("there is no such host"))
}

/// Finds a host by its name.
pub(crate) fn host(name: &str) -> Option<&'static HookHost> {
    HOSTS.into_iter().find(|host| host.name == name)
}
