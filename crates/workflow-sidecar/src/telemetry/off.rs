//! No export: the program is built without the feature `otlp`.

use std::time::Duration;

use anyhow::bail;
use workflow_core::types::Millis;

use super::{Attributes, Labels};

/// The address of a collector, as it was given.
pub(crate) type Endpoint = String;

pub(crate) fn begin(_: &Endpoint) -> anyhow::Result<()> {
    bail!("this program is built without the feature `otlp`")
}

pub(crate) fn finish(_: Duration) {}

pub(super) fn is_on() -> bool {
    false
}

pub(super) fn count(_: &str, _: &Labels, _: u64, _: &Attributes<'_>) {}

pub(super) fn lasted(_: [&str; 2], _: &Labels, _: (Millis, Millis), _: &Attributes<'_>) {}
