//! Limits on what a session stores, asks and shows.

use serde_json::json;
use workflow_core::definition::{Guards, PhaseEntry, Rule, RuleAction};
use workflow_core::template::MAX_RESOLVED;

use crate::world::{World, line, phase, user_text, workflow};

/// The questions that wait at most.
const QUESTIONS: usize = 64;

fn world_that_asks() -> World {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    let ask = Rule {
        action: RuleAction::Ask,
        tools: vec!["bash".to_owned()],
        path: Vec::new(),
        command: Vec::new(),
        writes: None,
        unknown: None,
        input: Vec::new(),
        on_repeat: None,
        reason: None,
        notify: false,
        except: Vec::new(),
        source: String::new(),
    };
    world.settings.user = Guards {
        rules: vec![ask],
        ..Guards::default()
    };
    world.reload();
    world
}

#[test]
fn so_many_questions_wait_and_the_next_call_is_blocked_until_one_is_answered() {
    let mut world = world_that_asks();
    for number in 0..QUESTIONS {
        let lines = world.call("bash", &json!({"command": number}));
        assert_eq!(line(&lines, "later"), format!("later #{}", number + 1));
    }
    let blocked = world.call("bash", &json!({"command": "one too many"}));
    let reason = line(&blocked, "block");
    assert!(
        reason.contains("64 questions are already waiting for an answer"),
        "{reason}"
    );
    assert_eq!(world.asked.len(), QUESTIONS);
    world.answer(true);
    let lines = world.call("bash", &json!({"command": "again"}));
    assert_eq!(line(&lines, "later"), format!("later #{}", QUESTIONS + 2));
}

#[test]
fn a_start_needs_no_dialog_if_too_many_questions_are_open() {
    let mut world = world_that_asks();
    world.command("w the task");
    for number in 0..QUESTIONS {
        world.call("bash", &json!({"command": number}));
    }
    let lines = world.command("w another");
    let told = line(&lines, "notify Warning");
    assert!(
        told.contains("64 questions are already waiting for an answer. Run /cancel-workflow first"),
        "{told}"
    );
}

#[test]
fn a_status_line_is_cut_where_no_terminal_shows_it() {
    // `status N-w > 🔹 … [1/1]`: the text around the name takes 15 units.
    for (name, is_cut) in [(984, false), (985, false), (986, true)] {
        let mut work = workflow("w", &[]);
        let mut named = phase("a");
        named.name = "x".repeat(name);
        work.phases.push(PhaseEntry::Phase(named));
        let lines = World::new(vec![work]).command("w the task");
        let status = line(&lines, "status ").trim_start_matches("status ");
        assert_eq!(status.ends_with('…'), is_cut, "{name}");
        assert!(status.encode_utf16().count() <= 1001);
    }
}

#[test]
fn a_definition_that_is_too_long_for_an_entry_is_reported_and_not_stored() {
    let mut work = workflow("w", &[]);
    let mut stored = |world: &mut World, instructions: usize| {
        let mut long = phase("a");
        long.instructions = "x".repeat(instructions);
        work.phases = vec![PhaseEntry::Phase(long)];
        world.workflows = vec![work.clone()];
        let lines = world.command("w the task");
        let stored = lines
            .iter()
            .any(|line| line.starts_with("entry workflow:definition "));
        let told = lines
            .iter()
            .any(|line| line.contains("is larger than 4 MiB"));
        assert_ne!(stored, told);
        world.cancel_command();
        stored
    };
    let mut world = World::new(vec![workflow("w", &["a"])]);
    assert!(stored(&mut world, 1));
    let around = world
        .branch
        .iter()
        .find(|(custom_type, _)| custom_type == "workflow:definition")
        .map_or(0, |(_, data)| data.get().len() - 1);
    let longest = (4 << 20) - around;
    assert!(stored(&mut world, longest - 1));
    assert!(stored(&mut world, longest));
    assert!(!stored(&mut world, longest + 1));
}

#[test]
fn a_description_has_a_length() {
    for (length, is_refused) in [
        ((1 << 20) - 1, false),
        (1 << 20, false),
        ((1 << 20) + 1, true),
    ] {
        let mut world = World::new(vec![workflow("w", &["a"])]);
        let lines = world.command(&format!("w {}", "x".repeat(length)));
        let refused = lines.iter().any(|line| line.contains("longer than 1 MiB"));
        assert_eq!(refused, is_refused, "{length}");
    }
}

#[test]
fn texts_to_the_agent_are_limited_in_length() {
    let description = "x".repeat(1 << 20);
    for (more, is_cut) in [(-1, false), (0, false), (1, true)] {
        let own =
            "y".repeat(MAX_RESOLVED.checked_add_signed(more).unwrap() - 3 * description.len());
        let mut work = workflow("w", &["a"]);
        work.initial_message = "{description}".repeat(3) + &own;
        let lines = World::new(vec![work]).command(&format!("w {description}"));
        let sent = user_text(&lines);
        let is_said = sent.ends_with("[cut: this text is longer than 4 MiB]");
        assert_eq!(is_said, is_cut, "{more}");
        assert!(sent.len() < MAX_RESOLVED + 50);
    }
}
