//! The way out of a phase: its gate, the word of a person, and then the next phase.
//!
//! `next` may take long: checks are run by the process, and a person is asked. Meanwhile the session goes
//! on, and whatever moves the run, or ends the session, calls the way out off.

use serde_json::json;
use serde_json::value::RawValue;

use crate::Session;
use crate::approval::{PendingApproval, Unsaid};
use crate::definition::{Check, Gate, RunCheck};
use crate::effect::{
    Action, AnswerKind, DeferredReply, Effect, Effects, GateRun, Reply, ToolAnswer,
};
use crate::event::Answer;
use crate::policy::gate::{GateVerdict, Obstacle, Report, not_passed};
use crate::run::{StoredGate, entry_type};
use crate::session::{Waiting, entry};
use crate::types::{GateRunId, Millis, RequestId};

/// A `next` that is on its way and waits for the process.
#[derive(Debug, Clone)]
pub(crate) struct Leaving {
    request: RequestId,
    step: Step,
}

/// What the process does for it.
#[derive(Debug, Clone)]
enum Step {
    /// It runs the gate.
    Gate {
        id: GateRunId,
        /// Whether the user has approved already, and only the checks are to be run again.
        approved: bool,
        in_widget: bool,
    },
    /// It looks what the user said outside of the host.
    Word(PendingApproval, Unsaid),
}

/// A question about the way out of a phase.
#[derive(Debug, Clone)]
pub(crate) enum PendingLeave {
    /// Whether these commands may run.
    Trust {
        request: RequestId,
        commands: Vec<RunCheck>,
        approved: bool,
    },
    /// Whether the phase may be left.
    Approval(PendingApproval),
}

impl PendingLeave {
    /// The request that waits for it.
    pub(crate) fn request(&self) -> RequestId {
        match self {
            Self::Trust { request, .. } => *request,
            Self::Approval(pending) => pending.request,
        }
    }

    /// What holds if nobody's answer counts.
    pub(crate) fn without(&self) -> &'static str {
        match self {
            Self::Trust { .. } => "Nothing was trusted, and no command was run.",
            Self::Approval(_) => "It approved nothing.",
        }
    }
}

impl Leaving {
    /// Waits until it is known what the user said outside of the host.
    pub(crate) fn reads_word(pending: PendingApproval, unsaid: Unsaid) -> Self {
        Self {
            request: pending.request,
            step: Step::Word(pending, unsaid),
        }
    }

    /// What waits for the user's word, if it is that.
    pub(crate) fn into_word(self) -> Result<(PendingApproval, Unsaid), Self> {
        match self.step {
            Step::Word(pending, unsaid) => Ok((pending, unsaid)),
            Step::Gate { .. } => Err(self),
        }
    }

    fn is_gate(&self, gate: GateRunId) -> bool {
        matches!(self.step, Step::Gate { id, .. } if id == gate)
    }
}

impl Session {
    /// Starts on the way out of the phase, if it has one that takes long.
    pub(crate) fn leave(
        &mut self,
        now: Millis,
        request: RequestId,
        out: &mut Effects,
    ) -> Option<Reply> {
        if self.leaving.is_some() || self.waiting.values().any(Waiting::is_about_leaving) {
            return Some(Reply::Tool(still_leaving()));
        }
        let (_, standing) = self.standing()?;
        if !standing.phase.gate.is_empty() {
            return Some(self.start_gate(request, false, out));
        }
        standing.phase.approve.as_ref()?;
        let pending = PendingApproval {
            request,
            reports: Vec::new(),
            checked: now,
        };
        Some(self.need_word(pending, out))
    }

    /// Has the gate run, once its commands are trusted.
    pub(crate) fn start_gate(
        &mut self,
        request: RequestId,
        approved: bool,
        out: &mut Effects,
    ) -> Reply {
        let commands = self.commands_to_trust();
        self.run_gate(request, approved, commands, out)
    }

