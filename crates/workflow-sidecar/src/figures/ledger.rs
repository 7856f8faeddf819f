//! Counting what happens in a session: what is stored with its next change.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use workflow_core::effect::{Action, Denied};
use workflow_core::policy::gate_report::CheckVerdict;
use workflow_core::run::{StoredGate, StoredRun, entry_type};
use workflow_core::session::TurnUsage;
use workflow_core::types::Millis;
use workflow_core::{Effects, Session};

use super::buckets::bucket;
use super::kind;
use crate::present::ended_run;
use crate::store::Counts;

/// The longest name that is counted, in characters.
const MAX_NAME: usize = 200;

/// What is counted of a state.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredState {
    workflow_key: String,
    global_step_count: u64,
    active: bool,
    cancelled: bool,
}

/// Counts what an event of a session has led to.
pub(crate) fn count(session: &Session, out: &Effects, counts: &mut Counts) {
    for ended in &out.ended {
        let run = ended_run(ended);
        counts.add([&run.workflow, kind::RUN, &run.state], 1, 0);
    }
    let of_answers = out.answers.iter().flat_map(|answer| &answer.actions);
    let entries = out.actions.iter().chain(of_answers);
    let entries = entries.filter_map(|action| match action {
        Action::AppendEntry { custom_type, data } => Some((*custom_type, &**data)),
        _ => None,
    });
    let entries: Vec<(&str, &RawValue)> = entries.collect();
    let calls = (out.denied.iter().map(|call| (kind::DENIED, call))).chain(
        out.asked
            .iter()
            .map(|asked| (kind_of(asked.allowed), &asked.call)),
    );
    let calls: Vec<(&str, &Denied)> = calls.collect();
    if entries.is_empty() && calls.is_empty() {
        return;
    }
    let states = entries.iter().filter(|(of, _)| *of == entry_type::STATE);
    let states: Vec<StoredState> = states.filter_map(|(_, data)| read(data)).collect();
    let view = session.view();
    let of_view = view.as_ref().map(|view| &view.state.workflow_key);
    // A run that has just ended is in no view.
    let workflow = of_view.or(states.last().map(|state| &state.workflow_key));
    let workflow = workflow.map_or("", String::as_str);
    let is_start = |state: &&StoredState| state.active && state.global_step_count == 0;
    for state in states.iter().filter(is_start) {
        counts.add([&state.workflow_key, kind::RUN, kind::STARTED], 1, 0);
    }
    for (of, data) in &entries {
        if *of == entry_type::GATE {
            count_gate(workflow, data, counts);
        } else if *of == entry_type::RUN
            && let Some(moved) = read::<StoredRun>(data).and_then(|run| run.moved_by)
            // Later entries repeat the move, and come without a state of its step.
            && states.iter().any(|state| state.global_step_count == moved.step && !state.cancelled)
        {
            for what in &moved.overrode {
                counts.add([workflow, kind::OVERRODE, &short(what)], 1, 0);
            }
        }
    }
    for (kind, call) in calls {
        let rule = match &*call.rule {
            "" => format!("{} (its list of tools)", call.level),
            source => format!("{} ({source})", call.level),
        };
        counts.add([workflow, kind, &short(&rule)], 1, 0);
    }
}

fn kind_of(allowed: Option<bool>) -> &'static str {
    match allowed {
        None => kind::ASKED,
        Some(true) => kind::ALLOWED,
        Some(false) => kind::DECLINED,
    }
}

fn count_gate(workflow: &str, data: &RawValue, counts: &mut Counts) {
    let reports = read::<StoredGate>(data).map(|gate| gate.reports);
    for report in reports.unwrap_or_default() {
        let kind = match report.verdict {
            CheckVerdict::Passed => kind::PASSED,
            CheckVerdict::Failed => kind::FAILED,
            CheckVerdict::CouldNotRun(_) => kind::UNRUN,
        };
        let what = match &*report.source {
            "" => report.what,
            source => format!("{} ({source})", report.what),
        };
        counts.add([workflow, kind, &short(&what)], 1, report.duration_ms);
    }
}

/// Counts a response of the model in a run, with what the host reports of it.
pub(crate) fn count_turn(session: &Session, usage: TurnUsage, counts: &mut Counts) {
    let Some(view) = session.view() else { return };
    for (name, amount) in [
        (kind::TURNS, 1),
        (kind::TOKENS, usage.tokens),
        (kind::MICRO_USD, usage.micro_usd),
    ] {
        if amount > 0 {
            counts.add([&view.state.workflow_key, kind::SPENT, name], 1, amount);
        }
    }
}

/// Counts something that has lasted, such as a visit of a phase.
pub(crate) fn lasted(workflow: &str, kind: &str, name: &str, time: Millis, counts: &mut Counts) {
    let name = format!("{}:{}", bucket(time), short(name));
    counts.add([workflow, kind, &name], 1, time);
}

fn read<T: DeserializeOwned>(data: &RawValue) -> Option<T> {
    serde_json::from_str(data.get()).ok()
}

/// The beginning of a name: what a definition says may be long.
fn short(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}
