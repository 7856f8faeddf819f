//! `before_agent_start` and `tool_call`.

use proptest::prelude::*;
use workflow_core::definition::{ContextMode, PhaseEntry};
use workflow_core::event::LastAssistant;

use crate::event::Event;
use crate::flow::edit;
use crate::world::{World, guarded, line, user_messages, user_text, workflow};

const LINE: &str =
    "inject workflow:context [Workflow path: N-w ▸ 🔹 A] Instructions and rules are unchanged.";

fn linear() -> World {
    World::started(vec![workflow("w", &["a", "b"])])
}

#[test]
fn the_context_is_given_in_full_once_per_phase() {
    let mut world = linear();
    assert!(line(&world.prompt("go"), "inject").contains("**What to do in this phase:**\nDo a."));
    assert_eq!(line(&world.prompt("and?"), "inject"), LINE);
    // What the answer of `workflow_step` says is not said again.
    assert!(line(&world.tool("next"), "tool").contains("Do b."));
    assert_eq!(
        line(&world.prompt("go on"), "inject"),
        "inject workflow:context [Workflow path: N-w ▸ 🔹 B] New phase. All other rules are unchanged.\n\n\
         **Current Phase:** 🔹 B\n**Progress:** Step 1 (2/2 phases)"
    );
}

#[test]
fn the_tools_of_a_phase_are_listed_when_it_begins() {
    let mut own = workflow("w", &["a", "b"]);
    own.phases[1] = PhaseEntry::Phase(guarded("b", &["edit", "write"]));
    let mut world = World::started(vec![own]);
    assert!(line(&world.prompt("go"), "inject").contains("\n\n**Tools:** all\n\n"));
    let tools = "\n\n**Tools:** all except edit and write\n\n";
    assert!(line(&world.tool("next"), "tool").contains(tools));
    assert!(!line(&world.prompt("go"), "inject").contains("**Tools"));
    world.step(Event::Compacted);
    assert!(line(&world.prompt("go"), "inject").contains(tools));
}

#[test]
fn a_role_that_names_the_phase_is_sent_again_in_each() {
    let mut own = workflow("w", &["a", "b"]);
    own.templates.role_instruction = Some("You do {phaseName}.".to_owned());
    let mut world = World::started(vec![own]);
    world.prompt("go");
    world.tool("next");
    let second = world.prompt("go");
    assert!(line(&second, "inject").contains(
        "New role and phase. All other rules are unchanged.\n\nYou do B.\n\n**Current Phase:**"
    ));
}

#[test]
fn instructions_in_an_answer_that_may_be_lost_are_sent_again() {
    let aborted = LastAssistant {
        stop_reason: Some("aborted"),
        text_tail: None,
    };
    let mut world = linear();
    world.prompt("go");
    world.tool("next");
    world.step(Event::AgentEnd {
        last: Some(aborted),
    });
    assert!(line(&world.prompt("go"), "inject").contains("Do b."));
    // Once they were sent at a start of the agent, they are not sent again.
    world.step(Event::AgentEnd {
        last: Some(aborted),
    });
    assert!(!line(&world.prompt("go"), "inject").contains("Do b."));
}

#[test]
fn the_context_is_given_again_when_the_model_may_have_lost_it() {
    let mut world = linear();
    world.prompt("go");
    world.step(Event::Compacted);
    assert!(line(&world.prompt("go"), "inject").contains("Do a."));
    world.reload();
    assert!(line(&world.prompt("go"), "inject").contains("Do a."));
    assert!(line(&world.tool("loop"), "tool").contains("Do a."));
    world.step(Event::Compacted);
    assert!(line(&world.prompt("go"), "inject").contains("Do a."));
}

#[test]
fn every_turn_restores_the_full_message() {
    let mut own = workflow("w", &["a"]);
    own.context = Some(ContextMode::EveryTurn);
    let mut world = World::started(vec![own]);
    world.prompt("go");
    assert!(line(&world.prompt("go"), "inject").contains("Do a."));
}

