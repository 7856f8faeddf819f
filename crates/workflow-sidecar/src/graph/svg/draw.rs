//! SVG source of a layout: colours (light and dark) and escaping.

use std::fmt::{self, Write};

use super::super::model::{Jump, JumpTarget, NodeMark};
use super::cards::Icon;
use super::layout::{Area, Arrow, Card, Frame, JumpLane, Lane, Layout, Pill};
use super::sizes::{EMOJI, ICON, INSET, LEGEND_ICON, LINE, MARGIN, NAME, SMALL, SMALL_LINE, TITLE};

const STYLE: &str = "\
  .wf { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif }
  .wf-page { fill: #ffffff }
  .wf-frame { fill: #f6f8fa; stroke: #d1d9e0 }
  .wf-odd { fill: #eaeef2 }
  .wf-card { fill: #ffffff; stroke: #afb8c1 }
  .wf-waits { stroke: #bf8700; stroke-width: 1.5 }
  .wf-pill { fill: none; stroke: #818b98 }
  .wf text { fill: #1f2328 }
  .wf .wf-quiet { fill: #59636e }
  .wf-line { fill: none; stroke: #59636e; stroke-width: 1.5 }
  .wf-head { fill: #59636e }
  .wf-loop { fill: none; stroke: #8250df; stroke-width: 1.5; stroke-dasharray: 4 3 }
  .wf-loop-head { fill: #8250df }
  .wf-lock { fill: none; stroke: #0969da; stroke-width: 1.5 }
  .wf-open { fill: none; stroke: #1a7f37; stroke-width: 1.5 }
  .wf-pause { fill: #bf8700 }
  .wf-check { fill: none; stroke: #1a7f37; stroke-width: 2 }
  .wf-person { fill: none; stroke: #bf8700; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .wf-page { fill: #0d1117 }
    .wf-frame { fill: #151b23; stroke: #3d444d }
    .wf-odd { fill: #1c232c }
    .wf-card { fill: #262c36; stroke: #565e68 }
    .wf-waits { stroke: #d29922 }
    .wf-pill { stroke: #656c76 }
    .wf text { fill: #f0f6fc }
    .wf .wf-quiet { fill: #9198a1 }
    .wf-line { stroke: #9198a1 }
    .wf-head { fill: #9198a1 }
    .wf-loop { stroke: #ab7df8 }
    .wf-loop-head { fill: #ab7df8 }
    .wf-lock { stroke: #4493f8 }
    .wf-pause { fill: #d29922 }
    .wf-open { stroke: #3fb950 }
    .wf-check { stroke: #3fb950 }
    .wf-person { stroke: #d29922 }
  }
";

/// Returns the whole file.
pub(super) fn draw(layout: &Layout<'_>) -> String {
    let mut text = String::new();
    write_all(&mut text, layout).expect("writing to a string does not fail");
    text
}

fn write_all(out: &mut String, layout: &Layout<'_>) -> fmt::Result {
    let (width, height) = (layout.width, layout.height);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wf\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">"
    )?;
    writeln!(out, "<title>{}</title>", escaped(&layout.graph.root.name))?;
    writeln!(out, "<desc>{}</desc>", escaped(&description(layout)))?;
    writeln!(out, "<style>\n{STYLE}</style>")?;
    writeln!(
        out,
        "<rect class=\"wf-page\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>"
    )?;
    for frame in &layout.frames {
        draw_frame(out, frame)?;
    }
    for pill in &layout.pills {
        draw_pill(out, pill, layout.axis)?;
    }
    for card in &layout.cards {
        draw_card(out, card)?;
    }
    for arrow in &layout.arrows {
        draw_arrow(out, layout.axis, arrow)?;
    }
    for jump in &layout.jumps {
        draw_jump(out, jump)?;
    }
    for lane in &layout.loops {
        draw_lane(out, lane)?;
    }
    for &(icon, text, y) in &layout.legend {
        draw_icon(out, icon, MARGIN, y)?;
        quiet(out, MARGIN + LEGEND_ICON, y + 10, text)?;
    }
    writeln!(out, "</svg>")
}

/// Describes the diagram in text, for screen readers.
fn description(layout: &Layout<'_>) -> String {
    let nodes: Vec<String> = layout
        .graph
        .root
        .nodes()
        .into_iter()
        .map(|step| described(&step.name, &step.marks))
        .collect();
    let start = layout
        .graph
        .command
        .as_deref()
        .unwrap_or("As a part of others");
    let scopes = layout.graph.root.scopes().into_iter();
    let scopes = scopes.filter(|scope| !scope.marks.is_empty());
    let scopes = scopes.map(|scope| format!(" {}.", described(&scope.name, &scope.marks)));
    let scopes: String = scopes.collect();
    let order = format!("{start}: {}; then done.{scopes}", nodes.join("; "));
    let jumps: Vec<String> = layout
        .graph
        .jumps
        .iter()
        .map(|jump| jump_description(layout, jump))
        .collect();
    match &*jumps.join("; ") {
        "" => order,
        jumps => format!("{order} Jumps: {jumps}."),
    }
}

/// Describes a jump in text.
fn jump_description(layout: &Layout<'_>, jump: &Jump) -> String {
    let name = |id: usize| {
        let mut cards = layout.cards.iter();
        let card = cards.find(|card| card.step.id == id);
        card.map_or("", |card| &*card.step.name)
    };
    let to = match jump.to {
        JumpTarget::Node(id) => name(id),
        JumpTarget::Done => "done",
        JumpTarget::Cancelled => "cancelled",
    };
    format!("{} from {} to {to}", jump.label, name(jump.from))
}

/// Describes a node or a scope in text.
fn described(name: &str, marks: &[NodeMark]) -> String {
    let marks: Vec<String> = marks.iter().map(NodeMark::text).collect();
    match &*marks.join(", ") {
        "" => name.to_owned(),
        marks => format!("{name} ({marks})"),
    }
}

fn rect(out: &mut String, class: &str, area: Area, radius: u32) -> fmt::Result {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
    )
}

fn quiet(out: &mut String, x: u32, y: u32, text: &str) -> fmt::Result {
    let text = escaped(text);
    writeln!(
        out,
        "<text class=\"wf-quiet\" x=\"{x}\" y=\"{y}\" font-size=\"{SMALL}\">{text}</text>"
    )
}

fn strong(out: &mut String, size: u32, x: u32, y: u32, text: &str) -> fmt::Result {
    let text = escaped(text);
    writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"600\">{text}</text>"
    )
}

fn draw_frame(out: &mut String, frame: &Frame<'_>) -> fmt::Result {
    let class = if frame.level.is_multiple_of(2) {
        "wf-frame"
    } else {
        "wf-frame wf-odd"
    };
    let (name, key) = (escaped(&frame.scope.name), escaped(&frame.scope.key));
    writeln!(out, "<g><title>{name} ({key})</title>")?;
    rect(out, class, frame.area, 10)?;
    let mut y = frame.area.y + 12 + 13;
    for line in &frame.title {
        strong(out, TITLE, frame.area.x + INSET, y, line)?;
        y += LINE;
    }
    draw_marks(out, &frame.marks, frame.area.x + INSET, y + 1)?;
    writeln!(out, "</g>")
}

/// Draws marks below each other, with the first line at `y`.
fn draw_marks(out: &mut String, marks: &[(Icon, Vec<String>)], x: u32, y: u32) -> fmt::Result {
    let mut y = y;
    for (icon, lines) in marks {
        draw_icon(out, *icon, x, y - 10)?;
        for line in lines {
            quiet(out, x + ICON, y, line)?;
            y += SMALL_LINE;
        }
    }
    Ok(())
}

fn draw_card(out: &mut String, card: &Card<'_>) -> fmt::Result {
    let Card {
        step,
        area,
        text: lines,
    } = card;
    writeln!(
        out,
        "<g><title>{}</title>",
        escaped(&described(&step.name, &step.marks))
    )?;
    let waits = lines.marks.iter().any(|(icon, _)| *icon == Icon::Pause);
    if step.is_collapsed() {
        let behind = Area {
            x: area.x + 4,
            y: area.y + 4,
            ..*area
        };
        rect(out, "wf-card", behind, 8)?;
    }
    let class = if waits { "wf-card wf-waits" } else { "wf-card" };
    rect(out, class, *area, 8)?;
    let mut x = area.x + INSET;
    let mut y = area.y + 10 + 14;
    if let Some(emoji) = lines.emoji {
        let (middle, below, emoji) = (x + 10, y + 1, escaped(emoji));
        writeln!(
            out,
            "<text x=\"{middle}\" y=\"{below}\" font-size=\"18\" text-anchor=\"middle\">{emoji}</text>"
        )?;
        x += EMOJI;
    }
    for line in &lines.name {
        strong(out, NAME, x, y, line)?;
        y += LINE;
    }
    draw_marks(out, &lines.marks, x, y + 1)?;
    writeln!(out, "</g>")
}

fn draw_pill(out: &mut String, pill: &Pill, axis: u32) -> fmt::Result {
    rect(out, "wf-pill", pill.area, pill.area.height / 2)?;
    let (y, text) = (pill.area.y + 18, escaped(&pill.text));
    writeln!(
        out,
        "<text class=\"wf-quiet\" x=\"{axis}\" y=\"{y}\" font-size=\"{SMALL}\" text-anchor=\"middle\">{text}</text>"
    )
}

fn draw_arrow(out: &mut String, x: u32, arrow: &Arrow) -> fmt::Result {
    let Arrow { from, to, label } = arrow;
    let (left, right, neck) = (x - 4, x + 4, to - 7);
    writeln!(out, "<path class=\"wf-line\" d=\"M{x} {from}V{neck}\"/>")?;
    writeln!(
        out,
        "<path class=\"wf-head\" d=\"M{left} {neck}H{right}L{x} {to}Z\"/>"
    )?;
    match label {
        Some(label) => quiet(out, x + 8, to - 11, label),
        None => Ok(()),
    }
}

/// Draws a jump: left from its card, along its lane, and right to its target.
fn draw_jump(out: &mut String, jump: &JumpLane<'_>) -> fmt::Result {
    let JumpLane { x, from, to, .. } = jump;
    let ((from_x, from_y), (to_x, to_y)) = (from, to);
    let turn = 7.min(from_y.abs_diff(*to_y) / 2);
    let inside = x + turn;
    let (leave, arrive) = if to_y < from_y {
        (from_y - turn, to_y + turn)
    } else {
        (from_y + turn, to_y - turn)
    };
    let (neck, up, down) = (to_x - 7, to_y - 4, to_y + 4);
    writeln!(out, "<g><title>{}</title>", escaped(jump.title))?;
    writeln!(
        out,
        "<path class=\"wf-line\" d=\"M{from_x} {from_y}H{inside}Q{x} {from_y} {x} {leave}V{arrive}Q{x} {to_y} {inside} {to_y}H{neck}\"/>"
    )?;
    writeln!(
        out,
        "<path class=\"wf-head\" d=\"M{neck} {up}V{down}L{to_x} {to_y}Z\"/>"
    )?;
    quiet(out, jump.label_x, from_y - 3, &jump.label)?;
    writeln!(out, "</g>")
}

fn draw_lane(out: &mut String, lane: &Lane<'_>) -> fmt::Result {
    const TURN: u32 = 7;
    let Lane { scope, x, from, to } = lane;
    let (to_x, to_y) = to;
    let name = escaped(&scope.name);
    writeln!(out, "<g><title>loop: {name} starts over</title>")?;
    if let Some(((last_x, last_y), others)) = from.split_last() {
        writeln!(
            out,
            "<path class=\"wf-loop\" d=\"M{last_x} {last_y}H{}Q{x} {last_y} {x} {}V{}Q{x} {to_y} {} {to_y}H{}\"/>",
            x - TURN,
            last_y - TURN,
            to_y + TURN,
            x - TURN,
            to_x + 7,
        )?;
        for (from_x, from_y) in others {
            writeln!(
                out,
                "<path class=\"wf-loop\" d=\"M{from_x} {from_y}H{x}\"/>"
            )?;
        }
    }
    let (neck, up, down) = (to_x + 7, to_y - 4, to_y + 4);
    writeln!(
        out,
        "<path class=\"wf-loop-head\" d=\"M{neck} {up}V{down}L{to_x} {to_y}Z\"/>\n</g>"
    )
}

/// Draws an icon with its upper left corner at `x` and `y`.
fn draw_icon(out: &mut String, icon: Icon, x: u32, y: u32) -> fmt::Result {
    match icon {
        Icon::Lock => writeln!(
            out,
            "<path class=\"wf-lock\" d=\"M{} {}h9v6h-9zM{} {}v-2a2.5 2.5 0 0 1 5 0v2\"/>",
            x + 1,
            y + 5,
            x + 3,
            y + 5
        ),
        Icon::Open => writeln!(
            out,
            "<path class=\"wf-open\" d=\"M{} {}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0\"/>",
            x + 1,
            y + 6
        ),
        Icon::Check => writeln!(
            out,
            "<path class=\"wf-check\" d=\"M{} {}l3.5 3.5l6 -8\"/>",
            x + 1,
            y + 7
        ),
        Icon::Person => writeln!(
            out,
            "<path class=\"wf-person\" d=\"M{} {}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0M{} {}a4.5 4 0 0 1 9 0\"/>",
            x + 3,
            y + 3,
            x + 1,
            y + 11
        ),
        Icon::Pause => writeln!(
            out,
            "<path class=\"wf-pause\" d=\"M{} {}h3v10h-3zM{} {}h3v10h-3z\"/>",
            x + 1,
            y + 1,
            x + 7,
            y + 1
        ),
        Icon::Fork => writeln!(
            out,
            "<path class=\"wf-line\" d=\"M{} {}v-4l-3.5 -4M{} {}l3.5 -4\"/>",
            x + 6,
            y + 11,
            x + 6,
            y + 7
        ),
        Icon::Plus => writeln!(
            out,
            "<path class=\"wf-line\" d=\"M{} {}h10v10h-10zM{} {}h4M{} {}v4\"/>",
            x + 1,
            y + 1,
            x + 4,
            y + 6,
            x + 6,
            y + 4
        ),
        Icon::Loop => {
            let (middle, neck) = (y + 6, x + 7);
            writeln!(
                out,
                "<path class=\"wf-loop\" d=\"M{neck} {middle}h13\"/>\n\
                 <path class=\"wf-loop-head\" d=\"M{neck} {}v8L{x} {middle}Z\"/>",
                middle - 4
            )
        }
    }
}

/// Escapes a text for XML content and attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML cannot represent these.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
