//! What a caller asks of the store, and the statements for it, which both databases know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::counts::DAY;
use crate::database::{Access, Database, Row, Rows, read};
use crate::marker::{is_marked, keep, mark, mark_everywhere};
use crate::queue::{self, QueueTurn};
use crate::types::{
    AnswerRight, IndexedRun, Run, RunNote, RunQuery, SHOWN_ONLY, Saved, SessionChange, SessionKey,
    StoreError, StoredEntry, StoredOrder, StoredRequest, StoredSession, Ticket, TrustRequest,
};

pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// The character beyond all others ends the range of the ids that begin alike.
const LAST_CHARACTER: char = char::MAX;

/// The session of a row. An earlier run of a session has a row of its own, of version 0, whose name ends with the run.
const SESSION: &str =
    "CASE WHEN version = 0 THEN replace(session, '/' || task_id, '') ELSE session END";

/// The sessions, tickets, runs, requests and trust of a user, in a database.
#[derive(Debug)]
pub struct Store {
    pub(crate) database: Box<dyn Database>,
    /// Where the queues and the markers of this machine are.
    pub(crate) directory: PathBuf,
}

/// Access to the database.
impl Store {
    /// The store for a process that ends soon: it stays connected from one operation to the next, and notices no other file in
    /// the place of the database.
    #[must_use]
    pub fn for_one_event(mut self) -> Self {
        self.database.stay_connected();
        self
    }

    /// Returns true if anything was ever stored, and is still there.
    pub fn exists(&self) -> Result<bool> {
        self.database.exists()
    }

    /// Returns the directory with its files on this machine.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Carries out an operation, a change in the turn of this process. One that must not create the database gives the
    /// default if nothing was ever stored.
    fn with<T: Default + Send>(
        &self,
        access: Access,
        operation: impl Fn(&mut dyn Rows) -> Result<T> + Sync,
    ) -> Result<T> {
        let mut value = T::default();
        if matches!(access, Access::Read | Access::Change) && !self.database.exists()? {
            return Ok(value);
        }
        let _turn = (access != Access::Read).then(|| queue::wait_for_database(&self.directory));
        self.database.with(access, &mut |rows| {
            value = operation(rows)?;
            Ok(())
        })?;
        Ok(value)
    }

    /// Carries out a change of one statement. Returns the number of rows that it changes.
    fn execute(&self, access: Access, sql: &str, values: &Value) -> Result<u64> {
        self.with(access, |rows| rows.execute(sql, values))
    }

    /// Returns what the rows that a statement selects stand for.
    pub(crate) fn select<T: DeserializeOwned + Send>(
        &self,
        sql: &str,
        values: &Value,
    ) -> Result<Vec<T>> {
        self.with(Access::Read, |rows| {
            let found = rows.query(sql, values)?;
            found.into_iter().map(read).collect()
        })
    }
}

/// A session with one of its entries, if it has any.
#[derive(Deserialize)]
struct SessionRow {
    version: u64,
    memory: String,
    ordered: String,
    other_owner: String,
    #[serde(rename = "type")]
    custom_type: Option<String>,
    data: Option<String>,
    at: Option<u64>,
}

/// Returns the id of a row that was stored.
fn id(row: Option<Row>) -> Option<i64> {
    row?.get("id")?.as_i64()
}

/// Sessions of hook hosts, and the calls that they announce.
impl Store {
    /// Loads a session to continue it; an unknown one is empty. One that another login has written is an error.
    pub fn load(&self, key: &SessionKey) -> Result<StoredSession> {
        let session = self.read(key, SHOWN_ONLY)?;
        if session.other_owner.is_empty() {
            return Ok(session);
        }
        Err(StoreError::new(format!(
            "the stored session {} belongs to the login {}, which or the owner of the database can remove it",
            key.session, session.other_owner
        )))
    }

    /// Loads a session to show it, whoever has written it.
    pub fn look_at(&self, key: &SessionKey) -> Result<StoredSession> {
        self.read(key, "")
    }

