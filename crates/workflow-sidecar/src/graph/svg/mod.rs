//! SVG of a graph, without another program: text widths, sizes and cards in `measure`, positions in `layout`, elements in `draw`.

mod draw;
mod layout;
mod measure;

pub(crate) use layout::svg;
pub(super) use measure::lines;
