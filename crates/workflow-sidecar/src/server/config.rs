//! The files, the clock and the platform of a server.

use std::sync::Arc;

use super::recorder_port::ConnectionRecorder;
use crate::definitions::{Loader, OnDisk};
use crate::platform::{Platform, RealPlatform};

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
