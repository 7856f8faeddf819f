//! Properties of any line.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;
use workflow_shell::{Effect, analyze};

use super::corpus::{Entry, entries};

static CORPUS: LazyLock<Vec<Entry>> = LazyLock::new(entries);

/// The time for any of these lines, on a slow machine and without optimization.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Analyzes a line in limited time. Returns whether it is not known to be harmless.
fn is_not_harmless(line: &str) -> bool {
    let start = Instant::now();
    let effect = analyze(line).effect();
    assert!(start.elapsed() < MAX_TIME, "{line:?} takes too long");
    !effect.is_harmless()
}

fn any_entry() -> impl Strategy<Value = &'static Entry> {
    any::<Index>().prop_map(|index| index.get(&CORPUS))
}

/// A line of the corpus with text inserted, removed or repeated.
fn mutated_line() -> impl Strategy<Value = String> {
    const INSERTED: &[&str] = &[
        "'", "\"", "`", "$(", ")", "((", "))", "{", "}", "${", "<<A\n", ">", "|", "&&", ";", "\n",
        "\\", "$", "#", "[[", "]]", "=", "(", "\t", "é", "\u{0}", "\u{1b}", "if ", "case ", "for ",
        "sudo ", "eval ", "sh -c ", "xargs ",
    ];
    let change = (
        any::<Index>(),
        0..3_u8,
        prop::sample::select(INSERTED),
        0..12_usize,
    );
    (any_entry(), prop::collection::vec(change, 1..5)).prop_map(|(entry, changes)| {
        let mut line: Vec<char> = entry.line.chars().collect();
        for (index, kind, text, length) in changes {
            let start = index.index(line.len() + 1);
            let end = (start + length).min(line.len());
            let part: Vec<char> = match kind {
                0 => text.chars().collect(),
                1 => line[start..end].repeat(2),
                _ => Vec::new(),
            };
            let removed_to = if kind == 0 { start } else { end };
            line.splice(start..removed_to, part);
        }
        line.into_iter().collect()
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns whether a line keeps its meaning inside another construct.
fn is_self_contained(line: &str) -> bool {
    !line.contains('\n') && !line.contains('#') && !line.trim_end().ends_with(['&', ';', '\\'])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_analyzed_in_time(line in any::<String>()) {
        is_not_harmless(&line);
    }

    #[test]
    fn any_punctuation_is_analyzed_in_time(line in "[-a-c $`'\"(){}\\[\\]<>|&;=#!*?~\\\\\n\t0-9]{0,200}") {
        is_not_harmless(&line);
    }

    #[test]
    fn any_mutated_line_is_analyzed_in_time(line in mutated_line()) {
        is_not_harmless(&line);
    }

    #[test]
    fn a_line_that_is_not_harmless_is_not_inside_other_constructs(entry in any_entry()) {
        let line = &entry.line;
        // A line with a syntax error may close the construct around it.
        if !entry.is_harmless() && is_self_contained(line) && entry.why != "cannot be parsed" {
            for wrapped in [
                format!("true; {line}"), format!("true && {line}"), format!("( {line} )"), format!("{{ {line}; }}"),
                format!("{line} | cat"), format!("if true; then {line}; fi"), format!("while {line}; do :; done"),
                format!("echo $( {line} )"), format!("echo \"$( {line} )\""), format!("f() {{ {line}; }}; f"),
                format!("sh -c {}", quoted(line)), format!("eval {}", quoted(line)), format!("bash <<'E_N_D'\n{line}\nE_N_D"),
                format!("sudo sh -c {}", quoted(line)), format!("cat <<E_N_D\n$( {line} )\nE_N_D"),
            ] {
                prop_assert!(is_not_harmless(&wrapped), "{wrapped:?} counts as harmless");
            }
        }
    }

    #[test]
    fn a_harmless_line_is_harmless_inside_other_constructs(entry in any_entry()) {
        let line = &entry.line;
        // Variables and functions are known only in the line's own shell.
        if entry.is_harmless() && is_self_contained(line) && !line.contains('$') && !line.contains("() {") {
            for wrapped in [
                format!("true; {line}"), format!("( {line} )"), format!("{{ {line}; }}"), format!("{line} | cat"),
                format!("if true; then {line}; fi"), format!("echo \"$( {line} )\""),
            ] {
                prop_assert!(!is_not_harmless(&wrapped), "{wrapped:?} does not count as harmless");
            }
        }
    }

    #[test]
    fn quotes_and_blanks_do_not_change_the_analysis(
        words in prop::collection::vec("[a-z][a-z./-]{0,6}", 1..4),
        program in prop::sample::select(vec!["rm", "ls", "git", "touch", "cat", "npm", "sed", "tee", "grep", "xargs"]),
        styles in prop::collection::vec(0..5_u8, 4), blanks in "[ \t]{1,3}|\\\\\n ",
    ) {
        let words: Vec<&str> = std::iter::once(program).chain(words.iter().map(String::as_str)).collect();
        let styled: Vec<String> = words.iter().zip(&styles).map(|(word, style)| match style {
            0 => (*word).to_owned(),
            1 => quoted(word),
            2 => format!("\"{word}\""),
            3 => word.chars().flat_map(|letter| ['\\', letter]).collect(),
            _ => format!("{}''{}", &word[..1], &word[1..]),
        }).collect();
        let plain = analyze(&words.join(" "));
        prop_assert_eq!(&plain, &analyze(&styled.join(&blanks)));
    }

    #[test]
    fn displayed_texts_have_no_control_characters(line in mutated_line()) {
        match analyze(&line).effect() {
            Effect::Reads | Effect::RunsProjectCode => {}
            Effect::Writes(writes) => prop_assert!(writes.iter().all(|write| !write.operation.contains(char::is_control))),
            Effect::Unknown(unknown) => prop_assert!(!unknown.to_string().contains(char::is_control)),
        }
    }

    #[test]
    fn an_unknown_variable_makes_any_command_unknown(entry in any_entry(), value in "[a-z/]{0,5}") {
        if is_self_contained(&entry.line) && starts_with_command(&entry.line) {
            let line = format!("ZZ_UNKNOWN={value} {}", entry.line);
            prop_assert!(is_not_harmless(&line), "{line:?} counts as harmless");
        }
    }

    #[test]
    fn an_unknown_option_makes_a_command_with_known_options_unknown(
        entry in any_entry(), option in prop::sample::select(vec!["--zz-unknown", "--zz-unknown=x", "-%"]),
    ) {
        let words: Vec<&str> = entry.line.split(' ').collect();
        let is_plain = words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=".contains(&byte)));
        if entry.is_harmless() && is_plain && !reads_with_any_option(words[0]) {
            let line = format!("{} {option} {}", words[0], words[1..].join(" "));
            prop_assert!(is_not_harmless(&line), "{line:?} counts as harmless");
        }
    }
}

/// Returns whether a variable may precede the first command.
fn starts_with_command(line: &str) -> bool {
    let reserved = [
        "if ",
        "while ",
        "until ",
        "for ",
        "case ",
        "function ",
        "select ",
        "coproc ",
        "time ",
        "in ",
        "! ",
        "do ",
    ];
    let first = line.split_whitespace().next().unwrap_or_default();
    // An assignment may have no command behind it.
    line.starts_with(|c: char| c.is_ascii_lowercase())
        && !first.contains('=')
        && !reserved.iter().any(|word| line.starts_with(word))
        && !line.contains("()")
        && !line.split(';').next().unwrap_or_default().contains('=')
}

/// Returns whether a row says that a program reads with any option, or the shell takes options for operands.
fn reads_with_any_option(program: &str) -> bool {
    const BUILTINS: &[&str] = &[
        ":", "[", "break", "caller", "dirs", "echo", "exit", "false", "help", "printf", "pwd",
        "return", "test", "times", "true", "type", "ulimit", "umask", "wait", "xargs",
    ];
    let rows = TABLES.iter().flat_map(|table| table.lines());
    let mut names = rows
        .filter_map(|row| row.strip_suffix(": *"))
        .flat_map(|names| names.split('|'));
    BUILTINS.contains(&program) || names.any(|name| name == program)
}

static TABLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tables");
    let files = std::fs::read_dir(directory).expect("the tables are there");
    let read = |file: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(file.expect("the directory is readable").path())
    };
    files
        .map(|file| read(file).expect("a table is readable"))
        .collect()
});

#[test]
fn deeply_nested_and_repeated_constructs_take_little_stack_and_time() {
    #[rustfmt::skip] // A kind a line.
    const SHAPES: &[&str] = &[
        "(", "((", "{ ", "$(", "$((", "`", "\"$(", "${a:-", "\"${a:-", "<(", "a=(", "a[$(", "$[", "f() { ", "f()", "coproc ",
        "if ", "while ", "case x in a) ", "[[ $(", "! ", "time ", "function a ", "for a in $(",
        "sudo ", "eval ", "xargs ", "watch ", "sh -c ", "ssh h ", "find -exec ", "env A=b ", "a;", "a|", "a&&", "x=1;", "$x ",
        "cd a&&", "cd a&&rm b&&", "<<A\n", ">x ", "a ", "\\\n", "@(a|", "{a,b}", "alias a=", "python -c ",
    ];
    for shape in SHAPES {
        is_not_harmless(&shape.repeat(8000 / shape.len()));
    }
    let value = format!("A='{}'; {}", "a b ".repeat(60), "$A ".repeat(3000));
    is_not_harmless(&value);
}