#[test]
fn the_message_has_the_sections_of_hook_lifecycle_in_order() {
    let mut own = workflow("w", &["a", "{s}", "b"]);
    own.context = Some(ContextMode::EveryTurn);
    let mut world = World::started(vec![own, workflow("s", &["x", "y"])]);
    world.tool("next");
    let lines = world.prompt("go");
    let message = line(&lines, "inject");
    let sections = [
        "[Workflow path: N-w > N-s ▸ 🔹 X]\n\nYou are the ORCHESTRATOR",
        "precisely.\n\n**Task:** the task\n**Task ID:** wf-1747234567890-",
        "\n**Current Phase:** 🔹 X\n**Progress:** Step 1 (1/2 in current scope)\n\n",
        "**What to do in this phase:**\nDo x.\n\n**Available subagent profiles for this phase:** (none)\n**All profiles:** \n\n",
        "When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase.",
    ];
    let mut from = 0;
    for section in sections {
        let at = message[from..]
            .find(section)
            .unwrap_or_else(|| panic!("`{section}` is missing in {message}"));
        from += at;
    }
}

#[test]
fn the_names_around_a_phase_follow_the_run_through_its_scopes() {
    let mut own = workflow("w", &["a", "{s}", "b"]);
    own.templates.role_instruction =
        Some("{previousPhaseName}/{phaseName}/{nextPhaseName}".to_owned());
    let mut world = World::started(vec![own, workflow("s", &["x", "y"])]);
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(
            line(&world.prompt("go"), "inject")
                .lines()
                .nth(2)
                .unwrap_or_default()
                .to_owned(),
        );
        world.tool("next");
    }
    assert_eq!(seen, ["(start)/A/X", "A/X/Y", "X/Y/B", "N-s/B/DONE"]);
}

#[test]
fn a_blocked_tool_gets_the_reason_and_workflow_step_always_runs() {
    let mut own = workflow("w", &["a", "b"]);
    own.phases[0] = PhaseEntry::Phase(guarded("a", &["edit", "workflow_step"]));
    let mut world = World::started(vec![own]);
    assert_eq!(
        world.tool_call("edit"),
        [
            "block by Policy: [workflow] The tool \"edit\" is blocked during the A phase.\n\
             Refer to the current phase instructions for allowed tools and approaches.\n\
             When finished, call workflow_step to advance to the next phase.\n\
             Allowed in this phase: all except edit."
        ]
    );
    assert!(world.tool_call("workflow_step").is_empty());
    assert!(world.tool_call("read").is_empty());
    world.tool("next");
    assert!(world.tool_call("edit").is_empty());
}

#[test]
fn the_reason_may_be_a_template() {
    let mut own = workflow("w", &["a"]);
    own.templates.block_reason_template =
        Some("{toolName}! {allowedTools} in {workflowName}/{phaseName} {x}".to_owned());
    own.phases[0] = PhaseEntry::Phase(guarded("a", &["edit", "write"]));
    let mut world = World::started(vec![own]);
    assert_eq!(
        world.tool_call("edit"),
        ["block by Policy: edit! all except: edit, write in N-w/A {x}"]
    );
}

#[test]
fn nothing_is_blocked_or_injected_without_an_active_run() {
    let mut own = workflow("w", &["a"]);
    own.phases[0] = PhaseEntry::Phase(guarded("a", &["edit"]));
    let mut world = World::started(vec![own]);
    world.tool("next");
    assert!(world.tool_call("edit").is_empty());
    assert!(world.prompt("thanks").is_empty());
}

/// An event of a conversation.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Prompted,
    Pushed,
    Moved(&'static str),
    /// The last answer of `workflow_step` never reaches the model.
    Aborted,
    Compacted,
    Reloaded,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => Just(Happens::Prompted),
        2 => Just(Happens::Pushed),
        4 => Just(Happens::Moved("next")),
        1 => Just(Happens::Moved("loop")),
        1 => Just(Happens::Aborted),
        1 => Just(Happens::Compacted),
        1 => Just(Happens::Reloaded),
    ]
}

