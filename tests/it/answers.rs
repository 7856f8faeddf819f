//! Answers in a person's place, given by processes of the agent: every line runs in real processes below a host.
//!
//! The lines run as they are, also those that the built-in rule blocks: it is the sidecar that must refuse.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connection::Process;
use crate::host::TestHost;

const DEADLINE: Duration = Duration::from_secs(15);

/// The lines that run side by side.
const AT_ONCE: usize = 27;

/// A host that runs each file whose name it reads, as a tool of an agent is run.
const HOST: &str = r#"
"$BINARY" serve <&0 2>/dev/null &
exec <>tools >/dev/null
while read -r tool; do
  [ "$tool" = end ] && exit
  (timeout -k 1 4 bash "$tool" </dev/null >"$tool.out" 2>&1; : >"$tool.done") &
done
"#;

/// Lines that answer with the approval or the trust in `$A`, which needs a terminal or makes one.
const IN_A_TERMINAL: &[&str] = &[
    "$A",
    "script -qec \"$A\" /dev/null",
    "script -q /dev/null <<< \"$A\"",
    "script -q /dev/null <<EOF\n$A\nEOF",
    "echo \"$A\" | script -q /dev/null",
    "script --comm \"$A\" -q /dev/null",
    "printf '%s\\ny\\n' \"$A\" | script -q /dev/null",
    "cp \"$(command -v workflow-sidecar)\" w$$; script -qec \"./w$$ ${A#* }\" /dev/null",
    "ln -s \"$(command -v workflow-sidecar)\" l$$; script -qec \"./l$$ ${A#* }\" /dev/null",
    "script -qec \"/proc/$(pgrep -n -s 0 workflow-side)/exe ${A#* }\" /dev/null",
    "script -qec \"env - HOME=$HOME PI_CODING_AGENT_DIR=$PI_CODING_AGENT_DIR $BINARY ${A#* }\" /dev/null",
    "script -qec \"nice --adj 5 $A\" /dev/null",
    "timeout 5 script -qec \"$A\" /dev/null",
    "awk 'BEGIN{system(\"script -qec \\\"\" ENVIRON[\"A\"] \"\\\" /dev/null\")}'",
    "script -qec \"awk 'BEGIN{system(ENVIRON[\\\"A\\\"])}'\" /dev/null",
    "python3 -c 'import os,pty; pty.spawn(os.environ[\"A\"].split())'",
    "python3 -c 'import os,pty\nif os.fork()==0:\n os.setsid()\n if os.fork()==0: pty.spawn(os.environ[\"A\"].split())'; sleep 1",
    "perl -e 'exit if fork; use POSIX; POSIX::setsid(); exit if fork; exec \"script\",\"-qec\",$ENV{A},\"/dev/null\"'; sleep 1",
    "setsid -w script -qec \"$A\" /dev/null",
    "setsid -f script -qec \"$A\" /dev/null; sleep 1",
    "(setsid script -qec \"$A\" /dev/null &) ; sleep 1",
    "( ( script -qec \"$A\" /dev/null & ) & ); sleep 1",
    "nohup script -qec \"$A\" /dev/null & disown; sleep 1",
    "bash -c 'setsid -f bash -c \"sleep 0.3; script -qec \\\"$A\\\" /dev/null\"'; sleep 1",
    "coproc script -qec \"$A\" /dev/null; sleep 1",
    "echo \"$A\" > s$$; chmod +x s$$; script -qec ./s$$ /dev/null",
    "b=$(printf '%s' \"$A\" | base64 -w0); script -qec \"echo $b | base64 -d | sh\" /dev/null",
    "script -qec \"script -qec '$A' /dev/null\" /dev/null",
    "tmux -L new$$ -f /dev/null new-session -d \"$A; sleep 1\"; sleep 1; tmux -L new$$ kill-server",
    "tmux -L new$$ -f /dev/null new-session -d; tmux -L new$$ send-keys \"$A\" Enter; sleep 1; tmux -L new$$ kill-server",
    // A server that is older than the host.
    "tmux -S \"$TMUX_SOCKET\" new-window -d \"$A; sleep 1\"; sleep 1",
    "tmux -S \"$TMUX_SOCKET\" send-keys \"$A\" Enter; sleep 1",
    "unshare -rpf --mount-proc script -qec \"$A\" /dev/null",
    "unshare -rm setsid -w script -qec \"$A\" /dev/null",
    "systemd-run --user --pty --wait $A",
    "echo \"script -qec '$A' /dev/null\" | at now; sleep 1",
    "strace -f script -qec \"$A\" /dev/null",
    "gdb -q -batch -ex \"shell script -qec '$A' /dev/null\"",
    "exec -a zsh script -qec \"$A\" /dev/null",
    "script -qec \"exec -a tmux $A\" /dev/null",
];

