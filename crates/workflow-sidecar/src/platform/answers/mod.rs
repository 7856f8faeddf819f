//! Answers of the user outside of the host: to requests for approval, and whether the commands of a project may run.
//!
//! ```text
//! open_requests → requests (the store), code, notify
//! trust_store     open_projects
//! ```
//!
//! An answer in a terminal needs the [`code`] of the request, which only the user is shown. It is a row of the store that
//! proves itself; the [`open_requests`] of the running sidecar find it there.

pub(crate) mod code;
pub(crate) mod notify;
pub(crate) mod open_projects;
pub(super) mod open_requests;
pub(crate) mod requests;
pub(crate) mod trust_store;
