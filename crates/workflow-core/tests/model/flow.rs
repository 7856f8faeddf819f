//! Model checking of runs with flow: outcomes, jumps, limits of visits, conditions, gates and answers that lead elsewhere.
//!
//! Invariants of every state: the engine is where the reading is, with the same data; the agent alone reaches the end or a
//! pause that a person can lift; no move of the agent passes a gate or an approval; a restarted sidecar restores the state,
//! also where the session ends between two entries of one answer; the history refuses states that no transition leads to.

use std::collections::HashMap;

use serde_json::{Value, json};
use workflow_core::definition::Workflow;
use workflow_core::run::{RunData, RunState, restore};
use workflow_core::session::Control;

use crate::WHOLE;
use crate::flow_catalogs::{of_three, of_two, settings};
use crate::flow_reading::{Flow, Place, Step, Wait, Walk};
use crate::host::Host;
use crate::reading::Event;

/// Phases that were entered more often are not followed further, because `loop` has no end.
const MAX_VISITS: u32 = 2;

/// The states of a catalog, as they were found.
#[derive(Default)]
struct Found {
    states: Vec<(Flow, Host)>,
    numbers: HashMap<Flow, usize>,
    /// From, to, and whether a person made it.
    edges: Vec<(usize, usize, bool)>,
}

impl Found {
    fn note(&mut self, flow: Flow, host: Host) -> usize {
        let next = self.states.len();
        let number = *self.numbers.entry(flow.clone()).or_insert(next);
        if number == next {
            self.states.push((flow, host));
        }
        number
    }

    /// The states from which none of the goals can be reached.
    fn stuck(&self, persons_too: bool, is_goal: impl Fn(&Flow) -> bool) -> Vec<&Flow> {
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for &(from, to, by_user) in &self.edges {
            if persons_too || !by_user {
                back[to].push(from);
            }
        }
        let is_there = |at: &usize| is_goal(&self.states[*at].0);
        let mut waiting: Vec<usize> = (0..self.states.len()).filter(is_there).collect();
        let mut reaches = vec![false; self.states.len()];
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut reaches[at], true) {
                waiting.extend(&back[at]);
            }
        }
        let states = self.states.iter().zip(reaches);
        states
            .filter(|(_, reaches)| !reaches)
            .map(|((flow, _), _)| flow)
            .collect()
    }
}

fn explore(workflows: &[Workflow]) -> Found {
    let walk = Walk::of(workflows);
    let mut found = Found::default();
    let mut host = Host::new(workflows.to_vec(), settings(), true);
    host.happen(Event::Start);
    let started = Flow::started(&walk);
    same(&started, &host, &walk, &Vec::<Step>::new());
    found.note(started, host);
    let mut at = 0;
    while at < found.states.len() {
        let (flow, host) = found.states[at].clone();
        is_restored(&flow, &host, &walk);
        let is_followed = flow.highest() <= MAX_VISITS;
        for step in flow.steps(&walk).iter().filter(|_| is_followed) {
            let after = flow.after(step, &walk);
            let mut next = host.clone();
            happen(&mut next, step, &flow, &walk);
            same(&after, &next, &walk, &(&flow, step));
            passes_no_gate(&flow, step, &after, &walk);
            if !found.numbers.contains_key(&after) {
                is_consistent_when_cut(&host, &next, &(&flow, step));
            }
            let to = found.note(after, next);
            found.edges.push((at, to, step.is_persons_control()));
        }
        at += 1;
    }
    let ends = |flow: &Flow| {
        let is_over = !matches!(flow.at, Place::Phase(_));
        is_over || flow.highest() > MAX_VISITS
    };
    let stuck = found.stuck(false, |flow| ends(flow) || flow.is_paused);
    assert!(
        stuck.is_empty(),
        "the agent is stuck: {stuck:#?} {workflows:#?}"
    );
    let stuck = found.stuck(true, ends);
    assert!(
        stuck.is_empty(),
        "no end is near: {stuck:#?} {workflows:#?}"
    );
    found
}

fn happen(host: &mut Host, step: &Step, flow: &Flow, walk: &Walk) {
    match step {
        Step::Next(outcome, flag) => host.next(outcome.as_deref(), *flag),
        Step::Loop => host.happen(Event::Loop),
        Step::GatePasses => host.happen(Event::GatePasses),
        Step::GateFails => host.happen(Event::GateFails),
        Step::Answer(choice) => {
            let Place::Phase(at) = flow.at else { return };
            let approve = walk.phase(at).approve.as_ref().expect("it is asked for");
            host.choose(&approve.choices[*choice]);
        }
        Step::PersonNext(outcome) => {
            host.control(Control::Next, outcome.as_deref().unwrap_or_default());
        }
        Step::Skip => host.control(Control::Skip, ""),
        Step::Goto(id) => host.control(Control::Goto, id),
        Step::Message => host.happen(Event::Person),
        Step::Resume => host.control(Control::Resume, ""),
    }
}

/// The data that the session has of the run: that of the newest entry, and the newest values.
fn stored_data(host: &Host) -> Value {
    let entries = host.branch(usize::MAX);
    let newest = |custom_type: &str| {
        let mut of_type = entries
            .iter()
            .rev()
            .filter(|entry| entry.custom_type == custom_type);
        let newest = of_type.find_map(|entry| entry.data);
        newest.map_or_else(Value::default, |data| {
            serde_json::from_str(data.get()).expect("an entry is JSON")
        })
    };
    let mut data = match &newest("workflow:run")["data"] {
        Value::Null => json!({}),
        data => data.clone(),
    };
    let values = newest("workflow:values");
    for name in ["inputs", "outputs", "outcomes", "answers"] {
        if let Some(values) = values.get(name) {
            data[name] = values.clone();
        }
    }
    data
}

