//! The engine of workflow-sidecar: pure, without I/O, clock or randomness of its own.

pub mod definition;
pub mod diagnostic;
pub mod template;
