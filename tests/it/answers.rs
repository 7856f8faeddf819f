//! Answers in the user's place, given by processes of the agent: every line runs in real processes below a host.
//!
//! The lines run as they are, also those that the built-in rule blocks: it is the code that they lack.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connection::Process;
use crate::host::TestHost;

/// For lines that wait for processes, beside other tests on a machine with two cores.
const DEADLINE: Duration = Duration::from_secs(60);

/// A host that runs each file whose name it reads, as a tool of an agent is run.
const HOST: &str = r#"
"$BINARY" serve <&0 2>/dev/null &
exec <>tools >/dev/null
while read -r tool; do
  [ "$tool" = end ] && exit
  (timeout -k 1 30 bash "$tool" </dev/null >"$tool.out" 2>&1; : >"$tool.done") &
done
"#;

/// Lines that answer without the code, or trust the project, in terminals that they make; and what each of them prints.
const IN_A_TERMINAL: &[(&str, &str)] = &[
    (
        "workflow-sidecar approve 2222-2222-2222 --choice approve",
        "nothing that waits has this code",
    ),
    (
        "echo 2222-2222-2222 | workflow-sidecar approve --choice approve",
        "nothing that waits has this code",
    ),
    ("workflow-sidecar approve --choice approve", "no code given"),
    (
        "workflow-sidecar approve wf- --choice approve",
        "is no code",
    ),
    (
        "script -qec 'workflow-sidecar approve 2222-2222-2222 --choice approve' /dev/null",
        "nothing that waits has this code",
    ),
    ("workflow-sidecar trust .", "only the user can trust"),
    (
        "script -qec 'workflow-sidecar trust .' /dev/null",
        "a session of this project is open",
    ),
    (
        "printf 'workflow-sidecar trust .\\ny\\n' | script -q /dev/null",
        "a session of this project is open",
    ),
    (
        "setsid -w script -qec 'workflow-sidecar trust .' /dev/null",
        "a session of this project is open",
    ),
    (
        "cp \"$(command -v workflow-sidecar)\" w$$; script -qec \"./w$$ trust .\" /dev/null",
        "a session of this project is open",
    ),
    (
        "ln -s . link$$; script -qec \"workflow-sidecar trust link$$\" /dev/null",
        "a session of this project is open",
    ),
];

/// Lines that forge what the store keeps. `$d` is the database.
const FORGERIES: &[&str] = &[
    // Answers without a token, with the hash of one as token, and as an approver's.
    "for r in rows:\n answer(r, {})",
    "for r in rows:\n answer(r, {'token': r['proofs'][0]})",
    "for r in rows:\n answer(r, {'asked': r})",
    // Another question, with proofs of tokens that the agent knows.
    "for r in rows:\n r['ask'] = 'Is it sunny?'; r['proofs'] = [hashlib.sha256(b'mine').hexdigest()] * 2\n put(r); answer(r, {'token': 'mine'})",
];

/// What a forgery begins with.
const FORGE: &str = "
import hashlib, json, os, sqlite3
d = sqlite3.connect(os.environ['STORE'])
rows = [json.loads(r) for r, in d.execute('SELECT request FROM requests')]
def answer(r, more):
    a = json.dumps({'request': r['id'], 'choice': 'approve', **more})
    d.execute('INSERT OR REPLACE INTO answers VALUES (?,?,?)', (r['taskId'], r['id'], a))
def put(r):
    d.execute('UPDATE requests SET request=?', (json.dumps(r),))
";

fn write_project(project: &Path) {
    let workflow = |name: &str, keys: &str| {
        let directory = project.join(".pi/workflows").join(name);
        fs::create_dir_all(&directory).unwrap();
        let phases = "phases: [a.md, b.md]";
        let text = format!("name: {name}\ncommandName: {name}\ninitialMessage: Go\n{phases}\n");
        fs::write(directory.join("workflow.yaml"), text).unwrap();
        let first = format!("---\nid: a\nname: A\nemoji: 🅰\n{keys}\n---\nDo a.\n");
        fs::write(directory.join("a.md"), first).unwrap();
        let second = "---\nid: b\nname: B\nemoji: 🅱\n---\nDo b.\n";
        fs::write(directory.join("b.md"), second).unwrap();
    };
    workflow("w", "approve: {ask: \"OK?\"}");
    workflow("hostile", "gate: [{run: [touch, PWNED]}]");
}

