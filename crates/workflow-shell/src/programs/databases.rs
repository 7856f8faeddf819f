//! `sqlite3`, `psql` and `mysql`: statements and commands that only ask, known by their shape.
//!
//! A statement is a `select` of plain characters and listed functions, or starts with `show`, `describe` or a listed `pragma`.

use super::outcome::{Invocation, Outcome, Result, argument, code_words, expansion};
use super::table::{is_listed, read};
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::{Word, is_of_name};

/// Returns the outcome of such a program; `None` if no statement is in the line.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let names = match invocation.name {
        "sqlite3" => return Some(sqlite(invocation)),
        "psql" => ["-c", "--command"],
        "mysql" | "mariadb" => ["-e", "--execute"],
        _ => return None,
    };
    // A parameter of a connection names a file that the client writes.
    let is_key_log = |word: &&Word| word.shape().to_lowercase().contains("sslkeylogfile");
    if let Some(word) = invocation.arguments.iter().find(is_key_log) {
        return Some(Err(argument(word)));
    }
    let known = match read(invocation.name, invocation.arguments) {
        Ok(known) => known,
        // Other options may be in the table.
        Err(unknown) if unknown.reason == UnknownReason::Option => return None,
        Err(unknown) => return Some(Err(unknown)),
    };
    let mut statements = known.values(&names);
    if let (true, StandardInput::Text(input)) = (statements.is_empty(), invocation.input)
        && !input.shape().trim().is_empty()
    {
        statements.push(input);
    }
    if statements.is_empty() || known.operands.len() > 2 {
        return None;
    }
    let is_known = |text: &str| match invocation.name {
        "psql" if text.starts_with('\\') => describes(text),
        "psql" => only_ask(&text.replace('\n', " ")),
        _ => only_ask(text.trim_end()),
    };
    let other = |word: &&&Word| !word.text().is_some_and(is_known);
    Some(match statements.iter().find(other) {
        Some(word) => Err(Unknown::new(word.shape(), UnknownReason::Code)),
        None => Ok(Outcome::reads()),
    })
}

fn sqlite(invocation: &Invocation<'_>) -> Result {
    let given = read("sqlite3", invocation.arguments)?;
    let Some((database, statements)) = given.operands.split_first() else {
        return Err(Unknown::new("sqlite3", UnknownReason::Missing));
    };
    if database.shape().starts_with('|') {
        return Err(argument(database));
    }
    let statements = match (statements, invocation.input) {
        ([], StandardInput::Text(word)) => std::slice::from_ref(word),
        ([], _) => return Err(Unknown::new("sqlite3", UnknownReason::Input)),
        (statements, _) => statements,
    };
    let mut outcome = Outcome::reads();
    for word in statements {
        let shape = word.shape();
        if shape.contains('\0') {
            return Err(expansion(word));
        }
        let text = shape.trim();
        let is_known = if text.starts_with('.') {
            shows(text)
        } else {
            only_ask(text)
        };
        if !is_known {
            outcome.accesses.extend(code_words(shape));
            outcome.effect = Effect::unknown(shape, UnknownReason::Code);
        }
    }
    Ok(outcome)
}

/// Returns whether a command of `sqlite3` shows something: `.schema users`.
fn shows(command: &str) -> bool {
    let name = command.split(' ').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._-%*".contains(c);
    is_listed("sqlite_commands", name) && command.chars().all(is_plain)
}

/// Returns whether a command of `psql` describes something: `\d users`.
fn describes(command: &str) -> bool {
    let command = command.trim();
    if matches!(command, "\\l" | "\\l+" | "\\z" | "\\conninfo") {
        return true;
    }
    let Some(command) = command.strip_prefix("\\d") else {
        return false;
    };
    let (kind, name) = command.split_once(' ').unwrap_or((command, ""));
    kind.chars().all(|c| "+tnuivfxmsSTpbgyDELPR".contains(c))
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.*".contains(c))
}

/// Returns whether all statements of a text only ask.
fn only_ask(text: &str) -> bool {
    let mut statements = text.split(';').map(str::trim);
    statements.all(|statement| statement.is_empty() || only_asks(statement))
}

/// Returns whether a statement only asks. What the dialects of SQL split differently is not known: comments, escapes, both kinds of
/// quotes, lines.
fn only_asks(statement: &str) -> bool {
    let statement = statement.to_ascii_lowercase();
    let quote = if statement.contains('"') { '"' } else { '\'' };
    // The texts in quotes are every second part.
    let parts: Vec<&str> = statement.split(quote).collect();
    let code = parts.iter().step_by(2);
    let code: Vec<&str> = code.copied().collect();
    let code = code.join(" ? ");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _.,*()=<>!+-/%|&~?".contains(c);
    let is_complete = parts.len() % 2 == 1 && !statement.contains('\\');
    let casts = code.replace("::", " ");
    if !is_complete || !casts.chars().all(is_plain) || ["--", "/*"].iter().any(|c| code.contains(c))
    {
        return false;
    }
    let words: Vec<&str> = code.split_inclusive(|c: char| !is_of_name(c)).collect();
    let words = words.iter().flat_map(|word| {
        let name = word.trim_end_matches(|c: char| !is_of_name(c));
        [name, &word[name.len()..]]
    });
    let words: Vec<&str> = words.filter(|word| !word.trim().is_empty()).collect();
    let is_call =
        |pair: &[&str]| pair[1] == "(" && (pair[0] == "?" || pair[0].starts_with(is_of_name));
    let calls_other = |pair: &[&str]| is_call(pair) && !is_listed("sql_calls", pair[0]);
    match words.as_slice() {
        ["pragma", name] => is_listed("pragmas", name),
        ["pragma", name, "(", _, ")"] => is_listed("pragmas_of", name),
        ["show" | "describe" | "desc", rest @ ..] => {
            !rest.iter().any(|word| matches!(*word, "(" | "into"))
        }
        ["explain", "query", "plan", rest @ ..] | rest => {
            let rest = behind_explain(rest);
            rest.first() == Some(&"select")
                && !rest.iter().any(|word| is_listed("sql_writing", word))
                && !rest.windows(2).any(calls_other)
        }
    }
}

/// Returns the words behind `explain (analyze, buffers)`.
fn behind_explain<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    match words {
        ["explain", rest @ ..] => {
            let options = rest
                .iter()
                .take_while(|word| is_listed("explain_options", word));
            &rest[options.count()..]
        }
        all => all,
    }
}

#[cfg(test)]
mod tests;
