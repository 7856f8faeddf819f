//! Mermaid source of a graph, for a Markdown page.
//!
//! Texts of a definition are in quotes, and characters with a meaning in Mermaid are written as numbers.

use std::fmt::{self, Write};

use super::Direction;
use super::model::{Graph, GraphEntry, GraphNode, GraphScope, LoopEdge, MarkKind, NodeMark, lines};

/// Returns the diagram's source.
pub(crate) fn mermaid(graph: &Graph, direction: Direction) -> String {
    let mut text = String::new();
    draw(&mut text, graph, direction).expect("writing to a string does not fail");
    text
}

fn draw(out: &mut String, graph: &Graph, direction: Direction) -> fmt::Result {
    let start = graph.command.as_deref().unwrap_or("start");
    writeln!(out, "flowchart {}", direction.as_str())?;
    writeln!(out, "  start([\"{}\"])", escaped(start))?;
    draw_scope(out, &graph.root, direction, 1)?;
    writeln!(out, "  done([\"done\"])")?;
    if graph.can_be_cancelled() {
        writeln!(out, "  cancelled([\"cancelled\"])")?;
    }
    let nodes = graph.root.nodes();
    write!(out, "  start")?;
    let mut edge = Some("");
    for (step, label) in nodes.iter().zip(&graph.order) {
        draw_in_order(out, edge, &format!("n{}", step.id))?;
        edge = label.as_deref();
    }
    draw_in_order(out, edge, "done")?;
    writeln!(out)?;
    for jump in &graph.jumps {
        let (from, to, label) = (jump.from, jump.to, escaped(&jump.label));
        writeln!(out, "  n{from} -->|\"{label}\"| {to}")?;
    }
    for LoopEdge { from, to } in graph.root.loops() {
        let from: Vec<String> = from.iter().map(|id| format!("n{id}")).collect();
        writeln!(out, "  {} -. loop .-> n{to}", from.join(" & "))?;
    }
    for step in nodes.iter().filter(|step| step.has(MarkKind::Waits)) {
        let id = step.id;
        writeln!(out, "  style n{id} stroke-dasharray:6 4,stroke-width:2px")?;
    }
    Ok(())
}

/// Continues the line of edges with a node; without an edge it begins another line.
fn draw_in_order(out: &mut String, edge: Option<&str>, node: &str) -> fmt::Result {
    match edge {
        None => write!(out, "\n  {node}"),
        Some("") => write!(out, " --> {node}"),
        Some(label) => write!(out, " -->|\"{}\"| {node}", escaped(label)),
    }
}

fn draw_scope(
    out: &mut String,
    scope: &GraphScope,
    direction: Direction,
    level: usize,
) -> fmt::Result {
    let indent = "  ".repeat(level);
    let (id, name) = (scope.id, broken(&scope.name));
    writeln!(out, "{indent}subgraph n{id}[\"{name}\"]")?;
    writeln!(out, "{indent}  direction {}", direction.as_str())?;
    if !scope.marks.is_empty() {
        // A title of several lines would cover the first phase.
        let marks: Vec<String> = scope.marks.iter().map(marked).collect();
        writeln!(out, "{indent}  n{id}all[\"{}\"]", marks.join("<br>"))?;
        writeln!(out, "{indent}  style n{id}all fill:none,stroke:none")?;
    }
    for entry in &scope.entries {
        match entry {
            GraphEntry::Node(step) => writeln!(out, "{indent}  {}", node(step))?,
            GraphEntry::Scope(inner) => draw_scope(out, inner, direction, level + 1)?,
        }
    }
    writeln!(out, "{indent}end")
}

fn node(step: &GraphNode) -> String {
    let mut label = broken(&step.title());
    for mark in &step.marks {
        label = format!("{label}<br>{}", marked(mark));
    }
    if step.has(MarkKind::Collapsed) {
        format!("n{}[[\"{label}\"]]", step.id)
    } else {
        format!("n{}[\"{label}\"]", step.id)
    }
}

/// Returns the text of a mark after its icon.
fn marked(mark: &NodeMark) -> String {
    let icon = match mark.kind {
        MarkKind::Tools | MarkKind::Rule => "🔒 ",
        MarkKind::Gate => "✅ ",
        MarkKind::Approval => "👤 ",
        MarkKind::Flow => "🔀 ",
        MarkKind::Waits => "⏸️ ",
        MarkKind::Open | MarkKind::Collapsed => "",
    };
    format!("{icon}{}", broken(&mark.text))
}

/// Escapes a text for a quoted label, in lines.
fn broken(text: &str) -> String {
    let lines: Vec<String> = lines(text).iter().map(|line| escaped(line)).collect();
    lines.join("<br>")
}

/// Escapes a text for a quoted label.
///
/// Letters and harmless punctuation stay. Any other character could be syntax of Mermaid, Markdown or HTML, and is
/// written as a number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        let is_harmless = matches!(c, ' ' | ',' | '/' | '(' | ')' | ':' | '?' | '!' | '\'');
        // At the start, a dash makes a list.
        let inside = at > 0 && matches!(c, '-' | '_');
        if c.is_alphanumeric() || !c.is_ascii() || is_harmless || inside {
            out.push(c);
        } else {
            write!(out, "#{};", u32::from(c)).expect("writing to a string does not fail");
        }
    }
    out
}
