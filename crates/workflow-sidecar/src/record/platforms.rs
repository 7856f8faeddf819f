//! The platform while a session is recorded, which notes the results of another one, and in a replay, which answers with
//! them; and the form of those results in a transcript.

use std::mem::{Discriminant, discriminant};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use workflow_core::approval::ShownFile;
use workflow_core::effect::Effect;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::{PathForm, Paths, WrittenPaths};

use crate::platform::paths::with_slashes;
use crate::platform::{Platform, PlatformReport, SessionContext};
use crate::store::RunNote;

/// A platform that notes the results of another one.
///
/// Results that differ from those that a replay assumes are noted, and always baselines and excerpts. A sidecar in another process
/// takes its own baseline: from the line, a replay knows that it must skip such a session.
pub(super) struct RecordingPlatform {
    pub(super) inner: Arc<dyn Platform>,
    pub(super) results: Results,
}

impl RecordingPlatform {
    fn note(&self, result: PlatformResult) {
        self.results.lock().push(result);
    }
}

impl Platform for RecordingPlatform {
    fn perform(&self, session: &SessionContext, effect: Effect) -> Option<PlatformEvent> {
        let without = effect.on_empty_platform();
        let result = self.inner.perform(session, effect)?;
        let is_baseline = matches!(result, PlatformEvent::BaselineTaken { .. });
        if is_baseline || without.is_none_or(|without| json(&without) != json(&result)) {
            self.note(PlatformResult::Effect(result.clone()));
        }
        Some(result)
    }

    fn accept(&self, report: &PlatformReport) -> bool {
        self.inner.accept(report)
    }

    fn open_session(&self, session: &SessionContext) {
        self.inner.open_session(session);
    }

    fn note_run(&self, session: &SessionContext, note: RunNote) {
        self.inner.note_run(session, note);
    }

    fn close_session(&self, session: &str) {
        self.inner.close_session(session);
    }

    fn paths<'p>(&self, session: &'p SessionContext) -> Box<dyn Paths + 'p> {
        let home = crate::files::home_dir().unwrap_or_default();
        let disk = self.inner.paths(session);
        Box::new(RecordedPaths::of(
            session,
            &home.to_string_lossy(),
            Some(disk),
            &self.results,
        ))
    }

    fn show(&self, path: &str, cwd: &Path) -> ShownFile {
        let shown = self.inner.show(path, cwd);
        let excerpt = shown.excerpt.clone();
        self.note(PlatformResult::Query(QueryResult::Excerpt(excerpt)));
        shown
    }

    fn is_unchanged(&self, path: &str, cwd: &Path, fingerprint: &str) -> bool {
        let is_unchanged = self.inner.is_unchanged(path, cwd, fingerprint);
        if !is_unchanged {
            self.note(PlatformResult::Query(QueryResult::ShownChanged(true)));
        }
        is_unchanged
    }
}

fn json(event: &PlatformEvent) -> String {
    serde_json::to_string(event).expect("names are strings")
}

/// A platform on which every recorded result is given once, in order. Without one, the result is that of an empty
/// machine; no command runs.
#[derive(Default)]
pub(super) struct ReplayPlatform {
    results: Results,
    home: Mutex<String>,
}

impl ReplayPlatform {
    /// Begins anew, with this home directory.
    pub(super) fn start(&self, home: &str) {
        self.clear();
        home.clone_into(&mut self.home.lock());
    }

    /// Adds a result of what happens next.
    pub(super) fn add(&self, result: PlatformResult) {
        self.results.lock().push(result);
    }

    /// Drops the results that were not used.
    pub(super) fn clear(&self) {
        self.results.lock().clear();
    }

    /// Takes the first result that fits.
    fn take<T>(&self, fits: impl Fn(&PlatformResult) -> Option<T>) -> Option<T> {
        let mut results = self.results.lock();
        let mut numbered = results.iter().enumerate();
        let (at, found) = numbered.find_map(|(at, result)| Some((at, fits(result)?)))?;
        results.remove(at);
        Some(found)
    }
}

impl Platform for ReplayPlatform {
    fn perform(&self, _: &SessionContext, effect: Effect) -> Option<PlatformEvent> {
        let recorded = self.take(|result| match result {
            PlatformResult::Effect(event) => effect.has_result(event).then(|| event.clone()),
            PlatformResult::Query(_) => None,
        });
        recorded.or_else(|| effect.on_empty_platform())
    }

