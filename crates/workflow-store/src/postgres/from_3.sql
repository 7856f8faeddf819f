-- From format 3 to 4: the times of entries, figures, orders and requests for trust. Run it once, as the owner of the database, if the store has format 3:
--   workflow-sidecar runs --schema 3 | psql postgres://owner@server/database
BEGIN;

SET LOCAL search_path TO workflow_sidecar;
DO $$ BEGIN
    IF (SELECT max(version) FROM format) <> 3 THEN
        RAISE EXCEPTION 'the store has format %, not 3', (SELECT max(version) FROM format);
    END IF;
END $$;
UPDATE format SET version = 4;

ALTER TABLE entries ADD COLUMN at bigint NOT NULL DEFAULT 0;

-- What happened, added up by day. A login adds to its own.
CREATE TABLE figures (
    day bigint NOT NULL CHECK (day BETWEEN 0 AND 100000),
    host text NOT NULL,
    workflow text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    number bigint NOT NULL CHECK (number >= 0),
    total bigint NOT NULL CHECK (total >= 0),
    owner name NOT NULL DEFAULT session_user,
    PRIMARY KEY (day, host, workflow, kind, name, owner)
);
ALTER TABLE figures ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON figures FOR SELECT USING (true);
CREATE POLICY own ON figures USING (owner = session_user);
GRANT SELECT ON figures TO workflow_agent, workflow_approver;
GRANT INSERT, DELETE ON figures TO workflow_agent;
GRANT UPDATE (number, total) ON figures TO workflow_agent;

-- What approvers order for the run of a session. The login of the session takes it.
CREATE TABLE orders (
    session bigint PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    task_id text NOT NULL,
    text text NOT NULL
);
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON orders FOR SELECT USING (true);
CREATE POLICY own ON orders FOR DELETE USING (EXISTS (SELECT FROM sessions WHERE id = orders.session AND owner = session_user));
CREATE POLICY approver ON orders TO workflow_approver USING (true);
GRANT SELECT ON orders TO workflow_agent, workflow_approver;
GRANT DELETE ON orders TO workflow_agent;
GRANT INSERT, UPDATE, DELETE ON orders TO workflow_approver;

-- Commands of projects, as JSON, that a gate may not run yet. What an approver reads there is what is trusted.
CREATE TABLE trust_requests (
    project text NOT NULL,
    id text NOT NULL,
    commands text NOT NULL CHECK (length(commands) <= 100000),
    changed bigint NOT NULL,
    owner name NOT NULL DEFAULT session_user,
    PRIMARY KEY (project, id, owner)
);
ALTER TABLE trust_requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON trust_requests FOR SELECT USING (true);
CREATE POLICY own ON trust_requests USING (owner = session_user);
CREATE POLICY approver ON trust_requests FOR DELETE TO workflow_approver USING (true);
GRANT SELECT, DELETE ON trust_requests TO workflow_agent, workflow_approver;
GRANT INSERT ON trust_requests TO workflow_agent;

COMMIT;
