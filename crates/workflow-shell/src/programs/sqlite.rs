//! `sqlite3`: statements and commands that only read.

use super::options::{argument, expansion};
use super::outcome::{Invocation, Outcome, Result};
use crate::command::StandardInput;
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::{AccessKind, Location};
use crate::word::{Word, quoted_texts};

/// Options; they are whole words with one dash or two.
#[rustfmt::skip] // Names in order.
const OPTIONS: &[&str] = &["ascii", "bail", "batch", "box", "column", "csv", "header", "html", "json", "line", "list", "markdown", "noheader", "quote", "readonly", "safe", "table", "tabs"];
const VALUED: &[&str] = &["separator", "nullvalue", "newline"];

#[rustfmt::skip] // Names in order.
const COMMANDS: &[&str] = &[
    ".databases", ".dbinfo", ".dump", ".eqp", ".exit", ".explain", ".fullschema", ".header", ".headers", ".help", ".indexes", ".indices", ".limit", ".lint", ".mode", ".nullvalue", ".print", ".quit",
    ".schema", ".separator", ".show", ".stats", ".tables", ".timer", ".version", ".width",
];

/// Words that start or are part of a statement that writes.
#[rustfmt::skip] // Names in order.
const WRITING: &[&str] = &[
    "alter", "analyze", "attach", "begin", "commit", "create", "delete", "detach", "drop", "end", "insert", "into", "reindex", "release", "rollback", "savepoint", "set", "update", "vacuum",
];

/// Functions that compute.
#[rustfmt::skip] // Names in order.
const FUNCTIONS: &[&str] = &[
    "abs", "age", "and", "as", "avg", "by", "case", "cast", "changes", "char", "coalesce", "count", "cume_dist", "current_database", "current_setting", "date", "date_trunc", "datetime", "dense_rank", "distinct", "else", "except", "exists", "filter", "first_value", "format", "from",
    "glob", "group_concat", "having", "hex", "ifnull", "iif", "in", "instr", "intersect", "join", "json", "json_array", "json_array_length", "json_each", "json_extract", "json_group_array", "json_group_object",
    "json_object", "json_tree", "json_type", "json_valid", "julianday", "lag", "last_value", "lead", "length", "like", "limit", "lower", "ltrim", "materialized", "max", "min", "not", "now", "ntile", "nullif", "on", "or", "over",
    "partition", "percent_rank", "pg_database_size", "pg_is_in_recovery", "pg_relation_size", "pg_size_pretty", "pg_table_size", "pg_total_relation_size", "pragma_index_info", "pragma_index_list", "pragma_table_info", "printf", "quote", "random", "rank", "recursive", "replace", "round", "row_number", "rtrim", "select", "sqlite_version",
    "array_agg", "strftime", "string_agg", "substr", "substring", "sum", "then", "time", "to_char", "total", "trim", "typeof", "unicode", "union", "unixepoch", "upper", "using", "values", "version", "when", "where", "with", "all", "offset", "order",
    // PostgreSQL and MySQL
    "concat", "concat_ws", "extract", "greatest", "left", "least", "json_agg", "jsonb_agg", "jsonb_array_length", "position", "regexp_replace", "right", "row_to_json", "split_part", "to_timestamp", "date_part", "clock_timestamp", "pg_backend_pid", "pg_get_indexdef", "pg_get_constraintdef", "pg_get_viewdef", "pg_get_functiondef", "obj_description", "col_description", "format_type", "unnest", "char_length", "lpad", "rpad", "percentile_cont", "stddev", "variance", "bool_or", "bool_and", "every", "jsonb_object_keys", "json_object_keys", "jsonb_typeof", "ceil", "floor", "power", "sqrt", "mod", "initcap", "md5", "pg_indexes_size", "pg_blocking_pids", "to_regclass", "has_table_privilege", "datediff", "timestampdiff", "from_unixtime", "unix_timestamp", "date_format", "year", "month", "day", "if", "explain", "interval",
];

