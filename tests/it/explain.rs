//! `explain` against `serve`: the same texts in every phase of a run.
//!
//! Catalogs are made up, written to a disk, served in memory and walked through; beside it the same files
//! are explained. Tools, block reasons, context, status, reminder and moves must be the same texts.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use workflow_core::definition::{Loaded, MemoryFiles, Tier, load_located};
use workflow_core::event::Entry;
use workflow_core::explain::{Explained, OriginKind, Topic, Value};
use workflow_core::policy::STEP_TOOL;
use workflow_core::policy::rules::{Call, PathForm, Paths};
use workflow_core::run::{RunState, restore};
use workflow_sidecar::server::InMemoryServer;

const TOOLS: [&str; 5] = ["read", "edit", "bash", "my_tool", STEP_TOOL];

/// The files of a project, by their paths in `.pi`.
type Files = Vec<(String, String)>;

/// A host that keeps what it must.
struct Host {
    sidecar: InMemoryServer,
    project: String,
    calls: u64,
    state: Option<String>,
    status: Option<String>,
    reminder: Option<String>,
}

impl Host {
    fn start(project: &Path) -> Self {
        let mut host = Self {
            sidecar: InMemoryServer::default(),
            project: project.display().to_string(),
            calls: 0,
            state: None,
            status: None,
            reminder: None,
        };
        host.call(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "host": { "name": "test", "version": "1" },
                "cwd": project,
                "agentDir": project.join("nowhere"),
                "clock": { "virtual": { "now": 1_767_225_600_000_u64, "seed": 7 } },
            }),
        );
        host.call(
            "hook/session_start",
            &json!({ "context": { "branch": [] } }),
        );
        host.call(
            "command/run",
            &json!({ "name": "workflow", "arguments": "w0 the {task}" }),
        );
        host
    }

    fn call(&mut self, method: &str, params: &Json) -> Json {
        self.calls += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params });
        let lines = self.sidecar.send(request.to_string());
        let answer: Json = serde_json::from_str(lines.last().unwrap()).unwrap();
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        let result = answer["result"].clone();
        for action in result["actions"].as_array().into_iter().flatten() {
            match action["type"].as_str().unwrap() {
                "appendEntry" if action["customType"] == "workflow:state" => {
                    self.state = Some(action["data"].to_string());
                }
                "setStatus" => self.status = action["text"].as_str().map(str::to_owned),
                "sendUserMessage" => self.reminder = action["content"].as_str().map(str::to_owned),
                _ => {}
            }
        }
        result
    }

    fn hook(&mut self, name: &str, event: &Json) -> Json {
        self.call(&format!("hook/{name}"), &json!({ "event": event }))
    }

    /// The state as it is stored.
    fn state(&self) -> RunState {
        let data = serde_json::value::RawValue::from_string(self.state.clone().unwrap()).unwrap();
        let entry = Entry {
            custom_type: "workflow:state",
            data: Some(&data),
        };
        restore(&[entry]).state.unwrap()
    }

    fn step(&mut self, action: &str) -> String {
        self.hook("turn_start", &json!({}));
        let params =
            json!({ "name": STEP_TOOL, "toolCallId": "c", "arguments": { "action": action } });
        let answer = self.call("tool/execute", &params);
        self.hook("turn_end", &json!({}));
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

fn value(explained: &Explained, topic: Topic, key: &str) -> Value {
    explained.row(topic, key).unwrap().value.clone()
}

/// Compares the explanation of a phase with the answers in it.
fn agree(host: &mut Host, loaded: &Loaded) {
    let state = host.state();
    let explained = Explained::of(&state, loaded).unwrap();
    let status = host.status.clone().map(Value::Label);
    assert_eq!(status, Some(value(&explained, Topic::Phase, "status")));
    for tool in TOOLS {
        let event = json!({ "toolName": tool, "toolCallId": "c", "input": {} });
        let answer = host.hook("tool_call", &event);
        let reason = answer["block"]["reason"].as_str().map(str::to_owned);
        assert_denied(reason.as_deref(), explained.blocks(tool).as_deref(), tool);
        let row = explained.row(Topic::Tools, "blockReason");
        // Lists of outer workflows describe what they allow in the same terms.
        let is_alone = explained.rows.iter().all(|row| row.key != "allowedAround");
        let by_list = reason.filter(|reason| is_alone && !reason.contains(" is blocked by "));
        if let (Some(reason), Some(row)) = (by_list, row) {
            // A row about all tools applies to each of them.
            let Value::Text(any) = &row.value else {
                panic!("{row:?}")
            };
            assert_eq!(any.replace("{toolName}", tool), reason);
        }
    }
    calls_agree(host, &explained);
    host.hook("session_compact", &json!({}));
    let answer = host.hook("before_agent_start", &json!({ "prompt": "hello" }));
    let in_full = answer["inject"]["content"].as_str().unwrap().to_owned();
    assert_eq!(
        Value::Text(in_full),
        value(&explained, Topic::Context, "message")
    );
    let again = host.hook("before_agent_start", &json!({ "prompt": "hello" }));
    let row = |section, key| explained.row(section, key).unwrap();
    let expected = if row(Topic::Context, "mode").value == Value::Label("every-turn".to_owned()) {
        &row(Topic::Context, "message").value
    } else {
        &row(Topic::Context, "inBetween").value
    };
    let (Value::Text(expected) | Value::Label(expected)) = expected else {
        panic!("{expected:?}")
    };
    assert_eq!(again["inject"]["content"], *expected);
    origins_agree(&explained, loaded, &state);
}

/// Arguments of tool calls.
const INPUTS: [&str; 7] = [
    "{}",
    r#"{"path":"docs/a.md"}"#,
    r#"{"path":"src/../docs/b.md"}"#,
    r#"{"path":"src/a.rs"}"#,
    r#"{"command":"rm -r src"}"#,
    r#"{"command":"ls && echo done > docs/a.md"}"#,
    r#"{"command":"ls -l"}"#,
];

/// Compares the explained decisions on calls with arguments.
fn calls_agree(host: &mut Host, explained: &Explained) {
    let paths = InProject(host.project.clone());
    for tool in TOOLS {
        for input in INPUTS {
            let given: Json = serde_json::from_str(input).unwrap();
            let event = json!({ "toolName": tool, "toolCallId": "c", "input": given });
            let answer = host.hook("tool_call", &event);
            let input = RawValue::from_string(input.to_owned()).unwrap();
            let expected = explained.denies(&Call::new(tool, Some(&input), &paths));
            let reason = answer["block"]["reason"].as_str();
            assert_denied(reason, expected.as_deref(), &format!("{tool} {input}"));
        }
    }
}

/// Compares the reason of a denial. Sentences about asking a person may follow it.
fn assert_denied(reason: Option<&str>, expected: Option<&str>, call: &str) {
    let (Some(reason), Some(expected)) = (reason, expected) else {
        assert_eq!(reason, expected, "{call}");
        return;
    };
    let more = reason.strip_prefix(expected);
    let more = more.unwrap_or_else(|| panic!("{call}: {reason}\nexpected {expected}"));
    let is_known = [
        "\nIt needs the consent of the user",
        "\nThis same call was refused",
    ]
    .iter()
    .any(|known| more.starts_with(known));
    assert!(more.is_empty() || is_known, "{call}: {more}");
}

/// Paths of a project in which nothing is a link.
#[derive(Debug)]
struct InProject(String);

impl Paths for InProject {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let inside = parts.join("/");
        vec![PathForm {
            absolute: format!("{}/{inside}", self.0),
            in_project: Some(inside),
        }]
    }

    fn ignores_case(&self) -> bool {
        cfg!(any(windows, target_os = "macos"))
    }
}

