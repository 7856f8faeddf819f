//! The platform of a replay: it answers with the results of a transcript.

use std::path::Path;

use parking_lot::Mutex;
use workflow_core::approval::ShownFile;
use workflow_core::effect::Effect;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::Paths;

use super::recorded_paths::RecordedPaths;
use super::results::{PlatformResult, QueryResult, Results};
use crate::platform::{Platform, Project, SessionContext};

/// A platform on which every recorded result is given once, in order. Without one, the result is that of an empty
/// machine; no command runs.
#[derive(Debug, Default)]
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
    fn perform(&self, _: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
        let recorded = self.take(|result| match result {
            PlatformResult::Effect(event) => effect.has_result(event).then(|| event.clone()),
            PlatformResult::Query(_) => None,
        });
        recorded.or_else(|| effect.on_empty_platform())
    }

    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p> {
        let home = self.home.lock();
        Box::new(RecordedPaths::of(project, &home, None, &self.results))
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
