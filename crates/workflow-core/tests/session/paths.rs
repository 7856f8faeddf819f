//! Rules on paths, for tools and arguments of any name.

use std::cell::Cell;

use serde_json::{Value, json};
use workflow_core::definition::{Rule, ToolAccess};
use workflow_core::policy::rules::{
    Call, CallDecision, LevelRules, PLAIN_PATHS, PathForm, Paths, RuleSource, Rules,
};

fn rule(said: &Value) -> Rule {
    let mut rule = json!({"source": "f:1", "tools": ["*"]});
    for (key, value) in said.as_object().expect("a rule is a map") {
        rule[key] = value.clone();
    }
    serde_json::from_value(rule).expect("it is a rule")
}

fn is_allowed(
    rules: &[Rule],
    tools: Option<&ToolAccess>,
    tool: &str,
    input: &Value,
    paths: &dyn Paths,
) -> bool {
    let rules = Rules::new([LevelRules {
        name: "a level".into(),
        source: RuleSource::Phase,
        tools,
        rules: rules.into(),
        read_only: None,
        unknown: None,
        on_repeat: None,
    }]);
    let input = serde_json::value::to_raw_value(input).expect("a value is JSON");
    let call = Call::new(tool, Some(&input), paths);
    matches!(rules.decide(&call), CallDecision::Allow)
}

fn is_blocked(said: &Value, tool: &str, input: &Value) -> bool {
    let mut said = said.clone();
    said["action"] = json!("block");
    !is_allowed(&[rule(&said)], None, tool, input, &*PLAIN_PATHS)
}

#[test]
fn a_protected_file_is_recognized_in_any_field_that_contains_a_path() {
    let protects = json!({"path": [".env"]});
    for (tool, input) in [
        ("read", json!({"file_path": ".env"})),
        ("notebookedit", json!({"notebook_path": "a/.env"})),
        (
            "mcp__fs__copy",
            json!({"source": ".env", "destination": "x"}),
        ),
        (
            "mcp__fs__copy",
            json!({"source": "x", "destination": ".env"}),
        ),
        ("mcp__fs__read_many", json!({"paths": ["a", ".env"]})),
        ("mcp__fs__read_many", json!({"files": [{"path": ".env"}]})),
        (
            "multiedit",
            json!({"edits": [{"file_path": ".env", "old": "x"}]}),
        ),
        ("rename", json!({"old_path": "x", "newPath": ".env"})),
        ("x", json!({"options": {"target": ".env"}})),
        ("x", json!({"uri": "file:///project/.env"})),
        (
            "grep",
            json!({"pattern": "KEY", "path": ".", "glob": ".e*"}),
        ),
        ("x", json!({"path": 7})),
        // A line beside a path, a line by another name, a line as a list.
        ("editor", json!({"command": "view", "path": ".env"})),
        ("bash", json!({"command": "ls", "cmd": "cat .env"})),
        ("bash", json!({"command": ["cat", ".env"]})),
        ("shell", json!({"command": ["bash", "-lc", "cat .env"]})),
        ("exec", json!({"command": "cat", "args": [".env"]})),
        ("exec", json!({"commands": ["ls", "cat .env"]})),
        ("bash", json!({"command": {"program": "cat"}})),
        ("bash", json!({"command": "cat .env", "cwd": "config"})),
        // What takes a directory takes all that is in it.
        ("delete_directory", json!({"path": "."})),
        (
            "mcp__fs__move_file",
            json!({"source": "..", "destination": "/tmp/x"}),
        ),
    ] {
        assert!(is_blocked(&protects, tool, &input), "{tool} {input}");
    }
    for (tool, input) in [
        ("read", json!({"path": "README.md"})),
        ("write", json!({"path": "a.md", "content": "cat .env"})),
        (
            "edit",
            json!({"path": "a.md", "edits": [{"oldText": ".env", "newText": "x"}]}),
        ),
        (
            "mcp__mail__send",
            json!({"to": "a@example.com", "body": ".env"}),
        ),
        ("ls", json!({"path": "."})),
        (
            "grep",
            json!({"pattern": ".env", "path": ".", "glob": "*.ts"}),
        ),
        (
            "read",
            json!({"path": "a", "limit": 5, "recursive": true, "offset": null}),
        ),
        ("editor", json!({"command": "view", "path": "a"})),
    ] {
        assert!(!is_blocked(&protects, tool, &input), "{tool} {input}");
    }
}

#[test]
fn a_line_is_seen_from_the_directory_in_which_it_runs() {
    let protects = json!({"path": ["src/**"]});
    let line = |cwd: &str| json!({"command": "cat main.rs", "workdir": cwd});
    assert!(is_blocked(&protects, "bash", &line("src")));
    assert!(!is_blocked(&protects, "bash", &line("lib")));
}

