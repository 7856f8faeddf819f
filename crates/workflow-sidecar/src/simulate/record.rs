//! The recording of a simulation, as a transcript that replays.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::host::{NOW, SEED};
use crate::platform::{Platform, PlatformReport};
use crate::record::{self, DEFAULT_LIMIT, Extent, Payload};
use crate::server::{Cause, ConnectionRecorder, HostLine, Loader};

/// A transcript being written.
#[derive(Debug)]
pub(crate) struct Recorder(record::Recorder);

impl Recorder {
    /// Begins a transcript in a file that is empty or does not exist.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        let cannot = || format!("{} cannot be written", path.display());
        // Another recording, or the script if two names were mixed up.
        ensure!(
            !has_content(path),
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

    /// A loader of definitions whose reads are recorded.
    pub(super) fn loader(&self) -> Arc<dyn Loader> {
        self.0.loader()
    }

    /// A platform with the results of this one, which are recorded.
    pub(super) fn platform(&self, platform: Arc<dyn Platform>) -> Arc<dyn Platform> {
        self.0.platform(platform)
    }

    /// Records a report of the platform and the lines that followed.
    pub(super) fn report(&mut self, at: u64, report: &PlatformReport, received: &[String]) {
        let received = received.join("\n");
        self.0
            .write(at, Cause::Platform(report), received.as_bytes());
    }

    /// Records a line of the host and the lines that followed.
    pub(super) fn line(&mut self, at: u64, line: &str, received: &[String]) {
        let received = received.join("\n");
        let cause = Cause::Host {
            line: HostLine::Line(line.as_bytes()),
            depends_on_payload: true,
        };
        self.0.write(at, cause, received.as_bytes());
    }
}

/// True if there is a file with any content.
fn has_content(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.len() > 0)
}
