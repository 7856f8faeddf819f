//! The store on a `PostgreSQL` server, for several machines.
//!
//! Every operation has a connection of its own: a process that is killed leaves nothing behind, and a server that was
//! restarted is found again. The tables and the two roles are in `postgres/schema.sql`.

mod address;
mod names;
mod tls;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread;

use postgres::types::ToSql;
use postgres::{Client, NoTls, Row, Transaction};
use serde_json::value::RawValue;

use self::address::Address;
use super::machine::machine;
use super::marker::mark;
use super::queue::{self, QueueTurn};
use super::{
    AnswerRight, IndexedRun, REQUESTS, RequestRow, Run, RunNote, RunQuery, Saved, SessionChange,
    SessionKey, Store, StoreError, StoredEntry, StoredSession, Ticket, TrustRow,
};

/// The tables, roles and grants.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");
/// The format of the tables.
const FORMAT: i64 = 1;

/// Returns true if the session may write answers: by itself, by a role that it is in or could get, or as an owner.
const MAY_ANSWER: &str = "
    SELECT EXISTS (
        SELECT 1 FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = 'answers'::regclass AND pg_has_role(session_user, r.oid, 'MEMBER')
        AND (r.rolsuper OR r.rolcreaterole OR r.oid IN (c.relowner, n.nspowner)
            OR has_any_column_privilege(r.oid, c.oid, 'INSERT')
            OR has_any_column_privilege(r.oid, c.oid, 'UPDATE'))
    )";

/// The store on a server, and the directory of this machine.
#[derive(Debug, Clone)]
pub(crate) struct PostgresStore {
    address: Address,
    directory: PathBuf,
}

type QueryResult<T> = Result<T, postgres::Error>;

impl PostgresStore {
    pub(crate) fn new(url: &str, directory: PathBuf) -> Result<Self, StoreError> {
        let address = Address::parse(url).map_err(|refused| StoreError::Postgres {
            endpoint: refused.endpoint,
            reason: refused.reason.to_owned(),
        })?;
        Ok(Self { address, directory })
    }

    #[cfg(test)]
    pub(super) fn is_encrypted(&self) -> bool {
        self.address.tls.is_some()
    }

