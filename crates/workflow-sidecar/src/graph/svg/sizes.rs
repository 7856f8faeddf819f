//! The sizes of text, boxes and lines, in pixels.

/// Font sizes.
pub(super) const NAME: u32 = 15;
pub(super) const SMALL: u32 = 12;
/// The size by which names and titles are measured: their bold letters are wider.
pub(super) const BOLD: u32 = 17;
/// Distance between two lines.
pub(super) const LINE: u32 = 19;
pub(super) const SMALL_LINE: u32 = 17;
/// Width of an emoji, and of a mark's icon, before the text.
pub(super) const EMOJI: u32 = 30;
pub(super) const ICON: u32 = 18;
/// Distance between a box's edge and its text.
pub(super) const INSET: u32 = 14;

pub(super) const MARGIN: u32 = 24;
/// Distance between two boxes, with the arrow.
pub(super) const GAP: u32 = 28;
/// Distance between a scope's edge and its content.
pub(super) const PAD: u32 = 16;
/// Distance between a scope's content and the lane of its `loop`.
pub(super) const TO_LANE: u32 = 18;
pub(super) const NARROWEST: u32 = 150;
pub(super) const WIDEST: u32 = 330;
/// Maximum number of lines of a name.
pub(super) const LINES: usize = 4;
/// Maximum number of lines of a mark: what a rule or a check says must be readable.
pub(super) const MARK_LINES: usize = 6;

/// Width of an icon in the legend.
pub(super) const LEGEND_ICON: u32 = 26;
pub(super) const LEGEND_LINE: u32 = 20;
pub(super) const PILL_HEIGHT: u32 = 28;
/// Distance between the lanes of two jumps, and between two of their lines at a card.
pub(super) const LANE: u32 = 12;
pub(super) const JUMP_LINE: u32 = 17;
/// Maximum width of a jump's label.
pub(super) const JUMP_LABEL: u32 = 130;
