//! What the statements need of a database.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::types::{AnswerRight, StoreError};

/// A row that was read: for the name of each column a text, a number or nothing.
pub(crate) type Row = Map<String, Value>;

/// Returns what a row stands for.
pub(crate) fn read<T: DeserializeOwned>(row: Row) -> Result<T, StoreError> {
    let read = serde_json::from_value(Value::Object(row));
    read.map_err(|error| StoreError::new(format!("a row of the store cannot be read: {error}")))
}

/// Returns the nearest number that a column takes.
pub(crate) fn integer(number: &Number) -> i64 {
    number.as_i64().unwrap_or(i64::MAX)
}

/// A connection. Statements name their values `?1`, `?2` and so on; the values are a list of texts and numbers.
pub(crate) trait Rows {
    /// Returns the rows that a statement selects or returns.
    fn query(&mut self, sql: &str, values: &Value) -> Result<Vec<Row>, StoreError>;

    /// Returns the number of rows that a statement changes.
    fn execute(&mut self, sql: &str, values: &Value) -> Result<u64, StoreError>;

    /// Returns the only row that a statement selects or returns, if there is one.
    fn query_one(&mut self, sql: &str, values: &Value) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, values)?.into_iter().next())
    }
}

/// What an operation may do to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It reads.
    Read,
    /// It changes what is stored, in a transaction.
    Change,
    /// The same, and the database is created if it does not exist.
    Create,
    /// The same, and the change need not survive a loss of power.
    Remember,
}

/// A database.
pub(crate) trait Database: Debug + Send + Sync {
    /// Returns false if nothing was ever stored.
    fn exists(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Returns the name of this machine in a database of several machines; empty in one of its own.
    fn machine(&self) -> Result<String, StoreError> {
        Ok(String::new())
    }

    /// Returns the sessions as a table, with the login that has written each, unless it is this one, and with what an approver
    /// ordered for its run; empty if there is nothing.
    fn sessions(&self) -> &'static str {
        "(SELECT *, '' AS other_owner, '' AS ordered FROM sessions)"
    }

    /// Says what this process may do about answers.
    fn answer_right(&self) -> Result<AnswerRight, StoreError> {
        Ok(AnswerRight::NeedsProof)
    }

    /// Keeps a connection from one operation to the next, where that saves time.
    fn stay_connected(&mut self) {}

    /// Carries out an operation, once.
    fn with(&self, access: Access, operation: Operation<'_>) -> Result<(), StoreError>;
}

/// What is done with a connection.
pub(crate) type Operation<'a> = &'a mut (dyn FnMut(&mut dyn Rows) -> Result<(), StoreError> + Send);
