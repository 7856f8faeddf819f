//! Triggers: what is watched, and messages that wait for the agent.

use workflow_core::Session;
use workflow_core::definition::{Tier, Token, Trigger, TriggerOn};
use workflow_core::event::{PlatformEvent, WatchReport};
use workflow_core::session::Abilities;

use crate::event::Event;
use crate::world::{World, line, user_messages, workflow};

fn file(tier: Tier) -> Trigger {
    Trigger {
        on: TriggerOn::File("notes/trigger.txt".to_owned()),
        prompt: "It says: {content}".to_owned(),
        tier,
        source: ".pi/workflow-sidecar.json5:2".to_owned(),
    }
}

fn watching(triggers: Vec<Trigger>) -> World {
    let mut world = World::new(vec![workflow("w", &["a", "b"])]);
    world.settings.triggers = triggers;
    world
}

fn triggered(world: &mut World, text: &str) -> Vec<String> {
    let text = text.to_owned();
    world.report(PlatformEvent::Triggered { text })
}

#[test]
fn triggers_are_watched_from_the_start_of_the_session_to_its_end() {
    let mut world = watching(vec![file(Tier::Global)]);
    assert_eq!(
        line(&world.reload(), "watch"),
        r#"watch [{"on":{"file":"notes/trigger.txt"},"prompt":"It says: {content}","tier":"global","source":".pi/workflow-sidecar.json5:2"}]"#
    );
    let begun = vec!["file notes/trigger.txt".to_owned()];
    let watched = WatchReport {
        started: begun,
        ..WatchReport::default()
    };
    let lines = world.report(PlatformEvent::TriggersWatched { report: watched });
    assert_eq!(
        lines,
        ["notify Info [workflow] Watching file notes/trigger.txt"]
    );
    assert_eq!(world.step(Event::Shutdown), ["watch nothing"]);
    assert!(world.step(Event::Shutdown).is_empty());
}

#[test]
fn triggers_that_are_gone_from_the_settings_are_watched_no_more() {
    let mut world = watching(vec![file(Tier::Global)]);
    world.reload();
    world.settings.triggers.clear();
    assert_eq!(line(&world.reload(), "watch"), "watch nothing");
}

#[test]
fn a_host_without_an_interface_watches_nothing_and_says_so() {
    let mut world = watching(vec![file(Tier::Global)]);
    world.session.set_has_ui(false);
    let lines = world.reload();
    assert!(line(&lines, "notify Warning").contains("Triggers are not watched"));
    assert!(!lines.iter().any(|line| line.starts_with("watch")));
}

fn untrusted(world: &mut World) -> Vec<String> {
    world.reload();
    world.report(PlatformEvent::TriggersWatched {
        report: WatchReport {
            untrusted: true,
            ..WatchReport::default()
        },
    })
}

#[test]
fn triggers_of_a_project_need_trust() {
    let mut world = watching(vec![file(Tier::Global), file(Tier::Project)]);
    let asked = untrusted(&mut world);
    let question = line(&asked, "ask Watch the triggers of this project?");
    let listed = r#"file notes/trigger.txt: "It says: {content}" (.pi/workflow-sidecar.json5:2)"#;
    assert!(question.contains(listed), "{question}");
    assert_eq!(
        world.answer(true),
        [
            r#"trust triggers [{"on":{"file":"notes/trigger.txt"},"prompt":"It says: {content}","tier":"project","source":".pi/workflow-sidecar.json5:2"}]"#,
            r#"watch [{"on":{"file":"notes/trigger.txt"},"prompt":"It says: {content}","tier":"global","source":".pi/workflow-sidecar.json5:2"},{"on":{"file":"notes/trigger.txt"},"prompt":"It says: {content}","tier":"project","source":".pi/workflow-sidecar.json5:2"}]"#
        ]
    );
}

#[test]
fn trust_in_a_project_is_requested_once() {
    let mut world = watching(vec![file(Tier::Project)]);
    untrusted(&mut world);
    let told = world.answer(false);
    assert!(line(&told, "notify Warning").contains("`workflow-sidecar trust`"));
    assert!(untrusted(&mut world).is_empty());
}

#[test]
fn without_dialogs_a_notification_explains_how_to_trust_the_project() {
    let mut world = watching(vec![file(Tier::Project)]);
    world.session = Session::new(Abilities::default(), 1);
    let told = untrusted(&mut world);
    assert!(line(&told, "notify Warning").contains("`workflow-sidecar trust`"));
}

#[test]
fn an_idle_agent_gets_the_message_at_once() {
    let mut world = watching(Vec::new());
    assert_eq!(
        triggered(&mut world, "one"),
        ["outcome Delivered", "user (follows up) one"]
    );
}

#[test]
fn while_the_agent_works_texts_wait_in_their_order() {
    let mut world = watching(Vec::new());
    world.step(Event::AgentStart);
    for text in ["one", "two"] {
        assert_eq!(triggered(&mut world, text), ["outcome Queued"]);
    }
    assert!(world.wait(60_000).is_empty());
    world.stop("stop");
    assert_eq!(world.wait(0), ["user (follows up) one"]);
    assert!(world.wait(0).is_empty(), "it has been spoken to");
    world.step(Event::AgentStart);
    world.stop("stop");
    assert_eq!(world.wait(0), ["user (follows up) two"]);
}

#[test]
fn queued_messages_go_to_the_open_conversation() {
    let mut world = watching(Vec::new());
    world.step(Event::AgentStart);
    triggered(&mut world, "one");
    triggered(&mut world, "two");
    // The agent of the other conversation never says that it stopped.
    world.reload();
    assert_eq!(world.wait(0), ["user (follows up) one"]);
    let lines = world.step(Event::Shutdown);
    assert!(line(&lines, "notify Warning").ends_with("before the agent received: two"));
    assert!(world.step(Event::Shutdown).is_empty());
}

#[test]
fn an_agent_that_does_not_start_is_spoken_to_again() {
    let mut world = watching(Vec::new());
    triggered(&mut world, "one");
    assert_eq!(triggered(&mut world, "two"), ["outcome Queued"]);
    assert!(world.wait(9_999).is_empty());
    assert_eq!(world.wait(1), ["user (follows up) two"]);
}

#[test]
fn only_so_much_waits() {
    let mut world = watching(Vec::new());
    world.step(Event::AgentStart);
    for _ in 0..16 {
        assert_eq!(triggered(&mut world, "x"), ["outcome Queued"]);
    }
    assert_eq!(triggered(&mut world, "x"), ["outcome Refused"]);
}

#[test]
fn a_trigger_stops_the_countdown() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    world.step(Event::AgentStart);
    world.stop("stop");
    assert_eq!(
        triggered(&mut world, "one"),
        ["outcome Delivered", "widget -", "user (follows up) one"]
    );
    assert!(world.wait(9_000).is_empty(), "nothing is pushed");
}

#[test]
fn queued_messages_precede_the_reminder() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    world.step(Event::AgentStart);
    triggered(&mut world, "one");
    world.stop("stop");
    let lines = world.wait(9_000);
    assert_eq!(user_messages(&lines), 1);
    assert_eq!(line(&lines, "user"), "user (follows up) one");
}

#[test]
fn received_text_is_not_a_template() {
    let trigger = Trigger {
        on: TriggerOn::Http {
            port: 1,
            token: Token::Environment("T".to_owned()),
        },
        prompt: "{body} and {content}, {other}".to_owned(),
        tier: Tier::Global,
        source: String::new(),
    };
    assert_eq!(trigger.message("{body}"), "{body} and {body}, {other}");
}
