//! The routes out of the phase: what leaving it leads to, and how people read that.

use super::ActiveRun;
use crate::definition::{Approval, PhaseOutcome, Target};
use crate::policy::gate_report::{Report, failed_check};
use crate::run::{
    Actor, Moved, PhaseAnswer, Position, RunData, RunProgress, RunState, TransitionError, follow,
    repeat, turn_back,
};
use crate::session::handover::UserAnswer;

/// The reason why the run stays where a failed check or an answer leads to no phase.
pub(crate) const NONE_APPLIES: &str =
    "the conditions (`when`) of the phases on that way are not met";

/// A move of the run.
#[derive(Debug, Clone)]
pub(crate) struct Move {
    /// The name of the phase before it, or of the scope that is repeated.
    pub(crate) left: String,
    /// The state before it.
    pub(crate) from: RunState,
    /// The progress to enter.
    pub(crate) to: RunProgress,
    /// The answer of a person that it follows.
    pub(crate) answer: Option<UserAnswer>,
}

impl ActiveRun {
    /// The outcome that the agent named, if the phase has it.
    pub(crate) fn outcome(&self) -> Option<&PhaseOutcome> {
        let name = self.progress.data.handed_over.outcome.as_ref()?;
        let mut outcomes = self.phase()?.phase.outcomes.iter();
        outcomes.find(|outcome| outcome.name == *name)
    }

    /// The move that leaves the phase, with what was handed over and the answer of a person.
    pub(crate) fn plan_exit(&self, actor: Actor) -> Result<Move, TransitionError> {
        let answer = self.user_answer.clone();
        let target = answer
            .as_ref()
            .map_or(&Target::Next, |answer| &answer.target);
        let to = self.plan_route(&self.progress, target, self.outcome(), actor)?;
        Ok(Move {
            answer,
            ..self.move_to(self.phase_name().to_owned(), to)
        })
    }

    /// The move that repeats the innermost scope.
    pub(crate) fn plan_loop(&self, actor: Actor) -> Result<Move, TransitionError> {
        let to = repeat(&self.progress, actor, self.catalog())?;
        let scope = self.progress.state.current_path.workflow(self.catalog());
        let name = scope.map_or_else(String::new, |workflow| workflow.name.clone());
        Ok(self.move_to(name, to))
    }

    /// The move from here to other progress; `left` is the name of the phase or the scope.
    pub(crate) fn move_to(&self, left: String, to: RunProgress) -> Move {
        Move {
            left,
            from: self.progress.state.clone(),
            to,
            answer: None,
        }
    }

    /// The progress that an answer and an outcome lead to. An answer that leads anywhere but on wins over the outcome.
    fn plan_route(
        &self,
        from: &RunProgress,
        target: &Target,
        outcome: Option<&PhaseOutcome>,
        actor: Actor,
    ) -> Moved {
        match (target, outcome) {
            (Target::Next, Some(outcome)) => {
                let mut to = follow(from, &outcome.to, actor, self.catalog())?;
                to.data.outcome = Some(outcome.name.clone());
                Ok(to)
            }
            (Target::Next, None) => follow(from, &Target::Next, actor, self.catalog()),
            (target, _) => turn_back(from, target, false, actor, self.catalog()),
        }
    }

    /// Notes the answer of the user to the approval of the phase.
    pub(crate) fn note_answer(&mut self, choice: &str, comment: &str) {
        self.progress.data = self.answered_data(choice, comment);
    }

    /// The data of the run after an answer of the user to the approval of the phase.
    fn answered_data(&self, choice: &str, comment: &str) -> RunData {
        let mut data = self.progress.data.clone();
        if let Some(phase) = self.phase() {
            let (choice, comment) = (choice.to_owned(), comment.to_owned());
            let answer = PhaseAnswer { choice, comment };
            data.values.answers.insert(phase.output_key(), answer);
        }
        data
    }

    /// The progress that a check leads to which failed; `None` if it leads nowhere.
    pub(crate) fn plan_failure(&self, reports: &[Report], jumps: u32) -> Option<Moved> {
        let gate = &self.phase()?.phase.gate;
        let target = gate.get(failed_check(reports)?)?.on_fail.as_ref()?;
        let (from, actor) = (&self.progress, Actor::Agent { jumps });
        Some(turn_back(from, target, true, actor, self.catalog()))
    }

    /// The choices of an approval, each with what it does: `goes back to 🤝 Agree`.
    pub(crate) fn consequences(&self, approval: &Approval, actor: Actor) -> Vec<(String, String)> {
        let choices = approval.choices.iter().enumerate();
        let described = choices.map(|(index, choice)| {
            let does = if let Some(target) = approval.target(index) {
                let from = RunProgress {
                    state: self.progress.state.clone(),
                    data: self.answered_data(choice, ""),
                };
                self.describe(self.plan_route(&from, &target, self.outcome(), actor))
            } else {
                let name = self.phase_name();
                format!("stays in {name}, and the agent reads the answer")
            };
            (choice.clone(), does)
        });
        described.collect()
    }

    /// What leaving the phase with an outcome does, if a person does it.
    pub(crate) fn consequence_of(&self, outcome: &PhaseOutcome) -> String {
        let from = &self.progress;
        self.describe(self.plan_route(from, &Target::Next, Some(outcome), Actor::User))
    }

    fn describe(&self, to: Moved) -> String {
        match to {
            Ok(to) if to.state.active => {
                let at = Position::of(&to.state, self.catalog());
                let label = at.map_or_else(|_| String::new(), |to| to.phase.label());
                if to.state.current_path == self.progress.state.current_path {
                    format!("begins {label} again")
                } else if leads_back(&self.progress.state, &to.state) {
                    format!("goes back to {label}")
                } else {
                    format!("goes to {label}")
                }
            }
            Ok(to) if to.state.cancelled => "ends the run: the workflow is cancelled".to_owned(),
            Ok(_) => "ends the run: the workflow is complete".to_owned(),
            Err(TransitionError::Limit(limit)) => {
                format!("pauses the workflow, because {limit}")
            }
            Err(error @ (TransitionError::Given(_) | TransitionError::NoItem(_))) => {
                format!("leads nowhere: {error}")
            }
            Err(TransitionError::NoneApplies) => format!("leads nowhere, because {NONE_APPLIES}"),
            Err(TransitionError::DefinitionMismatch(_) | TransitionError::NotLoopable) => {
                "leads nowhere, because the definition has changed".to_owned()
            }
        }
    }
}

/// What is said of a move that was not made, where its definitions are as they were and no limit was reached.
pub(crate) fn not_moved(error: &TransitionError) -> Option<String> {
    match error {
        TransitionError::NoneApplies => Some(format!(
            "The workflow was not moved, because {NONE_APPLIES}."
        )),
        TransitionError::Given(_) | TransitionError::NoItem(_) => {
            Some(format!("The workflow was not moved. {error}"))
        }
        TransitionError::Limit(_)
        | TransitionError::DefinitionMismatch(_)
        | TransitionError::NotLoopable => None,
    }
}

/// True if a move leads to the same phase or to an earlier one.
pub(crate) fn leads_back(from: &RunState, to: &RunState) -> bool {
    let segments = [from, to].map(|state| state.current_path.segments().iter());
    let [from, to] = segments.map(|path| path.map(|segment| segment.phase_index));
    to.le(from)
}
