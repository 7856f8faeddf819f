//! Diagrams of a workflow: one model, and a renderer per format.
//!
//! Knows definitions only: no files, no command line, no runs.

mod dot;
mod mermaid;
mod model;
mod svg;
#[cfg(test)]
mod tests;

pub(crate) use dot::dot;
pub(crate) use mermaid::mermaid;
pub(crate) use model::Graph;
pub(crate) use svg::svg;
