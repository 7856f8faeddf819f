//! Model checking of loops over lists, and of the outcomes and outputs that a subworkflow returns: `a`, the loop of `b` and
//! `c`, and `d`.
//!
//! The engine and a direct reading take the same moves. Invariants of every state: both are at the same place and item with the
//! same values; the agent alone reaches the end, or a pause; a restarted sidecar restores the state.

use std::collections::HashMap;

use serde_json::{Value, json};
use workflow_core::definition::{MemoryFiles, Settings, Tier, Workflow, load};

use crate::WHOLE;
use crate::host::Host;
use crate::reading::Event;

/// What `c` is like, where the end `s` of the loop leads, what `d` is like, and how often the loop may be entered.
#[derive(Debug, Clone, Copy)]
struct Shape {
    c: &'static str,
    s: &'static str,
    d: &'static str,
    visits: &'static str,
}

const C: [&str; 4] = [
    "",
    "when: {visits.b: 1}",
    "outcomes: {ok: next, stuck: {end: s}}",
    "outcomes: {ok: end, redo: b}",
];
const S: [&str; 5] = ["a", "next", "d", "end", "done"];
const D: [&str; 2] = ["", "outcomes: {ok: next, back: each}"];
const VISITS: [&str; 3] = ["", "maxVisits: 1", "maxVisits: 1, onLimit: d"];

/// The lists that `a` hands over.
const LISTS: [&[&str]; 3] = [&[], &["x"], &["x", "y"]];

/// Places that were entered more often are not followed further.
const MAX_VISITS: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Place {
    #[default]
    A,
    B,
    C,
    D,
    Over,
}

/// A run as far as the rules are concerned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Run {
    at: Place,
    list: Option<usize>,
    /// The item, from 1; 0 outside of the loop.
    number: usize,
    f: Option<bool>,
    collected: Option<Vec<String>>,
    /// Of `each`, `b`, `c` and `d`.
    outcomes: [Option<&'static str>; 4],
    /// Of `each`, `b` and of everything else.
    visits: [u32; 3],
    is_paused: bool,
}

/// A move of the agent.
#[derive(Debug, Clone, Copy)]
enum Step {
    List(usize),
    Next(Option<&'static str>, Option<bool>),
    Loop,
}

impl Shape {
    fn workflows(self) -> Vec<Workflow> {
        let Self { c, s, d, visits } = self;
        let phase = |id: &str, keys: &str| {
            format!("{{id: {id}, name: {id}, emoji: e, instructions: I, {keys}}}")
        };
        let list = phase("a", "outputs: {l: {type: list}}");
        let flag = "outputs: {f: {type: flag, required: false}}, outcomes: {ok: next, stuck: {end: s}, again: b}";
        let (flag, c, d) = (phase("b", flag), phase("c", c), phase("d", d));
        let each = format!(
            "{{subworkflow: w1, as: each, forEach: '{{outputs.a.l}}', with: {{goal: '{{item}}'}}, outcomes: {{s: {s}}}, {visits}}}"
        );
        let root = format!(
            "{{name: W, commandName: w0, initialMessage: Go, phases: [{list}, {each}, {d}]}}"
        );
        let part = format!(
            "{{name: P, show: workflows, inputs: {{goal: {{type: text}}}}, outputs: {{f: '{{outputs.b.f}}'}}, phases: [{flag}, {c}]}}"
        );
        let files = MemoryFiles::new()
            .with(Tier::Project, "w0/workflow.yaml", root)
            .with(Tier::Project, "w1/workflow.yaml", part);
        let loaded = load(&files);
        let workflows: Vec<Workflow> = loaded.catalog.iter().cloned().collect();
        assert_eq!(workflows.len(), 2, "{:#?}", loaded.diagnostics);
        workflows
    }
}

impl Run {
    fn started() -> Self {
        Self {
            visits: [0, 0, 1],
            ..Self::default()
        }
    }

    fn items(&self) -> &'static [&'static str] {
        self.list.map_or(&[], |list| LISTS[list])
    }

    fn steps(&self, shape: Shape) -> Vec<Step> {
        let named = |names: &[&'static str]| {
            let names = names.iter();
            names
                .map(|name| Step::Next(Some(name), None))
                .collect::<Vec<_>>()
        };
        let mut steps = match self.at {
            Place::A => (0..LISTS.len()).map(Step::List).collect(),
            Place::B => {
                let flags = [None, Some(true), Some(false)];
                let outcomes = ["ok", "stuck", "again"];
                let both = outcomes
                    .iter()
                    .flat_map(|name| flags.map(|flag| (*name, flag)));
                both.map(|(name, flag)| Step::Next(Some(name), flag))
                    .collect()
            }
            Place::C if shape.c.contains("stuck") => named(&["ok", "stuck"]),
            Place::C if shape.c.contains("redo") => named(&["ok", "redo"]),
            Place::D if shape.d.contains("back") => named(&["ok", "back"]),
            Place::C | Place::D => vec![Step::Next(None, None)],
            Place::Over => return Vec::new(),
        };
        steps.push(Step::Loop);
        steps
    }