#[test]
fn a_tool_with_a_name_of_writing_writes_the_files_it_names() {
    let writes = json!({"writes": true, "path": ["src/**"]});
    for (tool, blocked) in [
        ("mcp__fs__write_file", true),
        ("delete_file", true),
        ("mcp__fs__read_file", false),
    ] {
        assert_eq!(
            is_blocked(&writes, tool, &json!({"path": "src/a"})),
            blocked,
            "{tool}"
        );
    }
    let issue = json!({"title": "x"});
    assert!(!is_blocked(
        &json!({"writes": true}),
        "mcp__tracker__create_issue",
        &issue
    ));
}

#[test]
fn possible_writes_are_not_allowed_as_reads() {
    let allows = [rule(&json!({"action":"allow", "writes": false}))];
    let nothing = ToolAccess::Whitelist(Vec::new());
    let allowed =
        |tool: &str, input: Value| is_allowed(&allows, Some(&nothing), tool, &input, &*PLAIN_PATHS);
    assert!(allowed("read", json!({"path": "a"})));
    assert!(allowed("bash", json!({"command": "ls"})));
    assert!(!allowed("bash", json!({"command": "rm a"})));
    assert!(!allowed("write", json!({"path": "a"})));
    assert!(!allowed("mcp__x__do_it", json!({"a": "b"})));
}

#[test]
fn all_that_a_call_names_must_be_allowed() {
    let allows = [rule(&json!({"action":"allow", "path": ["docs/**"]}))];
    let nothing = ToolAccess::Whitelist(Vec::new());
    let allowed =
        |tool: &str, input: Value| is_allowed(&allows, Some(&nothing), tool, &input, &*PLAIN_PATHS);
    assert!(allowed("write", json!({"path": "docs/a", "content": "x"})));
    assert!(allowed(
        "move",
        json!({"source": "docs/a", "destination": "docs/b"})
    ));
    assert!(!allowed(
        "move",
        json!({"source": "docs/a", "destination": "b"})
    ));
    assert!(!allowed(
        "edit",
        json!({"path": "docs/a", "edits": [{"path": "src/a"}]})
    ));
    assert!(!allowed(
        "bash",
        json!({"command": "echo x > docs/a", "cwd": ".."})
    ));
    assert!(!allowed(
        "editor",
        json!({"command": "create", "path": "src/a"})
    ));
}

/// Paths that count their calls.
#[derive(Debug, Default)]
struct Counted(Cell<usize>);

impl Paths for Counted {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        self.0.set(self.0.get() + 1);
        PLAIN_PATHS.forms(path)
    }

    fn ignores_case(&self) -> bool {
        false
    }
}

#[test]
fn a_path_is_resolved_once_however_many_rules_there_are() {
    let said = json!({"action":"block", "path": ["never/**"]});
    let rules = vec![rule(&said); 50];
    let files: Vec<String> = (0..100).map(|n| format!("f{n}")).collect();
    let input = json!({"command": format!("cat {}", files.join(" "))});
    let paths = Counted::default();
    assert!(is_allowed(&rules, None, "bash", &input, &paths));
    let asked = paths.0.get();
    // Each file, and for each rule its pattern and the two directories around it.
    assert!(asked <= 100 + 50 * 3, "{asked}");
}

#[test]
fn a_call_that_names_very_many_paths_counts_as_touching_any() {
    let files: Vec<String> = (0..3000).map(|n| format!("f{n}")).collect();
    let line = format!("cat {}", files.join(" "));
    assert!(is_blocked(
        &json!({"path": ["src/**"]}),
        "bash",
        &json!({"command": line})
    ));
    assert!(is_blocked(
        &json!({"path": ["src/**"]}),
        "read",
        &json!({"paths": files})
    ));
}

#[test]
fn a_denial_names_the_part_that_may_be_the_protected_file() {
    let said = |input: &Value| {
        let rule = rule(&json!({"action":"block", "path": [".env"]}));
        let rules = Rules::new([LevelRules {
            name: "a level".into(),
            source: RuleSource::Phase,
            tools: None,
            rules: std::slice::from_ref(&rule).into(),
            read_only: None,
            unknown: None,
            on_repeat: None,
        }]);
        let input = serde_json::value::to_raw_value(input).expect("a value is JSON");
        match rules.decide(&Call::new("bash", Some(&input), &*PLAIN_PATHS)) {
            CallDecision::Block(denial) => denial.seen,
            CallDecision::Allow | CallDecision::Ask(_) => panic!("it is blocked"),
        }
    };
    let line = |line: &str| said(&json!({"command": line}));
    assert_eq!(line("cat .env"), "");
    assert_eq!(line("cat .e*"), "`.e*` may refer to it.");
    assert_eq!(line("mv . ../x"), "It takes `.` with all that is in it.");
    let hidden = line("$X");
    assert!(hidden.contains("only the shell knows"), "{hidden}");
    assert!(line("echo \"").starts_with("The command line cannot be analyzed"));
}
