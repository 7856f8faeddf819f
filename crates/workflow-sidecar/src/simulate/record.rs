//! Writes the conversation of a simulation down, as a transcript.

use std::io::Write;

use anyhow::Result;

/// A transcript being written.
pub(crate) struct Recorder {
    out: Box<dyn Write>,
}

impl Recorder {
    pub(crate) fn new(out: Box<dyn Write>) -> Self {
        Self { out }
    }

    /// A line of the host and what it heard.
    pub(super) fn conversation(&mut self, said: &str, heard: &[String]) -> Result<()> {
        writeln!(self.out, "{{\"in\":{said}}}")?;
        for line in heard {
            writeln!(self.out, "{{\"out\":{line}}}")?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}
