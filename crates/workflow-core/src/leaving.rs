//! The way out of a phase: its gate, the word of a person, and then the next phase.
//!
//! `next` may take long: checks are run by the process, and a person is asked. Meanwhile the session goes
//! on, and whatever moves the run, or ends the session, calls the way out off.

use serde_json::json;
use serde_json::value::RawValue;

use crate::Session;
use crate::definition::{
    Approval, Catalog, Check, Gate, Listing, Outcome, PhaseEntry, RunCheck, Tier,
};
use crate::guard::Parked;
use crate::guard::gate::{GateVerdict, Obstacle, Report, not_passed};
use crate::input::{Answer, Ticket};
use crate::output::{
    Action, AnswerKind, Effect, GateId, GateRun, Output, Question, Reply, Settled, ToolAnswer,
};
use crate::run::{StoredGate, entry_type, reachable};
use crate::session::{Waiting, entry};

/// A `next` that is not answered yet.
#[derive(Debug, Clone)]
pub(crate) struct Leaving {
    ticket: Ticket,
    gate: GateId,
    in_widget: bool,
}

/// A question about the way out of a phase.
#[derive(Debug, Clone)]
pub(crate) struct PendingLeave {
    pub(crate) ticket: Ticket,
    about: About,
}

#[derive(Debug, Clone)]
enum About {
    /// Whether the commands may run.
    Trust,
    /// Whether the phase may be left.
    Approval(Vec<Report>),
}

impl Session {
    /// Starts on the way out of the phase, if it has one that takes long.
    ///
    /// `word` is what a person said about it beforehand, outside of the host.
    pub(crate) fn leave(
        &mut self,
        ticket: Ticket,
        word: Option<&str>,
        out: &mut Output,
    ) -> Option<Reply> {
        if self.leaving.is_some() || self.waiting.values().any(Waiting::is_about_leaving) {
            return Some(Reply::Tool(still_leaving()));
        }
        let (run, standing) = self.standing()?;
        if standing.phase.gate.is_empty() {
            let approval = standing.phase.approve.clone()?;
            return Some(self.ask_approval(ticket, &approval, word, Vec::new(), out));
        }
        let commands = run.foreign_commands.clone();
        self.said_before = word.map(str::to_owned);
        self.run_gate(ticket, commands, out);
        Some(Reply::Later)
    }

    /// Has the gate run; `commands` are those that need the user's trust.
    fn run_gate(&mut self, ticket: Ticket, commands: Vec<RunCheck>, out: &mut Output) {
        let Some((run, standing)) = self.standing() else {
            return;
        };
        let has_commands = standing
            .phase
            .gate
            .iter()
            .any(|gate| matches!(gate.check, Check::Run(_)));
        let (gates, baseline) = (standing.phase.gate.clone(), run.baseline.clone());
        self.gates += 1;
        let id = GateId(self.gates);
        out.effects.push(Effect::RunGate(GateRun {
            id,
            gates,
            baseline,
            commands: if has_commands { commands } else { Vec::new() },
        }));
        self.leaving = Some(Leaving {
            ticket,
            gate: id,
            in_widget: false,
        });
    }

    /// The commands of the gate are not trusted: a person is asked, or nothing is run.
    pub(crate) fn gate_untrusted(&mut self, gate: GateId, out: &mut Output) {
        let Some(leaving) = self.leaving.take_if(|leaving| leaving.gate == gate) else {
            return;
        };
        let Some((run, _)) = self.standing() else {
            return;
        };
        let commands: Vec<String> = run
            .foreign_commands
            .iter()
            .map(|run| format!("  {}", run.in_full()))
            .collect();
        let ticket = leaving.ticket;
        if !self.project_trusted {
            let why = "the user does not trust the project in this host";
            return self.gate_ended(ticket, self.not_trusted(why), out);
        }
        if !self.can_ask() {
            let why = self.why_not_asked("this host cannot ask");
            return self.gate_ended(ticket, self.not_trusted(&why), out);
        }
        let message = format!(
            "A workflow of this project wants to run these commands, now and whenever it comes to them:\n{}",
            commands.join("\n")
        );
        let id = self.next_question();
        out.questions.push(Question {
            id,
            title: "Run commands of this project?".to_owned(),
            message,
            options: Vec::new(),
            show: None,
        });
        let about = About::Trust;
        self.waiting
            .insert(id, Waiting::Leave(PendingLeave { ticket, about }));
    }

    fn not_trusted(&self, why: &str) -> Vec<Report> {
        let gates = self
            .standing()
            .map(|(_, standing)| &*standing.phase.gate)
            .unwrap_or_default();
        let untrusted = gates.iter().find_map(|gate| match &gate.check {
            Check::Run(run) => Some((run, &gate.source)),
            Check::File(_) | Check::Git(_) => None,
        });
        let report = untrusted.map(|(run, source)| Report {
            what: run.in_words(),
            source: source.clone(),
            verdict: GateVerdict::CouldNotRun(Obstacle::NotTrusted),
            reason: format!(
                "the commands of this project are not trusted, and {why}; the user can trust them with `workflow-sidecar trust`"
            ),
            exit: None,
            signal: None,
            duration_ms: 0,
            tail: String::new(),
        });
        report.into_iter().collect()
    }