/// Lines that forge what the store keeps, or talk to the sidecar's socket.
const FORGERIES: &[&str] = &[
    "script -qec 'workflow-sidecar approve --choice approve --code 2222-2222-2222' /dev/null",
    // Answers without a code, and with the hash of the code for one.
    "python3 -c '\nimport json,os,sqlite3\nd=sqlite3.connect(os.environ[\"STORE\"])\nfor t,n in d.execute(\"SELECT task_id, nonce FROM requests\").fetchall():\n d.execute(\"INSERT OR REPLACE INTO answers VALUES (?,?,?)\",(t,n,json.dumps({\"nonce\":n,\"choice\":\"approve\"})))\nd.commit(); print(\"forged\")'",
    "python3 -c '\nimport json,os,sqlite3\nd=sqlite3.connect(os.environ[\"STORE\"])\nfor t,n,s in d.execute(\"SELECT task_id, nonce, seal FROM requests\").fetchall():\n d.execute(\"INSERT OR REPLACE INTO answers VALUES (?,?,?)\",(t,n,json.dumps({\"nonce\":n,\"choice\":\"approve\",\"code\":s})))\nd.execute(\"UPDATE requests SET choice=?\",(\"approve\",)); d.commit(); print(\"forged\")'",
    "python3 -c '\nimport glob,json,os,socket,sqlite3\nd=sqlite3.connect(os.environ[\"STORE\"])\nfor f in glob.glob(os.path.dirname(os.environ[\"STORE\"])+\"/run/*.json\"):\n for r, in d.execute(\"SELECT request FROM requests\").fetchall():\n  s=socket.socket(socket.AF_UNIX); s.connect(json.load(open(f))[\"socket\"])\n  s.send(json.dumps({\"answer\":{\"request\":json.loads(r),\"choice\":\"approve\",\"shown\":None,\"code\":None}}).encode()+b\"\\n\"); print(\"forged\", s.recv(999))'",
    // A code of its own, and a sidecar that does not run.
    "python3 -c '\nimport hashlib,os,sqlite3\nd=sqlite3.connect(os.environ[\"STORE\"])\nfor t,n in d.execute(\"SELECT task_id, nonce FROM requests\").fetchall():\n h=hashlib.sha256((n+\"\\0\"+\"2\"*12).encode()).hexdigest(); d.execute(\"UPDATE requests SET seal=?, sidecar=? WHERE task_id=?\",(h,\"1\",t))\nd.commit(); print(\"forged\")'; script -qec 'workflow-sidecar approve --choice approve --code 222222222222' /dev/null",
];

/// The processes of a test, known by a variable of their environment. They end with it.
struct Processes(String);

impl Drop for Processes {
    fn drop(&mut self) {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes {
            let Ok(environment) = fs::read(process.path().join("environ")) else {
                continue;
            };
            let mut variables = environment.split(|byte| *byte == 0);
            if variables.any(|variable| variable == self.0.as_bytes()) {
                let mut kill = Command::new("kill");
                // It may have ended meanwhile.
                drop(kill.arg("-9").arg(process.file_name()).output());
            }
        }
    }
}

