//! The index of all runs follows each run, whatever moves or ends it, and `status` and `show` find one by its id.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::Process;
use crate::host::TestHost;

const DEADLINE: Duration = Duration::from_secs(15);

/// State and phase of runs, the newest first.
type Listed = &'static [(&'static str, &'static str)];
/// Ends the run.
type End = fn(&mut Keeper);

/// A host with dialogs that keeps its session in a file, as pi does.
struct Keeper {
    host: TestHost,
    home: TempDir,
    file: PathBuf,
}

impl Keeper {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let workflow = |name: &str, phases: &str| {
            let directory = home.path().join(".pi/workflows").join(name);
            fs::create_dir_all(&directory).unwrap();
            let text = format!(
                "name: {name}\ncommandName: {name}\ninitialMessage: Go.\nphases:\n{phases}"
            );
            fs::write(directory.join("workflow.yaml"), text).unwrap();
        };
        let phase = |id: &str, more: &str| {
            let name = id.to_uppercase();
            format!("  - {{id: {id}, name: {name}, emoji: {id}, instructions: Do it.{more}}}\n")
        };
        let ask = ", tools: {rules: [{ask: bash}]}, outcomes: {on: next, over: done}";
        workflow(
            "w",
            &(phase("a", ask) + &phase("b", ", gate: [{file: built}]") + &phase("c", "")),
        );
        workflow(
            "gate",
            &(phase("a", "") + &phase("b", ", gate: [{file: built}]")),
        );
        let approve = ", approve: {ask: Right?, choices: [yes, no]}";
        workflow("approval", &(phase("a", "") + &phase("b", approve)));
        fs::write(home.path().join("built"), "").unwrap();
        let file = home.path().join("session.jsonl");
        let mut keeper = Self {
            host: TestHost::over_pipes(),
            home,
            file,
        };
        keeper.host.initialize(keeper.home.path(), &json!("system"));
        keeper.begin("session.jsonl");
        keeper
    }

    /// Ends the host, and begins another one over the same session.
    fn restart(&mut self) {
        self.host.close_and_hear();
        self.host = TestHost::over_pipes();
        self.host.initialize(self.home.path(), &json!("system"));
        self.begin("session.jsonl");
    }

    /// Begins the session over the entries of a file.
    fn begin(&mut self, file: &str) {
        self.file = self.home.path().join(file);
        if !self.file.exists() {
            fs::write(&self.file, "{\"type\":\"session\"}\n").unwrap();
        }
        let text = fs::read_to_string(&self.file).unwrap();
        let branch: Vec<Value> = text
            .lines()
            .filter(|line| !line.contains(r#""type":"session""#))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let context = json!({"branch": branch, "sessionFile": self.file});
        self.call("hook/session_start", &json!({ "context": context }));
    }

    /// Reads lines up to one that matches; keeps the entries of all.
    fn until(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.host.receive();
            let actions = ["/result/actions", "/params/actions"];
            let actions = actions.iter().filter_map(|at| line.pointer(at)?.as_array());
            for action in actions.flatten() {
                if action["type"] == "appendEntry" {
                    let entry = json!({"type": "custom", "customType": action["customType"], "data": action["data"]});
                    let text = fs::read_to_string(&self.file).unwrap() + &entry.to_string() + "\n";
                    fs::write(&self.file, text).unwrap();
                }
            }
            if is_meant(&line) {
                return line;
            }
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.host.request(method, params);
        self.until(|line| line["id"] == id)
    }

    fn begin_command(&mut self, name: &str, arguments: &str) -> u64 {
        let params = json!({"name": name, "arguments": arguments});
        self.host.request("command/run", &params)
    }

    fn command(&mut self, name: &str, arguments: &str) {
        let id = self.begin_command(name, arguments);
        self.until(|line| line["id"] == id);
    }

    fn start(&mut self, workflow: &str) {
        self.command("workflow", &format!("{workflow} it"));
    }

    /// Starts a workflow in the place of the active one.
    fn start_over(&mut self, workflow: &str) {
        let id = self.begin_command("workflow", &format!("{workflow} it"));
        let question = self.question();
        self.answer(&question, &json!(true));
        self.until(|line| line["id"] == id);
    }

    fn begin_step(&mut self, arguments: &Value) -> u64 {
        let call = json!({"name": "workflow_step", "toolCallId": "c", "arguments": arguments});
        self.host.request("tool/execute", &call)
    }

    fn step(&mut self, arguments: &Value) {
        let id = self.begin_step(arguments);
        self.until(|line| line["id"] == id);
        self.call("hook/turn_start", &json!({}));
    }

    /// Waits for a question.
    fn question(&mut self) -> Value {
        self.until(|line| {
            line["method"]
                .as_str()
                .is_some_and(|method| method.starts_with("ui/"))
        })
    }

    fn answer(&mut self, question: &Value, result: &Value) {
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.host.send(answer.to_string());
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let agent_dir = self.home.path().join("agent");
        let mut command = Process::command();
        command.args(arguments).arg("--agent-dir").arg(agent_dir);
        command.current_dir(self.home.path()).output().unwrap()
    }

    /// Runs `status` or `show`: gives the text and the exit code.
    fn said(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.run(arguments);
        let text = [output.stdout, output.stderr].concat();
        (
            String::from_utf8(text).unwrap(),
            output.status.code().unwrap(),
        )
    }

    fn runs(&self) -> Vec<Value> {
        let output = self.run(&["runs", "--format", "json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Returns true if these are state and phase of the runs in the index, the newest first.
    fn lists_now(&self, expected: &[(&str, &str)]) -> bool {
        let runs = self.runs();
        let listed = runs.iter().map(|run| [&run["state"], &run["phase"]]);
        listed.eq(expected.iter().map(|(state, phase)| [*state, *phase]))
    }

    /// Waits until they are: the index is written beside the answers.
    fn lists(&self, expected: &[(&str, &str)]) {
        let begun = Instant::now();
        while !self.lists_now(expected) {
            assert!(
                begun.elapsed() < DEADLINE,
                "{expected:?} is expected, not {:?}",
                self.runs()
            );
        }
    }

    /// The figures of a workflow.
    fn figures(&self, workflow: &str) -> Value {
        let output = self.run(&["stats", "--format", "json"]);
        let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
        figures["workflows"][workflow].clone()
    }

    /// The id of the run of a workflow.
    fn id_of(&self, workflow: &str) -> String {
        let runs = self.runs();
        let run = runs.iter().find(|run| run["workflow"] == workflow).unwrap();
        run["taskId"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_run_that_ended_is_listed_as_what_it_is_with_its_last_phase() {
    let ends: [(&str, Listed, End); 7] = [
        ("gate", &[("complete", "B")], |keeper| {
            keeper.step(&json!({"action": "next"}));
            keeper.step(&json!({"action": "next"}));
        }),
        ("approval", &[("complete", "B")], |keeper| {
            keeper.step(&json!({"action": "next"}));
            let call = keeper.begin_step(&json!({"action": "next"}));
            let question = keeper.question();
            keeper.answer(&question, &json!("yes"));
            keeper.until(|line| line["id"] == call);
        }),
        ("gate", &[("cancelled", "A")], |keeper| {
            keeper.step(&json!({"action": "cancel"}));
            keeper.step(&json!({"action": "cancel"}));
        }),
        ("gate", &[("cancelled", "A")], |keeper| {
            keeper.command("cancel-workflow", "");
        }),
        ("w", &[("complete", "A")], |keeper| {
            keeper.step(&json!({"action": "next", "outcome": "over"}));
        }),
        ("approval", &[("complete", "B")], |keeper| {
            keeper.command("workflow-skip", "");
            let skip = keeper.begin_command("workflow-skip", "");
            let question = keeper.question();
            let options = question["params"]["options"].as_array().unwrap();
            keeper.answer(&question, options.last().unwrap());
            keeper.until(|line| line["id"] == skip);
        }),
        ("gate", &[("cancelled", "A"), ("ended", "A")], |keeper| {
            keeper.start_over("gate");
            keeper.command("cancel-workflow", "");
        }),
    ];
    for (workflow, expected, end) in ends {
        let mut keeper = Keeper::new();
        keeper.start(workflow);
        keeper.lists(&[("active", "A")]);
        end(&mut keeper);
        keeper.lists(expected);
        // The announcement of the end changes nothing.
        keeper.call("hook/agent_end", &json!({}));
        keeper.host.close_and_hear();
        assert!(keeper.lists_now(expected), "{expected:?}");
    }
}

#[test]
fn a_run_is_listed_where_its_gate_has_brought_it() {
    let mut keeper = Keeper::new();
    keeper.start("w");
    keeper.step(&json!({"action": "next", "outcome": "on"}));
    keeper.lists(&[("active", "B")]);
    keeper.step(&json!({"action": "next"}));
    keeper.lists(&[("active", "C")]);
}

#[test]
fn a_run_that_waits_in_a_dialog_says_so_until_the_dialog_is_over() {
    let mut keeper = Keeper::new();
    keeper.start("w");
    let call =
        json!({"event": {"toolName": "bash", "toolCallId": "c", "input": {"command": "ls"}}});
    let call = keeper.host.request("hook/tool_call", &call);
    let question = keeper.question();
    keeper.lists(&[("waits", "A")]);
    let (file, id) = (keeper.file.display().to_string(), keeper.id_of("w"));
    for named in [&*file, &id] {
        let (text, code) = keeper.said(&["status", named]);
        assert!(
            text.starts_with("w  w  waiting for your consent\n"),
            "{text}"
        );
        assert_eq!(code, 3, "{named}");
    }
    let (table, _) = keeper.said(&["runs"]);
    assert!(table.contains("waiting for your consent"), "{table}");
    keeper.answer(&question, &json!(true));
    keeper.until(|line| line["id"] == call);
    keeper.lists(&[("active", "A")]);
    assert_eq!(keeper.said(&["status", &file]).1, 0);

    keeper.start_over("approval");
    keeper.step(&json!({"action": "next"}));
    keeper.begin_step(&json!({"action": "next"}));
    keeper.question();
    keeper.lists(&[("waits", "B"), ("ended", "A")]);
    assert_eq!(keeper.said(&["status", &file]).1, 3);
    // A dialog ends with its host, and the run can continue when the session is opened again.
    keeper.host.close_and_hear();
    keeper.lists(&[("closed", "B"), ("ended", "A")]);
    let (text, code) = keeper.said(&["status", &file]);
    assert!(
        text.starts_with("approval  approval  session closed\n"),
        "{text}"
    );
    assert_eq!(code, 0);
}

#[test]
fn a_run_is_found_by_its_id_among_several_of_a_session() {
    let mut keeper = Keeper::new();
    keeper.start("gate");
    keeper.step(&json!({"action": "next"}));
    keeper.step(&json!({"action": "next"}));
    keeper.call("hook/agent_end", &json!({}));
    keeper.start("w");
    keeper.lists(&[("active", "A"), ("complete", "B")]);
    let (first, second) = (keeper.id_of("gate"), keeper.id_of("w"));
    let (text, code) = keeper.said(&["status", &first]);
    assert!(
        text.starts_with("gate  gate  complete\n  task      it\n  place     B\n"),
        "{text}"
    );
    assert_eq!(code, 0);
    let (text, _) = keeper.said(&["status", &second]);
    assert!(text.starts_with("w  w  active\n"), "{text}");
    for (id, own, other) in [
        (&first, "started gate", "started w"),
        (&second, "started w", "started gate"),
    ] {
        let (text, code) = keeper.said(&["show", id]);
        assert!(text.contains(own) && !text.contains(other), "{text}");
        assert_eq!(code, 0);
    }
}

#[test]
fn after_a_fork_the_session_that_went_on_last_has_the_run() {
    let mut keeper = Keeper::new();
    keeper.start("w");
    keeper.lists(&[("active", "A")]);
    let id = keeper.id_of("w");
    let origin = keeper.file.clone();
    fs::copy(&origin, keeper.home.path().join("fork.jsonl")).unwrap();
    keeper.begin("fork.jsonl");
    keeper.step(&json!({"action": "next", "outcome": "on"}));
    keeper.lists(&[("active", "B")]);
    let (text, _) = keeper.said(&["status", &id]);
    assert!(text.contains("place     w > b B [2/3]"), "{text}");
    let (text, _) = keeper.said(&["status", &origin.display().to_string()]);
    assert!(text.contains("place     w > a A [1/3]"), "{text}");
}

#[test]
fn a_session_of_entries_alone_is_read_and_says_what_it_does_not_know() {
    let mut keeper = Keeper::new();
    // As the plugin for opencode keeps its entries.
    fs::write(keeper.home.path().join("entries.jsonl"), "").unwrap();
    keeper.begin("entries.jsonl");
    keeper.start("w");
    keeper.lists(&[("active", "A")]);
    let id = keeper.id_of("w");
    let (text, code) = keeper.said(&["status", &id]);
    assert!(text.starts_with("w  w  active\n"), "{text}");
    assert_eq!(code, 0);
    let (text, code) = keeper.said(&["show", &id]);
    assert!(text.contains("started w: it"), "{text}");
    assert!(
        text.contains("not known here") && !text.contains("0 tool calls"),
        "{text}"
    );
    assert_eq!(code, 0);
    let (text, _) = keeper.said(&["show", &id, "--format", "json"]);
    assert!(!text.contains("totals"), "{text}");
}

#[test]
fn what_was_counted_is_stored_when_a_session_ends_in_the_middle_of_a_phase() {
    let mut keeper = Keeper::new();
    keeper.start("w");
    let (entered, last) = (Instant::now(), json!({"action": "next", "outcome": "over"}));
    std::thread::sleep(Duration::from_millis(50));
    keeper.restart();
    let stayed = u64::try_from(entered.elapsed().as_millis()).unwrap();
    keeper.call("hook/turn_start", &json!({}));
    let call = keeper.begin_step(&last);
    keeper.until(|line| line["id"] == call);
    keeper.call("hook/turn_end", &json!({"event": {"tokens": 7}}));
    keeper.call("hook/agent_end", &json!({}));
    keeper.start("approval");
    keeper.step(&json!({"action": "next"}));
    keeper.begin_step(&json!({"action": "next"}));
    keeper.question();
    keeper.host.close_and_hear();
    let of_w = keeper.figures("w");
    assert_eq!(of_w["runs"]["started"], 1, "{of_w}");
    assert_eq!(of_w["runs"]["complete"], 1, "{of_w}");
    assert_eq!(of_w["spent"]["tokens"], 7, "{of_w}");
    assert_eq!(of_w["phases"]["a"]["number"], 1, "{of_w}");
    let time = of_w["phases"]["a"]["totalMs"].as_u64().unwrap();
    assert!(time + 5 >= stayed, "{of_w} after {stayed}");
    let of_approval = keeper.figures("approval");
    assert!(of_approval["phases"].get("b").is_none(), "{of_approval}");
    assert_eq!(of_approval["waits"], json!({}), "{of_approval}");
}

#[test]
fn what_is_denied_without_a_run_is_counted() {
    let mut keeper = Keeper::new();
    let settings = keeper.home.path().join(".pi/workflow-sidecar.json5");
    fs::write(settings, "{ withoutRun: { tools: 'read-only' } }").unwrap();
    keeper.restart();
    let call = json!({"event": {"toolName": "write", "toolCallId": "c", "input": {"path": "a", "content": ""}}});
    let call = keeper.host.request("hook/tool_call", &call);
    let question = keeper.question();
    keeper.answer(&question, &json!("No"));
    let answer = keeper.until(|line| line["id"] == call);
    keeper.host.close_and_hear();
    let rules = keeper.figures("");
    let denied = rules["rules"].as_object().unwrap().values();
    assert_eq!(
        denied.map(|rule| &rule["denied"]).collect::<Vec<_>>(),
        [1],
        "{answer}"
    );
}