/// Compares the origins of rows with the files.
fn origins_agree(explained: &Explained, loaded: &Loaded, state: &RunState) {
    let position = workflow_core::run::Position::of(state, &loaded.catalog).unwrap();
    let said = |key| {
        explained
            .row(Topic::Continue, key)
            .unwrap()
            .origin
            .clone()
            .unwrap()
            .kind
    };
    let phase = &position.phase.auto_continue;
    assert_eq!(
        said("countdown") == OriginKind::Phase,
        phase.countdown.is_some()
    );
    assert_eq!(said("max") == OriginKind::Phase, phase.max.is_some());
    let origins = explained.rows.iter().filter_map(|row| row.origin.as_ref());
    for origin in origins {
        assert_eq!(
            matches!(origin.kind, OriginKind::Default | OriginKind::BuiltIn),
            origin.file.is_none(),
            "{origin:?}"
        );
    }
}

/// Stops the agent; gives true where the run goes on.
fn stops(host: &mut Host, loaded: &Loaded) -> bool {
    let explained = Explained::of(&host.state(), loaded).unwrap();
    let rule = |key| value(&explained, Topic::Continue, key);
    host.reminder = None;
    let last = json!({ "role": "assistant", "stopReason": "stop", "content": [{ "type": "text", "text": "Done." }] });
    host.hook("agent_end", &json!({ "messages": [last] }));
    let Value::Count(seconds) = rule("countdown") else {
        panic!("it is a number")
    };
    host.call(
        "clock/advance",
        &json!({ "ms": seconds.saturating_sub(1) * 1000 }),
    );
    if seconds > 0 {
        assert_eq!(host.reminder, None, "it counts down for {seconds} seconds");
    }
    host.call("clock/advance", &json!({ "ms": 1000 }));
    let at_limit = rule("max") == Value::Count(0) || rule("maxStale") == Value::Count(0);
    let waits = rule("wait") == Value::Flag(true);
    let is_expected = !waits && !at_limit;
    assert_eq!(host.reminder.is_some(), is_expected);
    let reminder = host.reminder.as_deref();
    assert!(
        reminder.is_none_or(|text| explained.is_reminder(text)),
        "{reminder:?}"
    );
    let pauses = rule("onLimit") == Value::Label("pause".to_owned());
    let goes_on = waits || !at_limit || pauses;
    host.hook("input", &json!({ "source": "interactive" }));
    assert_eq!(host.state().active, goes_on);
    goes_on
}

