//! `replay`: comparison of a sidecar with recorded transcripts.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Serialize;
use workflow_core::diagnostic::{render, visible};

use super::format::{NOTABLE, count, json};
use super::outcome::Outcome;
use crate::record::{Difference, Played, Program, Stage, Tiers, replay_all, transcripts};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar serve --record session.jsonl     record what a host says and hears
  workflow-sidecar replay session.jsonl             play the host's part again and compare
  workflow-sidecar replay tests/transcripts --format junit > replay.xml
  workflow-sidecar replay session.jsonl --definitions .   with the workflows as they are now
  workflow-sidecar replay session.jsonl --definitions . --bless    and keep what they change
  workflow-sidecar replay recordings --against \"./workflow-sidecar-0.1 serve\"

A recording holds the definitions it was made with and needs no directory, no host and no time:
it is played on a virtual clock. Of a directory its *.jsonl files are played.

Exits with 1 if anything differs.";

/// Differences printed per transcript; `--format json` has all of them.
const SHOWN: usize = 10;

/// Time before progress is displayed.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// Play recorded sessions again and compare what the sidecar says, byte for byte
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Transcripts, or directories of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write what is heard into the transcripts, and the definitions in place of theirs
    #[arg(long)]
    bless: bool,
    /// Definitions in place of the transcripts': a project, or a directory with `agent` and `project` in it
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
    /// A command that serves, in place of the engine of this program
    #[arg(long, value_name = "COMMAND")]
    against: Option<String>,
    /// Whom the output is for
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Whom the output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Human,
    /// For programs
    Json,
    /// For CI systems that show test results
    Junit,
}

/// The result of a transcript, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    file: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    differences: &'a [Difference],
    /// Location where the recording was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    torn: Option<&'a str>,
    /// Reason why it was not played.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let stage = Stage {
        against: arguments.against.as_deref().map(program).transpose()?,
        instead: match &arguments.definitions {
            Some(directory) => definitions(directory)?,
            None => Tiers::default(),
        },
    };
    let files = transcripts(&arguments.files)?;
    let played = replay_all(&files, &stage, arguments.bless, progress(files.len()));
    let rows: Vec<Row<'_>> = files.iter().zip(&played).map(row).collect();
    match arguments.format {
        Format::Human => human(&rows)?,
        Format::Json => json(&rows)?,
        Format::Junit => junit(&rows)?,
    }
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    if failed > 0 {
        bail!("{} cannot be replayed", count(failed, "transcript"));
    }
    let differs = rows.iter().any(|row| !row.differences.is_empty());
    Ok(if differs {
        Outcome::Findings
    } else {
        Outcome::Success
    })
}

/// Reads the definitions to use instead. Their diagnostics are printed first, because they explain differences.
fn definitions(directory: &Path) -> anyhow::Result<Tiers> {
    let tiers = Tiers::read(directory)?;
    let loaded = tiers.loaded(directory)?;
    for found in &loaded.diagnostics {
        anstream::eprintln!("{}\n", render(found, true));
    }
    if loaded.catalog.iter().next().is_none() {
        let directory = visible(&directory.display().to_string());
        anstream::eprintln!("{NOTABLE}warning{NOTABLE:#}: no workflow in {directory} can run\n");
    }
    Ok(tiers)
}

/// Splits a command line as a shell does.
fn program(command: &str) -> anyhow::Result<Program> {
    let mut words = shlex::split(command)
        .with_context(|| format!("--against {command:?}: a quote is not closed"))?
        .into_iter();
    let program = words
        .next()
        .context("--against names no command: --against \"workflow-sidecar serve\"")?;
    Ok(Program {
        program,
        arguments: words.collect(),
    })
}

