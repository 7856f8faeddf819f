//! The store in an `SQLite` database.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params,
};
use serde_json::value::RawValue;

use self::numbers::{integer, number};
use super::marker::mark;
use super::queue::{self, QueueTurn};
use super::{
    AnswerRight, IndexedRun, RequestRow, RunNote, RunQuery, Saved, SessionChange, SessionKey,
    Store, StoreError, StoredEntry, StoredSession, Ticket, TrustRow,
};
use crate::files::create_private_dir;

mod answers;
mod numbers;
mod runs;

/// The name of the database in the directory of the store.
const FILE: &str = "store.sqlite3";
/// The format of the database, in its `user_version`.
const FORMAT: i64 = 1;
/// The time to wait for another process. Less than the time that a hook has for its answer.
const BUSY: Duration = Duration::from_secs(2);
/// The time until the next attempt to make the database.
const PAUSE: Duration = Duration::from_millis(10);

const SCHEMA: &str = "
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        host TEXT NOT NULL,
        session TEXT NOT NULL,
        version INTEGER NOT NULL,
        memory TEXT NOT NULL,
        cwd TEXT NOT NULL,
        updated INTEGER NOT NULL,
        task_id TEXT, workflow TEXT, phase TEXT, task TEXT, status TEXT,
        active INTEGER NOT NULL DEFAULT 0,
        state TEXT NOT NULL DEFAULT '',
        waiting TEXT NOT NULL DEFAULT '',
        since INTEGER NOT NULL DEFAULT 0,
        machine TEXT NOT NULL DEFAULT '',
        file TEXT,
        UNIQUE (host, session)
    ) STRICT;
    CREATE INDEX sessions_by_update ON sessions (updated) WHERE task_id IS NOT NULL;
    CREATE INDEX sessions_by_run ON sessions (task_id) WHERE task_id IS NOT NULL;
    CREATE INDEX active_sessions ON sessions (active) WHERE active = 1;
    CREATE TABLE entries (
        session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        type TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tickets (
        id TEXT PRIMARY KEY,
        host TEXT NOT NULL,
        session TEXT NOT NULL,
        cwd TEXT NOT NULL,
        expires INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE requests (
        task_id TEXT PRIMARY KEY,
        nonce TEXT NOT NULL,
        request TEXT NOT NULL,
        seal TEXT,
        sidecar TEXT,
        choice TEXT,
        changed INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE answers (
        task_id TEXT NOT NULL REFERENCES requests (task_id) ON DELETE CASCADE,
        nonce TEXT NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (task_id, nonce)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE trust (
        id INTEGER PRIMARY KEY,
        project TEXT NOT NULL,
        commands TEXT NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (project, commands)
    ) STRICT;
";

/// The store in a directory. The database is created with the first change.
#[derive(Debug, Clone)]
pub(crate) struct SqliteStore {
    directory: PathBuf,
}

impl SqliteStore {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Opens the database; `None` if there is none yet.
    fn open(&self) -> Result<Option<Connection>, StoreError> {
        let exists = self.file().try_exists();
        if !exists.map_err(|error| self.io(error))? {
            return Ok(None);
        }
        self.connect().map(Some)
    }

    /// Opens the database, or creates it.
    fn open_or_create(&self) -> Result<Connection, StoreError> {
        create_private_dir(&self.directory).map_err(|error| self.io(error))?;
        create_private_file(&self.file()).map_err(|error| self.io(error))?;
        self.connect()
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let failed = |error| self.database(error);
        let mut connection = Connection::open(self.file()).map_err(failed)?;
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
            return Err(StoreError::Newer {
                path: self.file(),
                found: format,
                known: FORMAT,
            });
        }
        let keys = connection.pragma_update(None, "foreign_keys", true);
        keys.map_err(failed)?;
        Ok(connection)
    }

    /// Reads from the database; the default if there is none yet.
    fn read_all<T: Default>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let Some(connection) = self.open()? else {
            return Ok(T::default());
        };
        read(&connection).map_err(|error| self.database(error))
    }

    /// Changes the database in a transaction.
    fn change<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let _turn = queue::wait_for_database(&self.directory);
        let mut connection = self.open_or_create()?;
        let changed = || {
            // Nobody is asked twice, even if the power fails.
            connection.pragma_update(None, "synchronous", "full")?;
            let transaction = begin(&mut connection)?;
            let value = change(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        changed().map_err(|error| self.database(error))
    }

    fn io(&self, error: io::Error) -> StoreError {
        StoreError::Io {
            path: self.directory.clone(),
            error,
        }
    }

    fn database(&self, error: rusqlite::Error) -> StoreError {
        StoreError::Database {
            path: self.file(),
            error,
        }
    }

    fn read(connection: &Connection, key: &SessionKey) -> rusqlite::Result<SessionRow> {
        let session = connection
            .prepare("SELECT id, version, memory FROM sessions WHERE host = ?1 AND session = ?2")?
            .query_row(params![key.host, key.session], |row| {
                Ok((row.get::<_, i64>(0)?, number(row, 1)?, row.get(2)?))
            })
            .optional()?;
        let Some((id, version, memory)) = session else {
            return Ok(SessionRow::default());
        };
        let mut entries = connection
            .prepare("SELECT type, data FROM entries WHERE session = ?1 ORDER BY number")?;
        let entries = entries.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(SessionRow {
            version,
            memory,
            entries: entries.collect::<rusqlite::Result<_>>()?,
        })
    }

    fn write(
        &self,
        connection: &mut Connection,
        key: &SessionKey,
        change: &SessionChange<'_>,
    ) -> rusqlite::Result<Saved> {
        // A move of the run survives a loss of power; what is only remembered need not.
        let synchronous = if change.entries.is_empty() {
            "normal"
        } else {
            "full"
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        let transaction = begin(connection)?;
        let known = transaction
            .query_row(
                "SELECT id, version, active FROM sessions WHERE host = ?1 AND session = ?2",
                params![key.host, key.session],
                |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        number(row, 1)?,
                        row.get::<_, bool>(2)?,
                    ))
                },
            )
            .optional()?;
        let (version, was_active) =
            known.map_or((0, false), |(_, version, active)| (version, active));
        if version != change.from {
            return Ok(Saved::Conflict);
        }
        let is_active = change.run.as_ref().is_some_and(|run| run.is_active);
        let cwd = change.cwd.to_string_lossy();
        transaction.execute(
            "INSERT INTO sessions (host, session, version, memory, cwd, updated)
             VALUES (?1, ?2, 1, ?3, ?4, ?5)
             ON CONFLICT (host, session) DO UPDATE SET
                 version = version + 1, memory = ?3, cwd = ?4, updated = ?5",
            params![
                key.host,
                key.session,
                change.memory,
                cwd,
                integer(change.now)
            ],
        )?;
        let id = match known {
            Some((id, _, _)) => id,
            None => transaction.last_insert_rowid(),
        };
        append(&transaction, id, change.entries)?;
        runs::set(&transaction, id, change.run.as_ref(), change.now)?;
        if is_active != was_active {
            self.mark(&transaction)?;
        }
        transaction.commit()?;
        Ok(Saved::Stored)
    }

    /// Brings the marker in line with the database. A marker that stays by mistake blocks more, never less.
    fn mark(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let query = "SELECT EXISTS (SELECT 1 FROM sessions WHERE active = 1 AND version > 0)";
        let is_active = transaction.query_row(query, [], |row| row.get(0))?;
        if let Err(error) = mark(&self.directory, is_active) {
            tracing::warn!("the marker of active runs cannot be changed: {error}");
        }
        Ok(())
    }
}

/// A session as it is in the database.
#[derive(Debug, Default)]
struct SessionRow {
    version: u64,
    memory: String,
    entries: Vec<(String, String)>,
}

impl Store for SqliteStore {
    fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError> {
        let Some(connection) = self.open()? else {
            return Ok(StoredSession::default());
        };
        let found = Self::read(&connection, key);
        let found = found.map_err(|error| self.database(error))?;
        let entry = |(custom_type, data): (String, String)| {
            let data = RawValue::from_string(data).map_err(|error| StoreError::Damaged {
                path: self.file(),
                error,
            })?;
            Ok(StoredEntry { custom_type, data })
        };
        let entries = found.entries.into_iter().map(entry);
        Ok(StoredSession {
            version: found.version,
            memory: found.memory,
            entries: entries.collect::<Result<_, StoreError>>()?,
        })
    }

    fn save(&self, key: &SessionKey, change: &SessionChange<'_>) -> Result<Saved, StoreError> {
        let _turn = queue::wait_for_database(&self.directory);
        let mut connection = self.open_or_create()?;
        let saved = self.write(&mut connection, key, change);
        saved.map_err(|error| self.database(error))
    }

    fn wait_turn(&self, key: &SessionKey) -> Option<QueueTurn> {
        queue::wait_for_session(&self.directory, key)
    }

    fn issue(&self, id: &str, ticket: &Ticket, now: u64) -> Result<(), StoreError> {
        let _turn = queue::wait_for_database(&self.directory);
        let mut connection = self.open_or_create()?;
        let cwd = ticket.cwd.to_string_lossy();
        let insert =
            "INSERT INTO tickets (id, host, session, cwd, expires) VALUES (?1, ?2, ?3, ?4, ?5)";
        let (key, expires) = (&ticket.key, integer(ticket.expires));
        let mut issue = || {
            // A call does not outlive a loss of power, and neither need its ticket.
            connection.pragma_update(None, "synchronous", "normal")?;
            let transaction = begin(&mut connection)?;
            transaction.execute("DELETE FROM tickets WHERE expires < ?1", [integer(now)])?;
            transaction.execute(insert, params![id, key.host, key.session, cwd, expires])?;
            transaction.commit()
        };
        issue().map_err(|error| self.database(error))
    }

    fn take(&self, id: &str, now: u64) -> Result<Option<Ticket>, StoreError> {
        let _turn = queue::wait_for_database(&self.directory);
        let Some(connection) = self.open()? else {
            return Ok(None);
        };
        let taken = connection
            .query_row(
                "DELETE FROM tickets WHERE id = ?1 RETURNING host, session, cwd, expires",
                [id],
                |row| {
                    Ok(Ticket {
                        key: SessionKey {
                            host: row.get(0)?,
                            session: row.get(1)?,
                        },
                        cwd: PathBuf::from(row.get::<_, String>(2)?),
                        expires: number(row, 3)?,
                    })
                },
            )
            .optional();
        let taken = taken.map_err(|error| self.database(error))?;
        Ok(taken.filter(|ticket| now <= ticket.expires))
    }

    fn runs(&self, query: &RunQuery<'_>) -> Result<Vec<IndexedRun>, StoreError> {
        self.read_all(|connection| runs::list(connection, query))
    }

    fn note_run(&self, note: &RunNote) -> Result<(), StoreError> {
        self.change(|transaction| runs::note(transaction, note))
    }

    fn answer_right(&self) -> Result<AnswerRight, StoreError> {
        Ok(AnswerRight::NeedsProof)
    }

    fn prune(&self, before: u64) -> Result<usize, StoreError> {
        let _turn = queue::wait_for_database(&self.directory);
        let Some(mut connection) = self.open()? else {
            return Ok(0);
        };
        let mut remove = || {
            let transaction = begin(&mut connection)?;
            let before = integer(before);
            let removed =
                transaction.execute("DELETE FROM sessions WHERE updated < ?1", [before])?;
            transaction.execute("DELETE FROM requests WHERE changed < ?1", [before])?;
            self.mark(&transaction)?;
            transaction.commit()?;
            Ok(removed)
        };
        remove().map_err(|error| self.database(error))
    }

    fn requests(&self, since: u64) -> Result<Vec<RequestRow>, StoreError> {
        self.read_all(|connection| answers::requests(connection, since))
    }

    fn request(&self, task_id: &str) -> Result<Option<RequestRow>, StoreError> {
        self.read_all(|connection| answers::request(connection, task_id))
    }

    fn put_request(&self, row: &RequestRow) -> Result<(), StoreError> {
        self.change(|transaction| answers::put_request(transaction, row))
    }

    fn put_answer(&self, to: &RequestRow, answer: &str) -> Result<bool, StoreError> {
        self.change(|transaction| answers::put_answer(transaction, to, answer))
    }

    fn clear_request(&self, task_id: &str) -> Result<(), StoreError> {
        if self.request(task_id)?.is_none() {
            return Ok(());
        }
        self.change(|transaction| answers::clear_request(transaction, task_id))
    }

    fn trusted(&self, project: &str) -> Result<Vec<String>, StoreError> {
        self.read_all(|connection| answers::trusted(connection, project))
    }

    fn trust(&self, row: &TrustRow, keep: usize) -> Result<(), StoreError> {
        self.change(|transaction| answers::trust(transaction, row, keep))
    }

    fn revoke(&self, project: &str) -> Result<(), StoreError> {
        self.change(|transaction| answers::revoke(transaction, project))
    }
}

fn append(
    transaction: &Transaction<'_>,
    session: i64,
    entries: &[StoredEntry],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO entries (session, number, type, data)
         VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM entries WHERE session = ?1), ?2, ?3)",
    )?;
    for entry in entries {
        insert.execute(params![session, entry.custom_type, entry.data.get()])?;
    }
    Ok(())
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Creates the tables where there are none, and returns the format.
fn create_tables(connection: &mut Connection) -> rusqlite::Result<i64> {
    let format = user_version(connection)?;
    if format != 0 {
        return Ok(format);
    }
    connection.pragma_update(None, "journal_mode", "wal")?;
    let transaction = begin(connection)?;
    // Another process may have done it meanwhile.
    let format = user_version(&transaction)?;
    if format != 0 {
        return Ok(format);
    }
    transaction.execute_batch(SCHEMA)?;
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

#[cfg(test)]
mod tests;
