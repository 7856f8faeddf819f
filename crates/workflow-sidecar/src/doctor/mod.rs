//! Looks whether everything that a workflow needs is there, and fits together.
//!
//! Owns the order of what is looked at and how bad it is. Other programs are asked for their version, with a
//! time limit; nothing is changed.

mod child;
mod pi;

use std::env;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use workflow_core::definition::{FilePath, Files, Loaded, Outcome, SETTINGS_FILE, Tier, load};
use workflow_core::diagnostic::{Severity, shown};
use workflow_protocol::PROTOCOL_VERSION;

use crate::platform::disk::Disk;
use child::{Asked, ask};

/// How long another program may take to tell its version: a cold start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The versions of other programs that are known to do.
const OLDEST_PI: Version = (0, 74);
const OLDEST_NODE: Version = (20, 0);

type Version = (u32, u32);

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// Something may be missed.
    Warn,
    /// Something is wrong.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Check {
    /// What it is.
    pub(crate) subject: &'static str,
    pub(crate) status: Status,
    /// How it was found.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) cure: Option<String>,
}

impl Check {
    fn new(subject: &'static str, status: Status, text: String) -> Self {
        Self {
            subject,
            status,
            text,
            cure: None,
        }
    }

    fn ok(subject: &'static str, text: impl Into<String>) -> Self {
        Self::new(subject, Status::Ok, text.into())
    }

    fn warn(subject: &'static str, text: impl Into<String>) -> Self {
        Self::new(subject, Status::Warn, text.into())
    }

    fn fail(subject: &'static str, text: impl Into<String>) -> Self {
        Self::new(subject, Status::Fail, text.into())
    }

    fn cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }
}

/// Looks at everything.
pub(crate) fn examine(agent_dir: &Path, project: &Path) -> Vec<Check> {
    // They take a second: asked while the files are read.
    let others = ["pi", "node"].map(|name| thread::spawn(move || ask(name, PATIENCE, is_version)));
    let disk = Disk::new(agent_dir.to_path_buf(), project.to_path_buf());
    let loaded = load(&disk);
    let mut checks = vec![
        binary(),
        own_directory(agent_dir),
        settings(&disk, &loaded),
        definitions(&loaded),
    ];
    let [pi, node] = others.map(|asked| asked.join().unwrap_or(Asked::Missing));
    let has_pi = !matches!(pi, Asked::Missing);
    checks.push(host(&pi));
    checks.push(runtime(&node, has_pi));
    checks.push(pi::extension(agent_dir, project, has_pi));
    checks.extend(pi::rival(agent_dir, project));
    checks
}

fn binary() -> Check {
    let place = env::current_exe().map_or_else(
        |error| format!("at a place that cannot be told: {error}"),
        |path| path.display().to_string(),
    );
    Check::ok(
        "binary",
        format!(
            "workflow-sidecar {}, protocol {PROTOCOL_VERSION}, {} {}: {place}",
            env!("CARGO_PKG_VERSION"),
            env::consts::OS,
            env::consts::ARCH,
        ),
    )
}

