//! A request for the user's approval, and the decision about it, as they are stored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A request for the user's approval. The session asks; the platform adds what only it knows.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Identifies the request among all others: a decision belongs to one, and is used once.
    pub id: String,
    /// The run.
    pub task_id: String,
    /// The number of steps that the run had made.
    pub step: u64,
    /// The workflow's name.
    pub workflow: String,
    /// The phase's name.
    pub phase: String,
    /// The task of the run.
    pub task: String,
    /// The working directory of the session. The platform adds it.
    #[serde(default)]
    pub cwd: PathBuf,
    /// The question.
    pub ask: String,
    /// The possible answers.
    pub choices: Vec<String>,
    /// A file to read, relative to `cwd`.
    pub show: Option<String>,
    /// That file when the run asked. The platform adds it.
    pub shown_file: Option<ShownFile>,
    /// What is approved, as people read it: the result of the gate, the outcome and the summary of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// What each choice does, as people read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<String>,
    /// What proves an answer. The platform adds it.
    #[serde(flatten)]
    pub proofs: Proofs,
}

/// What proves an answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proofs {
    /// The session that they are for: a fork of it needs others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// For each choice the hash of the token that proves it. Empty until the platform has made a code.
    #[serde(rename = "proofs", default, skip_serializing_if = "Vec::is_empty")]
    pub hashes: Vec<String>,
    /// The state of the shown file that they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// A file as it is shown, and its state at that time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownFile {
    /// Its beginning.
    pub excerpt: String,
    /// A text that changes with its content.
    pub state: String,
}

impl Request {
    /// Returns true if another request asks the same, even if the shown file or the agent's summary has changed meanwhile.
    pub fn asks_the_same_as(&self, other: &Self) -> bool {
        let question = |request: &Self| Self {
            shown_file: None,
            about: Vec::new(),
            proofs: Proofs::default(),
            ..request.clone()
        };
        question(self) == question(other)
    }
}

/// The user's decision about a request.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The id of the request.
    pub request: String,
    /// One of its choices.
    pub choice: String,
    /// The user's comment for the agent.
    pub comment: Option<String>,
    /// Proves the choice: it can be made only with the code of the request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// Proves the comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment_token: String,
    /// The request as it was read, if the database proves who answered.
    pub asked: Option<Request>,
    /// Who answered, as a proxy with a sign-on says it.
    pub by: Option<String>,
}
