//! What happens in a session is counted with the change that is stored.

use serde_json::json;

use super::world::{World, is_denied, recorded, writing_call};
use crate::figures::{Figures, WorkflowFigures};
use crate::hook_hosts::event::EventName;
use crate::hook_hosts::host;
use crate::store::SessionKey;
use crate::time::wall_time;

fn figures(world: &World) -> WorkflowFigures {
    let mut figures = Figures::read(&world.store, (0, wall_time()), None).unwrap();
    figures.workflows.remove("bugfix").unwrap()
}

#[test]
fn runs_phases_denials_and_reminders_are_counted_once() {
    let world = World::new(host("codex").unwrap());
    world.start();
    assert_eq!(figures(&world).runs.started, 1);
    for _ in 0..2 {
        assert!(is_denied(&world.send(&writing_call(world.host))));
    }
    world.send_with(EventName::Stop, &json!({}));
    world.prompt("workflow skip");
    world.prompt("workflow skip");
    let figures = figures(&world);
    let runs = &figures.runs;
    assert_eq!((runs.started, runs.complete, runs.cancelled), (1, 1, 0));
    let visits = figures.phases.iter().map(|(name, it)| (&**name, it.number));
    let visits: Vec<_> = visits.collect();
    assert_eq!(visits, [("analyze", 1), ("fix", 1)]);
    let denied: Vec<u64> = figures.rules.values().map(|rule| rule.denied).collect();
    assert_eq!(denied, [2]);
    assert_eq!(figures.reminders["analyze"], 1);
    assert_eq!(figures.weeks.len(), 1);
}

#[test]
fn a_run_that_gives_way_or_is_cancelled_has_ended() {
    let world = World::new(host("codex").unwrap());
    world.start();
    world.prompt("workflow cancel");
    world.start();
    let runs = figures(&world).runs;
    assert_eq!((runs.started, runs.cancelled), (2, 1));
}

#[test]
fn a_call_that_is_allowed_stores_nothing() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let read = json!({ "tool_name": "Bash", "tool_input": { "command": "cat a" } });
    world.send_with(EventName::ToolCall, &read);
    let session = writing_call(world.host)["session_id"].clone();
    let key = SessionKey {
        host: "codex".to_owned(),
        session: session.as_str().unwrap().to_owned(),
    };
    let stored = || {
        let session = world.store.load(&key).unwrap();
        (
            session.version,
            world.store.figures(0, u64::MAX, "").unwrap(),
        )
    };
    let before = stored();
    assert!(before.0 > 0);
    world.send_with(EventName::ToolCall, &read);
    assert_eq!(stored(), before);
}

#[test]
fn a_call_about_which_the_host_asks_is_counted_without_an_answer() {
    let world = World::new(host("claude").unwrap());
    world.make_read_only();
    world.start();
    let mut call = recorded(world.host, EventName::ToolCall);
    call["tool_name"] = json!("mcp__x__do");
    call["tool_input"] = json!({});
    let terminal = [
        ("AI_AGENT", "claude-code_2-1-330_harness"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ];
    for _ in 0..5 {
        world.send_from(&call, &terminal);
    }
    let rules = figures(&world).rules;
    let rule = rules.values().next().unwrap();
    assert_eq!((rule.asked, rule.allowed, rule.denied), (5, 0, 0));
    assert!(!rule.always_allowed);
}
