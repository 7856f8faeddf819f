//! Answers to events: reminders, their form, and input that cannot be read.

use serde_json::json;

use super::world::{World, call_of, is_blocked_prompt, json_of};
use crate::hook_hosts::answer::{HookAnswer, HookDecision};
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::{HOSTS, host};

#[test]
fn an_early_stop_is_answered_with_a_reminder_that_is_no_persons_word() {
    for host in HOSTS {
        let world = World::new(host);
        world.start();
        let stopped = world.send_with(EventName::Stop, &json!({}));
        let json = json_of(&stopped);
        assert!(is_blocked_prompt(&stopped), "{}: {json}", host.name);
        assert_eq!(stopped.code, 0);
        let reminder = json["reason"].as_str();
        let reminder = reminder.or(json["followup_message"].as_str()).unwrap();
        assert!(reminder.contains("You must NOT stop yet"), "{reminder}");
        // Gemini, Copilot and Cursor bring it back as a prompt.
        world.prompt(reminder);
        let status = world.command("workflow status");
        assert!(status.contains("Reminders: 1"), "{}: {status}", host.name);
        world.prompt("I am a person");
        let status = world.command("workflow status");
        assert!(!status.contains("Reminders: 1"), "{}: {status}", host.name);
    }
}

#[test]
fn reminders_end_before_the_host_ends_the_work_itself() {
    for (name, most) in [("copilot", 7), ("claude", 7), ("goose", 7), ("cursor", 4)] {
        let world = World::new(host(name).unwrap());
        world.start();
        let mut reminders = 0;
        while is_blocked_prompt(&world.send_with(EventName::Stop, &json!({}))) {
            reminders += 1;
            assert!(reminders < 8, "{name}");
            let call = call_of(world.host, "bash");
            world.send(&call);
        }
        assert_eq!(reminders, most, "{name}");
        if world.host.answers_prompts {
            let status = world.command("workflow status");
            assert!(status.contains("paused"), "{status}");
        }
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
    let printed = |event, answer: &HookAnswer| json_of(&(host.answer)(event, answer));
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
    let replaced = HookAnswer::of(HookDecision::Replace("T".to_owned()));
    assert_eq!(
        printed(EventName::ToolResult, &replaced),
        json!({ "decision": "block", "reason": "T" })
    );
}

#[test]
fn an_event_that_cannot_be_read_is_blocked_in_every_host() {
    for host in HOSTS {
        let closed = (host.answer)(
            EventName::Unknown,
            &HookAnswer::closed(EventName::Unknown, "why"),
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
