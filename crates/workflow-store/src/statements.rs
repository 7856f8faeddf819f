//! The statements of both databases, with the order of their columns.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::database::{Row, Rows, Value, flag, number, optional, text};
use crate::types::{
    IndexedRun, RequestText, Run, RunNote, RunQuery, SessionChange, SessionKey, StoreError,
    StoredEntry, StoredSession, Ticket, TrustRow,
};

type Result<T> = std::result::Result<T, StoreError>;

/// The character beyond all others ends the range of the ids that begin alike.
const LAST_CHARACTER: char = char::MAX;

pub(crate) fn load(rows: &mut dyn Rows, key: &SessionKey) -> Result<StoredSession> {
    // One statement, so that session and entries are of the same moment.
    let found = rows.query(
        "SELECT s.version, s.memory, e.type, e.data FROM sessions s LEFT JOIN entries e ON e.session = s.id
         WHERE s.host = ?1 AND s.session = ?2 ORDER BY e.number",
        &[text(&key.host), text(&key.session)],
    )?;
    let mut session = StoredSession::default();
    for mut row in found {
        if session.version == 0 {
            session.version = row.number(0);
            session.memory = row.text(1);
        }
        let Some(custom_type) = row.optional(2) else {
            continue;
        };
        let data = RawValue::from_string(row.text(3)).map_err(|error| StoreError::Damaged {
            session: key.session.clone(),
            error,
        })?;
        session.entries.push(StoredEntry { custom_type, data });
    }
    Ok(session)
}

/// Stores a change of a session; false if the session is not as it was loaded.
pub(crate) fn save(
    rows: &mut dyn Rows,
    key: &SessionKey,
    change: &SessionChange<'_>,
    machine: &str,
) -> Result<bool> {
    // A session of version 0 has a run that its host noted, and nothing else.
    let stored = if change.from == 0 {
        "INSERT INTO sessions (host, session, version, memory, cwd, updated, machine) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6)
         ON CONFLICT (host, session) DO UPDATE SET version = 1, memory = ?3, cwd = ?4, updated = ?5, machine = ?6
         WHERE sessions.version = ?7 RETURNING id"
    } else {
        "UPDATE sessions SET version = version + 1, memory = ?3, cwd = ?4, updated = ?5, machine = ?6
         WHERE host = ?1 AND session = ?2 AND version = ?7 RETURNING id"
    };
    let stored = rows.query_one(
        stored,
        &[
            text(&key.host),
            text(&key.session),
            text(change.memory),
            text(&shown(change.cwd)),
            number(change.now),
            text(machine),
            number(change.from),
        ],
    )?;
    let Some(session) = stored.map(|row| row.integer(0)) else {
        return Ok(false);
    };
    for entry in change.entries {
        rows.execute(
            "INSERT INTO entries (session, number, type, data)
             VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM entries WHERE session = ?1), ?2, ?3)",
            &[
                Value::Number(session),
                text(&entry.custom_type),
                text(entry.data.get()),
            ],
        )?;
    }
    set_run(rows, session, change.run.as_ref(), change.now)?;
    Ok(true)
}

/// Sets the run of a session; one without a phase keeps the last one. Without a run, that of before is over.
fn set_run(rows: &mut dyn Rows, session: i64, run: Option<&Run>, now: u64) -> Result<()> {
    let session = Value::Number(session);
    let Some(run) = run else {
        let over = "UPDATE sessions SET active = 0, state = 'ended', waiting = '', since = ?2 WHERE id = ?1 AND active = 1";
        return rows.execute(over, &[session, number(now)]).map(drop);
    };
    rows.execute(
        "UPDATE sessions SET
             since = CASE WHEN task_id = ?2 AND phase = ?4 AND state = ?7 AND waiting = ?8 THEN since ELSE ?10 END,
             task_id = ?2, workflow = ?3,
             phase = CASE WHEN ?4 = '' AND task_id = ?2 THEN phase ELSE ?4 END,
             task = ?5, status = ?6, state = ?7, waiting = ?8, active = ?9
         WHERE id = ?1",
        &[
            session,
            text(&run.task_id),
            text(&run.workflow),
            text(&run.phase),
            text(&run.task),
            text(&run.status),
            text(&run.state),
            text(&run.waiting),
            flag(run.is_active),
            number(now),
        ],
    )
    .map(drop)
}

