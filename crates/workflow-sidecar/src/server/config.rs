//! The files, the clock and the platform of a server.

use std::sync::Arc;

use super::definitions::{Loader, OnDisk};
use crate::platform::{Platform, RealPlatform};

/// Everything that a server needs of its process.
#[derive(Debug)]
pub(crate) struct ServerConfig {
    pub(super) loader: Arc<dyn Loader>,
    /// The seed of task ids. They are random without one.
    pub(super) seed: Option<u64>,
    pub(super) platform: Arc<dyn Platform>,
    /// True for a host of this machine, which is told what its surroundings lack.
    pub(super) has_surroundings: bool,
}

impl Default for ServerConfig {
    /// The disk, the system's clock and this machine.
    fn default() -> Self {
        Self::with_loader(Arc::new(OnDisk::default()))
    }
}

impl ServerConfig {
    /// The definitions of this loader, the system's clock and this machine.
    pub(crate) fn with_loader(loader: Arc<dyn Loader>) -> Self {
        Self {
            loader,
            seed: None,
            platform: Arc::new(RealPlatform::default()),
            has_surroundings: false,
        }
    }

    /// A host of this machine, whose session is not recorded.
    pub(super) fn in_surroundings() -> Self {
        Self {
            has_surroundings: true,
            ..Self::default()
        }
    }

    /// Replaces the platform.
    pub(crate) fn on_platform(mut self, platform: Arc<dyn Platform>) -> Self {
        self.platform = platform;
        self
    }

    /// Task ids that a recording can state, so that its replay repeats them.
    pub(crate) fn repeatable(loader: Arc<dyn Loader>, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..Self::with_loader(loader)
        }
    }
}
