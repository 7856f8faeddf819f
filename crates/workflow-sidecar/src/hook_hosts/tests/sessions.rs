//! Sessions: recorded ones, forks, shortened conversations.

use std::fs;

use serde_json::json;

use super::world::{
    World, call_of, context_of, fixture, json_of, recorded, session_of, writing_call,
};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::{EventName, EventPayload};
use crate::hook_hosts::{HOSTS, host};

#[test]
fn every_recorded_event_of_a_session_is_read() {
    for host in HOSTS {
        let mut seen = Vec::new();
        for stdin in session_of(host) {
            let text = stdin.to_string().replace("$ROOT", "/somewhere");
            let payload = EventPayload::parse(text.as_bytes()).unwrap();
            let name = payload.name(host.events);
            if name == EventName::Unused {
                continue;
            }
            let event = payload.event(name).unwrap();
            assert!(!event.session.is_empty() && event.cwd.ends_with("project"));
            seen.push(name);
        }
        for (known, name) in host.events {
            // Nobody interrupted the recorded session.
            let is_recorded = seen.contains(name) || *name == EventName::Interrupt;
            assert!(is_recorded, "{}: {known}", host.name);
        }
    }
}

#[test]
fn a_shortened_conversation_gets_the_whole_context_again() {
    let world = World::new(host("codex").unwrap());
    world.start();
    world.send_with(EventName::Stop, &json!({}));
    let printed = world.send_with(EventName::SessionStart, &json!({ "source": "compact" }));
    assert!(context_of(&printed).contains("Find the cause."));
    let status = json_of(&world.prompt("workflow status")).to_string();
    assert!(status.contains("Reminders: 1"), "{status}");
}

#[test]
fn a_fork_continues_the_run_of_its_parent() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let parent = recorded(world.host, EventName::Prompt)["session_id"].clone();
    let transcript = world.root.path().join("fork.jsonl");
    let first = json!({ "type": "session_meta", "payload": { "forked_from_id": parent } });
    fs::write(&transcript, format!("{first}\n{{}}\n")).unwrap();
    let fork = json!({ "session_id": "fork", "source": "fork", "transcript_path": transcript });
    world.send_with(EventName::SessionStart, &fork);
    assert_eq!(
        world.entries("fork"),
        world.entries(parent.as_str().unwrap())
    );
    let mut call = writing_call(world.host);
    call["session_id"] = json!("fork");
    assert_eq!(world.send(&call).code, 2);
    call["session_id"] = json!("another");
    assert_eq!(world.send(&call), Printed::default());
}

#[test]
fn a_session_without_a_run_leaves_no_trace() {
    for host in HOSTS {
        let world = World::new(host);
        for stdin in session_of(host) {
            let is_step = stdin.to_string().contains("workflow_step");
            if !is_step {
                world.send(&stdin);
            }
        }
        assert!(!world.root.path().join("state").exists(), "{}", host.name);
    }
}

#[test]
fn recorded_sessions_of_sub_agents_compaction_and_resume_are_played() {
    for name in ["codex", "copilot"] {
        let more = fixture(&format!("{name}.more.json"));
        for events in more.as_object().unwrap().values() {
            let world = World::new(host(name).unwrap());
            for hook in events.as_array().unwrap() {
                let printed = world.send(&hook["stdin"]);
                assert_eq!(printed, Printed::default(), "{name}: {}", hook["event"]);
            }
        }
    }
}

#[test]
fn a_clear_or_compaction_shortens_and_a_fork_copies() {
    let source = |source: &str| {
        let text = json!({ "hook_event_name": "SessionStart", "source": source }).to_string();
        let payload = EventPayload::parse(text.as_bytes()).unwrap();
        (payload.is_shortened(), payload.is_fork())
    };
    assert_eq!(source("compact"), (true, false));
    assert_eq!(source("clear"), (true, false));
    assert_eq!(source("fork"), (false, true));
    assert_eq!(source("resume"), (false, false));
}

#[test]
fn budgets_count_calls_turns_and_minutes_across_the_processes_of_a_host() {
    for host in HOSTS {
        let world = World::new(host);
        world.limit("{ toolCalls: 3, turns: 2 }");
        world.prompt("workflow bugfix the export is empty");
        let call = call_of(host, "bash");
        let calls = (0..5).map(|_| world.send(&call).stdout);
        let blocked = calls.filter(|answer| answer.contains("3 of 3 tool calls"));
        assert_eq!(blocked.count(), 2, "{}", host.name);

        let world = World::new(host);
        world.limit("{ turns: 2 }");
        world.prompt("workflow bugfix the export is empty");
        world.send_with(EventName::Stop, &json!({}));
        assert!(
            !world.send(&call).stdout.contains("budget"),
            "{}",
            host.name
        );
        world.send_with(EventName::Stop, &json!({}));
        let blocked = world.send(&call).stdout;
        assert!(blocked.contains("2 of 2 turns"), "{}: {blocked}", host.name);
        world.command("workflow resume +1");
        assert!(
            !world.send(&call).stdout.contains("no tool may run"),
            "{}",
            host.name
        );
    }
}

#[test]
fn a_call_that_a_budget_counts_adds_no_entry() {
    for host in HOSTS {
        let world = World::new(host);
        world.limit("{ toolCalls: 100 }");
        world.start();
        let call = call_of(host, "bash");
        let session = call["session_id"].as_str().unwrap();
        let before = world.entries(session);
        assert!(before > 0, "{}", host.name);
        for _ in 0..25 {
            world.send(&call);
        }
        assert_eq!(world.entries(session), before, "{}", host.name);
    }
}
