//! A graph as SVG, laid out and drawn here: no other program is asked.
//!
//! Owns how it looks. `measure` knows how wide text is, `layout` where boxes are, `draw` what is written.

mod draw;
mod layout;
mod measure;

use super::model::Graph;

/// The picture.
pub(crate) fn svg(graph: &Graph) -> String {
    draw::draw(&layout::Layout::of(graph))
}
