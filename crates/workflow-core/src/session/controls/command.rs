//! The commands that control the run.

use crate::definition::{NamedValues, words};

words! {
    /// A command that controls the run, by its name. The comment of each is its description, which hosts show.
    pub enum Control {
        /// Show the phase, its rules, and what is needed to leave it
        "workflow-status" => Status,
        /// Pause the workflow: no reminders until /workflow-resume
        "workflow-pause" => Pause,
        /// Resume a paused workflow
        "workflow-resume" => Resume,
        /// Finish the phase: its gate runs, then the next phase begins
        "workflow-next" => Next,
        /// Leave the phase without its gate and its approval
        "workflow-skip" => Skip,
        /// Go to another phase of this workflow: /workflow-goto {phase}
        "workflow-goto" => Goto,
        /// Answer the question for approval: /workflow-approve {choice} {comment}
        "workflow-approve" => Approve,
        /// Lift `withoutRun` of the settings for a while: /workflow-off 30m
        "workflow-off" => Off,
    }
}

impl Control {
    /// Finds the control of a command.
    pub fn of_command(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|control| control.word() == name)
    }

    /// The description of its command.
    pub fn description(self) -> &'static str {
        Self::NAMES[self as usize].2.trim_ascii()
    }

    /// True if its arguments can be completed.
    pub fn completes(self) -> bool {
        matches!(self, Self::Next | Self::Goto | Self::Approve)
    }

    /// The name of the command in a prompt, and in the record of a move.
    pub fn short_name(self) -> &'static str {
        self.word().trim_start_matches("workflow-")
    }
}
