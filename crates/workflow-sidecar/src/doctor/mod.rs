//! Checks of the installation: binary, host, directories, settings and definitions.
//!
//! Other programs are run for their version, with a timeout, and Codex for what it thinks of our hooks; no configuration is
//! changed.

mod hooks;
mod opencode;
mod pi;
mod result;

use std::env;
use std::path::Path;
use std::thread;

use workflow_core::definition::{
    FilePath, Files, LoadOutcome, Loaded, SETTINGS_FILE, Tier, load_located,
};
use workflow_core::diagnostic::{Severity, shown};
use workflow_protocol::PROTOCOL_VERSION;

use self::result::CheckSubject;
use crate::check::{merged, missing};
use crate::files::home_dir;
use crate::measured::numbers;
use crate::platform::answers::trust_store::TrustStore;
use crate::platform::disk::Disk;
use crate::platform::installation::changes_since_installation;
use crate::platform::{ProgramVersion, VERSION_TIMEOUT, version_in};
use crate::present::{Requirements, count};

pub(crate) use self::result::{CheckStatus, InstallationCheck};

/// The oldest supported versions.
const OLDEST_PI: [u64; 2] = [0, 74];
const OLDEST_NODE: [u64; 2] = [20, 0];

const USER_DIRECTORY: &str = "user directory";
const HOST: &str = "pi";

/// Runs all checks.
pub(crate) fn examine(disk: &Disk, agent_dir: &Path, project: &Path) -> Vec<InstallationCheck> {
    // They take up to a second, so they run while the files are read.
    let versions = ["pi", "node"].map(|name| thread::spawn(move || ProgramVersion::of(name)));
    let loaded = load_located(disk);
    let mut checks = vec![
        binary(),
        user_directory(agent_dir),
        settings(disk, &loaded),
        definitions(&loaded),
    ];
    checks.extend(gates(&loaded, project));
    checks.extend(trust(&loaded, agent_dir, project));
    let [pi, node] =
        versions.map(|thread| thread.join().expect("asking for a version does not panic"));
    let has_pi = pi.is_some();
    checks.push(host(pi));
    checks.push(runtime(node, has_pi));
    checks.extend(pi::checks(agent_dir, project, has_pi));
    let mut others = hooks::hosts(project);
    others.extend(opencode::plugins(project));
    if !has_pi && !others.is_empty() {
        // Who uses another host needs neither pi nor its directory.
        let is_of_pi = |check: &&mut InstallationCheck| {
            check.status == CheckStatus::Warn && [HOST, USER_DIRECTORY].contains(&check.subject)
        };
        for check in checks.iter_mut().filter(is_of_pi) {
            (check.status, check.help) = (CheckStatus::Ok, None);
        }
    }
    checks.extend(others);
    let changes = changes_since_installation(&home_dir().unwrap_or_default()).into_iter();
    checks.extend(changes.map(|(text, help)| CheckSubject("installation").warn(text, help)));
    checks
}

fn binary() -> InstallationCheck {
    let location = env::current_exe().map_or_else(
        |error| format!("its path cannot be read: {error}"),
        |path| path.display().to_string(),
    );
    CheckSubject("binary").ok(format!(
        "workflow-sidecar {}, protocol {PROTOCOL_VERSION}, {} {}: {location}",
        env!("CARGO_PKG_VERSION"),
        env::consts::OS,
        env::consts::ARCH,
    ))
}

