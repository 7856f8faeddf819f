//! `simulate`: a dry run of a workflow, interactive or scripted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use workflow_core::definition::{Catalog, Show, Workflow, load_located};
use workflow_core::diagnostic::{shown, visible};

use super::list::uses;
use super::lookup;
use super::project::Project;
use crate::present::CommandOutcome;
use crate::present::{BAD, DIMMED, GOOD, NOTABLE, TITLE, block, count};
use crate::simulate::{
    Changed, GuardLookup, HELP, NoticeLevel, PossibleAnswers, Reaction, ScriptCommand, ScriptLine,
    Simulation, Start, begin_recording,
};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar simulate bugfix the total is wrong
  workflow-sidecar simulate release version=1.2.0 the export
  workflow-sidecar simulate bugfix --script bugfix.steps
  printf 'tool edit => blocked\\nnext => Find the cause\\n' | workflow-sidecar simulate bugfix
  workflow-sidecar simulate bugfix --script bugfix.steps --record bugfix.jsonl

You type what the agent would do, and see what the sidecar answers. A script contains one command a line, and
`=> WORD` after a command states the expected outcome. Exits with 1 if an outcome differs; otherwise with 3 if
the run waits for the user at the end, and with 4 if it stopped at a limit.";

/// Walk through a workflow without an agent
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\nCommands:\n{}", indented(HELP)))]
pub(super) struct Arguments {
    /// Command name of the workflow
    workflow: String,
    /// Inputs and description of the task: `version=1.2.0 the export`
    #[arg(default_value = "a dry run")]
    description: Vec<String>,
    /// Read commands from a file
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Record the conversation with the sidecar
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    project: Project,
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| format!("  {line}").trim_end().to_owned())
        .collect();
    lines.join("\n")
}

pub(super) fn run(arguments: &Arguments) -> Result<CommandOutcome> {
    let disk = arguments.project.disk()?;
    let loaded = Arc::new(load_located(&disk));
    let workflow = lookup::find_workflow(&loaded, &arguments.workflow)?;
    ensure_startable(workflow, &loaded.catalog)?;
    let (mut lines, name, typed) = source(arguments)?;
    let cwd = arguments.project.directory().canonicalize()?;
    let agent_dir = arguments.project.agent_dir();
    let description = arguments.description.join(" ");
    let recorder = arguments.record.as_deref().map(begin_recording);
    let recorder = recorder.transpose()?;
    let (simulation, output) = Simulation::start(Start {
        cwd: &cwd.to_string_lossy(),
        agent_dir: &agent_dir.to_string_lossy(),
        workflow: &workflow.command_name,
        description: &description,
        loaded: Arc::clone(&loaded),
        recorder,
    })?;
    let mut walk = Walk {
        simulation,
        guards: GuardLookup::new(&loaded),
        out: anstream::stdout().lock(),
        typed,
        name,
        failed: 0,
        contexts: Vec::new(),
    };
    let command = format!("/workflow {} {description}", workflow.command_name);
    walk.begin(&command, &output)?;
    walk.go(&mut lines)
}

/// Fails unless the workflow's command starts it: a subworkflow has no command, and of two workflows with one
/// command the first is started.
fn ensure_startable(workflow: &Workflow, catalog: &Catalog) -> Result<()> {
    let mut startable = catalog.startable();
    let started = startable.find(|found| found.command_name == workflow.command_name);
    match started {
        Some(started) if started.key == workflow.key => Ok(()),
        Some(started) if workflow.show == Show::User => bail!(
            "`/workflow {}` starts `{}`: give one of them another commandName",
            shown(&workflow.command_name),
            shown(&started.key)
        ),
        Some(_) | None => bail!(
            "`{}` only runs inside other workflows: simulate {}",
            shown(&workflow.key),
            containing(workflow, catalog)
        ),
    }
}

