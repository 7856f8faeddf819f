//! Questions at the terminal, for commands that only the user may run.
//!
//! An agent's shell is not a terminal. A program can emulate one, so an answer needs a judgement of the process as well.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::ensure;

/// Fails unless stdin and stdout are a terminal.
pub(super) fn require(what: &str) -> anyhow::Result<()> {
    ensure!(
        io::stdin().is_terminal() && io::stdout().is_terminal(),
        "only the user can {what}: run this command yourself, in a terminal"
    );
    Ok(())
}

/// Asks for the code that only the user is shown; `None` if none is given.
pub(super) fn ask_code(why: &str, shown: &str) -> anyhow::Result<Option<String>> {
    require("answer without a code")?;
    writeln!(
        anstream::stdout(),
        "A code is needed, because {why}; {shown}."
    )?;
    Ok(ask("Code:")?)
}

/// Prints a question and reads a line; `None` if it is empty.
pub(super) fn ask(question: &str) -> io::Result<Option<String>> {
    let mut out = anstream::stdout();
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let answer = line.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}
