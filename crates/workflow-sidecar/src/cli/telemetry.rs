//! `--otlp` of the commands that a host starts.

use std::time::Duration;

#[cfg(feature = "otlp")]
use crate::telemetry::{self, Endpoint};

/// The time to send the last measurements, for a command that has served a whole session.
pub(super) const TIME_TO_EXPORT: Duration = Duration::from_secs(2);

/// The option. Without the feature `otlp` there is none.
#[derive(Debug, Default, clap::Args)]
// Its group would have the name of the one that it is flattened into.
#[group(skip)]
pub(super) struct Arguments {
    /// Export counters and spans to an OpenTelemetry collector, such as http://localhost:4318
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "ENDPOINT", env = "WORKFLOW_SIDECAR_OTLP")]
    otlp: Option<Endpoint>,
}

impl Arguments {
    /// Runs a command while measurements are exported, and sends the last ones within the time.
    pub(super) fn around<T>(&self, time: Duration, run: impl FnOnce() -> T) -> T {
        self.begin();
        let result = run();
        finish(time);
        result
    }

    #[cfg(feature = "otlp")]
    fn begin(&self) {
        // A session must not fail because it is not measured.
        if let Some(endpoint) = &self.otlp
            && let Err(error) = telemetry::begin(endpoint)
        {
            tracing::warn!("nothing is exported to the collector: {error}");
        }
    }

    #[cfg(not(feature = "otlp"))]
    #[expect(clippy::unused_self, reason = "the option needs a feature")]
    fn begin(&self) {}
}

#[cfg(feature = "otlp")]
fn finish(time: Duration) {
    telemetry::finish(time);
}

#[cfg(not(feature = "otlp"))]
fn finish(_: Duration) {}