    /// Shows how far the gate is.
    pub(crate) fn gate_goes_on(&mut self, gate: GateId, text: &str, out: &mut Output) {
        let shows_widgets = self.shows_widgets();
        let Some(leaving) = self.leaving.as_mut().filter(|leaving| leaving.gate == gate) else {
            return;
        };
        if shows_widgets {
            leaving.in_widget = true;
            let lines = Some(vec![format!("⏳ {text}")]);
            out.actions.push(Action::SetWidget { lines });
        }
    }

    /// The gate has been run.
    pub(crate) fn gate_over(&mut self, gate: GateId, reports: Vec<Report>, out: &mut Output) {
        let Some(leaving) = self.leaving.take_if(|leaving| leaving.gate == gate) else {
            return;
        };
        if leaving.in_widget {
            out.actions.push(Action::SetWidget { lines: None });
        }
        self.gate_ended(leaving.ticket, reports, out);
    }

    fn gate_ended(&mut self, ticket: Ticket, reports: Vec<Report>, out: &mut Output) {
        let Some((run, standing)) = self.standing() else {
            return;
        };
        // A host may keep the newest entry only: it says everything about the phase.
        let stored = StoredGate {
            baseline: run.baseline.clone(),
            ..StoredGate::of_reports(&run.state, &standing.phase.id, &reports)
        };
        let (name, approval) = (standing.phase.name.clone(), standing.phase.approve.clone());
        let mut settled = Output::default();
        settled.actions.push(entry(entry_type::GATE, &stored));
        let has_passed = reports.iter().all(Report::has_passed);
        let reply = if !has_passed {
            Reply::Tool(ToolAnswer {
                text: not_passed(&name, &reports),
                details: json!({ "active": true, "advanced": false, "gate": reports }),
                kind: Some(AnswerKind::Error),
            })
        } else if let Some(approval) = approval {
            let word = self.said_before.take();
            self.ask_approval(ticket, &approval, word.as_deref(), reports, &mut settled)
        } else {
            Reply::Tool(self.advance_now(&reports, &mut settled))
        };
        Self::settle(ticket, reply, settled, out);
    }

    /// Answers an earlier request, unless its answer still has to wait.
    fn settle(ticket: Ticket, reply: Reply, mut settled: Output, out: &mut Output) {
        out.questions.append(&mut settled.questions);
        out.effects.append(&mut settled.effects);
        if let Reply::Later = reply {
            out.actions.append(&mut settled.actions);
            return;
        }
        out.settled.push(Settled {
            ticket,
            reply,
            actions: settled.actions,
        });
    }

    /// Asks whether the phase may be left, or takes what was said beforehand.
    fn ask_approval(
        &mut self,
        ticket: Ticket,
        approval: &Approval,
        word: Option<&str>,
        reports: Vec<Report>,
        out: &mut Output,
    ) -> Reply {
        if let Some(word) = word.filter(|word| approval.choices.iter().any(|choice| choice == word))
        {
            return Reply::Tool(self.take_word(approval, Answer::Chosen(word), &reports, out));
        }
        if !self.can_ask() {
            let why = self.why_not_asked("This host cannot ask the user");
            return Reply::Tool(self.wait_for_word(approval, &why, out));
        }
        let id = self.next_question();
        out.questions.push(Question {
            id,
            title: approval.ask.clone(),
            message: String::new(),
            options: approval.choices.clone(),
            show: approval.show.clone(),
        });
        let about = About::Approval(reports);
        self.waiting
            .insert(id, Waiting::Leave(PendingLeave { ticket, about }));
        Reply::Later
    }

    /// A person answered about the way out.
    pub(crate) fn leave_answered(
        &mut self,
        leave: PendingLeave,
        answer: Answer<'_>,
        out: &mut Output,
    ) {
        let PendingLeave { ticket, about } = leave;
        let mut settled = Output::default();
        let reply = match about {
            About::Trust if answer == Answer::Confirmed(true) => {
                let Some((run, _)) = self.standing() else {
                    return;
                };
                out.effects
                    .push(Effect::Trust(run.foreign_commands.clone()));
                return self.run_gate(ticket, Vec::new(), out);
            }
            About::Trust => {
                return self.gate_ended(ticket, self.not_trusted("the user did not agree"), out);
            }
            About::Approval(reports) => {
                let approval = self
                    .standing()
                    .and_then(|(_, standing)| standing.phase.approve.clone());
                let Some(approval) = approval else { return };
                Reply::Tool(self.take_word(&approval, answer, &reports, &mut settled))
            }
        };
        Self::settle(ticket, reply, settled, out);
    }

