//! Export of measurements through OpenTelemetry.

use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, SystemTime};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, MeterProvider};
use opentelemetry::trace::{Span, SpanBuilder, Tracer, TracerProvider};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use workflow_core::effect::Denied;
use workflow_core::types::Millis;

use super::collector::Collector;
pub(crate) use super::collector::Endpoint;
use super::labels::Labels;

/// The time between two exports of counters.
const INTERVAL: Duration = Duration::from_secs(10);

static EXPORT: OnceLock<Export> = OnceLock::new();

/// The instruments, and the threads behind them.
struct Export {
    denials: Counter<u64>,
    gates: Counter<u64>,
    reminders: Counter<u64>,
    approvals: Counter<u64>,
    gate_duration: Histogram<f64>,
    approval_wait: Histogram<f64>,
    phase_duration: Histogram<f64>,
    tracer: SdkTracer,
    metrics: SdkMeterProvider,
    spans: SdkTracerProvider,
}

/// Starts to export to the collector at an address.
pub(crate) fn begin(endpoint: &Endpoint) -> anyhow::Result<()> {
    let resource = Resource::builder()
        .with_service_name("workflow-sidecar")
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let exporter = MetricExporter::builder()
        .with_http()
        .with_http_client(Collector)
        .with_endpoint(endpoint.of("metrics"))
        // A hook lives for milliseconds, so that each process reports only what it has added.
        .with_temporality(Temporality::Delta)
        .build()?;
    let reader = PeriodicReader::builder(exporter).with_interval(INTERVAL);
    let metrics = SdkMeterProvider::builder()
        .with_resource(resource.clone())
        .with_reader(reader.build())
        .build();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector)
        .with_endpoint(endpoint.of("traces"))
        .build()?;
    let spans = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(exporter)
        .build();
    let meter = metrics.meter("workflow-sidecar");
    let counter = |name: &'static str| meter.u64_counter(name).build();
    let seconds = |name: &'static str| meter.f64_histogram(name).with_unit("s").build();
    let export = Export {
        denials: counter("workflow.denials"),
        gates: counter("workflow.gates"),
        reminders: counter("workflow.reminders"),
        approvals: counter("workflow.approvals"),
        gate_duration: seconds("workflow.gate.duration"),
        approval_wait: seconds("workflow.approval.wait"),
        phase_duration: seconds("workflow.phase.duration"),
        tracer: spans.tracer("workflow-sidecar"),
        metrics,
        spans,
    };
    // A process begins once.
    let _ = EXPORT.set(export);
    Ok(())
}

/// Sends what is left, for no longer than the time that there is.
pub(crate) fn finish(time: Duration) {
    let Some(export) = EXPORT.get() else { return };
    let (done, ended) = channel();
    // The collector may not answer: the process ends without the threads.
    for shut_down in [
        (|export| drop(export.metrics.shutdown())) as fn(&Export),
        |export| drop(export.spans.shutdown()),
    ] {
        let done = done.clone();
        thread::spawn(move || {
            shut_down(export);
            drop(done);
        });
    }
    drop(done);
    let _: Result<(), _> = ended.recv_timeout(time);
}

pub(super) fn is_on() -> bool {
    EXPORT.get().is_some()
}

pub(super) fn denial(labels: &Labels, denied: &Denied) {
    let Some(export) = EXPORT.get() else { return };
    let of_denial = [
        KeyValue::new("workflow.rule", denied.rule.clone()),
        KeyValue::new("workflow.level", denied.level.clone()),
        KeyValue::new("workflow.tool", denied.tool.clone()),
    ];
    let attributes: Vec<KeyValue> = attributes(labels).into_iter().chain(of_denial).collect();
    export.denials.add(1, &attributes);
}

pub(super) fn gate(labels: &Labels, verdict: &'static str, took: Millis) {
    let Some(export) = EXPORT.get() else { return };
    let verdict = KeyValue::new("workflow.verdict", verdict);
    let attributes: Vec<KeyValue> = attributes(labels).into_iter().chain([verdict]).collect();
    export.gates.add(1, &attributes);
    export.gate_duration.record(seconds(took), &attributes);
    let end = SystemTime::now();
    let start = end.checked_sub(Duration::from_millis(took)).unwrap_or(end);
    span(export, "workflow.gate", labels, attributes, start, end);
}

pub(super) fn reminders(labels: &Labels, count: u64) {
    let Some(export) = EXPORT.get() else { return };
    export.reminders.add(count, &attributes(labels));
}

pub(super) fn approval(labels: &Labels, from: Millis, to: Millis) {
    let Some(export) = EXPORT.get() else { return };
    export.approvals.add(1, &attributes(labels));
    let wait = &export.approval_wait;
    lasted(export, wait, "workflow.approval", labels, (from, to));
}

/// Counts how long a phase was active.
pub(super) fn phase(labels: &Labels, from: Millis, to: Millis) {
    let Some(export) = EXPORT.get() else { return };
    let duration = &export.phase_duration;
    lasted(export, duration, "workflow.phase", labels, (from, to));
}

fn lasted(
    export: &Export,
    histogram: &Histogram<f64>,
    name: &'static str,
    labels: &Labels,
    (from, to): (Millis, Millis),
) {
    let attributes = attributes(labels);
    histogram.record(seconds(to.saturating_sub(from)), &attributes);
    span(
        export,
        name,
        labels,
        attributes.into(),
        time(from),
        time(to),
    );
}

fn span(
    export: &Export,
    name: &'static str,
    labels: &Labels,
    mut attributes: Vec<KeyValue>,
    start: SystemTime,
    end: SystemTime,
) {
    attributes.push(KeyValue::new("workflow.run", labels.run.clone()));
    let builder = SpanBuilder::from_name(name)
        .with_start_time(start)
        .with_attributes(attributes);
    export.tracer.build(builder).end_with_timestamp(end);
}

fn attributes(labels: &Labels) -> [KeyValue; 2] {
    [
        KeyValue::new("workflow.name", labels.workflow.clone()),
        KeyValue::new("workflow.phase", labels.phase.clone()),
    ]
}

fn seconds(time: Millis) -> f64 {
    Duration::from_millis(time).as_secs_f64()
}

fn time(since_1970: Millis) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(since_1970)
}
