//! The elements of a picture, as text of SVG. Colours are for light and dark pages.

use super::super::model::{MarkKind, NodeMark};
use super::measure::BoxText;
use super::measure::{EMOJI, ICON, LINE, NAME, SMALL, SMALL_LINE};
use crate::present::xml;

/// The style of the pictures.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The class of the line of `loop`.
pub(super) const LOOP: &str = "wf-loop";

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// A group with a title, which is shown under the pointer.
pub(super) fn titled(title: &str, content: &str) -> String {
    format!("<g><title>{}</title>\n{content}</g>\n", xml(title))
}

/// A name and its marks, for those who do not see the picture.
pub(super) fn described(name: &str, marks: &[NodeMark]) -> String {
    let marks: Vec<&str> = marks.iter().map(|mark| &*mark.text).collect();
    match &*marks.join(", ") {
        "" => name.to_owned(),
        marks => format!("{name} ({marks})"),
    }
}

pub(super) fn rect(class: &str, area: Area, radius: u32) -> String {
    format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{radius}\"/>\n",
        area.x, area.y, area.width, area.height
    )
}

fn text(class: &str, (x, y): (u32, u32), style: &str, text: &str) -> String {
    let text = xml(text);
    format!("<text {class}x=\"{x}\" y=\"{y}\" {style}>{text}</text>\n")
}

/// The class of a text that is not a name.
const QUIET: &str = "class=\"wf-quiet\" ";

pub(super) fn quiet(x: u32, y: u32, quiet: &str) -> String {
    text(QUIET, (x, y), &format!("font-size=\"{SMALL}\""), quiet)
}

/// A short text in a rounded box, in its middle.
pub(super) fn pill(area: Area, short: &str) -> String {
    let middle = (area.x + area.width / 2, area.y + 18);
    let style = format!("font-size=\"{SMALL}\" text-anchor=\"middle\"");
    rect("wf-pill", area, area.height / 2) + &text(QUIET, middle, &style, short)
}

pub(super) fn path(class: &str, path: &str) -> String {
    format!("<path class=\"{class}\" d=\"{path}\"/>\n")
}

/// The text of a box.
pub(super) fn box_text(content: &BoxText<'_>, mut x: u32, mut y: u32) -> String {
    let mut drawn = String::new();
    if let Some(emoji) = content.emoji {
        let style = "font-size=\"18\" text-anchor=\"middle\"";
        drawn += &text("", (x + 10, y + 1), style, emoji);
        x += EMOJI;
    }
    for line in &content.name {
        let style = format!("font-size=\"{NAME}\" font-weight=\"600\"");
        drawn += &text("", (x, y), &style, line);
        y += LINE;
    }
    y += 1;
    for (kind, lines) in &content.marks {
        drawn += &icon(Some(*kind), x, y - 10);
        for line in lines {
            drawn += &quiet(x + ICON, y, line);
            y += SMALL_LINE;
        }
    }
    drawn
}

/// An arrow down the axis.
pub(super) fn arrow(x: u32, from: u32, to: u32) -> String {
    let (left, right, neck) = (x - 4, x + 4, to - 7);
    path("wf-line", &format!("M{x} {from}V{neck}"))
        + &path("wf-head", &format!("M{left} {neck}H{right}L{x} {to}Z"))
}

/// A line out to a lane, along it, and back to an arrow head. The lane is on the left or on the right of both ends.
pub(super) fn around(
    class: &str,
    lane: u32,
    (from_x, from_y): (u32, u32),
    (to_x, to_y): (u32, u32),
) -> String {
    let turn = 7.min(from_y.abs_diff(to_y) / 2);
    let (inside, neck) = if lane < from_x {
        (lane + turn, to_x - 7)
    } else {
        (lane - turn, to_x + 7)
    };
    let (leave, arrive) = if to_y < from_y {
        (from_y - turn, to_y + turn)
    } else {
        (from_y + turn, to_y - turn)
    };
    let way = format!(
        "M{from_x} {from_y}H{inside}Q{lane} {from_y} {lane} {leave}V{arrive}Q{lane} {to_y} {inside} {to_y}H{neck}"
    );
    let (up, down) = (to_y - 4, to_y + 4);
    let head = format!("M{neck} {up}V{down}L{to_x} {to_y}Z");
    let class_of_head = if class == LOOP { LOOP_HEAD } else { "wf-head" };
    path(class, &way) + &path(class_of_head, &head)
}

const LOOP_HEAD: &str = "wf-loop-head";

/// The icon of a kind of mark, or that of `loop`.
pub(super) fn icon(kind: Option<MarkKind>, x: u32, y: u32) -> String {
    let paths: &[(&str, &str)] = match kind {
        Some(MarkKind::Rule) => &[("wf-lock", "M1 5h9v6h-9zM3 5v-2a2.5 2.5 0 0 1 5 0v2")],
        Some(MarkKind::Open) => &[("wf-open", "M1 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0")],
        Some(MarkKind::Gate) => &[("wf-check", "M1 7l3.5 3.5l6 -8")],
        Some(MarkKind::Approval) => &[(
            "wf-person",
            "M3 3a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0M1 11a4.5 4 0 0 1 9 0",
        )],
        Some(MarkKind::Waits) => &[("wf-pause", "M1 1h3v10h-3zM7 1h3v10h-3z")],
        Some(MarkKind::Flow) => &[("wf-line", "M6 11v-4l-3.5 -4M6 7l3.5 -4")],
        Some(MarkKind::Visited) => &[("wf-visit", "M1 6h8M6 2.5l3.5 3.5l-3.5 3.5")],
        Some(MarkKind::Present) => &[("wf-here", "M2 1l8 5l-8 5Z")],
        Some(MarkKind::Collapsed) => &[("wf-line", "M1 1h10v10h-10zM4 6h4M6 4v4")],
        None => &[(LOOP, "M7 6h13"), (LOOP_HEAD, "M7 2v8L0 6Z")],
    };
    let paths = paths.iter().map(|(class, path)| {
        format!("<path class=\"{class}\" transform=\"translate({x} {y})\" d=\"{path}\"/>\n")
    });
    paths.collect()
}
