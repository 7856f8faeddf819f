//! Paths of calls, where the files that say which hooks a host runs are protected like definitions: without its hooks a host
//! has no rules.

use std::path::{Path, PathBuf};

use workflow_core::policy::rules::{PathForm, Paths};

use super::host::HookHost;
use crate::files::home_dir;

/// The paths of a session, with the host's files protected.
#[derive(Debug)]
pub(super) struct ProtectedPaths<'p> {
    paths: Box<dyn Paths + 'p>,
    files: Vec<String>,
}

impl<'p> ProtectedPaths<'p> {
    pub(super) fn new(host: &HookHost, paths: Box<dyn Paths + 'p>, project: &Path) -> Self {
        let directory = host.directory_variable.and_then(std::env::var_os);
        let home = home_dir();
        let files = host.hook_files.iter().flat_map(|file| {
            let roots = [Some(project), home.as_deref()].into_iter().flatten();
            let mut found: Vec<PathBuf> = roots.map(|root| root.join(file)).collect();
            if let Some(directory) = directory.as_ref().map(Path::new) {
                // Some variables name the directory of the files, and some the one that is instead of the home directory.
                found.push(directory.join(file));
                let inner = file.split_once('/').map(|(_, inner)| directory.join(inner));
                found.extend(inner);
            }
            found
        });
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
