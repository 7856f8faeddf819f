//! The engine, as a host has it: a session that can be split in two, and the branch it keeps.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use workflow_core::approval::{self, Request};
use workflow_core::definition::{Catalog, Loaded, Settings, Workflow};
use workflow_core::effect::{Action, BlockKind, Effect, Reply, ToolDecision};
use workflow_core::event::{Answer, Author, Entry, LastAssistant, PlatformEvent};
use workflow_core::policy::gate_report::Report;
use workflow_core::policy::rules::{Call, PLAIN_PATHS};
use workflow_core::session::{Abilities, Control, StepCall, TurnUsage};
use workflow_core::types::{GateRunId, QuestionId, RequestId};
use workflow_core::{Effects, Session};

use crate::reading::{Access, Decision, Event};

const NOW: u64 = 1_747_234_567_890;

/// A session and its host.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) session: Session,
    loaded: Arc<Loaded>,
    now: u64,
    /// Shared by all hosts with the same history.
    branch: Vec<Arc<(String, Box<RawValue>)>>,
    requests: u64,
    approval: Option<QuestionId>,
    replacement: Option<QuestionId>,
    gate: Option<GateRunId>,
    /// The question that confirms a person's move, and the option that does.
    confirmation: Option<(QuestionId, String)>,
    /// The approval request, and the decision made outside of the host.
    awaited: Option<(String, Option<Decision>)>,
    abilities: Abilities,
}

impl Host {
    pub(crate) fn new(workflows: Vec<Workflow>, settings: Settings, dialogs: bool) -> Self {
        let abilities = Abilities {
            dialogs,
            dismissal: true,
            widgets: Some(true),
            ..Abilities::default()
        };
        let mut host = Self {
            session: Session::new(abilities, 7),
            loaded: Arc::new(Loaded {
                catalog: Arc::new(Catalog::new(workflows)),
                settings,
                ..Loaded::default()
            }),
            now: NOW,
            branch: Vec::new(),
            requests: 0,
            approval: None,
            replacement: None,
            gate: None,
            confirmation: None,
            awaited: None,
            abilities,
        };
        host.happen(Event::Reload);
        host
    }

    /// The same branch in a sidecar that has just been started.
    pub(crate) fn restarted(&self) -> Self {
        let mut host = self.clone();
        host.session = Session::new(self.abilities, 8);
        host.happen(Event::Reload);
        host
    }

