//! The commands that control the run.

/// A command that controls the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Shows the phase, the rules, and what is needed to leave it.
    Status,
    /// Sends no reminders until the run is resumed.
    Pause,
    /// Resumes the run.
    Resume,
    /// Leaves the phase; its gate runs first.
    Next,
    /// Leaves the phase without its gate.
    Skip,
    /// Moves to another phase of the scope.
    Goto,
    /// Answers the question for approval.
    Approve,
}

impl Control {
    /// All of them, in the order in which hosts list them.
    pub const ALL: [Self; 7] = [
        Self::Status,
        Self::Pause,
        Self::Resume,
        Self::Next,
        Self::Skip,
        Self::Goto,
        Self::Approve,
    ];

    /// Finds the control of a command.
    #[must_use]
    pub fn of_command(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|control| control.command() == name)
    }

    /// The name of its command.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Self::Status => "workflow-status",
            Self::Pause => "workflow-pause",
            Self::Resume => "workflow-resume",
            Self::Next => "workflow-next",
            Self::Skip => "workflow-skip",
            Self::Goto => "workflow-goto",
            Self::Approve => "workflow-approve",
        }
    }

    /// The description of its command.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Status => "Show the phase, its rules, and what is needed to leave it",
            Self::Pause => "Pause the workflow: no reminders until /workflow-resume",
            Self::Resume => "Resume a paused workflow",
            Self::Next => "Finish the phase yourself: its gate runs, then the next phase begins",
            Self::Skip => "Leave the phase without its gate and its approval",
            Self::Goto => "Go to another phase of this workflow: /workflow-goto {phase}",
            Self::Approve => {
                "Answer the question for approval: /workflow-approve {choice} {comment}"
            }
        }
    }

    /// True if its arguments can be completed.
    #[must_use]
    pub fn completes(self) -> bool {
        matches!(self, Self::Next | Self::Goto | Self::Approve)
    }

    /// The name of the command in the record of a move.
    pub(super) fn short_name(self) -> &'static str {
        self.command().trim_start_matches("workflow-")
    }
}