/// The messages that the model reads.
#[derive(Default)]
struct Conversation {
    texts: Vec<String>,
    /// The entry into the phase.
    entered: usize,
}

impl Conversation {
    fn happen(&mut self, world: &mut World, what: Happens) {
        match what {
            Happens::Prompted => self.agent_starts(world, "go on"),
            Happens::Pushed => {
                world.stop("stop");
                let said = world.wait(3000);
                if user_messages(&said) > 0 {
                    self.texts.push(user_text(&said).to_owned());
                    self.agent_starts(world, user_text(&said));
                }
            }
            Happens::Moved(action) => {
                self.entered = self.texts.len();
                self.texts
                    .push(line(&world.tool(action), "tool").to_owned());
            }
            Happens::Aborted => {
                // A message after the answer that entered the phase shows that it arrived.
                if self.texts.len() == self.entered + 1 {
                    self.texts.pop_if(|text| text.starts_with("tool"));
                }
                world.stop("aborted");
            }
            Happens::Compacted => {
                *self = Self::default();
                world.step(Event::Compacted);
            }
            Happens::Reloaded => {
                *self = Self::default();
                world.reload();
            }
        }
    }

    /// Gives what is injected, and looks whether all is there then.
    fn agent_starts(&mut self, world: &mut World, prompt: &str) {
        let lines = world.prompt(prompt);
        let Some(context) = lines.iter().find_map(|line| line.strip_prefix("inject ")) else {
            return;
        };
        self.texts.push(context.to_owned());
        let header = context.split(']').next().unwrap_or_default();
        let name = header.rsplit(' ').next().unwrap_or_default();
        let of_phase = self.texts[self.entered..].join("\n");
        assert!(of_phase.contains(&format!("\nDo {}.", name.to_lowercase())));
        let is_limited = ["A", "X"].contains(&name);
        let tools = "**Tools:** all";
        assert!(of_phase.contains(if is_limited {
            "**Tools:** all except edit"
        } else {
            tools
        }));
        let all = self.texts.join("\n");
        assert!(all.contains("\nYou do the work of this workflow yourself"));
        assert!(all.contains("call the workflow_step tool with action='next'"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_conversation_contains_the_whole_context_when_the_agent_starts(
        session in prop::collection::vec(happens(), 1..30),
    ) {
        let mut outer = workflow("w", &["a", "{s}", "b", "{s}", "c"]);
        let mut inner = workflow("s", &["x", "y"]);
        outer.phases[0] = PhaseEntry::Phase(guarded("a", &["edit"]));
        inner.phases[0] = PhaseEntry::Phase(guarded("x", &["edit"]));
        let mut world = World::started(vec![outer, inner]);
        let mut conversation = Conversation::default();
        for what in session {
            conversation.happen(&mut world, what);
        }
    }
}

#[test]
fn the_subagents_of_a_phase_that_the_answer_names_are_not_named_again() {
    let mut own = workflow("w", &["a", "b"]);
    edit(&mut own, "b", |b| {
        b.available_profiles = Some(vec!["coder".to_owned()]);
    });
    own.context = Some(ContextMode::ByChange);
    let mut world = World::started(vec![own]);
    world.prompt("go");
    let named = "profiles for this phase:** coder";
    assert!(line(&world.tool("next"), "tool").contains(named));
    let context = world.prompt("go on");
    assert!(
        !line(&context, "inject").contains("subagent"),
        "{context:?}"
    );
    world.step(Event::Compacted);
    assert!(line(&world.prompt("go on"), "inject").contains(named));
}

#[test]
fn a_scope_that_is_not_repeated_offers_no_loop() {
    let mut own = workflow("w", &["a", "b"]);
    own.loopable = false;
    let mut world = World::started(vec![own]);
    let context = world.prompt("go");
    let context = line(&context, "inject");
    assert!(
        context.contains("action='next'") && !context.contains("loop"),
        "{context}"
    );
}
