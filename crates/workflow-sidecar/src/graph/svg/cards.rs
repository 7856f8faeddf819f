//! Cards: their text in lines, their common width, and the extent of the scopes around them.

use unicode_width::UnicodeWidthStr;

use super::super::model::{Graph, GraphEntry, GraphNode, GraphScope, MarkKind, NodeMark};
use super::measure::{width, wrapped};
use super::sizes::{
    BOLD, EMOJI, ICON, INSET, LINE, LINES, MARK_LINES, NARROWEST, PAD, SMALL, SMALL_LINE, TO_LANE,
    WIDEST,
};

/// The text of a card or of a scope's head, in lines.
#[derive(Debug)]
pub(super) struct BoxText<'g> {
    /// The emoji before the name, if it is short enough.
    pub(super) emoji: Option<&'g str>,
    pub(super) name: Vec<String>,
    pub(super) marks: Vec<(MarkKind, Vec<String>)>,
}

/// The extent of a box on both sides of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoxExtent {
    pub(super) left: u32,
    pub(super) right: u32,
}

impl BoxExtent {
    /// Widens the extent to a minimum on each side and in total.
    pub(super) fn at_least(self, side: u32, whole: u32) -> Self {
        let (left, right) = (self.left.max(side), self.right.max(side));
        let missing = whole.saturating_sub(left + right);
        Self {
            left: left + missing / 2,
            right: right + missing.div_ceil(2),
        }
    }
}

/// The common width of all cards.
pub(super) struct CardMetrics {
    pub(super) card: u32,
}

impl CardMetrics {
    pub(super) fn of(graph: &Graph) -> Self {
        let natural = graph.root.nodes().into_iter().map(|step| {
            let (emoji, name) = label(step);
            let indent = if emoji.is_some() { EMOJI } else { 0 };
            let marks = step
                .marks
                .iter()
                .map(|mark| ICON + width(&mark.text, SMALL));
            indent + marks.max().unwrap_or(0).max(width(&name, BOLD))
        });
        let text = natural.max().unwrap_or(0).clamp(NARROWEST, WIDEST);
        // Even, so that the centre is a whole pixel.
        Self {
            card: (text + 2 * INSET).next_multiple_of(2),
        }
    }

    pub(super) fn extent(&self, scope: &GraphScope) -> BoxExtent {
        let inside = self.inside(scope);
        let lane = if scope.loop_edge.is_some() {
            TO_LANE
        } else {
            0
        };
        BoxExtent {
            left: inside.left + PAD,
            right: inside.right + lane + PAD,
        }
    }

    /// Returns the extent of a scope's content.
    pub(super) fn inside(&self, scope: &GraphScope) -> BoxExtent {
        let half = self.card / 2;
        let extents = scope.entries.iter().map(|entry| match entry {
            GraphEntry::Node(_) => BoxExtent {
                left: half,
                right: half,
            },
            GraphEntry::Scope(inner) => self.extent(inner),
        });
        let none = BoxExtent { left: 0, right: 0 };
        extents.fold(none, |all, one| BoxExtent {
            left: all.left.max(one.left),
            right: all.right.max(one.right),
        })
    }

    pub(super) fn text<'g>(&self, step: &'g GraphNode) -> BoxText<'g> {
        let (emoji, name) = label(step);
        BoxText::new(emoji, &name, &step.marks, self.card)
    }
}

/// Splits a node's label into its emoji and its name. An `emoji` that is longer than one becomes part of the name.
fn label(step: &GraphNode) -> (Option<&str>, String) {
    let emoji = &*step.emoji;
    // One emoji may consist of many joined characters.
    let icon = !emoji.is_ascii() && emoji.width() <= 2 && emoji.chars().count() < 12;
    if emoji.is_empty() {
        (None, step.name.clone())
    } else if icon || width(emoji, 100) <= 140 {
        (Some(emoji), step.name.clone())
    } else {
        (None, format!("{emoji} {}", step.name))
    }
}

impl<'g> BoxText<'g> {
    /// Wraps a name and marks to a box of a width.
    pub(super) fn new(emoji: Option<&'g str>, name: &str, marks: &[NodeMark], width: u32) -> Self {
        let room = width - 2 * INSET - if emoji.is_some() { EMOJI } else { 0 };
        let lines = |mark: &NodeMark| wrapped(&mark.text, SMALL, room - ICON, MARK_LINES);
        Self {
            emoji,
            name: wrapped(name, BOLD, room, LINES),
            marks: marks.iter().map(|mark| (mark.kind, lines(mark))).collect(),
        }
    }

    pub(super) fn height(&self) -> u32 {
        let count = |lines: usize| u32::try_from(lines).expect("a few lines");
        let of_marks = match self.marks.iter().map(|(_, lines)| lines.len()).sum() {
            0 => 0,
            lines => 3 + count(lines) * SMALL_LINE,
        };
        2 * 10 + count(self.name.len()).max(1) * LINE + of_marks
    }
}