#[rustfmt::skip] // Names in order.
const PRAGMAS: &[&str] = &[
    "application_id", "collation_list", "compile_options", "database_list", "encoding", "foreign_key_check", "foreign_key_list", "freelist_count", "index_info", "index_list", "index_xinfo", "integrity_check",
    "journal_mode", "page_count", "page_size", "quick_check", "schema_version", "table_info", "table_list", "table_xinfo", "user_version",
];

/// Returns the outcome of `sqlite3`.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    let mut operands: Vec<&Word> = Vec::new();
    let mut words = invocation.arguments.iter();
    while let Some(word) = words.next() {
        if word.may_hide_option() {
            return Err(expansion(word));
        }
        let shape = word.shape();
        if !shape.starts_with('-') || shape.len() == 1 {
            operands.push(word);
            continue;
        }
        let name = shape.trim_start_matches('-');
        if VALUED.contains(&name) {
            words.next();
        } else if !OPTIONS.contains(&name) {
            return Err(Unknown::new(shape, UnknownReason::Option));
        }
    }
    let Some((database, statements)) = operands.split_first() else {
        return Err(Unknown::new("sqlite3", UnknownReason::Missing));
    };
    if database.shape().starts_with('|') {
        return Err(argument(database));
    }
    let text: Vec<&Word> = match (statements, invocation.input) {
        ([], StandardInput::Text(word)) => vec![word],
        ([], _) => return Err(Unknown::new("sqlite3", UnknownReason::Input)),
        (statements, _) => statements.to_vec(),
    };
    let mut outcome = Outcome::reads();
    for word in text {
        let shape = word.shape();
        if shape.contains('\0') {
            return Err(expansion(word));
        }
        if !only_reads(shape) {
            // The files that it names, for rules on paths.
            let texts = quoted_texts(shape);
            let last = shape
                .split_whitespace()
                .skip(1)
                .filter(|_| shape.starts_with('.'));
            let files = texts
                .chain(last)
                .map(|text| Location::at(text, AccessKind::Read));
            outcome.reads.extend(files);
            outcome.effect = crate::effect::Effect::unknown(shape, UnknownReason::Code);
        }
    }
    Ok(outcome)
}

/// Returns whether statements and commands certainly only read.
fn only_reads(text: &str) -> bool {
    let mut statement = String::new();
    for line in text.lines() {
        let command = line.trim();
        if statement.trim().is_empty() && command.starts_with('.') {
            let name = command.split_whitespace().next().unwrap_or_default();
            if !COMMANDS.contains(&name) || command.contains('|') {
                return false;
            }
            continue;
        }
        // A line that the shell program would take for a command.
        if line.starts_with('.') {
            return false;
        }
        statement.push_str(line);
        statement.push('\n');
    }
    sql_only_reads(&statement)
}

/// Returns whether a statement explains a query: `EXPLAIN (ANALYZE) SELECT …` runs it.
fn explains_query(statement: &[String]) -> bool {
    let mut tokens = statement.iter().map(String::as_str);
    let is_option = |token: &&str| {
        matches!(
            *token,
            "(" | ")"
                | ","
                | "analyze"
                | "verbose"
                | "buffers"
                | "costs"
                | "timing"
                | "summary"
                | "settings"
                | "wal"
                | "format"
                | "json"
                | "text"
                | "on"
                | "off"
                | "true"
                | "false"
        )
    };
    tokens.next() == Some("explain")
        && tokens
            .find(|token| !is_option(token))
            .is_some_and(|first| matches!(first, "select" | "with" | "values"))
}

