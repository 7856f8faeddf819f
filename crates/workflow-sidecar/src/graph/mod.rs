//! Pictures of a workflow: one model, and a renderer for each format.
//!
//! Owns what a picture says and how it is drawn. It must not know files, the command line or a run: what
//! is drawn is what the definitions mean.

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
