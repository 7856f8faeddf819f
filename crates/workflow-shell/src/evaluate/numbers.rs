//! Numbers that commands print.
//!
//! An arithmetic expression evaluates the text of its variables again, and an index in that text may run commands.
//! So only values that are known to be numbers are harmless in one.

use super::outputs::{text, texts};
use crate::parse::tree::{Command, CommandKind, List};

/// Returns whether a substitution prints numbers only.
pub(super) fn prints_numbers(list: &List) -> bool {
    let [item] = list.as_slice() else {
        return false;
    };
    let Some(CommandKind::Simple(command)) = item.pipeline.last().map(|command| &command.kind)
    else {
        return false;
    };
    let texts: Vec<Option<&str>> = command.words.iter().map(text).collect();
    match texts.as_slice() {
        [Some("nproc" | "seq"), rest @ ..] => rest.iter().all(|word| {
            word.is_none_or(|word| {
                !word.starts_with("-f") && !word.starts_with("--f") && !word.starts_with("-s")
            })
        }),
        [Some("wc"), rest @ ..] => rest
            .iter()
            .all(|word| word.is_some_and(|word| word.starts_with('-'))),
        [Some("date"), others @ .., Some(format)] if others.iter().all(Option::is_some) => {
            format.strip_prefix('+').is_some_and(|format| {
                let parts = format.strip_prefix('%').map(|rest| rest.split('%'));
                parts.is_some_and(|mut parts| {
                    parts.all(|part| {
                        // Digits may follow: `%s000`.
                        matches!(
                            part.trim_end_matches(|c: char| c.is_ascii_digit()),
                            "s" | "d" | "m" | "Y" | "H" | "M" | "S" | "N" | "j" | "s3N" | "3N"
                        )
                    })
                })
            })
        }
        [
            Some("grep"),
            Some("-c" | "-ic" | "-cE" | "-cv" | "-vc" | "-ci"),
            _,
        ] => item.pipeline.len() > 1,
        [
            Some("stat"),
            Some("-c" | "-f"),
            Some("%s" | "%Y" | "%z" | "%m"),
            file,
        ]
        | [Some("stat"), Some("-c%s" | "-c%Y" | "-f%z" | "-f%m"), file] => {
            file.is_some_and(|file| !file.starts_with('-'))
        }
        [
            Some("git"),
            Some("log"),
            Some("-1"),
            Some("--format=%ct" | "--format=%at" | "--pretty=%ct"),
        ]
        | [Some("git"), Some("rev-list"), Some("--count"), ..] => true,
        [
            Some("grep"),
            Some("-c" | "-ic" | "-cE" | "-cv" | "-vc" | "-ci"),
            pattern,
            Some(file),
        ] => !pattern.is_some_and(|word| word.starts_with('-')) && !file.starts_with('-'),
        [Some("cut"), rest @ ..] => cuts_line_numbers(rest, &item.pipeline),
        _ => false,
    }
}

/// Returns whether a substitution prints numbers of lines.
pub(super) fn prints_line_numbers(list: &List) -> bool {
    let command = list.last().and_then(|item| item.pipeline.last());
    command
        .and_then(texts)
        .is_some_and(|words| words.first() == Some(&Some("cut")))
}

/// Returns whether a substitution prints one number.
pub(super) fn prints_one_number(list: &List) -> bool {
    let command = list.last().and_then(|item| item.pipeline.last());
    let prints_several = command
        .and_then(texts)
        .is_none_or(|words| match words.as_slice() {
            [Some("seq"), ..] => true,
            [Some("wc"), rest @ ..] => !matches!(rest, [Some("-l" | "-c" | "-w" | "-m" | "-L")]),
            [Some("git"), rest @ ..] => rest
                .iter()
                .any(|word| word.is_none_or(|word| word.starts_with("--") && word != "--count")),
            [Some("cut"), ..] => list.last().is_none_or(|item| item.pipeline.len() != 3),
            _ => false,
        });
    prints_numbers(list) && !prints_several
}

/// Returns whether `cut` prints the number of one line: `grep -n text file | head -1 | cut -d: -f1`.
fn cuts_line_numbers(arguments: &[Option<&str>], pipeline: &[Command]) -> bool {
    let is_first = matches!(
        arguments,
        [Some("-d:"), Some("-f1")]
            | [Some("-f1"), Some("-d:")]
            | [Some("-d"), Some(":"), Some("-f1" | "-f"), ..]
    ) && !matches!(arguments, [_, _, Some("-f"), field, ..] if *field != Some("1"));
    let stages: Option<Vec<_>> = pipeline.iter().map(texts).collect();
    let Some([search, between @ .., _]) = stages.as_deref() else {
        return false;
    };
    let is_one_line = |words: &[Option<&str>]| {
        matches!(
            words,
            [Some("head" | "tail"), Some("-1" | "-n1")]
                | [Some("head" | "tail"), Some("-n"), Some("1")]
        )
    };
    // More than one file, or a directory, prints names.
    let [Some("grep"), options @ .., pattern, file] = search.as_slice() else {
        return false;
    };
    let is_plain = |word: Option<&str>| !word.is_some_and(|word| word.starts_with('-'));
    let numbers = |word: Option<&str>| {
        word.and_then(|word| word.strip_prefix('-'))
            .is_some_and(|letters| letters.bytes().all(|byte| b"niEFwx".contains(&byte)))
    };
    is_first
        && (between.is_empty() || matches!(between, [stage] if is_one_line(stage)))
        && file.is_some()
        && is_plain(*file)
        && is_plain(*pattern)
        && options.iter().copied().all(numbers)
        && options.iter().flatten().any(|word| word.contains('n'))
}

/// Returns whether the text of a value is harmless in an arithmetic expression.
pub(super) fn is_arithmetic_text(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || b" +-*/%(){}.,".contains(&byte))
}