    /// Reads a session without the entries of a type.
    fn read(&self, key: &SessionKey, left_out: &str) -> Result<StoredSession> {
        // One statement, so that session and entries are of the same moment.
        let sql = format!(
            "SELECT s.version, s.memory, s.ordered, s.other_owner, e.type, e.data, e.at
             FROM {} s LEFT JOIN entries e ON e.session = s.id AND e.type <> ?3
             WHERE s.host = ?1 AND s.session = ?2 ORDER BY e.number",
            self.database.sessions()
        );
        let found: Vec<SessionRow> =
            self.select(&sql, &json!([key.host, key.session, left_out]))?;
        let mut session = StoredSession::default();
        for row in found {
            (session.version, session.memory) = (row.version, row.memory);
            (session.order, session.other_owner) = (row.ordered, row.other_owner);
            if let (Some(custom_type), Some(data)) = (row.custom_type, row.data) {
                let data = RawValue::from_string(data).map_err(|error| {
                    let session = &key.session;
                    let reason =
                        format!("an entry of the stored session {session} is not JSON: {error}");
                    StoreError::new(reason)
                })?;
                let at = row.at.unwrap_or_default();
                let entry = StoredEntry {
                    custom_type,
                    data,
                    at,
                };
                session.entries.push(entry);
            }
        }
        Ok(session)
    }

    /// Stores a change of a session, if the session is as it was loaded.
    pub fn save(&self, key: &SessionKey, change: &SessionChange<'_>) -> Result<Saved> {
        let machine = self.database.machine()?;
        // A move of the run survives a loss of power; what is only remembered need not.
        let mut entries = change.entries.iter();
        let access = if entries.all(|entry| entry.custom_type == SHOWN_ONLY) {
            Access::Remember
        } else {
            Access::Create
        };
        // A session of version 0 has a run that its host noted, and nothing else.
        let store = if change.from == 0 {
            "INSERT INTO sessions (host, session, version, memory, cwd, updated, machine) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6)
             ON CONFLICT (host, session) DO UPDATE SET version = 1, memory = ?3, cwd = ?4, updated = ?5, machine = ?6
             WHERE sessions.version = ?7 RETURNING id"
        } else {
            "UPDATE sessions SET version = version + 1, memory = ?3, cwd = ?4, updated = ?5, machine = ?6
             WHERE host = ?1 AND session = ?2 AND version = ?7 RETURNING id"
        };
        let cwd = change.cwd.to_string_lossy();
        let (saved, active) = self.with(access, |rows| {
            let SessionKey { host, session } = key;
            let SessionChange { from, memory, now, .. } = change;
            let values = json!([host, session, memory, cwd, now, machine, from]);
            let Some(id) = id(rows.query_one(store, &values)?) else {
                return Ok((Saved::Conflict, Vec::new()));
            };
            for entry in change.entries {
                let at = if entry.at == 0 { *now } else { entry.at };
                rows.execute(
                    "INSERT INTO entries (session, number, type, data, at)
                     VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM entries WHERE session = ?1), ?2, ?3, ?4)",
                    &json!([id, entry.custom_type, entry.data.get(), at]),
                )?;
            }
            if !change.order.is_empty() {
                let taken = "DELETE FROM orders WHERE session = ?1 AND text = ?2";
                rows.execute(taken, &json!([id, change.order]))?;
            }
            set_run(rows, id, change.run.as_ref(), *now)?;
            let active = self.mark(rows, &machine)?;
            // At the end, because other processes that count the same wait for this one from here on.
            change.counts.write(rows, host, *now)?;
            Ok((Saved::Stored, active))
        })?;
        let is_over = !active.iter().any(|project| *project == *cwd);
        if saved == Saved::Stored && is_over && is_marked(&self.directory, change.cwd) {
            self.unmark(&machine);
        }
        Ok(saved)
    }

    /// Sets the markers of this machine, before the change is stored: of the projects with an active run in a session that is
    /// kept here and went on last on this machine. Returns them.
    fn mark(&self, rows: &mut dyn Rows, machine: &str) -> Result<Vec<PathBuf>> {
        let active = "SELECT cwd FROM sessions WHERE active = 1 AND version > 0 AND machine = ?1 GROUP BY cwd";
        let projects = rows.query(active, &json!([machine]))?.into_iter();
        let projects = projects.filter_map(|row| Some(PathBuf::from(row.get("cwd")?.as_str()?)));
        let projects: Vec<PathBuf> = projects.collect();
        for project in &projects {
            if let Err(error) = mark(&self.directory, project) {
                tracing::warn!("the marker of active runs cannot be set: {error}");
            }
        }
        Ok(projects)
    }

    /// Removes the markers of projects without an active run, after the change is stored: a connection may be lost until
    /// then. A marker that stays by mistake blocks more, never less.
    fn unmark(&self, machine: &str) {
        let unmark = |rows: &mut dyn Rows| {
            let kept = keep(&self.directory, &self.mark(rows, machine)?);
            kept.map_err(|error| StoreError::of_file(&self.directory, error))
        };
        if let Err(error) = self.with(Access::Change, unmark) {
            tracing::warn!("a marker of active runs stays: {error}");
        }
    }

    /// Has the active runs count in every directory, because the agent of one left its project.
    pub fn mark_everywhere(&self) {
        if let Err(error) = mark_everywhere(&self.directory) {
            tracing::warn!("the marker of active runs cannot be set: {error}");
        }
    }

    /// Waits until no other process of this machine works on the session, for some time. `None` if it continues without a turn.
    pub fn wait_turn(&self, key: &SessionKey) -> Option<QueueTurn> {
        queue::wait_for_session(&self.directory, key)
    }

    /// Issues a ticket, and forgets those that expired.
    pub fn issue(&self, id: &str, ticket: &Ticket, now: u64) -> Result<()> {
        let cwd = ticket.cwd.to_string_lossy();
        // A call does not outlive a loss of power, and neither need its ticket.
        self.with(Access::Remember, |rows| {
            // The ticket of a process takes the place of an earlier one.
            let delete = "DELETE FROM tickets WHERE expires < ?1 OR id = ?2";
            rows.execute(delete, &json!([now, id]))?;
            let insert =
                "INSERT INTO tickets (id, host, session, cwd, expires) VALUES (?1, ?2, ?3, ?4, ?5)";
            let SessionKey { host, session } = &ticket.key;
            let values = json!([id, host, session, cwd, ticket.expires]);
            rows.execute(insert, &values).map(drop)
        })
    }

    /// Takes a ticket, once. `None` if it was not issued, was taken, or expired.
    pub fn take(&self, id: &str, now: u64) -> Result<Option<Ticket>> {
        let take = "DELETE FROM tickets WHERE id = ?1 RETURNING host, session, cwd, expires";
        let taken = self.with(Access::Change, |rows| rows.query_one(take, &json!([id])))?;
        let taken: Option<Ticket> = taken.map(read).transpose()?;
        Ok(taken.filter(|ticket| now <= ticket.expires))
    }

    /// Removes the sessions and the requests that were not changed since, and the figures of the days before. Returns the number
    /// of the sessions and earlier runs.
    pub fn prune(&self, before: u64) -> Result<u64> {
        let machine = self.database.machine()?;
        let (day, before) = (json!([before / DAY]), json!([before]));
        let removed = self.with(Access::Change, |rows| {
            rows.execute("DELETE FROM figures WHERE day < ?1", &day)?;
            rows.execute("DELETE FROM requests WHERE changed < ?1", &before)?;
            rows.execute("DELETE FROM sessions WHERE updated < ?1", &before)
        })?;
        self.unmark(&machine);
        Ok(removed)
    }
}

