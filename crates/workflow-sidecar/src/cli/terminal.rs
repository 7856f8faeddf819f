//! Questions at the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::ensure;

/// Fails unless stdin and stdout are a terminal. An agent's shell is none, but a program can emulate one.
pub(super) fn require(what: &str) -> anyhow::Result<()> {
    ensure!(
        io::stdin().is_terminal() && io::stdout().is_terminal(),
        "only the user can {what}: run this command yourself, in a terminal"
    );
    Ok(())
}

/// Prints a question and reads a line; `None` if it is empty.
pub(super) fn ask(question: &str) -> io::Result<Option<String>> {
    let mut out = anstream::stdout();
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        // Nobody has ended the line.
        writeln!(out)?;
    }
    let answer = line.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}
