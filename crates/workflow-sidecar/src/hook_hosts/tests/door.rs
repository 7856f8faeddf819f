//! `withoutRun` of the settings in hosts that start hooks.

use serde_json::{Value, json};

use super::world::{World, is_blocked_prompt, is_denied, recorded, writing_call};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::hosts::{HOSTS, host};

fn write(world: &World) -> Printed {
    world.send(&writing_call(world.host))
}

#[test]
fn a_blocked_call_names_the_commands_in_the_form_of_the_host() {
    for host in HOSTS {
        let world = World::new(host);
        world.close_door("'bugfix'");
        let printed = write(&world);
        assert!(is_denied(&printed), "{}: {}", host.name, printed.stdout);
        for part in ["bugfix {description}", "quick {description}", "off 30m"] {
            let command = format!("workflow {part}`");
            assert!(
                printed.stdout.contains(&command),
                "{command}: {}",
                printed.stdout
            );
        }
        world.start();
        // The first phase of the workflow blocks it, too.
        assert!(write(&world).stdout.contains("Analyze"));
    }
}

#[test]
fn quick_and_off_are_prompts_of_the_user() {
    for host in HOSTS {
        let world = World::new(host);
        world.close_door("'bugfix'");
        let said = world.command("workflow off 30m");
        assert!(said.contains("off for 30 min"), "{}: {said}", host.name);
        assert!(!is_denied(&write(&world)), "{}", host.name);
        // A session that is resumed goes on.
        world.send(&recorded(host, EventName::SessionStart));
        assert!(!is_denied(&write(&world)), "{}", host.name);
        world.command("workflow off 0");
        assert!(is_denied(&write(&world)), "{}", host.name);
        let said = world.command("workflow quick make it blue");
        assert!(said.contains("make it blue"), "{}: {said}", host.name);
        assert!(!is_denied(&write(&world)), "{}", host.name);
    }
    let world = World::new(host("codex").unwrap());
    world.close_door("'bugfix'");
    assert!(!is_blocked_prompt(
        &world.prompt("workflow off switches are broken")
    ));
    assert!(is_denied(&write(&world)));
}

#[test]
fn a_sub_agent_and_a_host_that_the_agent_starts_are_under_the_same_door() {
    let world = World::new(host("claude").unwrap());
    world.close_door("'bugfix'");
    let parent = recorded(world.host, EventName::Prompt)["session_id"].clone();
    let parent = format!("claude:{}", parent.as_str().unwrap());
    let nested = |event: &Value| {
        let mut event = event.clone();
        event["session_id"] = json!("nested");
        world.send_from(&event, &[("WORKFLOW_SIDECAR_PARENT", &*parent)])
    };
    let write = writing_call(world.host);
    let mut of_subagent = write.clone();
    of_subagent["agent_id"] = json!("a1");
    assert!(is_denied(&world.send(&of_subagent)));
    assert!(is_denied(&nested(&write)));
    let mut prompt = recorded(world.host, EventName::Prompt);
    for command in ["workflow off 30m", "/workflow quick it"] {
        prompt["prompt"] = json!(command);
        assert!(nested(&prompt).stdout.contains("only the user may give it"));
    }
    assert!(is_denied(&nested(&write)));
    world.command("workflow off 30m");
    assert!(!is_denied(&world.send(&of_subagent)));
    assert!(
        !is_denied(&nested(&write)),
        "what the user lifted is lifted there"
    );
}
