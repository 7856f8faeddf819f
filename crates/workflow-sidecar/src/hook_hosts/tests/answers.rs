//! Answers to events: reminders, their form, and input that cannot be read.

use std::fs;

use serde_json::json;

use super::world::{World, call_of, context_of, is_blocked_prompt, json_of};
use crate::hook_hosts::answer::{HookAnswer, HookDecision};
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::tool_result::Replacement;
use crate::hook_hosts::{HOSTS, host};

#[test]
fn an_early_stop_is_answered_with_a_reminder_that_does_not_count_as_a_user_message() {
    for host in HOSTS {
        let world = World::new(host);
        world.start();
        let stopped = world.send_with(EventName::Stop, &json!({}));
        let is_error = is_blocked_prompt(&stopped);
        assert_eq!(is_error, host.name != "claude", "{}", host.name);
        assert_eq!(stopped.code, 0);
        let reminder = context_of(&stopped);
        assert!(reminder.starts_with("Continue with "), "{reminder}");
        // Gemini and Copilot bring it back as a prompt.
        world.prompt(&reminder);
        let status = world.command("workflow status");
        assert!(status.contains("Reminders: 1"), "{}: {status}", host.name);
        world.prompt("I am a person");
        let status = world.command("workflow status");
        assert!(!status.contains("Reminders: 1"), "{}: {status}", host.name);
    }
}

#[test]
fn reminders_end_before_the_host_ends_the_work_itself() {
    for (name, most) in [("copilot", 7), ("claude", 7), ("qwen", 7)] {
        let world = World::new(host(name).unwrap());
        world.start();
        let mut reminders = 0;
        while !context_of(&world.send_with(EventName::Stop, &json!({}))).is_empty() {
            reminders += 1;
            assert!(reminders < 8, "{name}");
            let call = call_of(world.host, "bash");
            world.send(&call);
        }
        assert_eq!(reminders, most, "{name}");
        let status = world.command("workflow status");
        assert!(status.contains("paused"), "{status}");
    }
}

#[test]
fn answers_have_only_the_keys_that_codex_accepts() {
    let host = host("codex").unwrap();
    let notice = Some("N".to_owned());
    let context = Some("C".to_owned());
    let stop = HookAnswer {
        notice: notice.clone(),
        ..HookAnswer::of(HookDecision::Continue("R".to_owned()))
    };
    let prompt = HookAnswer {
        context,
        notice,
        ..HookAnswer::default()
    };
    let printed =
        |event, answer: &HookAnswer| json_of(&host.form.print(event, host.events, answer, None));
    assert_eq!(
        printed(EventName::Stop, &stop),
        json!({ "decision": "block", "reason": "R", "systemMessage": "N" })
    );
    assert_eq!(
        printed(EventName::Prompt, &prompt),
        json!({
            "hookSpecificOutput": { "hookEventName": "UserPromptSubmit", "additionalContext": "C" },
            "systemMessage": "N",
        })
    );
    let replaced = HookAnswer::of(HookDecision::Replace(Replacement {
        text: "T".to_owned(),
        redacted: None,
    }));
    assert_eq!(
        printed(EventName::ToolResult, &replaced),
        json!({ "decision": "block", "reason": "T" })
    );
}

#[test]
fn an_event_that_cannot_be_read_is_blocked_in_every_host() {
    for host in HOSTS {
        let closed = host.form.print(
            EventName::Unknown,
            host.events,
            &HookAnswer::closed(EventName::Unknown, "why"),
            None,
        );
        assert!(
            closed.code == 2 && !closed.stderr.is_empty() || host.name == "gemini",
            "{closed:?}"
        );
        assert_eq!(
            host.name == "gemini",
            closed.stdout.contains(r#""decision":"deny""#)
        );
    }
}

#[test]
fn a_secret_is_redacted_in_every_form_of_a_result() {
    let world = World::new(host("claude").unwrap());
    let settings = world.root.path().join("project/.pi/workflow-sidecar.json5");
    let rules = json!({ "results": [{ "redact": ["sk-[a-z]{8}", "4[0-9]{15}"] }] });
    fs::write(settings, rules.to_string()).unwrap();
    let key = "sk-abcdefgh";
    let deep = (0..200).fold(json!(key), |inner, _| json!([inner]));
    for result in [
        json!(key),
        json!({ "stdout": key }),
        json!({ "content": [{ "type": "text", "text": key }] }),
        json!([{ "type": "text", "text": "sk-abcd" }, { "type": "text", "text": "efgh" }]),
        json!({ "card": 4_111_111_111_111_111_u64 }),
        json!(4_111_111_111_111_111_u64),
        json!({ key: 1 }),
        json!({ "type": key, "text": "x" }),
        deep,
    ] {
        let members = json!({ "tool_name": "mcp__x__y", "tool_response": result });
        let printed = world.send_with(EventName::ToolResult, &members);
        let text = json_of(&printed)["hookSpecificOutput"]["updatedToolOutput"].to_string();
        let is_secret = text.contains("abcdefgh") || text.contains("4111");
        assert!(text != "null" && !is_secret, "{result}: {text}");
    }
    let members =
        json!({ "tool_name": "mcp__x__y", "tool_response": { "stdout": "fine", "n": 1 } });
    let printed = world.send_with(EventName::ToolResult, &members);
    assert_eq!(json_of(&printed), json!(null));
}