/// Starts a server of terminals, as a person did before the host. Without tmux, its lines fail by themselves.
fn start_tmux(socket: &Path, environment: &[(&str, String)]) {
    let mut tmux = Command::new("tmux");
    let started = tmux
        .arg("-S")
        .arg(socket)
        .args(["-f", "/dev/null", "new-session", "-d", "sh"])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stderr(Stdio::null())
        .status();
    drop(started);
}

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

/// Has the host run the lines side by side, and waits for them.
fn run(project: &Path, number: &mut usize, lines: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut tools = fs::OpenOptions::new()
        .write(true)
        .open(project.join("tools"))
        .unwrap();
    let mut started = Vec::new();
    for (answer, line) in lines {
        *number += 1;
        let name = format!("tool{number}");
        fs::write(
            project.join(&name),
            format!("export A='{answer}'\n{line}\n"),
        )
        .unwrap();
        std::io::Write::write_all(&mut tools, format!("{name}\n").as_bytes()).unwrap();
        started.push((format!("{answer}: {line}"), name));
    }
    let end = Instant::now() + DEADLINE;
    let outputs = started.into_iter().map(|(line, name)| {
        while !project.join(format!("{name}.done")).exists() {
            assert!(Instant::now() < end, "{line}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = fs::read(project.join(format!("{name}.out"))).unwrap();
        (line, String::from_utf8_lossy(&output).into_owned())
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
fn still_waits(answer: &Value, outputs: &[(String, String)]) {
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
    let tmux_socket = project.join("tmux");
    let directory = Path::new(binary).parent().unwrap();
    let database = agent_dir.join("workflow-sidecar/store.sqlite3");
    let environment = [
        ("PATH", format!("{}:{path}", directory.display())),
        ("BINARY", binary.to_owned()),
        ("PI_CODING_AGENT_DIR", agent_dir.display().to_string()),
        ("STORE", database.display().to_string()),
        ("TMUX_SOCKET", tmux_socket.display().to_string()),
        ("SHELL", "/bin/bash".to_owned()),
        ("TERM", "xterm".to_owned()),
    ];
    let processes = Processes(format!("PI_CODING_AGENT_DIR={}", agent_dir.display()));
    start_tmux(&tmux_socket, &environment);
    let made = Command::new("mkfifo").arg(project.join("tools")).status();
    assert!(made.unwrap().success());
    std::thread::sleep(Duration::from_millis(30));
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
    let approve = "workflow-sidecar approve --choice approve";
    let trust = "workflow-sidecar trust .";
    let lines = IN_A_TERMINAL.iter().map(|line| (approve, *line));
    let lines = lines.chain(IN_A_TERMINAL.iter().map(|line| (trust, *line)));
    let lines: Vec<_> = lines.collect();
    let at_once = lines.chunks(AT_ONCE);
    let outputs: Vec<_> = at_once
        .flat_map(|lines| run(project, &mut number, lines))
        .collect();
    let refused = outputs
        .iter()
        .filter(|(_, output)| output.contains("started by the agent"));
    assert!(refused.count() > 30, "the lines do run: {outputs:#?}");
    let noted = outputs.iter().find(|(_, output)| {
        output.contains("sent to the session") || output.contains("No sidecar runs")
    });
    assert_eq!(noted, None);
    still_waits(&next(&mut host), &outputs);
    let forgeries: Vec<_> = FORGERIES.iter().map(|line| (approve, *line)).collect();
    for (at, forgery) in forgeries.iter().enumerate() {
        let outputs = run(project, &mut number, &[*forgery]);
        let is_forged = at == 0 || outputs[0].1.contains("forged");
        assert!(is_forged, "the line forges: {outputs:#?}");
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
    for forgery in forgeries {
        let outputs = run(project, &mut number, &[forgery]);
        end(project, host);
        host = start();
        let context = json!({"context": {"branch": branch}});
        host.result("hook/session_start", &context);
        still_waits(&next(&mut host), &outputs);
    }
    end(project, host);
    assert!(!project.join("PWNED").exists());
    drop(processes);
}
