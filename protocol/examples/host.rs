//! A complete agent host in about 60 lines: `host COMMAND [ARGUMENT...]`
//!
//! COMMAND is the sidecar, for example `cargo run --example host -- workflow-sidecar serve`. Runs the
//! first workflow of `./.pi/workflows` with an agent that wants to edit, and steps until it is done.
#![allow(clippy::print_stdout, reason = "an example prints to the terminal")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context;
use serde_json::{Value, json};

struct Host {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    calls: u64,
    /// The session's entries: all that a host has to store.
    branch: Vec<Value>,
}

impl Host {
    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(writeln!(self.input, "{message}")?)
    }

    /// Calls the sidecar; answers its questions and applies its notifications while it waits.
    fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        while let Some(line) = self.output.next().transpose()? {
            let message: Value = serde_json::from_str(&line)?;
            match (message.get("method"), message.get("id")) {
                (None, Some(answered)) if *answered == id => {
                    anyhow::ensure!(
                        message.get("error").is_none(),
                        "{method}: {}",
                        message["error"]
                    );
                    self.apply(&message["result"]);
                    return Ok(message["result"].clone());
                }
                (Some(_), Some(asked)) => {
                    let options = message["params"]["options"].as_array(); // those of ui/select
                    let first = options.and_then(|options| options.first());
                    let yes = first.cloned().unwrap_or(true.into());
                    self.send(&json!({ "jsonrpc": "2.0", "id": asked, "result": yes }))?;
                }
                (Some(_), None) => self.apply(&message["params"]),
                (None, _) => {}
            }
        }
        anyhow::bail!("the sidecar ended")
    }

    fn apply(&mut self, result: &Value) {
        for action in result["actions"].as_array().into_iter().flatten() {
            if action["type"] == "appendEntry" {
                self.branch.push(json!({ "type": "custom", "customType": action["customType"], "data": action["data"] }));
            } else {
                println!("{action}");
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let program: String = arguments
        .next()
        .ok_or_else(|| anyhow::anyhow!("usage: host COMMAND [ARGUMENT...]"))?;
    let mut sidecar = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{program} could not be started"))?;
    let (Some(input), Some(output)) = (sidecar.stdin.take(), sidecar.stdout.take()) else {
        anyhow::bail!("no pipes")
    };
    let mut host = Host {
        input,
        output: BufReader::new(output).lines(),
        calls: 0,
        branch: Vec::new(),
    };

    let cwd = std::env::current_dir()?;
    let who = json!({ "name": "host.rs", "version": "1" });
    host.call("initialize", &json!({ "protocolVersion": 1, "host": who, "cwd": cwd, "capabilities": { "dialogs": true } }))?;
    host.call(
        "hook/session_start",
        &json!({ "context": { "hasUI": false, "branch": [] } }),
    )?;
    let listed = host.call("workflow/list", &json!({}))?;
    let name = listed["workflows"][0]["commandName"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    host.call(
        "command/run",
        &json!({ "name": "workflow", "arguments": format!("{name} try it") }),
    )?;
    while host.call("session/state", &json!({}))?["active"] == true {
        let edit = json!({ "toolName": "edit", "toolCallId": "1", "input": {} });
        let block = host.call("hook/tool_call", &json!({ "event": edit }))?;
        println!(
            "edit: {}",
            block["block"]["reason"].as_str().unwrap_or("allowed")
        );
        let next = json!({ "name": "workflow_step", "toolCallId": "2", "arguments": { "action": "next" } });
        println!(
            "{}",
            host.call("tool/execute", &next)?["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
        );
    }
    host.call("hook/agent_end", &json!({ "event": { "messages": [] } }))?;
    host.call("shutdown", &json!({}))?;
    drop(host);
    anyhow::ensure!(sidecar.wait()?.success(), "the sidecar failed");
    Ok(())
}