/// The index of all runs.
impl Store {
    /// Lists the runs, the one that changed last first.
    pub fn runs(&self, query: &RunQuery<'_>) -> Result<Vec<IndexedRun>> {
        let limit = query.limit.map_or(i64::MAX, i64::from);
        let mut values = vec![json!(limit)];
        // Written so that SQLite reads the index of active runs, or else that by the last change.
        let of_all = if query.only_active {
            "active = 1"
        } else {
            "task_id IS NOT NULL"
        };
        let mut condition = of_all.to_owned();
        if !query.states.is_empty() {
            let first = values.len() + 1;
            values.extend(query.states.iter().map(|state| json!(state)));
            let states = (first..=values.len()).map(|at| format!("?{at}"));
            let states = states.collect::<Vec<_>>().join(", ");
            condition = format!("{condition} AND state IN ({states})");
        }
        let end = format!("{}{LAST_CHARACTER}", query.task_id);
        let is_id = !query.task_id.is_empty();
        for (column, value) in [
            ("task_id >=", is_id.then_some(query.task_id)),
            ("task_id <", is_id.then_some(&*end)),
            ("host || '' =", query.host),
            ("workflow =", query.workflow),
            ("cwd =", query.project),
        ] {
            if let Some(value) = value {
                values.push(json!(value));
                condition = format!("{condition} AND {column} ?{}", values.len());
            }
        }
        let order = match query {
            _ if is_id => "task_id",
            query if query.is_oldest_first => "since",
            _ => "updated DESC",
        };
        let condition = format!("{condition} ORDER BY {order} LIMIT ?1");
        self.runs_where(&condition, &values.into())
    }

