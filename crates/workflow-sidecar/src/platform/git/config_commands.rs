//! The configuration of a repository: which of its settings have an effect here.
//!
//! Git runs a filter whenever it compares a file, and a merge driver when it applies changes. Programs in the user's
//! configuration (such as Git LFS) belong to the user. But a repository that was unpacked or copied has its own
//! configuration: its programs need the user's trust, like the commands of gates. So does what makes git overlook
//! changes. Of its other settings only those count that say how files are stored.
//!
//! Owns the lists of these settings, and the check of the user's trust in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workflow_core::definition::RunCheck;

use super::execution::{Git, NO_FILE, no_repository};
use super::location::Location;
use crate::files::{expanded_home, hash, user_dir};
use crate::platform::answers::trust_store::{hash_of, is_trusted};
use crate::platform::process::{CheckError, Failure, failed, one_line};

/// An operation of git, which determines the programs that it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitOperation {
    /// Compares files.
    Compare,
    /// Restores files.
    Restore,
}

/// Time for git to read its configuration, where somebody waits for it.
const TIME: Duration = Duration::from_secs(10);

/// Finds the programs that the repository of a directory makes git run, and the settings that hide changes, each as a
/// command: the name of the setting and its value.
///
/// Fails if git cannot read its configuration.
pub(crate) fn config_commands(cwd: &Path) -> Result<Vec<RunCheck>, String> {
    let git = Git::within(TIME, cwd);
    let configuration = Configuration::read(git).map_err(|(_, reason)| reason)?;
    let mut settings = configuration.settings_that_run(GitOperation::Restore);
    settings.extend(configuration.settings_that_hide(git));
    Ok(settings)
}

/// Returns a setting as the command that the user trusts.
fn as_command(key: &str, value: impl Into<String>) -> RunCheck {
    RunCheck {
        command: vec![key.to_owned(), value.into()],
        timeout: 1,
        ..RunCheck::default()
    }
}

/// Returns the name of a setting.
pub(super) fn key_of(setting: &RunCheck) -> &str {
    &setting.command[0]
}

/// Returns the settings that the user does not trust in a project. `agent_dir` is the directory of the trust store; without
/// it nothing is trusted.
fn untrusted(mut settings: Vec<RunCheck>, cwd: &Path, agent_dir: Option<&Path>) -> Vec<RunCheck> {
    settings.retain(|setting| {
        let hash = hash_of([setting]);
        !agent_dir.is_some_and(|agent_dir| is_trusted(agent_dir, cwd, &hash))
    });
    settings
}

/// The key of the repository's list of ignored files, which is not a setting but works like one.
pub(super) const EXCLUDE: &str = ".git/info/exclude";
/// The key of the user's list of ignored files, which a repository can replace.
pub(super) const EXCLUDES_FILE: &str = "core.excludesfile";

/// Stands for the user's own list of ignored files, where that one is not to count.
pub(super) const USER_IGNORES: &str = "the user's ignored files";

/// Settings of a repository that say how its files are stored, and neither run a program nor hide a change.
const STORAGE: [&str; 7] = [
    "core.autocrlf",
    "core.eol",
    "core.longpaths",
    "core.precomposeunicode",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
];
/// Formats of a repository, without which git cannot read it.
const FORMATS: [&str; 4] = [
    "extensions.compatobjectformat",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
];

/// What a program of the configuration begins with: it finds the repository as the user's git does, because it may
/// have files or settings of its own there.
const OUTSIDE: &str =
    "unset GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_OBJECT_DIRECTORY GIT_CONFIG_COUNT; ";

/// Settings that make git overlook a kind of change, with the harmful value.
const HIDING: [(&str, bool); 3] = [
    ("core.filemode", false),
    ("core.symlinks", false),
    ("core.ignorecase", true),
];

/// The configuration of a repository, as git reads it.
pub(in crate::platform) struct Configuration {
    settings: Vec<Setting>,
    /// Where the repository is.
    pub(super) location: Location,
}

struct Setting {
    /// False for a setting of the user or the machine.
    is_of_repository: bool,
    key: String,
    value: String,
}

impl Setting {
    /// Returns the first and the last part of the name, which git writes in lower case, and what is before the last.
    fn parts(&self) -> (&str, &str, &str) {
        let (before, last) = self.key.rsplit_once('.').unwrap_or_default();
        let section = before.split('.').next().unwrap_or_default();
        (section, last, before)
    }

    /// Returns `true` if git runs the setting in an operation.
    fn is_run(&self, operation: GitOperation) -> bool {
        let (section, last, before) = self.parts();
        let restores = operation == GitOperation::Restore;
        let is_program = match section {
            "filter" => matches!(last, "clean" | "smudge" | "process"),
            "merge" => restores && before != section && last == "driver",
            _ => false,
        };
        is_program && !self.value.is_empty()
    }