/// Has the host run the lines side by side, and waits for what they print.
fn run(project: &Path, number: &mut usize, lines: &[&str]) -> Vec<String> {
    let mut tools = fs::OpenOptions::new()
        .write(true)
        .open(project.join("tools"))
        .unwrap();
    let mut started = Vec::new();
    for line in lines {
        *number += 1;
        let name = format!("tool{number}");
        fs::write(project.join(&name), line).unwrap();
        std::io::Write::write_all(&mut tools, format!("{name}\n").as_bytes()).unwrap();
        started.push(name);
    }
    let end = Instant::now() + DEADLINE;
    let outputs = started.into_iter().map(|name| {
        while !project.join(format!("{name}.done")).exists() {
            assert!(Instant::now() < end, "{name}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = fs::read(project.join(format!("{name}.out"))).unwrap();
        String::from_utf8_lossy(&output).into_owned()
    });
    outputs.collect()
}

/// Ends a host and its sidecar.
fn end(project: &Path, host: TestHost) {
    let mut tools = fs::OpenOptions::new()
        .write(true)
        .open(project.join("tools"))
        .unwrap();
    std::io::Write::write_all(&mut tools, b"end\n").unwrap();
    drop(host);
}

fn next(host: &mut TestHost) -> Value {
    let params =
        json!({"name": "workflow_step", "toolCallId": "t1", "arguments": {"action": "next"}});
    let id = host.request("tool/execute", &params);
    loop {
        let mut said = host.receive();
        if said["id"] == id {
            return said["result"].take();
        }
    }
}

#[track_caller]
fn still_waits(answer: &Value, outputs: &[String]) {
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("Waiting for approval"),
        "{text}\n{outputs:#?}"
    );
}

#[test]
fn no_process_of_the_agent_approves_or_trusts() {
    let project = tempfile::tempdir().unwrap();
    let project = project.path();
    write_project(project);
    let binary = env!("CARGO_BIN_EXE_workflow-sidecar");
    let path = std::env::var("PATH").unwrap_or_default();
    let agent_dir = project.join("agent");
    let directory = Path::new(binary).parent().unwrap();
    let database = agent_dir.join("workflow-sidecar/store.sqlite3");
    let environment = [
        ("PATH", format!("{}:{path}", directory.display())),
        ("BINARY", binary.to_owned()),
        ("PI_CODING_AGENT_DIR", agent_dir.display().to_string()),
        ("STORE", database.display().to_string()),
        ("SHELL", "/bin/bash".to_owned()),
        ("TERM", "xterm".to_owned()),
    ];
    let made = Command::new("mkfifo").arg(project.join("tools")).status();
    assert!(made.unwrap().success());
    let start = || {
        let mut command = Command::new("setsid");
        command.args(["bash", "-c", HOST]).current_dir(project);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let mut host = TestHost::over(Process::spawn(&mut command));
        let params = json!({
            "protocolVersion": 1,
            "host": {"name": "test", "version": "0"},
            "cwd": project,
            "capabilities": {"dialogs": false},
        });
        host.result("initialize", &params);
        host
    };
    let mut host = start();
    let mut branch = Vec::new();
    let mut store = |result: &Value| {
        let actions = result["actions"].as_array().unwrap().iter();
        let entries = actions.filter(|action| action["type"] == "appendEntry");
        branch.extend(entries.map(|entry| {
            json!({"type": "custom", "customType": entry["customType"], "data": entry["data"]})
        }));
    };
    host.start_session();
    store(&host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "w it"}),
    ));
    let asked = next(&mut host);
    store(&asked);
    still_waits(&asked, &[]);
    let mut number = 0;
    let lines: Vec<&str> = IN_A_TERMINAL.iter().map(|(line, _)| *line).collect();
    let outputs = run(project, &mut number, &lines);
    for ((line, expected), output) in IN_A_TERMINAL.iter().zip(&outputs) {
        assert!(output.contains(expected), "{line}: {output}");
    }
    still_waits(&next(&mut host), &outputs);
    for forgery in FORGERIES {
        let line = format!("python3 -c \"{FORGE}{forgery}\nd.commit(); print('forged')\"");
        let outputs = run(project, &mut number, &[&line]);
        assert!(
            outputs[0].contains("forged"),
            "the line forges: {outputs:?}"
        );
        still_waits(&next(&mut host), &outputs);
    }
    let trusted = Command::new(binary)
        .args(["trust", "--list"])
        .current_dir(project)
        .env("PI_CODING_AGENT_DIR", &agent_dir)
        .output()
        .unwrap();
    let trusted = String::from_utf8_lossy(&trusted.stdout);
    assert!(trusted.contains("new"), "{trusted}");
    assert!(!trusted.contains("trusted  "), "{trusted}");
    // What was forged does not count for a later process either.
    end(project, host);
    let mut host = start();
    host.result(
        "hook/session_start",
        &json!({"context": {"branch": branch}}),
    );
    still_waits(&next(&mut host), &[]);
    end(project, host);
    assert!(!project.join("PWNED").exists());
}
