//! Graphviz source of a graph.

use super::Direction;
use super::model::{Graph, GraphNode, LoopEdge, MarkKind, NodeMark, lines};
use crate::present::Page;

const STYLE: &str = "  compound=true;
  fontname=\"Helvetica\";
  labeljust=l;
  node [shape=box, style=rounded, fontname=\"Helvetica\", margin=\"0.2,0.1\"];
  edge [fontname=\"Helvetica\", fontsize=10];
";

/// Returns the diagram's source.
pub(crate) fn dot(graph: &Graph, direction: Direction) -> String {
    let mut out = Page::default();
    let start = quoted(graph.command.as_deref().unwrap_or("start"));
    out.line(format_args!("digraph {} {{", quoted(&graph.root.key)));
    if direction != Direction::Down {
        out.line(format_args!("  rankdir={};", direction.as_str()));
    }
    out.add(STYLE);
    out.line(format_args!("  start [label={start}, shape=plaintext];"));
    draw_scope(&mut out, &graph.root, 1);
    out.line("  done [label=\"done\", shape=plaintext];");
    if graph.can_be_cancelled() {
        out.line("  cancelled [label=\"cancelled\", shape=plaintext];");
    }
    draw_order(&mut out, graph);
    for jump in &graph.jumps {
        let (from, to, label) = (jump.from, jump.to, quoted(&jump.label));
        out.line(format_args!(
            "  n{from} -> {to} [label={label}, constraint=false];"
        ));
    }
    for LoopEdge { from, to } in graph.root.loops() {
        for from in from {
            out.line(format_args!(
                "  n{from} -> n{to} [label=\"loop\", style=dashed, constraint=false];"
            ));
        }
    }
    out.line("}");
    out.0
}

/// Draws the edges from each node to the one behind it. An edge with a label is a line of its own.
fn draw_order(out: &mut Page, graph: &Graph) {
    let nodes = graph.root.nodes();
    let names = nodes.iter().map(|step| format!("n{}", step.id));
    let mut names = names.chain(["done".to_owned()]);
    let mut labelled = Page::default();
    out.add(&format!("  start -> {}", names.next().unwrap_or_default()));
    for ((step, label), to) in nodes.iter().zip(&graph.order).zip(names) {
        if label.as_deref() == Some("") {
            out.add(&format!(" -> {to}"));
            continue;
        }
        out.add(&format!(";\n  {to}"));
        if let Some(label) = label {
            let label = quoted(label);
            labelled.line(format_args!("  n{} -> {to} [label={label}];", step.id));
        }
    }
    out.line(";");
    out.add(&labelled.0);
}

fn draw_scope(out: &mut Page, scope: &GraphNode, level: usize) {
    let indent = "  ".repeat(level);
    out.line(format_args!("{indent}subgraph cluster_{} {{", scope.id));
    let label = in_lines(scope.name.clone(), &scope.marks);
    out.line(format_args!("{indent}  label=\"{label}\";"));
    out.line(format_args!("{indent}  style=rounded;"));
    for entry in &scope.entries {
        if entry.is_scope() {
            draw_scope(out, entry, level + 1);
        } else {
            out.line(format_args!("{indent}  {}", node(entry)));
        }
    }
    out.line(format_args!("{indent}}}"));
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
