//! SVG of a graph, without another program: text widths in `measure`, cards in `cards`, positions in `layout`, elements in `draw`.

mod cards;
mod draw;
mod layout;
mod measure;
mod sizes;

pub(crate) use layout::svg;
