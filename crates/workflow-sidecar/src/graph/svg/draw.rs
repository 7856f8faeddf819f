//! SVG source of a layout: colours (light and dark) and escaping.

use std::fmt::{self, Write};

use super::super::model::{Jump, JumpTarget, MarkKind, NodeMark};
use super::cards::BoxText;
use super::layout::{Area, Arrow, Card, Frame, JumpLane, Lane, Layout, Pill};
use super::sizes::{EMOJI, ICON, INSET, LEGEND_ICON, LINE, MARGIN, NAME, SMALL, SMALL_LINE};

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
    let marks: Vec<&str> = marks.iter().map(|mark| &*mark.text).collect();
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

fn path(out: &mut String, class: &str, path: &str) -> fmt::Result {
    writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>")
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
    draw_text(out, &frame.text, frame.area.x + INSET, frame.area.y + 25)?;
    writeln!(out, "</g>")
}

/// Draws the text of a box, with its first line at `y`.
fn draw_text(out: &mut String, text: &BoxText<'_>, mut x: u32, mut y: u32) -> fmt::Result {
    if let Some(emoji) = text.emoji {
        let (middle, below, emoji) = (x + 10, y + 1, escaped(emoji));
        writeln!(
            out,
            "<text x=\"{middle}\" y=\"{below}\" font-size=\"18\" text-anchor=\"middle\">{emoji}</text>"
        )?;
        x += EMOJI;
    }
    for line in &text.name {
        let line = escaped(line);
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{NAME}\" font-weight=\"600\">{line}</text>"
        )?;
        y += LINE;
    }
    y += 1;
    for (kind, lines) in &text.marks {
        draw_icon(out, Some(*kind), x, y - 10)?;
        for line in lines {
            quiet(out, x + ICON, y, line)?;
            y += SMALL_LINE;
        }
    }
    Ok(())
}

fn draw_card(out: &mut String, card: &Card<'_>) -> fmt::Result {
    let Card { step, area, text } = card;
    let title = escaped(&described(&step.name, &step.marks));
    writeln!(out, "<g><title>{title}</title>")?;
    if step.has(MarkKind::Collapsed) {
        let behind = Area {
            x: area.x + 4,
            y: area.y + 4,
            ..*area
        };
        rect(out, "wf-card", behind, 8)?;
    }
    let class = if step.has(MarkKind::Waits) {
        "wf-card wf-waits"
    } else {
        "wf-card"
    };
    rect(out, class, *area, 8)?;
    draw_text(out, text, area.x + INSET, area.y + 24)?;
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
    path(out, "wf-line", &format!("M{x} {from}V{neck}"))?;
    path(out, "wf-head", &format!("M{left} {neck}H{right}L{x} {to}Z"))?;
    match label {
        Some(label) => quiet(out, x + 8, to - 11, label),
        None => Ok(()),
    }
}

/// Draws a line from a box to a lane beside all boxes, along it, and back to a box.
fn draw_around(
    out: &mut String,
    class: &str,
    lane: u32,
    (from_x, from_y): (u32, u32),
    (to_x, to_y): (u32, u32),
) -> fmt::Result {
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
    let around = format!(
        "M{from_x} {from_y}H{inside}Q{lane} {from_y} {lane} {leave}V{arrive}Q{lane} {to_y} {inside} {to_y}H{neck}"
    );
    path(out, class, &around)?;
    let (up, down) = (to_y - 4, to_y + 4);
    let head = format!("M{neck} {up}V{down}L{to_x} {to_y}Z");
    path(
        out,
        if class == LOOP { LOOP_HEAD } else { "wf-head" },
        &head,
    )
}

fn draw_jump(out: &mut String, jump: &JumpLane<'_>) -> fmt::Result {
    writeln!(out, "<g><title>{}</title>", escaped(jump.title))?;
    draw_around(out, "wf-line", jump.x, jump.from, jump.to)?;
    quiet(out, jump.label_x, jump.from.1 - 3, &jump.label)?;
    writeln!(out, "</g>")
}

fn draw_lane(out: &mut String, lane: &Lane<'_>) -> fmt::Result {
    let name = escaped(&lane.scope.name);
    writeln!(out, "<g><title>loop: {name} starts over</title>")?;
    if let Some((last, others)) = lane.from.split_last() {
        for (x, y) in others {
            path(out, LOOP, &format!("M{x} {y}H{}", lane.x))?;
        }
        draw_around(out, LOOP, lane.x, *last, lane.to)?;
    }
    writeln!(out, "</g>")
}

/// The classes of the line of `loop`.
const LOOP: &str = "wf-loop";
const LOOP_HEAD: &str = "wf-loop-head";

/// Draws the icon of a kind of mark, or of `loop`, with its upper left corner at `x` and `y`.
fn draw_icon(out: &mut String, kind: Option<MarkKind>, x: u32, y: u32) -> fmt::Result {
    let paths: &[(&str, &str)] = match kind {
        Some(MarkKind::Tools | MarkKind::Rule) => {
            &[("wf-lock", "M1 5h9v6h-9zM3 5v-2a2.5 2.5 0 0 1 5 0v2")]
        }
        Some(MarkKind::Open) => &[("wf-open", "M1 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0")],
        Some(MarkKind::Gate) => &[("wf-check", "M1 7l3.5 3.5l6 -8")],
        Some(MarkKind::Approval) => &[(
            "wf-person",
            "M3 3a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0M1 11a4.5 4 0 0 1 9 0",
        )],
        Some(MarkKind::Waits) => &[("wf-pause", "M1 1h3v10h-3zM7 1h3v10h-3z")],
        Some(MarkKind::Flow) => &[("wf-line", "M6 11v-4l-3.5 -4M6 7l3.5 -4")],
        Some(MarkKind::Collapsed) => &[("wf-line", "M1 1h10v10h-10zM4 6h4M6 4v4")],
        None => &[(LOOP, "M7 6h13"), (LOOP_HEAD, "M7 2v8L0 6Z")],
    };
    for (class, path) in paths {
        writeln!(
            out,
            "<path class=\"{class}\" transform=\"translate({x} {y})\" d=\"{path}\"/>"
        )?;
    }
    Ok(())
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