    /// The commands that the user must trust before the gate runs, where it runs any.
    fn commands_to_trust(&self) -> Vec<RunCheck> {
        let Some((run, standing)) = self.standing() else {
            return Vec::new();
        };
        let is_command = |gate: &Gate| matches!(gate.check, Check::Run(_));
        if standing.phase.gate.iter().any(is_command) {
            run.foreign.commands_of(&standing.workflow_key).to_vec()
        } else {
            Vec::new()
        }
    }

    /// Has the gate run; `commands` are those that need the user's trust.
    fn run_gate(
        &mut self,
        request: RequestId,
        approved: bool,
        commands: Vec<RunCheck>,
        out: &mut Effects,
    ) -> Reply {
        let Some((run, standing)) = self.standing() else {
            return called_off(request, NOWHERE).reply;
        };
        let (gates, baseline) = (standing.phase.gate.clone(), run.baseline.clone());
        self.gates += 1;
        let id = GateRunId(self.gates);
        out.effects.push(Effect::RunGate(GateRun {
            id,
            gates,
            baseline,
            commands,
        }));
        let step = Step::Gate {
            id,
            approved,
            in_widget: false,
        };
        self.leaving = Some(Leaving { request, step });
        Reply::Later
    }

    /// Takes the way out whose gate this is.
    fn take_gate(&mut self, gate: GateRunId, out: &mut Effects) -> Option<(RequestId, bool)> {
        let leaving = self.leaving.take_if(|leaving| leaving.is_gate(gate))?;
        let Step::Gate {
            approved,
            in_widget,
            ..
        } = leaving.step
        else {
            return None;
        };
        if in_widget {
            out.actions.push(Action::SetWidget { lines: None });
        }
        Some((leaving.request, approved))
    }

    /// The commands of the gate are not trusted: a person is asked, or nothing is run.
    pub(crate) fn gate_untrusted(&mut self, now: Millis, gate: GateRunId, out: &mut Effects) {
        let Some((request, approved)) = self.take_gate(gate, out) else {
            return;
        };
        let why = if !self.project_trusted {
            "the user does not trust the project in this host".to_owned()
        } else if !self.can_ask() {
            self.why_not_asked("this host cannot ask")
        } else {
            let commands = self.commands_to_trust();
            let listed: Vec<String> = commands.iter().map(RunCheck::in_full).collect();
            let pending = PendingLeave::Trust {
                request,
                commands,
                approved,
            };
            return self.ask_for_trust(
                "Run commands of this project?",
                "A workflow of this project wants to run these commands, now and whenever it comes to them:",
                &listed,
                Waiting::Leave(pending),
                out,
            );
        };
        self.gate_ended(now, request, false, self.not_trusted(&why), out);
    }

    fn not_trusted(&self, why: &str) -> Vec<Report> {
        let is_command = |gate: &&Gate| matches!(gate.check, Check::Run(_));
        let reason = format!(
            "the commands of this project are not trusted, and {why}; the user can trust them with `workflow-sidecar trust`"
        );
        self.could_not_run(is_command, Obstacle::NotTrusted, reason)
    }

    /// A report on the first check of the gate that is meant.
    fn could_not_run(
        &self,
        is_meant: impl FnMut(&&Gate) -> bool,
        obstacle: Obstacle,
        reason: String,
    ) -> Vec<Report> {
        let (_, standing) = self.standing().unzip();
        let gates = standing.map(|standing| &*standing.phase.gate);
        let gate = gates.unwrap_or_default().iter().find(is_meant);
        let report = gate.map(|gate| Report {
            what: gate.check.in_words(),
            source: gate.source.clone(),
            verdict: GateVerdict::CouldNotRun(obstacle),
            reason,
            exit: None,
            signal: None,
            duration_ms: 0,
            tail: String::new(),
        });
        report.into_iter().collect()
    }

