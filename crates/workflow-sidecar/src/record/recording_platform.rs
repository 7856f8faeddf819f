//! The platform while a session is recorded.

use std::path::Path;
use std::sync::Arc;

use workflow_core::approval::ShownFile;
use workflow_core::effect::Effect;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::Paths;

use super::recorded_paths::RecordedPaths;
use super::results::{PlatformResult, QueryResult, Results};
use crate::platform::{Platform, PlatformReport, Project, SessionContext};
use crate::store::Run;

/// A platform that notes the results of another one.
///
/// Results that differ from those that a replay assumes are noted, and always baselines and excerpts. A sidecar in another process
/// takes its own baseline: from the line, a replay knows that it must skip such a session.
#[derive(Debug)]
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
    fn perform(&self, session: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
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

    fn open_session(&self, session: &SessionContext<'_>) {
        self.inner.open_session(session);
    }

    fn note_run(&self, project: &Project<'_>, host: &str, run: Run) {
        self.inner.note_run(project, host, run);
    }

    fn close_session(&self, session: &str) {
        self.inner.close_session(session);
    }

    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p> {
        let home = crate::files::home_dir().unwrap_or_default();
        let disk = self.inner.paths(project);
        Box::new(RecordedPaths::of(
            project,
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

#[cfg(test)]
mod tests {
    use super::super::replay_platform::ReplayPlatform;
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_that_lead_elsewhere_are_noted_and_lead_there_in_a_replay() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("real", project.join("link")).unwrap();
        let results = Results::default();
        let home = crate::files::home_dir().unwrap_or_default();
        let agent_dir = home.join(".pi/agent");
        let here = Project {
            agent_dir: &agent_dir,
            cwd: &project,
            session_file: None,
        };
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
}
