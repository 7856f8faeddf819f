//! SVG of a graph, without another program: text widths, sizes and cards in `measure`, positions in `layout`, elements in `draw`.

mod draw;
mod layout;
mod measure;

pub(crate) use draw::STYLE;
pub(crate) use layout::{svg, svg_in_page};
pub(super) use measure::lines;