    /// Shows how far the gate is.
    pub(crate) fn gate_goes_on(&mut self, gate: GateRunId, text: &str, out: &mut Effects) {
        let shows_widgets = self.shows_widgets();
        let leaving = self
            .leaving
            .as_mut()
            .filter(|leaving| leaving.is_gate(gate));
        let Some(Step::Gate { in_widget, .. }) = leaving.map(|leaving| &mut leaving.step) else {
            return;
        };
        if shows_widgets {
            *in_widget = true;
            let lines = Some(vec![format!("⏳ {text}")]);
            out.actions.push(Action::SetWidget { lines });
        }
    }

    /// The gate has been run.
    pub(crate) fn gate_over(
        &mut self,
        now: Millis,
        gate: GateRunId,
        mut reports: Vec<Report>,
        out: &mut Effects,
    ) {
        let Some((request, approved)) = self.take_gate(gate, out) else {
            return;
        };
        // A gate of which nothing is known has not passed.
        if reports.is_empty() {
            let reason = "it ended, and nobody said how".to_owned();
            reports = self.could_not_run(|_| true, Obstacle::Start, reason);
        }
        self.gate_ended(now, request, approved, reports, out);
    }

    fn gate_ended(
        &mut self,
        now: Millis,
        request: RequestId,
        approved: bool,
        reports: Vec<Report>,
        out: &mut Effects,
    ) {
        let Some((run, standing)) = self.standing() else {
            out.deferred.push(called_off(request, NOWHERE));
            return;
        };
        // A host may keep the newest entry only: it says everything about the phase.
        let stored = StoredGate {
            baseline: run.baseline.clone(),
            ..StoredGate::of_reports(&run.state, &standing.phase.id, &reports)
        };
        let needs_word = standing.phase.approve.is_some() && !approved;
        let name = standing.phase.name.clone();
        let mut settled = Effects::default();
        settled.actions.push(entry(entry_type::GATE, &stored));
        let has_passed = !reports.is_empty() && reports.iter().all(Report::has_passed);
        let reply = if !has_passed {
            self.forget_word_of_before(&mut settled);
            Reply::Tool(ToolAnswer {
                text: not_passed(&name, &reports),
                details: json!({ "active": true, "advanced": false, "gate": reports }),
                kind: Some(AnswerKind::Error),
            })
        } else if needs_word {
            let pending = PendingApproval {
                request,
                reports,
                checked: now,
            };
            self.need_word(pending, &mut settled)
        } else {
            Reply::Tool(self.advance_now(&reports, &mut settled))
        };
        Self::settle(request, reply, settled, out);
    }

    /// Answers an earlier request, unless its answer still has to wait.
    pub(crate) fn settle(
        request: RequestId,
        reply: Reply,
        mut settled: Effects,
        out: &mut Effects,
    ) {
        out.questions.append(&mut settled.questions);
        out.effects.append(&mut settled.effects);
        out.deferred.append(&mut settled.deferred);
        if let Reply::Later = reply {
            out.actions.append(&mut settled.actions);
            return;
        }
        out.deferred.push(DeferredReply {
            request,
            reply,
            actions: settled.actions,
        });
    }

    /// A person answered about the way out.
    pub(crate) fn leave_answered(
        &mut self,
        now: Millis,
        leave: PendingLeave,
        answer: Answer<'_>,
        out: &mut Effects,
    ) {
        let request = leave.request();
        let mut settled = Effects::default();
        let reply = match leave {
            PendingLeave::Trust {
                commands, approved, ..
            } if answer == Answer::Confirmed(true) => {
                // The yes is about what was shown: commands that have changed since are asked about again.
                let wanted = self.commands_to_trust();
                let asked = if wanted == commands {
                    Vec::new()
                } else {
                    wanted
                };
                settled.effects.push(Effect::TrustCommands { commands });
                self.run_gate(request, approved, asked, &mut settled)
            }
            PendingLeave::Trust { .. } => {
                let reports = self.not_trusted("the user did not agree");
                return self.gate_ended(now, request, false, reports, out);
            }
            PendingLeave::Approval(pending) => self.take_word(now, pending, answer, &mut settled),
        };
        Self::settle(request, reply, settled, out);
    }