    /// Finds the active run of a session.
    pub fn active_run(&self, key: &SessionKey) -> Result<Option<IndexedRun>> {
        let condition = "host = ?1 AND session = ?2 AND active = 1";
        let mut found = self.runs_where(condition, &json!([key.host, key.session]))?;
        Ok(found.pop())
    }

    /// Returns a text that changes when a run, a request or an answer does. It is found without reading all runs.
    pub fn pulse(&self) -> Result<String> {
        // The clocks of several machines differ, so that the newest change need not be the last one.
        let pulse = "SELECT
                (SELECT max(updated) FROM sessions WHERE task_id IS NOT NULL) AS newest,
                (SELECT CAST(sum(updated + version) AS bigint) FROM sessions WHERE active = 1) AS active,
                (SELECT CAST(sum(changed) AS bigint) FROM requests) AS requests,
                (SELECT CAST(sum(length(answer)) AS bigint) FROM answers) AS answers,
                (SELECT max(answer) FROM answers) AS last, (SELECT min(answer) FROM answers) AS first";
        let found = self.with(Access::Read, |rows| rows.query_one(pulse, &json!([])))?;
        Ok(found.map_or_else(String::new, |row| Value::Object(row).to_string()))
    }

    fn runs_where(&self, condition: &str, values: &Value) -> Result<Vec<IndexedRun>> {
        let sql = format!(
            "SELECT host, {SESSION} AS session, cwd, updated, since, machine, file, task_id, workflow, phase, task, status, state, waiting,
                 active
             FROM sessions WHERE {condition}"
        );
        self.select(&sql, values)
    }

    /// Returns true for a run that went on last on this machine.
    pub fn is_here(&self, run: &IndexedRun) -> bool {
        let is_it = |machine| run.machine == machine;
        run.machine.is_empty() || self.database.machine().is_ok_and(is_it)
    }

    /// Notes the run of a host that keeps its sessions itself. Its version stays 0, because nothing of the session is here.
    pub fn note_run(&self, note: &RunNote) -> Result<()> {
        let machine = self.database.machine()?;
        let cwd = note.cwd.to_string_lossy();
        self.with(Access::Create, |rows| {
            let RunNote { host, run, memory, file, counts, now, .. } = note;
            if let Some(run) = run {
                let noted = rows.query_one(
                    "INSERT INTO sessions (host, session, version, memory, cwd, updated, file, machine) VALUES (?1, ?2, 0, ?7, ?3, ?4, ?5, ?6)
                     ON CONFLICT (host, session) DO UPDATE SET memory = ?7, cwd = ?3, updated = ?4, file = ?5, machine = ?6 RETURNING id",
                    &json!([host, run.task_id, cwd, now, file, machine, memory]),
                )?;
                set_run(rows, id(noted).unwrap_or_default(), Some(run), *now)?;
            }
            counts.write(rows, host, *now)
        })
    }
}

