//! Mermaid source of a graph, for a Markdown page.
//!
//! Texts of a definition are in quotes, and characters with a meaning in Mermaid are written as numbers.

use std::fmt::Write;

use askama::Template;

use super::Direction;
use super::model::{Graph, GraphNode, MarkKind, NodeMark};
use super::svg::lines;

/// The diagram: the scopes with their nodes, then the edges. `order` is the line of edges behind the start.
#[derive(Template)]
#[template(path = "graph/flowchart.txt")]
struct Flowchart<'g> {
    graph: &'g Graph,
    direction: &'g str,
    order: String,
}

/// A scope, and all inside.
#[derive(Template)]
#[template(path = "graph/subgraph.txt")]
struct Subgraph<'g> {
    scope: &'g GraphNode,
    direction: &'g str,
    indent: String,
}

/// Returns the diagram's source.
pub(crate) fn mermaid(graph: &Graph, direction: Direction) -> String {
    let (mut order, mut edge) = (String::new(), Some(""));
    for (step, label) in graph.root.nodes().iter().zip(&graph.order) {
        order += &in_order(edge, &format!("n{}", step.id));
        edge = label.as_deref();
    }
    order += &in_order(edge, "done");
    let flowchart = Flowchart {
        graph,
        direction: direction.as_str(),
        order,
    };
    format!("{flowchart}\n")
}

/// Continues the line of edges with a node; without an edge it begins another line.
fn in_order(edge: Option<&str>, node: &str) -> String {
    match edge {
        None => format!("\n  {node}"),
        Some("") => format!(" --> {node}"),
        Some(label) => format!(" -->|\"{}\"| {node}", escaped(label)),
    }
}

/// A scope in another one, whose lines are indented so.
fn subgraph<'g>(scope: &'g GraphNode, direction: &'g str, outer: &str) -> Subgraph<'g> {
    Subgraph {
        scope,
        direction,
        indent: format!("{outer}  "),
    }
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
