//! A walk through a workflow: the commands of a script or a user, and what comes of them.

use std::io::{BufRead, Read as _};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use workflow_core::definition::Loaded;
use workflow_core::diagnostic::{shown, visible};

use super::command::{HELP, ScriptCommand, ScriptLine};
use super::host::TestHost;
use super::simulation::Simulation;
use crate::present::{BAD, CommandOutcome, DIMMED, Page, TITLE, count, paint};
use crate::record::Recorder;
use crate::server::START_COMMAND;

/// Maximum length of a script's line, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// The commands of a walk.
pub(crate) struct Script<'a> {
    pub(crate) lines: Box<dyn BufRead + 'a>,
    /// The name of the source of the commands.
    pub(crate) name: String,
    pub(crate) kind: ScriptKind,
}

/// A kind of script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptKind {
    /// A user types the commands, which are then not printed again.
    Typed,
    /// A file or a pipe has the commands.
    Read,
    /// The comments are titles.
    Narrated,
}

/// A simulation and its output.
pub(crate) struct Walk<'a> {
    simulation: Simulation<'a>,
    page: Page,
    /// True if it begins with the start of a run.
    starts_run: bool,
    /// The number of failed expectations.
    failed: usize,
}

impl<'a> Walk<'a> {
    /// Starts a session in a project, with definitions that were loaded from it.
    pub(crate) fn start(
        project: &Path,
        agent_dir: &Path,
        loaded: &'a Loaded,
        recorder: Option<Recorder>,
    ) -> Result<Self> {
        let host = TestHost::start(recorder, project, agent_dir, loaded)?;
        Ok(Self {
            simulation: Simulation::new(host),
            page: Page::default(),
            starts_run: false,
            failed: 0,
        })
    }

    /// Starts a run with the arguments of `/workflow`.
    pub(crate) fn start_run(&mut self, arguments: &str) -> Result<()> {
        self.echo(&format!("/workflow {arguments}"));
        let command = ScriptCommand::run(START_COMMAND, arguments);
        self.starts_run = true;
        self.simulation.play(&command, &mut self.page)?;
        Ok(())
    }

    /// Plays a script to its end.
    pub(crate) fn play(mut self, mut script: Script<'_>) -> Result<CommandOutcome> {
        let (name, mut line) = (&script.name, Vec::new());
        for number in 1.. {
            if script.kind == ScriptKind::Typed {
                self.page.add(&format!("{} ", paint(TITLE, ">")));
            }
            self.page.print()?;
            line.clear();
            let mut limited = (&mut script.lines).take(MAX_LINE);
            let read = limited.read_until(b'\n', &mut line);
            let read = read.with_context(|| format!("{name} cannot be read"))?;
            ensure!(
                (read as u64) < MAX_LINE,
                "{name}:{number}: the line is longer than {MAX_LINE} bytes"
            );
            let text = String::from_utf8_lossy(&line);
            let place = format!("{name}:{number}");
            if read == 0 || !self.line(text.trim(), &place, script.kind)? {
                break;
            }
        }
        self.end(script.kind)
    }

    /// Plays a line; returns false if it ends the walk.
    fn line(&mut self, text: &str, place: &str, kind: ScriptKind) -> Result<bool> {
        let step = match ScriptLine::read(text) {
            Ok(Some(step)) => step,
            Ok(None) => {
                if let Some(title) = text.strip_prefix("# ")
                    && kind == ScriptKind::Narrated
                {
                    self.page.line(format_args!("\n{}", paint(TITLE, title)));
                }
                return Ok(true);
            }
            Err(unknown) if kind == ScriptKind::Typed => {
                let unknown = paint(BAD, unknown);
                self.page.line(format_args!("  {unknown}"));
                return Ok(true);
            }
            Err(unknown) => return Err(anyhow!("{place}: {unknown}")),
        };
        if kind != ScriptKind::Typed {
            self.echo(text);
        }
        if step.command == ScriptCommand::Quit {
            return Ok(false);
        }
        if step.command == ScriptCommand::Help {
            self.page.line(HELP);
        }
        let labels = self.simulation.play(&step.command, &mut self.page)?;
        if let Some(expected) = &step.expected
            && !labels.meet(expected)
        {
            self.failed += 1;
            let (expected, is) = (shown(expected), shown(&labels.joined()));
            let differs = paint(BAD, format_args!("expected {expected}, but it is {is}"));
            let place = paint(DIMMED, place);
            self.page.line(format_args!("  {differs}  {place}"));
        }
        Ok(true)
    }

    fn end(mut self, kind: ScriptKind) -> Result<CommandOutcome> {
        let (rest, location) = self.simulation.rest();
        let was_started = self.simulation.was_started;
        self.simulation.finish()?;
        let outcome = if self.starts_run && !was_started && location.is_none() {
            self.page.line("nothing was started");
            CommandOutcome::Findings
        } else if kind == ScriptKind::Typed {
            self.page.line("");
            CommandOutcome::Success
        } else if self.failed > 0 {
            let failed = count(self.failed, "expectation");
            self.page.line(paint(BAD, format_args!("{failed} not met")));
            CommandOutcome::Findings
        } else {
            if let Some(location) = location {
                self.page.line(visible(&location));
            }
            rest.into()
        };
        self.page.print()?;
        Ok(outcome)
    }

    fn echo(&mut self, text: &str) {
        let command = paint(TITLE, format_args!("> {}", visible(text)));
        self.page.line(command);
    }

    /// Tells a user who types how to.
    pub(crate) fn introduce(&mut self) {
        self.page.line(paint(
            DIMMED,
            "A dry run: tool NAME, next, loop, status, cancel, stop, start, say TEXT, wait SECONDS, yes, no, pass, fail; \
             help says more, quit ends it.",
        ));
    }
}
