//! Export of measurements through OpenTelemetry.

use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, SystemTime};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::trace::{Span, SpanBuilder, Tracer, TracerProvider};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use workflow_core::types::Millis;

use super::collector::Collector;
pub(crate) use super::collector::Endpoint;
use super::{Attributes, Labels};

/// The time between two exports of counters.
const INTERVAL: Duration = Duration::from_secs(10);

static EXPORT: OnceLock<Export> = OnceLock::new();

/// What measures, and the threads behind it.
struct Export {
    meter: Meter,
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
    let export = Export {
        meter: metrics.meter("workflow-sidecar"),
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

/// Adds to a counter.
pub(super) fn count(name: &'static str, labels: &Labels, number: u64, more: &Attributes<'_>) {
    if let Some(export) = EXPORT.get() {
        let counter = export.meter.u64_counter(name).build();
        counter.add(number, &attributes(labels, more));
    }
}

/// Measures and traces how long something lasted.
pub(super) fn lasted(
    [duration, span]: [&'static str; 2],
    labels: &Labels,
    (from, to): (Millis, Millis),
    more: &Attributes<'_>,
) {
    let Some(export) = EXPORT.get() else { return };
    let mut attributes = attributes(labels, more);
    let seconds = export.meter.f64_histogram(duration).with_unit("s").build();
    let lasted = Duration::from_millis(to.saturating_sub(from));
    seconds.record(lasted.as_secs_f64(), &attributes);
    attributes.push(KeyValue::new("workflow.run", labels.run.clone()));
    let builder = SpanBuilder::from_name(span)
        .with_start_time(time(from))
        .with_attributes(attributes);
    export.tracer.build(builder).end_with_timestamp(time(to));
}

fn attributes(labels: &Labels, more: &Attributes<'_>) -> Vec<KeyValue> {
    let of_run = [
        ("workflow.name", &*labels.workflow),
        ("workflow.phase", &*labels.phase),
    ];
    let all = of_run.iter().chain(more);
    all.map(|(name, value)| KeyValue::new(*name, (*value).to_owned()))
        .collect()
}

fn time(since_1970: Millis) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(since_1970)
}