/// Returns true if a run is active in a session that is kept here and went on last on this machine.
pub(crate) fn has_active_runs(rows: &mut dyn Rows, machine: &str) -> Result<bool> {
    let active =
        "SELECT id FROM sessions WHERE active = 1 AND version > 0 AND machine = ?1 LIMIT 1";
    Ok(rows.query_one(active, &[text(machine)])?.is_some())
}

/// Notes the run of a host that keeps its sessions itself. Its version stays 0, because nothing of the session is here.
pub(crate) fn note_run(rows: &mut dyn Rows, note: &RunNote, machine: &str) -> Result<()> {
    let noted = rows.query_one(
        "INSERT INTO sessions (host, session, version, memory, cwd, updated, file, machine) VALUES (?1, ?2, 0, '', ?3, ?4, ?5, ?6)
         ON CONFLICT (host, session) DO UPDATE SET cwd = ?3, updated = ?4, file = ?5, machine = ?6 RETURNING id",
        &[
            text(&note.host),
            text(&note.run.task_id),
            text(&shown(&note.cwd)),
            number(note.now),
            optional(note.file.as_deref()),
            text(machine),
        ],
    )?;
    let session = noted.map_or(0, |row| row.integer(0));
    set_run(rows, session, Some(&note.run), note.now)
}

pub(crate) fn runs(rows: &mut dyn Rows, query: &RunQuery<'_>) -> Result<Vec<IndexedRun>> {
    let active = if query.only_active {
        "AND active = 1"
    } else {
        ""
    };
    let order = if query.task_id.is_empty() {
        "updated DESC"
    } else {
        "task_id"
    };
    let sql = format!(
        "SELECT host, session, cwd, updated, since, machine, file, task_id, workflow, phase, task, status, state, waiting, active
         FROM sessions WHERE task_id >= ?1 AND task_id < ?2 {active} ORDER BY {order} LIMIT ?3"
    );
    let end = format!("{}{LAST_CHARACTER}", query.task_id);
    let limit = query
        .limit
        .map_or(Value::Number(i64::MAX), |limit| Value::Number(limit.into()));
    let found = rows.query(&sql, &[text(query.task_id), text(&end), limit])?;
    Ok(found.into_iter().map(indexed_run).collect())
}

fn indexed_run(mut row: Row) -> IndexedRun {
    IndexedRun {
        key: SessionKey {
            host: row.text(0),
            session: row.text(1),
        },
        cwd: PathBuf::from(row.text(2)),
        updated: row.number(3),
        since: row.number(4),
        machine: row.text(5),
        file: row.optional(6),
        run: Run {
            task_id: row.text(7),
            workflow: row.text(8),
            phase: row.text(9),
            task: row.text(10),
            status: row.text(11),
            state: row.text(12),
            waiting: row.text(13),
            is_active: row.flag(14),
        },
    }
}

/// Removes sessions and requests that were not changed since, and returns the number of the sessions.
pub(crate) fn prune(rows: &mut dyn Rows, before: u64) -> Result<u64> {
    let before = [number(before)];
    rows.execute("DELETE FROM requests WHERE changed < ?1", &before)?;
    rows.execute("DELETE FROM sessions WHERE updated < ?1", &before)
}

/// Issues a ticket, and forgets those that expired.
pub(crate) fn issue(rows: &mut dyn Rows, id: &str, ticket: &Ticket, now: u64) -> Result<()> {
    rows.execute("DELETE FROM tickets WHERE expires < ?1", &[number(now)])?;
    let insert =
        "INSERT INTO tickets (id, host, session, cwd, expires) VALUES (?1, ?2, ?3, ?4, ?5)";
    rows.execute(
        insert,
        &[
            text(id),
            text(&ticket.key.host),
            text(&ticket.key.session),
            text(&shown(&ticket.cwd)),
            number(ticket.expires),
        ],
    )
    .map(drop)
}

