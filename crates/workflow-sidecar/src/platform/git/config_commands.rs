//! Programs that a repository's configuration makes git run, and settings that hide changes from it.
//!
//! Git runs a filter whenever it compares a file, and a merge driver when it applies changes. Programs in the user's
//! configuration (such as Git LFS) belong to the user. But a repository that was unpacked or copied has its own
//! configuration: its programs need the user's trust, like the commands of gates. So does a work tree in another place,
//! and what makes git overlook changes.
//!
//! Owns the list of settings that count as such, and the check of the user's trust in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sha2::{Digest, Sha256};
use workflow_core::definition::{ExpectedExit, OutputStream, RunCheck};

use super::command::git;
use crate::files::home_dir;
use crate::platform::answers::trust_store::{Trust, TrustStore, hash_of};
use crate::platform::process::{CheckError, Failure, Monitor, one_line};

/// An operation of git, which determines the programs that it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitOperation {
    /// Compares files.
    Compare,
    /// Restores files.
    Restore,
}

/// Finds the programs that the repository of a directory makes git run, and the settings that hide changes, each as a
/// command: the name of the setting and its value.
///
/// Fails if git cannot read its configuration.
pub(crate) fn config_commands(cwd: &Path) -> Result<Vec<RunCheck>, String> {
    let cancelled = AtomicBool::new(false);
    let mut ignore_groups = |_| {};
    let monitor = &mut Monitor::new(&cancelled, &mut ignore_groups);
    let configuration = Configuration::read(TIME, cwd, monitor).map_err(|(_, reason)| reason)?;
    let mut settings = configuration.settings_that_run(GitOperation::Restore);
    settings.extend(configuration.settings_that_hide());
    Ok(settings.iter().map(ConfigCommand::to_check).collect())
}

/// Time for git to read its configuration.
const TIME: Duration = Duration::from_secs(10);

/// Checks that every program of an operation belongs to the user or is trusted by the user.
///
/// `agent_dir` is the directory of the trust store; without it nothing is trusted.
pub(crate) fn check_allowed(
    operation: GitOperation,
    cwd: &Path,
    agent_dir: Option<&Path>,
    time: Duration,
    monitor: &mut Monitor<'_>,
) -> Result<(), Failure> {
    let configuration = Configuration::read(time.min(TIME), cwd, monitor)?;
    let settings = configuration.settings_that_run(operation);
    let mut untrusted = settings
        .iter()
        .filter(|setting| !setting.is_trusted(cwd, agent_dir));
    let Some(untrusted) = untrusted.next() else {
        return Ok(());
    };
    let key = one_line(&untrusted.key);
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

/// A setting that makes git run a program, work in another directory, or overlook changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigCommand {
    pub(super) key: String,
    value: String,
}

impl ConfigCommand {
    fn new(key: &str, value: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
        }
    }

    fn to_check(&self) -> RunCheck {
        RunCheck {
            command: vec![self.key.clone(), self.value.clone()],
            shell: false,
            timeout: 1,
            exit: ExpectedExit::Code(0),
            stdout: None,
            stream: OutputStream::default(),
            cwd: None,
            env: Vec::new(),
        }
    }

    /// Returns `true` if the user trusts the setting in this project.
    pub(super) fn is_trusted(&self, cwd: &Path, agent_dir: Option<&Path>) -> bool {
        let Some(agent_dir) = agent_dir else {
            return false;
        };
        let store = TrustStore::in_agent_dir(agent_dir);
        match store.and_then(|store| store.look_up(cwd, &hash_of([&self.to_check()]))) {
            Ok(trust) => trust == Trust::Trusted,
            Err(error) => {
                tracing::warn!("{error}");
                false
            }
        }
    }
}

/// The key of the repository's list of ignored files, which is not a setting but works like one.
pub(super) const EXCLUDE: &str = ".git/info/exclude";
/// The key of the user's list of ignored files, which a repository can replace.
pub(super) const EXCLUDES_FILE: &str = "core.excludesfile";

/// Tests whether a file system needs a setting, in a directory in which files may be made.
type IsNeeded = fn(&Path) -> bool;

/// Settings that make git overlook a kind of change, with the harmful value, and where that value is needed.
const HIDING: [(&str, &str, IsNeeded); 3] = [
    ("core.filemode", "false", lacks_modes),
    ("core.symlinks", "false", lacks_links),
    ("core.ignorecase", "true", ignores_case),
];

/// The configuration of a repository, as git reads it.
#[derive(Debug)]
pub(super) struct Configuration {
    settings: Vec<Setting>,
    /// The directory with `.git`, and the directory that git uses.
    location: Option<ConfigLocation>,
}

#[derive(Debug)]
struct Setting {
    scope: String,
    key: String,
    value: String,
}

