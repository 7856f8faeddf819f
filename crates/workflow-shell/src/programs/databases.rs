//! `psql` and `mysql`: statements that only read.

use super::options::{Place, split};
use super::outcome::{Invocation, Outcome, Result};
use super::sqlite::sql_only_reads;
use crate::command::StandardInput;
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

const POSTGRES: &str = "-AtxXqwWz0neE -F= -R= -P= -v= -h= -p= -U= -d= -c= --host= --port= --username= --dbname= --command= --no-password --tuples-only --no-align --no-psqlrc --csv --html --expanded --quiet --pset= --field-separator= --set=";
const MYSQL: &str = "-ABNstvrEHXCqw -h= -P= -u= -p?= -D= -e= -S= --host= --user= --password?= --port= --database= --execute= --batch --silent --table --skip-column-names --raw --vertical --html --xml --socket= --protocol= --ssl-mode= --default-character-set= --no-auto-rehash --connect-timeout=";

/// Returns the outcome of such a program; `None` if no statement is in the line.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let (specification, names) = match invocation.name {
        "psql" => (POSTGRES, ["-c", "--command"]),
        "mysql" | "mariadb" => (MYSQL, ["-e", "--execute"]),
        _ => return None,
    };
    // A parameter of a connection names a file that the client writes.
    let is_key_log = |word: &&Word| word.shape().to_lowercase().contains("sslkeylogfile");
    if let Some(word) = invocation.arguments.iter().find(is_key_log) {
        return Some(Err(Unknown::new(word.shape(), UnknownReason::Argument)));
    }
    let known = match split(invocation.arguments, specification, Place::Anywhere) {
        Ok(known) => known,
        // Other options may be in the table.
        Err(unknown) if unknown.reason == UnknownReason::Option => return None,
        Err(unknown) => return Some(Err(unknown)),
    };
    let mut statements = known.values(&names);
    if let (true, StandardInput::Text(input)) = (statements.is_empty(), invocation.input)
        && !input.shape().trim().is_empty()
    {
        let sets_variables = !known.values(&["-v", "--set", "--variable"]).is_empty();
        if invocation.name == "psql" && sets_variables && inserts_variable(input.shape()) {
            return Some(Err(Unknown::new(input.shape(), UnknownReason::Code)));
        }
        statements.push(input);
    }
    if statements.is_empty() || known.operands.len() > 2 {
        return None;
    }
    for word in statements {
        let is_known = word.text().is_some_and(|text| match invocation.name {
            "psql" => only_reads_lines(text),
            _ => only_reads(
                text.trim_end()
                    .strip_suffix("\\G")
                    .unwrap_or(text.trim_end()),
            ),
        });
        if !is_known {
            return Some(Err(Unknown::new(word.shape(), UnknownReason::Code)));
        }
    }
    Some(Ok(Outcome::reads()))
}

/// Returns whether `psql` may replace parts of its input by the values of variables: `:name`, `:'name'`, but not `a::text`.
fn inserts_variable(text: &str) -> bool {
    let without_casts = text.replace("::", "  ");
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '"' | '{');
    without_casts
        .split(':')
        .skip(1)
        .any(|part| part.starts_with(is_name))
}

/// Returns whether lines for `psql` certainly only read: statements, and commands that describe something.
fn only_reads_lines(text: &str) -> bool {
    let mut statements = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with('\\') {
            if !describes(line) {
                return false;
            }
        } else {
            statements.push_str(line);
            statements.push(' ');
        }
    }
    statements.trim().is_empty() || only_reads(statements.trim())
}

/// Returns whether statements certainly only read. Texts that the dialects of SQL split differently are not known: comments,
/// escapes, quotes other than `'` and `"`, lines.
fn only_reads(text: &str) -> bool {
    let ambiguous = ['\\', '[', '`', '#', '$', '\n', '\r', '\0'];
    if text.contains(ambiguous) || text.contains("--") || text.contains("/*") {
        return false;
    }
    if text.contains(['\'', '"']) {
        return statement_only_reads(text);
    }
    text.split(';')
        .filter(|statement| !statement.trim().is_empty())
        .all(statement_only_reads)
}

fn statement_only_reads(text: &str) -> bool {
    let statement = text.trim().trim_end_matches(';').trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || " _.%'=*".contains(c);
    let first = statement.split(' ').next().unwrap_or_default();
    let first = first.to_ascii_lowercase();
    if matches!(first.as_str(), "show" | "describe" | "desc") {
        return statement.chars().all(plain);
    }
    matches!(first.as_str(), "select" | "with" | "explain") && sql_only_reads(statement)
}

/// Returns whether a command of `psql` describes something: `\d users`.
fn describes(text: &str) -> bool {
    if matches!(text.trim(), "\\l" | "\\l+" | "\\z" | "\\conninfo") {
        return true;
    }
    let Some(command) = text.trim().strip_prefix("\\d") else {
        return false;
    };
    let (kind, name) = command.split_once(' ').unwrap_or((command, ""));
    kind.chars()
        .all(|c| c == '+' || "tnuivfxmsSTpbgyDELPR".contains(c))
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.*".contains(c))
}

#[cfg(test)]
mod tests {
    use super::{describes, only_reads, only_reads_lines};

    #[test]
    fn statements_that_only_read_are_known() {
        for text in [
            "select 1",
            "SELECT count(*) FROM users WHERE name = 'x';",
            "select id, name from users order by id desc limit 5",
            "show tables",
            "SHOW CREATE TABLE users",
            "show variables like 'max%'",
            "describe users",
            "explain select * from t",
        ] {
            assert!(only_reads(text), "{text:?}");
        }
        assert!(only_reads("show processlist; show tables from app"));
        assert!(only_reads_lines(
            "\\d users\nselect a,\n  b\nfrom t;\nselect 2;\n"
        ));
        assert!(describes("\\d users"));
        assert!(describes("\\dt+ public.*"));
        assert!(describes("\\l"));
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
            "explain analyze delete from t",
            "select * into x from t",
            "show tables; drop table t",
            "copy t to program 'sh'",
            "select 1\nsystem sh",
            "\\! sh",
            "select $$ $$",
            "pragma journal_mode",
        ] {
            assert!(!only_reads(text), "{text:?}");
        }
        for lines in [
            "select 1;\n\\! sh",
            "select 1 \\g x",
            "\\o x\nselect 1",
            "select 1;\ndrop table t",
        ] {
            assert!(!only_reads_lines(lines), "{lines:?}");
        }
        assert!(!describes("\\d x \\! sh"));
        assert!(!describes("\\d x | sh"));
        assert!(!describes("\\do x"));
    }
}