pub(crate) fn take(rows: &mut dyn Rows, id: &str) -> Result<Option<Ticket>> {
    let take = "DELETE FROM tickets WHERE id = ?1 RETURNING host, session, cwd, expires";
    let taken = rows.query_one(take, &[text(id)])?;
    Ok(taken.map(|mut row| Ticket {
        key: SessionKey {
            host: row.text(0),
            session: row.text(1),
        },
        cwd: PathBuf::from(row.text(2)),
        expires: row.number(3),
    }))
}

/// A request with its answer, and how to find it.
fn requests_where(condition: &str) -> String {
    format!(
        "SELECT r.request, a.answer
         FROM requests r LEFT JOIN answers a ON a.task_id = r.task_id AND a.id = r.id
         WHERE {condition} ORDER BY r.task_id"
    )
}

fn request_text(mut row: Row) -> RequestText {
    (row.text(0), row.optional(1))
}

pub(crate) fn requests(rows: &mut dyn Rows, since: u64) -> Result<Vec<RequestText>> {
    let found = rows.query(&requests_where("r.changed >= ?1"), &[number(since)])?;
    Ok(found.into_iter().map(request_text).collect())
}

pub(crate) fn request(rows: &mut dyn Rows, task_id: &str) -> Result<Option<RequestText>> {
    let found = rows.query_one(&requests_where("r.task_id = ?1"), &[text(task_id)])?;
    Ok(found.map(request_text))
}

pub(crate) fn put_request(
    rows: &mut dyn Rows,
    task_id: &str,
    id: &str,
    request: &str,
    now: u64,
) -> Result<()> {
    // An answer to another request of the run stays beside this one, and belongs to none.
    rows.execute(
        "INSERT INTO requests (task_id, id, request, changed)
         VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (task_id) DO UPDATE SET id = ?2, request = ?3, changed = ?4",
        &[text(task_id), text(id), text(request), number(now)],
    )
    .map(drop)
}

pub(crate) fn put_answer(
    rows: &mut dyn Rows,
    task_id: &str,
    id: &str,
    answer: &str,
) -> Result<bool> {
    let stored = rows.execute(
        "INSERT INTO answers (task_id, id, answer)
         SELECT task_id, id, ?3 FROM requests WHERE task_id = ?1 AND id = ?2
         ON CONFLICT (task_id, id) DO UPDATE SET answer = ?3",
        &[text(task_id), text(id), text(answer)],
    )?;
    Ok(stored == 1)
}

pub(crate) fn clear_request(rows: &mut dyn Rows, task_id: &str) -> Result<()> {
    let clear = "DELETE FROM requests WHERE task_id = ?1";
    rows.execute(clear, &[text(task_id)]).map(drop)
}

pub(crate) fn trusted(rows: &mut dyn Rows, project: &str) -> Result<Vec<String>> {
    let trusted = "SELECT commands FROM trust WHERE project = ?1 ORDER BY id";
    let found = rows.query(trusted, &[text(project)])?;
    Ok(found.into_iter().map(|mut row| row.text(0)).collect())
}

pub(crate) fn trust(rows: &mut dyn Rows, row: &TrustRow, keep: usize) -> Result<()> {
    let (project, commands) = (text(&row.project), text(&row.commands));
    // A new row, so that it is the newest one.
    let known = "DELETE FROM trust WHERE project = ?1 AND commands = ?2";
    rows.execute(known, &[project, commands])?;
    let insert = "INSERT INTO trust (project, commands, at) VALUES (?1, ?2, ?3)
        ON CONFLICT (project, commands) DO NOTHING";
    rows.execute(insert, &[project, commands, number(row.at)])?;
    let old = "DELETE FROM trust WHERE project = ?1
         AND id NOT IN (SELECT id FROM trust WHERE project = ?1 ORDER BY id DESC LIMIT ?2)";
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    rows.execute(old, &[project, Value::Number(keep)]).map(drop)
}

pub(crate) fn revoke(rows: &mut dyn Rows, project: &str) -> Result<()> {
    let revoke = "DELETE FROM trust WHERE project = ?1";
    rows.execute(revoke, &[text(project)]).map(drop)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
