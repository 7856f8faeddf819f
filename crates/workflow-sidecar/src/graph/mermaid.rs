//! A graph as Mermaid, for a Markdown page.
//!
//! Everything a definition says stands in quotes, with whatever Mermaid could read as its own written as
//! a number.

use std::fmt::{self, Write};

use super::model::{Entry, Graph, Mark, Scope, Step};

/// The picture's source.
pub(crate) fn mermaid(graph: &Graph) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = draw(&mut text, graph);
    text
}

fn draw(out: &mut String, graph: &Graph) -> fmt::Result {
    let start = graph.command.as_deref().unwrap_or("start");
    writeln!(out, "flowchart TB")?;
    writeln!(out, "  start([\"{}\"])", escaped(start))?;
    draw_scope(out, &graph.root, 1)?;
    writeln!(out, "  done([\"done\"])")?;
    let steps = graph.root.steps();
    write!(out, "  start")?;
    for step in &steps {
        write!(out, " --> n{}", step.id)?;
    }
    writeln!(out, " --> done")?;
    for back in graph.root.scopes().iter().filter_map(|scope| scope.back) {
        writeln!(out, "  n{} -. loop .-> n{}", back.from, back.to)?;
    }
    let waiting = steps
        .iter()
        .filter(|step| step.marks.contains(&Mark::Waits));
    for step in waiting {
        writeln!(
            out,
            "  style n{} stroke-dasharray:6 4,stroke-width:2px",
            step.id
        )?;
    }
    Ok(())
}

fn draw_scope(out: &mut String, scope: &Scope, level: usize) -> fmt::Result {
    let indent = "  ".repeat(level);
    let (id, name) = (scope.id, escaped(&scope.name));
    writeln!(out, "{indent}subgraph n{id}[\"{name}\"]")?;
    writeln!(out, "{indent}  direction TB")?;
    for entry in &scope.entries {
        match entry {
            Entry::Step(step) => writeln!(out, "{indent}  {}", box_of(step))?,
            Entry::Scope(inner) => draw_scope(out, inner, level + 1)?,
        }
    }
    writeln!(out, "{indent}end")
}

fn box_of(step: &Step) -> String {
    let mut label = escaped(format!("{} {}", step.emoji, step.name).trim_start());
    for mark in &step.marks {
        let sign = match mark {
            Mark::Only(_) | Mark::Without(_) | Mark::Rules(_) => "🔒 ",
            Mark::Gate(_) => "✅ ",
            Mark::Approval(_) => "👤 ",
            Mark::Waits => "⏸️ ",
            Mark::Closed(_) => "",
        };
        label = format!("{label}<br>{sign}{}", escaped(&mark.words()));
    }
    if step.is_closed() {
        format!("n{}[[\"{label}\"]]", step.id)
    } else {
        format!("n{}[\"{label}\"]", step.id)
    }
}

/// Text that means only itself, in quotes.
///
/// Letters, and signs that cannot begin anything: what is left could be Mermaid's, Markdown's or HTML's own, and is
/// written as a number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        let sign = matches!(c, ' ' | ',' | '/' | '(' | ')' | ':' | '?' | '!' | '\'');
        // At the start, a dash makes a list.
        let inside = at > 0 && matches!(c, '-' | '_');
        if c.is_alphanumeric() || !c.is_ascii() || sign || inside {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
