//! The decision on an event.

use crate::hook_hosts::FinishedSession;
use crate::hook_hosts::answer::{HookAnswer, HookDecision};
use crate::store::StoreError;

/// A decision, and what is to be stored with it.
#[derive(Debug, Default)]
pub(super) struct Decided {
    pub(super) answer: HookAnswer,
    pub(super) change: FinishedSession,
}

impl Decided {
    /// A prompt that is answered with its refusal. Nothing is stored.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self {
            answer: HookAnswer::of(HookDecision::BlockPrompt(text.into())),
            ..Self::default()
        }
    }
}

/// An event could not be handled.
#[derive(Debug, thiserror::Error)]
pub(in crate::hook_hosts) enum HookError {
    #[error("the store of workflow-sidecar cannot be used: {0}")]
    Store(#[from] StoreError),
    #[error("too many events of this session at once")]
    Busy,
    #[error("no random number can be made")]
    NoTicket,
}
