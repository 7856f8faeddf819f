//! The database of several machines: `PostgreSQL`.
//!
//! Every operation has a connection of its own: a process that is killed leaves nothing behind, and a server that was
//! restarted is found again. The tables and the two roles are in `schema.sql` and `from_3.sql`.

mod address;
mod names;
mod tls;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread;

use postgres::types::{ToSql, Type};
use postgres::{Client, GenericClient, NoTls};
use serde_json::Value;

use self::address::Address;
use crate::database::{Access, Database, Operation, Row, Rows, integer};
use crate::machine::machine;
use crate::types::{AnswerRight, StoreError};

/// The format of the tables.
const FORMAT: i64 = 4;

/// What to do about tables of the format before.
const UPGRADE: &str = "the tables have format 3: the owner of the database upgrades them with `workflow-sidecar runs --schema 3 | psql`";

/// Selects a row if the session may write answers or orders, and so decides about trust: by itself, by a role that it is in or could get, or as an owner.
const MAY_ANSWER: &str = "
    SELECT r.rolname::text FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid IN ('answers'::regclass, 'orders'::regclass) AND pg_has_role(session_user, r.oid, 'MEMBER')
    AND (r.rolsuper OR r.rolcreaterole OR r.oid IN (c.relowner, n.nspowner)
        OR has_any_column_privilege(r.oid, c.oid, 'INSERT')
        OR has_any_column_privilege(r.oid, c.oid, 'UPDATE'))";

/// The database on a server, and the directory of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    address: Address,
    directory: PathBuf,
}

impl Postgres {
    pub(crate) fn new(url: &str, directory: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            address: Address::parse(url)?,
            directory: directory.to_path_buf(),
        })
    }

    /// Connects to the first address that answers.
    fn connect(&self) -> Result<Client, StoreError> {
        let refuse = |reason: String| self.refuse(&reason);
        let tls = self.address.tls.as_ref();
        let tls = tls.map(tls::Tls::connector).transpose().map_err(refuse)?;
        let mut failed = None;
        for config in names::with_addresses(&self.address.config).map_err(refuse)? {
            let connected = match &tls {
                Some(tls) => config.connect(tls.clone()),
                None => config.connect(NoTls),
            };
            match connected {
                Ok(client) => return Ok(client),
                Err(error) => failed = failed.or(Some(self.failed(&error))),
            }
        }
        Err(failed.unwrap_or_else(|| self.refuse("the address names no server")))
    }

    fn run(&self, access: Access, operation: Operation<'_>) -> Result<(), StoreError> {
        let mut client = self.connect()?;
        let failed = |error| self.failed(&error);
        let format = client.query_one("SELECT max(version) FROM format", &[]);
        match format.map_err(failed)?.get(0) {
            Some(FORMAT) => {}
            Some(3) => return Err(self.refuse(UPGRADE)),
            Some(found) => {
                return Err(StoreError::format(&self.address.endpoint, found, FORMAT));
            }
            None => return Err(self.refuse("the tables of the store name no format")),
        }
        if access == Access::Read {
            return operation(&mut PostgresRows(&mut client, self));
        }
        let mut transaction = client.transaction().map_err(failed)?;
        operation(&mut PostgresRows(&mut transaction, self))?;
        transaction.commit().map_err(failed)
    }

    fn failed(&self, error: &postgres::Error) -> StoreError {
        self.refuse(&explain(error))
    }

    fn refuse(&self, reason: &str) -> StoreError {
        refused(&self.address.endpoint, reason)
    }
}

impl Database for Postgres {
    fn machine(&self) -> Result<String, StoreError> {
        let machine = machine(&self.directory);
        machine.map_err(|error| StoreError::of_file(&self.directory, error))
    }

    fn sessions(&self) -> &'static str {
        "(SELECT s.*, CASE owner WHEN session_user THEN '' ELSE owner::text END AS other_owner, coalesce(o.text, '') AS ordered
          FROM sessions s LEFT JOIN orders o ON o.session = s.id AND o.task_id = s.task_id)"
    }

    fn answer_right(&self) -> Result<AnswerRight, StoreError> {
        let mut right = AnswerRight::MayRead;
        self.with(Access::Read, &mut |rows| {
            if rows.query_one(MAY_ANSWER, &Value::Null)?.is_some() {
                right = AnswerRight::MayAnswer;
            }
            Ok(())
        })?;
        Ok(right)
    }

    fn with(&self, access: Access, operation: Operation<'_>) -> Result<(), StoreError> {
        // A thread of its own, because the client must not wait inside of an asynchronous task.
        let run = || self.run(access, operation);
        let done = thread::scope(|scope| scope.spawn(run).join());
        done.map_err(|_| self.refuse("the client failed"))?
    }
}

struct PostgresRows<'a, C>(&'a mut C, &'a Postgres);

impl<C: GenericClient> Rows for PostgresRows<'_, C> {
    fn query(&mut self, sql: &str, values: &Value) -> Result<Vec<Row>, StoreError> {
        let values = parameters(values);
        let found = self.0.query(&numbered(sql), &references(&values));
        let found = found.map_err(|error| self.1.failed(&error))?;
        Ok(found.iter().map(row).collect())
    }

    fn execute(&mut self, sql: &str, values: &Value) -> Result<u64, StoreError> {
        let values = parameters(values);
        let changed = self.0.execute(&numbered(sql), &references(&values));
        changed.map_err(|error| self.1.failed(&error))
    }
}

/// A statement with the values as `PostgreSQL` names them. No statement has a question mark in a text.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

type Parameter<'a> = Box<dyn ToSql + Sync + 'a>;

fn parameters(values: &Value) -> Vec<Parameter<'_>> {
    let values = values.as_array().into_iter().flatten();
    let parameters = values.map(|value| match value {
        Value::String(text) => Box::new(text.as_str()) as Parameter<'_>,
        Value::Number(number) => Box::new(integer(number)),
        // Only texts may be missing.
        _ => Box::new(None::<&str>),
    });
    parameters.collect()
}

fn references<'a>(parameters: &'a [Parameter<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|value| &**value as _).collect()
}

fn row(row: &postgres::Row) -> Row {
    let columns = row.columns().iter().enumerate();
    let columns = columns.map(|(index, column)| {
        let value = if *column.type_() == Type::INT8 {
            row.get::<_, Option<i64>>(index).into()
        } else {
            row.get::<_, Option<String>>(index).into()
        };
        (column.name().to_owned(), value)
    });
    columns.collect()
}

/// The error of a server.
fn refused(endpoint: &str, reason: &str) -> StoreError {
    StoreError::new(format!("PostgreSQL at {endpoint}: {reason}"))
}

/// The reason of an error, and what to do about the usual ones.
fn explain(error: &postgres::Error) -> String {
    let Some(found) = error.as_db_error() else {
        if let Some(reason) = tls::explain(error) {
            return reason;
        }
        let cause = error.source().map(ToString::to_string);
        return format!("{}: {}", error, cause.unwrap_or_default())
            .trim_end_matches([':', ' '])
            .to_owned();
    };
    let help = match found.code().code() {
        "42P01" | "3F000" => {
            ": the database has no store; its owner makes one with `workflow-sidecar runs --schema | psql`"
        }
        "42501" => ": the role of this machine may not do this, see docs/FLEET.md",
        _ => "",
    };
    format!("{}{help}", found.message())
}
