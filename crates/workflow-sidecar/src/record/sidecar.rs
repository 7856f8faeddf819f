//! The sidecar that a transcript is replayed against: the engine in memory, or a process.
//!
//! Must not know what is expected of it.

use std::sync::Arc;

use workflow_core::definition::Tier;

use super::replay_platform::ReplayPlatform;
use super::results::ReportedEvent;
use super::transcript_loader::TranscriptLoader;
use crate::platform::PlatformReport;
use crate::server::{InMemoryServer, ServerConfig};

/// A sidecar. The lines that follow from a line are there before the next one is sent.
pub(super) trait Sidecar {
    /// The content of the directories has changed.
    fn redefine(&mut self) -> Result<(), SidecarError> {
        Ok(())
    }

    /// Gives the path here of a directory that the host named.
    fn directory(&mut self, _tier: Tier, named: &str) -> Result<String, SidecarError> {
        Ok(named.to_owned())
    }

    /// Sends a line, gives the lines that follow.
    fn send(&mut self, line: Sent<'_>) -> Result<Vec<String>, SidecarError>;

    /// Lets the platform report an event, gives the lines that follow.
    fn report(&mut self, reported: &ReportedEvent) -> Result<Vec<String>, SidecarError>;

    /// Closes the host's side, gives the lines that follow.
    fn end(&mut self) -> Result<Vec<String>, SidecarError>;

    /// Gives the exit status, if it failed.
    fn failed_exit(&mut self) -> Option<String> {
        None
    }

    /// Gives the last lines of its standard error.
    fn complaints(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A line that is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sent<'a> {
    Line(&'a [u8]),
    /// Any line longer than this.
    TooLong(usize),
}

/// The reason why a transcript cannot be played to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SidecarError {
    #[error("the command cannot be started: {0}")]
    Start(std::io::Error),
    #[error("the command wrote nothing for {0} seconds")]
    Silent(u64),
    #[error("the command does not stop talking")]
    Babbling,
    #[error("the directory for the definitions cannot be written: {0}")]
    Files(std::io::Error),
    #[error("{name} cannot be played against a command: {why}")]
    Unplayable { name: String, why: &'static str },
}

/// The engine in this process.
#[derive(Debug)]
pub(super) struct InMemory(InMemoryServer);

impl InMemory {
    pub(super) fn new(loader: &Arc<TranscriptLoader>, platform: &Arc<ReplayPlatform>) -> Self {
        let config = ServerConfig::with_loader(Arc::clone(loader) as _);
        Self(InMemoryServer::with_config(
            config.on_platform(Arc::clone(platform) as _),
        ))
    }
}

impl Sidecar for InMemory {
    fn send(&mut self, line: Sent<'_>) -> Result<Vec<String>, SidecarError> {
        Ok(match line {
            // The text in a line of a transcript may have several lines.
            Sent::Line(text) => text
                .split(|byte| *byte == b'\n')
                .flat_map(|line| self.0.send(line))
                .collect(),
            Sent::TooLong(limit) => self.0.send_long_line(limit),
        })
    }

    fn report(&mut self, reported: &ReportedEvent) -> Result<Vec<String>, SidecarError> {
        let ReportedEvent { session, event } = reported.clone();
        Ok(self.0.report(PlatformReport {
            session,
            event,
            trigger: None,
        }))
    }

    fn end(&mut self) -> Result<Vec<String>, SidecarError> {
        Ok(self.0.finish())
    }
}
