//! The question about files that changed during a run. What the user agreed to holds until it is answered.

use super::questions::{QuestionTable, QuestionText, QuestionTopic};
use super::run::ActiveRun;
use crate::effect::Effects;
use crate::run::RunState;
use crate::types::Severity;

/// The open question about changed files.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedFiles {
    asked: Option<Asked>,
}

#[derive(Debug, Clone)]
struct Asked {
    digest: String,
    /// The state of the run that the question is about.
    state: RunState,
}

impl ChangedFiles {
    /// Asks about the changed files of a run, unless the user declined exactly those.
    pub(crate) fn ask(
        &mut self,
        run: &ActiveRun,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        self.asked = None;
        let changes = run.changes();
        // Without dialogs the diagnostic says how to agree.
        if changes.is_empty() || run.has_declined() || !questions.can_ask() {
            return;
        }
        let list: Vec<String> = changes.lines().map(|line| format!("- {line}")).collect();
        let kept = if changes.ways.is_empty() {
            "what held before and what is new both hold"
        } else {
            "the run keeps its definition"
        };
        let mut yes = "the run continues with the changed files.".to_owned();
        let other_phase = run.other_phase();
        if !other_phase.is_empty() {
            yes = format!("{yes} {other_phase}");
        }
        let message = format!(
            "The files of the workflow or the settings have changed during the run:\n{}\n\nYes: {yes}\nNo: {kept}. The changed files apply \
             alone when the workflow is started again.",
            list.join("\n")
        );
        let text = QuestionText {
            title: "Use the changed files in the running workflow?".to_owned(),
            message,
            ..QuestionText::default()
        };
        questions.ask(QuestionTopic::ChangedFiles, text, out);
        self.asked = Some(Asked {
            digest: changes.digest.clone(),
            state: run.state().clone(),
        });
    }

    /// Takes the user's answer. Returns true if the run is to continue with the changed files alone.
    pub(crate) fn on_answer(
        &mut self,
        agreed: bool,
        run: Option<&mut ActiveRun>,
        out: &mut Effects,
    ) -> bool {
        let (Some(asked), Some(run)) = (self.asked.take(), run) else {
            return false;
        };
        if !agreed {
            run.decline_changes(asked.digest, out);
            let message = "[workflow] The run keeps its rules. To use the changed files alone, end it with /cancel-workflow and start it \
                           again.";
            out.notify(Severity::Info, message);
            return false;
        }
        let is_same = *run.state() == asked.state && run.changes().digest == asked.digest;
        if !is_same {
            let message = "[workflow] The run has moved in the meantime, so it keeps its rules. Reload to be asked again.";
            out.notify(Severity::Warning, message);
        }
        is_same
    }

    /// Keeps the guards, because the user did not answer.
    pub(crate) fn on_timeout(&mut self, notice: Option<String>, out: &mut Effects) {
        self.asked = None;
        if let Some(notice) = notice {
            out.notify(Severity::Warning, notice);
        }
    }

    /// Forgets the open question.
    pub(crate) fn forget_question(&mut self) {
        self.asked = None;
    }
}
