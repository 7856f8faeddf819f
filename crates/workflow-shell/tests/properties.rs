//! What holds for any line.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;
use workflow_core::guard::shell::{Writes, read};

use super::{Entry, corpus};

static CORPUS: LazyLock<Vec<Entry>> = LazyLock::new(corpus);

/// Longer than any line of these tests may take, on a slow machine and without optimisation.
const LONGEST: Duration = Duration::from_secs(2);

fn read_in_time(line: &str) -> bool {
    let start = Instant::now();
    let writes = read(line).writes.any();
    assert!(start.elapsed() < LONGEST, "{line:?} takes long");
    writes
}

fn any_entry() -> impl Strategy<Value = &'static Entry> {
    any::<Index>().prop_map(|index| index.get(&CORPUS))
}

/// A line of the corpus with something put in, taken out or said twice.
fn changed_line() -> impl Strategy<Value = String> {
    const PUT_IN: &[&str] = &[
        "'", "\"", "`", "$(", ")", "((", "))", "{", "}", "${", "<<A\n", ">", "|", "&&", ";", "\n",
        "\\", "$", "#", "[[", "]]", "=", "(", "\t", "é", "\u{0}", "\u{1b}", "if ", "case ", "for ",
        "sudo ", "eval ", "sh -c ", "xargs ",
    ];
    let change = (
        any::<Index>(),
        0..3_u8,
        prop::sample::select(PUT_IN),
        0..12_usize,
    );
    (any_entry(), prop::collection::vec(change, 1..5)).prop_map(|(entry, changes)| {
        let mut line: Vec<char> = entry.line.chars().collect();
        for (place, kind, text, length) in changes {
            let start = place.index(line.len() + 1);
            let end = (start + length).min(line.len());
            let part: Vec<char> = match kind {
                0 => text.chars().collect(),
                1 => line[start..end].repeat(2),
                _ => Vec::new(),
            };
            let taken = if kind == 0 { start } else { end };
            line.splice(start..taken, part);
        }
        line.into_iter().collect()
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Whether a line is whole: what is put around it cannot change what it means.
fn stands_alone(line: &str) -> bool {
    !line.contains('\n') && !line.contains('#') && !line.trim_end().ends_with(['&', ';', '\\'])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(line in any::<String>()) {
        read_in_time(&line);
    }

    #[test]
    fn any_signs_are_read(line in "[-a-c $`'\"(){}\\[\\]<>|&;=#!*?~\\\\\n\t0-9]{0,200}") {
        read_in_time(&line);
    }

    #[test]
    fn any_changed_line_is_read(line in changed_line()) {
        read_in_time(&line);
    }

    #[test]
    fn what_writes_still_writes_when_it_is_wrapped(entry in any_entry()) {
        let line = &entry.line;
        // What is no shell line may close what is put around it.
        if entry.writes != false && stands_alone(line) && entry.why != "cannot be parsed" {
            for wrapped in [
                format!("true; {line}"), format!("true && {line}"), format!("( {line} )"), format!("{{ {line}; }}"),
                format!("{line} | cat"), format!("if true; then {line}; fi"), format!("while {line}; do :; done"),
                format!("echo $( {line} )"), format!("echo \"$( {line} )\""), format!("f() {{ {line}; }}; f"),
                format!("sh -c {}", quoted(line)), format!("eval {}", quoted(line)), format!("bash <<'E_N_D'\n{line}\nE_N_D"),
                format!("sudo sh -c {}", quoted(line)), format!("cat <<E_N_D\n$( {line} )\nE_N_D"),
            ] {
                prop_assert!(read_in_time(&wrapped), "{wrapped:?} counts as reading");
            }
        }
    }

    #[test]
    fn what_reads_still_reads_when_it_is_wrapped(entry in any_entry()) {
        let line = &entry.line;
        // Variables are known in the line's own shell only.
        if entry.writes == false && stands_alone(line) && !line.contains('$') {
            for wrapped in [
                format!("true; {line}"), format!("( {line} )"), format!("{{ {line}; }}"), format!("{line} | cat"),
                format!("if true; then {line}; fi"), format!("echo \"$( {line} )\""),
            ] {
                prop_assert!(!read_in_time(&wrapped), "{wrapped:?} counts as writing");
            }
        }
    }

    #[test]
    fn quotes_and_blanks_make_no_difference(
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
        let plain = read(&words.join(" "));
        prop_assert_eq!(&plain, &read(&styled.join(&blanks)));
    }

    #[test]
    fn what_is_told_can_be_shown(line in changed_line()) {
        match read(&line).writes {
            Writes::No => {}
            Writes::Yes(writes) => prop_assert!(writes.iter().all(|write| !write.how.contains(char::is_control))),
            Writes::Unreadable(why) => prop_assert!(!why.to_string().contains(char::is_control)),
        }
    }
}

#[test]
fn deep_and_repeated_shapes_take_little_stack_and_time() {
    #[rustfmt::skip] // A kind a line.
    const SHAPES: &[&str] = &[
        "(", "((", "{ ", "$(", "$((", "`", "\"$(", "${a:-", "\"${a:-", "<(", "a=(", "a[$(", "$[", "f() { ", "f()", "coproc ",
        "if ", "while ", "case x in a) ", "[[ $(", "! ", "time ", "function a ", "for a in $(",
        "sudo ", "eval ", "xargs ", "watch ", "sh -c ", "ssh h ", "find -exec ", "env A=b ", "a;", "a|", "a&&", "x=1;", "$x ",
        "cd a&&", "cd a&&rm b&&", "<<A\n", ">x ", "a ", "\\\n", "@(a|", "{a,b}", "alias a=", "python -c ",
    ];
    for shape in SHAPES {
        read_in_time(&shape.repeat(8000 / shape.len()));
    }
    let value = format!("A='{}'; {}", "a b ".repeat(60), "$A ".repeat(3000));
    read_in_time(&value);
}
