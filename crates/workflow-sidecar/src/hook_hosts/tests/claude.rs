//! Claude Code: consent in the host, hosts that its agent starts, tools that no list is about.

use std::fs;

use serde_json::{Value, json};

use super::world::{World, context_of, is_denied, json_of, recorded, writing_call};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::host;
use crate::store::{Counts, RunQuery, Saved, SessionChange, SessionKey};

/// The variables of a hook in the terminal interface of a version.
fn terminal(agent: &str) -> [(&str, &str); 2] {
    [("AI_AGENT", agent), ("CLAUDE_CODE_ENTRYPOINT", "cli")]
}

/// The decision on a call of a tool, and its reason.
fn decision(world: &World, tool: &str, variables: &[(&str, &str)]) -> (Value, String) {
    let mut call = recorded(world.host, EventName::ToolCall);
    call["tool_name"] = json!(tool);
    call["tool_input"] = json!({});
    let printed = json_of(&world.send_from(&call, variables));
    let answer = &printed["hookSpecificOutput"];
    let reason = answer["permissionDecisionReason"].as_str();
    (
        answer["permissionDecision"].clone(),
        reason.unwrap_or_default().to_owned(),
    )
}

#[test]
fn a_call_that_needs_consent_is_asked_about_in_the_terminal_of_a_version_that_keeps_to_it() {
    let new = terminal("claude-code_2-1-211_harness");
    let [version, _] = new;
    for (variables, expected) in [
        (&new[..], "ask"),
        (&terminal("claude-code_2-2-0_harness"), "ask"),
        (&terminal("claude-code_2-1-210_harness"), "deny"),
        (&terminal("claude-code_x_harness"), "deny"),
        (&[version], "deny"),
        (&[version, ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")], "deny"),
        (
            &[new[0], new[1], ("WORKFLOW_SIDECAR_PARENT", "claude:x")],
            "deny",
        ),
        (&[], "deny"),
    ] {
        let world = World::new(host("claude").unwrap());
        world.make_read_only();
        world.start();
        // Nothing says that the user refused, so the third call is as the first.
        for _ in 0..5 {
            let (decision, reason) = decision(&world, "mcp__x__do", variables);
            assert_eq!(decision, expected, "{variables:?}");
            assert!(reason.contains("is unknown"), "{reason}");
            assert!(
                reason.contains("It needs the consent of the user"),
                "{reason}"
            );
            assert_eq!(
                reason.contains("cannot ask"),
                expected == "deny",
                "{reason}"
            );
            assert!(!reason.contains("for this run"), "{reason}");
        }
    }
}

#[test]
fn a_call_of_several_parts_asks_about_each() {
    let world = World::new(host("claude").unwrap());
    let workflow = "project/.pi/workflows/bugfix/workflow.yaml";
    let open = "name: Open\ncommandName: bugfix\ninitialMessage: Go\n\
                phases: [{ id: a, name: A, emoji: A, instructions: Work. }]\n";
    fs::write(world.root.path().join(workflow), open).unwrap();
    world.start();
    let files = [".pi/workflows/bugfix/b.md", ".claude/settings.json"];
    let parts = files.map(|file| format!("*** Add File: {file}\n+x\n"));
    let patch = format!("*** Begin Patch\n{}*** End Patch", parts.concat());
    let mut call = recorded(world.host, EventName::ToolCall);
    call["tool_name"] = json!("Bash");
    call["tool_input"] = json!({ "command": format!("apply_patch <<'E'\n{patch}\nE\n") });
    let printed = json_of(&world.send_from(&call, &terminal("claude-code_2-1-330_harness")));
    let answer = &printed["hookSpecificOutput"];
    assert_eq!(answer["permissionDecision"], "ask", "{printed}");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(files.iter().all(|file| reason.contains(file)), "{reason}");
}

#[test]
fn a_call_that_a_rule_blocks_is_not_asked_about_however_often_it_is_tried() {
    let world = World::new(host("claude").unwrap());
    world.make_read_only();
    world.start();
    for _ in 0..5 {
        let variables = terminal("claude-code_2-1-330_harness");
        assert_eq!(decision(&world, "CronCreate", &variables).0, "deny");
    }
}

#[test]
fn a_host_that_the_agent_starts_works_under_the_rules_of_its_session_while_that_has_a_run() {
    let world = World::new(host("claude").unwrap());
    let parent = recorded(world.host, EventName::Prompt)["session_id"].clone();
    let parent = format!("claude:{}", parent.as_str().unwrap());
    let nested = [("WORKFLOW_SIDECAR_PARENT", &*parent)];
    let event = |event: &Value| {
        let mut event = event.clone();
        event["session_id"] = json!("nested");
        world.send_from(&event, &nested)
    };
    let mut prompt = recorded(world.host, EventName::Prompt);
    let stop = recorded(world.host, EventName::Stop);
    let next = super::world::call_of(world.host, "workflow_step");
    let write = writing_call(world.host);
    assert_eq!(event(&write), Printed::default(), "without a run");
    prompt["prompt"] = json!("workflow bugfix it");
    assert!(event(&prompt).stdout.contains("only the user may give it"));
    world.start();
    assert!(is_denied(&event(&write)));
    assert!(is_denied(&event(&next)));
    prompt["prompt"] = json!("workflow skip");
    assert!(event(&prompt).stdout.contains("only the user may give it"));
    prompt["prompt"] = json!("do it");
    assert_eq!(event(&prompt), Printed::default());
    assert_eq!(event(&stop), Printed::default(), "it may end");
    assert_eq!(world.entries("nested"), 0);
    assert!(context_of(&world.send(&stop)).contains("is still in"));
    world.prompt("workflow cancel");
    assert_eq!(event(&write), Printed::default(), "after the run");
}

#[test]
fn a_nested_host_and_a_sub_agent_take_no_notice_and_shorten_no_conversation() {
    let world = World::new(host("claude").unwrap());
    world.start();
    let start = recorded(world.host, EventName::SessionStart);
    let key = SessionKey {
        host: "claude".to_owned(),
        session: start["session_id"].as_str().unwrap().to_owned(),
    };
    let parent = format!("claude:{}", key.session);
    let before = world.store.load(&key).unwrap();
    // What the user has to read waits for an event of the main agent.
    let mut memory: Value = serde_json::from_str(&before.memory).unwrap();
    memory["notices"] = json!(["Read this."]);
    let run = world
        .store
        .runs(&RunQuery::default())
        .unwrap()
        .remove(0)
        .run;
    let change = SessionChange {
        order: "",
        from: before.version,
        entries: &[],
        memory: &memory.to_string(),
        run: Some(run),
        counts: &Counts::default(),
        cwd: &world.root.path().join("project"),
        now: 1,
    };
    assert_eq!(world.store.save(&key, &change).unwrap(), Saved::Stored);
    let before = world.store.load(&key).unwrap();
    let nested = [("WORKFLOW_SIDECAR_PARENT", &*parent)];
    for (members, variables) in [
        (json!({ "session_id": "nested" }), &nested[..]),
        (
            json!({ "session_id": "nested", "source": "compact" }),
            &nested[..],
        ),
        (json!({ "agent_id": "a1", "source": "compact" }), &[]),
    ] {
        let mut event = start.clone();
        for (name, value) in members.as_object().unwrap() {
            event[name] = value.clone();
        }
        assert_eq!(world.send_from(&event, variables), Printed::default());
        let after = world.store.load(&key).unwrap();
        assert_eq!(
            (after.version, after.memory),
            (before.version, before.memory.clone())
        );
    }
    let mut result = recorded(world.host, EventName::ToolResult);
    let own = result.clone();
    result["session_id"] = json!("nested");
    let text = world.send_from(&result, &nested).stdout;
    assert!(!text.contains("Read this."), "{text}");
    let text = world.send(&own).stdout;
    assert!(text.contains("Read this."), "{text}");
}

#[test]
fn the_interruption_of_a_nested_host_is_none_of_the_session_that_started_it() {
    let mut world = World::new(host("claude").unwrap());
    world.limit("{ turns: 3 }");
    world.start();
    let key = SessionKey {
        host: "claude".to_owned(),
        session: recorded(world.host, EventName::Prompt)["session_id"]
            .as_str()
            .unwrap()
            .to_owned(),
    };
    let stored = |world: &World| world.store.load(&key).unwrap().version;
    let before = stored(&world);
    world.host = host("codex").unwrap();
    let event =
        json!({ "hook_event_name": "Interrupt", "session_id": "nested", "cwd": "$ROOT/project" });
    let parent = format!("claude:{}", key.session);
    let printed = world.send_from(&event, &[("WORKFLOW_SIDECAR_PARENT", &*parent)]);
    assert_eq!(printed, Printed::default());
    assert_eq!(stored(&world), before, "it counts no turn");
}

#[test]
fn the_shell_of_the_agent_names_the_session_that_started_first() {
    let claude = host("claude").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("shell.sh");
    let name = |session: &str, parent: Option<&str>| {
        fs::write(&file, "export OTHER=1\n").unwrap();
        let variable = |name: &str| match name {
            "CLAUDE_ENV_FILE" => Some(file.display().to_string()),
            "WORKFLOW_SIDECAR_PARENT" => parent.map(str::to_owned),
            _ => None,
        };
        let own = SessionKey {
            host: "claude".to_owned(),
            session: session.to_owned(),
        };
        claude.surroundings(&variable).name_session(&own).unwrap();
        fs::read_to_string(&file).unwrap()
    };
    let line = |key: &str| format!("export OTHER=1\nexport WORKFLOW_SIDECAR_PARENT='{key}'\n");
    assert_eq!(name("a-1", None), line("claude:a-1"));
    assert_eq!(name("b", Some("claude:a-1")), line("claude:a-1"));
    assert_eq!(name("b'; rm x; '", None), "export OTHER=1\n");
    // Only the name of a host is one.
    for parent in ["';rm x;':a", "x:a", "a", ":a", "claude';x:a"] {
        assert_eq!(name("b", Some(parent)), line("claude:b"), "{parent}");
    }
    assert_eq!(name("b", Some("qwen:a-1")), line("qwen:a-1"));
    assert_eq!(name("b", Some("claude:a';x")), "export OTHER=1\n");
}

#[test]
fn the_tool_and_the_command_of_the_plugin_are_those_of_the_installation() {
    let world = World::new(host("claude").unwrap());
    let started = world.prompt("/workflow-sidecar:workflow bugfix the export is empty");
    assert!(context_of(&started).contains("Find the cause."));
    let mut call = super::world::call_of(world.host, "workflow_step");
    call["tool_name"] = json!("mcp__plugin_workflow-sidecar_workflow__workflow_step");
    let printed = json_of(&world.send(&call));
    let ticket = &printed["hookSpecificOutput"]["updatedInput"]["_ticket"];
    assert!(ticket.is_string(), "{printed}");
}

#[test]
fn claude_code_finds_its_tools_and_its_sub_agents_report_whatever_the_list_of_the_phase_is() {
    let world = World::new(host("claude").unwrap());
    world.allow_only_reading();
    world.start();
    for (tool, runs) in [
        ("ToolSearch", true),
        ("SubagentHandback", true),
        ("Grep", false),
    ] {
        let printed = world.send_with(EventName::ToolCall, &json!({ "tool_name": tool }));
        assert_eq!(printed == Printed::default(), runs, "{tool}");
    }
}

#[test]
fn messages_name_the_slash_command_only_where_its_file_is() {
    let world = World::new(host("claude").unwrap());
    assert!(
        world
            .command("workflow bugfix")
            .contains("Usage: /workflow bugfix")
    );
    fs::remove_file(
        world
            .root
            .path()
            .join("project/.claude/commands/workflow.md"),
    )
    .unwrap();
    let plain = world.command("workflow bugfix");
    assert!(plain.contains("Usage: workflow bugfix"), "{plain}");
}
