//! The database of one machine: `SQLite`.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Params, TransactionBehavior, params_from_iter};
use serde_json::Value;

use crate::database::{Access, Database, Operation, Row, Rows, integer};
use crate::private_directory::create_private_dir;
use crate::types::StoreError;

/// The name of the database in the directory of the store.
const FILE: &str = "store.sqlite3";
/// The format of the database, in its `user_version`.
const FORMAT: i64 = 4;
/// The time to wait for another process. Less than the time that a hook has for its answer.
const BUSY: Duration = Duration::from_secs(2);
/// The time until the next attempt to make the database.
const PAUSE: Duration = Duration::from_millis(10);

/// Begins a change that survives a loss of power, and one that need not.
const FULL: &str = "PRAGMA synchronous = full; BEGIN IMMEDIATE";
const NORMAL: &str = "PRAGMA synchronous = normal; BEGIN IMMEDIATE";

/// The tables in format 3.
const SCHEMA: &str = include_str!("sqlite.sql");
/// What makes the present format of that one.
const FROM_3: &str = include_str!("from_3.sql");

/// The database in a directory. It is created with the first change.
#[derive(Debug)]
pub(crate) struct Sqlite {
    directory: PathBuf,
    /// The connection of the last operation, if it is kept.
    kept: Option<Mutex<Option<Connection>>>,
}

impl Sqlite {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            kept: None,
        }
    }

    fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Returns the connection of the last operation, or a new one.
    fn connection(&self) -> Result<Connection, StoreError> {
        let kept = self.kept.as_ref().and_then(|kept| lock(kept).take());
        kept.map_or_else(|| self.connect(), Ok)
    }

    fn keep(&self, connection: Connection) {
        if let Some(kept) = &self.kept {
            *lock(kept) = Some(connection);
        }
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let file = self.file();
        let failed = |error| StoreError::of_file(&file, error);
        let mut connection = Connection::open(&file).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        let end = Instant::now() + BUSY;
        let format = loop {
            match create_tables(&mut connection) {
                // Two processes that make the database at once do not wait for each other by themselves.
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                        && Instant::now() < end =>
                {
                    thread::sleep(PAUSE);
                }
                format => break format.map_err(failed)?,
            }
        };
        if format != FORMAT {
            return Err(StoreError::format(file.display(), format, FORMAT));
        }
        let keys = connection.pragma_update(None, "foreign_keys", true);
        keys.map_err(failed)?;
        Ok(connection)
    }

    fn io(&self, error: io::Error) -> StoreError {
        StoreError::of_file(&self.directory, error)
    }
}

impl Database for Sqlite {
    fn exists(&self) -> Result<bool, StoreError> {
        self.file().try_exists().map_err(|error| self.io(error))
    }

    fn stay_connected(&mut self) {
        self.kept = Some(Mutex::default());
    }

    fn with(&self, access: Access, operation: Operation<'_>) -> Result<(), StoreError> {
        let file = self.file();
        let failed = |error| StoreError::of_file(&file, error);
        if matches!(access, Access::Create | Access::Remember) {
            create_private_dir(&self.directory).map_err(|error| self.io(error))?;
            create_private_file(&file).map_err(|error| self.io(error))?;
        }
        let connection = self.connection()?;
        let mut rows = SqliteRows {
            connection: &connection,
            file: &file,
        };
        let (begin, end) = match access {
            Access::Read => ("", ""),
            Access::Change | Access::Create => (FULL, "COMMIT"),
            Access::Remember => (NORMAL, "COMMIT"),
        };
        connection.execute_batch(begin).map_err(failed)?;
        // A connection that is closed before the end takes the change back.
        operation(&mut rows)?;
        connection.execute_batch(end).map_err(failed)?;
        self.keep(connection);
        Ok(())
    }
}

fn lock(kept: &Mutex<Option<Connection>>) -> MutexGuard<'_, Option<Connection>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

struct SqliteRows<'a> {
    connection: &'a Connection,
    file: &'a Path,
}

impl Rows for SqliteRows<'_> {
    fn query(&mut self, sql: &str, values: &Value) -> Result<Vec<Row>, StoreError> {
        let query = || {
            let mut statement = self.connection.prepare(sql)?;
            let names = statement.column_names().map(str::to_owned);
            let names: Vec<String> = names.collect();
            let rows = statement.query_map(parameters(values), |row| {
                let columns = names.iter().enumerate();
                let columns =
                    columns.map(|(index, name)| Ok((name.clone(), column(row.get_ref(index)?))));
                columns.collect()
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| StoreError::of_file(self.file, error))
    }

    fn execute(&mut self, sql: &str, values: &Value) -> Result<u64, StoreError> {
        let changed = self.connection.execute(sql, parameters(values));
        let changed = changed.map_err(|error| StoreError::of_file(self.file, error))?;
        Ok(changed as u64)
    }
}

fn parameters(values: &Value) -> impl Params + '_ {
    params_from_iter(values.as_array().into_iter().flatten().map(|value| {
        ToSqlOutput::Borrowed(match value {
            Value::String(text) => ValueRef::Text(text.as_bytes()),
            Value::Number(number) => ValueRef::Integer(integer(number)),
            _ => ValueRef::Null,
        })
    }))
}

fn column(column: ValueRef<'_>) -> Value {
    match column {
        ValueRef::Integer(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
    }
}

/// Creates the tables where there are none, or upgrades them, and returns the format.
fn create_tables(connection: &mut Connection) -> rusqlite::Result<i64> {
    match user_version(connection)? {
        0 => connection.pragma_update(None, "journal_mode", "wal")?,
        3 => {}
        format => return Ok(format),
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    match user_version(&transaction)? {
        0 => transaction.execute_batch(SCHEMA)?,
        3 => {}
        format => return Ok(format),
    }
    transaction.execute_batch(FROM_3)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(FORMAT)
}

fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Creates a file that only its owner can read, unless it exists. `SQLite` gives its other files the same mode.
fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::metadata(path).map(drop),
        created => created.map(drop),
    }
}