/// Sets the run of a session; one without a phase keeps the last one. Without a run, that of before is over. Another run leaves
/// it in a row of its own, unless it is there.
fn set_run(rows: &mut dyn Rows, session: i64, run: Option<&Run>, now: u64) -> Result<()> {
    let Some(run) = run else {
        let over = "UPDATE sessions SET active = 0, state = 'ended', waiting = '', since = ?2 WHERE id = ?1 AND active = 1";
        return rows.execute(over, &json!([session, now])).map(drop);
    };
    rows.execute(
        "INSERT INTO sessions (host, session, version, memory, cwd, updated, task_id, workflow, phase, task, status, state, since, machine)
         SELECT host, session || '/' || task_id, 0, '', cwd, CASE WHEN active = 1 THEN ?3 ELSE since END, task_id, workflow, phase,
             task, status, CASE WHEN active = 1 THEN 'ended' ELSE state END, CASE WHEN active = 1 THEN ?3 ELSE since END, machine
         FROM sessions WHERE id = ?1 AND task_id <> ?2
         ON CONFLICT (host, session) DO NOTHING",
        &json!([session, run.task_id, now]),
    )?;
    rows.execute(
        "UPDATE sessions SET
             since = CASE WHEN task_id = ?2 AND phase = ?4 AND state = ?7 AND waiting = ?8 THEN since ELSE ?10 END,
             task_id = ?2, workflow = ?3,
             phase = CASE WHEN ?4 = '' AND task_id = ?2 THEN phase ELSE ?4 END,
             task = ?5, status = ?6, state = ?7, waiting = ?8, active = ?9
         WHERE id = ?1",
        &json!([
            session,
            run.task_id,
            run.workflow,
            run.phase,
            run.task,
            run.status,
            run.state,
            run.waiting,
            i64::from(run.is_active),
            now,
        ]),
    )
    .map(drop)
}

/// Requests for approval, with the answers to them.
impl Store {
    /// Lists the requests that were changed since, in the order of the runs' ids.
    pub fn requests(&self, since: u64) -> Result<Vec<StoredRequest>> {
        self.requests_where("r.changed >= ?1", &json!([since]))
    }

    /// Finds the request of a run.
    pub fn request(&self, task_id: &str) -> Result<Option<StoredRequest>> {
        let mut found = self.requests_where("r.task_id = ?1", &json!([task_id]))?;
        Ok(found.pop())
    }

    fn requests_where(&self, condition: &str, values: &Value) -> Result<Vec<StoredRequest>> {
        let sql = format!(
            "SELECT r.request, a.answer
             FROM requests r LEFT JOIN answers a ON a.task_id = r.task_id AND a.id = r.id
             WHERE {condition} ORDER BY r.task_id"
        );
        self.select(&sql, values)
    }

    /// Stores a request of this id in place of the run's last one. An answer to the same id stays.
    pub fn put_request(&self, task_id: &str, id: &str, request: &str, now: u64) -> Result<()> {
        // An answer to another request of the run stays beside this one, and belongs to none.
        let put = "INSERT INTO requests (task_id, id, request, changed) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (task_id) DO UPDATE SET id = ?2, request = ?3, changed = ?4";
        let values = json!([task_id, id, request, now]);
        self.execute(Access::Create, put, &values).map(drop)
    }

    /// Stores an answer to the request of a run; false if that is no longer the one of this id.
    pub fn put_answer(&self, task_id: &str, id: &str, answer: &str) -> Result<bool> {
        let put = "INSERT INTO answers (task_id, id, answer)
             SELECT task_id, id, ?3 FROM requests WHERE task_id = ?1 AND id = ?2
             ON CONFLICT (task_id, id) DO UPDATE SET answer = ?3";
        let values = json!([task_id, id, answer]);
        Ok(self.execute(Access::Create, put, &values)? == 1)
    }

    /// Removes the request of a run, and the answers to it.
    pub fn clear_request(&self, task_id: &str) -> Result<()> {
        if self.request(task_id)?.is_none() {
            return Ok(());
        }
        let clear = "DELETE FROM requests WHERE task_id = ?1";
        let cleared = self.execute(Access::Change, clear, &json!([task_id]));
        cleared.map(drop)
    }

    /// Lists what approvers ordered. Only a database with logins has that.
    pub fn orders(&self) -> Result<Vec<StoredOrder>> {
        let orders = "SELECT session, task_id, text FROM orders";
        self.select(orders, &json!([]))
    }

    /// Stores what an approver orders for a run, in place of the last order; false if the run is over. It also is if several
    /// sessions say that they have the run, of which one may be another login's.
    pub fn put_order(&self, task_id: &str, text: &str) -> Result<bool> {
        let put = "INSERT INTO orders (session, task_id, text)
             SELECT min(id), ?1, ?2 FROM sessions WHERE task_id = ?1 AND active = 1 HAVING count(*) = 1
             ON CONFLICT (session) DO UPDATE SET task_id = ?1, text = ?2";
        let put = self.execute(Access::Change, put, &json!([task_id, text]));
        put.map(|sessions| sessions == 1)
    }

