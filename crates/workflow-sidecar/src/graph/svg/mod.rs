//! SVG of a graph, without another program: text widths and sizes in `measure`, cards in `cards`, positions in `layout`, elements in `draw`.

mod cards;
mod draw;
mod layout;
mod measure;

pub(crate) use layout::svg;
