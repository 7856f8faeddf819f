//! The host of a session: what it can do, and what it says of itself.

/// The abilities of a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    /// It can ask a question and wait for the answer.
    pub dialogs: bool,
    /// A command that has to be confirmed can be given again with its confirmation. A host with dialogs asks instead.
    pub confirmations: bool,
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
#[derive(Debug, Clone)]
pub(crate) struct HostState {
    widgets: Option<bool>,
    pub(crate) sets_hints: bool,
    pub(crate) has_ui: Option<bool>,
    pub(crate) project_trusted: bool,
}

impl HostState {
    pub(crate) fn new(abilities: Abilities) -> Self {
        Self {
            widgets: abilities.widgets,
            sets_hints: abilities.hints,
            has_ui: None,
            project_trusted: true,
        }
    }

    pub(crate) fn shows_widgets(&self) -> bool {
        match self.widgets {
            Some(widgets) => widgets && self.has_ui != Some(false),
            None => self.has_ui == Some(true),
        }
    }

    pub(crate) fn is_headless(&self) -> bool {
        self.has_ui == Some(false)
    }
}
