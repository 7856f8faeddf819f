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
    fn answer<T: PartialEq + Clone>(
        &self,
        usual: T,
        ask: impl FnOnce(&dyn Paths) -> T,
        note: impl FnOnce(T) -> QueryResult,
        noted: impl Fn(&QueryResult) -> Option<T>,
    ) -> T {
        let mut results = self.results.lock();
        let known = results
            .iter()
            .filter_map(PlatformResult::query)
            .find_map(noted);
        let Some(disk) = &self.disk else {
            return known.unwrap_or(usual);
        };
        let answer = ask(&**disk);
        if answer != usual && known.is_none() {
            results.push(PlatformResult::Query(note(answer.clone())));
        }
        answer
    }
}

impl Paths for RecordedPaths<'_> {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        self.answer(
            self.written.forms(path),
            |disk| disk.forms(path),
            |forms| {
                let written = path.to_owned();
                QueryResult::Path { written, forms }
            },
            |query| match query {
                QueryResult::Path { written, forms } if written == path => Some(forms.clone()),
                _ => None,
            },
        )
    }

    fn ignores_case(&self) -> bool {
        let noted = |query: &_| matches!(query, QueryResult::IgnoresCase(true)).then_some(true);
        self.answer(
            false,
            |disk| disk.ignores_case(),
            QueryResult::IgnoresCase,
            noted,
        )
    }

    fn protected(&self) -> Vec<String> {
        // By the names that a replay knows too.
        self.written.protected()
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let absolute = &form.absolute;
        self.answer(
            self.written.holds_answers(form),
            |disk| disk.holds_answers(form),
            |contains| {
                let absolute = absolute.clone();
                QueryResult::ApprovalStore { absolute, contains }
            },
            |query| match query {
                QueryResult::ApprovalStore {
                    absolute: known,
                    contains,
                } if known == absolute => Some(*contains),
                _ => None,
            },
        )
    }
}
