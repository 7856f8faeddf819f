//! The entries of a session, oldest first: a line `{"customType":…,"data":…}` each.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::{Loaded, PhaseEntry};
use workflow_core::effect::{Action, Effect};
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::run::{self, RunState, StoredDefinition, entry_type, restore};
use workflow_core::session::{Abilities, StepCall};
use workflow_core::types::RequestId;
use workflow_core::{Effects, Session};

/// A time after all times in the seeds.
const NOW: u64 = 1_800_000_000_000;

/// The longest walk through what was restored.
const STEPS: u64 = 12;

/// The outcomes that are tried at each step.
const MAX_OUTCOMES: usize = 4;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    custom_type: String,
    data: Option<Box<RawValue>>,
}

/// Checks that damaged entries are only left out, and that restored state is stored and restored the same.
pub fn play(data: &[u8]) {
    let branch: Vec<Stored> = data
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    what_is_stored_comes_back(&branch);
    a_session_goes_on_where_it_was(branch);
}

fn entries(branch: &[Stored]) -> Vec<Entry<'_>> {
    let entries = branch.iter().map(|stored| Entry {
        custom_type: &stored.custom_type,
        data: stored.data.as_deref(),
    });
    entries.collect()
}

fn stored(custom_type: &str, data: &impl serde::Serialize) -> Stored {
    Stored {
        custom_type: custom_type.to_owned(),
        data: Some(to_raw_value(data).expect("what is stored is JSON")),
    }
}

fn what_is_stored_comes_back(branch: &[Stored]) {
    let restored = restore(&entries(branch));
    let Some(state) = restored.state else { return };
    let (task, step) = (&state.task_id, Some(state.global_step_count));
    let values = run::Stored::of(task, None, &restored.run.data.values);
    let mut again = vec![
        stored(entry_type::STATE, &state),
        stored(entry_type::RUN, &run::Stored::of(task, step, &restored.run)),
        stored(entry_type::VALUES, &values),
    ];
    let definition = restored
        .definition
        .map(|stored| StoredDefinition::of(&state.workflow_key, &stored.terms.catalog));
    let some = definition
        .iter()
        .filter(|stored| !stored.workflows.is_empty());
    again.extend(some.map(|definition| {
        let definition = run::Stored::of(task, None, definition);
        stored(entry_type::DEFINITION, &definition)
    }));
    let back = restore(&entries(&again));
    assert_eq!(back.state.as_ref(), Some(&state));
    assert_eq!(back.run.counters, restored.run.counters);
    assert_eq!(back.run.moved_by, restored.run.moved_by);
    assert_eq!(back.run.data, restored.run.data);
    assert!(back.diagnostics.is_empty(), "{:?}", back.diagnostics);
    if let (Some(definition), Some(back)) = (definition, back.definition) {
        let restored = StoredDefinition::of(&state.workflow_key, &back.terms.catalog);
        assert_eq!(back.hash, definition.hash);
        assert_eq!(restored, definition);
    }
}

/// A session, and the branch that its host keeps.
struct Host {
    session: Session,
    branch: Vec<Stored>,
    steps: u64,
}

impl Host {
    /// A session that is begun over a branch.
    fn over(branch: Vec<Stored>) -> Self {
        let abilities = Abilities {
            dismissal: true,
            widgets: Some(true),
            ..Abilities::default()
        };
        let mut session = Session::new(abilities, 7);
        let ((), out) = session.at(NOW, |session| {
            session.handle_session(&entries(&branch), &Loaded::default());
        });
        let mut host = Self {
            session,
            branch,
            steps: 0,
        };
        host.keep(out);
        host
    }

    /// Keeps the entries; gates never end, and there is no baseline.
    fn keep(&mut self, out: Effects) {
        let of_answers = out.answers.into_iter().flat_map(|answer| answer.actions);
        for action in out.actions.into_iter().chain(of_answers) {
            if let Action::AppendEntry { custom_type, data } = action {
                self.branch.push(stored(custom_type, &data));
            }
        }
        let mut effects = out.effects.iter();
        if effects.any(|effect| matches!(effect, Effect::TakeBaseline { .. })) {
            // Null would mean that there is no baseline, and it would be requested again.
            let baseline = RawValue::from_string("{}".to_owned()).expect("it is JSON");
            let event = PlatformEvent::BaselineTaken {
                baseline,
                start: None,
            };
            let handle = |session: &mut Session| session.handle_platform_event(event);
            let (_, out) = self.session.at(NOW, handle);
            self.keep(out);
        }
    }

    /// Leaves the phase without an outcome, and with each one that the entries name.
    fn next(&mut self, outcomes: &[String]) {
        let flag = RawValue::from_string(r#"{"f":true}"#.to_owned()).expect("it is JSON");
        let outcomes = outcomes
            .iter()
            .map(|name| Some(name.as_str()))
            .chain([None]);
        for (outcome, outputs) in outcomes.zip([None, Some(&*flag)].into_iter().cycle()) {
            self.steps += 1;
            let request = RequestId(self.steps);
            let next = StepCall {
                action: Some("next".into()),
                outcome: outcome.map(Into::into),
                outputs,
                ..StepCall::default()
            };
            let handle = |session: &mut Session| session.handle_workflow_step(request, &next);
            let ((), out) = self.session.at(NOW, handle);
            self.keep(out);
        }
    }

    fn state(&self) -> Option<RunState> {
        self.session.view().map(|view| view.state.clone())
    }
}

fn a_session_goes_on_where_it_was(branch: Vec<Stored>) {
    let definitions = branch.iter().filter_map(|stored| {
        let data = stored.data.as_ref()?;
        let is_definition = stored.custom_type == entry_type::DEFINITION;
        let data = is_definition.then(|| serde_json::from_str::<StoredDefinition>(data.get()));
        data?.ok()
    });
    let outcomes: Vec<String> = definitions
        .flat_map(|definition| definition.workflows)
        .flat_map(|workflow| workflow.phases)
        .filter_map(|entry| match entry {
            PhaseEntry::Phase(phase) => Some(phase.outcomes),
            PhaseEntry::Subworkflow(_) => None,
        })
        .flatten()
        .map(|outcome| outcome.name)
        .take(MAX_OUTCOMES)
        .collect();
    let mut host = Host::over(branch);
    for _ in 0..STEPS {
        let again = Host::over(host.branch.clone());
        assert_eq!(again.state(), host.state(), "a restart changes nothing");
        let kept = again.branch.len() - host.branch.len();
        assert_eq!(kept, 0, "what was restored is stored already");
        if host.state().is_none_or(|state| !state.active) {
            return;
        }
        host.next(&outcomes);
    }
}
