//! Dialogue printer.

use std::io::{IsTerminal, Write};

/// A participant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Speaker {
    /// The user at the keyboard.
    User,
    /// The coding agent.
    Agent,
    /// The program around the agent.
    Host,
    /// This program.
    Sidecar,
}

impl Speaker {
    fn name_and_color(self) -> (&'static str, u8) {
        match self {
            Self::User => ("user", 36),
            Self::Agent => ("agent", 33),
            Self::Host => ("host", 90),
            Self::Sidecar => ("sidecar", 32),
        }
    }
}

/// The dialogue on standard output; in color on a terminal, unless `NO_COLOR` is set.
pub(crate) struct DialoguePrinter {
    out: std::io::StdoutLock<'static>,
    color: bool,
}

impl DialoguePrinter {
    pub(crate) fn new() -> Self {
        let out = std::io::stdout().lock();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = out.is_terminal() && !no_color;
        Self { out, color }
    }

    /// Prints the title of a chapter.
    pub(crate) fn chapter(&mut self, title: &str) -> std::io::Result<()> {
        let title = self.painted(1, title);
        writeln!(self.out, "\n{title}")
    }

    /// Prints a message; further lines are indented.
    pub(crate) fn say(&mut self, speaker: Speaker, text: &str) -> std::io::Result<()> {
        let (name, color) = speaker.name_and_color();
        let name = self.painted(color, &format!("{name:>8}"));
        let text = text.replace('\n', "\n           ");
        writeln!(self.out, "{name} │ {text}")
    }

    fn painted(&self, color: u8, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{color}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
