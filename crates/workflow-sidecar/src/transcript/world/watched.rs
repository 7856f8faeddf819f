//! The world while it is recorded.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::value::RawValue;
use workflow_core::definition::{Gate, RunCheck, Trigger};
use workflow_core::event::{
    ApprovalDecision as Word, RestoreOutcome as Restored, SnapshotError as NoSnapshot,
    WatchReport as Watched,
};
use workflow_core::policy::gate::Report;
use workflow_core::policy::rules::{PathForm, Paths};
use workflow_core::types::Snapshot;

use super::{Answer, Form, Kept, Led, Watch, lock, written};
use crate::platform::paths::WrittenPaths;
use crate::serve::{Awaited, GateHandle, GateJob, GateName, TriggerWatch, World, WorldProject};

type Answers = Arc<Mutex<Vec<Answer>>>;

/// A world that leaves word of what it answered.
#[derive(Debug)]
pub(in crate::transcript) struct WatchedWorld {
    inner: Arc<dyn World>,
    answers: Answers,
}

impl WatchedWorld {
    pub(in crate::transcript) fn new(inner: Arc<dyn World>, answers: Answers) -> Self {
        Self { inner, answers }
    }

    fn note(&self, answer: Answer) {
        lock(&self.answers).push(answer);
    }
}

impl World for WatchedWorld {
    fn paths<'p>(&self, project: &WorldProject<'p>) -> Box<dyn Paths + 'p> {
        let home = crate::platform::home::home_dir().unwrap_or_default();
        Box::new(WatchedPaths {
            inner: self.inner.paths(project),
            written: written(project, &home.to_string_lossy()),
            answers: Arc::clone(&self.answers),
        })
    }

    fn baseline(&self, gates: &[Gate], cwd: &Path) -> Box<RawValue> {
        let baseline = self.inner.baseline(gates, cwd);
        self.note(Answer::Baseline(baseline.clone()));
        baseline
    }

    fn is_trusted(&self, project: &WorldProject<'_>, commands: &[RunCheck]) -> bool {
        let is_trusted = self.inner.is_trusted(project, commands);
        self.note(Answer::Trusted(is_trusted));
        is_trusted
    }

    fn trust(&self, project: &WorldProject<'_>, commands: &[RunCheck]) {
        self.inner.trust(project, commands);
    }

    fn word(&self, agent_dir: &Path, awaited: &Awaited) -> Option<Word> {
        let word = self.inner.word(agent_dir, awaited)?;
        self.note(match &word {
            Word::Chosen(choice) => Answer::Word(choice.clone()),
            Word::Outdated => Answer::Changed(true),
        });
        Some(word)
    }

    fn forget_word(&self, agent_dir: &Path, task_id: &str) {
        self.inner.forget_word(agent_dir, task_id);
    }

    fn excerpt(&self, path: &str, cwd: &Path) -> String {
        let excerpt = self.inner.excerpt(path, cwd);
        self.note(Answer::Excerpt(excerpt.clone()));
        excerpt
    }

    fn shown(&self, path: &str, cwd: &Path) -> String {
        self.inner.shown(path, cwd)
    }

    fn is_as_shown(&self, path: &str, cwd: &Path, shown: &str) -> bool {
        let is_as_shown = self.inner.is_as_shown(path, cwd, shown);
        if !is_as_shown {
            self.note(Answer::Changed(true));
        }
        is_as_shown
    }

    fn start_gate(&self, told: GateName, job: GateJob<'_>) -> Result<GateHandle, Vec<Report>> {
        let started = self.inner.start_gate(told, job);
        if let Err(reports) = &started {
            self.note(Answer::NotStarted(reports.clone()));
        }
        started
    }

    fn await_word(&self, agent_dir: &Path, awaited: &Awaited) {
        self.inner.await_word(agent_dir, awaited);
    }

    fn keep_code(&self, project: &WorldProject<'_>) -> Result<Snapshot, NoSnapshot> {
        let kept = self.inner.keep_code(project);
        self.note(match &kept {
            Ok(snapshot) => Answer::Snapshot(snapshot.clone()),
            Err(NoSnapshot::NoRepository) => Answer::NoSnapshot(None),
            Err(NoSnapshot::Failed(why)) => Answer::NoSnapshot(Some(why.clone())),
        });
        kept
    }

    fn restore_code(
        &self,
        told: GateName,
        snapshot: &Snapshot,
        project: &WorldProject<'_>,
    ) -> Option<Restored> {
        let restored = self.inner.restore_code(told, snapshot, project)?;
        self.note(Answer::Restored(restored.clone()));
        Some(restored)
    }

    fn watch(
        &self,
        session: &str,
        project: &WorldProject<'_>,
        triggers: &[Trigger],
        watch: &mut TriggerWatch,
    ) -> Watched {
        let watched = self.inner.watch(session, project, triggers, watch);
        if watched != Watched::default() {
            self.note(Answer::Watched(Watch {
                begun: watched.started.clone(),
                problems: watched.problems.clone(),
                untrusted: watched.untrusted,
            }));
        }
        watched
    }

    fn trust_triggers(&self, project: &WorldProject<'_>, triggers: &[Trigger]) {
        self.inner.trust_triggers(project, triggers);
    }
}