/// Checks that both are at the same position with the same data.
fn same(flow: &Flow, host: &Host, walk: &Walk, when: &impl std::fmt::Debug) {
    let state = host.session.view().map(|view| view.state.clone());
    // A run that a person ends, and one that never began, is not there any more.
    let Some(state) = state else {
        assert!(!matches!(flow.at, Place::Phase(_)), "{when:?}: {flow:?}");
        return;
    };
    assert_eq!(place(&state, walk), flow.at, "{when:?}: {flow:?}");
    if matches!(flow.at, Place::Phase(_)) {
        assert_eq!(stored_data(host), flow.data(), "{when:?}");
        let view = host.session.view().expect("there is a run");
        assert_eq!(view.counters.paused.is_some(), flow.is_paused, "{when:?}");
    }
}

fn place(state: &RunState, walk: &Walk) -> Place {
    if state.cancelled {
        return Place::Cancelled;
    }
    if !state.active {
        return Place::Done;
    }
    let segments = state.current_path.segments().iter();
    let path: Vec<_> = segments
        .map(|segment| (segment.workflow_key.clone(), segment.phase_index))
        .collect();
    let at = walk.phases.iter().position(|phase| phase.path == path);
    at.map_or_else(|| panic!("nowhere: {path:?}"), Place::Phase)
}

/// Checks that the entries restore the same state and data, and that nothing of them is refused.
fn is_restored(flow: &Flow, host: &Host, walk: &Walk) {
    let again = host.restarted();
    assert_eq!(
        again.entries(),
        host.entries(),
        "it was stored already: {flow:?}"
    );
    same(&flow.restarted(), &again, walk, &"restarted");
    let restored = restore(&host.branch(usize::MAX));
    assert!(
        restored.diagnostics.is_empty(),
        "{:?} {flow:?}",
        restored.diagnostics
    );
    if matches!(flow.at, Place::Phase(_)) {
        let data = restored.run.data;
        let mut all = serde_json::to_value(&data.values).expect("values are JSON");
        let data = serde_json::to_value(data).expect("data is JSON");
        let (Some(all_members), serde_json::Value::Object(data)) = (all.as_object_mut(), data)
        else {
            panic!("they are maps");
        };
        all_members.extend(data);
        assert_eq!(all, flow.data());
    }
}

/// Checks that a session that ends between two entries of one answer is in the state before or after it.
fn is_consistent_when_cut(before: &Host, after: &Host, when: &impl std::fmt::Debug) {
    let content = |most: usize| {
        let restored = restore(&after.branch(most));
        assert!(
            restored.diagnostics.is_empty(),
            "{when:?}: {:?}",
            restored.diagnostics
        );
        (restored.state, restored.run.data)
    };
    let (first, last) = (before.entries(), after.entries());
    if last < first + 2 {
        return;
    }
    let is_there = |state: &Option<RunState>| state.as_ref().map(|state| state.global_step_count);
    let (from, to) = (content(first), content(last));
    for most in first + 1..last {
        let cut = content(most);
        let whole = if is_there(&cut.0) == is_there(&from.0) {
            &from
        } else {
            &to
        };
        assert_eq!(
            cut.0.as_ref().map(|state| &state.current_path),
            whole.0.as_ref().map(|state| &state.current_path),
            "{when:?}"
        );
        // The values have an entry of their own.
        let is_one =
            |of: fn(&RunData) -> Value| [&from, &to].iter().any(|one| of(&one.1) == of(&cut.1));
        let is_same = is_one(|data| json!(data.values)) && is_one(|data| json!(data));
        assert!(is_same, "{when:?}: {:?}", cut.1);
    }
}

/// No move of the agent leaves a phase without its gate and its approval, but one that its gate names, or back by `loop`.
fn passes_no_gate(flow: &Flow, step: &Step, after: &Flow, walk: &Walk) {
    let Place::Phase(at) = flow.at else { return };
    if after.at == flow.at || after.at == Place::Cancelled || step.is_persons_control() {
        return;
    }
    let phase = walk.phase(at);
    let is_right = match step {
        Step::Next(..) => phase.gate.is_empty() && phase.approve.is_none(),
        Step::GatePasses => flow.waits == Some(Wait::Gate) && phase.approve.is_none(),
        Step::Answer(_) => flow.waits == Some(Wait::Approval),
        Step::GateFails => phase
            .gate
            .iter()
            .any(|gate| gate.on_fail.is_some() || gate.on_limit.is_some()),
        Step::Loop => matches!(after.at, Place::Phase(to) if to <= at),
        _ => false,
    };
    assert!(is_right, "{flow:?} {step:?} {after:?}");
}

/// Explores some of these catalogs, or more of them on request; prints their size.
fn explore_all(what: &str, catalogs: &[Vec<Workflow>], nth: usize, nth_whole: usize) {
    let is_whole = std::env::var_os(WHOLE).is_some();
    let nth = if is_whole { nth_whole } else { nth };
    let (mut explored, mut states, mut edges) = (0, 0, 0);
    for workflows in catalogs.iter().step_by(nth) {
        let found = explore(workflows);
        explored += 1;
        states += found.states.len();
        edges += found.edges.len();
    }
    eprintln!(
        "{what}: {explored} of {} catalogs, {states} states, {edges} transitions",
        catalogs.len()
    );
}

#[test]
fn runs_of_two_phases_with_flow_follow_the_rules() {
    explore_all("flow of two phases", &of_two(), 151, 1);
}

#[test]
fn runs_of_three_phases_with_flow_follow_the_rules() {
    explore_all("flow of three phases", &of_three(), 40009, 811);
}
