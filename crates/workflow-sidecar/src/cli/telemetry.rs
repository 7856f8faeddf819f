//! `--otlp` of the commands that a host starts.

use std::time::Duration;

use crate::telemetry::{self, Endpoint};

/// The time to send the last measurements, for a command that has served a whole session.
pub(super) const TIME_TO_EXPORT: Duration = Duration::from_secs(2);

#[derive(Debug, Default, clap::Args)]
// Its group would have the name of the one that it is flattened into.
#[group(skip)]
pub(super) struct Arguments {
    /// Export counters and spans to this OpenTelemetry collector. Needs a build with the feature
    /// `otlp`
    #[arg(
        long,
        value_name = "ENDPOINT",
        env = "WORKFLOW_SIDECAR_OTLP",
        hide_env = true
    )]
    otlp: Option<Endpoint>,
}

impl Arguments {
    /// Runs a command while measurements are exported, and sends the last ones within the time.
    pub(super) fn around<T>(&self, time: Duration, run: impl FnOnce() -> T) -> T {
        // A session must not fail because it is not measured.
        if let Some(endpoint) = &self.otlp
            && let Err(error) = telemetry::begin(endpoint)
        {
            tracing::warn!("nothing is exported to the collector: {error}");
        }
        let result = run();
        telemetry::finish(time);
        result
    }
}
