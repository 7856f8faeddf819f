//! Weaker guards than a run has: they hold until a person agrees.

use std::sync::Arc;

use super::questions::{QuestionTable, QuestionText, QuestionTopic};
use crate::definition::Loaded;
use crate::effect::Effects;
use crate::run::RunState;
use crate::types::Severity;

/// The open question about weaker guards, and those that were declined.
#[derive(Debug, Clone, Default)]
pub(crate) struct WeakerGuards {
    asked: Option<WeakerGuardsQuestion>,
    /// The list that a person declined, which is not asked about again.
    declined: Vec<String>,
}

#[derive(Debug, Clone)]
struct WeakerGuardsQuestion {
    loaded: Arc<Loaded>,
    /// The state of the run that the question is about.
    state: RunState,
    weakened: Vec<String>,
}

impl WeakerGuards {
    /// Asks about files that weaken the guards of a run, unless the person declined exactly that.
    pub(crate) fn ask(
        &mut self,
        state: &RunState,
        loaded: &Loaded,
        weakened: Vec<String>,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        self.asked = None;
        if weakened.is_empty() {
            self.declined.clear();
            return;
        }
        // Without dialogs the diagnostic says how to agree.
        if weakened == self.declined || !questions.can_ask() {
            return;
        }
        let list: Vec<String> = weakened.iter().map(|line| format!("- {line}")).collect();
        let text = QuestionText {
            title: "Weaken the rules of the running workflow?".to_owned(),
            message: format!(
                "The files of the workflow or the settings have changed during the run, and allow more than before:\n{}\n\nYes: the run \
                 continues with the changed files.\nNo: the run keeps its rules. The changed files apply when it is started again.",
                list.join("\n")
            ),
            ..QuestionText::default()
        };
        questions.ask(QuestionTopic::Guards, text, out);
        self.asked = Some(WeakerGuardsQuestion {
            loaded: Arc::new(loaded.clone()),
            state: state.clone(),
            weakened,
        });
    }

    /// Takes the files that a person agreed to. `state` is that of the run now.
    pub(crate) fn on_answer(
        &mut self,
        agreed: bool,
        state: Option<&RunState>,
        out: &mut Effects,
    ) -> Option<Arc<Loaded>> {
        let asked = self.asked.take()?;
        if !agreed {
            self.decline(asked, out);
            return None;
        }
        if state != Some(&asked.state) {
            let message = "[workflow] The run has moved in the meantime, so it keeps its rules. Reload to be asked again.";
            out.notify(Severity::Warning, message);
            return None;
        }
        Some(asked.loaded)
    }

    /// Keeps the guards, because no person answered.
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

    fn decline(&mut self, asked: WeakerGuardsQuestion, out: &mut Effects) {
        self.declined = asked.weakened;
        let message = "[workflow] The run keeps its rules. To use the changed files, end it with /cancel-workflow and start it again.";
        out.notify(Severity::Info, message);
    }
}
