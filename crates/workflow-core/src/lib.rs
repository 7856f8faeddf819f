//! The engine of workflow-sidecar: pure, without I/O, clock or randomness of its own.
//!
//! One value, [`Session`], with one way in ([`Event`] and a time) and one way out ([`Effects`]).
//! Everything the world must do is a value in the output; everything the world did comes back
//! as an input. So a whole session runs in a unit test, and a recording replays byte for byte.
//!
//! Start reading at [`session`], then `hook/`, then [`run`]; [`definition`] is a world of its own.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod approval;
pub mod checkpoint;
pub mod command;
mod context;
pub mod definition;
pub mod diagnostic;
pub mod effect;
mod ending;
pub mod event;
pub mod explain;
mod hook;
mod leaving;
pub mod policy;
mod random;
pub mod run;
pub mod session;
mod standing;
pub mod template;
mod text;
mod tool;
mod trust;
pub mod types;
pub mod view;
mod waiting;
pub mod wake;
pub mod white_space;

pub use effect::Effects;
pub use event::Event;
pub use session::Session;
pub use trust::foreign_gates;