    /// Returns the setting as it has an effect on an operation; `None` if it has none beside the user's configuration.
    fn in_effect(&self, operation: GitOperation) -> Option<(String, String)> {
        let (section, _, before) = self.parts();
        let value = match section {
            // Git has no setting that switches off all hooks of the configuration, which it runs since version 2.54.
            "hook" if before != section => {
                return Some((format!("{before}.enabled"), "false".to_owned()));
            }
            _ if self.is_run(operation) => format!("{OUTSIDE}{}", self.value),
            "filter" => self.value.clone(),
            "merge" if operation == GitOperation::Restore => self.value.clone(),
            _ if STORAGE.contains(&&*self.key) => self.value.clone(),
            _ => return None,
        };
        Some((self.key.clone(), value))
    }
}

impl Configuration {
    /// Reads the configuration. Fails if git cannot read it, or there is no repository.
    pub(super) fn read(git: Git<'_>) -> Result<Self, Failure> {
        let list = ["config", "--list", "--show-scope", "--includes", "-z"];
        let listed = git.run(&list)?.succeeded()?;
        Ok(Self {
            settings: parse(&listed.text),
            location: Location::of(git.cwd).ok_or_else(no_repository)?,
        })
    }

    /// Reads the configuration, and checks that every program of an operation belongs to the user or is trusted by the
    /// user.
    pub(in crate::platform) fn read_allowed(
        operation: GitOperation,
        git: Git<'_>,
        agent_dir: Option<&Path>,
    ) -> Result<Self, Failure> {
        let configuration = Self::read(git)?;
        let settings = configuration.settings_that_run(operation);
        let untrusted = untrusted(settings, git.cwd, agent_dir);
        let Some(untrusted) = untrusted.first() else {
            return Ok(configuration);
        };
        let key = one_line(key_of(untrusted));
        let help = if agent_dir.is_some() {
            "`workflow-sidecar trust` shows and allows it"
        } else {
            "the user does not trust the project in this host"
        };
        let reason = format!(
            "git would do what the repository's own configuration says in `{key}`, which is not trusted: {help}"
        );
        Err((CheckError::NotTrusted, reason))
    }

    /// Returns the settings that have an effect on an operation, the last one of a name decides. Those of `left_out`
    /// have none.
    pub(super) fn in_effect(
        &self,
        operation: GitOperation,
        left_out: &[&str],
    ) -> Vec<(String, String)> {
        let settings = self.settings.iter();
        let settings = settings.filter_map(|setting| setting.in_effect(operation));
        let mut settings: Vec<(String, String)> = settings.collect();
        let mut set = |key: &str, value: &str| settings.push((key.to_owned(), value.to_owned()));
        for (key, harmful) in HIDING {
            if left_out.contains(&key) {
                set(key, &(!harmful).to_string());
            } else if let Some(value) = self.last(key, |_| true) {
                set(key, value);
            }
        }
        match self.repository_ignores() {
            Some(path) if !left_out.contains(&EXCLUDES_FILE) => {
                set(EXCLUDES_FILE, &path.to_string_lossy());
            }
            _ if left_out.contains(&USER_IGNORES) => set(EXCLUDES_FILE, NO_FILE),
            _ => (),
        }
        settings
    }

    /// Returns the formats of the repository, as lines of a configuration file.
    pub(super) fn formats(&self) -> String {
        let lines = FORMATS.iter().filter_map(|key| {
            let value = self.last(key, |set| set.is_of_repository)?;
            let (_, name) = key.split_once('.')?;
            Some(format!("\t{name} = {value:?}\n"))
        });
        lines.collect()
    }

    /// Returns the programs that an operation runs.
    fn settings_that_run(&self, operation: GitOperation) -> Vec<RunCheck> {
        let settings = self.settings.iter();
        settings
            .filter(|setting| setting.is_of_repository && setting.is_run(operation))
            .map(|setting| as_command(&setting.key, &*setting.value))
            .collect()
    }

    /// Returns the settings of any scope that hide changes, and the lists of ignored files that are not committed.
    fn settings_that_hide(&self, git: Git<'_>) -> Vec<RunCheck> {
        let common_dir = self.location.common_dir();
        let mut harmful = HIDING.to_vec();
        harmful.retain(|hiding| self.has(*hiding, |_| true));
        if !harmful.is_empty()
            && let Ok(needed) = Self::of_new_repository(&common_dir, git)
        {
            harmful.retain(|hiding| !needed.has(*hiding, |set| set.is_of_repository));
        }
        let harmful = harmful.into_iter();
        let hiding = harmful.map(|(key, value)| as_command(key, value.to_string()));
        let mut hiding: Vec<RunCheck> = hiding.collect();
        for (key, path) in [
            (EXCLUDE, Some(common_dir.join("info/exclude"))),
            (EXCLUDES_FILE, self.repository_ignores()),
        ] {
            let patterns = path.map(|path| patterns(&path)).unwrap_or_default();
            if !patterns.is_empty() {
                hiding.push(as_command(key, patterns.join(", ")));
            }
        }
        hiding
    }

