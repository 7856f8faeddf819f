//! Prompts: starting a run, and commands of a person.

use serde_json::json;

use super::world::{World, context_of, is_blocked_prompt, json_of, recorded, writing_call};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::{HOSTS, host};

#[test]
fn a_run_starts_by_prompt_and_its_context_reaches_the_model() {
    for host in HOSTS {
        let world = World::new(host);
        let context = context_of(&world.start());
        assert!(
            context.contains("Find the cause."),
            "{}: {context}",
            host.name
        );
        assert!(
            context.contains("Fix this: the export is empty"),
            "{context}"
        );
        let again = context_of(&world.prompt("go on"));
        assert!(again.contains("unchanged"), "{}: {again}", host.name);
    }
}

#[test]
fn a_start_says_that_nothing_was_measured_in_this_version_of_the_host() {
    for host in HOSTS {
        let mut world = World::new(host);
        for (version, is_said) in [(None, false), (Some("99.0.0"), true)] {
            world.version = version.map(str::to_owned);
            let printed = world.start();
            let told = printed.stdout.contains("99.0.0 is unverified");
            assert_eq!(told, is_said, "{}: {}", host.name, printed.stdout);
            assert!(context_of(&printed).contains("Find the cause."));
            world.prompt("workflow cancel");
        }
    }
}

#[test]
fn commands_are_answered_without_the_model() {
    for host in HOSTS {
        let world = World::new(host);
        for (prompt, expected) in [
            ("workflow status", "No workflow is active"),
            ("workflow bugfix", "Usage: {word} bugfix"),
        ] {
            let expected = expected.replace("{word}", world.word());
            let printed = world.prompt(prompt);
            assert!(is_blocked_prompt(&printed), "{}: {prompt}", host.name);
            assert!(printed.stdout.contains(&expected), "{}", printed.stdout);
        }
        world.start();
        for (prompt, expected) in [
            ("workflow pause", "is paused"),
            ("workflow resume", "is still in"),
            ("/workflow status", "Analyze"),
            ("workflow skip", "Repair it."),
            ("workflow bugfix another", "workflow confirm bugfix another"),
            ("workflow goto nowhere", "There is no phase"),
            ("workflow confirm bugfix another", "Find the cause."),
            ("workflow cancel", "Workflow cancelled"),
        ] {
            let text = world.command(prompt);
            assert!(text.contains(expected), "{}: {prompt}: {text}", host.name);
        }
        let call = writing_call(host);
        assert_eq!(
            world.send(&call),
            Printed::default(),
            "{}: cancelled",
            host.name
        );
    }
}

#[test]
fn sentences_are_no_commands() {
    let world = World::new(host("codex").unwrap());
    for prompt in [
        "workflow engines are fun",
        "workflow files are broken, fix them",
        "workflow stats of this week",
        "/workflows bugfix it",
        "workflow status reports are late",
        "workflow subworkflow phases are late",
        "Workflow bugfix the export",
        "please workflow bugfix the export",
    ] {
        assert_eq!(world.prompt(prompt), Printed::default(), "{prompt}");
    }
}

