//! `show`: the timeline of a recording, of a pi session or of a run.

use std::path::PathBuf;

use anyhow::Context;
use workflow_core::definition::load;

use super::project::UserDirectory;
use crate::present::{OutputFormat, say};
use crate::record::Transcript;
use crate::sessions::{FoundSession, SessionFile, is_session, read_file, run_id};
use crate::show::Timelines;

/// Show a recording, a pi session or a run as a timeline
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Recording, session file of pi, or the id of a run
    file: PathBuf,
    /// Project with the names of phases, for sessions that do not store their definition
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    user: UserDirectory,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: ShowFormat,
    /// Leave out the texts of people, models and tools
    #[arg(long)]
    redact: bool,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum ShowFormat {
    /// Text
    #[default]
    Human,
    /// JSON for programs
    Json,
    /// A web page in one file that loads nothing
    Html,
    /// Markdown, for a pull request or the summary of a job
    Markdown,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let known = match &arguments.project {
        Some(project) => Some(load(&arguments.user.disk(project)?).catalog),
        None => None,
    };
    let mut timelines = if let Some(id) = run_id(&arguments.file) {
        let found = FoundSession::of_run(id, &arguments.user.directory())?;
        Timelines::of_found(&found, known)?
    } else {
        let bytes = read_file(&arguments.file)?;
        if is_session(&bytes) {
            let file = SessionFile::parse(&bytes);
            Timelines::of_session(&file, known, true)
        } else {
            let transcript = Transcript::parse(&arguments.file, &bytes)
                .context("this is neither a session of pi nor a recording");
            Timelines::of_recording(&transcript?, known)
        }
    };
    if arguments.redact {
        timelines.redact();
    }
    let page = match arguments.format {
        ShowFormat::Human => return OutputFormat::Human.print(&timelines, Timelines::print),
        ShowFormat::Json => return OutputFormat::Json.print(&timelines, Timelines::print),
        ShowFormat::Html => timelines.html(),
        ShowFormat::Markdown => timelines.markdown(),
    };
    say(page?.trim_end())
}
