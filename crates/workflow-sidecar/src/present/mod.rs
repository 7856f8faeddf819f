//! Output for people and programs: the state of a run in words, rows of tables, styles, exit codes.
//!
//! A command computes a value; [`OutputFormat`] prints it as text or JSON. Must not know commands.

mod approvals;
mod outcome;
mod page;
mod requirements;
mod run;
mod status;
mod table;
mod workflow_rows;
mod xml;

pub(crate) use approvals::{ListedRequest, approval_page, approvals_page};
pub(crate) use outcome::{CommandOutcome, FAILED, UNREAD};
pub(crate) use page::{
    BAD, DIMMED, GOOD, Moment, NOTABLE, OutputFormat, Page, TITLE, count, json, paint, say,
};
pub(crate) use requirements::Requirements;
pub(crate) use run::{RunRow, ended_run, indexed_run, restored_session, run_table, stored_path};
pub(crate) use status::{RunStatus, ShownCondition, Status, since};
pub(crate) use workflow_rows::{WorkflowRow, contains, workflow_table};
pub(crate) use xml::xml;