/// Goes through a project with a run, and compares in every phase.
fn walk(files: &Files, moves: &[bool]) {
    let project = tempfile::tempdir().unwrap();
    let mut memory = MemoryFiles::new();
    for (path, text) in files {
        let on_disk = project.path().join(".pi").join(path);
        fs::create_dir_all(on_disk.parent().unwrap()).unwrap();
        fs::write(on_disk, text).unwrap();
        memory = match path.strip_prefix("workflows/") {
            Some(path) => memory.with(Tier::Project, path, text.as_str()),
            None => memory.with_settings(Tier::Project, text.as_str()),
        };
    }
    let loaded = load_located(&memory);
    let w0 = loaded.catalog.get("w0");
    assert!(w0.is_some(), "{:?}", loaded.diagnostics);
    let mut host = Host::start(project.path());
    for next in moves {
        agree(&mut host, &loaded);
        if !stops(&mut host, &loaded) {
            return;
        }
        let action = if *next { "next" } else { "loop" };
        let explained = Explained::of(&host.state(), &loaded).unwrap();
        let row = explained.row(Topic::Moves, action).unwrap();
        let Value::Label(way) = &row.value else {
            panic!("{row:?}")
        };
        let answer = host.step(action);
        if !host.state().active {
            assert_eq!(way, "the end of the run");
            assert!(answer.contains("→ DONE"), "{answer}");
            return;
        }
        if let Some(refusal) = way.strip_prefix("refused: ") {
            let then = "You are still in this phase. Continue with it, and call workflow_step with action='next' when it is done.";
            assert_eq!(answer, format!("⚠️ {refusal} {then}"));
            continue;
        }
        let now = Explained::of(&host.state(), &loaded).unwrap();
        let [emoji, name] = ["emoji", "name"].map(|key| value(&now, Topic::Phase, key));
        assert_eq!(*way, format!("{emoji} {name} in {}", now.breadcrumb()));
    }
}

/// A rule for `continue`, as a line of YAML, or none.
fn rule() -> impl Strategy<Value = String> {
    let bound = prop_oneof![Just("0"), Just("1"), Just("8"), Just("unlimited")];
    let some = (bound.clone(), bound, 0..3_u8, any::<bool>()).prop_map(|(max, stale, countdown, pauses)| {
        let limit = if pauses { "pause" } else { "cancel" };
        format!("continue: {{max: {max}, maxStale: {stale}, countdown: {countdown}, onLimit: {limit}}}")
    });
    let countdown = (0..3_u8).prop_map(|countdown| format!("continue: {{countdown: {countdown}}}"));
    prop_oneof![3 => Just(String::new()), 1 => Just("continue: wait".to_owned()), 2 => countdown, 1 => some]
}

fn tools() -> impl Strategy<Value = String> {
    let names = proptest::sample::subsequence(TOOLS.to_vec(), 0..=TOOLS.len());
    let quoted = names.prop_map(|names| {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        quoted.join(", ")
    });
    let list = prop_oneof![
        Just(String::new()),
        quoted
            .clone()
            .prop_map(|names| format!("whitelist: [{names}], ")),
        quoted.prop_map(|names| format!("blacklist: [{names}], ")),
    ];
    let rules = proptest::collection::vec(guard_rule(), 0..3);
    (list, rules).prop_map(|(list, rules)| match (&*list, rules.join(", ")) {
        ("", rules) if rules.is_empty() => String::new(),
        (list, rules) => format!("tools: {{{list}rules: [{rules}]}}"),
    })
}