/// Displays progress on a terminal after a delay.
fn progress(all: usize) -> impl Fn(usize) + Sync {
    let is_visible = io::stderr().is_terminal();
    let started = Instant::now();
    let displayed = Mutex::new(0);
    move |done| {
        if !is_visible || started.elapsed() < PROGRESS_DELAY {
            return;
        }
        // Threads may report out of order.
        let mut displayed = displayed.lock().unwrap_or_else(PoisonError::into_inner);
        if done < *displayed {
            return;
        }
        *displayed = done;
        // Cleared with the last one.
        let line = if done < all {
            format!("\r{done} of {all} replayed")
        } else {
            "\r\u{1b}[K".to_owned()
        };
        // Progress that cannot be displayed is no reason to fail.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

fn row<'a>((file, played): (&PathBuf, &'a Played)) -> Row<'a> {
    let (outcome, differences, error) = match played {
        Played::Same { .. } => ("same", &[][..], None),
        Played::Differs(differences) => ("differs", &differences[..], None),
        Played::Blessed => ("blessed", &[][..], None),
        Played::Skipped(_) => ("skipped", &[][..], None),
        Played::Failed(failed) => ("failed", &[][..], Some(failed.to_string())),
    };
    Row {
        file: file.display().to_string(),
        outcome,
        differences,
        torn: match played {
            Played::Same { torn } => torn.as_deref(),
            Played::Differs(_) | Played::Blessed | Played::Skipped(_) | Played::Failed(_) => None,
        },
        skipped: match played {
            Played::Skipped(why) => Some(why),
            Played::Same { .. } | Played::Differs(_) | Played::Blessed | Played::Failed(_) => None,
        },
        error,
    }
}

fn human(rows: &[Row<'_>]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let styles = clap::builder::Styles::styled();
    let bad = styles.get_error();
    for row in rows {
        for difference in row.differences.iter().take(SHOWN) {
            let location = format!("{}:{}", row.file, difference.line);
            writeln!(
                out,
                "{bad}{}{bad:#}: {}",
                visible(&location),
                difference.shown()
            )?;
        }
        if let Some(more) = more(row.differences) {
            writeln!(out, "{}: {more}", visible(&row.file))?;
        }
        if let Some(error) = &row.error {
            writeln!(out, "{bad}error{bad:#}: {}", visible(error))?;
        }
        if let Some(torn) = row.torn {
            writeln!(out, "{}: cut off: {torn}", visible(&row.file))?;
        }
        if let Some(why) = row.skipped {
            writeln!(out, "{}: skipped: {why}", visible(&row.file))?;
        }
        if row.outcome == "blessed" {
            writeln!(out, "{}: rewritten", visible(&row.file))?;
        }
    }
    let number = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let replayed = rows.len() - number("failed") - number("skipped");
    let mut summary = vec![format!("{} replayed", count(replayed, "transcript"))];
    let differ = if number("differs") == 1 {
        "differs"
    } else {
        "differ"
    };
    let others = [
        ("differs", differ),
        ("blessed", "rewritten"),
        ("failed", "failed"),
        ("skipped", "skipped"),
    ];
    for (outcome, what) in others {
        if number(outcome) > 0 {
            summary.push(format!("{} {what}", number(outcome)));
        }
    }
    if number("differs") + number("blessed") + number("failed") == 0 && replayed > 0 {
        summary.insert(1, "no differences".to_owned());
    }
    writeln!(out, "{}", summary.join(", "))?;
    Ok(())
}

/// Counts the differences that are not printed.
fn more(differences: &[Difference]) -> Option<String> {
    let more = differences.len().saturating_sub(SHOWN);
    (more > 0).then(|| format!("and {}", count(more, "more message")))
}

/// Prints a `JUnit` report with a test per transcript.
fn junit(rows: &[Row<'_>]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let tests = rows.len();
    let failures = rows
        .iter()
        .filter(|row| !row.differences.is_empty())
        .count();
    let errors = rows.iter().filter(|row| row.error.is_some()).count();
    let skipped = rows.iter().filter(|row| row.skipped.is_some()).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites>\n  <testsuite name=\"workflow-sidecar replay\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">"
    )?;
    for row in rows {
        let name = xml(&row.file);
        let what = match (row.differences, &row.error) {
            ([first, ..], _) => {
                let at = |difference: &Difference| {
                    format!("{}:{}: {}", row.file, difference.line, difference.shown())
                };
                let shown: String = row.differences.iter().take(SHOWN).map(at).collect();
                let shown = shown + &more(row.differences).unwrap_or_default();
                let first = at(first);
                let first = first.lines().next().unwrap_or_default();
                format!(
                    "<failure message=\"{}\">{}</failure>",
                    xml(first),
                    xml(&shown)
                )
            }
            ([], Some(error)) => format!("<error message=\"{}\"/>", xml(error)),
            ([], None) => row.skipped.map_or(String::new(), |why| {
                format!("<skipped message=\"{}\"/>", xml(why))
            }),
        };
        writeln!(
            out,
            "    <testcase classname=\"replay\" name=\"{name}\" file=\"{name}\">{what}</testcase>"
        )?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")?;
    Ok(())
}

/// Escapes a text for XML. Characters that XML forbids are replaced.
fn xml(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
