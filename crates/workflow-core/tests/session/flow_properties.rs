//! Random catalogs with flow under random events: nothing panics or hangs, and every session can be restored, also one that
//! ends between two entries of an answer.

use proptest::prelude::*;
use serde_json::json;
use workflow_core::definition::{
    Approval, Parameter, ParameterKind, Phase, PhaseEntry, PhaseOutcome, Subject, Target, Workflow,
};
use workflow_core::session::Control;

use crate::flow::{gate, over, when};
use crate::world::{World, phase, workflow};

const IDS: &[&str] = &["a", "b", "c", "d"];

/// The keys of a phase, as numbers that select them.
#[derive(Debug, Clone)]
struct Keys {
    outcomes: Vec<u8>,
    when: Option<(u8, bool)>,
    max: Option<(u8, u8)>,
    gate: Option<u8>,
    approve: Option<Vec<u8>>,
    output: Option<bool>,
}

fn keys() -> impl Strategy<Value = Keys> {
    let outcomes = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(0u8..8, 1..4)];
    let when = prop::option::weighted(0.3, (0u8..12, any::<bool>()));
    let max = prop::option::weighted(0.3, (1u8..3, 0u8..6));
    let gate = prop::option::weighted(0.3, 0u8..6);
    let approve = prop::option::weighted(0.2, prop::collection::vec(0u8..8, 0..3));
    let output = prop::option::weighted(0.4, any::<bool>());
    (outcomes, when, max, gate, approve, output).prop_map(
        |(outcomes, when, max, gate, approve, output)| Keys {
            outcomes,
            when,
            max,
            gate,
            approve,
            output,
        },
    )
}

/// A place, by a number: one of the words, or an entry of the scope.
fn target(number: u8, ids: &[String], words: &[Target]) -> Target {
    let number = usize::from(number);
    let word = words.get(number).cloned();
    word.unwrap_or_else(|| Target::Phase(ids[number % ids.len()].clone()))
}

fn with_keys(id: &str, keys: &Keys, ids: &[String]) -> Phase {
    let id_of = |number: u8| ids[usize::from(number) % ids.len()].clone();
    let ways = [Target::Next, Target::End, Target::Done];
    let outcomes = keys.outcomes.iter().enumerate();
    let answers = [Target::Next, Target::Cancel];
    Phase {
        outcomes: outcomes
            .map(|(at, to)| PhaseOutcome {
                name: format!("o{at}"),
                to: target(*to, ids, &ways),
            })
            .collect(),
        when: keys.when.map_or_else(Vec::new, |(number, negated)| {
            let phase = IDS[usize::from(number % 3)].to_owned();
            let (subject, values) = match number / 3 {
                0 => (Subject::Visits(phase), vec![json!(0), json!(2)]),
                1 => {
                    let name = "f".to_owned();
                    (Subject::Output { phase, name }, vec![json!(true)])
                }
                2 => (Subject::Outcome(phase), vec![json!("o0")]),
                _ => (Subject::Choice(phase), vec![json!("c0")]),
            };
            when(subject, values, negated)
        }),
        max_visits: keys.max.map(|(most, _)| u32::from(most)),
        on_limit: match keys.max {
            None | Some((_, 0 | 1)) => None,
            Some((_, 2)) => Some(Target::Cancel),
            Some((_, number)) => Some(Target::Phase(id_of(number))),
        },
        gate: keys.gate.map_or_else(Vec::new, |number| {
            let id = id_of(number);
            vec![gate((number > 0).then_some(id.as_str()))]
        }),
        approve: keys.approve.as_ref().map(|targets| Approval {
            ask: "OK?".to_owned(),
            choices: (0..3).map(|at| format!("c{at}")).collect(),
            targets: targets
                .iter()
                .map(|to| target(*to, ids, &answers))
                .collect(),
            comment: true,
            show: None,
            source: String::new(),
        }),
        outputs: keys.output.map_or_else(Vec::new, |required| {
            vec![Parameter {
                name: "f".to_owned(),
                kind: ParameterKind::Flag,
                about: String::new(),
                required,
                default: None,
                ..Parameter::new("", ParameterKind::Flag)
            }]
        }),
        ..phase(id)
    }
}

fn catalogs() -> impl Strategy<Value = Vec<Workflow>> {
    let scope = |most| prop::collection::vec(keys(), 1..most);
    (
        scope(4),
        scope(3),
        prop::option::of(0usize..4),
        any::<bool>(),
    )
        .prop_map(|(root, part, at, loopable)| {
            let scope = |key: &str, words: &[&str], keys: &[Keys]| {
                let mut scope = workflow(key, words);
                let ids: Vec<String> = scope
                    .phases
                    .iter()
                    .map(|entry| entry.id().to_owned())
                    .collect();
                let mut keys = keys.iter();
                for entry in &mut scope.phases {
                    if let PhaseEntry::Phase(phase) = entry {
                        let keys = keys.next().expect("each phase has keys");
                        *phase = with_keys(&phase.id.clone(), keys, &ids);
                    }
                }
                scope.loopable = loopable;
                scope
            };
            let mut words = IDS[..root.len()].to_vec();
            if let Some(at) = at {
                words.insert(at.min(words.len()), "{part}");
            }
            let inner = &["x", "y", "z"][..part.len()];
            vec![scope("w", &words, &root), scope("part", inner, &part)]
        })
}

