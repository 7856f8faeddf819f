//! Cards: their text in lines, their common width, and the extent of the scopes around them.

use unicode_width::UnicodeWidthStr;

use super::super::model::{Graph, GraphNode, MarkKind, NodeMark};
use super::measure::{
    BOLD, EMOJI, ICON, INSET, LINE, LINES, MARK_LINES, NARROWEST, PAD, SMALL, SMALL_LINE, WIDEST,
};
use super::measure::{width, wrapped};

/// The text of a card or of a scope's head, in lines.
pub(super) struct BoxText<'g> {
    /// The emoji before the name, if it is short enough.
    pub(super) emoji: Option<&'g str>,
    pub(super) name: Vec<String>,
    pub(super) marks: Vec<(MarkKind, Vec<String>)>,
}

/// The common width of all cards.
pub(super) fn card_width(graph: &Graph) -> u32 {
    let natural = graph.root.nodes().into_iter().map(|step| {
        let (emoji, name) = label(step);
        let indent = if emoji.is_some() { EMOJI } else { 0 };
        let marks = step.marks.iter();
        let marks = marks.map(|mark| ICON + width(&mark.text, SMALL));
        indent + marks.max().unwrap_or(0).max(width(&name, BOLD))
    });
    let text = natural.max().unwrap_or(0).clamp(NARROWEST, WIDEST);
    // Even, so that the centre is a whole pixel.
    (text + 2 * INSET).next_multiple_of(2)
}

/// The extent of a scope's content on one side of the axis. A `loop` inside takes a lane on that side.
pub(super) fn inside(scope: &GraphNode, card: u32, lane: u32) -> u32 {
    let entries = scope.entries.iter();
    let extents = entries.map(|entry| extent(entry, card, lane));
    extents.max().unwrap_or(0)
}

/// The extent of a card or a scope on one side of the axis.
pub(super) fn extent(scope: &GraphNode, card: u32, lane: u32) -> u32 {
    if !scope.is_scope() {
        return card / 2;
    }
    let own_lane = scope.loop_edge.as_ref().map_or(0, |_| lane);
    inside(scope, card, lane) + own_lane + PAD
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
    /// The text of a card.
    pub(super) fn of(step: &'g GraphNode, card: u32) -> Self {
        let (emoji, name) = label(step);
        Self::new(emoji, &name, &step.marks, card)
    }

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
