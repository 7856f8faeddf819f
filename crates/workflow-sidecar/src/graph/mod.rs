//! Diagrams of a workflow: one model, and a renderer per format.
//!
//! Knows definitions only: no files, no command line. What a run did is marks that the caller adds.

mod builder;
mod marks;
mod mermaid;
mod model;
mod svg;
#[cfg(test)]
mod tests;

pub(crate) use mermaid::mermaid;
pub(crate) use model::{Graph, MarkKind, NodeMark};
pub(crate) use svg::{STYLE, svg, svg_in_page};

/// The direction in which phases follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Direction {
    /// From top to bottom
    #[default]
    Down,
    /// From left to right
    Right,
}

impl Direction {
    /// Returns its name in Mermaid.
    fn as_str(self) -> &'static str {
        match self {
            Self::Down => "TB",
            Self::Right => "LR",
        }
    }
}
