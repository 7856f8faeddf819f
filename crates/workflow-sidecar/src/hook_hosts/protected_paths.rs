//! Paths of calls, where the files that say which hooks a host runs are protected like definitions: without its hooks a host
//! has no rules.

use std::path::Path;

use workflow_core::policy::rules::{PathForm, Paths};

use super::host::HookHost;
use crate::files::home_dir;
use crate::install::Directories;

/// The paths of a session, with the host's files protected.
#[derive(Debug)]
pub(super) struct ProtectedPaths<'p> {
    paths: Box<dyn Paths + 'p>,
    files: Vec<String>,
}

impl<'p> ProtectedPaths<'p> {
    pub(super) fn new(host: &HookHost, paths: Box<dyn Paths + 'p>, project: &Path) -> Self {
        let of_project = host.hook_files.iter().map(|file| project.join(file));
        let directories = home_dir().map(|home| Directories::of_process(&home));
        let of_user = directories.iter().flat_map(host.user_hook_files);
        let files = of_project.chain(of_user);
        let files = files.map(|file| file.to_string_lossy().into_owned());
        Self {
            files: files.collect(),
            paths,
        }
    }
}

impl Paths for ProtectedPaths<'_> {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        self.paths.forms(path)
    }

    fn ignores_case(&self) -> bool {
        self.paths.ignores_case()
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        self.paths.holds_answers(form)
    }

    fn protected(&self) -> Vec<String> {
        let mut files = self.paths.protected();
        files.extend(self.files.iter().cloned());
        files
    }
}
