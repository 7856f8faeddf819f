//! Analysis of shell lines; the input is `line` or `pattern NUL line`.

use workflow_shell::{Analysis, Effect, MAX_LINE_BYTES, analyze, matches, matches_exactly};

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
    let is_visible = |text: &str| !text.contains(char::is_control);
    match analysis.effect() {
        Effect::Reads | Effect::RunsProjectCode => {}
        Effect::Writes(writes) => {
            assert!(!writes.is_empty());
            assert!(writes.iter().all(|write| is_visible(&write.operation)));
        }
        Effect::Unknown(unknown) => assert!(is_visible(&unknown.to_string())),
    }
}

fn check_added_redirections(line: &str, analysis: &Analysis) {
    let is_harmless = |line: &str| analyze(line).effect().is_harmless();
    assert!(
        !is_harmless(&format!("> {TARGET}\n{line}")),
        "a redirection before {line:?}"
    );
    assert!(
        analysis.effect().is_harmless() || !is_harmless(&format!("true\n{line}")),
        "{line:?} after another"
    );
    // The text after it may belong to a here-document.
    if line.contains("<<") {
        return;
    }
    let after = analyze(&format!("{line}\n> {TARGET}")).effect();
    assert!(!after.is_harmless(), "a redirection after {line:?}");
    if let (true, Effect::Writes(writes)) = (analysis.effect().is_harmless(), &after) {
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