    fn after(&self, step: Step, shape: Shape) -> Self {
        let mut run = self.clone();
        match (run.at, step) {
            (Place::A, Step::List(list)) => {
                run.list = Some(list);
                run.enter_loop(shape);
            }
            (Place::A | Place::D, Step::Loop) => run.enter(Place::A),
            (Place::B | Place::C, Step::Loop) => run.enter_b(),
            (Place::B, Step::Next(outcome, flag)) => {
                run.f = flag;
                run.outcomes[1] = outcome;
                match outcome {
                    Some("ok") if shape.c.contains("when") && run.visits[1] != 1 => {
                        run.end_item(None, shape);
                    }
                    Some("ok") => run.enter(Place::C),
                    Some("stuck") => run.end_item(Some("s"), shape),
                    _ => run.enter_b(),
                }
            }
            (Place::C, Step::Next(outcome, _)) => {
                run.outcomes[2] = outcome;
                match outcome {
                    Some("stuck") => run.end_item(Some("s"), shape),
                    Some("redo") => run.enter_b(),
                    _ => run.end_item(None, shape),
                }
            }
            (Place::D, Step::Next(outcome, _)) => {
                run.outcomes[3] = outcome;
                match outcome {
                    Some("back") => run.enter_loop(shape),
                    _ => run.enter(Place::Over),
                }
            }
            _ => panic!("{step:?} in {run:?}"),
        }
        run
    }

    fn enter(&mut self, at: Place) {
        if matches!(at, Place::A | Place::D | Place::Over) {
            self.number = 0;
        }
        if at != Place::Over {
            self.visits[2] += 1;
        }
        self.at = at;
    }

    fn enter_b(&mut self) {
        self.visits[1] += 1;
        self.at = Place::B;
    }

    fn enter_loop(&mut self, shape: Shape) {
        if self.items().is_empty() {
            self.collected = Some(Vec::new());
            return self.enter(Place::D);
        }
        if !shape.visits.is_empty() && self.visits[0] == 1 {
            if !shape.visits.contains("onLimit") {
                self.is_paused = true;
                return;
            }
            if self.at == Place::D {
                self.outcomes[3] = None;
            }
            return self.enter(Place::D);
        }
        self.visits[0] += 1;
        self.collected = Some(Vec::new());
        self.outcomes[0] = None;
        self.begin_item(1);
    }

    fn begin_item(&mut self, number: usize) {
        self.number = number;
        self.f = None;
        (self.outcomes[1], self.outcomes[2]) = (None, None);
        self.visits[1] = 0;
        self.enter_b();
    }

    fn end_item(&mut self, end: Option<&'static str>, shape: Shape) {
        let text = self.f.map_or_else(String::new, |f| f.to_string());
        self.collected
            .as_mut()
            .expect("it is in the loop")
            .push(text);
        self.outcomes[0] = end;
        match (end, shape.s) {
            (None, _) if self.number < self.items().len() => self.begin_item(self.number + 1),
            (None, _) | (_, "next" | "d") => self.enter(Place::D),
            (_, "a") => self.enter(Place::A),
            _ => self.enter(Place::Over),
        }
    }

    /// The values, as the session has them.
    fn values(&self) -> Value {
        let mut values = json!({});
        let mut put = |kind: &str, key: &str, value: Value| values[kind][key] = value;
        if self.list.is_some() {
            put("outputs", "w0/a", json!({ "l": self.items() }));
        }
        if let Some(collected) = &self.collected {
            put("outputs", "w0/each", json!({ "f": collected }));
        }
        if let Some(f) = self.f {
            put("outputs", "w1/b", json!({ "f": f }));
        }
        let keys = ["w0/each", "w1/b", "w1/c", "w0/d"];
        for (key, outcome) in keys.iter().zip(self.outcomes) {
            if let Some(outcome) = outcome {
                put("outcomes", key, json!(outcome));
            }
        }
        if self.number > 0 {
            let goal = self.items()[self.number - 1];
            let scope =
                json!({ "inputs": { "goal": goal }, "items": self.items(), "number": self.number });
            put("scopes", "w0:1/w1", scope);
        }
        values
    }
}

