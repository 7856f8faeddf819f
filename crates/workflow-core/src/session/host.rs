//! The host of a session: what it can do, what it says of itself, and what it shows.

use super::phase::ResolvedPhase;
use crate::effect::{Action, Effects, HostHints, Placement};

/// The abilities of a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    /// It can ask a question and wait for the answer.
    pub dialogs: bool,
    /// It asks after the answer, so that stands where the user does not agree.
    pub asks_afterwards: bool,
    /// It asks the user itself about a call that needs consent: the call waits for no answer here.
    pub consents: bool,
    /// A command that has to be confirmed can be given again with its confirmation. A host with dialogs asks instead.
    pub confirmations: bool,
    /// It cannot wait for a gate: the result that the user was asked about counts for a while.
    pub stored_gates: bool,
    /// True if the result of the gate that is reported was stored before.
    pub knows_gate: bool,
    /// It closes the dialog of a question that is settled without it.
    pub dismissal: bool,
    /// It shows widgets; a host that does not say shows them where it has an interface.
    pub widgets: Option<bool>,
    /// It sets the model, the thinking level and the visible tools as a phase asks.
    pub hints: bool,
    /// It waits for the answer to the end of the agent's work, so a reminder is that answer and no countdown precedes it.
    pub awaits_reminder: bool,
    /// The reminders that it still takes before it ends the agent's work by itself; `None` is without end.
    pub reminders_left: Option<u32>,
}

/// The current knowledge of the host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Host {
    pub(super) abilities: Abilities,
    /// True if it has an interface, if it says so.
    pub(super) has_ui: Option<bool>,
    /// Whether the user trusts the project, if the host or the user's trust in its commands says so.
    pub(super) project_trusted: Option<bool>,
    /// The status line that it shows.
    status: Option<String>,
    /// The phases that it shows.
    phases: Option<String>,
    /// The hints that it has applied.
    hints: Option<HostHints>,
}

impl Host {
    pub(crate) fn new(abilities: Abilities) -> Self {
        Self {
            abilities,
            ..Self::default()
        }
    }

    /// True unless the host says that the user does not trust the project.
    pub(super) fn trusts_project(&self) -> bool {
        self.project_trusted != Some(false)
    }

    pub(crate) fn shows_widgets(&self) -> bool {
        match self.abilities.widgets {
            Some(widgets) => widgets && self.has_ui != Some(false),
            None => self.has_ui == Some(true),
        }
    }

    pub(crate) fn is_headless(&self) -> bool {
        self.has_ui == Some(false)
    }

    /// True if it shows this status line.
    pub(crate) fn shows(&self, status: Option<&String>) -> bool {
        self.status.as_ref() == status
    }

    /// Shows a status line and what a phase asks for: its hints, or what the user had, and the phases.
    pub(crate) fn show(
        &mut self,
        status: Option<String>,
        phase: Option<&ResolvedPhase>,
        out: &mut Effects,
    ) {
        let hints = phase.and_then(ResolvedPhase::host_hints);
        if self.abilities.hints && hints != self.hints {
            self.hints.clone_from(&hints);
            out.act(Action::SetHints { hints });
        }
        let phases = phase.and_then(|phase| phase.checklist.clone());
        let phases = phases.filter(|_| self.shows_widgets());
        if phases != self.phases {
            self.phases.clone_from(&phases);
            out.set_widget(Placement::BelowEditor, phases);
        }
        self.status.clone_from(&status);
        out.set_status(status);
    }

    /// Forgets what it showed of another run. A host that was restarted has applied nothing of this `phase`.
    pub(crate) fn change_run(&mut self, phase: Option<&ResolvedPhase>, out: &mut Effects) {
        if phase.is_some() {
            self.hints = None;
        }
        if self.phases.take().is_some() {
            out.set_widget(Placement::BelowEditor, None);
        }
    }

    /// Forgets what it showed, because it shows nothing any more.
    pub(crate) fn shut_down(&mut self) {
        (self.status, self.phases, self.hints) = (None, None, None);
    }
}
