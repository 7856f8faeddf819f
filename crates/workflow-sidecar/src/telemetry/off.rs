//! No export: the program is built without the feature `otlp`.

use workflow_core::effect::Denied;
use workflow_core::types::Millis;

use super::Labels;

pub(super) fn is_on() -> bool {
    false
}

pub(super) fn denial(_: &Labels, _: &Denied) {}

pub(super) fn gate(_: &Labels, _: &str, _: Millis) {}

pub(super) fn reminders(_: &Labels, _: u64) {}

pub(super) fn approval(_: &Labels, _: Millis, _: Millis) {}

pub(super) fn phase(_: &Labels, _: Millis, _: Millis) {}
