//! Graphviz source of a graph.

use std::fmt::{self, Write};

use super::Direction;
use super::model::{Graph, GraphEntry, GraphNode, GraphScope, NodeMark, lines};

/// Returns the diagram's source.
pub(crate) fn dot(graph: &Graph, direction: Direction) -> String {
    let mut text = String::new();
    draw(&mut text, graph, direction).expect("writing to a string does not fail");
    text
}

const STYLE: &str = "  compound=true;
  fontname=\"Helvetica\";
  labeljust=l;
  node [shape=box, style=rounded, fontname=\"Helvetica\", margin=\"0.2,0.1\"];
  edge [fontname=\"Helvetica\", fontsize=10];
";

fn draw(out: &mut String, graph: &Graph, direction: Direction) -> fmt::Result {
    let start = graph.command.as_deref().unwrap_or("start");
    writeln!(out, "digraph {} {{", quoted(&graph.root.key))?;
    if direction != Direction::Down {
        writeln!(out, "  rankdir={};", direction.as_str())?;
    }
    out.push_str(STYLE);
    writeln!(out, "  start [label={}, shape=plaintext];", quoted(start))?;
    draw_scope(out, &graph.root, 1)?;
    writeln!(out, "  done [label=\"done\", shape=plaintext];")?;
    write!(out, "  start")?;
    for step in graph.root.nodes() {
        write!(out, " -> n{}", step.id)?;
    }
    writeln!(out, " -> done;")?;
    for (from, to) in graph.root.loops() {
        for from in from {
            writeln!(
                out,
                "  n{from} -> n{to} [label=\"loop\", style=dashed, constraint=false];"
            )?;
        }
    }
    writeln!(out, "}}")
}

fn draw_scope(out: &mut String, scope: &GraphScope, level: usize) -> fmt::Result {
    let indent = "  ".repeat(level);
    writeln!(out, "{indent}subgraph cluster_{} {{", scope.id)?;
    writeln!(out, "{indent}  label={};", quoted(&scope.name))?;
    writeln!(out, "{indent}  style=rounded;")?;
    for entry in &scope.entries {
        match entry {
            GraphEntry::Node(step) => writeln!(out, "{indent}  {}", node(step))?,
            GraphEntry::Scope(inner) => draw_scope(out, inner, level + 1)?,
        }
    }
    writeln!(out, "{indent}}}")
}

fn node(step: &GraphNode) -> String {
    let texts = std::iter::once(step.title()).chain(step.marks.iter().map(NodeMark::text));
    let label: Vec<String> = texts
        .flat_map(|text| lines(&text))
        .map(|line| escaped(&line))
        .collect();
    let style = step.marks.iter().find_map(|mark| match mark {
        NodeMark::Waits => Some(", style=\"rounded,dashed\""),
        NodeMark::Collapsed(_) => Some(", peripheries=2"),
        NodeMark::Only(_)
        | NodeMark::ReadOnly(_)
        | NodeMark::Without(_)
        | NodeMark::Rule(_)
        | NodeMark::Gate(_)
        | NodeMark::Approval(_) => None,
    });
    format!(
        "n{} [label=\"{}\"{}];",
        step.id,
        label.join("\\n"),
        style.unwrap_or_default()
    )
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
