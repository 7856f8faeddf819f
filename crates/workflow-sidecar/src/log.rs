//! The log on stderr: its level, its format, and what it leaves out.
//!
//! Stdout carries the protocol. The log reports sessions, requests and failures. The content of lines, and with it the
//! input and output of tools, is logged only under a separate target that has to be requested by name.

use std::io;
use std::panic::PanicHookInfo;

use clap::ValueEnum;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The variable with the filter, as `tracing` reads it: `warn`, `debug`, `workflow_sidecar=trace`.
pub(crate) const LOG_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG";

/// The variable with the format, for a host that cannot pass `--log-format`.
pub(crate) const FORMAT_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG_FORMAT";

/// The target of the content of lines. `trace` alone does not include it, `lines=trace` does.
pub(crate) const LINES: &str = "lines";

/// The target of the library that serves MCP. It logs whole messages from `info` on.
const RMCP: &str = "rmcp";

/// The format of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    // Without documentation, because help would take four lines for each value.
    #[default]
    Text,
    Json,
}

/// Returns true if the user asks for a log.
pub(crate) fn is_requested() -> bool {
    std::env::var_os(LOG_VARIABLE).is_some_and(|wanted| !wanted.is_empty())
}

/// Starts logging to stderr.
///
/// The filter is a list of targets and levels without the patterns of `EnvFilter`, which need a regular expression
/// engine.
pub(crate) fn begin(format: LogFormat) {
    // A filter that is not UTF-8 counts as not set.
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
        LogFormat::Text => registry.with(layer.with_filter(filter)).init(),
        LogFormat::Json => registry.with(layer.json().with_filter(filter)).init(),
    }
    std::panic::set_hook(Box::new(log_panic));
}

fn filter(wanted: &str) -> Result<Targets, tracing_subscriber::filter::ParseError> {
    let wanted = if wanted.is_empty() { "warn" } else { wanted };
    let wanted: Targets = wanted.parse()?;
    let names = |target: &str| wanted.iter().any(|(named, _)| named == target);
    let quiet = [(LINES, LevelFilter::OFF), (RMCP, LevelFilter::ERROR)];
    let quiet = quiet.into_iter().filter(|(target, _)| !names(target));
    Ok(wanted.clone().with_targets(quiet))
}

/// Logs the location of a panic. Its text may quote the content of a line.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    tracing::error!(location, "a panic");
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    tracing::trace!(target: LINES, text, "the message of the panic");
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn the_content_of_lines_is_logged_only_by_name() {
        let shows = |wanted: &str| filter(wanted).unwrap().would_enable(LINES, &Level::TRACE);
        assert!(!shows(""));
        assert!(!shows("trace"));
        assert!(!shows("workflow_sidecar=trace"));
        assert!(shows("lines=trace"));
        assert!(shows("warn,lines=trace"));
    }

    #[test]
    fn the_messages_of_mcp_are_logged_only_by_name() {
        let shows = |wanted: &str| filter(wanted).unwrap().would_enable(RMCP, &Level::DEBUG);
        assert!(!shows("debug"));
        assert!(shows("debug,rmcp=debug"));
    }

    #[test]
    fn warnings_are_logged_by_default() {
        let filter = filter("").unwrap();
        assert!(filter.would_enable("workflow_sidecar", &Level::WARN));
        assert!(!filter.would_enable("workflow_sidecar", &Level::INFO));
    }
}
