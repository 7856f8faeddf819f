//! The rule that no definition has to say, however a call is written: quoted, escaped, in capitals, half unreadable.

use proptest::prelude::*;
use serde_json::value::RawValue;
use workflow_core::policy::rules::{Call, CallDecision, PLAIN_PATHS, Rules};

/// A spelling of one character of a line for a shell.
#[derive(Debug, Clone, Copy)]
enum Quoted {
    Plain,
    Capital,
    Single,
    Double,
    Escaped,
    Ansi,
    Hex,
    Octal,
    BehindNothing,
    BehindLineBreak,
}

fn any_quoted() -> impl Strategy<Value = Quoted> {
    use Quoted::*;
    prop_oneof![
        8 => Just(Plain),
        1 => prop::sample::select(vec![
            Capital, Single, Double, Escaped, Ansi, Hex, Octal, BehindNothing, BehindLineBreak,
        ]),
    ]
}

/// The character for a shell that reads names of programs without their case.
fn quoted(c: char, how: Quoted) -> String {
    if c == ' ' || c == '\n' {
        return c.to_string();
    }
    match how {
        Quoted::Plain => c.to_string(),
        Quoted::Capital => c.to_ascii_uppercase().to_string(),
        Quoted::Single => format!("'{c}'"),
        Quoted::Double => format!("\"{c}\""),
        Quoted::Escaped => format!("\\{c}"),
        Quoted::Ansi => format!("$'{c}'"),
        Quoted::Hex => format!("$'\\x{:02x}'", u32::from(c)),
        Quoted::Octal => format!("$'\\{:03o}'", u32::from(c)),
        Quoted::BehindNothing => format!("''{c}\"\""),
        Quoted::BehindLineBreak => format!("\\\n{c}"),
    }
}

fn written(command: &str, how: &[Quoted]) -> String {
    let how = how.iter().copied().cycle();
    command
        .chars()
        .zip(how)
        .map(|(c, how)| quoted(c, how))
        .collect()
}

/// A text as JSON in which some characters are escaped that need not be.
fn json(text: &str, escaped: &[bool]) -> String {
    let escaped = escaped.iter().copied().cycle();
    let inner: String = text
        .chars()
        .zip(escaped)
        .map(|(c, escaped)| match c {
            _ if escaped && c.is_ascii() => format!("\\u{:04X}", u32::from(c)),
            '"' | '\\' => format!("\\{c}"),
            '\n' => "\\n".to_owned(),
            c => c.to_string(),
        })
        .collect();
    format!("\"{inner}\"")
}

/// Arguments around a line.
fn arguments(field: &str, line: &str, more: &str) -> Box<RawValue> {
    let field = serde_json::to_string(field).expect("a text is JSON");
    RawValue::from_string(format!("{{{field}:{line}{more}}}")).expect("the arguments are JSON")
}

/// Returns whether a call is denied without a question.
fn is_denied(tool: &str, input: &RawValue) -> bool {
    match Rules::default().decide(&Call::new(tool, Some(input), &*PLAIN_PATHS)) {
        CallDecision::Block(denial) => {
            let nobody = denial.denied_by.is_empty();
            assert!(nobody, "no person is asked to lift it");
            true
        }
        CallDecision::Allow => false,
        CallDecision::Ask(_) => panic!("no person is asked about it"),
    }
}

