//! `approve`: a person answers what a run waits for, outside of its host.

use std::io::{self, Write};

use anyhow::bail;
use workflow_core::diagnostic::{shown, visible};

use super::format::{ASIDE, Format, GOOD, NOTABLE, TITLE, block, json};
use super::outcome::Outcome;
use super::person;
use super::project::Own;
use crate::approval::{Approvals, Awaited, Waits};
use crate::shown;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar approve                            what waits for you: the question, then your answer
  workflow-sidecar approve wf-1767225600000-3t8xrq    of several runs this one; its first letters are enough
  workflow-sidecar approve --choice revise            the answer at once
  workflow-sidecar approve --list                     what waits

Your answer is used when the agent calls workflow_step with action='next' again: tell it to go on, or close the
dialog in which the host asks the same. It is about what you were shown: when that changes you are asked again.
Only a person can answer, in a terminal. Exits with 3 if something still waits.";

/// Answer what a run waits for: may the phase be left?
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The run, where several wait: its task id, or the beginning of it
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// The answer
    #[arg(long, value_name = "WORD", conflicts_with = "list")]
    choice: Option<String>,
    /// Only say what waits
    #[arg(long)]
    list: bool,
    /// Whom the list is for
    #[arg(long, value_enum, default_value_t, requires = "list")]
    format: Format,
    #[command(flatten)]
    own: Own,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let approvals = Approvals::in_agent_dir(&arguments.own.directory());
    let task = arguments.task.as_deref().unwrap_or_default();
    let mut waiting = approvals.all()?;
    waiting.retain(|waits| waits.awaited.task_id.starts_with(task));
    if arguments.list {
        return list(&waiting, arguments.format);
    }
    person::needed("approve")?;
    let awaited = match waiting.len() {
        0 if task.is_empty() => {
            writeln!(anstream::stdout(), "Nothing waits for your word.")?;
            return Ok(Outcome::Well);
        }
        0 => bail!("no run `{}` waits for your word", shown(task)),
        1 => waiting.remove(0).awaited,
        several => {
            list(&waiting, Format::Human)?;
            bail!("{several} runs wait: say which one");
        }
    };
    let stood = tell(&awaited)?;
    let said = match &arguments.choice {
        Some(word) => Some(word.clone()),
        None => ask(&awaited)?,
    };
    let Some(said) = said else {
        writeln!(anstream::stdout(), "Nothing was said: it still waits.")?;
        return Ok(Outcome::Waits);
    };
    let Some(choice) = chosen(&awaited, &said) else {
        let said = shown(&said);
        bail!("`{said}` cannot be chosen: {}", choices(&awaited));
    };
    if how_it_stands(&awaited) != stood {
        let show = visible(awaited.show.as_deref().unwrap_or_default());
        bail!("{show} has changed since it was shown to you: nothing was noted, look at it again");
    }
    if !approvals.choose(&awaited, &choice, stood)? {
        bail!("the run has gone on, and waits for this no more");
    }
    let mut out = anstream::stdout();
    writeln!(
        out,
        "{GOOD}{}{GOOD:#}: noted. Tell the agent to go on.",
        visible(&choice)
    )?;
    Ok(Outcome::Well)
}

fn list(waiting: &[Waits], format: Format) -> anyhow::Result<Outcome> {
    match format {
        Format::Json => json(&waiting)?,
        Format::Human => tell_all(waiting)?,
    }
    let waits = waiting.iter().any(|waits| waits.choice.is_none());
    Ok(if waits { Outcome::Waits } else { Outcome::Well })
}

fn tell_all(waiting: &[Waits]) -> io::Result<()> {
    let mut out = anstream::stdout();
    if waiting.is_empty() {
        writeln!(out, "Nothing waits for your word.")?;
    }
    for Waits { awaited, choice } in waiting {
        title(&mut out, awaited)?;
        writeln!(out, "  {}", visible(&awaited.ask))?;
        match choice {
            None => writeln!(out, "  {NOTABLE}waits{NOTABLE:#}")?,
            Some(choice) => writeln!(
                out,
                "  {GOOD}answered{GOOD:#}: {}; the agent has not asked since",
                visible(choice)
            )?,
        }
    }
    Ok(())
}

/// Which run it is.
fn title(out: &mut impl Write, awaited: &Awaited) -> io::Result<()> {
    let Awaited {
        task_id,
        workflow,
        phase,
        task,
        cwd,
        ..
    } = awaited;
    let (workflow, phase, task) = (visible(workflow), visible(phase), shown(task));
    writeln!(out, "{TITLE}{workflow} > {phase}{TITLE:#}: {task}")?;
    let cwd = visible(&cwd.to_string_lossy());
    writeln!(out, "  {ASIDE}{task_id} in {cwd}{ASIDE:#}")
}

/// Says what is to be decided, and gives how the file stood that was shown.
fn tell(awaited: &Awaited) -> io::Result<Option<String>> {
    let mut out = anstream::stdout();
    title(&mut out, awaited)?;
    // Looked at first: what changes before it is shown counts as a change.
    let shown = how_it_stands(awaited);
    if let Some(show) = &awaited.show {
        writeln!(out, "\n{}", visible(show))?;
        let text = shown::excerpt(show, &awaited.cwd);
        block(&mut out, "  ", text.trim_end())?;
    }
    writeln!(out, "\n{TITLE}{}{TITLE:#}", visible(&awaited.ask))?;
    Ok(shown)
}

fn how_it_stands(awaited: &Awaited) -> Option<String> {
    let show = awaited.show.as_deref()?;
    Some(shown::state(show, &awaited.cwd))
}

fn ask(awaited: &Awaited) -> io::Result<Option<String>> {
    person::answer(&format!("[{}]", choices(awaited)))
}

/// What can be chosen, by word or by number.
fn choices(awaited: &Awaited) -> String {
    let choices = awaited.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| format!("{} {}", at + 1, visible(choice)));
    choices.collect::<Vec<_>>().join(" · ")
}

/// The choice that a word or a number stands for.
fn chosen(awaited: &Awaited, said: &str) -> Option<String> {
    let by_word = awaited.choices.iter().find(|choice| *choice == said);
    let by_number = || {
        let number: usize = said.parse().ok()?;
        awaited.choices.get(number.checked_sub(1)?)
    };
    by_word.or_else(by_number).cloned()
}