#[derive(Debug, Clone)]
enum Op {
    Next(u8, Option<bool>),
    Tool(&'static str),
    Gate(bool),
    Choose(Option<u8>),
    Confirm,
    Control(Control, u8),
    Message,
    Turn,
    Stop,
    Wait,
    Reload,
    Restart,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let control = (0..Control::ALL.len(), any::<u8>());
    let op = prop_oneof![
        8 => (0u8..4, any::<Option<bool>>()).prop_map(|(outcome, flag)| Op::Next(outcome, flag)),
        2 => Just(Op::Tool("loop")),
        1 => Just(Op::Tool("status")),
        5 => any::<bool>().prop_map(Op::Gate),
        4 => prop::option::of(0u8..3).prop_map(Op::Choose),
        2 => Just(Op::Confirm),
        6 => control.prop_map(|(at, argument)| Op::Control(Control::ALL[at], argument)),
        1 => Just(Op::Message),
        1 => Just(Op::Turn),
        1 => Just(Op::Stop),
        1 => Just(Op::Wait),
        1 => Just(Op::Reload),
        1 => Just(Op::Restart),
    ];
    prop::collection::vec(op, 0..40)
}

/// Answers the newest question, as far as the option is among its own.
fn choose(world: &mut World, option: Option<u8>) -> Vec<String> {
    if world.asked.is_empty() {
        return Vec::new();
    }
    let option = option.map(|number| format!("c{number}"));
    world.choose(option.as_deref())
}

fn argument(control: Control, number: u8) -> String {
    let places = ["a", "b", "c", "part", "x", "y"];
    match control {
        Control::Next if number.is_multiple_of(3) => String::new(),
        Control::Next => format!("o{}", number % 3),
        Control::Goto => places[usize::from(number) % places.len()].to_owned(),
        Control::Approve => format!("c{} as it is", number % 3),
        _ => String::new(),
    }
}

/// Sends an event; `yes` is the option that confirms the newest question about a move.
fn happen(world: &mut World, op: &Op, yes: Option<&str>) -> Vec<String> {
    match *op {
        Op::Next(outcome, flag) => {
            let outcome = (outcome < 3).then(|| format!("o{outcome}"));
            let outputs = flag.map_or(json!({}), |flag| json!({ "f": flag }));
            world.next(outcome.as_deref().unwrap_or_default(), &outputs)
        }
        Op::Tool(action) => world.tool(action),
        Op::Gate(passes) => over(world, if passes { "passed" } else { "failed" }),
        Op::Choose(option) => choose(world, option),
        Op::Confirm => match yes {
            Some(yes) if !world.asked.is_empty() => world.choose(Some(yes)),
            _ => Vec::new(),
        },
        Op::Control(control, number) => world.control(control, &argument(control, number)),
        Op::Message => world.user_input(),
        Op::Turn => world.step(crate::event::Event::TurnStart { index: None }),
        Op::Stop => world.stop("stop"),
        Op::Wait => world.wait(3000),
        Op::Reload => world.reload(),
        Op::Restart => world.restart(),
    }
}

/// The status line of another sidecar over the first entries of a session.
fn restored(world: &World, most: usize) -> Result<Option<String>, TestCaseError> {
    let mut other = World::new(world.workflows.clone());
    other.settings = world.settings.clone();
    other.branch = world.branch[..most].to_vec();
    let lines = other.restart();
    let complaint = lines.iter().find(|line| line.starts_with("WF"));
    prop_assert_eq!(complaint, None);
    let now = other.branch.len();
    other.restart();
    prop_assert_eq!(other.branch.len(), now, "what was restored is stored");
    let status = other
        .session
        .view()
        .and_then(|view| view.phase.map(|phase| phase.status.clone()));
    Ok(status)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_a_run_with_flow_can_be_restored_and_ended(workflows in catalogs(), ops in ops()) {
        let mut world = World::new(workflows);
        world.settings.limits.jumps = 3;
        world.reload();
        world.command("w the task");
        let mut yes = None;
        for op in ops {
            let (before, first) = (status(&world), world.branch.len());
            let lines = happen(&mut world, &op, yes.as_deref());
            yes = lines.iter().find_map(|line| confirming(line)).or(yes);
            let (after, last) = (status(&world), world.branch.len());
            for most in (first + 1)..=last {
                let there = restored(&world, most)?;
                prop_assert!(there == before || there == after, "{:?} is neither {:?} nor {:?}", there, before, after);
            }
            prop_assert_eq!(restored(&world, last)?, after);
        }
        if status(&world).is_some() {
            world.tool("cancel");
            world.tool("cancel");
            prop_assert_eq!(&world.last_state()["cancelled"], true);
        }
    }
}

/// The option of a question that confirms a move.
fn confirming(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("\"Yes, ")?;
    let (rest, _) = rest.split_once('"')?;
    Some(format!("Yes, {rest}"))
}

fn status(world: &World) -> Option<String> {
    let view = world.session.view()?;
    view.phase.map(|phase| phase.status.clone())
}
