//! What a server is made with: the files, the clock, the platform, and what records its connections.

use std::sync::Arc;

use workflow_core::types::Millis;

use crate::definitions::{Loader, OnDisk};
use crate::platform::{Platform, PlatformReport, RealPlatform};
use crate::rpc::Frame;

/// Everything that a server needs of its process.
pub(crate) struct ServerConfig {
    pub(crate) loader: Arc<dyn Loader>,
    /// The seed of task ids, so that the replay of a recording repeats them. They are random without one.
    pub(crate) seed: Option<u64>,
    pub(crate) platform: Arc<dyn Platform>,
    /// True for a host of this machine whose session is not recorded: it is told what its surroundings lack.
    pub(crate) has_surroundings: bool,
    /// The recording of all lines.
    pub(crate) recorder: Option<Box<dyn ConnectionRecorder>>,
}

impl Default for ServerConfig {
    /// The disk, the system's clock and this machine.
    fn default() -> Self {
        Self {
            loader: Arc::new(OnDisk::default()),
            seed: None,
            platform: Arc::new(RealPlatform::default()),
            has_surroundings: false,
            recorder: None,
        }
    }
}

/// A recording of a connection.
pub(crate) trait ConnectionRecorder: Send {
    /// The seed of task ids while this is recorded.
    fn seed(&self) -> u64;

    /// A loader of definitions that records its reads.
    fn loader(&self) -> Arc<dyn Loader>;

    /// A platform with the results of this one, which are recorded.
    fn platform(&self, platform: Arc<dyn Platform>) -> Arc<dyn Platform>;

    /// Writes what happened, and the lines that followed.
    fn write(&mut self, at: Millis, cause: Cause<'_>, followed: &[u8]);
}

/// The cause of lines of the sidecar.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cause<'a> {
    Host {
        line: Frame<'a>,
        /// True if decisions depend on what tools are given or give back.
        depends_on_payload: bool,
    },
    Time,
    Platform(&'a PlatformReport),
}
