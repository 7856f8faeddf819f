//! What the statements need of a database.

use std::fmt::Debug;

use crate::types::{AnswerRight, SessionKey, StoreError};

/// A value in a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Null,
    Text(&'a str),
    Number(i64),
}

/// A text.
pub(crate) fn text(text: &str) -> Value<'_> {
    Value::Text(text)
}

/// A text, or none.
pub(crate) fn optional(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::Text)
}

/// The nearest number that a column takes.
pub(crate) fn number(number: u64) -> Value<'static> {
    Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

/// True is 1, false is 0.
pub(crate) fn flag(flag: bool) -> Value<'static> {
    Value::Number(flag.into())
}

/// A column of a row that was read.
#[derive(Debug)]
pub(crate) enum Column {
    Null,
    Text(String),
    Number(i64),
}

/// A row that was read. The tables are strict about types, so a column has the one that is asked for.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) Vec<Column>);

impl Row {
    /// Takes a text that may be missing.
    pub(crate) fn optional(&mut self, index: usize) -> Option<String> {
        match &mut self.0[index] {
            Column::Text(text) => Some(std::mem::take(text)),
            Column::Null | Column::Number(_) => None,
        }
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, index: usize) -> String {
        self.optional(index).unwrap_or_default()
    }

    pub(crate) fn integer(&self, index: usize) -> i64 {
        match self.0[index] {
            Column::Number(number) => number,
            Column::Null | Column::Text(_) => 0,
        }
    }

    /// Reads a number that is never negative.
    pub(crate) fn number(&self, index: usize) -> u64 {
        u64::try_from(self.integer(index)).unwrap_or_default()
    }

    pub(crate) fn flag(&self, index: usize) -> bool {
        self.integer(index) != 0
    }

    /// Takes the key of a session, in two columns.
    pub(crate) fn key(&mut self, index: usize) -> SessionKey {
        SessionKey {
            host: self.text(index),
            session: self.text(index + 1),
        }
    }
}

/// A connection. Statements name their values `?1`, `?2` and so on.
pub(crate) trait Rows {
    /// Returns the rows that a statement selects or returns.
    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError>;

    /// Returns the number of rows that a statement changes.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError>;

    /// Returns the only row that a statement selects or returns, if there is one.
    fn query_one(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, StoreError> {
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
    fn exists(&self) -> Result<bool, StoreError>;

    /// Returns the name of this machine in a database of several machines; empty in one of its own.
    fn machine(&self) -> Result<String, StoreError>;

    /// Says what this process may do about answers.
    fn answer_right(&self) -> Result<AnswerRight, StoreError>;

    /// Carries out an operation, once.
    fn with(&self, access: Access, operation: Operation<'_>) -> Result<(), StoreError>;
}

/// What is done with a connection.
pub(crate) type Operation<'a> = &'a mut (dyn FnMut(&mut dyn Rows) -> Result<(), StoreError> + Send);