fn own_directory(agent_dir: &Path) -> Check {
    const SUBJECT: &str = "own directory";
    let shown = agent_dir.display();
    match agent_dir.read_dir() {
        Ok(_) => Check::ok(SUBJECT, shown.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Check::warn(
            SUBJECT,
            format!("{shown} does not exist: you have no workflows of your own"),
        )
        .cure("pi makes it when it starts; another host may have another: --agent-dir or PI_CODING_AGENT_DIR names it"),
        Err(error) => Check::fail(SUBJECT, format!("{shown} cannot be read: {error}"))
            .cure("make it a directory that you may read"),
    }
}

/// Which settings files there are. What is wrong in them is counted with the definitions.
fn settings(disk: &Disk, loaded: &Loaded) -> Check {
    let limit = loaded.settings.limits.max_file_bytes;
    let there = [Tier::Global, Tier::Project].map(FilePath::settings);
    let files: Vec<String> = there
        .iter()
        .filter(|path| disk.read(path, limit).is_ok())
        .map(|path| disk.shown(path))
        .collect();
    let text = if files.is_empty() {
        format!("no {SETTINGS_FILE}: the defaults hold")
    } else {
        files.join(", ")
    };
    Check::ok("settings", text)
}

fn definitions(loaded: &Loaded) -> Check {
    const SUBJECT: &str = "definitions";
    let running = loaded.index.iter();
    let running = running.filter(|listing| listing.outcome == Outcome::Loaded);
    let number = |severity| {
        let found = loaded.diagnostics.iter();
        found.filter(|found| found.severity == severity).count()
    };
    let (running, errors, warnings) = (
        running.count(),
        number(Severity::Error),
        number(Severity::Warning),
    );
    let plural = |number| if number == 1 { "" } else { "s" };
    let found = format!(
        "{running} workflow{} can run, {errors} error{}, {warnings} warning{}",
        plural(running),
        plural(errors),
        plural(warnings)
    );
    let cure = "workflow-sidecar check";
    match (running, errors, warnings) {
        (_, 1.., _) => Check::fail(SUBJECT, found).cure(cure),
        (_, 0, 1..) => Check::warn(SUBJECT, found).cure(cure),
        (0, 0, 0) => Check::warn(SUBJECT, "there are none").cure("workflow-sidecar init"),
        (1.., 0, 0) => Check::ok(SUBJECT, found),
    }
}

fn host(pi: &Asked) -> Check {
    const SUBJECT: &str = "pi";
    match version_of(pi) {
        Err(Problem::Missing) => Check::warn(SUBJECT, "not on the PATH")
            .cure("npm install -g @earendil-works/pi-coding-agent. Other hosts spawn `workflow-sidecar serve`"),
        Err(Problem::Silent(text)) => Check::fail(SUBJECT, text).cure("run `pi --version`, and cure what it says"),
        Ok((path, text, version)) if version < OLDEST_PI => {
            Check::fail(SUBJECT, format!("{text} is too old: {}", path.display()))
                .cure("npm install -g @earendil-works/pi-coding-agent")
        }
        Ok((path, text, _)) => Check::ok(SUBJECT, format!("{text}: {}", path.display())),
    }
}

/// pi runs on node; nothing else here does.
fn runtime(node: &Asked, has_pi: bool) -> Check {
    const SUBJECT: &str = "node";
    match version_of(node) {
        Err(Problem::Missing) if !has_pi => {
            Check::ok(SUBJECT, "not on the PATH, and only pi needs it")
        }
        Err(Problem::Missing) => Check::fail(SUBJECT, "not on the PATH, and pi needs it")
            .cure("install node 20 or later"),
        Err(Problem::Silent(text)) => {
            Check::fail(SUBJECT, text).cure("run `node --version`, and cure what it says")
        }
        Ok((path, text, version)) if version < OLDEST_NODE => {
            Check::fail(SUBJECT, format!("{text} is too old: {}", path.display()))
                .cure("install node 20 or later")
        }
        Ok((path, text, _)) => Check::ok(SUBJECT, format!("{text}: {}", path.display())),
    }
}

/// Why a version is not known.
enum Problem {
    Missing,
    Silent(String),
}

fn version_of(asked: &Asked) -> Result<(&PathBuf, String, Version), Problem> {
    match asked {
        Asked::Missing => Err(Problem::Missing),
        Asked::Slow { path } => Err(Problem::Silent(format!(
            "does not tell its version within {} seconds: {}",
            PATIENCE.as_secs(),
            path.display()
        ))),
        Asked::Answered { path, line } => match parsed(line) {
            Some(version) => Ok((path, shown(line), version)),
            None => Err(Problem::Silent(format!(
                "does not tell its version: {}",
                path.display()
            ))),
        },
    }
}

fn is_version(line: &str) -> bool {
    parsed(line).is_some()
}

/// `v20.1.3` as 20 and 1.
fn parsed(line: &str) -> Option<Version> {
    let mut parts = line.trim().trim_start_matches('v').split('.');
    let mut number = || parts.next()?.parse().ok();
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_with_and_without_its_letter() {
        assert_eq!(parsed("v20.20.2\n"), Some((20, 20)));
        assert_eq!(parsed("0.74.2"), Some((0, 74)));
        assert_eq!(parsed("Usage: pi"), None);
    }

    #[test]
    fn a_host_that_is_too_old_or_says_nothing_is_wrong() {
        let answered = |line: &str| Asked::Answered {
            path: "/bin/pi".into(),
            line: line.into(),
        };
        assert_eq!(host(&answered("0.73.1")).status, Status::Fail);
        assert_eq!(host(&answered("0.74.0")).status, Status::Ok);
        assert_eq!(host(&answered("1.5.2")).status, Status::Ok);
        assert_eq!(host(&answered("")).status, Status::Fail);
        let slow = Asked::Slow {
            path: "/bin/pi".into(),
        };
        assert_eq!(host(&slow).status, Status::Fail);
        assert_eq!(host(&Asked::Missing).status, Status::Warn);
    }
}
