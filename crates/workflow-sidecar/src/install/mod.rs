//! Our part of the configuration of hook hosts: written, removed, found.
//!
//! Edits are made in the text, so everything that is not ours stays byte for byte, and removing what was written gives the
//! text of before.

mod changes;
pub(crate) mod codex_trust;
mod command;
mod directories;
mod hosts;
mod json_text;
pub(crate) mod opencode;
mod own;
pub(crate) mod pi;
mod plan;
mod target_file;
mod toml_block;

pub(crate) use self::changes::FileChange;
pub(crate) use self::command::InstallRequest;
pub(crate) use self::directories::Directories;
pub(crate) use self::hosts::InstallTarget;
pub(crate) use self::plan::{Installed, has_server, installed, installed_hosts, plan};

#[cfg(test)]
mod tests;
