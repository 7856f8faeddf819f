//! A session with its platform: the only loop around the engine.
//!
//! ```text
//! server (sessions of a host on pipes)    hook_hosts, mcp (a session for one event)
//!    │                                       │
//!    │                                       ▼
//!    │                                    stored_session (loaded from the store, saved to it) ── memory
//!    ▼                                       │
//! Driver ◄───────────────────────────────────┘
//!    └── host_gate (a gate whose commands the host runs)
//! ```
//!
//! Events go in, with their time. Effects are performed here; the other outputs are returned, for those who know the host.
//! Must not know lines, methods or hosts.

mod host_gate;
mod memory;
mod stored_session;

use std::collections::VecDeque;
use std::sync::Arc;

use workflow_core::approval::{Decision, Request};
use workflow_core::definition::Check;
use workflow_core::effect::{Effect, TriggerOutcome};
use workflow_core::event::PlatformEvent;
use workflow_core::types::{GateRunId, Millis};
use workflow_core::{Effects, Session};

use self::host_gate::{HostGate, NextCheck};
pub(crate) use self::memory::{CallDecision, HostMemory};
pub(crate) use self::stored_session::{ATTEMPTS, RestoredSession};
use crate::figures::ledger;
use crate::platform::gates::HostAnswer;
use crate::platform::{Platform, SessionContext};
use crate::store::Counts;
use crate::telemetry;

/// A session, its platform, and what runs for it.
pub(crate) struct Driver {
    pub(crate) session: Session,
    pub(crate) context: SessionContext,
    platform: Arc<dyn Platform>,
    reach: Reach,
    /// The gate that runs, if the host runs its commands.
    host_gate: Option<HostGate>,
    /// The calls of the host that gates need.
    pub(crate) host_calls: Vec<HostCall>,
    /// True if an event led to more than an answer, since this was last taken.
    pub(crate) has_changed: bool,
    /// The effect that was left out because it cannot be repeated.
    pub(crate) left_out: Option<Effect>,
    /// The decision that the user made in a dialog of the host, about a stored request.
    pub(crate) decision: Option<Decision>,
    /// What was counted since it was last stored.
    pub(crate) counts: Counts,
    /// The workflow in which the turn began: it may end before the turn does.
    pub(crate) workflow_of_turn: Option<String>,
}

/// The effects that a driver performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All of them.
    All {
        /// True if the host runs the commands of gates.
        runs_commands: bool,
    },
    /// Those that may be repeated, because the event is handled again if another process has changed the session.
    Repeatable {
        /// True if the user may be asked outside of the host.
        asks_user: bool,
    },
}

/// A call of the host that a gate needs.
pub(crate) enum HostCall {
    Run(Check),
    /// End the command that runs.
    Cancel,
}

impl Driver {
    pub(crate) fn new(
        session: Session,
        context: SessionContext,
        platform: Arc<dyn Platform>,
        reach: Reach,
    ) -> Self {
        Self {
            session,
            context,
            platform,
            reach,
            host_gate: None,
            host_calls: Vec::new(),
            has_changed: false,
            left_out: None,
            decision: None,
            counts: Counts::default(),
            workflow_of_turn: None,
        }
    }

    /// Handles an event of the host, with the effects that follow.
    pub(crate) fn with_effects<T>(
        &mut self,
        now: Millis,
        event: impl FnOnce(&mut Session) -> T,
    ) -> (T, Effects) {
        let (result, mut out) = self.session.at(now, event);
        self.has_changed |= !out.is_only_answered();
        let mut effects = VecDeque::from(std::mem::take(&mut out.effects));
        while let Some(effect) = effects.pop_front() {
            let Some(event) = self.perform(effect, now) else {
                continue;
            };
            let handle = |session: &mut Session| session.handle_platform_event(event);
            let (_, mut more) = self.session.at(now, handle);
            effects.extend(std::mem::take(&mut more.effects));
            out.merge(more);
        }
        telemetry::denials(&self.session, &out.denied);
        telemetry::lift(out.lifted);
        ledger::count(&self.session, &out, &mut self.counts);
        (result, out)
    }

    /// Handles a report of the platform. Gives the outcome of a trigger's message.
    pub(crate) fn on_report(
        &mut self,
        now: Millis,
        report: PlatformEvent,
    ) -> (Option<TriggerOutcome>, Effects) {
        let event = match (report, &mut self.host_gate) {
            (PlatformEvent::GateFinished { gate, reports }, Some(running))
                if running.id() == gate =>
            {
                running.add_reports(reports);
                self.continue_host_gate(now)
            }
            // The platform counts only the checks that it was given.
            (PlatformEvent::GateProgress { gate, .. }, Some(running)) if running.id() == gate => {
                None
            }
            (event, _) => Some(event),
        };
        self.on_event(now, event)
    }

    /// Handles the end of a command that the host ran.
    pub(crate) fn on_command_ended(&mut self, now: Millis, answer: HostAnswer) -> Effects {
        let event = self.end_command(now, answer);
        self.on_event(now, event).1
    }

    fn on_event(
        &mut self,
        now: Millis,
        event: Option<PlatformEvent>,
    ) -> (Option<TriggerOutcome>, Effects) {
        self.with_effects(now, |session| {
            let event = event?;
            if let PlatformEvent::GateFinished { reports, .. } = &event {
                telemetry::gate(session, reports);
            }
            session.handle_platform_event(event)
        })
    }