fn user_directory(agent_dir: &Path) -> InstallationCheck {
    const SUBJECT: CheckSubject = CheckSubject(USER_DIRECTORY);
    let shown = agent_dir.display();
    match agent_dir.read_dir() {
        Ok(_) => SUBJECT.ok(shown.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => SUBJECT.warn(format!("{shown} does not exist, so you have no workflows for all projects"),
            "pi creates it when it starts. For another host, set --agent-dir or PI_CODING_AGENT_DIR to its directory",
        ),
        Err(error) => SUBJECT.fail(format!("{shown} cannot be read: {error}"),
            "make it a directory that you can read",
        ),
    }
}

/// Lists the settings files. Their problems are counted with the definitions.
fn settings(disk: &Disk, loaded: &Loaded) -> InstallationCheck {
    let limit = loaded.settings.limits.max_file_bytes;
    let candidates = [Tier::Global, Tier::Project].map(FilePath::settings);
    let files = candidates
        .iter()
        .filter(|path| disk.read(path, limit).is_ok());
    let files: Vec<String> = files.map(|path| disk.shown(path)).collect();
    let text = if files.is_empty() {
        format!("no {SETTINGS_FILE}: the defaults apply")
    } else {
        files.join(", ")
    };
    CheckSubject("settings").ok(text)
}

fn definitions(loaded: &Loaded) -> InstallationCheck {
    const SUBJECT: CheckSubject = CheckSubject("definitions");
    let running = loaded.index.iter();
    let running = running.filter(|listing| listing.outcome == LoadOutcome::Loaded);
    let running = running.count();
    let [errors, warnings] = [Severity::Error, Severity::Warning].map(|severity| {
        let found = loaded.diagnostics.iter();
        found.filter(|found| found.severity == severity).count()
    });
    let found = format!(
        "{} can run, {}, {}",
        count(running, "workflow"),
        count(errors, "error"),
        count(warnings, "warning")
    );
    let help = "workflow-sidecar check";
    match (running, errors, warnings) {
        (_, 1.., _) => SUBJECT.fail(found, help),
        (_, 0, 1..) => SUBJECT.warn(found, help),
        (0, 0, 0) => SUBJECT.warn("no workflows found", "workflow-sidecar init"),
        (1.., 0, 0) => SUBJECT.ok(found),
    }
}

/// Checks that gates and approvals have what they need; `None` if nothing is missing.
fn gates(loaded: &Loaded, project: &Path) -> Option<InstallationCheck> {
    let missing = missing(loaded, project);
    let missing = merged(missing.into_iter());
    let first = missing.first()?;
    let more = match missing.len() {
        1 => String::new(),
        number => format!(" ({} more)", number - 1),
    };
    let text = format!("{}{more}", first.message);
    Some(CheckSubject("gates").fail(text, "workflow-sidecar check"))
}

/// Counts the commands of gates that are not trusted; `None` if all are, or the store cannot say.
fn trust(loaded: &Loaded, agent_dir: &Path, project: &Path) -> Option<InstallationCheck> {
    let store = TrustStore::in_agent_dir(agent_dir).ok()?;
    let requirements = Requirements::of(loaded, &[], project, &store).ok()?;
    let (number, are) = match requirements.untrusted_commands() {
        0 => return None,
        1 => (1, "is"),
        number => (number, "are"),
    };
    let text = format!("{} of gates {are} not trusted", count(number, "command"));
    Some(CheckSubject("trust").warn(text, "workflow-sidecar trust"))
}

fn host(pi: Option<ProgramVersion>) -> InstallationCheck {
    const INSTALL: &str = "npm install -g @earendil-works/pi-coding-agent";
    let help = format!("{INSTALL}. For another host: `workflow-sidecar install --help`");
    let missing = CheckSubject(HOST).warn("not on the PATH", help);
    program(pi, missing, OLDEST_PI, INSTALL)
}

/// Checks node, which only pi needs.
fn runtime(node: Option<ProgramVersion>, has_pi: bool) -> InstallationCheck {
    const INSTALL: &str = "install node 20 or later";
    let missing = if has_pi {
        CheckSubject("node").fail("not on the PATH, and pi needs it", INSTALL)
    } else {
        CheckSubject("node").ok("not on the PATH; only pi needs it")
    };
    program(node, missing, OLDEST_NODE, INSTALL)
}

/// Checks the version of a program. `missing` is the result if it is not installed.
fn program(
    version: Option<ProgramVersion>,
    missing: InstallationCheck,
    oldest: [u64; 2],
    install: &str,
) -> InstallationCheck {
    let Some(ProgramVersion { path, line }) = version else {
        return missing;
    };
    let (subject, path) = (missing.subject, path.display());
    let unknown = |text: String| {
        let help = format!("run `{subject} --version` and fix the problem that it reports");
        CheckSubject(subject).fail(format!("did not report {text}: {path}"), help)
    };
    let Some(line) = line else {
        let seconds = VERSION_TIMEOUT.as_secs();
        return unknown(format!("its version within {seconds} seconds"));
    };
    let version = version_in(&line).map(numbers);
    let line = shown(&line);
    match version {
        None => unknown("a version".to_owned()),
        Some(version) if *version < oldest[..] => {
            let text = format!("{line} is too old: {path}");
            CheckSubject(subject).fail(text, install)
        }
        Some(_) => CheckSubject(subject).ok(format!("{line}: {path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_too_old_or_silent_fails() {
        let status = |line: Option<&str>| {
            let version = ProgramVersion {
                path: "/bin/pi".into(),
                line: line.map(str::to_owned),
            };
            host(Some(version)).status
        };
        assert_eq!(status(Some("0.73.1")), CheckStatus::Fail);
        assert_eq!(status(Some("0.74.0")), CheckStatus::Ok);
        assert_eq!(status(Some("1.5.2")), CheckStatus::Ok);
        assert_eq!(status(Some("")), CheckStatus::Fail);
        assert_eq!(status(None), CheckStatus::Fail);
        assert_eq!(host(None).status, CheckStatus::Warn);
    }
}
