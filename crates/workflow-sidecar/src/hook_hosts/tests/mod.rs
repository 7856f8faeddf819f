//! Hosts, played from what the real programs sent: `tests/hook_hosts`.

mod answers;
mod claude;
mod door;
mod figures;
mod prompts;
mod sessions;
mod tool_calls;
mod world;