    /// The time at which [`poll`](Self::poll) is due next.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        let of_command = self.host_gate.as_ref().and_then(HostGate::deadline);
        let deadlines = [self.session.deadline(), of_command];
        deadlines.into_iter().flatten().min()
    }

    /// Does everything that is due.
    pub(crate) fn poll(&mut self, now: Millis) -> Effects {
        let of_command = self.host_gate.as_ref().and_then(HostGate::deadline);
        let late = of_command.filter(|deadline| *deadline <= now);
        let event = late.and_then(|_| {
            self.host_calls.push(HostCall::Cancel);
            self.end_command(now, HostAnswer::Late)
        });
        let ((), mut out) = self.with_effects(now, Session::poll_deadline);
        if event.is_some() {
            out.merge(self.on_event(now, event).1);
        }
        out
    }

    /// Ends the session.
    pub(crate) fn close(&mut self, now: Millis) -> Effects {
        let ((), out) = self.with_effects(now, Session::handle_shutdown);
        self.end_host_gate(None);
        out
    }

    /// Ends what runs for the session.
    pub(crate) fn leave(&self) {
        self.platform.close_session(&self.context.id);
    }

    /// Lets the user answer outside of the host from now on.
    pub(crate) fn open(&self) {
        self.platform.open_session(&self.context);
    }

    fn perform(&mut self, effect: Effect, now: Millis) -> Option<PlatformEvent> {
        match self.reach {
            Reach::All { runs_commands } => {
                if let Effect::RunGate(run) = &effect
                    && runs_commands
                    && HostGate::has_command(run)
                {
                    self.end_host_gate(None);
                    self.host_gate = Some(HostGate::new(run.clone()));
                    return self.continue_host_gate(now);
                }
                if let Effect::CancelGate { gate } = &effect {
                    self.end_host_gate(Some(*gate));
                }
            }
            Reach::Repeatable { asks_user } => match &effect {
                Effect::ReadApproval(request) if asks_user && self.decision.is_some() => {
                    return self.read_approval(request);
                }
                Effect::RequestApproval(_) | Effect::ReadApproval(_) if asks_user => {}
                Effect::RunGate(_) | Effect::RequestApproval(_) => {
                    self.left_out = Some(effect);
                    return None;
                }
                Effect::ReadApproval(_)
                | Effect::RecordCheckpoint
                | Effect::RestoreCode { .. }
                | Effect::WatchTriggers { .. } => return effect.on_empty_platform(),
                Effect::TakeBaseline { .. }
                | Effect::MeasureChange { .. }
                | Effect::CheckTrust { .. }
                | Effect::TrustCommands { .. }
                | Effect::CancelGate { .. }
                | Effect::ClearApproval { .. }
                | Effect::StopWatching
                | Effect::TrustTriggers { .. } => {}
            },
        }
        self.perform_now(effect)
    }

    /// Reads the decision about a request: the stored one, which came first, or that of the dialog.
    fn read_approval(&self, request: &Request) -> Option<PlatformEvent> {
        let stored = self.perform_now(Effect::ReadApproval(request.clone()));
        let given = self.decision.clone();
        match (stored, given.filter(|it| it.request == request.id)) {
            (Some(PlatformEvent::ApprovalRead { decision: None, .. }), Some(decision)) => {
                let shown = request.show.as_deref().zip(request.proofs.shown.as_deref());
                let is_same = |(path, state): (&str, &str)| {
                    let cwd = &self.context.cwd;
                    self.platform.is_unchanged(path, cwd, state)
                };
                Some(PlatformEvent::ApprovalRead {
                    decision: Some(Box::new(decision)),
                    is_outdated: !shown.is_none_or(is_same),
                })
            }
            (stored, _) => stored,
        }
    }

    /// Has the platform perform an effect, whatever the driver leaves out.
    pub(crate) fn perform_now(&self, effect: Effect) -> Option<PlatformEvent> {
        self.platform.perform(&self.context, effect)
    }

    fn end_command(&mut self, now: Millis, answer: HostAnswer) -> Option<PlatformEvent> {
        self.host_gate.as_mut()?.on_answer(answer, now);
        self.continue_host_gate(now)
    }

    /// Runs what a gate of the host needs next. Gives the event for the session that is known at once.
    fn continue_host_gate(&mut self, now: Millis) -> Option<PlatformEvent> {
        loop {
            let running = self.host_gate.as_mut()?;
            let gate = running.id();
            match running.next(now) {
                NextCheck::Finished(reports) => {
                    self.host_gate = None;
                    return Some(PlatformEvent::GateFinished { gate, reports });
                }
                NextCheck::Platform(part, text) => match self.perform_now(Effect::RunGate(part)) {
                    Some(PlatformEvent::GateFinished { reports, .. }) => {
                        self.host_gate.as_mut()?.add_reports(reports);
                    }
                    Some(refused) => {
                        self.host_gate = None;
                        return Some(refused);
                    }
                    None => return Some(PlatformEvent::GateProgress { gate, text }),
                },
                NextCheck::Host(command, text) => {
                    self.host_calls.push(HostCall::Run(command));
                    return Some(PlatformEvent::GateProgress { gate, text });
                }
            }
        }
    }

    /// Ends the gate whose commands the host runs.
    fn end_host_gate(&mut self, gate: Option<GateRunId>) {
        let is_it = |running: &mut HostGate| gate.is_none_or(|gate| gate == running.id());
        if let Some(ended) = self.host_gate.take_if(is_it)
            && ended.deadline().is_some()
        {
            self.host_calls.push(HostCall::Cancel);
        }
    }
}
