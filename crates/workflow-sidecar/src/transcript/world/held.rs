//! The world where what was recorded happens again.

use std::collections::VecDeque;
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

use super::{Answer, lock, written};
use crate::platform::paths::WrittenPaths;
use crate::serve::{Awaited, GateHandle, GateJob, GateName, TriggerWatch, World, WorldProject};

/// The world of a transcript: what its lines say is answered to what happens next, once each and in
/// order. Of anything else nothing is known; no command runs and nothing is trusted.
#[derive(Debug, Default)]
pub(in crate::transcript) struct HeldWorld {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    home: Mutex<String>,
}

impl HeldWorld {
    /// Begins anew, with this home.
    pub(in crate::transcript) fn start(&self, home: &str) {
        self.forget();
        home.clone_into(&mut lock(&self.home));
    }

    /// What happens next is told this.
    pub(in crate::transcript) fn answer(&self, answer: Answer) {
        lock(&self.answers).push_back(answer);
    }

    /// It has happened: what was not asked for is not asked for any more.
    pub(in crate::transcript) fn forget(&self) {
        lock(&self.answers).clear();
    }

    /// The first answer of a kind, which is not given again.
    fn next<T>(&self, of: impl Fn(&Answer) -> Option<T>) -> Option<T> {
        let mut answers = lock(&self.answers);
        let (at, found) = answers
            .iter()
            .enumerate()
            .find_map(|(at, answer)| Some((at, of(answer)?)))?;
        answers.remove(at);
        Some(found)
    }
}

impl World for HeldWorld {
    fn paths<'p>(&self, project: &WorldProject<'p>) -> Box<dyn Paths + 'p> {
        Box::new(HeldPaths {
            written: written(project, &lock(&self.home)),
            answers: Arc::clone(&self.answers),
        })
    }

    fn baseline(&self, _: &[Gate], _: &Path) -> Box<RawValue> {
        let held = self.next(|answer| match answer {
            Answer::Baseline(baseline) => Some(baseline.clone()),
            _ => None,
        });
        held.unwrap_or_else(|| RawValue::NULL.to_owned())
    }

    fn is_trusted(&self, _: &WorldProject<'_>, _: &[RunCheck]) -> bool {
        let held = self.next(|answer| match answer {
            Answer::Trusted(is_trusted) => Some(*is_trusted),
            _ => None,
        });
        held.unwrap_or(false)
    }

    fn trust(&self, _: &WorldProject<'_>, _: &[RunCheck]) {}

    fn word(&self, _: &Path, _: &Awaited) -> Option<Word> {
        self.next(|answer| match answer {
            Answer::Word(word) => Some(Word::Chosen(word.clone())),
            Answer::Changed(true) => Some(Word::Outdated),
            _ => None,
        })
    }

    fn forget_word(&self, _: &Path, _: &str) {}

    fn excerpt(&self, _: &str, _: &Path) -> String {
        let held = self.next(|answer| match answer {
            Answer::Excerpt(text) => Some(text.clone()),
            _ => None,
        });
        held.unwrap_or_default()
    }

    fn shown(&self, _: &str, _: &Path) -> String {
        String::new()
    }

    fn is_as_shown(&self, _: &str, _: &Path, _: &str) -> bool {
        let changed = self.next(|answer| match answer {
            Answer::Changed(changed) => Some(*changed),
            _ => None,
        });
        changed != Some(true)
    }

    fn start_gate(&self, _: GateName, _: GateJob<'_>) -> Result<GateHandle, Vec<Report>> {
        let held = self.next(|answer| match answer {
            Answer::NotStarted(reports) => Some(reports.clone()),
            _ => None,
        });
        held.map_or_else(|| Ok(GateHandle::none()), Err)
    }

    fn keep_code(&self, _: &WorldProject<'_>) -> Result<Snapshot, NoSnapshot> {
        let held = self.next(|answer| match answer {
            Answer::Snapshot(snapshot) => Some(Ok(snapshot.clone())),
            Answer::NoSnapshot(Some(why)) => Some(Err(NoSnapshot::Failed(why.clone()))),
            Answer::NoSnapshot(None) => Some(Err(NoSnapshot::NoRepository)),
            _ => None,
        });
        held.unwrap_or(Err(NoSnapshot::NoRepository))
    }

    fn restore_code(&self, _: GateName, _: &Snapshot, _: &WorldProject<'_>) -> Option<Restored> {
        self.next(|answer| match answer {
            Answer::Restored(restored) => Some(restored.clone()),
            _ => None,
        })
    }

    fn watch(
        &self,
        _: &str,
        _: &WorldProject<'_>,
        _: &[Trigger],
        watch: &mut TriggerWatch,
    ) -> Watched {
        watch.tell();
        let held = self.next(|answer| match answer {
            Answer::Watched(watched) => Some(watched.clone()),
            _ => None,
        });
        held.map_or_else(Watched::default, |watched| Watched {
            started: watched.begun,
            problems: watched.problems,
            untrusted: watched.untrusted,
        })
    }

    fn trust_triggers(&self, _: &WorldProject<'_>, _: &[Trigger]) {}
}

/// Paths that lead where they say, unless the transcript says otherwise.
#[derive(Debug)]
struct HeldPaths {
    written: WrittenPaths,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

impl Paths for HeldPaths {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let held = lock(&self.answers).iter().find_map(|answer| match answer {
            Answer::Path(led) if led.written == path => Some(led.forms.clone()),
            _ => None,
        });
        match held {
            Some(forms) => forms.into_iter().map(PathForm::from).collect(),
            None => self.written.forms(path),
        }
    }

    fn ignores_case(&self) -> bool {
        let is_so = |answer: &Answer| matches!(answer, Answer::IgnoresCase(true));
        lock(&self.answers).iter().any(is_so)
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let held = lock(&self.answers).iter().find_map(|answer| match answer {
            Answer::Answers(kept) if kept.absolute == form.absolute => Some(kept.held),
            _ => None,
        });
        held.unwrap_or_else(|| self.written.holds_answers(form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> Answer {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn each_answer_is_given_once_and_in_order() {
        let world = HeldWorld::default();
        for json in [
            r#"{"excerpt":"a"}"#,
            r#"{"trusted":true}"#,
            r#"{"excerpt":"b"}"#,
        ] {
            world.answer(answer(json));
        }
        let here = Path::new("/p");
        let read = || world.excerpt("plan.md", here);
        assert_eq!([read(), read(), read()], ["a", "b", ""]);
        let project = WorldProject {
            agent_dir: here,
            cwd: here,
        };
        assert!(world.is_trusted(&project, &[]));
        assert!(!world.is_trusted(&project, &[]));
        world.answer(answer(r#"{"word":"yes"}"#));
        world.forget();
        assert!(world.is_as_shown("plan.md", here, ""));
        world.answer(answer(r#"{"changed":true}"#));
        assert!(!world.is_as_shown("plan.md", here, ""));
    }
}
