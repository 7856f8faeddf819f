//! SVG of a graph, without another program: text widths in `measure`, cards in `cards`, positions in `layout`, output in `draw`.

mod cards;
mod draw;
mod layout;
mod measure;
mod sizes;

use super::model::Graph;

/// Returns the SVG of a graph.
pub(crate) fn svg(graph: &Graph) -> String {
    draw::draw(&layout::Layout::of(graph))
}
