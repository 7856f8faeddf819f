//! `replay`: comparison of a sidecar with recorded transcripts.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use parking_lot::Mutex;
use serde::Serialize;
use workflow_core::diagnostic::{render, visible};

use crate::present::{CommandOutcome, NOTABLE, count, json};
use crate::record::{Difference, ReplayOptions, Tiers, TranscriptResult, replay_all, transcripts};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar serve --record session.jsonl           record a session
  workflow-sidecar replay session.jsonl                   send the host's messages again, and compare
  workflow-sidecar replay tests/transcripts --format junit > replay.xml
  workflow-sidecar replay session.jsonl --definitions .   with the workflows as they are now
  workflow-sidecar replay session.jsonl --definitions . --bless    accept the differences
  workflow-sidecar replay recordings --only decisions     ignore wording

A recording contains the definitions that it was made with. It needs no directory and no host, and is replayed on
a virtual clock. In a directory all *.jsonl files are replayed.

Exits with 1 if anything differs.";

/// Differences printed per transcript; `--format json` has all of them.
const SHOWN: usize = 10;

/// Time before progress is displayed.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// Replay recorded sessions and compare the messages of the sidecar
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Recordings, or directories of recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Accept the differences: write the new messages, and the definitions of --definitions, into the recordings
    #[arg(long)]
    bless: bool,
    /// Compare only a part of the messages
    #[arg(long, value_enum, conflicts_with = "bless")]
    only: Option<Only>,
    /// Definitions to use instead of the recorded ones: a project, or a directory with `agent` and `project`
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: ReplayFormat,
}

/// The parts of messages that may be compared alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Only {
    /// Decisions on calls, questions and phase changes, without their wording
    Decisions,
}

/// The formats of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum ReplayFormat {
    /// Text
    #[default]
    Human,
    /// JSON for programs
    Json,
    /// Test report in XML, for CI systems
    Junit,
}

/// A transcript and its result.
#[derive(Debug, Serialize)]
struct Row {
    file: String,
    #[serde(flatten)]
    played: TranscriptResult,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let options = ReplayOptions {
        instead: match &arguments.definitions {
            Some(directory) => definitions(directory)?,
            None => Tiers::default(),
        },
        only_decisions: arguments.only == Some(Only::Decisions),
    };
    let files = transcripts(&arguments.files)?;
    let played = replay_all(&files, &options, arguments.bless, progress(files.len()));
    let files = files.iter().map(|file| file.display().to_string());
    let rows: Vec<Row> = files
        .zip(played)
        .map(|(file, played)| Row { file, played })
        .collect();
    match arguments.format {
        ReplayFormat::Human => human(&rows)?,
        ReplayFormat::Json => json(&rows)?,
        ReplayFormat::Junit => junit(&rows)?,
    }
    let numbers = Numbers::of(&rows);
    if numbers.failed > 0 {
        // The table names each; only where it is for programs they are named here.
        if arguments.format != ReplayFormat::Human {
            bail!("{} cannot be replayed", count(numbers.failed, "transcript"));
        }
        return Ok(CommandOutcome::Failed);
    }
    Ok(if numbers.differ > 0 {
        CommandOutcome::Findings
    } else {
        CommandOutcome::Success
    })
}

/// The numbers of transcripts with each result.
#[derive(Debug, Default)]
struct Numbers {
    same: usize,
    differ: usize,
    blessed: usize,
    failed: usize,
}

impl Numbers {
    fn of(rows: &[Row]) -> Self {
        let mut numbers = Self::default();
        for row in rows {
            *match row.played {
                TranscriptResult::Same { .. } => &mut numbers.same,
                TranscriptResult::Differs { .. } => &mut numbers.differ,
                TranscriptResult::Blessed => &mut numbers.blessed,
                TranscriptResult::Failed { .. } => &mut numbers.failed,
            } += 1;
        }
        numbers
    }
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
        let mut displayed = displayed.lock();
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

fn human(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let styles = clap::builder::Styles::styled();
    let bad = styles.get_error();
    for Row { file, played } in rows {
        let name = visible(file);
        match played {
            TranscriptResult::Differs { differences } => {
                for difference in differences.iter().take(SHOWN) {
                    let location = format!("{file}:{}", difference.line);
                    writeln!(
                        out,
                        "{bad}{}{bad:#}: {}",
                        visible(&location),
                        difference.shown()
                    )?;
                }
                if let Some(more) = more(differences) {
                    writeln!(out, "{name}: {more}")?;
                }
            }
            TranscriptResult::Failed { error } => {
                anstream::eprintln!("{bad}error{bad:#}: {}", visible(&error.to_string()));
            }
            TranscriptResult::Same { torn: Some(torn) } => {
                writeln!(out, "{name}: cut off: {torn}")?;
            }
            TranscriptResult::Same { torn: None } => {}
            TranscriptResult::Blessed => writeln!(out, "{name}: rewritten")?,
        }
    }
    let numbers = Numbers::of(rows);
    let replayed = rows.len() - numbers.failed;
    let mut summary = vec![format!("{} replayed", count(replayed, "transcript"))];
    if numbers.differ + numbers.blessed + numbers.failed == 0 && replayed > 0 {
        summary.push("no differences".to_owned());
    }
    let differ = if numbers.differ == 1 {
        "differs"
    } else {
        "differ"
    };
    let others = [
        (numbers.differ, differ),
        (numbers.blessed, "rewritten"),
        (numbers.failed, "failed"),
    ];
    let others = others.iter().filter(|(number, _)| *number > 0);
    summary.extend(others.map(|(number, what)| format!("{number} {what}")));
    // One that failed alone has been named.
    if rows.len() > 1 || numbers.failed == 0 {
        writeln!(out, "{}", summary.join(", "))?;
    }
    Ok(())
}

/// Counts the differences that are not printed.
fn more(differences: &[Difference]) -> Option<String> {
    let more = differences.len().saturating_sub(SHOWN);
    (more > 0).then(|| format!("and {}", count(more, "more message")))
}

/// Prints a `JUnit` report with a test per transcript.
fn junit(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let numbers = Numbers::of(rows);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites>\n  <testsuite name=\"workflow-sidecar replay\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        rows.len(),
        numbers.differ,
        numbers.failed
    )?;
    for Row { file, played } in rows {
        let name = xml(file);
        let what = match played {
            TranscriptResult::Differs { differences } => {
                let at = |difference: &Difference| {
                    format!("{file}:{}: {}", difference.line, difference.shown())
                };
                let shown: String = differences.iter().take(SHOWN).map(at).collect();
                let first = shown.lines().next().unwrap_or_default();
                format!(
                    "<failure message=\"{}\">{}{}</failure>",
                    xml(first),
                    xml(&shown),
                    more(differences).unwrap_or_default()
                )
            }
            TranscriptResult::Failed { error } => {
                format!("<error message=\"{}\"/>", xml(&error.to_string()))
            }
            TranscriptResult::Same { .. } | TranscriptResult::Blessed => String::new(),
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
