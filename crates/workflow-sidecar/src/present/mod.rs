//! Output for people and programs: styles, tables, exit codes.
//!
//! A command computes a value; [`OutputFormat`] prints it as text or JSON. Must not know commands.

mod outcome;
mod page;
mod status;
mod table;

pub(crate) use outcome::{CommandOutcome, FAILED, TABLE, UNREAD};
pub(crate) use page::{
    BAD, DIMMED, GOOD, Moment, NOTABLE, OutputFormat, Page, TITLE, block, count, json, paint,
};
pub(crate) use status::{RunStatus, ShownCondition, Status, since};
pub(crate) use table::beginning;
