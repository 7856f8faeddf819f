//! Output for people and programs: the state of a run in words, rows of tables, styles, exit codes.
//!
//! A command computes a value; [`OutputFormat`] prints it as text or JSON. Must not know commands.

mod outcome;
mod page;
mod run;
mod run_rows;
mod status;
mod table;
mod workflow_rows;

pub(crate) use outcome::{CommandOutcome, FAILED, TABLE, UNREAD};
pub(crate) use page::{
    BAD, DIMMED, GOOD, Moment, NOTABLE, OutputFormat, Page, TITLE, block, count, json, paint,
};
pub(crate) use run::{ended_run, indexed_run, restored_session, stored_path};
pub(crate) use run_rows::{RunRow, run_table};
pub(crate) use status::{RunStatus, ShownCondition, Status, since};
pub(crate) use workflow_rows::{WorkflowRow, contains, workflow_table};