const TOOLS: [&str; 4] = ["bash", "Bash", "shell", "mcp__os__run"];
/// Input that serde rejects.
const UNREADABLE: [&str; 2] = [r#","note":"\ud83d""#, r#","limit":1e999"#];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn answering_is_denied_however_it_is_written(
        start in prop::sample::select(vec!["", "cd /tmp && ", "true; ", "x=1 ", "( ", "if true; then ", "sudo -n ", "timeout 5 ", "npx -y ", "ls | ", "! "]),
        program in prop::sample::select(vec!["workflow-sidecar", "./node_modules/.bin/workflow-sidecar", "~/.cargo/bin/workflow-sidecar", "workflow-sidecar.exe"]),
        subcommand in prop::sample::select(vec!["approve", "trust", "approve --choice approve", "trust ."]),
        tool in prop::sample::select(TOOLS.to_vec()),
        field in prop::sample::select(vec!["command", "cmd"]),
        how in prop::collection::vec(any_quoted(), 1..40),
        escaped in prop::collection::vec(prop::bool::weighted(0.2), 1..40),
    ) {
        let end = match start {
            "( " => " )",
            "if true; then " => "; fi",
            _ => "",
        };
        // A tilde that is quoted is no home directory, but the program is the same.
        let line = format!("{start}{} {}{end}", written(program, &how), written(subcommand, &how));
        let input = arguments(field, &json(&line, &escaped), "");
        prop_assert!(is_denied(tool, &input), "{}", input);
    }

    #[test]
    fn answering_in_unreadable_arguments_is_denied(
        how in prop::collection::vec(any_quoted().prop_filter("they are not read as a shell reads them", |how| !matches!(how, Quoted::Hex | Quoted::Octal | Quoted::BehindLineBreak)), 1..40),
        escaped in prop::collection::vec(prop::bool::weighted(0.2), 1..40),
        more in prop::sample::select(UNREADABLE.to_vec()),
    ) {
        let line = written("workflow-sidecar approve", &how);
        let input = arguments("command", &json(&line, &escaped), more);
        prop_assert!(is_denied("bash", &input), "{}", input);
    }

    #[test]
    fn ordinary_lines_are_not_denied_however_they_are_written(
        line in prop::sample::select(vec![
            "workflow-sidecar check", "workflow-sidecar --version", "npx workflow-sidecar simulate approve",
            "cargo test -p workflow-sidecar approve", "git log --grep approve", "gh pr review --approve 12",
            "ls -la workflow-sidecar", "cat crates/workflow-sidecar/src/trust.rs", "npm run approve", "echo trust",
        ]),
        tool in prop::sample::select(TOOLS.to_vec()),
        // An option of another case is another option, behind which a command might stand.
        how in prop::collection::vec(any_quoted().prop_filter("the case stays", |how| !matches!(how, Quoted::Capital)), 1..40),
        escaped in prop::collection::vec(prop::bool::weighted(0.2), 1..40),
    ) {
        let input = arguments("command", &json(&written(line, &how), &escaped), "");
        prop_assert!(!is_denied(tool, &input), "{}", input);
    }

    #[test]
    fn unreadable_arguments_alone_are_no_reason_to_deny(
        line in prop::sample::select(vec!["cargo test", "git commit -m 'approve it'", "grep -P $'\\t' a", "rm -r build"]),
        more in prop::sample::select(UNREADABLE.to_vec()),
    ) {
        let input = arguments("command", &json(line, &[false]), more);
        prop_assert!(!is_denied("bash", &input), "{}", input);
    }

    #[test]
    fn the_paths_of_stored_decisions_are_recognized_in_any_spelling(
        escaped in prop::collection::vec(prop::bool::weighted(0.3), 1..40),
        how in prop::collection::vec(any_quoted().prop_filter("paths keep their case", |how| !matches!(how, Quoted::Capital)), 1..40),
        place in prop::sample::select(vec![".pi/agent/workflow-sidecar/trust.json", ".pi/agent/workflow-sidecar/approvals/wf-1.json"]),
        command in prop::sample::select(vec!["echo x > ", "rm -f ", "ln -sf /tmp/x ", "cp /tmp/x "]),
    ) {
        let path = arguments("path", &json(&format!("~/{place}"), &escaped), r#","content":"{}""#);
        prop_assert!(is_denied("write", &path), "{}", path);
        let line = format!("{command}~/{}", written(place, &how));
        let line = arguments("command", &json(&line, &escaped), "");
        prop_assert!(is_denied("bash", &line), "{}", line);
    }
}

