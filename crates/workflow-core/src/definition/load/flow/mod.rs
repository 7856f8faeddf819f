//! The checks of the flow of a workflow across its phases. What one key says is checked where it is read.

mod checks;
mod graph;
mod located;
mod references;

pub(super) use checks::check_flow;
pub(super) use located::{Flow, NamePlace, PendingName, report_in};
pub(super) use references::{check_comparison, wrong_name};