/// A rule, as YAML and JSON5 both read it.
fn guard_rule() -> impl Strategy<Value = String> {
    let verdict = prop_oneof![Just("allow"), Just("ask"), Just("block")];
    let tools = proptest::sample::subsequence(TOOLS[..4].to_vec(), 1..=2);
    let condition = prop_oneof![
        Just(""),
        Just(", path: [\"docs/**\"]"),
        Just(", path: [\"src/*.rs\", \"*.md\"]"),
        Just(", command: [\"rm *\"]"),
        Just(", writes: true"),
        Just(", writes: false"),
    ];
    (verdict, tools, condition).prop_map(|(verdict, mut tools, condition)| {
        // Without the shell, a condition on commands or writes may never hold, which is an error.
        let is_of_shell = condition.contains("command") || condition.contains("writes");
        if is_of_shell && !tools.contains(&"bash") {
            tools.push("bash");
        }
        let tools: Vec<String> = tools.iter().map(|tool| format!("\"{tool}\"")).collect();
        format!("{{{verdict}: [{}]{condition}}}", tools.join(", "))
    })
}

/// The lines of a workflow that are there or not.
fn texts() -> impl Strategy<Value = String> {
    let lines = vec![
        "roleInstruction: \"You, in {phaseName} of {breadcrumbPath}: {description}\"",
        "advanceReminder: \"After {previousPhaseName} comes {nextPhaseName}, {globalStepCount}\"",
        "blockReasonTemplate: \"{toolName} no, {allowedTools} yes, {phaseName} {workflowName} {unknown}\"",
        "notDoneReminder: \"{phaseInstructions} {taskDescription} {taskId} {phaseEmoji}\"",
        "context: every-turn",
        "loopable: false",
    ];
    let count = lines.len();
    proptest::sample::subsequence(lines, 0..=count).prop_map(|lines| lines.join("\n"))
}

/// The files of a project with a workflow `w0` that can be started.
fn projects() -> impl Strategy<Value = Files> {
    const WORKFLOWS: usize = 3;
    let workflow = |at: usize| {
        let inner = (at + 1..=WORKFLOWS).collect::<Vec<_>>();
        let entry = (
            any::<bool>(),
            proptest::sample::select(inner),
            tools(),
            rule(),
        );
        let own = (tools(), rule());
        (texts(), own, proptest::collection::vec(entry, 1..4))
    };
    let all: Vec<_> = (0..WORKFLOWS).map(workflow).collect();
    (all, rule(), tools(), any::<bool>()).prop_map(|(workflows, settings, tools, every_turn)| {
        let outer = tools;
        let mut files = Vec::new();
        for (at, (texts, (own, rule), entries)) in workflows.into_iter().enumerate() {
            let mut phases = String::new();
            for (number, (nested, inner, tools, rule)) in entries.into_iter().enumerate() {
                if nested && inner < WORKFLOWS {
                    writeln!(phases, "  - subworkflow: w{inner}").unwrap();
                    continue;
                }
                writeln!(phases, "  - p{number}.md").unwrap();
                let body = "Do {phaseId} of {workflowKey} with {toolName}, not {blockedToolsList}.";
                files.push((
                    format!("workflows/w{at}/p{number}.md"),
                    format!("---\nid: p{number}\nname: Phase {at}{number}\nemoji: e\n{tools}\n{rule}\n---\n{body}\n"),
                ));
            }
            let head = format!("name: W {at}\ncommandName: w{at}\ninitialMessage: Go");
            files.push((
                format!("workflows/w{at}/workflow.yaml"),
                format!("{head}\n{texts}\n{rule}\n{own}\nphases:\n{phases}"),
            ));
        }
        let settings = settings.replacen("continue: wait", "continue: 'wait'", 1);
        let settings = settings.replace("unlimited", "'unlimited'").replace("onLimit: pause", "onLimit: 'pause'").replace("cancel", "'cancel'");
        let settings = if settings.is_empty() { settings } else { format!("defaults: {{{settings}}}") };
        let comma = if settings.is_empty() { "" } else { "," };
        let comma_behind = if outer.is_empty() { "" } else { ", " };
        let context = if every_turn { "context: 'every-turn'" } else { "" };
        files.push(("workflow-sidecar.json5".to_owned(), format!("{{{outer}{comma_behind}{settings}{comma}{context}}}")));
        files
    })
}

proptest! {
    #![proptest_config(crate::randomised::config(40))]

    #[test]
    fn explanations_agree_with_answers(files in projects(), moves in proptest::collection::vec(proptest::bool::weighted(0.8), 1..10)) {
        walk(&files, &moves);
    }
}
