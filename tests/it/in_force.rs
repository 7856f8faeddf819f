//! Edits of definitions, settings and the session while a run goes on: no guard is loosened by them, however the session is
//! read again.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;

/// A project with a run of a workflow that has each kind of guard, and settings with rules.
struct Attacked {
    root: TempDir,
    host: TestHost,
    /// The entries of the session.
    branch: Vec<Value>,
}

const WORKFLOW: &str = "name: F\ncommandName: f\ninitialMessage: Go\nphases: [plan.md, build.md]\n";
const PLAN: &str = "---\nid: plan\nname: Plan\nemoji: p\ntools: {blacklist: [edit], rules: [{block: write, path: .env}]}\n\
                    gate: [{file: done.md}]\napprove: {ask: Good?, choices: [approve, reject]}\n---\nPlan.\n";
const BUILD: &str = "---\nid: build\nname: Build\nemoji: b\n---\nBuild.\n";
const USER_SETTINGS: &str = "{tools: {rules: [{block: 'write', path: '*.key'}]}}";
const PROJECT_SETTINGS: &str = "{tools: {rules: [{block: 'write', path: '*.lock'}]}}";

impl Attacked {
    /// `home` has the workflow: `project/.pi`, or `project/agent` for one of the user.
    fn new(home: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [
            (format!("{home}/workflows/f/workflow.yaml"), WORKFLOW),
            (format!("{home}/workflows/f/plan.md"), PLAN),
            (format!("{home}/workflows/f/build.md"), BUILD),
            (".pi/workflow-sidecar.json5".to_owned(), PROJECT_SETTINGS),
            ("agent/workflow-sidecar.json5".to_owned(), USER_SETTINGS),
            ("done.md".to_owned(), "done"),
        ] {
            write(root.path(), &file, text);
        }
        let mut attacked = Self {
            host: TestHost::over_pipes(),
            root,
            branch: Vec::new(),
        };
        attacked.initialize();
        attacked.load("hook/session_start");
        let start = json!({"name": "workflow", "arguments": "f the task"});
        attacked.call("command/run", &start);
        attacked
    }

    fn initialize(&mut self) {
        let clock = json!({"virtual": {"now": 0, "seed": 7}});
        self.host.initialize(self.root.path(), &clock);
    }

    /// Has the session read again.
    fn load(&mut self, hook: &str) {
        let context = json!({"branch": self.branch, "sessionFile": self.root.path().join("session.jsonl"), "hasUI": true});
        self.call(hook, &json!({"context": context}));
    }

    /// Another sidecar takes over, as after a crash.
    fn restart(&mut self) {
        let before = std::mem::replace(&mut self.host, TestHost::over_pipes());
        before.lose();
        self.initialize();
        self.load("hook/session_start");
    }

    /// Makes a call, keeps the entries that follow, and declines every question.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.host.request(method, params);
        loop {
            let message = self.host.receive();
            for body in ["result", "params"] {
                let actions = message[body]["actions"].as_array();
                let entries = actions
                    .into_iter()
                    .flatten()
                    .filter(|action| action["type"] == "appendEntry");
                self.branch.extend(entries.map(|entry| {
                    json!({"type": "custom", "customType": entry["customType"], "data": entry["data"]})
                }));
            }
            if message["id"] == id {
                return message["result"].clone();
            }
            if message["method"]
                .as_str()
                .is_some_and(|method| method.starts_with("ui/"))
            {
                let options = message["params"]["options"].as_array();
                let answer =
                    options.map_or(json!(false), |options| options[options.len() - 1].clone());
                self.host.send(
                    json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}).to_string(),
                );
            }
        }
    }

    fn is_blocked(&mut self, tool: &str, input: &Value) -> bool {
        let event =
            json!({"type": "tool_call", "toolName": tool, "toolCallId": "c", "input": input});
        let answer = self.call("hook/tool_call", &json!({"event": event}));
        answer.get("block").is_some()
    }

    /// Fails if a guard of the run does not hold any more.
    fn assert_guarded(&mut self, edit: &str) {
        let blocked = [
            ("edit", json!({"path": "src/a"})),
            ("write", json!({"path": ".env"})),
            ("write", json!({"path": "a.key"})),
            ("write", json!({"path": "a.lock"})),
        ];
        for (tool, input) in blocked {
            assert!(self.is_blocked(tool, &input), "{edit}: {tool} {input}");
        }
        let next =
            json!({"name": "workflow_step", "toolCallId": "t", "arguments": {"action": "next"}});
        // The approval is declined.
        let answer = self.call("tool/execute", &next);
        assert_eq!(answer["details"]["approval"], "reject", "{edit}: {answer}");
        fs::rename(
            self.root.path().join("done.md"),
            self.root.path().join("not-done.md"),
        )
        .unwrap();
        let answer = self.call("tool/execute", &next);
        assert!(answer["details"]["gate"].is_array(), "{edit}: {answer}");
        fs::rename(
            self.root.path().join("not-done.md"),
            self.root.path().join("done.md"),
        )
        .unwrap();
    }
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// An edit: what it does, whose workflow it is about, and the edit of the files and of the session's entries.
type Edit = (&'static str, &'static str, fn(&Path, &mut Vec<Value>));

