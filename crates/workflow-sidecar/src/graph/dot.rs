//! Graphviz source of a graph.

use std::fmt::{self, Write};

use super::Direction;
use super::model::{Graph, GraphEntry, GraphNode, GraphScope, LoopEdge, MarkKind, NodeMark, lines};

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
    if graph.can_be_cancelled() {
        writeln!(out, "  cancelled [label=\"cancelled\", shape=plaintext];")?;
    }
    draw_order(out, graph)?;
    for jump in &graph.jumps {
        let (from, to, label) = (jump.from, jump.to, quoted(&jump.label));
        writeln!(out, "  n{from} -> {to} [label={label}, constraint=false];")?;
    }
    for LoopEdge { from, to } in graph.root.loops() {
        for from in from {
            writeln!(
                out,
                "  n{from} -> n{to} [label=\"loop\", style=dashed, constraint=false];"
            )?;
        }
    }
    writeln!(out, "}}")
}

/// Draws the edges from each node to the one behind it. An edge with a label is a line of its own.
fn draw_order(out: &mut String, graph: &Graph) -> fmt::Result {
    let nodes = graph.root.nodes();
    let names = nodes.iter().map(|step| format!("n{}", step.id));
    let mut names = names.chain(["done".to_owned()]);
    let mut labelled = String::new();
    write!(out, "  start -> {}", names.next().unwrap_or_default())?;
    for ((step, label), to) in nodes.iter().zip(&graph.order).zip(names) {
        match label.as_deref() {
            Some("") => write!(out, " -> {to}")?,
            Some(_) | None => write!(out, ";\n  {to}")?,
        }
        if let Some(label) = label.as_deref().filter(|label| !label.is_empty()) {
            let label = quoted(label);
            writeln!(labelled, "  n{} -> {to} [label={label}];", step.id)?;
        }
    }
    write!(out, ";\n{labelled}")
}

fn draw_scope(out: &mut String, scope: &GraphScope, level: usize) -> fmt::Result {
    let indent = "  ".repeat(level);
    writeln!(out, "{indent}subgraph cluster_{} {{", scope.id)?;
    let label = in_lines(scope.name.clone(), &scope.marks);
    writeln!(out, "{indent}  label=\"{label}\";")?;
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
    let style = if step.has(MarkKind::Waits) {
        ", style=\"rounded,dashed\""
    } else if step.has(MarkKind::Collapsed) {
        ", peripheries=2"
    } else {
        ""
    };
    let label = in_lines(step.title(), &step.marks);
    format!("n{} [label=\"{label}\"{style}];", step.id)
}

/// Breaks a title and the marks below it into the lines of a label.
fn in_lines(title: String, marks: &[NodeMark]) -> String {
    let marks = marks.iter().map(|mark| mark.text.clone());
    let lines = std::iter::once(title)
        .chain(marks)
        .flat_map(|text| lines(&text));
    let lines: Vec<String> = lines.map(|line| escaped(&line)).collect();
    lines.join("\\n")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
