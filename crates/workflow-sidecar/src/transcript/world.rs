//! What a session was told of the world beyond files, as a transcript holds it: heard while it is
//! recorded, said again where it is replayed.
//!
//! Owns the shape of `world` and `gate` lines, and both worlds. Must not know what is decided by it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use workflow_core::checkpoint::{NoSnapshot, Restored, Snapshot};
use workflow_core::definition::{Gate, RunCheck, Trigger};
use workflow_core::guard::gate::Report;
use workflow_core::guard::rules::{PathForm, Paths};
use workflow_core::input::Word;
use workflow_core::output::GateId;
use workflow_core::wake::Watched;

use super::payload::{Payload, REDACTED};
use super::secrets::hidden;
use crate::paths::WrittenPaths;
use crate::serve::{
    Awaited, GateHandle, GateJob, GateName, GateNews, TriggerName, TriggerNews, TriggerWatch,
    World, WorldProject,
};

/// Something that the world answered, as the value of a `world` line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Answer {
    /// How things stood when a phase was entered.
    Baseline(Box<RawValue>),
    /// Whether the user trusted the commands of a project.
    Trusted(bool),
    /// What the user had said beforehand about leaving a phase. Nothing, unless it is written.
    Word(String),
    /// What a file said that was shown with a question.
    Excerpt(String),
    /// Whether something had changed since it was shown, so that what the user said did not count. It had not,
    /// unless it is written.
    Changed(bool),
    /// Where a path led, unless it led where it says.
    Path(Led),
    /// Whether the user's answers were kept there, where it does not look so.
    Answers(Kept),
    /// What the code was kept under.
    Snapshot(Snapshot),
    /// Why the code was not kept: what failed, or that there is no repository.
    NoSnapshot(Option<String>),
    /// Why the code could not be brought back at all; else that is told later.
    Restored(Restored),
    /// Why a gate could not be started; else what becomes of it is told later.
    NotStarted(Vec<Report>),
    /// What came of watching triggers.
    Watched(Watch),
    /// Whether names that differ only in case were the same file. They are not, unless it is written.
    IgnoresCase(bool),
}

/// Where a path led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Led {
    written: String,
    forms: Vec<Form>,
}

/// Whether the user's answers were kept at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    absolute: String,
    held: bool,
}

/// [`Watched`] as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watch {
    begun: Vec<String>,
    problems: Vec<String>,
    untrusted: bool,
}

/// What a trigger had, as the value of a `trigger` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TriggerLine {
    /// The session, which may have no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    session: String,
    /// For the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// For a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl TriggerLine {
    pub(super) fn of(name: &TriggerName, news: &TriggerNews) -> Self {
        let (text, problem) = match news {
            TriggerNews::Text(text) => (Some(text.clone()), None),
            TriggerNews::Problem(problem) => (None, Some(problem.clone())),
        };
        Self {
            session: name.session.clone(),
            text,
            problem,
        }
    }

    /// The line as it is recorded.
    pub(super) fn recorded(mut self, payload: Payload) -> Self {
        if payload == Payload::Redacted && self.text.is_some() {
            self.text = Some(REDACTED.to_owned());
        }
        self
    }

    /// Which trigger, and what it had; none if that is not one thing.
    pub(crate) fn news(&self) -> Option<(TriggerName, TriggerNews)> {
        let name = TriggerName {
            session: self.session.clone(),
            number: 0,
        };
        let news = match (&self.text, &self.problem) {
            (Some(text), None) => TriggerNews::Text(text.clone()),
            (None, Some(problem)) => TriggerNews::Problem(problem.clone()),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some((name, news))
    }
}

/// [`PathForm`] as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Form {
    absolute: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_home: Option<String>,
}

/// What was told of a gate, or of a way back of the code, as the value of a `gate` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateLine {
    /// The session, which may have no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) session: String,
    /// Which of them, counted from 1.
    pub(crate) gate: u64,
    /// It goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<String>,
    /// It is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reports: Option<Vec<Report>>,
    /// The code is back, or is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restored: Option<Restored>,
}

impl Answer {
    /// The answer as it is recorded; none if it is not.
    pub(super) fn recorded(self, payload: Payload) -> Option<Self> {
        match self {
            Self::Excerpt(text) if payload == Payload::Redacted && !text.trim().is_empty() => {
                Some(Self::Excerpt(REDACTED.to_owned()))
            }
            // Where what a tool was given is left out, so is where it leads.
            Self::Path(_) | Self::Answers(_) if payload == Payload::Redacted => None,
            answer => Some(answer),
        }
    }
}

impl GateLine {
    pub(super) fn of(name: &GateName, news: &GateNews) -> Self {
        let mut line = Self {
            session: name.session.clone(),
            gate: name.gate.0,
            progress: None,
            reports: None,
            restored: None,
        };
        match news {
            GateNews::Progress(text) => line.progress = Some(text.clone()),
            GateNews::Over(reports) => line.reports = Some(reports.clone()),
            GateNews::Restored(restored) => line.restored = Some(restored.clone()),
        }
        line
    }