#[test]
fn commands_that_are_lists_or_have_their_arguments_elsewhere_are_read() {
    for (json, denied) in [
        (r#"{"command":["workflow-sidecar","approve"]}"#, true),
        (
            r#"{"command":["bash","-lc","work''flow-sidecar approve"]}"#,
            true,
        ),
        (r#"{"command":"workflow-sidecar","args":["approve"]}"#, true),
        (
            r#"{"commands":["cargo test","npx workflow-sidecar trust"]}"#,
            true,
        ),
        (
            r#"{"command":{"argv":["workflow-sidecar","approve"]}}"#,
            true,
        ),
        (r#"{"command":"ls","cmd":"workflow-sidecar trust"}"#, true),
        (
            r#"{"command":["cargo","test","-p","workflow-sidecar","approve"]}"#,
            false,
        ),
        (r#"{"command":["workflow-sidecar","check"]}"#, false),
    ] {
        let input = RawValue::from_string(json.to_owned()).expect("it is JSON");
        assert_eq!(is_denied("bash", &input), denied, "{json}");
    }
}

#[test]
fn arguments_that_are_not_a_map_are_read() {
    for (json, denied) in [
        (r#""workflow-sidecar approve""#, true),
        (r#"["workflow\u002dsidecar", "approve"]"#, true),
        (r#"["cargo", "test"]"#, false),
        ("null", false),
    ] {
        let input = RawValue::from_string(json.to_owned()).expect("it is JSON");
        assert_eq!(is_denied("bash", &input), denied, "{json}");
    }
}

/// Returns whether a tool's call with these arguments is denied.
fn denies(tool: &str, json: &str) -> bool {
    let input = RawValue::from_string(json.to_owned()).expect("it is JSON");
    is_denied(tool, &input)
}

#[test]
fn a_path_beside_a_line_counts() {
    let tool = "str_replace_based_edit_tool";
    let place = "~/.pi/agent/workflow-sidecar/trust.json";
    for command in ["\"create\"", "[\"create\"]", "{\"do\":\"create\"}"] {
        let json = format!(r#"{{"command":{command},"path":"{place}","file_text":"{{}}"}}"#);
        assert!(denies(tool, &json), "{json}");
    }
    let other = r#"{"command":"create","path":"crates/workflow-sidecar/src/trust.rs"}"#;
    assert!(!denies(tool, other));
}

#[test]
fn the_directory_of_a_line_may_be_that_of_the_stored_decisions() {
    let here = "~/.pi/agent/workflow-sidecar/approvals";
    for (line, field) in [
        ("cp /tmp/x wf-1.word.json", "cwd"),
        ("echo x > wf-1.word.json", "workdir"),
        ("tee a", "working_directory"),
    ] {
        let json = format!(r#"{{"command":"{line}","{field}":"{here}"}}"#);
        assert!(denies("bash", &json), "{json}");
    }
    let above = r#"{"command":"cp /tmp/x approvals/a","cwd":"~/.pi/agent/workflow-sidecar"}"#;
    assert!(denies("bash", above));
    let ours = r#"{"command":"cp /tmp/x approvals/a","cwd":"crates/workflow-sidecar"}"#;
    assert!(!denies("bash", ours));
}

#[test]
fn what_a_tool_has_another_one_do_counts() {
    let place = "~/.pi/agent/workflow-sidecar";
    for json in [
        r#"{"tool":"bash","arguments":{"command":"workflow-sidecar approve"}}"#.to_owned(),
        r#"{"tool":"bash","args":"{\"command\":\"npx workflow\\u002dsidecar trust\"}"}"#.to_owned(),
        r#"{"calls":[{"command":"ls"},{"command":"workflow-sidecar trust"}]}"#.to_owned(),
        r#"{"script":"workflow-sidecar approve"}"#.to_owned(),
        format!(r#"{{"calls":[{{"cmd":"cp /tmp/x trust.json","cwd":"{place}"}}]}}"#),
        format!(r#"{{"params":"{{\"path\":\"{place}/trust.json\"}}"}}"#),
    ] {
        assert!(denies("batch", &json), "{json}");
    }
    let text = r#"{"calls":[{"command":"ls"},{"prompt":"run workflow-sidecar approve"}]}"#;
    assert!(!denies("batch", text));
}