/// Names a workflow that contains a subworkflow.
fn containing(part: &Workflow, catalog: &Catalog) -> String {
    let mut startable = catalog.startable();
    let found = startable.find(|workflow| uses(workflow, &part.key));
    found.map_or("one of those".to_owned(), |workflow| {
        format!("`{}`", shown(&workflow.command_name))
    })
}

/// Opens the source of the commands; returns it with its name, and true if a user types them.
fn source(arguments: &Arguments) -> Result<(Box<dyn BufRead>, String, bool)> {
    if let Some(path) = &arguments.script {
        let file =
            File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        return Ok((
            Box::new(BufReader::new(file)),
            visible(&path.display().to_string()),
            false,
        ));
    }
    let stdin = io::stdin();
    // Interactive only if both sides are a terminal.
    let typed = stdin.is_terminal() && io::stdout().is_terminal();
    Ok((Box::new(stdin.lock()), "stdin".to_owned(), typed))
}

/// A simulation and its output.
struct Walk<'a, W> {
    simulation: Simulation,
    guards: GuardLookup<'a>,
    out: W,
    /// True if a user types the commands, which are then not printed again.
    typed: bool,
    /// The name of the source of the commands.
    name: String,
    /// The number of failed expectations.
    failed: usize,
    /// The contexts that were printed in full.
    contexts: Vec<String>,
}

/// Maximum length of a script's line, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// The effect of a line on the loop.
enum Flow {
    Continue,
    End,
}

