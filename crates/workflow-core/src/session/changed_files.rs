//! The question about files that changed during a run. What the user agreed to holds until it is answered.

use super::run::ActiveRun;
use crate::effect::Question;
use crate::text;

/// The question about the changed files of a run; `None` if nothing has changed, or the user declined exactly that.
pub(crate) fn question(run: &ActiveRun) -> Option<Question> {
    let changes = run.changes();
    if changes.is_empty() || run.has_declined() {
        return None;
    }
    let list = text::join(changes.lines().map(|line| format!("- {line}")), "\n");
    let kept = changes.holds();
    let mut yes = "the run continues with the changed files.".to_owned();
    let other_phase = run.other_phase();
    if !other_phase.is_empty() {
        yes = format!("{yes} {other_phase}");
    }
    let message = format!(
        "The files of the workflow or the settings have changed during the run:\n{list}\n\nYes: {yes}\nNo: {kept}. The changed files apply \
         alone when the workflow is started again."
    );
    let title = "Use the changed files in the running workflow?";
    Some(Question::new(title, message))
}
