//! Texts that are shown to people.

use workflow_shell::{AccessKind, Effect, analyze};

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

#[test]
fn what_is_sent_to_a_server_says_so() {
    assert_eq!(displayed("git push -f"), ["`git push` to a remote"]);
    assert_eq!(displayed("npm publish"), ["`npm publish` to a remote"]);
    assert_eq!(displayed("git commit"), ["`git commit`"]);
}

#[test]
fn code_in_a_file_is_not_called_code_in_the_line() {
    assert_eq!(
        displayed("node src/add.js"),
        ["`src/add.js` runs code that is not in the line"]
    );
    assert_eq!(
        displayed("node -e 'f()'"),
        ["code in the line for `-e` is not analyzed"]
    );
}

#[test]
fn the_script_of_an_interpreter_is_run_and_its_arguments_are_named() {
    let kinds = |line: &str| -> Vec<(String, AccessKind)> {
        let accesses = analyze(line).file_accesses.into_iter();
        accesses.map(|access| (access.path, access.kind)).collect()
    };
    let accesses = kinds("python3 tool.py data.json");
    assert!(accesses.contains(&("tool.py".to_owned(), AccessKind::Run)));
    assert!(accesses.contains(&("data.json".to_owned(), AccessKind::Read)));
    for line in [
        "python3 -c 'f()'",
        "node -",
        "node --test a.js",
        "cat tool.py",
    ] {
        let accesses = kinds(line);
        assert!(
            accesses.iter().all(|(_, kind)| *kind != AccessKind::Run),
            "{line}: {accesses:?}"
        );
    }
}
