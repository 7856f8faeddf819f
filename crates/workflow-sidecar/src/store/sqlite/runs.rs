//! The index of runs: columns of the sessions.

use std::path::PathBuf;

use rusqlite::{Connection, Row, params};

use super::super::{IndexedRun, Run, RunNote, RunQuery, SessionKey};
use super::numbers::{integer, number};

/// Sets the run of a session; one without a phase keeps the last one. Without a run, that of before is over.
pub(super) fn set(
    connection: &Connection,
    session: i64,
    run: Option<&Run>,
    now: u64,
) -> rusqlite::Result<()> {
    let Some(run) = run else {
        let over = "UPDATE sessions SET active = 0, state = 'ended', waiting = '', since = ?2
            WHERE id = ?1 AND active = 1";
        return connection
            .execute(over, params![session, integer(now)])
            .map(drop);
    };
    connection.execute(
        "UPDATE sessions SET
             since = CASE WHEN task_id IS ?2 AND phase IS ?4 AND state = ?7 AND waiting = ?8 THEN since ELSE ?10 END,
             task_id = ?2, workflow = ?3,
             phase = CASE WHEN ?4 = '' AND task_id IS ?2 THEN phase ELSE ?4 END, task = ?5, status = ?6, state = ?7, waiting = ?8, active = ?9
         WHERE id = ?1",
        params![
            session,
            run.task_id,
            run.workflow,
            run.phase,
            run.task,
            run.status,
            run.state,
            run.waiting,
            run.is_active,
            integer(now),
        ],
    )?;
    Ok(())
}

/// Notes the run of a host that keeps its sessions itself. Its version stays 0, because nothing of the session is here.
pub(super) fn note(connection: &Connection, note: &RunNote) -> rusqlite::Result<()> {
    let id = connection.query_row(
        "INSERT INTO sessions (host, session, version, memory, cwd, updated, file) VALUES (?1, ?2, 0, '', ?3, ?4, ?5)
         ON CONFLICT (host, session) DO UPDATE SET cwd = ?3, updated = ?4, file = ?5 RETURNING id",
        params![
            note.host,
            note.run.task_id,
            note.cwd.to_string_lossy(),
            integer(note.now),
            note.file,
        ],
        |row| row.get(0),
    )?;
    set(connection, id, Some(&note.run), note.now)
}

pub(super) fn list(
    connection: &Connection,
    query: &RunQuery<'_>,
) -> rusqlite::Result<Vec<IndexedRun>> {
    let active = if query.only_active {
        "AND active = 1"
    } else {
        ""
    };
    // The range finds a beginning by the index; a character beyond all others ends it.
    let (run, order) = if query.task_id.is_empty() {
        ("task_id IS NOT NULL AND ?1 = ''", "updated DESC")
    } else {
        ("task_id >= ?1 AND task_id < ?1 || char(1114111)", "task_id")
    };
    let mut runs = connection.prepare(&format!(
        "SELECT host, session, cwd, updated, since, machine, file, task_id, workflow, phase, task, status, state, waiting, active
         FROM sessions WHERE {run} {active} ORDER BY {order} LIMIT ?2"
    ))?;
    let limit = query.limit.map_or(-1, i64::from);
    runs.query_map(params![query.task_id, limit], row)?
        .collect()
}

fn row(row: &Row<'_>) -> rusqlite::Result<IndexedRun> {
    Ok(IndexedRun {
        key: SessionKey {
            host: row.get(0)?,
            session: row.get(1)?,
        },
        cwd: PathBuf::from(row.get::<_, String>(2)?),
        updated: number(row, 3)?,
        since: number(row, 4)?,
        machine: row.get(5)?,
        file: row.get(6)?,
        run: Run {
            task_id: row.get(7)?,
            workflow: row.get(8)?,
            phase: row.get(9)?,
            task: row.get(10)?,
            status: row.get(11)?,
            state: row.get(12)?,
            waiting: row.get(13)?,
            is_active: row.get(14)?,
        },
    })
}
