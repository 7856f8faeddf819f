use super::{describes, only_ask, shows};

#[test]
fn statements_that_only_ask_are_known() {
    for text in [
        "select 1",
        "SELECT count(*) FROM users WHERE name = 'x';",
        "select id, name from users order by id desc limit 5",
        "select * from log where msg like '%insert %'",
        "select id::text, a->>'b' from t",
        "select * from t where id in (select id from u)",
        "show tables",
        "SHOW CREATE TABLE users",
        "show variables like 'max%'",
        "show processlist; show tables from app",
        "describe users",
        "explain select * from t",
        "explain (analyze, buffers) select * from t",
        "explain query plan select a from b",
        "pragma integrity_check",
        "pragma table_info(users)",
    ] {
        assert!(only_ask(text), "{text:?}");
    }
    for command in [".tables", ".schema users", ".headers on"] {
        assert!(shows(command), "{command:?}");
    }
    for command in ["\\d users", "\\dt+ public.*", "\\l"] {
        assert!(describes(command), "{command:?}");
    }
}

#[test]
fn other_statements_are_unknown() {
    for text in [
        "delete from t",
        "select 1; drop table t",
        "select 1--1; drop table t",
        "select 1 /*! into outfile 'x' */",
        "select 'a\\'; drop table t; select '",
        "select 1 #'\n; drop table t; -- '",
        "select pg_terminate_backend(1)",
        "select a[lo_unlink(5)]",
        "select lo_import('x')",
        "select \"writefile\"(1)",
        "select 'a\"' || lo_import('x')",
        "select writefile ('x','y')",
        "explain analyze delete from t",
        "select * into x from t",
        "select * from t for update",
        "show tables; drop table t",
        "show tables (x())",
        "show tables into outfile 'x'",
        "copy t to program 'sh'",
        "select 1\nsystem sh",
        "select 1\n.save x",
        "\\! sh",
        "select $$ $$",
        "select :x",
        "select 'a;b",
        "pragma journal_mode=wal",
        "pragma user_version(3)",
        "with x as (select 1) insert into t select * from x",
        "vacuum into 'x'",
        "attach 'x' as y",
    ] {
        assert!(!only_ask(text), "{text:?}");
    }
    for command in [
        ".save x",
        ".shell touch x",
        ".dump | x",
        ".output x\nselect 1",
        ".read .env",
    ] {
        assert!(!shows(command), "{command:?}");
    }
    for command in ["\\d x \\! sh", "\\d x | sh", "\\do x", "\\dt\n\\! sh"] {
        assert!(!describes(command), "{command:?}");
    }
}