#[test]
fn a_mistyped_start_is_refused_and_names_what_is_meant() {
    for host in HOSTS {
        let world = World::new(host);
        for prompt in [
            "/workflow bugfx the export is empty",
            "workflow bugfx the export is empty",
            "workflow confirm bugfx the export is empty",
            "workflow Bugfix",
        ] {
            let printed = world.prompt(prompt);
            assert!(is_blocked_prompt(&printed), "{}: {prompt}", host.name);
            let meant = json_of(&printed)["reason"].to_string();
            assert!(meant.contains(r#"Did you mean \"bugfix\"?"#), "{meant}");
        }
    }
}

#[test]
fn everything_behind_a_slash_is_a_command() {
    let world = World::new(host("claude").unwrap());
    world.start();
    for (prompt, expected) in [
        ("/workflow files are broken", "Available: bugfix"),
        (
            "/workflow status please",
            "/workflow status takes no argument",
        ),
        ("workflow stauts", "  /workflow status — "),
        ("/workflow stauts", "Did you mean `/workflow status`?"),
        (
            "/workflow confrm trust",
            "Did you mean `/workflow confirm trust`?",
        ),
        // The prompt before is still in the box.
        ("workflow statusworkflow bugfix it", "statusworkflow"),
        ("workflow trust/workflow bugfix it", "trust/workflow"),
        // A bare `workflow` is.
        ("workflowworkflow files are broken", "Available: bugfix"),
        ("workflow/workflow status", "Analyze"),
    ] {
        let printed = world.prompt(prompt);
        assert!(is_blocked_prompt(&printed), "{prompt}");
        assert!(printed.stdout.contains(expected), "{}", printed.stdout);
    }
}

#[test]
fn the_word_alone_lists_workflows_and_commands() {
    for host in HOSTS {
        let world = World::new(host);
        for prompt in [
            "/workflow",
            "workflow",
            "/workflow list",
            "workflow list",
            "workflow help",
        ] {
            let printed = world.prompt(prompt);
            assert!(is_blocked_prompt(&printed), "{}: {prompt}", host.name);
            for expected in [
                "Usage: {word} {name} {description}",
                "  bugfix — Bugfix",
                "  {word} goto — Go to another phase of this workflow: {word} goto {phase}",
                "  {word} next — Finish the phase: its gate runs",
                "  {word} trust — ",
                "  {word} confirm — Do what was listed: {word} confirm trust",
                "  {word} cancel — ",
            ] {
                let expected = expected.replace("{word}", world.word());
                let text = &printed.stdout;
                assert!(text.contains(&expected), "{}: {prompt}: {text}", host.name);
            }
        }
    }
}

#[test]
fn a_command_of_a_scheduled_prompt_is_refused() {
    for (source, is_refused) in [
        (json!("loop_wakeup"), true),
        (json!("schedule_wakeup"), true),
        (json!("poll_event"), true),
        (json!("system"), true),
        (json!("user"), false),
        (json!("sdk"), false),
        (json!(null), false),
    ] {
        let world = World::new(host("claude").unwrap());
        let prompt = |text: &str, source: &serde_json::Value| {
            let members = json!({ "prompt": text, "source": source });
            world.send_with(EventName::Prompt, &members).stdout
        };
        let text = prompt("workflow bugfix the export is empty", &source);
        let refused = text.contains("only the user may give it");
        assert_eq!(refused, is_refused, "{source}: {text}");
        world.start();
        let text = prompt("/workflow skip", &source);
        let refused = text.contains("only the user may give it");
        assert_eq!(refused, is_refused, "{source}: {text}");
        assert!(!prompt("go on", &source).contains("only the user"));
    }
}

#[test]
fn a_command_from_the_shell_of_an_agent_is_refused() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let mut prompt = recorded(world.host, EventName::Prompt);
    prompt["prompt"] = json!("workflow skip");
    let printed = world.send_from(&prompt, &[("CODEX_THREAD_ID", "1")]);
    assert!(printed.stdout.contains("only the user may give it"));
    assert!(
        json_of(&world.prompt("workflow status"))
            .to_string()
            .contains("Analyze")
    );
}

#[test]
fn a_command_from_the_shell_of_another_hosts_agent_is_refused() {
    for (name, mark, is_refused) in [
        ("claude", "CODEX_THREAD_ID", true),
        ("claude", "GEMINI_CLI", true),
        ("claude", "QWEN_CODE", true),
        ("claude", "COPILOT_CLI", true),
        ("codex", "CLAUDECODE", true),
        ("copilot", "CLAUDECODE", true),
        ("gemini", "CLAUDECODE", true),
        ("qwen", "COPILOT_CLI", true),
        ("codex", "OPENCODE", true),
        ("claude", "PI_CODING_AGENT", true),
        ("gemini", "GEMINI_CLI", true),
        ("copilot", "COPILOT_AGENT_SESSION_ID", true),
        // Its own hooks have it as well.
        ("claude", "CLAUDECODE", false),
        ("copilot", "COPILOT_CLI", false),
        ("claude", "TERM_PROGRAM", false),
    ] {
        let world = World::new(host(name).unwrap());
        let mut prompt = recorded(world.host, EventName::Prompt);
        for text in ["workflow trust", "workflow bugfix the export is empty"] {
            prompt["prompt"] = json!(text);
            prompt["submitted_prompt"] = json!(text);
            let printed = world.send_from(&prompt, &[(mark, "1")]);
            let refused = printed.stdout.contains("only the user may give it");
            assert_eq!(refused, is_refused, "{name}: {mark}: {printed:?}");
        }
    }
}

#[test]
fn a_start_with_untrusted_commands_says_how_to_trust_them_and_is_not_confirmed() {
    for host in HOSTS {
        let world = World::new(host);
        world.add_gate();
        let starts = |prompt: &str| {
            let text = world.prompt(prompt).stdout;
            for expected in ["Find the cause.", "cargo test", "workflow trust`"] {
                assert!(text.contains(expected), "{}: {prompt}: {text}", host.name);
            }
        };
        starts("workflow bugfix the export is empty");
        let asked = world.command("workflow bugfix another");
        assert!(asked.contains("workflow confirm bugfix another"), "{asked}");
        assert!(!asked.contains("cargo test"), "{}: {asked}", host.name);
        starts("workflow confirm bugfix another");
    }
}

#[test]
fn only_a_question_that_was_shown_is_confirmed() {
    for host in HOSTS {
        let world = World::new(host);
        world.add_gate();
        world.start();
        for (prompt, expected) in [
            ("workflow confirm skip", "Leave Analyze without its checks?"),
            ("workflow bugfix another", "workflow confirm bugfix another"),
            ("workflow confirm skip", "workflow confirm skip"),
            ("workflow confirm skip", "Repair it."),
        ] {
            let text = world.command(prompt);
            assert!(text.contains(expected), "{}: {prompt}: {text}", host.name);
        }
    }
}

#[test]
fn a_start_without_its_inputs_is_answered_with_them() {
    for host in HOSTS {
        let world = World::new(host);
        world.require_input();
        let text = world.command("workflow bugfix the export is empty");
        assert!(text.contains("ticket"), "{}: {text}", host.name);
        assert!(!text.contains("workflow confirm"), "{}: {text}", host.name);
    }
}

#[test]
fn where_the_host_marks_what_is_typed_nothing_else_is_a_command_or_a_prompt_without_text() {
    let world = World::new(host("qwen").unwrap());
    let send = |text: &str| {
        let mut event = recorded(world.host, EventName::Prompt);
        event.as_object_mut().unwrap().remove("submitted_prompt");
        event["prompt"] = json!(text);
        world.send(&event)
    };
    for text in ["workflow bugfix it", "/workflow status"] {
        let refused = send(text);
        assert!(is_blocked_prompt(&refused), "{text}");
        assert!(refused.stdout.contains("does not count"), "{refused:?}");
    }
    world.start();
    assert_eq!(send(""), Printed::default(), "the results of tools");
    assert!(context_of(&send("go on")).contains("unchanged"));
    // A command file may say something else than what was typed.
    let typed = json!({ "prompt": "workflow cancel", "submitted_prompt": "/mine" });
    assert!(!is_blocked_prompt(
        &world.send_with(EventName::Prompt, &typed)
    ));
}

#[test]
fn an_agent_stops_for_now_while_its_tasks_run_and_not_when_they_are_done() {
    let world = World::new(host("qwen").unwrap());
    world.start();
    for (status, is_reminded) in [("running", false), ("completed", true)] {
        let stop = json!({ "background_tasks": [{ "id": "a", "status": status }] });
        let answer = world.send_with(EventName::Stop, &stop);
        assert_eq!(is_blocked_prompt(&answer), is_reminded, "{status}");
    }
}