    /// Does what a person chose: the first choice approves.
    fn take_word(
        &mut self,
        approval: &Approval,
        answer: Answer<'_>,
        reports: &[Report],
        out: &mut Output,
    ) -> ToolAnswer {
        let chosen = match answer {
            Answer::Chosen(chosen) => approval.choices.iter().find(|choice| *choice == chosen),
            Answer::Confirmed(_) | Answer::Dismissed => None,
        };
        match chosen {
            None => self.wait_for_word(approval, "Nobody answered", out),
            Some(chosen) if *chosen == approval.choices[0] => self.advance_now(reports, out),
            Some(chosen) => {
                self.forget_word(out);
                ToolAnswer {
                    text: format!(
                        "The user was asked \"{}\" and chose \"{chosen}\": the phase goes on. Ask what to change if it is not clear, and call \
                         workflow_step with action='next' again when it is done.",
                        approval.ask
                    ),
                    details: json!({ "active": true, "advanced": false, "approval": chosen }),
                    kind: Some(AnswerKind::Error),
                }
            }
        }
    }

    /// The run rests until a person says something.
    fn wait_for_word(&mut self, approval: &Approval, why: &str, out: &mut Output) -> ToolAnswer {
        if let Some(run) = &mut self.run {
            run.pace.parked = Some(Parked::Approval);
            run.store_pace(out);
        }
        out.effects.push(Effect::AwaitWord(approval.clone()));
        ToolAnswer {
            text: format!(
                "⏸ The phase needs the user's word: \"{}\" {why}. Stop here and wait. The user answers with `workflow-sidecar approve`, or in \
                 this session, after which you call workflow_step with action='next' again.",
                approval.ask
            ),
            details: json!({ "active": true, "advanced": false, "waiting": "approval" }),
            kind: Some(AnswerKind::Error),
        }
    }

    /// The phase is left, or its question answered: nobody waits for a word about it any more.
    pub(crate) fn forget_word(&self, out: &mut Output) {
        if let Some((run, standing)) = self.standing()
            && standing.phase.approve.is_some()
        {
            let task_id = run.state.task_id.clone();
            out.effects.push(Effect::ForgetWord(task_id));
        }
    }

    /// Whether this request is one that waits for the way out.
    pub(crate) fn is_leaving(&self, ticket: Ticket) -> bool {
        let asked = self
            .waiting
            .values()
            .any(|waiting| matches!(waiting, Waiting::Leave(leave) if leave.ticket == ticket));
        asked
            || self
                .leaving
                .as_ref()
                .is_some_and(|leaving| leaving.ticket == ticket)
    }

    /// Calls the way out off, because the run or the session goes elsewhere.
    pub(crate) fn stop_leaving(&mut self, why: &str, out: &mut Output) {
        let ids: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.is_about_leaving())
            .map(|(id, _)| *id)
            .collect();
        let asked = ids.iter().filter_map(|id| self.waiting.remove(id));
        let asked: Vec<Settled> = asked
            .filter_map(|waiting| waiting.unanswered(why))
            .collect();
        out.settled.extend(asked);
        if let Some(leaving) = self.leaving.take() {
            out.effects.push(Effect::StopGate(leaving.gate));
            if leaving.in_widget {
                out.actions.push(Action::SetWidget { lines: None });
            }
            out.settled.push(called_off(leaving.ticket, why));
        }
    }

    /// Notes how things stand where a phase was entered.
    pub(crate) fn baseline_taken(&mut self, baseline: Box<RawValue>, out: &mut Output) {
        let Some(run) = self.run.as_mut().filter(|run| run.state.active) else {
            return;
        };
        let Ok(standing) = &run.standing else { return };
        let stored = StoredGate::of_baseline(&run.state, &standing.phase.id, baseline.clone());
        run.baseline = Some(baseline);
        out.actions.push(entry(entry_type::GATE, &stored));
    }
}

/// The answer to a `next` that came to nothing.
pub(crate) fn called_off(ticket: Ticket, why: &str) -> Settled {
    Settled {
        ticket,
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

/// The commands of a run that do not come from the user's own workflows.
pub(crate) fn foreign_commands(root: &str, catalog: &Catalog, index: &[Listing]) -> Vec<RunCheck> {
    let commands = foreign_gates(root, catalog, index);
    commands.map(|(run, _)| run.clone()).collect()
}

/// The commands of a run that run only if the user trusts them, each with its place: those of the
/// workflow of this key and of all it refers to, but for the user's own workflows.
pub fn foreign_gates<'c>(
    root: &str,
    catalog: &'c Catalog,
    index: &[Listing],
) -> impl Iterator<Item = (&'c RunCheck, &'c str)> {
    let is_own = move |key: &str| {
        index.iter().any(|listing| {
            listing.key == key && listing.tier == Tier::Global && listing.outcome == Outcome::Loaded
        })
    };
    let foreign = reachable(root, catalog)
        .into_iter()
        .filter(move |workflow| !is_own(&workflow.key));
    let phases = foreign
        .flat_map(|workflow| &workflow.phases)
        .filter_map(|entry| match entry {
            PhaseEntry::Phase(phase) => Some(phase),
            PhaseEntry::Subworkflow(_) => None,
        });
    phases
        .flat_map(|phase| &phase.gate)
        .filter_map(|gate| match &gate.check {
            Check::Run(run) => Some((run, &*gate.source)),
            Check::File(_) | Check::Git(_) => None,
        })
}
