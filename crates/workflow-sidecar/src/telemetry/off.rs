//! No export: the program is built without the feature `otlp`.

use std::time::Duration;

use anyhow::bail;
use workflow_core::effect::Denied;
use workflow_core::types::Millis;

use super::labels::Labels;

/// The address of a collector, as it was given.
pub(crate) type Endpoint = String;

pub(crate) fn begin(_: &Endpoint) -> anyhow::Result<()> {
    bail!("this program is built without the feature `otlp`")
}

pub(crate) fn finish(_: Duration) {}

pub(super) fn is_on() -> bool {
    false
}

pub(super) fn denial(_: &Labels, _: &Denied) {}

pub(super) fn gate(_: &Labels, _: &str, _: Millis) {}

pub(super) fn reminders(_: &Labels, _: u64) {}

pub(super) fn approval(_: &Labels, _: Millis, _: Millis) {}

pub(super) fn phase(_: &Labels, _: Millis, _: Millis) {}
