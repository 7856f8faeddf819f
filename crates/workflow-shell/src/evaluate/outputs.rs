//! Outputs of commands that are known in part: names of files, texts.

use super::known_outputs::{
    FILTERS, FIRST_COLUMN, FIRST_TWO_COLUMNS, NAMES, ONE_NAME, SECOND_COLUMN,
};
use super::output_row::{Row, lists};
use crate::parse::tree::{Command, CommandKind, List, RawWord, WordPart};

/// Returns whether a substitution prints at most one name of a branch, a tag or a commit, which has no blanks.
pub(super) fn prints_name(list: &List) -> bool {
    let [item] = list.as_slice() else {
        return false;
    };
    let [command] = item.pipeline.as_slice() else {
        return false;
    };
    let words: Option<Vec<&str>> = texts(command).and_then(|words| words.into_iter().collect());
    words.is_some_and(|words| lists(ONE_NAME, &words))
}

/// Returns the text of a word without expansions.
pub(super) fn text(word: &RawWord) -> Option<&str> {
    match word.0.as_slice() {
        [WordPart::Text { text, .. }] => Some(text),
        [
            WordPart::Text { text, .. },
            WordPart::Text { text: more, .. },
        ] if text.is_empty() => Some(more),
        _ => None,
    }
}

/// Returns the words of a simple command; `None` where one is not a text.
pub(super) fn texts(command: &Command) -> Option<Vec<Option<&str>>> {
    match &command.kind {
        CommandKind::Simple(command) => Some(command.words.iter().map(text).collect()),
        _ => None,
    }
}