/// Returns whether SQL certainly only reads.
pub(super) fn sql_only_reads(sql: &str) -> bool {
    let Some(tokens) = tokens(sql) else {
        return false;
    };
    tokens.split(|token| token == ";").all(|statement| {
        let Some(first) = statement.first() else {
            return true;
        };
        if statement.iter().any(|token| {
            let is_part = match token.as_str() {
                "end" => statement.iter().any(|token| token == "case"),
                "analyze" => explains_query(statement),
                _ => false,
            };
            WRITING.contains(&token.as_str()) && !is_part
        }) {
            return false;
        }
        match first.as_str() {
            "pragma" => {
                let name = statement.get(1).map_or("", String::as_str);
                let has_value = statement.iter().any(|token| token == "=");
                let takes_name = !matches!(
                    name,
                    "journal_mode"
                        | "user_version"
                        | "schema_version"
                        | "application_id"
                        | "encoding"
                        | "page_size"
                );
                PRAGMAS.contains(&name) && !has_value && (takes_name || statement.len() == 2)
            }
            "select" | "explain" | "with" | "values" => statement.windows(2).all(|pair| {
                let is_call = pair[1] == "("
                    && pair[0]
                        .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '"');
                !is_call
                    || FUNCTIONS.contains(&pair[0].as_str())
                    || statement.first().is_some_and(|first| first == "with")
                        && is_table(statement, &pair[0])
            }),
            _ => false,
        }
    })
}

/// Returns whether a name is that of a table of `with name(columns) as`.
fn is_table(statement: &[String], name: &str) -> bool {
    let position = statement.iter().position(|token| token == name);
    position.is_some_and(|at| {
        at <= 2 && (statement[at - 1] == "with" || statement[at - 1] == "recursive")
    })
}

/// Splits SQL into words in lower case and symbols; literals are left out. `None` if it is not complete.
fn tokens(sql: &str) -> Option<Vec<String>> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '\'' => {
                rest = &rest[rest.find('\'')? + 1..];
                tokens.push("'".to_owned());
            }
            '"' | '`' | '[' => {
                let close = if next == '[' { ']' } else { next };
                let end = rest.find(close)?;
                tokens.push(format!("\"{}", &rest[..end]));
                rest = &rest[end + 1..];
            }
            '-' if rest.starts_with('-') => rest = rest.find('\n').map_or("", |at| &rest[at..]),
            '/' if rest.starts_with('*') => rest = &rest[rest.find("*/")? + 2..],
            c if c.is_whitespace() => {}
            c if c.is_ascii_alphanumeric() || c == '_' => {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                tokens.push(format!(
                    "{}{}",
                    c.to_ascii_lowercase(),
                    rest[..end].to_ascii_lowercase()
                ));
                rest = &rest[end..];
            }
            c if c.is_ascii_punctuation() => tokens.push(c.to_string()),
            _ => return None,
        }
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn statements_that_only_read_are_known() {
        for text in [
            ".tables",
            ".schema users",
            "select * from log where msg like '%insert %'",
            "select 1;",
            "pragma integrity_check",
            "pragma table_info(users)",
            ".headers on\nselect count(*) from t;",
            "explain query plan select a from b",
            "with x(a) as (select 1) select a from x",
            "select case when a then 1 else 2 end from t",
        ] {
            assert!(only_reads(text), "{text:?}");
        }
    }

    #[test]
    fn other_statements_are_unknown() {
        for text in [
            "select 1; vacuum into 'x'",
            ".tables\n.save x",
            "select 1;\n.log x",
            ".backup x",
            ".shell touch x",
            "insert into t values (1)",
            "select writefile('x','y')",
            "select readfile('.env')",
            ".read .env",
            "pragma journal_mode=wal",
            "pragma user_version(3)",
            "select \"writefile\"('a','b')",
            ".dump | x",
            "with x as (select 1) insert into t select * from x",
            "create table t(a)",
            ".output x\nselect 1;",
            "attach 'x' as y",
            "select load_extension('x')",
            "select 1\n;.save x",
        ] {
            let is_known = only_reads(text);
            assert!(!is_known, "{text:?}");
        }
    }
}