/// Paths that leave word of those that do not lead where they say.
#[derive(Debug)]
struct WatchedPaths<'p> {
    inner: Box<dyn Paths + 'p>,
    written: WrittenPaths,
    answers: Answers,
}

impl Paths for WatchedPaths<'_> {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let forms = self.inner.forms(path);
        if forms != self.written.forms(path) {
            let led = Led {
                written: path.to_owned(),
                forms: forms.iter().cloned().map(Form::from).collect(),
            };
            let mut answers = lock(&self.answers);
            let is_this =
                |answer: &Answer| matches!(answer, Answer::Path(noted) if noted.written == path);
            if !answers.iter().any(is_this) {
                answers.push(Answer::Path(led));
            }
        }
        forms
    }

    fn ignores_case(&self) -> bool {
        let ignores_case = self.inner.ignores_case();
        let mut answers = lock(&self.answers);
        let is_noted = |answer: &Answer| matches!(answer, Answer::IgnoresCase(_));
        if ignores_case && !answers.iter().any(is_noted) {
            answers.push(Answer::IgnoresCase(true));
        }
        ignores_case
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let held = self.inner.holds_answers(form);
        if held != self.written.holds_answers(form) {
            let absolute = form.absolute.clone();
            let mut answers = lock(&self.answers);
            let is_this = |answer: &Answer| matches!(answer, Answer::Answers(noted) if noted.absolute == absolute);
            if !answers.iter().any(is_this) {
                answers.push(Answer::Answers(Kept { absolute, held }));
            }
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::super::HeldWorld;
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_that_lead_elsewhere_are_noted_and_lead_there_again() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("real", project.join("link")).unwrap();
        let answers = Answers::default();
        let home = crate::platform::home::home_dir().unwrap_or_default();
        let agent_dir = home.join(".pi/agent");
        let here = WorldProject {
            agent_dir: &agent_dir,
            cwd: &project,
        };
        let watched = WatchedPaths {
            inner: Box::new(crate::platform::paths::LocalPaths::new(
                &project, &agent_dir,
            )),
            written: written(&here, &home.to_string_lossy()),
            answers: Arc::clone(&answers),
        };
        let held = HeldWorld::default();
        held.start(&home.to_string_lossy());
        let plain = ["a/../b", "~/x", "@c\u{a0}d", "/etc/passwd", "..", ""];
        for path in plain {
            assert_eq!(watched.forms(path), held.paths(&here).forms(path), "{path}");
        }
        assert!(lock(&answers).is_empty(), "{answers:?}");
        let forms = watched.forms("link/x");
        assert_eq!(watched.forms("link/x"), forms);
        assert_eq!(lock(&answers).len(), 1);
        for answer in lock(&answers).drain(..) {
            held.answer(answer);
        }
        assert_eq!(held.paths(&here).forms("link/x"), forms);
        assert_eq!(forms.len(), 2);
    }
}
