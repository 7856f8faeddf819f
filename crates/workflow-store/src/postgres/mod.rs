//! The database of several machines: `PostgreSQL`.
//!
//! Every operation has a connection of its own: a process that is killed leaves nothing behind, and a server that was
//! restarted is found again. The tables and the two roles are in `schema.sql`.

mod address;
mod names;
mod tls;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread;

use postgres::types::{ToSql, Type};
use postgres::{Client, GenericClient, NoTls};

use self::address::Address;
use crate::database::{Column, Database, Durability, Row, Rows, Value};
use crate::machine::machine;
use crate::types::{AnswerRight, StoreError};

/// The format of the tables.
const FORMAT: i64 = 1;

/// Selects a row if the session may write answers: by itself, by a role that it is in or could get, or as an owner.
const MAY_ANSWER: &str = "
    SELECT r.rolname::text FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = 'answers'::regclass AND pg_has_role(session_user, r.oid, 'MEMBER')
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
        let address = Address::parse(url).map_err(|refused| StoreError::Postgres {
            endpoint: refused.endpoint,
            reason: refused.reason.to_owned(),
        })?;
        Ok(Self {
            address,
            directory: directory.to_path_buf(),
        })
    }

    /// Connects to the first server that answers.
    fn connect(&self) -> Result<Client, StoreError> {
        let tls = self.address.tls.as_ref();
        let tls = tls.map(tls::Tls::connector).transpose();
        let tls = tls.map_err(|reason| self.refuse(&reason))?;
        let servers = names::servers(&self.address.config);
        let mut failed = None;
        for server in servers.map_err(|reason| self.refuse(&reason))? {
            let connected = match &tls {
                Some(tls) => server.connect(tls.clone()),
                None => server.connect(NoTls),
            };
            match connected {
                Ok(client) => return Ok(client),
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        Err(failed.map_or_else(
            || self.refuse("the address names no server"),
            |error| self.failed(&error),
        ))
    }

    /// Carries out an operation. It has a thread of its own, because the client must not wait inside of an asynchronous task.
    fn with<T: Send>(
        &self,
        operation: impl FnOnce(&mut Client) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let run = || {
            let mut client = self.connect()?;
            let format = client.query_one("SELECT max(version) FROM format", &[]);
            let format = format.map_err(|error| self.failed(&error))?;
            match format.get(0) {
                Some(FORMAT) => operation(&mut client),
                Some(found) => Err(StoreError::Newer {
                    place: self.address.endpoint.clone(),
                    found,
                    known: FORMAT,
                }),
                None => Err(self.refuse("the tables of the store name no format")),
            }
        };
        let done = thread::scope(|scope| scope.spawn(run).join());
        done.map_err(|_| self.refuse("the client failed"))?
    }

    fn rows<'a, C: GenericClient>(&'a self, client: &'a mut C) -> PostgresRows<'a, C> {
        PostgresRows {
            client,
            database: self,
        }
    }

    fn failed(&self, error: &postgres::Error) -> StoreError {
        self.refuse(&explain(error))
    }

    fn refuse(&self, reason: &str) -> StoreError {
        StoreError::Postgres {
            endpoint: self.address.endpoint.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl Database for Postgres {
    fn exists(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn machine(&self) -> Result<String, StoreError> {
        machine(&self.directory).map_err(|error| StoreError::Io {
            path: self.directory.clone(),
            error,
        })
    }

    fn answer_right(&self) -> Result<AnswerRight, StoreError> {
        let role = self.read(|rows| rows.query_one(MAY_ANSWER, &[]))?;
        Ok(if role.is_some() {
            AnswerRight::MayAnswer
        } else {
            AnswerRight::MayRead
        })
    }

    fn read<T: Send>(
        &self,
        operation: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.with(|client| operation(&mut self.rows(client)))
    }

    fn change<T: Send>(
        &self,
        _: Durability,
        operation: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.with(|client| {
            let failed = |error| self.failed(&error);
            let mut transaction = client.transaction().map_err(failed)?;
            let value = operation(&mut self.rows(&mut transaction))?;
            transaction.commit().map_err(failed)?;
            Ok(value)
        })
    }
}

struct PostgresRows<'a, C> {
    client: &'a mut C,
    database: &'a Postgres,
}

impl<C: GenericClient> Rows for PostgresRows<'_, C> {
    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let values = parameters(values);
        let found = self.client.query(&numbered(sql), &references(&values));
        let found = found.map_err(|error| self.database.failed(&error))?;
        Ok(found.iter().map(row).collect())
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let values = parameters(values);
        let changed = self.client.execute(&numbered(sql), &references(&values));
        changed.map_err(|error| self.database.failed(&error))
    }
}

/// A statement with the values as `PostgreSQL` names them. No statement has a question mark in a text.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

type Parameter<'a> = Box<dyn ToSql + Sync + 'a>;

fn parameters<'a>(values: &[Value<'a>]) -> Vec<Parameter<'a>> {
    let parameter = |value: &Value<'a>| -> Parameter<'a> {
        match *value {
            // Only texts may be missing.
            Value::Null => Box::new(None::<String>),
            Value::Text(text) => Box::new(text),
            Value::Number(number) => Box::new(number),
        }
    };
    values.iter().map(parameter).collect()
}

fn references<'a>(parameters: &'a [Parameter<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    let parameters = parameters.iter();
    parameters.map(|parameter| &**parameter as _).collect()
}

fn row(row: &postgres::Row) -> Row {
    let columns = row.columns().iter().enumerate();
    let columns = columns.map(|(index, column)| {
        if *column.type_() == Type::INT8 {
            row.get::<_, Option<i64>>(index).map(Column::Number)
        } else {
            row.get::<_, Option<String>>(index).map(Column::Text)
        }
    });
    Row(columns
        .map(|column| column.unwrap_or(Column::Null))
        .collect())
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
