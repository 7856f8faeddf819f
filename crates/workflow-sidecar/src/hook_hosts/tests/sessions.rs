//! Sessions: recorded ones, forks, shortened conversations.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::world::{
    World, call_of, context_of, fixture, is_blocked_prompt, is_denied, json_of, recorded,
    session_of, writing_call,
};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::{EventName, EventPayload};
use crate::hook_hosts::transcript::last_message;
use crate::hook_hosts::{HOSTS, host};
use crate::sessions::FoundSession;
use crate::show::Timelines;
use crate::store::RunQuery;

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
fn the_envelope_of_an_event_tells_its_host() {
    for host in HOSTS {
        for stdin in session_of(host) {
            let text = stdin.to_string();
            let payload = EventPayload::parse(text.as_bytes()).unwrap();
            assert!(!payload.is_foreign(), "{text}");
            let is_copilots = payload.is_of_copilot();
            assert!(
                is_copilots == (host.name == "copilot") || host.name != "claude",
                "{text}"
            );
        }
    }
    let claude = host("claude").unwrap();
    for (event, expected) in [
        (
            json!({ "hookEventName": "pre_tool_use", "hook_event_name": "PreToolUse" }),
            EventName::ToolCall,
        ),
        (
            json!({ "hookEventName": "user_prompt_submit", "prompt": "x" }),
            EventName::Prompt,
        ),
        (
            json!({ "hookEventName": "pre_tool_use", "toolName": "bash" }),
            EventName::Unknown,
        ),
        (json!({ "tool_name": "Bash" }), EventName::Unknown),
    ] {
        let text = event.to_string();
        let payload = EventPayload::parse(text.as_bytes()).unwrap();
        assert!(payload.is_foreign(), "{text}");
        assert_eq!(payload.name(claude.events), expected, "{text}");
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
fn after_a_compaction_the_next_result_or_prompt_has_the_whole_context() {
    let world = World::new(host("copilot").unwrap());
    world.start();
    let result = || context_of(&world.send_with(EventName::ToolResult, &json!({})));
    let compact = |members| drop(world.send_with(EventName::Compaction, &members));
    assert!(!result().contains("Find the cause."));
    compact(json!({ "agent_id": "sub" }));
    assert!(!result().contains("Find the cause."), "of a sub-agent");
    compact(json!({}));
    let of_subagent = world.send_with(EventName::ToolResult, &json!({ "agent_id": "sub" }));
    assert!(!context_of(&of_subagent).contains("Find the cause."));
    let text = result();
    assert!(
        text.contains("Find the cause.") && text.contains("the export"),
        "{text}"
    );
    assert!(!result().contains("Find the cause."), "once");
    compact(json!({}));
    assert!(context_of(&world.prompt("go on")).contains("Find the cause."));
    assert!(!result().contains("Find the cause."), "once");
    compact(json!({}));
    let reminder = context_of(&world.send_with(EventName::Stop, &json!({})));
    assert!(!reminder.contains("instructions above"), "{reminder}");
}

#[test]
fn a_check_for_compaction_counts_if_the_conversation_grew_or_the_user_asks() {
    let world = World::new(host("gemini").unwrap());
    world.start();
    let transcript = world.root.path().join("chat.jsonl");
    let counts = |length: usize, trigger: &str| {
        fs::write(&transcript, " ".repeat(length)).unwrap();
        let members = json!({ "transcript_path": transcript, "trigger": trigger });
        world.send_with(EventName::CompactionCheck, &members);
        let result = world.send_with(EventName::ToolResult, &json!({}));
        context_of(&result).contains("Find the cause.")
    };
    assert!(!counts(60_000, "auto"));
    assert!(counts(70_000, "auto"));
    assert!(!counts(70_000, "auto") && !counts(130_000, "auto"));
    assert!(counts(140_000, "auto"));
    assert!(counts(140_000, "manual"));
    assert!(counts(10, "auto"), "another conversation");
    let gone = json!({ "transcript_path": "", "trigger": "auto" });
    world.send_with(EventName::CompactionCheck, &gone);
    let result = world.send_with(EventName::ToolResult, &json!({}));
    assert!(
        context_of(&result).contains("Find the cause."),
        "nothing is known"
    );
}

/// The line with which Copilot CLI says that the agent stops.
const STOPS: &str = "\n{\"type\":\"hook.start\",\"data\":{\"hookInvocationId\":\"1\",\"hookType\":\"agentStop\"}}\n{\"type\":\"session.info\",\"data\":{}}\n";

#[test]
fn the_last_message_is_read_from_the_end_of_the_transcript() {
    let transcript = tempfile::tempdir().unwrap();
    let transcript = transcript.path().join("events.jsonl");
    let last_of = |text: &[u8]| {
        fs::write(&transcript, [text, STOPS.as_bytes()].concat()).unwrap();
        last_message(&transcript)
    };
    let message = |text: &str| {
        let line = json!({ "type": "assistant.message", "data": { "content": text } });
        format!("{line}\n")
    };
    let lines = [
        message("first"),
        message("Which one?"),
        r#"{"type":"assistant.message","data":{"content":"sub","parentToolCallId":"1"}}"#
            .to_owned(),
        "\n{\"type\":\"hook.end\",\"data\":{\"hookInvocationId\":\"0\"}}\n".to_owned(),
    ]
    .concat();
    assert_eq!(last_of(lines.as_bytes()).as_deref(), Some("Which one?"));
    let huge = format!("{}{lines}", message(&"x".repeat(1 << 20)));
    assert_eq!(last_of(huge.as_bytes()).as_deref(), Some("Which one?"));
    assert_eq!(last_of(message(&"x".repeat(1 << 20)).as_bytes()), None);
    for garbage in [
        &b""[..],
        b"\xff\xfe\n\n{",
        b"[1]\n\"a\"\nnull",
        b"{\"type\":\"assistant.message\"}",
    ] {
        assert_eq!(last_of(garbage), None);
    }
    fs::write(&transcript, message("An older question?")).unwrap();
    assert_eq!(last_message(&transcript), None, "the last one is missing");
    let late = transcript.clone();
    let late = std::thread::spawn(move || last_message(&late));
    std::thread::sleep(std::time::Duration::from_millis(50));
    fs::write(&transcript, message("Late?") + STOPS).unwrap();
    assert_eq!(late.join().unwrap().as_deref(), Some("Late?"));
    assert_eq!(last_message(&transcript.join("missing")), None);
    assert_eq!(last_message(transcript.parent().unwrap()), None);
}

#[cfg(unix)]
#[test]
fn a_pipe_as_transcript_is_not_waited_for() {
    let world = World::new(host("copilot").unwrap());
    world.start();
    let pipe = world.root.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let members = json!({ "transcript_path": pipe, "source": "fork" });
    let reminder = world.send_with(EventName::Stop, &members);
    assert!(json_of(&reminder)["decision"] == "block", "{reminder:?}");
    world.send_with(EventName::SessionStart, &members);
}

#[test]
fn a_question_that_is_only_in_the_transcript_pauses_the_run() {
    let world = World::new(host("copilot").unwrap());
    world.pause_on_question();
    world.start();
    let transcript = world.root.path().join("events.jsonl");
    let line =
        json!({ "type": "assistant.message", "data": { "content": "Which one do you want?" } });
    fs::write(&transcript, format!("{line}{STOPS}")).unwrap();
    let stopped = world.send_with(EventName::Stop, &json!({ "transcript_path": transcript }));
    assert_eq!(json_of(&stopped)["decision"], json!(null), "{stopped:?}");
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

/// The first event of a fork that reaches us: a call of a tool, with the transcript of this host.
fn first_call_of_fork(world: &World) -> Printed {
    let parent = &recorded(world.host, EventName::Prompt)["session_id"];
    let lines = if world.host.name == "codex" {
        json!({ "type": "session_meta", "payload": { "forked_from_id": parent } }).to_string()
    } else {
        let copied = |of: &Value| json!({ "type": "assistant", "requestSessionId": of });
        let own = json!({ "type": "assistant", "requestSessionId": "fork" });
        let first = copied(&json!("another"));
        format!(
            "{{\"type\":\"mode\"}}\n{first}\n{}\n{own}\n",
            copied(parent)
        )
    };
    let transcript = world.root.path().join("fork.jsonl");
    fs::write(&transcript, lines).unwrap();
    let mut call = writing_call(world.host);
    call["session_id"] = json!("fork");
    call["transcript_path"] = json!(transcript);
    world.send(&call)
}

#[test]
fn a_fork_has_its_run_from_the_first_event_that_names_its_parent() {
    for name in ["codex", "claude"] {
        let world = World::new(host(name).unwrap());
        world.start();
        assert!(is_denied(&first_call_of_fork(&world)), "{name}");
        assert_eq!(world.store.runs(&RunQuery::default()).unwrap().len(), 2);
    }
}

#[test]
fn a_run_that_began_after_the_fork_is_not_copied() {
    let world = World::new(host("codex").unwrap());
    assert_eq!(first_call_of_fork(&world), Printed::default());
    std::thread::sleep(std::time::Duration::from_millis(1200));
    world.start();
    assert_eq!(first_call_of_fork(&world), Printed::default());
    assert_eq!(world.store.runs(&RunQuery::default()).unwrap().len(), 1);
}

#[test]
fn a_fork_is_a_run_of_its_own() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let parent = recorded(world.host, EventName::Prompt)["session_id"].clone();
    let transcript = world.root.path().join("fork.jsonl");
    let first = json!({ "type": "session_meta", "payload": { "forked_from_id": parent } });
    fs::write(&transcript, format!("{first}\n")).unwrap();
    let fork = json!({ "session_id": "fork", "source": "fork", "transcript_path": transcript });
    world.send_with(EventName::SessionStart, &fork);
    let mut runs = world.store.runs(&RunQuery::default()).unwrap();
    runs.sort_by_key(|run| run.key.session != "fork");
    assert_eq!(runs.len(), 2);
    assert_ne!(runs[0].run.task_id, runs[1].run.task_id);
    assert!(runs.iter().all(|run| run.run.is_active));
    let key = runs[0].key.clone();
    let entries = world.store.load(&key).unwrap().entries;
    let old = &runs[1].run.task_id;
    assert!(
        entries
            .iter()
            .all(|entry| !entry.data.get().contains(old.as_str()))
    );
    world.send_with(
        EventName::Prompt,
        &json!({ "session_id": "fork", "prompt": "workflow cancel" }),
    );
    let runs = world.store.runs(&RunQuery::default()).unwrap();
    let active = runs.iter().filter(|run| run.run.is_active);
    assert_eq!(active.count(), 1, "the run of the parent goes on");
}

#[test]
fn each_run_of_a_session_is_listed_and_can_be_shown() {
    let world = World::new(host("claude").unwrap());
    let prompt = |text: &str| world.send_with(EventName::Prompt, &json!({ "prompt": text }));
    world.start();
    prompt("workflow cancel");
    prompt("workflow bugfix the second");
    let mut runs = world.store.runs(&RunQuery::default()).unwrap();
    runs.sort_by_key(|run| run.run.is_active);
    let states: Vec<&str> = runs.iter().map(|run| &*run.run.state).collect();
    assert_eq!(states, ["cancelled", "active"]);
    assert_eq!(runs[0].key, runs[1].key);
    let first = FoundSession::in_store(runs.remove(0), &world.store).unwrap();
    let task = &first.run.as_ref().unwrap().run.task_id;
    let entries = first.entries().entries;
    let is_of_first = |data: &str| data.contains(&**task);
    assert!(!entries.is_empty());
    assert!(
        entries
            .iter()
            .all(|entry| is_of_first(entry.data.unwrap().get()))
    );
}

#[test]
fn a_command_that_two_installations_send_is_carried_out_once() {
    for (name, id) in [("codex", "turn_id"), ("claude", "prompt_id")] {
        let world = World::new(host(name).unwrap());
        let send = |text: &str, of: &str| {
            world.send_with(EventName::Prompt, &json!({ "prompt": text, id: of }))
        };
        let start = "workflow bugfix the export is empty";
        assert!(context_of(&send(start, "1")).contains("Find the cause."));
        let again = send(start, "1");
        assert!(!is_blocked_prompt(&again), "{name}: the first goes on");
        assert!(
            context_of(&again).contains("counts once"),
            "{name}: {again:?}"
        );
        let status = send("workflow status", "2").stdout;
        assert!(status.contains("Analyze"), "{name}: {status}");
        let again = send("workflow status", "2");
        assert!(is_blocked_prompt(&again), "{name}: {again:?}");
        assert!(again.stdout.contains("counts once"), "{name}: {again:?}");
        assert!(!send("workflow status", "3").stdout.is_empty(), "{name}");
        assert!(!send(start, "4").stdout.is_empty(), "{name}: it is refused");
    }
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
fn a_clear_or_compaction_shortens() {
    let is_shortened = |source: &str| {
        let text = json!({ "hook_event_name": "SessionStart", "source": source }).to_string();
        let payload = EventPayload::parse(text.as_bytes()).unwrap();
        payload.is_shortened()
    };
    assert!(is_shortened("compact") && is_shortened("clear"));
    assert!(!is_shortened("fork") && !is_shortened("resume"));
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

#[test]
fn a_stop_that_two_installations_send_is_judged_once() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let transcript = world.root.path().join("transcript.jsonl");
    for reminder in 1..4 {
        fs::write(&transcript, "x".repeat(reminder)).unwrap();
        let stop = || {
            let of_turn = json!({ "turn_id": "1", "transcript_path": transcript });
            context_of(&world.send_with(EventName::Stop, &of_turn))
        };
        assert!(stop().contains("is still in"), "{reminder}");
        assert_eq!(stop(), "", "{reminder}");
    }
}

#[test]
fn a_host_that_an_agent_starts_works_under_the_run_that_its_shell_names_or_else_of_its_project() {
    for (name, mark, names) in [
        ("codex", "CODEX_SESSION_ID", true),
        ("copilot", "COPILOT_AGENT_SESSION_ID", true),
        ("gemini", "GEMINI_CLI", false),
        ("qwen", "QWEN_CODE", false),
    ] {
        let world = World::new(host(name).unwrap());
        let parent = recorded(world.host, EventName::Prompt)["session_id"].clone();
        let parent = parent.as_str().unwrap();
        let is_denied_from = |session: &str, mark: &str, value: &str, cwd: Option<&Path>| {
            let mut call = writing_call(world.host);
            call["session_id"] = json!(session);
            if let Some(cwd) = cwd {
                call["cwd"] = json!(cwd);
            }
            is_denied(&world.send_from(&call, &[(mark, value)]))
        };
        let value = if names { parent } else { "1" };
        assert!(!is_denied_from("nested", mark, value, None), "{name}");
        world.start();
        assert!(is_denied_from("nested", mark, value, None), "{name}");
        // One that such a host starts has the name of a session without a run.
        assert!(is_denied_from("deeper", mark, "nested", None), "{name}");
        let elsewhere = tempfile::tempdir().unwrap();
        let elsewhere = Some(elsewhere.path());
        assert_eq!(is_denied_from("nested", mark, value, elsewhere), names);
        assert!(!is_denied_from("another", "TERM", "x", None), "{name}");
        assert_eq!(world.entries("nested"), 0);
        // A terminal of the user may have the mark, too.
        let next = call_of(world.host, "workflow_step");
        let printed = world.send_from(&next, &[(mark, "1")]);
        assert!(!is_denied(&printed), "{name}: {printed:?}");
        world.prompt("workflow cancel");
        assert!(!is_denied_from("nested", mark, value, None), "{name}");
    }
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_order_of_an_approver_is_carried_out_before_the_next_event_and_once() {
    use crate::store::tests::server::Server;

    let Some(server) = Server::start() else {
        return;
    };
    let mut world = World::new(host("codex").unwrap());
    world.store = server.store("agent", "a");
    world.start();
    let find = || {
        world
            .store
            .runs(&RunQuery::default())
            .unwrap()
            .remove(0)
            .run
    };
    let order = |command: &str| {
        let phase = find().phase;
        let order = json!({ "command": command, "phase": phase, "by": "ada" }).to_string();
        let approver = server.store("approver", "b");
        assert!(approver.put_order(&find().task_id, &order).unwrap());
    };
    assert!(is_denied(&world.send(&writing_call(world.host))));
    order("workflow-skip");
    let read = json!({ "tool_name": "Bash", "tool_input": { "command": "cat a" } });
    world.send_with(EventName::ToolCall, &read);
    assert_eq!(find().phase, "Fix");
    assert!(!is_denied(&world.send(&writing_call(world.host))));
    assert_eq!(find().phase, "Fix", "it counts once");
    let told = json_of(&world.prompt("hello")).to_string();
    assert!(
        told.contains("The user moved the workflow: Analyze"),
        "{told}"
    );
    order("workflow-pause");
    // A command that is refused is an event as well.
    let scheduled = json!({ "prompt": "workflow resume", "source": "loop" });
    world.send_with(EventName::Prompt, &scheduled);
    assert_eq!(find().state, "paused");
    assert!(server.store("agent", "a").orders().unwrap().is_empty());
    // Of a sub-agent, and in a store where the agent could have written it, an order waits.
    order("workflow-resume");
    let mut of_subagent = writing_call(world.host);
    of_subagent["agent_id"] = json!("other");
    world.send(&of_subagent);
    server.sql("GRANT workflow_approver TO agent");
    world.send_with(EventName::ToolCall, &read);
    assert_eq!(find().state, "paused");
}

#[test]
fn blocked_calls_are_on_the_page_of_the_run_and_no_session_continues_with_them() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let session = writing_call(world.host)["session_id"].clone();
    let entries = world.entries(session.as_str().unwrap());
    for _ in 0..510 {
        assert!(is_denied(&world.send(&writing_call(world.host))));
    }
    assert_eq!(world.entries(session.as_str().unwrap()), entries);
    let run = world.store.runs(&RunQuery::default()).unwrap().remove(0);
    let kept = world.store.look_at(&run.key).unwrap().entries.len() - entries;
    assert_eq!(kept, 501);
    let found = FoundSession::in_store(run, &world.store).unwrap();
    let shown = Timelines::of_found(&found, None)
        .unwrap()
        .articles()
        .unwrap();
    assert!(
        shown.contains("data-label=\"Blocked calls\">501<"),
        "{shown}"
    );
    assert!(shown.contains("they are not listed"), "{shown}");
    assert!(
        shown.contains("is blocked during the Analyze phase"),
        "{shown}"
    );
}
