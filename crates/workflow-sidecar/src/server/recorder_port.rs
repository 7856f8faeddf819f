//! The port to the recorder of a connection.

use std::sync::Arc;

use workflow_core::types::Millis;

use crate::definitions::Loader;
use crate::platform::{Platform, PlatformReport};
use crate::rpc::Frame;

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
