//! The arguments of `workflow_step`, as a model writes them.

use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::session::StepCall;
use workflow_protocol::Text;

use crate::rpc::text_or_none;

/// The arguments of a call. Those of a wrong type count as missing: the session answers a call without an action.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StepArguments<'a> {
    #[serde(borrow, deserialize_with = "text_or_none")]
    action: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "text_or_none")]
    summary: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "text_or_none")]
    outcome: Option<Text<'a>>,
    #[serde(borrow)]
    outputs: Option<&'a RawValue>,
}

impl<'a> StepArguments<'a> {
    /// Reads the arguments. Something that is not an object has none.
    pub(crate) fn read(arguments: &'a RawValue) -> Self {
        // `serde` would take an array for the struct as well.
        let object = Some(arguments.get()).filter(|json| json.starts_with('{'));
        object
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default()
    }

    /// The call with these arguments.
    pub(crate) fn call(&self) -> StepCall<'_> {
        StepCall {
            action: self.action.as_deref(),
            summary: self.summary.as_deref(),
            outcome: self.outcome.as_deref(),
            outputs: self.outputs,
        }
    }
}
