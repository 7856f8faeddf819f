//! Time in milliseconds.

use std::time::{Duration, SystemTime};

use workflow_core::types::Millis;

/// The time in milliseconds since 1970.
pub(crate) fn wall_time() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // A system's time before 1970 counts as 1970.
    since.map_or(0, millis)
}

/// A duration in milliseconds.
pub(crate) fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