    /// Returns what hides changes, and the user does not trust.
    pub(super) fn untrusted_that_hide(
        &self,
        git: Git<'_>,
        agent_dir: Option<&Path>,
    ) -> Vec<RunCheck> {
        untrusted(self.settings_that_hide(git), git.cwd, agent_dir)
    }

    /// Makes a repository for a moment. Its settings are those that the file system needs, as git has tested it.
    fn of_new_repository(directory: &Path, git: Git<'_>) -> Result<Self, Failure> {
        let new = tempfile::tempdir_in(directory).map_err(|error| failed(error.to_string()))?;
        let git = Git {
            cwd: new.path(),
            ..git
        };
        git.run(&["init", "--quiet", "--template="])?;
        Self::read(git)
    }

    /// Returns `true` if a setting that is true or false has this value, by those of some scopes.
    fn has(&self, (key, value): (&str, bool), fits: impl Fn(&Setting) -> bool) -> bool {
        self.last(key, fits)
            .is_some_and(|set| is_true(set) == value)
    }

    /// Returns the file of ignored files that a setting of the repository names.
    fn repository_ignores(&self) -> Option<PathBuf> {
        let value = self.last(EXCLUDES_FILE, |set| set.is_of_repository)?;
        Some(self.location.root.join(expanded_home(value)))
    }

    /// Returns the user's own file of ignored files.
    fn user_ignores(&self) -> Option<PathBuf> {
        if let Some(value) = self.last(EXCLUDES_FILE, |set| !set.is_of_repository) {
            return Some(expanded_home(value));
        }
        Some(user_dir("XDG_CONFIG_HOME", ".config")?.join("git/ignore"))
    }

    /// Returns a hash of the user's own ignored files; empty if there are none.
    pub(super) fn user_ignores_hash(&self) -> String {
        let patterns = self.user_ignores().map(|path| patterns(&path));
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        let hash = patterns.map(|patterns| hash(patterns.join("\n")));
        hash.unwrap_or_default()
    }

    /// Returns `true` if only a part of the files is checked out.
    pub(super) fn is_sparse(&self) -> bool {
        self.has(("core.sparsecheckout", true), |_| true)
    }

    /// Returns the value of a setting that is in force, among those of some scopes.
    fn last(&self, key: &str, fits: impl Fn(&Setting) -> bool) -> Option<&str> {
        let mut found = self.settings.iter().rev();
        let found = found.find(|setting| setting.key == key && fits(setting))?;
        Some(&found.value)
    }
}

/// Parses a list of settings: a scope, then a name and a value on the next line.
fn parse(listed: &str) -> Vec<Setting> {
    let mut parts = listed.split_terminator('\0');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
        .map(|(scope, setting)| {
            // A setting without a value is true.
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            Setting {
                is_of_repository: !matches!(scope, "system" | "global" | "command"),
                key: key.to_owned(),
                value: value.to_owned(),
            }
        })
        .collect()
}

fn is_true(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    match &*value {
        "true" | "yes" | "on" => true,
        number => number.parse::<i64>().is_ok_and(|number| number != 0),
    }
}

/// Returns the patterns of a list of ignored files. A file that cannot be read has none: git does not read it either.
fn patterns(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.trim_start_matches('\u{feff}').lines();
    lines
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(operation: GitOperation, listed: &str) -> Vec<String> {
        let configuration = Configuration {
            settings: parse(listed),
            location: Location {
                root: PathBuf::new(),
                git_dir: PathBuf::new(),
            },
        };
        let settings = configuration.settings_that_run(operation);
        settings.iter().map(key_of).map(str::to_owned).collect()
    }

    #[test]
    fn only_programs_of_the_repository_configuration_count() {
        let listed = "global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.a.b.clean\na\nb\0worktree\0filter.x.process\np\0local\0filter.x.required\ntrue\0local\0merge.ours.driver\ntrue\0local\0merge.ff\nonly\0local\0filter.off.smudge\n\0local\0core.bare\0";
        assert_eq!(
            keys(GitOperation::Compare, listed),
            ["filter.a.b.clean", "filter.x.process"]
        );
        assert_eq!(
            keys(GitOperation::Restore, listed),
            ["filter.a.b.clean", "filter.x.process", "merge.ours.driver"]
        );
    }
}
