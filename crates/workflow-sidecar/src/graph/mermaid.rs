//! Mermaid source of a graph, for a Markdown page.
//!
//! Texts of a definition are in quotes, and characters with a meaning in Mermaid are written as numbers.

use std::fmt::Write;

use super::Direction;
use super::model::{Graph, GraphNode, LoopEdge, MarkKind, NodeMark};
use super::svg::lines;
use crate::present::Page;

/// Returns the diagram's source.
pub(crate) fn mermaid(graph: &Graph, direction: Direction) -> String {
    let mut out = Page::default();
    let start = escaped(graph.command.as_deref().unwrap_or("start"));
    out.line(format_args!("flowchart {}", direction.as_str()));
    out.line(format_args!("  start([\"{start}\"])"));
    draw_scope(&mut out, &graph.root, direction, 1);
    out.line("  done([\"done\"])");
    if graph.can_be_cancelled() {
        out.line("  cancelled([\"cancelled\"])");
    }
    let nodes = graph.root.nodes();
    out.add("  start");
    let mut edge = Some("");
    for (step, label) in nodes.iter().zip(&graph.order) {
        out.add(&in_order(edge, &format!("n{}", step.id)));
        edge = label.as_deref();
    }
    out.line(in_order(edge, "done"));
    for jump in &graph.jumps {
        let (from, to, label) = (jump.from, jump.to, escaped(&jump.label));
        out.line(format_args!("  n{from} -->|\"{label}\"| {to}"));
    }
    for LoopEdge { from, to } in graph.root.loops() {
        let from: Vec<String> = from.iter().map(|id| format!("n{id}")).collect();
        out.line(format_args!("  {} -. loop .-> n{to}", from.join(" & ")));
    }
    for GraphNode { id, .. } in nodes.iter().filter(|step| step.has(MarkKind::Waits)) {
        out.line(format_args!(
            "  style n{id} stroke-dasharray:6 4,stroke-width:2px"
        ));
    }
    out.0
}

/// Continues the line of edges with a node; without an edge it begins another line.
fn in_order(edge: Option<&str>, node: &str) -> String {
    match edge {
        None => format!("\n  {node}"),
        Some("") => format!(" --> {node}"),
        Some(label) => format!(" -->|\"{}\"| {node}", escaped(label)),
    }
}

fn draw_scope(out: &mut Page, scope: &GraphNode, direction: Direction, level: usize) {
    let indent = "  ".repeat(level);
    let (id, name) = (scope.id, broken(&scope.name));
    out.line(format_args!("{indent}subgraph n{id}[\"{name}\"]"));
    out.line(format_args!("{indent}  direction {}", direction.as_str()));
    if !scope.marks.is_empty() {
        // A title of several lines would cover the first phase.
        let marks: Vec<String> = scope.marks.iter().map(marked).collect();
        out.line(format_args!(
            "{indent}  n{id}all[\"{}\"]",
            marks.join("<br>")
        ));
        out.line(format_args!(
            "{indent}  style n{id}all fill:none,stroke:none"
        ));
    }
    for entry in &scope.entries {
        if entry.is_scope() {
            draw_scope(out, entry, direction, level + 1);
        } else {
            out.line(format_args!("{indent}  {}", node(entry)));
        }
    }
    out.line(format_args!("{indent}end"));
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
        MarkKind::Rule => "🔒 ",
        MarkKind::Gate => "✅ ",
        MarkKind::Approval => "👤 ",
        MarkKind::Flow => "🔀 ",
        MarkKind::Waits => "⏸️ ",
        MarkKind::Present => "▶️ ",
        MarkKind::Open | MarkKind::Collapsed | MarkKind::Visited => "",
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
