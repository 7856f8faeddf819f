//! Counting what happens in a session: what is stored with its next change.

use serde::Deserialize;
use workflow_core::effect::Action;
use workflow_core::policy::gate_report::{CheckVerdict, Report};
use workflow_core::run::{UserMove, entry_type};
use workflow_core::session::TurnUsage;
use workflow_core::types::Millis;
use workflow_core::{Effects, Session, without_secrets};

use super::buckets::bucket;
use super::kind;
use crate::present::ended_run;
use crate::store::Counts;

/// The longest name that is counted, in characters.
const MAX_NAME: usize = 200;

/// What is counted of entries: of a state, of a run, of the result of a gate.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counted {
    workflow_key: String,
    global_step_count: u64,
    active: bool,
    cancelled: bool,
    moved_by: Option<UserMove>,
    phase: String,
    reports: Vec<Report>,
}

/// Counts what an event of a session has led to.
pub(crate) fn count(session: &Session, out: &Effects, counts: &mut Counts) {
    for ended in &out.ended {
        let run = ended_run(ended);
        counts.add([&run.workflow, kind::RUN, &run.state], 1, 0);
        if run.state == "complete" && ended.state.global_step_count == 0 {
            // None of its phases applied, so that it was over when it began.
            counts.add([&run.workflow, kind::RUN, kind::STARTED], 1, 0);
        }
    }
    let of_answers = out.answers.iter().flat_map(|answer| &answer.actions);
    let entries = out.actions.iter().chain(of_answers);
    let entries = entries.filter_map(|action| match action {
        Action::AppendEntry {
            custom_type: of @ (entry_type::STATE | entry_type::RUN | entry_type::GATE),
            data,
        } => Some((*of, serde_json::from_str(data.get()).ok()?)),
        _ => None,
    });
    let entries: Vec<(&str, Counted)> = entries.collect();
    if entries.is_empty() && out.denied.is_empty() && out.asked.is_empty() {
        return;
    }
    let states = || entries.iter().filter(|(of, _)| *of == entry_type::STATE);
    // A run that has just ended is in no view.
    let of_states = || Some(&*states().next_back()?.1.workflow_key);
    let workflow = workflow_of(session);
    let workflow = workflow.or_else(of_states).unwrap_or_default();
    let mut add = |kind, name: &str, time| counts.add([workflow, kind, name], 1, time);
    for _ in states().filter(|(_, it)| it.active && it.global_step_count == 0) {
        add(kind::RUN, kind::STARTED, 0);
    }
    for (_, entry) in &entries {
        for report in &entry.reports {
            let kind = match report.verdict {
                CheckVerdict::Passed => kind::PASSED,
                CheckVerdict::Failed => kind::FAILED,
                CheckVerdict::CouldNotRun(_) => kind::UNRUN,
            };
            // What it is called has the values of the run: it would be another one in each.
            let name = named(&entry.phase, &report.source);
            add(kind, &name, report.duration_ms);
        }
    }
    let moves = entries.iter().filter_map(|(_, it)| it.moved_by.as_ref());
    for moved in moves {
        // Later entries repeat the move, and come without a state of its step.
        let is_of = |state: &Counted| state.global_step_count == moved.step && !state.cancelled;
        let is_first = states().any(|(_, it)| is_of(it));
        for what in moved.overrode.iter().filter(|_| is_first) {
            add(kind::OVERRODE, &short(what), 0);
        }
    }
    let asked = out.asked.iter().map(|asked| match asked.allowed {
        None => (kind::ASKED, &asked.call),
        Some(true) => (kind::ALLOWED, &asked.call),
        Some(false) => (kind::DECLINED, &asked.call),
    });
    let denied = out.denied.iter().map(|call| (kind::DENIED, call));
    for (kind, call) in denied.chain(asked) {
        let rule = Some(&*call.rule).filter(|rule| !rule.is_empty());
        let rule = rule.unwrap_or("its list of tools");
        add(kind, &named(&call.level, rule), 0);
    }
}

/// The workflow of a session's run.
pub(crate) fn workflow_of(session: &Session) -> Option<&str> {
    session.view().map(|view| &*view.state.workflow_key)
}

/// Counts a response of the model in a run, with what the host reports of it.
pub(crate) fn count_turn(workflow: &str, usage: TurnUsage, counts: &mut Counts) {
    let mut add = |kind, number| counts.add([workflow, kind, ""], number, 0);
    add(kind::TURNS, 1);
    add(kind::TOKENS, usage.tokens);
    add(kind::MICRO_USD, usage.micro_usd);
}

/// Counts something that has lasted, such as a visit of a phase.
pub(crate) fn lasted(workflow: &str, kind: &str, name: &str, time: Millis, counts: &mut Counts) {
    let name = format!("{}:{}", bucket(time), short(name));
    counts.add([workflow, kind, &name], 1, time);
}

/// The name of what a line of a definition says, which tells it from others that begin alike. Of a path the end does.
fn named(what: &str, source: &str) -> String {
    let mut end = source.char_indices();
    let end = end.nth_back(MAX_NAME - 1).map_or(0, |(at, _)| at);
    [&short(what), " (", &source[end..], ")"].concat()
}

/// The beginning of a name, without secrets: what a definition says may be long.
fn short(name: &str) -> String {
    let mut name = without_secrets(name).into_owned();
    let end = name.char_indices().nth(MAX_NAME);
    name.truncate(end.map_or(name.len(), |(at, _)| at));
    name
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use workflow_core::session::Abilities;

    use super::*;

    fn counted(entries: &[(&'static str, serde_json::Value)]) -> Counts {
        let mut out = Effects::default();
        for (custom_type, data) in entries {
            let data = to_raw_value(data).unwrap();
            out.actions.push(Action::AppendEntry { custom_type, data });
        }
        let mut counts = Counts::default();
        count(&Session::new(Abilities::default(), 0), &out, &mut counts);
        counts
    }

    #[test]
    fn starts_checks_and_what_people_pass_over_are_read_from_entries() {
        let state = |step: u64| json!({"workflowKey": "w", "globalStepCount": step, "active": true, "cancelled": false});
        let moved = json!({"movedBy": {"by": "user", "command": "skip", "step": 1, "overrode": ["make test"]}});
        let report = |verdict| json!({"what": "make test", "source": "f:1", "verdict": verdict, "durationMs": 5});
        let reports = [
            report(json!("failed")),
            report(json!({"couldNotRun": "timeout"})),
        ];
        let gate = json!({"phase": "a", "reports": reports});
        let mut expected = Counts::default();
        expected.add(["w", "run", "started"], 1, 0);
        assert_eq!(counted(&[("workflow:state", state(0))]), expected);
        let mut expected = Counts::default();
        expected.add(["w", "failed", "a (f:1)"], 1, 5);
        expected.add(["w", "unrun", "a (f:1)"], 1, 5);
        expected.add(["w", "overrode", "make test"], 1, 0);
        let all = [
            ("workflow:gate", gate),
            ("workflow:run", moved.clone()),
            ("workflow:state", state(1)),
        ];
        assert_eq!(counted(&all), expected);
        let again = [("workflow:run", moved), ("workflow:tally", json!(7))];
        assert!(counted(&again).is_empty(), "a later entry repeats the move");
    }
}