    /// The line as it is recorded.
    pub(super) fn recorded(mut self, payload: Payload) -> Self {
        if payload == Payload::Redacted {
            for report in self.reports.iter_mut().flatten() {
                report.tail = hidden(&report.tail).to_owned();
            }
        }
        self
    }

    /// Which gate, and what is told of it; none if that is not one thing.
    pub(crate) fn news(&self) -> Option<(GateName, GateNews)> {
        let name = GateName {
            session: self.session.clone(),
            gate: GateId(self.gate),
        };
        let news = match (&self.progress, &self.reports, &self.restored) {
            (Some(text), None, None) => GateNews::Progress(text.clone()),
            (None, Some(reports), None) => GateNews::Over(reports.clone()),
            (None, None, Some(restored)) => GateNews::Restored(restored.clone()),
            _ => return None,
        };
        Some((name, news))
    }
}

impl From<PathForm> for Form {
    fn from(form: PathForm) -> Self {
        let PathForm {
            absolute,
            in_project,
            in_home,
        } = form;
        Self {
            absolute,
            in_project,
            in_home,
        }
    }
}

impl From<Form> for PathForm {
    fn from(form: Form) -> Self {
        let Form {
            absolute,
            in_project,
            in_home,
        } = form;
        Self {
            absolute,
            in_project,
            in_home,
        }
    }
}

/// A world that leaves word of what it answered.
#[derive(Debug)]
pub(super) struct WatchedWorld {
    inner: Arc<dyn World>,
    answers: Answers,
}

type Answers = Arc<Mutex<Vec<Answer>>>;

impl WatchedWorld {
    pub(super) fn new(inner: Arc<dyn World>, answers: Answers) -> Self {
        Self { inner, answers }
    }

    fn note(&self, answer: Answer) {
        lock(&self.answers).push(answer);
    }
}

impl World for WatchedWorld {
    fn paths<'p>(&self, project: &WorldProject<'p>) -> Box<dyn Paths + 'p> {
        let home = std::env::home_dir().unwrap_or_default();
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
                begun: watched.begun.clone(),
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

fn written(project: &WorldProject<'_>, home: &str) -> WrittenPaths {
    let (cwd, agent_dir) = (
        project.cwd.to_string_lossy(),
        project.agent_dir.to_string_lossy(),
    );
    WrittenPaths::new(&cwd, &agent_dir, home)
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

/// The world of a transcript: what its lines say is answered to what happens next, once each and in
/// order. Of anything else nothing is known; no command runs and nothing is trusted.
#[derive(Debug, Default)]
pub(super) struct HeldWorld {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    home: Mutex<String>,
}

impl HeldWorld {
    /// Begins anew, with this home.
    pub(super) fn start(&self, home: &str) {
        self.forget();
        home.clone_into(&mut lock(&self.home));
    }

    /// What happens next is told this.
    pub(super) fn answer(&self, answer: Answer) {
        lock(&self.answers).push_back(answer);
    }

    /// It has happened: what was not asked for is not asked for any more.
    pub(super) fn forget(&self) {
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
            begun: watched.begun,
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> Answer {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_answered_is_written_so_that_it_is_read_again() {
        for json in [
            r#"{"baseline":{"head":1,"a":1.50}}"#,
            r#"{"trusted":true}"#,
            r#"{"word":"approve"}"#,
            r#"{"excerpt":"plan"}"#,
            r#"{"changed":true}"#,
            r#"{"path":{"written":"a","forms":[{"absolute":"/p/a","inProject":"a"}]}}"#,
            r#"{"ignoresCase":true}"#,
        ] {
            assert_eq!(serde_json::to_string(&answer(json)).unwrap(), json);
        }
        for json in [r#"{"word":null}"#, r#"{"what":1}"#, "{}", r#""baseline""#] {
            assert!(serde_json::from_str::<Answer>(json).is_err(), "{json}");
        }
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

    #[cfg(unix)]
    #[test]
    fn paths_that_lead_elsewhere_are_noted_and_lead_there_again() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("real", project.join("link")).unwrap();
        let answers = Answers::default();
        let home = std::env::home_dir().unwrap_or_default();
        let agent_dir = home.join(".pi/agent");
        let here = WorldProject {
            agent_dir: &agent_dir,
            cwd: &project,
        };
        let watched = WatchedPaths {
            inner: Box::new(crate::paths::LocalPaths::new(&project, &agent_dir)),
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

    #[test]
    fn news_of_a_gate_are_one_thing() {
        let news = |json: &str| {
            let line: GateLine = serde_json::from_str(json).unwrap();
            line.news()
        };
        assert!(news(r#"{"gate":1,"progress":"a"}"#).is_some());
        assert!(news(r#"{"session":"s","gate":1,"reports":[]}"#).is_some());
        assert!(news(r#"{"gate":1}"#).is_none());
        assert!(news(r#"{"gate":1,"progress":"a","reports":[]}"#).is_none());
    }
}
