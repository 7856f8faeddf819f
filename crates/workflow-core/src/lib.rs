//! The engine of workflow-sidecar: pure, without I/O, clock or randomness.
//!
//! A [`Session`] handles the events of one session of a host. Each event has a method, named `handle_*`, and
//! [`Session::at`] gives everything that must be done because of it, as [`Effects`]:
//!
//! - An [`Action`](effect::Action) or a [`Question`](effect::Question) is for the host.
//! - An [`Effect`](effect::Effect) is for the platform: run a gate, record a checkpoint, watch triggers. Its result comes
//!   back as a [`PlatformEvent`](event::PlatformEvent).
//! - A [`RequestAnswer`](effect::RequestAnswer) answers a request. It comes later if a person or the platform has to be
//!   waited for.
//!
//! So a whole session runs in a unit test, and a recorded session replays with the same results.
//!
//! ```
//! use std::sync::Arc;
//!
//! use workflow_core::definition::Loaded;
//! use workflow_core::effect::Reply;
//! use workflow_core::session::{Abilities, Session, StepCall};
//! use workflow_core::types::RequestId;
//!
//! let mut session = Session::new(Abilities::default(), 7);
//! let loaded = Arc::new(Loaded::default());
//!
//! session.at(0, |session| session.handle_session(&[], &loaded));
//!
//! let call = StepCall { action: Some("status".into()), ..StepCall::default() };
//! let ((), out) = session.at(1_000, |session| session.handle_workflow_step(RequestId(1), &call));
//! let Reply::Step(answer) = &out.answers[0].reply else {
//!     panic!("the status needs nobody");
//! };
//! assert!(answer.text.starts_with("No active workflow."));
//! assert!(out.actions.is_empty());
//! ```
//!
//! [`types`], [`event`] and [`effect`] are leaf modules. [`run`] has the states of a run and their transitions,
//! [`policy`] the decisions on tool calls, [`definition`] the language of workflows. [`session`] composes them.

pub mod approval;
mod condition;
pub mod definition;
pub mod diagnostic;
pub mod effect;
pub mod event;
pub mod explain;
mod json_text;
mod pattern;
pub mod policy;
pub mod reminders;
pub mod run;
pub mod session;
pub mod template;
mod text;
mod tool_names;
pub mod types;
pub mod white_space;

pub use effect::Effects;
pub use json_text::{Text, text_or_none};
pub use pattern::secrets::{REDACTED, without_secrets};
pub use session::Session;