    /// Nobody answered about the way out in time.
    pub(crate) fn leave_unanswered(
        &mut self,
        now: Millis,
        leave: PendingLeave,
        why: &str,
        out: &mut Effects,
    ) {
        match leave {
            PendingLeave::Trust { request, .. } => {
                self.gate_ended(now, request, false, self.not_trusted(why), out);
            }
            PendingLeave::Approval(pending) => {
                let (request, mut settled) = (pending.request, Effects::default());
                let reply = self.unanswered(pending, UNANSWERED, &mut settled);
                Self::settle(request, reply, settled, out);
            }
        }
    }

    /// Whether this request is one that waits for the way out.
    pub(crate) fn is_leaving(&self, request: RequestId) -> bool {
        let asked = self
            .waiting
            .values()
            .any(|waiting| matches!(waiting, Waiting::Leave(leave) if leave.request() == request));
        asked
            || self
                .leaving
                .as_ref()
                .is_some_and(|leaving| leaving.request == request)
    }

    /// Calls the way out off, because the run or the session goes elsewhere.
    pub(crate) fn stop_leaving(&mut self, why: &str, out: &mut Effects) {
        let ids: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.is_about_leaving())
            .map(|(id, _)| *id)
            .collect();
        let asked = ids.iter().filter_map(|id| self.waiting.remove(id));
        let asked: Vec<DeferredReply> = asked
            .filter_map(|waiting| waiting.unanswered(why))
            .collect();
        out.deferred.extend(asked);
        if let Some(leaving) = self.leaving.take() {
            if let Step::Gate { id, in_widget, .. } = leaving.step {
                out.perform(Effect::CancelGate { gate: id });
                if in_widget {
                    out.actions.push(Action::SetWidget { lines: None });
                }
            }
            out.deferred.push(called_off(leaving.request, why));
        }
        self.forget_dialog(out);
    }

    /// Notes how things stand where a phase was entered.
    pub(crate) fn baseline_taken(&mut self, baseline: Box<RawValue>, out: &mut Effects) {
        let Some(run) = self.run.as_mut().filter(|run| run.state.active) else {
            return;
        };
        let Ok(standing) = &run.standing else { return };
        let stored = StoredGate::of_baseline(&run.state, &standing.phase.id, baseline.clone());
        run.baseline = Some(baseline);
        out.append_entry(entry_type::GATE, &stored);
    }
}

/// Why a way out leads nowhere.
const NOWHERE: &str = "the run stands in no phase any more";
const UNANSWERED: &str = "Nobody answered in half an hour.";

/// The answer to a `next` that came to nothing.
pub(crate) fn called_off(request: RequestId, why: &str) -> DeferredReply {
    DeferredReply {
        request,
        reply: Reply::Tool(ToolAnswer {
            text: format!("The way out of the phase was called off: {why}."),
            details: json!({ "advanced": false }),
            kind: Some(AnswerKind::Error),
        }),
        actions: Vec::new(),
    }
}

fn still_leaving() -> ToolAnswer {
    ToolAnswer {
        text: "The way out of this phase is being checked already: wait for the answer to the first call.".to_owned(),
        details: json!({ "active": true, "advanced": false }),
        kind: Some(AnswerKind::Error),
    }
}

/// Whether checks compare with how things stood when the phase was entered.
pub(crate) fn needs_baseline(gates: &[Gate]) -> bool {
    use crate::definition::GitCheck;
    gates.iter().any(|gate| match &gate.check {
        Check::File(file) => file.changed.is_some(),
        Check::Git(git) => *git == GitCheck::NewCommit,
        Check::Run(_) => false,
    })
}
