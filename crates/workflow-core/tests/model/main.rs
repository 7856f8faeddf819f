//! Model checking of runs of small catalogs: every state that can be reached, breadth first.
//!
//! The engine and a direct reading of the rules take the same transitions. Invariants of every state: both are at
//! the same position and decide alike on tools, the end and a cancellation can be reached, the count of steps grows, and
//! a restarted sidecar restores the state.
//!
//! A test run looks at some of the catalogs; with `WORKFLOW_MODEL=whole` at all of them, and at every 811th of three phases
//! with flow, which takes minutes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files, and the environment says if it writes them"
)]

mod catalogs;
mod flow;
mod flow_catalogs;
mod flow_reading;
mod host;
mod loops;
mod reading;

use std::collections::HashMap;

use workflow_core::definition::Workflow;
use workflow_core::session::View;

use crate::catalogs::{catalogs, settings};
use crate::host::Host;
use crate::reading::{Access, At, Event, FlatPhase, Reading, TOOLS, access, positions};

/// Asks for all catalogs.
const WHOLE: &str = "WORKFLOW_MODEL";

/// The states of a catalog, as they were found.
#[derive(Default)]
struct Found {
    states: Vec<(Reading, Host)>,
    numbers: HashMap<Reading, usize>,
    /// From, to.
    edges: Vec<(usize, usize)>,
}

impl Found {
    fn note(&mut self, reading: Reading, host: Host) -> usize {
        let next = self.states.len();
        let number = *self.numbers.entry(reading.clone()).or_insert(next);
        if number == next {
            self.states.push((reading, host));
        }
        number
    }

    /// Returns whether each of these states can be reached from every state in which a run is active.
    fn leads_to(&self, is_goal: impl Fn(&Reading) -> bool) -> bool {
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for &(from, to) in &self.edges {
            back[to].push(from);
        }
        let is_there = |at: &usize| is_goal(&self.states[*at].0);
        let mut waiting: Vec<usize> = (0..self.states.len()).filter(is_there).collect();
        let mut reaches = vec![false; self.states.len()];
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut reaches[at], true) {
                waiting.extend(&back[at]);
            }
        }
        let mut states = self.states.iter().zip(reaches);
        states.all(|((reading, _), reaches)| reaches || !reading.is_active())
    }
}

/// Finds every state by these events.
fn explore(workflows: &[Workflow], events: &[Event], dialogs: bool) -> Found {
    let positions = positions(workflows);
    let mut found = Found::default();
    let host = Host::new(workflows.to_vec(), settings(), dialogs);
    found.note(Reading::new(), host);
    let mut at = 0;
    while at < found.states.len() {
        let (reading, host) = found.states[at].clone();
        agrees(&reading, &host, &positions, dialogs);
        restores(&reading, &host, &positions);
        for &event in events.iter().filter(|event| reading.admits(**event)) {
            let after = reading.after(event, &positions, dialogs);
            let mut next = host.clone();
            next.happen(event);
            moves_are_counted(&host, &next, event);
            same_position(&after, &next, &positions, &format!("{reading:?} {event:?}"));
            let to = found.note(after, next);
            found.edges.push((at, to));
        }
        at += 1;
    }
    assert!(
        found.leads_to(|reading| reading.at == At::Done),
        "the end is near"
    );
    assert!(
        found.leads_to(|reading| reading.at == At::Cancelled),
        "each run can be cancelled"
    );
    found
}

/// Checks that both are at the same position.
fn same_position(reading: &Reading, host: &Host, positions: &[FlatPhase], when: &str) {
    let view = host.session.view();
    let at = match &view {
        None => At::Nowhere,
        Some(view) if view.state.cancelled => At::Cancelled,
        Some(view) if !view.state.active => At::Done,
        Some(view) => {
            let path = path(view);
            let position = positions.iter().position(|position| position.path == path);
            At::Phase(position.unwrap_or_else(|| panic!("nowhere: {path:?}")))
        }
    };
    assert_eq!(at, reading.at, "{when}");
    assert_eq!(host.awaits_approval(), reading.awaited, "{when}");
    let Some(view) = view.filter(|view| view.state.active) else {
        return;
    };
    assert_eq!(view.counters.reminders, reading.reminders, "{when}");
    assert_eq!(
        view.counters.paused.is_some(),
        reading.paused.is_some(),
        "{when}"
    );
    assert_eq!(view.countdown.is_some(), reading.counting, "{when}");
}

fn path(view: &View<'_>) -> Vec<(String, usize)> {
    let segments = view.state.current_path.segments().iter();
    segments
        .map(|segment| (segment.workflow_key.clone(), segment.phase_index))
        .collect()
}

/// Tools have the effect that the definitions say.
fn agrees(reading: &Reading, host: &Host, positions: &[FlatPhase], dialogs: bool) {
    let position = match reading.at {
        At::Phase(at) => Some(&positions[at]),
        At::Nowhere | At::Done | At::Cancelled => None,
    };
    for tool in TOOLS {
        let expected = match access(tool, &settings(), position) {
            Access::Asked if !dialogs => Access::Blocked,
            access => access,
        };
        assert_eq!(host.access(tool), expected, "{tool} in {reading:?}");
    }
}

/// Checks that the stored entries restore the same state.
fn restores(reading: &Reading, host: &Host, positions: &[FlatPhase]) {
    let again = host.restarted();
    let kept = |host: &Host| {
        let view = host.session.view();
        view.map(|view| (view.state.clone(), view.counters))
    };
    assert_eq!(kept(&again), kept(host), "{reading:?}");
    assert_eq!(
        again.entries(),
        host.entries(),
        "it was stored already: {reading:?}"
    );
    let reloaded = reading.after(Event::Reload, positions, true);
    same_position(&reloaded, &again, positions, "restarted");
}

/// A run that moves counts it; one that does not move does not.
fn moves_are_counted(before: &Host, after: &Host, event: Event) {
    let (Some(from), Some(to)) = (before.session.view(), after.session.view()) else {
        return;
    };
    if from.state.task_id != to.state.task_id {
        assert_eq!(to.state.global_step_count, 0);
        return;
    }
    let steps = to.state.global_step_count - from.state.global_step_count;
    let moves =
        path(&from) != path(&to) || from.state.active && !to.state.active && !to.state.cancelled;
    let may_stay = event == Event::Loop;
    assert!(
        steps == u64::from(moves) || may_stay && steps == 1,
        "{event:?}: {steps} steps"
    );
}

/// Explores some of these catalogs, or all of them on request; prints their size.
fn explore_all(
    what: &str,
    catalogs: &[Vec<Workflow>],
    nth: usize,
    events: &[Event],
    dialogs: bool,
) {
    let nth = if std::env::var_os(WHOLE).is_some() {
        1
    } else {
        nth
    };
    let (mut explored, mut states, mut edges) = (0, 0, 0);
    for workflows in catalogs.iter().step_by(nth) {
        let found = explore(workflows, events, dialogs);
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
fn all_events_follow_the_rules() {
    for dialogs in [true, false] {
        let what = format!("all events, dialogs {dialogs}");
        explore_all(&what, &catalogs(2), 37, Event::ALL, dialogs);
    }
}

#[test]
fn every_path_through_three_entries_a_scope_follows_the_rules() {
    const WAYS: &[Event] = &[
        Event::Next,
        Event::Loop,
        Event::Cancel,
        Event::Start,
        Event::GatePasses,
        Event::Approve,
    ];
    explore_all("edges", &catalogs(3), 53, WAYS, true);
}