    fn paths<'p>(&self, session: &'p SessionContext) -> Box<dyn Paths + 'p> {
        let home = self.home.lock();
        Box::new(RecordedPaths::of(session, &home, None, &self.results))
    }

    fn show(&self, _: &str, _: &Path) -> ShownFile {
        let excerpt = self.take(|result| match result.query()? {
            QueryResult::Excerpt(text) => Some(text.clone()),
            _ => None,
        });
        ShownFile {
            excerpt: excerpt.unwrap_or_default(),
            state: String::new(),
        }
    }

    fn is_unchanged(&self, _: &str, _: &Path, _: &str) -> bool {
        let is_changed = self.take(|result| match result.query()? {
            QueryResult::ShownChanged(is_changed) => Some(*is_changed),
            _ => None,
        });
        is_changed != Some(true)
    }
}

/// Paths that lead where they say, apart from those that are noted.
#[derive(Debug)]
pub(super) struct RecordedPaths<'p> {
    written: WrittenPaths,
    /// The paths of the disk, whose other answers are noted; `None` in a replay, which answers with them.
    disk: Option<Box<dyn Paths + 'p>>,
    results: Results,
}

impl<'p> RecordedPaths<'p> {
    /// The paths of a project with this home directory.
    pub(super) fn of(
        session: &SessionContext,
        home: &str,
        disk: Option<Box<dyn Paths + 'p>>,
        results: &Results,
    ) -> Self {
        let [cwd, agent_dir] =
            [&session.cwd, &session.agent_dir].map(|path| path.to_string_lossy());
        let session_file = session.session_file.as_deref().map(with_slashes);
        Self {
            written: WrittenPaths::new(&cwd, &agent_dir, home, session_file),
            disk,
            results: Arc::clone(results),
        }
    }

    /// An answer of the disk, which is noted once if it is not the usual one; in a replay the noted answer.
    fn answer(&self, ask: impl Fn(&dyn Paths) -> QueryResult) -> QueryResult {
        let usual = ask(&self.written);
        let mut results = self.results.lock();
        let mut noted = results.iter().filter_map(PlatformResult::query);
        let known = noted
            .find(|query| {
                query
                    .question()
                    .is_some_and(|asked| usual.question() == Some(asked))
            })
            .cloned();
        let Some(disk) = &self.disk else {
            return known.unwrap_or(usual);
        };
        let answer = ask(&**disk);
        if answer != usual && known.is_none() {
            results.push(PlatformResult::Query(answer.clone()));
        }
        answer
    }
}

impl Paths for RecordedPaths<'_> {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let ask = |paths: &dyn Paths| QueryResult::Path {
            written: path.to_owned(),
            forms: paths.forms(path),
        };
        match self.answer(ask) {
            QueryResult::Path { forms, .. } => forms,
            // The answer is to the question.
            _ => Vec::new(),
        }
    }

    fn ignores_case(&self) -> bool {
        let answer = self.answer(|paths| QueryResult::IgnoresCase(paths.ignores_case()));
        answer == QueryResult::IgnoresCase(true)
    }

    fn protected(&self) -> Vec<String> {
        match self.answer(|paths| QueryResult::Protected(paths.protected())) {
            QueryResult::Protected(protected) => protected,
            // The answer is to the question.
            _ => Vec::new(),
        }
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let of = |contains| QueryResult::ApprovalStore {
            absolute: form.absolute.clone(),
            contains,
        };
        self.answer(|paths| of(paths.holds_answers(form))) == of(true)
    }
}

/// The value of a `result` line: what the platform answers to something that the next line causes.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum PlatformResult {
    /// The immediate result of an effect.
    Effect(PlatformEvent),
    /// The answer to a query.
    Query(QueryResult),
}

/// The answer of the platform to a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum QueryResult {
    /// The beginning of a file that was shown with a question.
    Excerpt(String),
    /// True if the shown file had changed when the question was answered. It had not, unless it is written.
    ShownChanged(bool),
    /// The forms of a path, if it leads through links.
    Path {
        written: String,
        forms: Vec<PathForm>,
    },
    /// True if the user's approvals are stored at this path, where it does not look so.
    ApprovalStore { absolute: String, contains: bool },
    /// The files that a rule protects, if there are others than those of the session.
    Protected(Vec<String>),
    /// True if names that differ only in case are the same file. They are not, unless it is written.
    IgnoresCase(bool),
}

