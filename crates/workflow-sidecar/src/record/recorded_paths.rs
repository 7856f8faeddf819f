//! The paths of tool calls while a session is recorded, and in its replay.

use std::sync::Arc;

use workflow_core::policy::rules::{PathForm, Paths, WrittenPaths};

use super::results::{PlatformResult, QueryResult, Results};
use crate::platform::Project;
use crate::platform::paths::with_slashes;

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
        project: &Project<'_>,
        home: &str,
        disk: Option<Box<dyn Paths + 'p>>,
        results: &Results,
    ) -> Self {
        let [cwd, agent_dir] = [project.cwd, project.agent_dir].map(|path| path.to_string_lossy());
        let session_file = project.session_file.map(with_slashes);
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
        let known = noted.find(|query| query.is_about_the_same(&usual)).cloned();
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
        // By the names that a replay knows too.
        self.written.protected()
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let of = |contains| QueryResult::ApprovalStore {
            absolute: form.absolute.clone(),
            contains,
        };
        self.answer(|paths| of(paths.holds_answers(form))) == of(true)
    }
}