/// Checks that the session is where the reading is, with the same values.
fn same(run: &Run, host: &Host, when: &impl std::fmt::Debug) {
    let view = host.session.view();
    let state = view.as_ref().map(|view| view.state);
    let at = match state.filter(|state| state.active) {
        None => Place::Over,
        Some(state) => match state.current_path.segments() {
            [root] if root.phase_index == 0 => Place::A,
            [_] => Place::D,
            [_, inner] if inner.phase_index == 0 => Place::B,
            _ => Place::C,
        },
    };
    assert_eq!(at, run.at, "{when:?}");
    if at == Place::Over {
        return;
    }
    let view = view.expect("there is a run");
    assert_eq!(view.counters.paused.is_some(), run.is_paused, "{when:?}");
    let item = view.phase.and_then(|phase| phase.item.clone());
    let told = (run.number > 0).then(|| {
        let (number, items) = (run.number, run.items());
        format!("P {number} of {}: {}", items.len(), items[number - 1])
    });
    assert_eq!(item, told, "{when:?}");
    let entries = host.branch(usize::MAX);
    let mut entries = entries.iter().rev();
    let newest = entries.find(|entry| entry.custom_type == "workflow:values");
    let newest = newest.and_then(|entry| entry.data);
    let mut values: Value = newest.map_or_else(
        || json!({}),
        |data| serde_json::from_str(data.get()).expect("an entry is JSON"),
    );
    let values = values.as_object_mut().expect("it is a map");
    values.retain(|name, _| ["outputs", "outcomes", "scopes"].contains(&name.as_str()));
    assert_eq!(json!(values), run.values(), "{when:?}");
}

fn take(host: &mut Host, step: Step) {
    match step {
        Step::List(list) => host.hand_over(None, Some(&json!({ "l": LISTS[list] }))),
        Step::Next(outcome, flag) => host.next(outcome, flag),
        Step::Loop => host.happen(Event::Loop),
    }
}

/// Follows every move of a shape; the number of states.
fn explore(shape: Shape) -> usize {
    let mut host = Host::new(shape.workflows(), Settings::default(), true);
    host.happen(Event::Start);
    let mut states = vec![(Run::started(), host)];
    let mut numbers: HashMap<Run, usize> = [(Run::started(), 0)].into();
    let mut back: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while at < states.len() {
        let (run, host) = states[at].clone();
        same(&run, &host, &(shape, &run));
        same(&run, &host.restarted(), &(shape, "restarted", &run));
        let is_followed = !run.is_paused
            && run.visits.iter().all(|visits| *visits <= 2 * MAX_VISITS)
            && run.visits[0] <= MAX_VISITS
            && run.visits[1] <= MAX_VISITS;
        for step in run.steps(shape).into_iter().filter(|_| is_followed) {
            let after = run.after(step, shape);
            let mut next = host.clone();
            take(&mut next, step);
            same(&after, &next, &(shape, &run, step));
            let number = *numbers.entry(after.clone()).or_insert_with(|| {
                states.push((after, next));
                back.push(Vec::new());
                states.len() - 1
            });
            back[number].push(at);
        }
        at += 1;
    }
    let is_end = |run: &Run| {
        run.at == Place::Over
            || run.is_paused
            || run.visits.iter().any(|visits| *visits > MAX_VISITS)
    };
    let mut waiting: Vec<usize> = (0..states.len())
        .filter(|at| is_end(&states[*at].0))
        .collect();
    let mut reaches = vec![false; states.len()];
    while let Some(at) = waiting.pop() {
        if !std::mem::replace(&mut reaches[at], true) {
            waiting.extend(&back[at]);
        }
    }
    let stuck = reaches.iter().position(|reaches| !reaches);
    assert_eq!(stuck.map(|at| &states[at].0), None, "{shape:?}");
    states.len()
}

#[test]
fn loops_and_what_subworkflows_return_follow_the_rules() {
    let mut shapes = Vec::new();
    for c in C {
        for s in S {
            for d in D {
                shapes.extend(VISITS.map(|visits| Shape { c, s, d, visits }));
            }
        }
    }
    let nth = if std::env::var_os(WHOLE).is_some() {
        1
    } else {
        61
    };
    let states: usize = shapes
        .iter()
        .step_by(nth)
        .map(|shape| explore(*shape))
        .sum();
    eprintln!(
        "loops: {} of {} shapes, {states} states",
        shapes.len().div_ceil(nth),
        shapes.len()
    );
}
