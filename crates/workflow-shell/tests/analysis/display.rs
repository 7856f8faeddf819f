//! Texts that are shown to people.

use workflow_shell::{Effect, analyze};

/// Returns the operation of each write, or the reason why the line is unreadable.
fn displayed(line: &str) -> Vec<String> {
    match analyze(line).effect() {
        Effect::Reads | Effect::RunsProjectCode => Vec::new(),
        Effect::Writes(writes) => writes.into_iter().map(|write| write.operation).collect(),
        Effect::Unknown(unknown) => vec![unknown.to_string()],
    }
}

#[test]
fn displayed_texts_are_short_and_have_no_control_characters() {
    let long = format!("\"{}$X\" y", "z".repeat(5000));
    let lines = [
        "git $'\\e[2J\\a' x",
        "git -c $'\\e]0;pager=x' log",
        "npm $'\\e[31m'",
        "$'\\e[2J'$X y",
        "echo x \u{7} ( \u{1b}",
        "f \u{1b}[2J ) \u{202e}",
        "sh -c \u{1b}[2J$X",
        "npm run $'\\e[2Jx'",
        long.as_str(),
    ];
    for line in lines {
        let texts = displayed(line);
        assert!(!texts.is_empty(), "{line:?} has no text");
        for text in texts {
            let is_visible = !text.contains(char::is_control) && !text.contains('\u{202e}');
            assert!(
                is_visible && text.chars().count() < 200,
                "{line:?}: {text:?}"
            );
        }
    }
}
