//! Tool calls: denials, patches, tickets, sub-agents.

use serde_json::{Value, json};

use super::world::{World, call_of, json_of, recorded, session_of, writing_call};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::{HOSTS, TICKET_ARGUMENT, host, session_ticket};
use crate::store::{SessionKey, Store as _, Ticket};
use crate::time::wall_time;

#[test]
fn a_call_that_the_phase_forbids_is_denied_in_the_closed_form_of_the_host() {
    for host in HOSTS {
        let world = World::new(host);
        let call = writing_call(host);
        assert_eq!(
            world.send(&call),
            Printed::default(),
            "{}: no run",
            host.name
        );
        world.start();
        let denied = world.send(&call);
        let json = json_of(&denied);
        let (decision, code) = match host.name {
            "gemini" => (json["decision"].clone(), 0),
            "copilot" => (json["permissionDecision"].clone(), 2),
            "cursor" => (json["permission"].clone(), 0),
            "goose" => (json["decision"].clone(), 2),
            _ => (json["hookSpecificOutput"]["permissionDecision"].clone(), 2),
        };
        let deny = if host.name == "goose" {
            "block"
        } else {
            "deny"
        };
        assert_eq!(
            (decision, denied.code),
            (json!(deny), code),
            "{}",
            host.name
        );
        assert!(denied.stdout.contains("blocked during the Analyze phase"));
        assert_eq!(denied.stderr.is_empty(), code == 0);
        let shell = call_of(host, "bash");
        assert_eq!(world.send(&shell), Printed::default(), "{}", host.name);
    }
}

#[test]
fn a_patch_in_a_shell_line_is_judged_as_a_patch() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let patches = session_of(world.host).into_iter().filter(|stdin| {
        stdin["hook_event_name"] == "PreToolUse"
            && stdin["tool_name"] == "Bash"
            && stdin.to_string().contains("Begin Patch")
    });
    let patches: Vec<Value> = patches.collect();
    assert!(!patches.is_empty());
    assert!(patches.iter().all(|call| world.send(call).code == 2));
}

#[test]
fn the_step_tool_gets_a_ticket_and_a_sub_agent_gets_none() {
    for host in HOSTS {
        let world = World::new(host);
        let call = call_of(host, "workflow_step");
        let printed = json_of(&world.send(&call));
        let session = call["session_id"].as_str();
        let session = session.or(call["conversation_id"].as_str()).unwrap();
        let ticket = if host.changes_arguments {
            let input = printed
                .pointer("/hookSpecificOutput/updatedInput")
                .or_else(|| printed.pointer("/hookSpecificOutput/tool_input"))
                .or_else(|| printed.get("modifiedArgs"))
                .or_else(|| printed.get("updated_input"))
                .unwrap_or_else(|| panic!("{}: {printed}", host.name));
            assert_eq!(input["action"], "next");
            input[TICKET_ARGUMENT].as_str().unwrap().to_owned()
        } else {
            // A second hook of the session replaces the ticket of the first.
            assert_eq!(printed, Value::Null);
            assert_eq!(world.send(&call), Printed::default());
            session_ticket(host.name, session)
        };
        let taken = world.store.take(&ticket, wall_time()).unwrap().unwrap();
        assert_eq!(taken.key.session, session);
        let mut of_subagent = call.clone();
        of_subagent["agent_id"] = json!("a1");
        let denied = world.send(&of_subagent);
        assert!(
            denied.stdout.contains("Only the main agent"),
            "{}",
            host.name
        );
    }
}

#[test]
fn a_ticket_that_expired_or_was_never_issued_is_not_taken() {
    let world = World::new(host("codex").unwrap());
    let ticket = Ticket {
        key: SessionKey {
            host: "codex".to_owned(),
            session: "s".to_owned(),
        },
        cwd: world.root.path().to_path_buf(),
        expires: 100,
    };
    for (id, now, is_taken) in [("a", 100, true), ("b", 101, false)] {
        world.store.issue(id, &ticket, 50).unwrap();
        assert_eq!(
            world.store.take(id, now).unwrap().is_some(),
            is_taken,
            "{id}"
        );
        assert_eq!(world.store.take(id, now).unwrap(), None, "{id} is used");
    }
    assert_eq!(world.store.take("never", 60).unwrap(), None);
}

#[test]
fn a_sub_agent_works_under_the_rules_of_the_session_that_started_it() {
    for name in ["codex", "copilot", "claude"] {
        let world = World::new(host(name).unwrap());
        world.start();
        let mut call = writing_call(world.host);
        call["agent_id"] = json!("a1");
        if name == "copilot" {
            call["parent_agent_id"] = call["session_id"].clone();
            call["session_id"] = json!("of-the-sub-agent");
        }
        assert_eq!(world.send(&call).code, 2, "{name}");
        let mut stop = recorded(world.host, EventName::Stop);
        stop["agent_id"] = json!("a1");
        stop["parent_agent_id"] = stop["session_id"].clone();
        assert_eq!(world.send(&stop), Printed::default(), "{name}");
    }
}