/// Returns the words of a simple command, also of those that are quoted in part: `jsonpath='{.metadata.name}'`.
fn joined_texts(command: &Command) -> Option<Vec<Option<String>>> {
    let CommandKind::Simple(command) = &command.kind else {
        return None;
    };
    let joined = |word: &RawWord| {
        let texts = word.0.iter().map(|part| match part {
            WordPart::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    };
    Some(command.words.iter().map(joined).collect())
}

/// The content of the lines that a pipeline prints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Names of files, commits, packages or containers, or numbers. Names that start with a dash are not expected.
    Names,
    /// Columns, of which these are names; the first is 1.
    Columns(&'static [usize]),
    Unknown,
}

/// Returns whether a pipeline prints names.
pub(super) fn prints_files(pipeline: &[Command]) -> bool {
    printed_lines(pipeline) == Lines::Names
}

/// Returns what the lines that a pipeline prints consist of.
pub(super) fn printed_lines(pipeline: &[Command]) -> Lines {
    let mut commands = pipeline.iter();
    let Some(words) = commands.next().and_then(joined_texts) else {
        return Lines::Unknown;
    };
    let words: Option<Vec<&str>> = words.iter().map(Option::as_deref).collect();
    let mut lines = words.map_or(Lines::Unknown, |words| first_lines(&words));
    for command in commands {
        let Some(words) = texts(command) else {
            return Lines::Unknown;
        };
        if filters_lines(&words) {
            continue;
        }
        lines = match (lines, selected_column(&words)) {
            (Lines::Names, Some(column)) if column.number == 1 || column.of_path => Lines::Names,
            (Lines::Columns(names), Some(column))
                if !column.of_path && names.contains(&column.number) =>
            {
                Lines::Names
            }
            _ => return Lines::Unknown,
        };
    }
    lines
}

/// Returns what the lines that a command prints consist of.
fn first_lines(words: &[&str]) -> Lines {
    const TABLES: &[(&[Row], Lines)] = &[
        (NAMES, Lines::Names),
        (FIRST_TWO_COLUMNS, Lines::Columns(&[1, 2])),
        (FIRST_COLUMN, Lines::Columns(&[1])),
        (SECOND_COLUMN, Lines::Columns(&[2])),
    ];
    let table = TABLES.iter().find(|(rows, _)| lists(rows, words));
    table.map_or(Lines::Unknown, |(_, lines)| *lines)
}

/// A column that a filter selects.
struct Column {
    number: usize,
    /// The parts between slashes are the columns.
    of_path: bool,
}

/// Returns the column that a command prints of each line: `awk '{print $2}'`, `cut -d/ -f2`.
fn selected_column(words: &[Option<&str>]) -> Option<Column> {
    let words: Option<Vec<&str>> = words.iter().copied().collect();
    match words?.as_slice() {
        ["awk", program] => Some(Column {
            number: printed_column(program)?,
            of_path: false,
        }),
        ["awk", "-F/", program] | ["awk", "-F", "/", program] => Some(Column {
            number: printed_column(program)?,
            of_path: true,
        }),
        ["cut", arguments @ ..] => {
            let joined = arguments.join("\u{1}");
            let (mut delimiter, mut field) = (None, None);
            let joined = joined.replace("-d\u{1}", "-d").replace("-f\u{1}", "-f");
            for argument in joined.split('\u{1}') {
                match argument.split_at_checked(2) {
                    Some(("-d", text)) => delimiter = Some(text),
                    Some(("-f", text)) => field = text.parse().ok(),
                    Some(("-c", text)) if text.starts_with(['1', '-']) => field = Some(1),
                    _ => return None,
                }
            }
            Some(Column {
                number: field.filter(|number| *number == 1 || delimiter == Some("/"))?,
                of_path: delimiter == Some("/"),
            })
        }
        _ => None,
    }
}

/// Returns the column that a program of `awk` prints: `NR>1 {print $1}`, `/x/{print $2}`.
fn printed_column(program: &str) -> Option<usize> {
    let (pattern, action) = program.trim().split_once('{')?;
    let pattern = pattern.trim();
    let rows = pattern
        .strip_prefix("NR")
        .map(|rest| rest.trim_start_matches([' ', '>', '!', '=']));
    let is_rows = rows.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let expression = pattern.trim_start_matches('!').strip_prefix('/');
    let is_expression = expression
        .and_then(|rest| rest.strip_suffix('/'))
        .is_some_and(|rest| !rest.contains('/'));
    let is_known = pattern.is_empty() || is_rows && !pattern.contains("NR=1") || is_expression;
    let printed = action
        .trim()
        .strip_suffix('}')?
        .trim()
        .trim_end_matches(';');
    let column = printed
        .trim()
        .strip_prefix("print")?
        .trim()
        .strip_prefix('$')?;
    is_known.then(|| column.parse().ok()).flatten()
}

/// Returns whether a list is expected to have one item: the newest, the first, or those of a name.
pub(super) fn lists_one(list: &List) -> bool {
    let [item] = list.as_slice() else {
        return false;
    };
    let stages: Option<Vec<_>> = item.pipeline.iter().map(texts).collect();
    let Some([first, rest @ ..]) = stages.as_deref() else {
        return false;
    };
    let is_head = |words: &Vec<Option<&str>>| {
        matches!(
            words.as_slice(),
            [Some("head" | "tail"), Some("-1" | "-n1")]
                | [Some("head" | "tail"), Some("-n"), Some("1")]
        )
    };
    let selects = |word: Option<&str>| {
        word.is_some_and(|word| {
            word == "--latest"
                || word.starts_with("--filter")
                || word.starts_with('-') && !word.starts_with("--") && word.contains(['f', 'l'])
        })
    };
    let is_one = |words: &[Option<&str>]| match words {
        [Some("pgrep"), options @ ..] => options
            .iter()
            .flatten()
            .any(|word| matches!(*word, "-n" | "-o" | "-nf" | "-of" | "-nx" | "-ox")),
        [Some("pidof"), Some("-s"), ..] | [Some("date"), ..] => true,
        _ => false,
    };
    rest.iter().any(is_head)
        || is_one(first)
        || matches!(first.as_slice(), [Some("docker" | "podman"), Some("ps"), arguments @ ..] if arguments.iter().copied().any(selects))
        || matches!(first.as_slice(), [Some("docker"), Some("compose"), Some("ps"), arguments @ ..] if arguments.iter().flatten().any(|word| !word.starts_with('-')))
}

/// Returns whether a command prints some of the lines of its input. Words that only the shell knows are taken for values.
fn filters_lines(words: &[Option<&str>]) -> bool {
    let is_known = words.first().is_some_and(Option::is_some);
    let words: Vec<&str> = words.iter().flatten().copied().collect();
    is_known && lists(FILTERS, &words)
}

/// Returns the text that a command prints.
pub(super) fn printed_text(command: &Command) -> Option<String> {
    if command.redirections.is_empty() {
        text_of_output(command)
    } else {
        None
    }
}

/// Returns the text that a command writes to its output, wherever that goes.
pub(super) fn text_of_output(command: &Command) -> Option<String> {
    if let CommandKind::Group(list) | CommandKind::Subshell(list) = &command.kind {
        let texts = list.iter().map(|item| match item.pipeline.as_slice() {
            [command] if !item.background => printed_text(command),
            _ => None,
        });
        return texts.collect();
    }
    match texts(command)?.as_slice() {
        [Some("echo")] => Some("\n".to_owned()),
        [Some("echo"), Some(text)] if !text.starts_with('-') && !text.contains('\\') => {
            Some(format!("{text}\n"))
        }
        [Some("printf"), Some(text)] if !text.starts_with('-') && !text.contains('%') => {
            let text = text.replace("\\r", "\r").replace("\\n", "\n");
            (!text.contains('\\')).then_some(text)
        }
        [] | [Some("sleep" | ":" | "true"), ..] => Some(String::new()),
        _ => None,
    }
}