    /// The entries of the branch, the first ones up to a number.
    pub(crate) fn branch(&self, most: usize) -> Vec<Entry<'_>> {
        let entries = self.branch.iter().take(most).map(|entry| Entry {
            custom_type: &entry.0,
            data: Some(&entry.1),
        });
        entries.collect()
    }

    /// The agent leaves the phase with an outcome and with the output `f`.
    pub(crate) fn next(&mut self, outcome: Option<&str>, flag: Option<bool>) {
        self.hand_over(outcome, flag.map(|flag| json!({ "f": flag })).as_ref());
    }

    /// The agent leaves the phase with an outcome and with outputs.
    pub(crate) fn hand_over(&mut self, outcome: Option<&str>, outputs: Option<&Value>) {
        let raw = |outputs| serde_json::value::to_raw_value(outputs).expect("it is JSON");
        let outputs = outputs.map(raw);
        self.requests += 1;
        let request = RequestId(self.requests);
        self.step(|session| {
            let call = StepCall {
                action: Some("next".into()),
                outcome: outcome.map(Into::into),
                outputs: outputs.as_deref(),
                ..StepCall::default()
            };
            session.handle_workflow_step(request, &call);
        });
    }

    /// A person chooses an answer to the question for approval.
    pub(crate) fn choose(&mut self, choice: &str) {
        self.answer_approval(Answer::Chosen(choice));
    }

    /// A person's command; what it asks is confirmed, and the agent reads the phase.
    pub(crate) fn control(&mut self, control: Control, arguments: &str) {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.step(|session| session.handle_control(request, control, arguments));
        if let Some((question, yes)) = self.confirmation.take() {
            let answer = Answer::Chosen(&yes);
            self.step(|session| session.handle_answer(question, answer));
        }
        self.tool(RequestId(u64::MAX), "status");
    }

    /// Returns the number of entries of the branch.
    pub(crate) fn entries(&self) -> usize {
        self.branch.len()
    }

    /// Returns whether the run waits for an approval.
    pub(crate) fn awaits_approval(&self) -> bool {
        self.awaited.is_some()
    }

    pub(crate) fn happen(&mut self, event: Event) {
        self.requests += 1;
        let request = RequestId(self.requests);
        match event {
            Event::Next => self.tool(request, "next"),
            Event::Loop => self.tool(request, "loop"),
            Event::Cancel => self.tool(request, "cancel"),
            Event::CancelCommand => self.step(|session| session.handle_cancel_command(None)),
            Event::Start => {
                let loaded = Arc::clone(&self.loaded);
                self.step(|session| {
                    session.handle_workflow_command(request, "w0 the task", loaded);
                });
            }
            Event::ReplaceIt => self.answer_replacement(true),
            Event::KeepIt => self.answer_replacement(false),
            Event::Approve => self.answer_approval(Answer::Chosen("approve")),
            Event::Revise => self.answer_approval(Answer::Chosen("revise")),
            Event::Dismiss => self.answer_approval(Answer::Dismissed),
            Event::Decide(decision) => self.decide(decision),
            Event::GatePasses => self.end_gate("passed"),
            Event::GateFails => self.end_gate("failed"),
            Event::Stop => self.stop("stop"),
            Event::Abort => self.stop("aborted"),
            Event::Second => {
                self.now += 1000;
                self.step(Session::poll_deadline);
            }
            Event::Person => self.step(|session| session.handle_user_input(Some(Author::User))),
            Event::Prompt => self.step(|session| {
                session.handle_before_agent_start(Some("go on"));
            }),
            Event::TurnStart => self.step(|session| session.handle_turn_start(None)),
            Event::TurnEnd => self.step(|session| session.handle_turn_end(TurnUsage::default())),
            Event::Reload => self.reload(),
        }
    }

    fn reload(&mut self) {
        let branch = std::mem::take(&mut self.branch);
        let entries = branch.iter().map(|entry| Entry {
            custom_type: &entry.0,
            data: Some(&entry.1),
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let loaded = &self.loaded;
        let handle = |session: &mut Session| session.handle_session(&entries, loaded);
        let ((), out) = self.session.at(self.now, handle);
        self.branch = branch;
        self.take(out);
    }

    fn stop(&mut self, reason: &str) {
        let last = LastAssistant {
            stop_reason: Some(reason),
            text_tail: Some("Done."),
        };
        self.step(|session| {
            session.handle_agent_end(Some(last));
        });
    }

    fn decide(&mut self, decision: Decision) {
        let (_, word) = self.awaited.as_mut().expect("a word is waited for");
        *word = Some(decision);
    }

    fn answer_approval(&mut self, answer: Answer<'_>) {
        let question = self.approval.take().expect("a person is asked");
        self.step(|session| session.handle_answer(question, answer));
    }

    fn answer_replacement(&mut self, yes: bool) {
        let question = self.replacement.take().expect("a person is asked");
        let answer = Answer::Confirmed(yes);
        self.step(|session| session.handle_answer(question, answer));
    }

    fn end_gate(&mut self, verdict: &str) {
        let gate = self.gate.take().expect("a gate runs");
        let report: Report = serde_json::from_value(json!({
            "what": "true", "verdict": verdict, "reason": "", "durationMs": 1,
        }))
        .expect("it is a report");
        self.report(PlatformEvent::GateFinished {
            gate,
            reports: vec![report],
        });
    }

    fn tool(&mut self, request: RequestId, action: &str) {
        self.step(|session| {
            let call = StepCall {
                action: Some(action.into()),
                ..StepCall::default()
            };
            session.handle_workflow_step(request, &call);
        });
    }

    fn report(&mut self, event: PlatformEvent) {
        self.step(|session| {
            session.handle_platform_event(event);
        });
    }

    fn step(&mut self, handle: impl FnOnce(&mut Session)) {
        let ((), out) = self.session.at(self.now, handle);
        self.take(out);
    }

    fn take(&mut self, out: Effects) {
        let settled = out.answers.into_iter().flat_map(|answer| answer.actions);
        for action in out.actions.into_iter().chain(settled) {
            if let Action::AppendEntry { custom_type, data } = action {
                self.branch.push(Arc::new((custom_type.to_owned(), data)));
            }
        }
        for question in out.questions {
            let confirms = question
                .options
                .iter()
                .find(|option| option.starts_with("Yes"));
            if let Some(yes) = confirms {
                self.confirmation = Some((question.id, yes.clone()));
            } else if question.options.is_empty() {
                self.replacement = Some(question.id);
            } else {
                self.approval = Some(question.id);
            }
        }
        let mut reads = None;
        for effect in out.effects {
            match effect {
                Effect::RunGate(run) => self.gate = Some(run.id),
                Effect::RequestApproval(Request { id, .. }) => {
                    let kept = self.awaited.take().filter(|(about, _)| *about == id);
                    self.awaited = kept.or(Some((id, None)));
                }
                Effect::ClearApproval { .. } => self.awaited = None,
                Effect::ReadApproval(awaiting) => reads = Some(awaiting.id),
                _ => {}
            }
        }
        if let Some(id) = reads {
            let awaited = self.awaited.clone().filter(|(about, _)| *about == id);
            let word = awaited.and_then(|(_, word)| word);
            let choice = match word {
                Some(Decision::Revise) => "revise",
                _ => "approve",
            };
            self.report(PlatformEvent::ApprovalRead {
                decision: word.map(|_| {
                    Box::new(approval::Decision {
                        choice: choice.to_owned(),
                        ..approval::Decision::default()
                    })
                }),
                is_outdated: word == Some(Decision::Outdated),
            });
        }
    }

    /// Returns the decision on a tool call at this moment.
    pub(crate) fn access(&self, tool: &str) -> Access {
        let call = Call::new(tool, None, &*PLAIN_PATHS);
        let mut session = self.session.clone();
        let request = RequestId(u64::MAX);
        let ((), mut out) = session.at(self.now, |session| {
            session.handle_tool_call(request, &call, None);
        });
        match out.answers.pop().map(|answer| answer.reply) {
            Some(Reply::ToolCall(ToolDecision::Allow)) => Access::Runs,
            None => Access::Asked,
            // A host that cannot ask blocks what a person would have to decide.
            Some(Reply::ToolCall(ToolDecision::Block(block)))
                if block.kind == BlockKind::Policy =>
            {
                Access::Blocked
            }
            Some(other) => panic!("{other:?}"),
        }
    }
}
