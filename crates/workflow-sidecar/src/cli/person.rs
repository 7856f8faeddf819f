//! The person at the terminal, for what nobody else may answer.
//!
//! An agent's shell is no terminal. That is a guard rail: a program can pretend to be one.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::ensure;

/// Refuses to go on where nobody sits at a terminal.
pub(super) fn needed(what: &str) -> anyhow::Result<()> {
    ensure!(
        io::stdin().is_terminal() && io::stdout().is_terminal(),
        "only a person can {what}: run this command yourself, in a terminal"
    );
    Ok(())
}

/// Asks, and takes a line; `None` if nothing was said.
pub(super) fn answer(question: &str) -> io::Result<Option<String>> {
    let mut out = anstream::stdout();
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let said = line.trim();
    Ok((!said.is_empty()).then(|| said.to_owned()))
}
