//! Writes the conversation of a simulation down, as a transcript that replays.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::host::{NOW, SEED};
use crate::serve::{GateName, GateNews, Loader, TriggerName, TriggerNews, World};
use crate::record::{self, Cause, DEFAULT_LIMIT, Extent, HostLine, Payload};

/// A transcript being written.
#[derive(Debug)]
pub(crate) struct Recorder(record::Recorder);

impl Recorder {
    /// Begins a transcript in a file that holds nothing yet.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        let cannot = || format!("{} cannot be written", path.display());
        // Another recording, or the script if two names were mixed up.
        ensure!(
            !holds_something(path),
            "{} is there already: remove it, or name another file with `--record`",
            path.display()
        );
        File::create(path).with_context(cannot)?;
        let extent = Extent {
            payload: Payload::Kept,
            limit: DEFAULT_LIMIT,
        };
        let recorder = record::Recorder::begin_at(NOW, SEED, path, extent);
        recorder.map(Self).with_context(cannot)
    }

    /// Reads definitions so that the transcript holds them.
    pub(super) fn loader(&self) -> Arc<dyn Loader> {
        self.0.loader()
    }

    /// A world that answers as this one, of which the transcript learns.
    pub(super) fn world(&self, world: Arc<dyn World>) -> Arc<dyn World> {
        self.0.world(world)
    }

    /// What was told of a gate, and what followed.
    pub(super) fn gate(&mut self, at: u64, name: &GateName, news: &GateNews, heard: &[String]) {
        let heard = heard.join("\n");
        self.0.write(at, Cause::Gate(name, news), heard.as_bytes());
    }

    /// What a trigger had, and what followed.
    pub(super) fn trigger(
        &mut self,
        at: u64,
        name: &TriggerName,
        news: &TriggerNews,
        heard: &[String],
    ) {
        let heard = heard.join("\n");
        self.0
            .write(at, Cause::Trigger(name, news), heard.as_bytes());
    }

    /// A line of the host and what it heard.
    pub(super) fn conversation(&mut self, at: u64, said: &str, heard: &[String]) {
        let heard = heard.join("\n");
        let cause = Cause::Host {
            line: HostLine::Line(said.as_bytes()),
            hangs_on_payload: true,
        };
        self.0.write(at, cause, heard.as_bytes());
    }
}

/// Whether there is a file already, with anything in it.
fn holds_something(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.len() > 0)
}