impl Setting {
    fn is_of_repository(&self) -> bool {
        !matches!(&*self.scope, "system" | "global" | "command")
    }
}

#[derive(Debug, PartialEq, Eq)]
struct ConfigLocation {
    root: PathBuf,
    git_dir: PathBuf,
}

impl ConfigLocation {
    /// Finds the repository of a directory as git does: by `.git`, in the directory or above it.
    fn of(cwd: &Path) -> Option<Self> {
        let cwd = cwd.canonicalize().ok()?;
        let root = cwd.ancestors().find(|path| path.join(".git").exists())?;
        let entry = root.join(".git");
        let git_dir = if entry.is_dir() {
            entry
        } else {
            let text = fs::read_to_string(&entry).ok()?;
            root.join(text.strip_prefix("gitdir:")?.trim())
        };
        Some(Self {
            root: root.to_path_buf(),
            git_dir,
        })
    }

    /// Returns the directory that all work trees of the repository share.
    fn common_dir(&self) -> PathBuf {
        match fs::read_to_string(self.git_dir.join("commondir")) {
            Ok(path) => self.git_dir.join(path.trim()),
            Err(_) => self.git_dir.clone(),
        }
    }
}

impl Configuration {
    /// Reads the configuration. Fails if git cannot read it.
    pub(super) fn read(
        time: Duration,
        cwd: &Path,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self, Failure> {
        let list = ["config", "--list", "--show-scope", "--includes", "-z"];
        let output = git(time, &list, cwd, monitor)?;
        if output.code != 0 {
            return Err(output.failure());
        }
        if output.is_cut {
            let reason = "the configuration of the repository is too long to be checked";
            return Err((CheckError::TooMuchOutput, reason.to_owned()));
        }
        Ok(Self {
            settings: parse(&output.text),
            location: ConfigLocation::of(cwd),
        })
    }

    /// Returns the programs that an operation runs.
    fn settings_that_run(&self, operation: GitOperation) -> Vec<ConfigCommand> {
        let settings = self.settings.iter();
        settings
            .filter(|setting| setting.is_of_repository() && self.is_run(operation, setting))
            .map(|setting| ConfigCommand::new(&setting.key, &*setting.value))
            .collect()
    }

    /// Returns the settings of any scope that hide changes, and the lists of ignored files that are not committed.
    pub(super) fn settings_that_hide(&self) -> Vec<ConfigCommand> {
        let Some(location) = &self.location else {
            return Vec::new();
        };
        let common_dir = location.common_dir();
        let mut hiding: Vec<ConfigCommand> = HIDING
            .iter()
            .filter(|(key, harmful, is_needed)| {
                let value = self.last(key, |_| true);
                let is_true = value.is_some_and(is_true);
                value.is_some() && is_true == (*harmful == "true") && !is_needed(&common_dir)
            })
            .map(|(key, harmful, _)| ConfigCommand::new(key, *harmful))
            .collect();
        for (key, path) in [
            (EXCLUDE, Some(common_dir.join("info/exclude"))),
            (EXCLUDES_FILE, self.repository_ignores()),
        ] {
            let patterns = path.map(|path| patterns(&path)).unwrap_or_default();
            if !patterns.is_empty() {
                hiding.push(ConfigCommand::new(key, patterns.join(", ")));
            }
        }
        hiding
    }

    /// Returns the file of ignored files that a setting of the repository names.
    pub(super) fn repository_ignores(&self) -> Option<PathBuf> {
        let value = self.last(EXCLUDES_FILE, Setting::is_of_repository)?;
        let root = &self.location.as_ref()?.root;
        Some(root.join(in_home(value)))
    }

    /// Returns the file of ignored files of the repository itself.
    pub(super) fn exclude_file(&self) -> Option<PathBuf> {
        Some(self.location.as_ref()?.common_dir().join("info/exclude"))
    }

    /// Returns the user's own file of ignored files.
    pub(super) fn user_ignores(&self) -> Option<PathBuf> {
        if let Some(value) = self.last(EXCLUDES_FILE, |setting| !setting.is_of_repository()) {
            return Some(in_home(value));
        }
        let configured = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty());
        let directory = configured.map(PathBuf::from);
        let directory = directory.or_else(|| Some(home_dir()?.join(".config")))?;
        Some(directory.join("git/ignore"))
    }

    /// Returns a hash of the user's own ignored files; empty if there are none.
    pub(super) fn user_ignores_hash(&self) -> String {
        let patterns = self.user_ignores().map(|path| patterns(&path));
        match patterns {
            Some(patterns) if !patterns.is_empty() => {
                format!("{:x}", Sha256::digest(patterns.join("\n")))
            }
            Some(_) | None => String::new(),
        }
    }

    /// Returns `true` if only a part of the files is checked out.
    pub(super) fn is_sparse(&self) -> bool {
        self.last("core.sparsecheckout", |_| true)
            .is_some_and(is_true)
    }

