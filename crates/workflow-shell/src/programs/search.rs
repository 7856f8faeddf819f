//! Programs that search for files and run commands for them: `find`, `fd`, `xargs`.

use super::outcome::{Invocation, NestedCommand, Outcome, Result, argument, expansion};
use super::table::{is_listed, read};
use crate::command::StandardInput;
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::{AccessKind, Location};
use crate::file_write::FileWrite;
use crate::word::Word;

/// Returns the outcome of such a program.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    Some(match invocation.name {
        "find" => find(invocation.arguments),
        "fd" | "fdfind" => fd(invocation),
        "xargs" => xargs(invocation),
        _ => return None,
    })
}

fn find(arguments: &[Word]) -> Result {
    let mut nested = Vec::new();
    let mut writes = Vec::new();
    let mut starts: Vec<&Word> = Vec::new();
    let mut in_expression = false;
    let mut words = arguments.iter();
    let write = |word: &Word| FileWrite::to_word("`find`".to_owned(), word);
    while let Some(word) = words.next() {
        let shape = word.shape();
        if word.may_hide_option() {
            return Err(expansion(word));
        }
        let is_predicate =
            shape.starts_with('-') && shape.len() > 1 || matches!(shape, "(" | ")" | "!" | ",");
        if !is_predicate {
            if in_expression || shape.starts_with(['(', '!', ')', ',']) {
                return Err(argument(word));
            }
            starts.push(word);
            continue;
        }
        in_expression |=
            !matches!(shape, "-H" | "-L" | "-P") && !shape.starts_with("-O") && shape != "-D";
        let missing = || Unknown::new(shape, UnknownReason::Option);
        match shape {
            "-delete" => {
                let write = |word: &Word| FileWrite::to_word("`find -delete`".to_owned(), word);
                writes.extend(starts.iter().map(|word| write(word)));
                if starts.is_empty() {
                    writes.push(write(&Word::literal(".")));
                }
            }
            "-fprint" | "-fprint0" | "-fls" => {
                writes.push(write(words.next().ok_or_else(missing)?));
            }
            "-fprintf" => {
                writes.push(write(words.next().ok_or_else(missing)?));
                words.next();
            }
            "-exec" | "-ok" | "-execdir" | "-okdir" => {
                let command = executed(&mut words).ok_or_else(missing)?;
                nested.push(if shape.ends_with("dir") {
                    NestedCommand::OtherDirectory(command)
                } else {
                    NestedCommand::Command(command)
                });
            }
            _ => {
                if is_listed("find_values", shape) {
                    let value = words.next().ok_or_else(missing)?;
                    if value.may_add_words || value.is_glob && value.may_hide_option() {
                        return Err(expansion(value));
                    }
                } else if !is_listed("find_tests", shape) {
                    return Err(Unknown::new(shape, UnknownReason::Option));
                }
            }
        }
    }
    Ok(Outcome::written(writes).with(nested))
}

/// Takes the command of `-exec` up to `;`, or to `+` behind `{}`.
fn executed<'a>(words: &mut impl Iterator<Item = &'a Word>) -> Option<Vec<Word>> {
    let by = Word::unknown_operand();
    let mut command: Vec<Word> = Vec::new();
    let mut is_placeholder = false;
    loop {
        let word = words.next()?;
        if word.may_add_words {
            return None;
        }
        if word.shape() == ";" || word.shape() == "+" && is_placeholder {
            return (!command.is_empty()).then_some(command);
        }
        is_placeholder = word.shape() == "{}";
        command.push(word.with_unknown("{}", &by));
    }
}

