//! What is logged: how much, in which form, and what never is.
//!
//! Stdout carries the protocol, so a log goes to stderr. It tells of sessions, requests and what went wrong;
//! what a line holds, and so what tools are given and give back, is logged only under a target of its own
//! that has to be asked for by name.

use std::io;
use std::panic::PanicHookInfo;

use clap::ValueEnum;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What is logged, as `tracing` filters it: `warn`, `debug`, `workflow_sidecar=trace`.
pub(crate) const LOG_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG";

/// The form, for a host that cannot say `--log-format`.
pub(crate) const FORMAT_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG_FORMAT";

/// The target of what lines hold. `trace` alone does not ask for it, `lines=trace` does.
pub(crate) const LINES: &str = "lines";

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    // Without documentation of their own: help would take four lines for each option.
    #[default]
    Text,
    Json,
}

/// Logs to stderr from here on.
///
/// The filter is a list of targets and levels without patterns: those of `EnvFilter` bring a
/// regular expression engine, which an idle process would carry about in memory.
pub(crate) fn begin(format: Format) {
    let wanted = std::env::var(LOG_VARIABLE).unwrap_or_default();
    let filter = filter(&wanted).unwrap_or_else(|problem| {
        eprintln!("workflow-sidecar: {LOG_VARIABLE}={wanted}: {problem}; warnings are logged");
        Targets::new().with_default(LevelFilter::WARN)
    });
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE);
    let registry = tracing_subscriber::registry();
    match format {
        Format::Text => registry.with(layer.with_filter(filter)).init(),
        Format::Json => registry.with(layer.json().with_filter(filter)).init(),
    }
    std::panic::set_hook(Box::new(tell_of_panic));
}

fn filter(wanted: &str) -> Result<Targets, tracing_subscriber::filter::ParseError> {
    if wanted.is_empty() {
        return Ok(Targets::new().with_default(LevelFilter::WARN));
    }
    let filter: Targets = wanted.parse()?;
    let asks_for_lines = filter.iter().any(|(target, _)| target == LINES);
    Ok(if asks_for_lines {
        filter
    } else {
        filter.with_target(LINES, LevelFilter::OFF)
    })
}

/// Where a panic was. Its text may quote what was worked on.
fn tell_of_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    tracing::error!(place, "a panic");
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    tracing::trace!(target: LINES, text, "what the panic says");
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn what_lines_hold_is_logged_only_by_name() {
        let shows = |wanted: &str| filter(wanted).unwrap().would_enable(LINES, &Level::TRACE);
        assert!(!shows(""));
        assert!(!shows("trace"));
        assert!(!shows("workflow_sidecar=trace"));
        assert!(shows("lines=trace"));
        assert!(shows("warn,lines=trace"));
    }

    #[test]
    fn warnings_are_logged_where_nothing_is_asked() {
        let filter = filter("").unwrap();
        assert!(filter.would_enable("workflow_sidecar", &Level::WARN));
        assert!(!filter.would_enable("workflow_sidecar", &Level::INFO));
    }
}
