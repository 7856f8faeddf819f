//! Programs that search for files and run commands for them: `find`, `fd`, `xargs`.

use super::outcome::{Invocation, NestedCommand, Outcome, Result};
use super::table::{read, row, trees};
use crate::command::StandardInput;
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::word::Word;

/// Returns the outcome of `find`: that of its row, and the commands that it runs.
pub(super) fn find(arguments: &[Word]) -> Option<Result> {
    let (rest, nested) = without_commands(arguments);
    Some(row("find", &rest)?.map(|outcome| outcome.with(nested)))
}

/// Splits the arguments of `find` into those of a row, and the commands that it runs.
fn without_commands(arguments: &[Word]) -> (Vec<Word>, Vec<NestedCommand>) {
    let (mut rest, mut nested) = (Vec::new(), Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let run = match word.shape() {
            "-exec" | "-ok" => NestedCommand::Command,
            "-execdir" | "-okdir" => NestedCommand::OtherDirectory,
            "(" | ")" | "!" | "," => continue,
            _ => {
                rest.push(word.clone());
                continue;
            }
        };
        match executed(&mut words) {
            Some(command) => nested.push(run(command)),
            // The row does not know it.
            None => rest.push(word.clone()),
        }
    }
    let is_option = |word: &&Word| matches!(word.shape(), "-H" | "-L" | "-P");
    let start = rest.iter().take_while(is_option).count();
    let has_dash = |word: &Word| word.shape().starts_with('-');
    if rest.get(start).is_none_or(has_dash) {
        rest.insert(start, Word::literal("."));
    }
    (rest, nested)
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
pub(super) fn fd(arguments: &[Word]) -> Result {
    let runs = |word: &Word| matches!(word.shape(), "-x" | "--exec" | "-X" | "--exec-batch");
    let mut parts = arguments.splitn(2, runs);
    read("fd", parts.next().unwrap_or_default())?;
    let Some(words) = parts.next() else {
        return Ok(Outcome::reads());
    };
    let (words, behind) = match words.iter().position(|word| word.shape() == ";") {
        Some(end) => (&words[..end], &words[end + 1..]),
        None => (words, &[][..]),
    };
    // Behind the command, `fd` takes options again.
    read("fd", behind)?;
    let by = Word::unknown_operand();
    let placed = |word: &Word| {
        let places = ["{}", "{.}", "{/}", "{//}", "{/.}"].into_iter();
        places.fold(word.clone(), |word, place| word.with_unknown(place, &by))
    };
    let mut command: Vec<Word> = words.iter().map(placed).collect();
    let mut pairs = command.iter().zip(words);
    if pairs.all(|(placed, word)| placed.shape == word.shape) {
        command.push(by);
    }
    Ok(Outcome::runs([NestedCommand::Command(command)]))
}

pub(super) fn xargs(invocation: &Invocation<'_>) -> Result {
    let known = read("xargs", invocation.arguments)?;
    let lists_files = matches!(invocation.input, StandardInput::Pipe { lists_files: true })
        && known.values(&["-a", "--arg-file"]).is_empty()
        && !known.has(&["-d", "--delimiter"]);
    let by = Word {
        is_no_option: lists_files,
        ..Word::unknown()
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
pub(super) fn removed_by_find(arguments: &[Word]) -> Vec<FileAccess> {
    let (words, _) = without_commands(arguments);
    let mut locations = trees("find", &words);
    let tests = ["-name", "-iname", "-path", "-wholename"];
    let is_test = |pair: &&[Word]| tests.contains(&pair[0].shape());
    let mut named = words.windows(2).filter(is_test);
    if let (Some([_, name]), None) = (named.next(), named.next()) {
        for location in &mut locations {
            let start = location.path.trim_end_matches('/');
            location.path = format!("{start}/**/{}", find_glob(name.shape()));
            location.is_glob = true;
            location.kind = AccessKind::Write;
        }
    }
    locations
}

/// Returns a glob of `find` as the shell would have it: for `find`, a star at the start also stands for a dot.
pub(super) fn find_glob(glob: &str) -> String {
    match glob.strip_prefix(['*', '?']) {
        Some(rest) => format!("\0{rest}"),
        None => glob.replace("/*", "/\0").replace("/?", "/\0"),
    }
}