    /// Takes an order, once; false if it is not there any more, or the session did not go on last on this machine, by this login.
    pub fn take_order(&self, order: &StoredOrder) -> Result<bool> {
        let take = "DELETE FROM orders WHERE session = ?1 AND task_id = ?2 AND text = ?3
             AND session IN (SELECT id FROM sessions WHERE machine = ?4 AND active = 1)";
        let StoredOrder {
            session,
            task_id,
            text,
        } = order;
        let values = json!([session, task_id, text, self.database.machine()?]);
        Ok(self.execute(Access::Change, take, &values)? == 1)
    }

    /// Says what this process may do about answers.
    pub fn answer_right(&self) -> Result<AnswerRight> {
        self.database.answer_right()
    }
}

/// The trust of the user in commands of projects.
impl Store {
    /// Lists the hashes of the commands that are trusted in a project, oldest first.
    pub fn trusted(&self, project: &str) -> Result<Vec<String>> {
        let trusted = "SELECT commands FROM trust WHERE project = ?1 ORDER BY id";
        let sets: Vec<BTreeMap<String, String>> = self.select(trusted, &json!([project]))?;
        Ok(sets.into_iter().flat_map(BTreeMap::into_values).collect())
    }

    /// Stores that commands are trusted, and keeps so many sets of the project's commands.
    pub fn trust(&self, project: &str, commands: &str, now: u64, keep: u32) -> Result<()> {
        self.with(Access::Create, |rows| {
            // A new row, so that it is the newest one.
            let known = "DELETE FROM trust WHERE project = ?1 AND commands = ?2";
            rows.execute(known, &json!([project, commands]))?;
            let insert = "INSERT INTO trust (project, commands, at) VALUES (?1, ?2, ?3)
                ON CONFLICT (project, commands) DO NOTHING";
            rows.execute(insert, &json!([project, commands, now]))?;
            let old = "DELETE FROM trust WHERE project = ?1
                 AND id NOT IN (SELECT id FROM trust WHERE project = ?1 ORDER BY id DESC LIMIT ?2)";
            rows.execute(old, &json!([project, keep])).map(drop)
        })
    }

    /// Asks approvers to trust commands, and forgets what this login asked before a time. Only a database with logins has that.
    pub fn request_trust(&self, wanted: &TrustRequest, now: u64, before: u64) -> Result<()> {
        let TrustRequest {
            project,
            id,
            commands,
            ..
        } = wanted;
        self.with(Access::Change, |rows| {
            let old = "DELETE FROM trust_requests WHERE owner = session_user AND (changed < ?1 OR project = ?2 AND id = ?3)";
            rows.execute(old, &json!([before, project, id]))?;
            let put = "INSERT INTO trust_requests (project, id, commands, changed) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
            rows.execute(put, &json!([project, id, commands, now])).map(drop)
        })
    }

    /// Lists the commands that approvers were asked to trust in a time, and that are not trusted yet; so many of each login at most.
    pub fn trust_requests(&self, (from, to): (u64, u64), most: u32) -> Result<Vec<TrustRequest>> {
        let requests = "SELECT project, id, commands, owner FROM (
                 SELECT project, id, commands, owner::text AS owner, row_number() OVER (PARTITION BY owner ORDER BY changed DESC) AS number
                 FROM trust_requests r WHERE changed BETWEEN ?1 AND ?2
                 AND NOT EXISTS (SELECT FROM trust t WHERE t.project = r.project AND t.commands = r.id)
             ) newest WHERE number <= ?3 ORDER BY project, id, owner";
        self.select(requests, &json!([from, to, most]))
    }

    /// Removes what an approver has decided about, whoever asked.
    pub fn clear_trust_request(&self, decided: &TrustRequest) -> Result<()> {
        let clear = "DELETE FROM trust_requests WHERE project = ?1 AND id = ?2";
        let values = json!([decided.project, decided.id]);
        self.execute(Access::Change, clear, &values).map(drop)
    }

    /// Removes the trust in everything of a project; returns false if there is none.
    pub fn revoke(&self, project: &str) -> Result<bool> {
        let revoke = "DELETE FROM trust WHERE project = ?1";
        let revoked = self.execute(Access::Create, revoke, &json!([project]));
        revoked.map(|rows| rows > 0)
    }
}
