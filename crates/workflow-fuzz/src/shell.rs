//! A shell line; `pattern NUL line` asks for a pattern too.

use workflow_core::guard::shell::{LONGEST_LINE, Line, Writes, matches, matches_exactly, read};

/// The file that added redirections write.
const TARGET: &str = "zz9";

/// Any line is read, the same way each time; what is added to it counts; what is told can be shown.
pub fn play(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, line) = text.split_once('\0').unwrap_or(("* *", &text));
    let seen = read(line);
    assert_eq!(seen, read(line), "a line means one thing");
    assert!(seen.commands.iter().all(|simple| !simple.words.is_empty()));
    can_be_shown(&seen);
    for simple in &seen.commands {
        let exactly = matches_exactly(pattern, simple);
        assert!(!exactly || matches(pattern, simple), "{pattern:?}");
    }
    if line.len() + 64 < LONGEST_LINE {
        what_is_added_counts(line, &seen);
    }
}

fn can_be_shown(line: &Line) {
    match &line.writes {
        Writes::No => {}
        Writes::Yes(writes) => {
            assert!(!writes.is_empty());
            let shown = |how: &str| !how.contains(char::is_control);
            assert!(writes.iter().all(|write| shown(&write.how)));
        }
        Writes::Unreadable(why) => assert!(!why.to_string().contains(char::is_control)),
    }
}

fn what_is_added_counts(line: &str, seen: &Line) {
    let before = read(&format!("> {TARGET}\n{line}"));
    assert!(before.writes.any(), "a redirection before {line:?}");
    let after_true = read(&format!("true\n{line}")).writes.any();
    assert!(!seen.writes.any() || after_true, "{line:?} after another");
    // What follows may be text: of a here-document.
    if line.contains("<<") {
        return;
    }
    let after = read(&format!("{line}\n> {TARGET}"));
    assert!(after.writes.any(), "a redirection after {line:?}");
    if let (Writes::No, Writes::Yes(writes)) = (&seen.writes, &after.writes) {
        let leads_there = |path: &Option<String>| {
            let path = path.as_ref();
            path.is_none_or(|path| path.ends_with(TARGET))
        };
        assert!(
            writes.iter().any(|write| leads_there(&write.path)),
            "{line:?} leads to {writes:?}"
        );
    }
}
