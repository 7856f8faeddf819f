//! Requests for approval, the answers to them, and trust.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{REQUESTS, RequestRow, TrustRow};
use super::numbers::{integer, number};

fn row(row: &Row<'_>) -> rusqlite::Result<RequestRow> {
    Ok(RequestRow {
        task_id: row.get(0)?,
        nonce: row.get(1)?,
        request: row.get(2)?,
        seal: row.get(3)?,
        sidecar: row.get(4)?,
        choice: row.get(5)?,
        changed: number(row, 6)?,
        answer: row.get(7)?,
    })
}

pub(super) fn requests(connection: &Connection, since: u64) -> rusqlite::Result<Vec<RequestRow>> {
    let query = format!("{REQUESTS} WHERE r.changed >= ?1 ORDER BY r.task_id");
    let mut found = connection.prepare(&query)?;
    found.query_map([integer(since)], row)?.collect()
}

pub(super) fn request(
    connection: &Connection,
    task_id: &str,
) -> rusqlite::Result<Option<RequestRow>> {
    let query = format!("{REQUESTS} WHERE r.task_id = ?1");
    connection.query_row(&query, [task_id], row).optional()
}

pub(super) fn put_request(connection: &Connection, row: &RequestRow) -> rusqlite::Result<()> {
    let other = "DELETE FROM answers WHERE task_id = ?1 AND nonce <> ?2";
    connection.execute(other, [&row.task_id, &row.nonce])?;
    connection.execute(
        "INSERT INTO requests (task_id, nonce, request, seal, sidecar, choice, changed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (task_id) DO UPDATE SET
             nonce = ?2, request = ?3, seal = ?4, sidecar = ?5, choice = ?6, changed = ?7",
        params![
            row.task_id,
            row.nonce,
            row.request,
            row.seal,
            row.sidecar,
            row.choice,
            integer(row.changed),
        ],
    )?;
    Ok(())
}

pub(super) fn put_answer(
    connection: &Connection,
    to: &RequestRow,
    answer: &str,
) -> rusqlite::Result<bool> {
    let stored = connection.execute(
        "INSERT OR REPLACE INTO answers (task_id, nonce, answer)
         SELECT task_id, nonce, ?3 FROM requests WHERE task_id = ?1 AND request = ?2",
        [&*to.task_id, &to.request, answer],
    )?;
    Ok(stored == 1)
}

pub(super) fn clear_request(connection: &Connection, task_id: &str) -> rusqlite::Result<()> {
    let query = "DELETE FROM requests WHERE task_id = ?1";
    connection.execute(query, [task_id]).map(drop)
}

pub(super) fn trusted(connection: &Connection, project: &str) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT commands FROM trust WHERE project = ?1 ORDER BY id";
    let mut found = connection.prepare(query)?;
    found.query_map([project], |row| row.get(0))?.collect()
}

pub(super) fn trust(connection: &Connection, row: &TrustRow, keep: usize) -> rusqlite::Result<()> {
    // A new row, so that it is the newest one.
    connection.execute(
        "INSERT OR REPLACE INTO trust (project, commands, at) VALUES (?1, ?2, ?3)",
        params![row.project, row.commands, integer(row.at)],
    )?;
    connection.execute(
        "DELETE FROM trust WHERE project = ?1
         AND id NOT IN (SELECT id FROM trust WHERE project = ?1 ORDER BY id DESC LIMIT ?2)",
        params![row.project, i64::try_from(keep).unwrap_or(i64::MAX)],
    )?;
    Ok(())
}

pub(super) fn revoke(connection: &Connection, project: &str) -> rusqlite::Result<()> {
    let query = "DELETE FROM trust WHERE project = ?1";
    connection.execute(query, [project]).map(drop)
}
