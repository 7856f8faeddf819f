//! The platform of a replay: it answers with the results of a transcript.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use workflow_core::approval::ShownFile;
use workflow_core::effect::{Effect, EffectResult};
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::{PathForm, Paths, WrittenPaths};

use super::results::{PlatformResult, QueryResult};
use crate::platform::paths::with_slashes;
use crate::platform::{Platform, Project, SessionContext};

/// A platform on which every recorded result is given once, in order. Without one, the result is that of an empty
/// machine; no command runs.
#[derive(Debug, Default)]
pub(super) struct ReplayPlatform {
    results: Results,
    home: Mutex<String>,
}

type Results = Arc<Mutex<VecDeque<PlatformResult>>>;

impl ReplayPlatform {
    /// Begins anew, with this home directory.
    pub(super) fn start(&self, home: &str) {
        self.clear();
        home.clone_into(&mut self.home.lock());
    }

    /// Adds a result of what happens next.
    pub(super) fn add(&self, result: PlatformResult) {
        self.results.lock().push_back(result);
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

    fn take_query<T>(&self, fits: impl Fn(&QueryResult) -> Option<T>) -> Option<T> {
        self.take(|result| match result {
            PlatformResult::Query(query) => fits(query),
            PlatformResult::Effect(_) => None,
        })
    }
}

impl Platform for ReplayPlatform {
    fn perform(&self, _: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
        let kind = effect.result();
        let is_result = |event: &_| kind != EffectResult::None && EffectResult::of(event) == kind;
        let recorded = self.take(|result| match result {
            PlatformResult::Effect(event) => is_result(event).then(|| event.clone()),
            PlatformResult::Query(_) => None,
        });
        recorded.or_else(|| kind.on_empty_platform())
    }

    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p> {
        Box::new(ReplayPaths {
            written: written(project, &self.home.lock()),
            results: Arc::clone(&self.results),
        })
    }

    fn show(&self, _: &str, _: &Path) -> ShownFile {
        let excerpt = self.take_query(|query| match query {
            QueryResult::Excerpt(text) => Some(text.clone()),
            _ => None,
        });
        ShownFile {
            excerpt: excerpt.unwrap_or_default(),
            state: String::new(),
        }
    }

    fn is_unchanged(&self, _: &str, _: &Path, _: &str) -> bool {
        let is_changed = self.take_query(|query| match query {
            QueryResult::ShownChanged(is_changed) => Some(*is_changed),
            _ => None,
        });
        is_changed != Some(true)
    }
}

/// Paths that lead where they say, unless the transcript says otherwise.
#[derive(Debug)]
struct ReplayPaths {
    written: WrittenPaths,
    results: Results,
}

impl ReplayPaths {
    fn find<T>(&self, fits: impl Fn(&QueryResult) -> Option<T>) -> Option<T> {
        self.results.lock().iter().find_map(|result| match result {
            PlatformResult::Query(query) => fits(query),
            PlatformResult::Effect(_) => None,
        })
    }
}

impl Paths for ReplayPaths {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let recorded = self.find(|query| match query {
            QueryResult::Path(resolved) if resolved.written == path => Some(resolved.forms.clone()),
            _ => None,
        });
        recorded.unwrap_or_else(|| self.written.forms(path))
    }

    fn ignores_case(&self) -> bool {
        self.find(|query| matches!(query, QueryResult::IgnoresCase(true)).then_some(()))
            .is_some()
    }

    fn protected(&self) -> Vec<String> {
        self.written.protected()
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let recorded = self.find(|query| match query {
            QueryResult::ApprovalStore(store) if store.absolute == form.absolute => {
                Some(store.contains)
            }
            _ => None,
        });
        recorded.unwrap_or_else(|| self.written.holds_answers(form))
    }
}

/// The paths of a project as they are written, without a look at the disk.
pub(super) fn written(project: &Project<'_>, home: &str) -> WrittenPaths {
    let (cwd, agent_dir) = (
        project.cwd.to_string_lossy(),
        project.agent_dir.to_string_lossy(),
    );
    WrittenPaths::new(
        &cwd,
        &agent_dir,
        home,
        project.session_file.map(with_slashes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
