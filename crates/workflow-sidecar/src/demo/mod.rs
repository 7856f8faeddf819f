//! Demo: this program as a sidecar over real pipes, and a host that runs a scripted agent through workflows.
//!
//! The answers of the sidecar are real. An answer that the script does not expect ends the demo with an error.

mod dialogue;
mod host;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use dialogue::{DialoguePrinter, Speaker};
use host::{DemoHost, text_of};

/// The example workflows, by their paths in `.pi/workflows`.
const WORKFLOWS: &[(&str, &str)] = &[
    (
        "ship/workflow.yaml",
        include_str!("workflows/ship/workflow.yaml"),
    ),
    ("ship/plan.md", include_str!("workflows/ship/plan.md")),
    ("ship/release.md", include_str!("workflows/ship/release.md")),
    (
        "build/workflow.yaml",
        include_str!("workflows/build/workflow.yaml"),
    ),
    (
        "build/implement.md",
        include_str!("workflows/build/implement.md"),
    ),
    ("build/verify.md", include_str!("workflows/build/verify.md")),
    (
        "note/workflow.json5",
        include_str!("workflows/note/workflow.json5"),
    ),
];

/// Runs the demo in a temporary directory, which is removed afterwards.
pub(crate) fn run() -> Result<()> {
    let directory = tempfile::tempdir().context("no temporary directory could be made")?;
    write_workflows(&directory.path().join(".pi/workflows"))?;
    let mut dialogue = DialoguePrinter::new();
    dialogue.chapter("The host starts a sidecar")?;
    let mut host = DemoHost::start(directory.path(), dialogue)?;
    plan(&mut host)?;
    build(&mut host)?;
    survive(&mut host)?;
    finish(&mut host)?;
    cancel(&mut host)?;
    host.stop()
}

fn write_workflows(root: &Path) -> Result<()> {
    for (name, text) in WORKFLOWS {
        let path = root.join(name);
        let directory = path.parent().unwrap_or(root);
        std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, text))?;
    }
    Ok(())
}

fn plan(host: &mut DemoHost<'_>) -> Result<()> {
    host.dialogue
        .chapter("A workflow is started; its first phase reads only")?;
    command(host, "workflow", "")?;
    command(host, "workflow", "ship Add --json to the export command")?;
    start_agent(host)?;
    ensure!(tool_call(host, "read")?, "reading is part of planning");
    ensure!(!tool_call(host, "edit")?, "planning must not edit");

    host.dialogue
        .chapter("The agent stops too early, and is sent on")?;
    agent_stops(host)?;
    host.dialogue
        .say(Speaker::Host, "three seconds pass without input")?;
    host.call("clock/advance", &json!({ "ms": 3000 }))?;
    ensure!(
        !host.prompts.is_empty(),
        "an agent that stops early is reminded"
    );
    start_agent(host)
}

fn build(host: &mut DemoHost<'_>) -> Result<()> {
    host.dialogue.chapter("The next phase is a subworkflow")?;
    step(host, "next")?;
    ensure!(tool_call(host, "edit")?, "building is editing");
    new_turn(host)?;
    step(host, "next")?;
    ensure!(!tool_call(host, "edit")?, "verifying must not edit");

    host.dialogue
        .chapter("A test fails: the subworkflow starts over")?;
    new_turn(host)?;
    step(host, "loop")?;
    ensure!(tool_call(host, "edit")?, "building is editing");
    new_turn(host)?;
    step(host, "next")
}

fn survive(host: &mut DemoHost<'_>) -> Result<()> {
    host.dialogue
        .chapter("The sidecar is killed, and another takes over from the session")?;
    host.dialogue
        .say(Speaker::Host, "kill -9, then a new process")?;
    host.crash_and_restart()?;
    ensure!(
        !tool_call(host, "edit")?,
        "the run is still in its last phase"
    );
    Ok(())
}

fn finish(host: &mut DemoHost<'_>) -> Result<()> {
    host.dialogue
        .chapter("The last phases, and the end of the run")?;
    new_turn(host)?;
    step(host, "next")?;
    ensure!(tool_call(host, "write")?, "a changelog has to be written");
    new_turn(host)?;
    step(host, "next")?;
    agent_stops(host)
}

fn cancel(host: &mut DemoHost<'_>) -> Result<()> {
    host.dialogue
        .chapter("Another run, which the user cancels")?;
    command(host, "workflow", "note the meeting")?;
    start_agent(host)?;
    host.answer = false;
    command(host, "workflow", "ship something else")?;
    command(host, "cancel-workflow", "")?;
    let state = host.call("session/state", &json!({}))?;
    ensure!(state["active"] == false, "a cancelled run is over: {state}");
    Ok(())
}

fn command(host: &mut DemoHost<'_>, name: &str, arguments: &str) -> Result<()> {
    host.dialogue
        .say(Speaker::User, format!("/{name} {arguments}").trim_end())?;
    host.call(
        "command/run",
        &json!({ "name": name, "arguments": arguments }),
    )?;
    Ok(())
}

/// Starts the agent on the last prompt.
fn start_agent(host: &mut DemoHost<'_>) -> Result<()> {
    let prompt = host.prompts.pop();
    let answer = host.call(
        "hook/before_agent_start",
        &json!({ "event": { "prompt": prompt } }),
    )?;
    let context = text_of(&answer["inject"]["content"]);
    ensure!(
        !context.is_empty(),
        "an agent in a workflow reads its phase, rules and instructions"
    );
    host.dialogue.say(
        Speaker::Sidecar,
        &format!("adds to the context:\n{context}"),
    )?;
    new_turn(host)
}

fn new_turn(host: &mut DemoHost<'_>) -> Result<()> {
    host.call("hook/turn_start", &json!({ "event": { "turnIndex": 0 } }))?;
    Ok(())
}

/// Lets the agent call a tool; returns true if the call is allowed.
fn tool_call(host: &mut DemoHost<'_>, tool: &str) -> Result<bool> {
    host.dialogue
        .say(Speaker::Agent, &format!("wants to run {tool}"))?;
    let event = json!({ "toolName": tool, "toolCallId": "call", "input": {} });
    let answer = host.call("hook/tool_call", &json!({ "event": event }))?;
    let blocked = answer["block"]["reason"].as_str();
    let decision = blocked.map_or("allows it".to_owned(), |reason| {
        format!("blocks it:\n{reason}")
    });
    host.dialogue.say(Speaker::Sidecar, &decision)?;
    Ok(blocked.is_none())
}

fn step(host: &mut DemoHost<'_>, action: &str) -> Result<()> {
    host.dialogue
        .say(Speaker::Agent, &format!("calls workflow_step {action}"))?;
    let params =
        json!({ "name": "workflow_step", "toolCallId": "call", "arguments": { "action": action } });
    let answer = host.call("tool/execute", &params)?;
    ensure!(
        answer["isError"] != Value::Bool(true),
        "workflow_step {action} failed: {answer}"
    );
    host.dialogue.say(
        Speaker::Sidecar,
        &format!("answers:\n{}", text_of(&answer["content"][0]["text"])),
    )?;
    Ok(())
}

fn agent_stops(host: &mut DemoHost<'_>) -> Result<()> {
    host.dialogue.say(Speaker::Agent, "stops")?;
    let last = json!({ "role": "assistant", "stopReason": "stop", "content": [{ "type": "text", "text": "That is all." }] });
    host.call(
        "hook/agent_end",
        &json!({ "event": { "messages": [last] } }),
    )?;
    Ok(())
}
