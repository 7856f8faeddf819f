//! The time that restoring a long run takes: 1,000 visits, 64 outputs.
//!
//! `cargo run --release -p workflow-core --example restore_speed` prints the median and the fastest of the rounds.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement reads the clock, and prints"
)]

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::{Catalog, Loaded, Phase, PhaseEntry, Settings, Workflow};
use workflow_core::effect::Action;
use workflow_core::event::Entry;
use workflow_core::run::restore;
use workflow_core::session::{Abilities, StepCall};
use workflow_core::types::RequestId;
use workflow_core::{Effects, Session};

const VISITS: usize = 1000;
const OUTPUTS: usize = 64;
const ROUNDS: usize = 21;
const NOW: u64 = 1_747_234_567_890;

fn phase(id: &str, keys: &serde_json::Value) -> PhaseEntry {
    let mut phase = json!({
        "id": id, "name": id, "emoji": "🔹", "instructions": "Do it.",
        "tools": null, "availableProfiles": null,
    });
    for (key, value) in keys.as_object().into_iter().flatten() {
        phase[key] = value.clone();
    }
    let phase: Phase = serde_json::from_value(phase).expect("it is a phase");
    PhaseEntry::Phase(phase)
}

/// A phase with outputs, and two that lead to each other.
fn work() -> Workflow {
    let output = |at| json!({ "name": format!("o{at}"), "kind": { "text": {} }, "required": true });
    let outputs: Vec<_> = (0..OUTPUTS).map(output).collect();
    let back = json!([{ "name": "back", "to": { "phase": "build" } }]);
    Workflow {
        key: "w".to_owned(),
        name: "W".to_owned(),
        command_name: "w".to_owned(),
        initial_message: "Go".to_owned(),
        phases: vec![
            phase("plan", &json!({ "outputs": outputs })),
            phase("build", &json!({ "maxVisits": VISITS })),
            phase("review", &json!({ "outcomes": back })),
        ],
        ..Workflow::default()
    }
}

/// The branch of a run with so many visits.
fn branch(loaded: &Arc<Loaded>) -> Vec<(String, Box<RawValue>)> {
    let mut session = Session::new(Abilities::default(), 7);
    let mut branch = Vec::new();
    let mut keep = |out: Effects| {
        for action in out.actions {
            if let Action::AppendEntry { custom_type, data } = action {
                branch.push((custom_type.to_owned(), data));
            }
        }
    };
    let ((), out) = session.at(NOW, |session| {
        session.handle_session(&[], loaded);
        session.handle_workflow_command(RequestId(0), "w do it", Arc::clone(loaded));
    });
    keep(out);
    let output = |at| {
        (
            format!("o{at}"),
            json!(format!("The value of output {at}.")),
        )
    };
    let outputs: serde_json::Map<_, _> = (0..OUTPUTS).map(output).collect();
    let outputs = to_raw_value(&outputs).expect("it is JSON");
    for visit in 1..VISITS {
        let call = StepCall {
            action: Some("next".into()),
            outcome: (visit > 1 && visit % 2 == 1).then_some("back".into()),
            outputs: (visit == 1).then_some(&*outputs),
            ..StepCall::default()
        };
        let request = RequestId(visit as u64);
        let ((), out) = session.at(NOW, |session| session.handle_workflow_step(request, &call));
        keep(out);
    }
    branch
}

/// The median and the fastest of the rounds, in milliseconds. Other work on the machine changes the median.
fn times(measure: impl Fn()) -> (f64, f64) {
    let round = |_| {
        let begin = Instant::now();
        measure();
        begin.elapsed().as_secs_f64() * 1000.0
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(round).collect();
    times.sort_by(f64::total_cmp);
    (times[ROUNDS / 2], times[0])
}

fn main() {
    let loaded = Arc::new(Loaded {
        catalog: Arc::new(Catalog::new(vec![work()])),
        settings: Settings::default(),
        ..Loaded::default()
    });
    let branch = branch(&loaded);
    let entries = branch.iter().map(|(custom_type, data)| Entry {
        custom_type,
        data: Some(data),
    });
    let entries: Vec<Entry<'_>> = entries.collect();
    let restored = restore(&entries);
    assert!(
        restored.diagnostics.is_empty(),
        "{:?}",
        restored.diagnostics
    );
    let visits: u32 = restored.run.data.visits.values().sum();
    assert_eq!(visits as usize, VISITS);
    let bytes: usize = branch.iter().map(|(_, data)| data.get().len()).sum();
    let (read, read_fastest) = times(|| drop(restore(&entries)));
    let (whole, whole_fastest) = times(|| {
        let mut session = Session::new(Abilities::default(), 7);
        session.at(NOW, |session| session.handle_session(&entries, &loaded));
    });
    println!(
        "{VISITS} visits, {OUTPUTS} outputs: {} entries, {} KiB; restore {read:.2} ms ({read_fastest:.2}), session start {whole:.2} ms ({whole_fastest:.2}); median of {ROUNDS} (fastest)",
        entries.len(),
        bytes / 1024
    );
}
