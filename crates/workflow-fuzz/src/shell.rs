//! Analysis of shell lines; the input is `line` or `pattern NUL line`.

use workflow_shell::{Analysis, MAX_LINE_BYTES, Writes, analyze, matches, matches_exactly};

/// The target of the redirections that are added.
const TARGET: &str = "zz9";

/// Checks that any line is analyzed deterministically, that added redirections count, and that texts
/// can be displayed.
pub fn play(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, line) = text.split_once('\0').unwrap_or(("* *", &text));
    let analysis = analyze(line);
    assert_eq!(analysis, analyze(line), "the analysis is deterministic");
    assert!(
        analysis
            .commands
            .iter()
            .all(|command| !command.words.is_empty())
    );
    check_display(&analysis);
    for command in &analysis.commands {
        let exactly = matches_exactly(pattern, command);
        assert!(!exactly || matches(pattern, command), "{pattern:?}");
    }
    if line.len() + 64 < MAX_LINE_BYTES {
        check_added_redirections(line, &analysis);
    }
}

fn check_display(analysis: &Analysis) {
    match &analysis.writes {
        Writes::No => {}
        Writes::Yes(writes) => {
            assert!(!writes.is_empty());
            let is_visible = |text: &str| !text.contains(char::is_control);
            assert!(writes.iter().all(|write| is_visible(&write.operation)));
        }
        Writes::Unreadable(reason) => assert!(!reason.to_string().contains(char::is_control)),
    }
}

fn check_added_redirections(line: &str, analysis: &Analysis) {
    let before = analyze(&format!("> {TARGET}\n{line}"));
    assert!(before.writes.any(), "a redirection before {line:?}");
    let after_true = analyze(&format!("true\n{line}")).writes.any();
    assert!(
        !analysis.writes.any() || after_true,
        "{line:?} after another"
    );
    // The text after it may belong to a here-document.
    if line.contains("<<") {
        return;
    }
    let after = analyze(&format!("{line}\n> {TARGET}"));
    assert!(after.writes.any(), "a redirection after {line:?}");
    if let (Writes::No, Writes::Yes(writes)) = (&analysis.writes, &after.writes) {
        let is_target = |path: &Option<String>| {
            let path = path.as_ref();
            path.is_none_or(|path| path.ends_with(TARGET))
        };
        assert!(
            writes.iter().any(|write| is_target(&write.path)),
            "{line:?} leads to {writes:?}"
        );
    }
}
