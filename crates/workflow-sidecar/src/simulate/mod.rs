//! A dry run of a workflow: a host without an agent, over the very dispatch that serves.
//!
//! [`command`] is what can happen, as it is typed; [`Simulation`] lets it happen and tells what follows; what is
//! told is [`Told`]. The clock is virtual and the seed fixed, so that the same commands have the same
//! answers. Must not know how it is shown.

mod command;
mod dry_run;
mod guards;
mod host;
mod record;
mod simulation;
mod told;

pub(crate) use command::{Command, HELP, Step};
pub(crate) use guards::Guards;
pub(crate) use record::Recorder;
pub(crate) use simulation::{Simulation, Start};
pub(crate) use told::{Changed, Level, Told};
