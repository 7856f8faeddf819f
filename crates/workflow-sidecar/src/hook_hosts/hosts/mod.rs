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

/// The names of the hosts and of other ones, for the command line.
pub(crate) fn names(others: &[&'static str]) -> PossibleValuesParser {
    let hosts = HOSTS.iter().map(|host| (host.name, host.title));
    let all = hosts.chain(others.iter().map(|name| (*name, *name)));
    PossibleValuesParser::new(all.map(|(name, help)| PossibleValue::new(name).help(help)))
}

/// The parser of a host's name on the command line.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static HookHost> {
    names(&[]).try_map(|name| host(&name).ok_or("there is no such host"))
}

/// Finds a host by its name.
pub(crate) fn host(name: &str) -> Option<&'static HookHost> {
    HOSTS.into_iter().find(|host| host.name == name)
}