impl QueryResult {
    /// What a question about paths asks: its kind, and the path if it is about one.
    fn question(&self) -> Option<(Discriminant<Self>, &str)> {
        let path = match self {
            Self::Path { written: path, .. } | Self::ApprovalStore { absolute: path, .. } => path,
            Self::IgnoresCase(_) | Self::Protected(_) => "",
            _ => return None,
        };
        Some((discriminant(self), path))
    }
}

/// Results in the order in which they came.
pub(super) type Results = Arc<Mutex<Vec<PlatformResult>>>;

impl PlatformResult {
    /// The answer, if a query was answered.
    pub(super) fn query(&self) -> Option<&QueryResult> {
        match self {
            Self::Query(query) => Some(query),
            Self::Effect(_) => None,
        }
    }

    pub(super) fn parse(json: &str) -> serde_json::Result<Self> {
        match serde_json::from_str(json) {
            Ok(query) => Ok(Self::Query(query)),
            Err(_) => serde_json::from_str(json).map(Self::Effect),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{PlatformReport, session_in};

    #[cfg(unix)]
    #[test]
    fn paths_that_lead_elsewhere_are_noted_and_lead_there_in_a_replay() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("real", project.join("link")).unwrap();
        let results = Results::default();
        let home = crate::files::home_dir().unwrap_or_default();
        let agent_dir = home.join(".pi/agent");
        let here = session_in(&agent_dir, &project);
        let disk = crate::platform::paths::LocalPaths::new(&project, &agent_dir, None);
        let disk: Box<dyn Paths> = Box::new(disk);
        let recording = RecordedPaths::of(&here, &home.to_string_lossy(), Some(disk), &results);
        let replay = ReplayPlatform::default();
        replay.start(&home.to_string_lossy());
        let plain = ["a/../b", "~/x", "@c\u{a0}d", "/etc/passwd", "..", ""];
        for path in plain {
            assert_eq!(
                recording.forms(path),
                replay.paths(&here).forms(path),
                "{path}"
            );
        }
        assert!(results.lock().is_empty(), "{results:?}");
        let forms = recording.forms("link/x");
        assert_eq!(recording.forms("link/x"), forms);
        assert_eq!(results.lock().len(), 1);
        for result in results.lock().drain(..) {
            replay.add(result);
        }
        assert_eq!(replay.paths(&here).forms("link/x"), forms);
        assert_eq!(forms.len(), 2);
    }

    #[test]
    fn each_result_is_given_once_and_in_order() {
        let platform = ReplayPlatform::default();
        for json in [
            r#"{"excerpt":"a"}"#,
            r#"{"shownChanged":true}"#,
            r#"{"excerpt":"b"}"#,
        ] {
            platform.add(PlatformResult::parse(json).unwrap());
        }
        let cwd = Path::new("/p");
        let read = || platform.show("plan.md", cwd).excerpt;
        assert_eq!([read(), read(), read()], ["a", "b", ""]);
        assert!(!platform.is_unchanged("plan.md", cwd, ""));
        assert!(platform.is_unchanged("plan.md", cwd, ""));
        platform.add(PlatformResult::parse(r#"{"shownChanged":true}"#).unwrap());
        platform.clear();
        assert!(platform.is_unchanged("plan.md", cwd, ""));
    }

    #[test]
    fn a_result_is_written_as_it_is_read() {
        for json in [
            r#"{"baselineTaken":{"baseline":{"head":1,"a":1.50}}}"#,
            r#""commandsNotTrusted""#,
            r#"{"gateNotTrusted":{"gate":3}}"#,
            r#"{"approvalRead":{"decision":{"request":"n","choice":"approve"}}}"#,
            r#"{"excerpt":"plan"}"#,
            r#"{"shownChanged":true}"#,
            r#"{"path":{"written":"a","forms":[{"absolute":"/p/a","inProject":"a"}]}}"#,
            r#"{"ignoresCase":true}"#,
            r#"{"protected":["/p/.pi/workflows"]}"#,
        ] {
            let result = PlatformResult::parse(json).unwrap();
            assert_eq!(serde_json::to_string(&result).unwrap(), json);
        }
        for json in [r#"{"excerpt":null}"#, r#"{"what":1}"#, "{}", r#""excerpt""#] {
            assert!(PlatformResult::parse(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_reported_event_names_its_session() {
        let json = r#"{"session":"s","gateFinished":{"gate":1,"reports":[]}}"#;
        let reported: PlatformReport = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&reported).unwrap(), json);
        for json in ["{}", r#"{"gate":1}"#] {
            assert!(
                serde_json::from_str::<PlatformReport>(json).is_err(),
                "{json}"
            );
        }
    }
}
