//! A dry run of a workflow: a host without an agent, over the very dispatch that serves.
//!
//! [`command`] reads what a script or a user says; [`simulation`] plays it, and gives each [`reaction`] of the sidecar as it
//! is shown. The clock is virtual and the seed fixed, so that the same commands have the same answers.

mod command;
mod dry_run;
mod guards;
mod host;
mod reaction;
mod simulation;
mod walk;

pub(crate) use command::HELP;
pub(crate) use host::begin_recording;
pub(crate) use walk::{Script, ScriptKind, Walk};
