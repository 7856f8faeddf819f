-- The store of workflow-sidecar in SQLite, in format 3; from_3.sql makes format 4 of it. Columns have the names that they have in postgres/schema.sql.
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
CREATE INDEX active_sessions ON sessions (machine) WHERE active = 1;

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
    id TEXT NOT NULL,
    request TEXT NOT NULL,
    changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Answers of users. They are removed with their request.
CREATE TABLE answers (
    task_id TEXT NOT NULL REFERENCES requests (task_id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (task_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE trust (
    id INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    commands TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (project, commands)
) STRICT;