    /// Connects to the first server that answers.
    fn connect(&self) -> Result<Client, String> {
        let tls = self.address.tls.as_ref();
        let tls = tls.map(tls::Tls::connector).transpose()?;
        let mut failed = None;
        for server in names::servers(&self.address.config)? {
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
            || "the address names no server".to_owned(),
            |error| explain(&error),
        ))
    }

    /// Carries out an operation. It has a thread of its own, because the client must not wait inside of an asynchronous task.
    fn with<T: Send>(
        &self,
        operation: impl FnOnce(&mut Client) -> QueryResult<T> + Send,
    ) -> Result<T, StoreError> {
        let run = || {
            let mut client = self.connect()?;
            let operate = || {
                let format = client.query_one("SELECT max(version) FROM format", &[])?;
                let format: Option<i64> = format.get(0);
                if format != Some(FORMAT) {
                    return Ok(Err(format));
                }
                operation(&mut client).map(Ok)
            };
            operate().map_err(|error| explain(&error))
        };
        let done = thread::scope(|scope| scope.spawn(run).join());
        let done = done.map_err(|_| self.refuse("the client failed"))?;
        match done.map_err(|reason: String| self.refuse(&reason))? {
            Ok(value) => Ok(value),
            Err(Some(found)) => Err(StoreError::Newer {
                path: PathBuf::from(&self.address.endpoint),
                found,
                known: FORMAT,
            }),
            Err(None) => Err(self.refuse("the tables of the store name no format")),
        }
    }

    /// Carries out an operation in a transaction.
    fn change<T: Send>(
        &self,
        operation: impl FnOnce(&mut Transaction<'_>) -> QueryResult<T> + Send,
    ) -> Result<T, StoreError> {
        self.with(|client| {
            let mut transaction = client.transaction()?;
            let value = operation(&mut transaction)?;
            transaction.commit()?;
            Ok(value)
        })
    }

    fn refuse(&self, reason: &str) -> StoreError {
        StoreError::Postgres {
            endpoint: self.address.endpoint.clone(),
            reason: reason.to_owned(),
        }
    }

    fn machine(&self) -> Result<String, StoreError> {
        machine(&self.directory).map_err(|error| StoreError::Io {
            path: self.directory.clone(),
            error,
        })
    }

    /// Brings the marker of this machine in line with its sessions.
    fn mark(&self, is_active: bool) {
        if let Err(error) = mark(&self.directory, is_active) {
            tracing::warn!("the marker of active runs cannot be changed: {error}");
        }
    }
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

impl Store for PostgresStore {
    fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError> {
        let found = self.with(|client| {
            // One statement, so that both are of the same moment.
            client.query(
                "SELECT s.version, s.memory, e.type, e.data FROM sessions s LEFT JOIN entries e ON e.session = s.id
                 WHERE s.host = $1 AND s.session = $2 ORDER BY e.number",
                &[&key.host, &key.session],
            )
        })?;
        let Some(first) = found.first() else {
            return Ok(StoredSession::default());
        };
        let mut session = StoredSession {
            version: number(first, 0),
            memory: first.get(1),
            entries: Vec::new(),
        };
        for row in &found {
            let Some(custom_type) = row.get::<_, Option<String>>(2) else {
                continue;
            };
            let data = RawValue::from_string(row.get(3)).map_err(|error| StoreError::Damaged {
                path: PathBuf::from(&self.address.endpoint),
                error,
            })?;
            session.entries.push(StoredEntry { custom_type, data });
        }
        Ok(session)
    }

    fn save(&self, key: &SessionKey, change: &SessionChange<'_>) -> Result<Saved, StoreError> {
        let machine = self.machine()?;
        let cwd = change.cwd.to_string_lossy().into_owned();
        // Set before the run is stored: a marker that stays by mistake blocks more, never less.
        if change.run.as_ref().is_some_and(|run| run.is_active) {
            self.mark(true);
        }
        let stored = self.change(|transaction| {
            let (from, now) = (integer(change.from), integer(change.now));
            let id = if change.from == 0 {
                transaction.query_opt(
                    "INSERT INTO sessions (host, session, version, memory, cwd, updated, machine) VALUES ($1, $2, 1, $3, $4, $5, $6)
                     ON CONFLICT (host, session) DO NOTHING RETURNING id",
                    &[&key.host, &key.session, &change.memory, &cwd, &now, &machine],
                )?
            } else {
                transaction.query_opt(
                    "UPDATE sessions SET version = version + 1, memory = $3, cwd = $4, updated = $5, machine = $6
                     WHERE host = $1 AND session = $2 AND version = $7 RETURNING id",
                    &[&key.host, &key.session, &change.memory, &cwd, &now, &machine, &from],
                )?
            };
            let Some(id) = id.map(|row| row.get::<_, i64>(0)) else {
                return Ok(None);
            };
            for entry in change.entries {
                transaction.execute(
                    "INSERT INTO entries (session, number, type, data)
                     VALUES ($1, (SELECT coalesce(max(number), 0) + 1 FROM entries WHERE session = $1), $2, $3)",
                    &[&id, &entry.custom_type, &entry.data.get()],
                )?;
            }
            set_run(transaction, id, change.run.as_ref(), now)?;
            let active = "SELECT EXISTS (SELECT 1 FROM sessions WHERE active AND version > 0 AND machine = $1)";
            Ok(Some(transaction.query_one(active, &[&machine])?.get(0)))
        })?;
        let Some(is_active) = stored else {
            return Ok(Saved::Conflict);
        };
        self.mark(is_active);
        Ok(Saved::Stored)
    }

    fn wait_turn(&self, key: &SessionKey) -> Option<QueueTurn> {
        queue::wait_for_session(&self.directory, key)
    }

    fn issue(&self, id: &str, ticket: &Ticket, now: u64) -> Result<(), StoreError> {
        let cwd = ticket.cwd.to_string_lossy().into_owned();
        let (key, expires) = (&ticket.key, integer(ticket.expires));
        self.change(|transaction| {
            transaction.execute("DELETE FROM tickets WHERE expires < $1", &[&integer(now)])?;
            let insert =
                "INSERT INTO tickets (id, host, session, cwd, expires) VALUES ($1, $2, $3, $4, $5)";
            transaction.execute(insert, &[&id, &key.host, &key.session, &cwd, &expires])?;
            Ok(())
        })
    }

    fn take(&self, id: &str, now: u64) -> Result<Option<Ticket>, StoreError> {
        let taken = self.with(|client| {
            let take = "DELETE FROM tickets WHERE id = $1 RETURNING host, session, cwd, expires";
            client.query_opt(take, &[&id])
        })?;
        let taken = taken.map(|row| Ticket {
            key: SessionKey {
                host: row.get(0),
                session: row.get(1),
            },
            cwd: PathBuf::from(row.get::<_, String>(2)),
            expires: number(&row, 3),
        });
        Ok(taken.filter(|ticket| now <= ticket.expires))
    }

    fn runs(&self, query: &RunQuery<'_>) -> Result<Vec<IndexedRun>, StoreError> {
        let active = if query.only_active { "AND active" } else { "" };
        let (run, order) = if query.task_id.is_empty() {
            ("task_id IS NOT NULL AND $1 = ''", "updated DESC")
        } else {
            ("starts_with(task_id, $1)", "task_id")
        };
        let sql = format!(
            "SELECT host, session, cwd, updated, since, machine, file, task_id, workflow, phase, task, status, state, waiting, active
             FROM sessions WHERE {run} {active} ORDER BY {order} LIMIT $2"
        );
        let limit = query.limit.map(i64::from);
        let rows = self.with(|client| client.query(&sql, &[&query.task_id, &limit]))?;
        Ok(rows.iter().map(indexed).collect())
    }

    fn note_run(&self, note: &RunNote) -> Result<(), StoreError> {
        let machine = self.machine()?;
        let cwd = note.cwd.to_string_lossy().into_owned();
        let now = integer(note.now);
        self.change(|transaction| {
            let id = transaction.query_one(
                "INSERT INTO sessions (host, session, version, memory, cwd, updated, file, machine)
                 VALUES ($1, $2, 0, '', $3, $4, $5, $6)
                 ON CONFLICT (host, session) DO UPDATE SET cwd = $3, updated = $4, file = $5, machine = $6 RETURNING id",
                &[&note.host, &note.run.task_id, &cwd, &now, &note.file, &machine],
            )?;
            set_run(transaction, id.get(0), Some(&note.run), now)
        })
    }

    fn answer_right(&self) -> Result<AnswerRight, StoreError> {
        let may_answer = self.with(|client| client.query_one(MAY_ANSWER, &[]))?;
        Ok(if may_answer.get(0) {
            AnswerRight::MayAnswer
        } else {
            AnswerRight::MayRead
        })
    }

    fn prune(&self, before: u64) -> Result<usize, StoreError> {
        let removed = self.change(|transaction| {
            let before = integer(before);
            let requests = "DELETE FROM requests WHERE changed < $1";
            transaction.execute(requests, &[&before])?;
            let sessions = "DELETE FROM sessions WHERE updated < $1";
            transaction.execute(sessions, &[&before])
        })?;
        Ok(usize::try_from(removed).unwrap_or(usize::MAX))
    }

    fn requests(&self, since: u64) -> Result<Vec<RequestRow>, StoreError> {
        let sql = format!("{REQUESTS} WHERE r.changed >= $1 ORDER BY r.task_id");
        let rows = self.with(|client| client.query(&sql, &[&integer(since)]))?;
        Ok(rows.iter().map(request).collect())
    }

    fn request(&self, task_id: &str) -> Result<Option<RequestRow>, StoreError> {
        let sql = format!("{REQUESTS} WHERE r.task_id = $1");
        let row = self.with(|client| client.query_opt(&sql, &[&task_id]))?;
        Ok(row.as_ref().map(request))
    }

    fn put_request(&self, row: &RequestRow) -> Result<(), StoreError> {
        // An answer to another request of the run stays beside this one, and belongs to none.
        self.with(|client| {
            client.execute(
                "INSERT INTO requests (task_id, nonce, request, seal, sidecar, choice, changed)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (task_id) DO UPDATE SET
                     nonce = $2, request = $3, seal = $4, sidecar = $5, choice = $6, changed = $7",
                &[
                    &row.task_id,
                    &row.nonce,
                    &row.request,
                    &row.seal,
                    &row.sidecar,
                    &row.choice,
                    &integer(row.changed),
                ],
            )
        })?;
        Ok(())
    }

    fn put_answer(&self, to: &RequestRow, answer: &str) -> Result<bool, StoreError> {
        let stored = self.with(|client| {
            client.execute(
                "INSERT INTO answers (task_id, nonce, answer)
                 SELECT task_id, nonce, $3 FROM requests WHERE task_id = $1 AND request = $2
                 ON CONFLICT (task_id, nonce) DO UPDATE SET answer = $3",
                &[&to.task_id, &to.request, &answer],
            )
        })?;
        Ok(stored == 1)
    }

    fn clear_request(&self, task_id: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM requests WHERE task_id = $1";
        self.with(|client| client.execute(sql, &[&task_id]))?;
        Ok(())
    }

    fn trusted(&self, project: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT commands FROM trust WHERE project = $1 ORDER BY id";
        let rows = self.with(|client| client.query(sql, &[&project]))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn trust(&self, row: &TrustRow, keep: usize) -> Result<(), StoreError> {
        let (project, commands) = (&row.project, &row.commands);
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        self.change(|transaction| {
            let known = "DELETE FROM trust WHERE project = $1 AND commands = $2";
            transaction.execute(known, &[project, commands])?;
            let insert = "INSERT INTO trust (project, commands, at) VALUES ($1, $2, $3)
                ON CONFLICT (project, commands) DO NOTHING";
            transaction.execute(insert, &[project, commands, &integer(row.at)])?;
            transaction.execute(
                "DELETE FROM trust WHERE project = $1
                 AND id NOT IN (SELECT id FROM trust WHERE project = $1 ORDER BY id DESC LIMIT $2)",
                &[project, &keep],
            )?;
            Ok(())
        })
    }

    fn revoke(&self, project: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM trust WHERE project = $1";
        self.with(|client| client.execute(sql, &[&project]))?;
        Ok(())
    }
}

/// Sets the run of a session. Without a run, that of before is over.
fn set_run(
    transaction: &mut Transaction<'_>,
    id: i64,
    run: Option<&Run>,
    now: i64,
) -> QueryResult<()> {
    let Some(run) = run else {
        let over = "UPDATE sessions SET active = false, state = 'ended', waiting = '', since = $2 WHERE id = $1 AND active";
        return transaction.execute(over, &[&id, &now]).map(drop);
    };
    let values: [&(dyn ToSql + Sync); 10] = [
        &id,
        &run.task_id,
        &run.workflow,
        &run.phase,
        &run.task,
        &run.status,
        &run.state,
        &run.waiting,
        &run.is_active,
        &now,
    ];
    let set = "UPDATE sessions SET
         since = CASE WHEN task_id = $2 AND phase = $4 AND state = $7 AND waiting = $8 THEN since ELSE $10 END,
         task_id = $2, workflow = $3,
         phase = CASE WHEN $4 = '' AND task_id = $2 THEN phase ELSE $4 END, task = $5, status = $6, state = $7, waiting = $8, active = $9
         WHERE id = $1";
    transaction.execute(set, &values).map(drop)
}

fn indexed(row: &Row) -> IndexedRun {
    IndexedRun {
        key: SessionKey {
            host: row.get(0),
            session: row.get(1),
        },
        cwd: Path::new(&row.get::<_, String>(2)).to_path_buf(),
        updated: number(row, 3),
        since: number(row, 4),
        machine: row.get(5),
        file: row.get(6),
        run: Run {
            task_id: row.get(7),
            workflow: row.get(8),
            phase: row.get(9),
            task: row.get(10),
            status: row.get(11),
            state: row.get(12),
            waiting: row.get(13),
            is_active: row.get(14),
        },
    }
}

fn request(row: &Row) -> RequestRow {
    RequestRow {
        task_id: row.get(0),
        nonce: row.get(1),
        request: row.get(2),
        seal: row.get(3),
        sidecar: row.get(4),
        choice: row.get(5),
        changed: number(row, 6),
        answer: row.get(7),
    }
}

/// Reads a number that is never negative.
fn number(row: &Row, index: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(index)).unwrap_or_default()
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
