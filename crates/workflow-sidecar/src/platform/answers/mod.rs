//! Answers of people: to requests for approval, and whether the commands of a project may run.
//!
//! ```text
//! stored_answers → open_requests → answer_socket → ancestry
//!        │             │   └──→ one_time_code
//!        └────────→ approvals          trust_store
//! ```
//!
//! An answer in a terminal reaches the running sidecar over [`answer_socket`], which refuses processes of the agent
//! ([`ancestry`]). Without a running sidecar it needs the code that was shown to the person ([`one_time_code`]).

pub(crate) mod ancestry;
pub(crate) mod answer_socket;
pub(crate) mod approvals;
pub(crate) mod one_time_code;
pub(super) mod open_requests;
pub(super) mod stored_answers;
pub(crate) mod trust_store;