impl<W: Write> Walk<'_, W> {
    fn begin(&mut self, command: &str, output: &[Reaction]) -> Result<()> {
        if self.typed {
            writeln!(
                self.out,
                "{DIMMED}A dry run: tool NAME, next, loop, status, cancel, stop, start, say TEXT, wait SECONDS, yes, no, pass, fail; \
                 help says more, quit ends it.{DIMMED:#}"
            )?;
        }
        self.echo(command)?;
        self.print(output)
    }

    fn go(mut self, lines: &mut dyn BufRead) -> Result<CommandOutcome> {
        let (mut number, mut line) = (0, Vec::new());
        loop {
            if self.typed {
                write!(self.out, "{TITLE}>{TITLE:#} ")?;
            }
            self.out.flush()?;
            line.clear();
            number += 1;
            let read = lines.take(MAX_LINE).read_until(b'\n', &mut line);
            let read = read.with_context(|| format!("{} cannot be read", self.name))?;
            ensure!(
                (read as u64) < MAX_LINE,
                "{}:{number}: the line is longer than {MAX_LINE} bytes",
                self.name
            );
            if read == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            match self.line(number, text.trim())? {
                Flow::Continue => {}
                Flow::End => break,
            }
        }
        self.end()
    }

    fn line(&mut self, number: usize, text: &str) -> Result<Flow> {
        let step = match ScriptLine::read(text) {
            Ok(Some(step)) => step,
            Ok(None) => return Ok(Flow::Continue),
            Err(unknown) if self.typed => {
                writeln!(self.out, "  {BAD}{unknown}{BAD:#}")?;
                return Ok(Flow::Continue);
            }
            Err(unknown) => return Err(anyhow!("{}:{number}: {unknown}", self.name)),
        };
        if !self.typed {
            self.echo(text)?;
        }
        if step.command == ScriptCommand::Quit {
            return Ok(Flow::End);
        }
        if step.command == ScriptCommand::Help {
            writeln!(self.out, "{}", indented(HELP))?;
        }
        let (output, labels) = self.simulation.take(&step.command)?;
        self.print(&output)?;
        if let Some(expected) = &step.expected
            && !labels.meet(expected)
        {
            self.failed += 1;
            writeln!(
                self.out,
                "  {BAD}expected {}, but it is {}{BAD:#}  {DIMMED}{}:{number}{DIMMED:#}",
                shown(expected),
                shown(&labels.joined()),
                self.name
            )?;
        }
        Ok(Flow::Continue)
    }

    fn end(mut self) -> Result<CommandOutcome> {
        let (rest, location) = self.simulation.rest();
        self.simulation.finish()?;
        if self.typed {
            writeln!(self.out)?;
            return Ok(CommandOutcome::Success);
        }
        if self.failed > 0 {
            writeln!(
                self.out,
                "{BAD}{} not met{BAD:#}",
                count(self.failed, "expectation")
            )?;
            return Ok(CommandOutcome::Findings);
        }
        if let Some(location) = location {
            writeln!(self.out, "{}", visible(&location))?;
        }
        Ok(rest.into())
    }

    fn echo(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.out, "{TITLE}> {}{TITLE:#}", visible(text))?)
    }

    fn print(&mut self, outputs: &[Reaction]) -> Result<()> {
        for output in outputs {
            self.print_one(output)?;
        }
        Ok(())
    }

    /// Prints a question; for one about leaving the phase also its location.
    fn print_question(
        &mut self,
        title: &str,
        message: &str,
        answers: &PossibleAnswers,
    ) -> Result<()> {
        let state = self.simulation.state_of_run();
        let by = state.filter(|_| matches!(answers, PossibleAnswers::OneOf(_)));
        let by = by.and_then(|state| self.guards.approval(&state, title));
        let by = by.map_or(String::new(), |line| format!("  {DIMMED}{line}{DIMMED:#}"));
        let (title, more) = title.split_once('\n').unwrap_or((title, ""));
        writeln!(
            self.out,
            "  {NOTABLE}asked{NOTABLE:#}: {} ({}){by}",
            visible(title),
            possible(answers)
        )?;
        for text in [more.trim(), message] {
            if !text.is_empty() {
                self.out.write_all(block("    ", text).as_bytes())?;
            }
        }
        Ok(())
    }

    /// Prints the result that the model reads, and the guards that changed it.
    fn print_result(&mut self, text: &str, changed: Option<&Changed>) -> Result<()> {
        let how = if changed.is_some() { "" } else { " as it is" };
        writeln!(self.out, "  read by the model{how}")?;
        self.out.write_all(block("    ", text).as_bytes())?;
        let Some(Changed {
            tool,
            said,
            is_error,
        }) = changed
        else {
            return Ok(());
        };
        let state = self.simulation.state_of_run();
        let rules = self.guards.results(state.as_ref(), tool, said, *is_error);
        for (what, source) in rules {
            guard(&mut self.out, "    by ", &what, &source)?;
        }
        Ok(())
    }

    fn print_one(&mut self, output: &Reaction) -> Result<()> {
        let out = &mut self.out;
        match output {
            Reaction::Starts { prompt } => {
                writeln!(out, "  the agent starts on: {}", first_line(prompt))?;
            }
            Reaction::Allowed => writeln!(out, "  {GOOD}allowed{GOOD:#}")?,
            Reaction::Blocked { tool, reason } => {
                let state = self.simulation.state_of_run();
                let list = state.and_then(|state| self.guards.list(&state, tool, reason));
                let by = list.map_or(String::new(), |line| format!("  {DIMMED}{line}{DIMMED:#}"));
                writeln!(out, "  {BAD}blocked{BAD:#}{by}")?;
                out.write_all(block("    ", reason).as_bytes())?;
            }
            Reaction::Answer { text, is_error } => {
                let (style, what) = if *is_error {
                    (BAD, "refused")
                } else {
                    (GOOD, "answered")
                };
                writeln!(out, "  {style}{what}{style:#}")?;
                out.write_all(block("    ", text).as_bytes())?;
            }
            Reaction::Injected { text } => {
                let characters = count(text.chars().count(), "character");
                writeln!(out, "  added to the context, {characters}")?;
                if self.contexts.contains(text) {
                    writeln!(out, "    │ {DIMMED}as before{DIMMED:#}")?;
                } else {
                    out.write_all(block("    ", text).as_bytes())?;
                    self.contexts.push(text.clone());
                }
            }
            Reaction::ToAgent { text } => {
                let characters = count(text.chars().count(), "character");
                writeln!(out, "  {NOTABLE}sent to the agent{NOTABLE:#}, {characters}")?;
                out.write_all(block("    ", text).as_bytes())?;
            }
            Reaction::Shown { text } => {
                writeln!(out, "  shown to the user")?;
                out.write_all(block("    ", text).as_bytes())?;
            }
            Reaction::Notice { text, level } => {
                let style = match level {
                    NoticeLevel::Info => DIMMED,
                    NoticeLevel::Warning => NOTABLE,
                    NoticeLevel::Error => BAD,
                };
                writeln!(out, "  {style}notice{style:#}")?;
                out.write_all(block("    ", text).as_bytes())?;
            }
            Reaction::Status(Some(status)) => {
                writeln!(out, "  {DIMMED}status{DIMMED:#} {}", first_line(status))?;
            }
            Reaction::Status(None) => writeln!(out, "  {DIMMED}status{DIMMED:#} (none)")?,
            Reaction::Widget(lines) => writeln!(
                out,
                "  {DIMMED}widget{DIMMED:#} {}",
                first_line(&lines.join(" "))
            )?,
            Reaction::Named(name) => {
                writeln!(out, "  {DIMMED}session{DIMMED:#} {}", first_line(name))?;
            }
            Reaction::Asked {
                title,
                message,
                answers,
            } => self.print_question(title, message, answers)?,
            Reaction::NotAnAnswer(answers) => writeln!(
                out,
                "  {DIMMED}that is no answer to the question: {}{DIMMED:#}",
                possible(answers)
            )?,
            Reaction::Gate { checks } => {
                writeln!(out, "  {NOTABLE}the gate would check{NOTABLE:#}")?;
                for (what, source) in checks {
                    guard(out, "    │ ", what, source)?;
                }
            }
            Reaction::Read { text, changed } => self.print_result(text, changed.as_ref())?,
            Reaction::Guard { what, source } => guard(out, "  ", what, source)?,
            Reaction::Kept { number } => {
                let state = self.simulation.state_of_run();
                let source = self.guards.checkpoint(state.as_ref()).unwrap_or_default();
                let what = format!("checkpoint {number}: git would keep the code");
                guard(out, "  ", &what, &source)?;
            }
            Reaction::Queued => writeln!(out, "  it waits until the agent has stopped")?,
            Reaction::NoTrigger(names) => {
                writeln!(out, "  {DIMMED}{}{DIMMED:#}", no_trigger(names))?;
            }
            Reaction::NoCheckpoint(kept) => writeln!(
                out,
                "  {DIMMED}there is no such checkpoint: {} so far{DIMMED:#}",
                count(*kept, "checkpoint")
            )?,
            Reaction::Nothing(why) => writeln!(out, "  {DIMMED}{why}{DIMMED:#}")?,
        }
        Ok(())
    }
}

/// Lists the triggers that exist, for an unknown name.
fn no_trigger(names: &[String]) -> String {
    if names.is_empty() {
        return "the settings have no triggers".to_owned();
    }
    let names = visible(&names.join(", "));
    format!("there is no such trigger: there are {names}")
}

/// Prints a guard and its location.
fn guard(out: &mut impl Write, before: &str, what: &str, source: &str) -> io::Result<()> {
    writeln!(
        out,
        "{before}{}  {DIMMED}{}{DIMMED:#}",
        visible(what),
        visible(source)
    )
}

/// Lists the commands that answer a question.
fn possible(answers: &PossibleAnswers) -> String {
    match answers {
        PossibleAnswers::YesOrNo => "yes or no".to_owned(),
        PossibleAnswers::OneOf(choices) => {
            let commands = choices
                .iter()
                .map(|choice| format!("choose {}", shown(choice)));
            commands.collect::<Vec<String>>().join(", ")
        }
        PossibleAnswers::Text => "choose TEXT".to_owned(),
    }
}

/// Returns a text's first line.
fn first_line(text: &str) -> String {
    let text = text.trim_end();
    match text.split_once('\n') {
        Some((first, _)) => format!("{} …", visible(first)),
        None => visible(text),
    }
}
