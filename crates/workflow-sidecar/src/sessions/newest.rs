//! The newest session of pi in a project.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;

use super::file::{SessionFile, read_file};
use crate::files::{expanded_home, json};
use crate::platform::disk::HOST_DIRECTORY;

/// The environment variable with pi's directory for sessions.
const VARIABLE: &str = "PI_CODING_AGENT_SESSION_DIR";
/// The setting of pi with that directory.
const SETTING: &str = "sessionDir";

/// Finds the newest session of pi in a project.
pub(super) fn newest_session(project: &Path, agent_dir: &Path) -> anyhow::Result<PathBuf> {
    let project = project
        .canonicalize()
        .with_context(|| format!("{} cannot be read", project.display()))?;
    let directory = session_directory(&project, agent_dir);
    let mut sessions = files(&directory);
    sessions.sort_by(|a, b| b.cmp(a));
    let mut newest = sessions.into_iter().map(|(_, path)| path);
    newest.find(|path| is_of(path, &project)).with_context(|| {
        format!(
            "no run in {}: pi has no session of it in {}, and no other host has a run there. `workflow-sidecar runs` lists the runs of all projects",
            project.display(),
            directory.display()
        )
    })
}

/// The session files of a directory, each with the time of its last change. One that cannot be read has none.
fn files(directory: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let path = entry.path();
        path.extension().filter(|extension| *extension == "jsonl")?;
        Some((entry.metadata().ok()?.modified().ok()?, path))
    });
    found.collect()
}

/// Returns true if a session file is one of the project: a directory may have those of several.
fn is_of(path: &Path, project: &Path) -> bool {
    let bytes = match read_file(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::debug!("{error:#}");
            return false;
        }
    };
    let first = bytes.split(|byte| *byte == b'\n').next();
    let cwd = SessionFile::parse(first.unwrap_or_default()).cwd;
    cwd.is_none_or(|cwd| {
        let cwd = Path::new(&*cwd);
        cwd == project || cwd.canonicalize().is_ok_and(|real| real == project)
    })
}

/// pi's directory for the sessions of a project: that of the environment, of pi's settings, or the usual one.
fn session_directory(project: &Path, agent_dir: &Path) -> PathBuf {
    let variable = env::var(VARIABLE).ok().filter(|path| !path.is_empty());
    let named = variable
        .or_else(|| setting(&project.join(HOST_DIRECTORY)))
        .or_else(|| setting(agent_dir));
    match named {
        Some(named) => project.join(expanded_home(&named)),
        None => agent_dir.join("sessions").join(usual_name(project)),
    }
}

/// The directory that pi's settings name. Settings that cannot be read name none: pi reports them itself.
fn setting(directory: &Path) -> Option<String> {
    let settings = json(&directory.join("settings.json"))?;
    let named = settings[SETTING].as_str()?;
    (!named.is_empty()).then(|| named.to_owned())
}

/// The name of pi's usual directory for the sessions of a project.
fn usual_name(project: &Path) -> String {
    let project = project.to_string_lossy();
    let project = project.strip_prefix(['/', '\\']).unwrap_or(&project);
    format!("--{}--", project.replace(['/', '\\', ':'], "-"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    fn write(path: &Path, cwd: &Path, age: u64) {
        let header = serde_json::json!({ "type": "session", "version": 3, "cwd": cwd });
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{header}\n")).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        let modified = SystemTime::now() - Duration::from_secs(age);
        file.set_modified(modified).unwrap();
    }

    #[test]
    fn the_newest_session_of_the_project_is_found() {
        let agent = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let real = project.path().canonicalize().unwrap();
        assert!(newest_session(&real, agent.path()).is_err());
        let usual = agent.path().join("sessions").join(usual_name(&real));
        write(&usual.join("old.jsonl"), &real, 60);
        write(&usual.join("new.jsonl"), &real, 30);
        // Another project can have the same directory.
        write(&usual.join("other.jsonl"), Path::new("/elsewhere"), 0);
        let found = newest_session(&real, agent.path()).unwrap();
        assert_eq!(found, usual.join("new.jsonl"));
    }

    #[test]
    fn a_directory_of_the_settings_counts_and_the_one_of_the_project_first() {
        let agent = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let real = project.path().canonicalize().unwrap();
        let own = agent.path().join("all");
        let settings = serde_json::json!({ "sessionDir": own }).to_string();
        fs::write(agent.path().join("settings.json"), settings).unwrap();
        write(&own.join("a.jsonl"), &real, 0);
        let found = newest_session(&real, agent.path()).unwrap();
        assert_eq!(found, own.join("a.jsonl"));
        let settings = r#"{"sessionDir": "kept"}"#;
        fs::create_dir(real.join(HOST_DIRECTORY)).unwrap();
        fs::write(real.join(HOST_DIRECTORY).join("settings.json"), settings).unwrap();
        write(&real.join("kept/b.jsonl"), &real, 60);
        let found = newest_session(&real, agent.path()).unwrap();
        assert_eq!(found, real.join("kept/b.jsonl"));
    }
}