    /// Returns the directory with `.git`.
    pub(super) fn root(&self) -> Option<&Path> {
        Some(&self.location.as_ref()?.root)
    }

    /// Returns the value of a setting that is in force, among those of some scopes.
    fn last(&self, key: &str, fits: impl Fn(&Setting) -> bool) -> Option<&str> {
        let mut found = self.settings.iter().rev();
        let found = found.find(|setting| setting.key == key && fits(setting))?;
        Some(&found.value)
    }

    /// Returns `true` if git runs the setting in an operation. Git writes the first and the last part of a name in lower case.
    fn is_run(&self, operation: GitOperation, setting: &Setting) -> bool {
        // A name without a section is not one of these.
        let (section, rest) = setting.key.split_once('.').unwrap_or_default();
        let last = rest.rsplit('.').next().unwrap_or_default();
        let restores = operation == GitOperation::Restore;
        let is_program = match section {
            "filter" => matches!(last, "clean" | "smudge" | "process"),
            "merge" => restores && rest.contains('.') && last == "driver",
            // Not a program, but it determines which files are compared and overwritten.
            "core" => rest == "worktree" && !self.is_usual_work_tree(&setting.value),
            _ => false,
        };
        is_program && !setting.value.is_empty()
    }

    /// Returns `true` for the directory in which `.git` is. Git writes such a setting for submodules.
    fn is_usual_work_tree(&self, value: &str) -> bool {
        self.location.as_ref().is_some_and(|location| {
            let named = location.git_dir.join(value).canonicalize();
            named.is_ok_and(|named| named == location.root)
        })
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
                scope: scope.to_owned(),
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

fn in_home(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home_dir().unwrap_or_default().join(rest),
        None => PathBuf::from(path),
    }
}

/// Returns `true` if files have no executable bit that can be set and cleared.
#[cfg(unix)]
fn lacks_modes(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let Ok(file) = tempfile::NamedTempFile::new_in(directory) else {
        return false;
    };
    ![0o755, 0o644].iter().all(|&mode| {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).is_ok()
            && file
                .path()
                .metadata()
                .is_ok_and(|metadata| metadata.permissions().mode() & 0o111 == mode & 0o111)
    })
}

#[cfg(unix)]
fn lacks_links(directory: &Path) -> bool {
    let Ok(directory) = tempfile::tempdir_in(directory) else {
        return false;
    };
    std::os::unix::fs::symlink("x", directory.path().join("link")).is_err()
}

#[cfg(not(unix))]
fn lacks_modes(_directory: &Path) -> bool {
    true
}

#[cfg(not(unix))]
fn lacks_links(_directory: &Path) -> bool {
    true
}

fn ignores_case(directory: &Path) -> bool {
    let Ok(directory) = tempfile::tempdir_in(directory) else {
        return false;
    };
    let written = fs::write(directory.path().join("case"), "");
    written.is_ok() && directory.path().join("CASE").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(operation: GitOperation, listed: &str) -> Vec<String> {
        let configuration = Configuration {
            settings: parse(listed),
            location: None,
        };
        let settings = configuration.settings_that_run(operation);
        settings.into_iter().map(|setting| setting.key).collect()
    }

    #[test]
    fn only_programs_of_the_repository_configuration_count() {
        let listed = "global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.a.b.clean\na\nb\0worktree\0filter.x.process\np\0local\0filter.x.required\ntrue\0local\0merge.ours.driver\ntrue\0local\0merge.ff\nonly\0local\0core.worktree\n/home\0local\0filter.off.smudge\n\0local\0core.bare\0";
        assert_eq!(
            keys(GitOperation::Compare, listed),
            ["filter.a.b.clean", "filter.x.process", "core.worktree"]
        );
        assert_eq!(
            keys(GitOperation::Restore, listed),
            [
                "filter.a.b.clean",
                "filter.x.process",
                "merge.ours.driver",
                "core.worktree"
            ]
        );
    }

    #[test]
    fn the_work_tree_around_the_repository_is_the_usual_one() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let sub = root.join("sub/deeper");
        fs::create_dir_all(&sub).unwrap();
        fs::create_dir_all(root.join(".git/modules/sub")).unwrap();
        fs::write(root.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        let is_usual = |cwd: &Path, value: &str| {
            let configuration = Configuration {
                settings: Vec::new(),
                location: ConfigLocation::of(cwd),
            };
            configuration.is_usual_work_tree(value)
        };
        assert!(is_usual(&sub, "../../../sub"));
        assert!(!is_usual(&sub, "../../.."));
        assert!(is_usual(&root, ".."));
        assert!(!is_usual(&root, "../.."));
        assert!(!is_usual(&root, "../sub"));
    }
}
