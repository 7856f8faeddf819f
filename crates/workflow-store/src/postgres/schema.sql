-- The store of workflow-sidecar in PostgreSQL, in format 3; from_3.sql, which follows, makes format 4 of it. Run it once, as the owner of the database:
--   workflow-sidecar runs --schema | psql postgres://owner@server/database
-- Then give each login one of the two roles, and never both:
--   CREATE ROLE laptop LOGIN PASSWORD '...' IN ROLE workflow_agent;
--   CREATE ROLE alice LOGIN PASSWORD '...' IN ROLE workflow_approver;
BEGIN;

CREATE SCHEMA workflow_sidecar;
SET LOCAL search_path TO workflow_sidecar;

CREATE TABLE format (version bigint NOT NULL);
INSERT INTO format VALUES (3);

CREATE TABLE sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text NOT NULL,
    session text NOT NULL,
    version bigint NOT NULL,
    memory text NOT NULL,
    cwd text NOT NULL,
    updated bigint NOT NULL,
    -- Ids that begin alike are a range.
    task_id text COLLATE "C", workflow text, phase text, task text, status text,
    active bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT '',
    waiting text NOT NULL DEFAULT '',
    since bigint NOT NULL DEFAULT 0,
    machine text NOT NULL DEFAULT '',
    file text,
    owner name NOT NULL DEFAULT session_user,
    UNIQUE (host, session)
);
CREATE INDEX sessions_by_update ON sessions (updated) WHERE task_id IS NOT NULL;
CREATE INDEX sessions_by_run ON sessions (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX active_sessions ON sessions (machine) WHERE active = 1;

CREATE TABLE entries (
    session bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    type text NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (session, number)
);

CREATE TABLE tickets (
    id text PRIMARY KEY,
    host text NOT NULL,
    session text NOT NULL,
    cwd text NOT NULL,
    expires bigint NOT NULL,
    owner name NOT NULL DEFAULT session_user
);

CREATE TABLE requests (
    task_id text PRIMARY KEY,
    id text NOT NULL,
    request text NOT NULL,
    changed bigint NOT NULL,
    owner name NOT NULL DEFAULT session_user
);

-- Answers of users. They are removed with their request.
CREATE TABLE answers (
    task_id text NOT NULL REFERENCES requests (task_id) ON DELETE CASCADE,
    id text NOT NULL,
    answer text NOT NULL,
    PRIMARY KEY (task_id, id)
);

CREATE TABLE trust (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project text NOT NULL,
    commands text NOT NULL,
    at bigint NOT NULL,
    UNIQUE (project, commands)
);

-- Everybody reads. A login changes only what it has written itself.
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE tickets ENABLE ROW LEVEL SECURITY;
ALTER TABLE requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON sessions FOR SELECT USING (true);
CREATE POLICY read ON entries FOR SELECT USING (true);
CREATE POLICY read ON tickets FOR SELECT USING (true);
CREATE POLICY read ON requests FOR SELECT USING (true);
CREATE POLICY own ON sessions USING (owner = session_user);
-- An error, and not a session that seems to be changed meanwhile.
CREATE POLICY refuse ON sessions FOR UPDATE USING (true) WITH CHECK (owner = session_user);
CREATE POLICY own ON entries USING (EXISTS (SELECT FROM sessions WHERE id = entries.session AND owner = session_user));
CREATE POLICY own ON tickets USING (owner = session_user);
CREATE POLICY own ON requests USING (owner = session_user);

-- The agent's machine: it requests and reads, and never answers or trusts.
CREATE ROLE workflow_agent NOLOGIN;
GRANT USAGE ON SCHEMA workflow_sidecar TO workflow_agent;
GRANT SELECT ON ALL TABLES IN SCHEMA workflow_sidecar TO workflow_agent;
GRANT INSERT, DELETE ON sessions TO workflow_agent;
GRANT UPDATE (version, memory, cwd, updated, task_id, workflow, phase, task, status, active, state, waiting, since, machine, file)
    ON sessions TO workflow_agent;
GRANT INSERT, UPDATE, DELETE ON entries, tickets, requests TO workflow_agent;

-- A user who answers.
CREATE ROLE workflow_approver NOLOGIN;
GRANT USAGE ON SCHEMA workflow_sidecar TO workflow_approver;
GRANT SELECT ON ALL TABLES IN SCHEMA workflow_sidecar TO workflow_approver;
GRANT INSERT, UPDATE, DELETE ON answers, trust TO workflow_approver;

COMMIT;