/// Replaces a part of the file of the phase.
fn replace(root: &Path, home: &str, from: &str, to: &str) {
    let changed = PLAN.replace(from, to);
    assert_ne!(changed, PLAN);
    write(root, &format!("{home}/workflows/f/plan.md"), &changed);
}

/// Appends the last state of the session with an index of its phase that no phase has.
fn damage(branch: &mut Vec<Value>) {
    let is_state = |entry: &&Value| entry["customType"] == "workflow:state";
    let mut state = branch.iter().rev().find(is_state).unwrap().clone();
    state["data"]["currentPath"][0]["phaseIndex"] = json!(-1);
    state["data"]["globalStepCount"] = json!(1);
    branch.push(state);
}

const EDITS: [Edit; 11] = [
    ("no approval", ".pi", |root, _| {
        replace(
            root,
            ".pi",
            "approve: {ask: Good?, choices: [approve, reject]}\n",
            "",
        );
    }),
    ("no gate", ".pi", |root, _| {
        replace(root, ".pi", "gate: [{file: done.md}]\n", "");
    }),
    ("a gate that passes", ".pi", |root, _| {
        replace(root, ".pi", "done.md", ".pi/workflow-sidecar.json5");
    }),
    ("no rule", ".pi", |root, _| {
        replace(root, ".pi", ", rules: [{block: write, path: .env}]", "");
    }),
    ("an exception before the rule", ".pi", |root, _| {
        replace(
            root,
            ".pi",
            "rules: [",
            "rules: [{allow: write, path: .env}, ",
        );
    }),
    ("no list", ".pi", |root, _| {
        replace(root, ".pi", "blacklist: [edit], ", "");
    }),
    ("the phase left out", ".pi", |root, _| {
        write(
            root,
            ".pi/workflows/f/workflow.yaml",
            &WORKFLOW.replace("plan.md, ", ""),
        );
    }),
    ("no definition", ".pi", |root, _| {
        fs::remove_dir_all(root.join(".pi/workflows")).unwrap();
    }),
    ("the user's workflow", "agent", |root, _| {
        replace(
            root,
            "agent",
            "approve: {ask: Good?, choices: [approve, reject]}\n",
            "",
        );
    }),
    ("no settings", ".pi", |root, _| {
        write(root, ".pi/workflow-sidecar.json5", "{}");
        fs::remove_file(root.join("agent/workflow-sidecar.json5")).unwrap();
    }),
    ("a state that cannot be read", ".pi", |_, branch| {
        damage(branch);
    }),
];

#[test]
fn edits_during_a_run_loosen_no_guard() {
    let attacks = EDITS.map(|(edit, home, apply)| {
        std::thread::spawn(move || {
            let mut attacked = Attacked::new(home);
            attacked.assert_guarded("before");
            apply(attacked.root.path(), &mut attacked.branch);
            for hook in ["hook/session_start", "hook/session_tree"] {
                attacked.load(hook);
                attacked.assert_guarded(edit);
            }
            attacked.restart();
            attacked.assert_guarded(edit);
            attacked.call(
                "command/run",
                &json!({"name": "workflow", "arguments": "f again"}),
            );
            attacked.assert_guarded(edit);
            attacked.host.close_and_hear();
        })
    });
    for attack in attacks {
        attack.join().unwrap();
    }
}

#[test]
fn the_sessions_own_file_is_protected_where_the_host_names_it() {
    let mut attacked = Attacked::new(".pi");
    let line = json!({"command": "echo '{}' >> session.jsonl"});
    assert!(
        attacked.is_blocked("bash", &line),
        "a person is asked, and declines"
    );
    assert!(!attacked.is_blocked("bash", &json!({"command": "echo '{}' >> other.jsonl"})));
    attacked.host.close_and_hear();
}
