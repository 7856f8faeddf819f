//! The evaluation of rows: the way to the row of a command, and its effect.

use super::arguments::{Found, Sets, is_toolchain, missing, take_options, unknown};
use super::row::{Node, Row, RowEffect, RowKind, Tables};
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

/// Programs that take the arguments in `file` for the operand `@file`.
#[rustfmt::skip] // Names in order.
const RESPONSE_FILES: &[&str] = &[
    "ar", "c++", "cc", "clang", "clang++", "clang-format", "clang-tidy", "dotnet", "g++", "gcc", "ghc", "gnm", "gobjdump", "google-java-format", "greadelf", "jar", "javac", "javadoc", "jdeps", "keytool", "ktfmt", "llvm-cov", "llvm-nm",
    "llvm-objdump", "llvm-profdata", "llvm-readelf", "llvm-readobj", "msbuild", "mypy", "nm", "objdump", "py.test", "pytest", "readelf", "ruff", "rustc", "strings", "swift", "tsc", "tsgo", "vue-tsc",
];

/// Returns the effect of a program.
pub(super) fn evaluate(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &[Word],
) -> RowEffect {
    let mut path: Vec<&str> = vec![name];
    let mut node = program;
    let mut words = arguments;
    // The options that are known at this place besides those of the row.
    let mut shared: Vec<&'static Row> = Vec::new();
    loop {
        let prefix = node.prefix.map(|index| &tables.rows[index]);
        let globals = shared.len();
        shared.extend(prefix);
        let mut after_prefix = words;
        let mut prefix_arguments = Found::of(name);
        let parsed = take_options(&mut after_prefix, &shared, &mut prefix_arguments);
        let next = after_prefix.first();
        let subcommand = next
            .and_then(Word::text)
            .and_then(|word| Some((word, subcommand(node, word)?)));
        if let (Some((word, subcommand)), Ok(())) = (subcommand, &parsed) {
            if let Some(effect) = prefix_arguments.writes(&path, &[]) {
                return effect;
            }
            path.push(word);
            node = subcommand;
            words = &after_prefix[1..];
            shared.truncate(globals);
            shared.extend(prefix.filter(|row| row.is_global));
            continue;
        }
        if node.rows.is_empty() {
            return RowEffect::Unknown(match (parsed, next) {
                (Err(unknown), _) => unknown,
                (Ok(()), Some(word)) if word.may_hide_option() => {
                    unknown(word, UnknownReason::Expansion)
                }
                (Ok(()), Some(word)) => unknown(word, UnknownReason::Argument),
                (Ok(()), None) => missing("a subcommand"),
            });
        }
        // `rustc +nightly --version`
        if let [word, after @ ..] = words
            && is_toolchain(word, shared.iter().map(|row| &row.arguments))
        {
            words = after;
        }
        return first_known(tables, &path, node, words, &shared);
    }
}

/// Returns the subcommand of this name, or the family that its name starts with.
fn subcommand(node: &'static Node, word: &str) -> Option<&'static Node> {
    let is_name = || {
        word.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !word.starts_with('-')
    };
    node.subcommands.get(word).or_else(|| {
        node.families
            .iter()
            .find(|(start, _)| word.starts_with(start) && is_name())
            .map(|(_, family)| family)
    })
}

/// Returns the effect by the first row that knows all arguments.
fn first_known(
    tables: &'static Tables,
    path: &[&str],
    node: &'static Node,
    words: &[Word],
    shared: &[&'static Row],
) -> RowEffect {
    let mut unknown: Option<Unknown> = None;
    for index in &node.rows {
        match evaluate_row(&tables.rows[*index], path, words, shared) {
            Ok(effect) => return effect,
            Err(found) => match &unknown {
                Some(first) if first.reason != UnknownReason::Missing => {}
                _ => unknown = Some(found),
            },
        }
    }
    RowEffect::Unknown(unknown.unwrap_or_else(|| missing("a subcommand")))
}

fn evaluate_row(
    row: &'static Row,
    path: &[&str],
    words: &[Word],
    shared: &[&'static Row],
) -> Result<RowEffect, Unknown> {
    if row.kind == RowKind::Writes {
        return Ok(RowEffect::Writes {
            operation: format!("`{}`", path.join(" ")),
            operands: None,
        });
    }
    let effect = match row.kind {
        RowKind::Project => RowEffect::RunsProjectCode,
        _ => RowEffect::Reads,
    };
    if row.arguments.any {
        return Ok(effect);
    }
    let sets = Sets {
        row: &row.arguments,
        shared,
        whole_words: row.whole_words,
    };
    let found = sets.find(words, path[0])?;
    let names_arguments = |word: &&Word| word.shape().starts_with('@');
    if RESPONSE_FILES.contains(&path[0])
        && let Some(word) = found.operands.iter().find(names_arguments)
    {
        return Err(unknown(word, UnknownReason::Argument));
    }
    if let Some(effect) = found.writes(path, &found.operands) {
        return Ok(effect);
    }
    if row.kind == RowKind::WritesOperands {
        return Ok(RowEffect::Writes {
            operation: format!("`{}`", path.join(" ")),
            operands: (!found.operands.is_empty()).then_some(found.operands),
        });
    }
    Ok(effect)
}