/// `fd -x command`: everything behind the option is the command.
fn fd(invocation: &Invocation<'_>) -> Result {
    let arguments = invocation.arguments;
    let index = arguments
        .iter()
        .position(|word| matches!(word.shape(), "-x" | "--exec" | "-X" | "--exec-batch"));
    let before = &arguments[..index.unwrap_or(arguments.len())];
    read("fd", None, before)?;
    let Some(index) = index else {
        return Ok(Outcome::reads());
    };
    let by = Word::unknown_operand();
    let words = &arguments[index + 1..];
    let end = words.iter().position(|word| word.shape() == ";");
    // Behind the command, `fd` takes options again.
    let behind = words.get(end.unwrap_or(words.len()) + 1..);
    read("fd", None, behind.unwrap_or_default())?;
    let mut command: Vec<Word> = Vec::new();
    let mut has_placeholder = false;
    for word in &words[..end.unwrap_or(words.len())] {
        let placed = ["{}", "{.}", "{/}", "{//}", "{/.}"]
            .iter()
            .fold(word.clone(), |word, placeholder| {
                word.with_unknown(placeholder, &by)
            });
        has_placeholder |= placed.shape() != word.shape();
        command.push(placed);
    }
    if !has_placeholder {
        command.push(by);
    }
    Ok(Outcome::runs([NestedCommand::Command(command)]))
}

fn xargs(invocation: &Invocation<'_>) -> Result {
    let known = read("xargs", None, invocation.arguments)?;
    let lists_files = matches!(invocation.input, StandardInput::Pipe { lists_files: true })
        && known.values(&["-a", "--arg-file"]).is_empty()
        && !known.has(&["-d", "--delimiter"]);
    let by = if lists_files {
        Word::unknown_operand()
    } else {
        Word::unknown()
    };
    if known.operands.is_empty() {
        // It echoes its input.
        return Ok(Outcome::reads());
    }
    let mut places = known.options().rev();
    let places = places.find(|(name, _)| matches!(*name, "-I" | "-i" | "-J" | "--replace"));
    let mut command = known.operands.clone();
    match places {
        Some((_, placeholder)) => {
            let placeholder = placeholder.map_or("{}", Word::shape);
            if placeholder.is_empty() || placeholder.contains('\0') {
                return Err(Unknown::new("-I", UnknownReason::Expansion));
            }
            for word in &mut command {
                if word.shape().contains(placeholder) {
                    *word = word.with_unknown(placeholder, &by);
                }
            }
        }
        None => command.push(by),
    }
    // Only where it reads the input itself, the command has none.
    let inherits = known.has(&["-a", "--arg-file", "-o", "--open-tty"]);
    Ok(Outcome::runs([if inherits {
        NestedCommand::Command(command)
    } else {
        NestedCommand::WithoutInput(command)
    }]))
}

/// Returns what `find … -delete` removes: its starting points, or the names it searches for.
pub(super) fn removed_by_find(arguments: &[Word]) -> Vec<Location> {
    if !arguments.iter().any(|word| word.shape() == "-delete") {
        return Vec::new();
    }
    let tests = ["-name", "-iname", "-path", "-wholename"];
    let mut named = arguments
        .windows(2)
        .filter(|pair| tests.contains(&pair[0].shape()));
    let name = named
        .next()
        .filter(|_| named.next().is_none())
        .map(|pair| &pair[1]);
    let starts: Vec<&Word> = arguments
        .iter()
        .skip_while(|word| matches!(word.shape(), "-H" | "-L" | "-P"))
        .take_while(|word| !word.shape().starts_with(['-', '(', '!']))
        .collect();
    let here = Word::literal(".");
    let starts = if starts.is_empty() {
        vec![&here]
    } else {
        starts
    };
    let location = |start: &&Word| match name {
        Some(name) => Location {
            shape: format!(
                "{}/**/{}",
                start.location().trim_end_matches('/'),
                find_glob(name.shape())
            ),
            is_glob: true,
            kind: AccessKind::Write,
        },
        None => Location::of(start, AccessKind::RemoveTree),
    };
    starts.iter().map(location).collect()
}

/// Returns a glob of `find` as the shell would have it: for `find`, a star at the start also stands for a dot.
pub(super) fn find_glob(glob: &str) -> String {
    match glob.strip_prefix(['*', '?']) {
        Some(rest) => format!("\0{rest}"),
        None => glob.replace("/*", "/\0").replace("/?", "/\0"),
    }
}
