//! Words of a command that runs without a shell.

use super::{GuardText, mistake};
use crate::definition::syntax::Node;
use crate::diagnostic::{Code, Finding, shown};
use crate::text::join;

/// Operators of a shell.
const OPERATORS: [&str; 9] = ["&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"];

/// Programs to which operators are arguments: they compare, or pass them on to a shell.
const TAKES_OPERATORS: [&str; 10] = [
    "[", "adb", "cmd", "cmd.exe", "expr", "fd", "find", "jq", "ssh", "tmux",
];

/// The finding about a program and its arguments that cannot be meant as they are. `list` is where they are.
pub(crate) fn command_finding(words: &[String], list: &[Node<'_>]) -> Option<Finding> {
    let kinds = [GuardText::Program].into_iter();
    let kinds = kinds.chain(std::iter::repeat(GuardText::Argument));
    let mut words_of_kinds = words.iter().zip(list).zip(kinds);
    words_of_kinds
        .find_map(|((word, node), kind)| kind.finding(word, node.span))
        .or_else(|| operator(words, list))
}

/// The name of a program with the words that belong behind it.
pub(super) fn program(name: &str) -> Option<Finding> {
    let (first, _) = name.trim().split_once(char::is_whitespace)?;
    // A path may contain blanks.
    if first.contains(['/', '\\']) {
        return None;
    }
    let words = join(name.split_whitespace(), ", ");
    let help = format!("write `[{}]`", shown(&words));
    Some(mistake("each word is an entry of its own", help))
}

/// The finding about an operator that no program of the line takes.
fn operator(words: &[String], list: &[Node<'_>]) -> Option<Finding> {
    let takes_operators = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        TAKES_OPERATORS.contains(&name)
    };
    let compares = words.first().is_some_and(|program| program == "test");
    if compares || words.iter().any(takes_operators) {
        return None;
    }
    // `cut -d |`: the value of an option.
    let is_value = |at: usize| at > 0 && words[at - 1].starts_with('-');
    let at = (0..words.len()).find(|&at| OPERATORS.contains(&&*words[at]) && !is_value(at))?;
    let word = &words[at];
    let message = format!("`run` has no shell: `{word}` is an argument like any other");
    let span = list.get(at).and_then(|node| node.span);
    let help = "write a check for each command, or `shell: true` and the line as a text";
    Some(Finding::error(Code::InvalidValue, span, message).help(help))
}
