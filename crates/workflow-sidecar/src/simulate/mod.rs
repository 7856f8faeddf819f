//! A dry run of a workflow: a host without an agent, over the very dispatch that serves.
//!
//! [`command`] reads what a person types; [`Simulation`] plays it and gives each [`Reaction`] of the sidecar. The clock is
//! virtual and the seed fixed, so that the same commands have the same answers. Must not know how it is shown.

mod command;
mod dry_run;
mod guards;
mod host;
mod reaction;
mod simulation;

pub(crate) use command::{HELP, ScriptCommand, ScriptLine};
pub(crate) use guards::GuardLookup;
pub(crate) use host::begin_recording;
pub(crate) use reaction::{Changed, NoticeLevel, PossibleAnswers, Reaction};
pub(crate) use simulation::{Simulation, Start};
