//! Results and reports of the platform, as lines of a transcript.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::PathForm;

/// The value of a `result` line: what the platform answers to something that the next line causes.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum PlatformResult {
    /// The immediate result of an effect.
    Effect(PlatformEvent),
    /// The answer to a query.
    Query(QueryResult),
}

/// The answer of the platform to a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum QueryResult {
    /// The beginning of a file that was shown with a question.
    Excerpt(String),
    /// True if the shown file had changed when the question was answered. It had not, unless it is written.
    ShownChanged(bool),
    /// The forms of a path, if it leads through links.
    Path {
        written: String,
        forms: Vec<PathForm>,
    },
    /// True if the user's approvals are stored at this path, where it does not look so.
    ApprovalStore { absolute: String, contains: bool },
    /// The files that a rule protects, if there are others than those of the session.
    Protected(Vec<String>),
    /// True if names that differ only in case are the same file. They are not, unless it is written.
    IgnoresCase(bool),
}

impl QueryResult {
    /// True for two answers to the same question about paths.
    pub(super) fn is_about_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path { written: one, .. }, Self::Path { written: other, .. })
            | (
                Self::ApprovalStore { absolute: one, .. },
                Self::ApprovalStore {
                    absolute: other, ..
                },
            ) => one == other,
            (Self::IgnoresCase(_), Self::IgnoresCase(_))
            | (Self::Protected(_), Self::Protected(_)) => true,
            _ => false,
        }
    }
}

/// Results in the order in which they came.
pub(super) type Results = Arc<Mutex<Vec<PlatformResult>>>;

impl PlatformResult {
    /// The answer, if a query was answered.
    pub(super) fn query(&self) -> Option<&QueryResult> {
        match self {
            Self::Query(query) => Some(query),
            Self::Effect(_) => None,
        }
    }

    pub(super) fn parse(json: &str) -> serde_json::Result<Self> {
        match serde_json::from_str(json) {
            Ok(query) => Ok(Self::Query(query)),
            Err(_) => serde_json::from_str(json).map(Self::Effect),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::PlatformReport;

    #[test]
    fn a_result_is_written_as_it_is_read() {
        for json in [
            r#"{"baselineTaken":{"baseline":{"head":1,"a":1.50}}}"#,
            r#""commandsNotTrusted""#,
            r#"{"gateNotTrusted":{"gate":3}}"#,
            r#"{"approvalRead":{"decision":{"request":"n","choice":"approve"}}}"#,
            r#"{"excerpt":"plan"}"#,
            r#"{"shownChanged":true}"#,
            r#"{"path":{"written":"a","forms":[{"absolute":"/p/a","inProject":"a"}]}}"#,
            r#"{"ignoresCase":true}"#,
            r#"{"protected":["/p/.pi/workflows"]}"#,
        ] {
            let result = PlatformResult::parse(json).unwrap();
            assert_eq!(serde_json::to_string(&result).unwrap(), json);
        }
        for json in [r#"{"excerpt":null}"#, r#"{"what":1}"#, "{}", r#""excerpt""#] {
            assert!(PlatformResult::parse(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_reported_event_names_its_session() {
        let json = r#"{"session":"s","gateFinished":{"gate":1,"reports":[]}}"#;
        let reported: PlatformReport = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&reported).unwrap(), json);
        for json in ["{}", r#"{"gate":1}"#] {
            assert!(
                serde_json::from_str::<PlatformReport>(json).is_err(),
                "{json}"
            );
        }
    }
}
