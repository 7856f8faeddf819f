-- From format 3 to 4: the times of entries, and figures. Columns have the names that they have in postgres/from_3.sql.
ALTER TABLE entries ADD COLUMN at INTEGER NOT NULL DEFAULT 0;

-- What happened, added up by day. The owner is of databases with several logins.
CREATE TABLE figures (
    day INTEGER NOT NULL,
    host TEXT NOT NULL,
    workflow TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    total INTEGER NOT NULL,
    owner TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (day, host, workflow, kind, name, owner)
) STRICT, WITHOUT ROWID;
