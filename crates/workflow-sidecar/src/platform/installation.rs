//! What `install` has written: the programs that hosts start, and the files that name them.
//!
//! It is noted beside the store, so that other hosts and `doctor` notice if one of them changes.

use std::collections::BTreeMap;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workflow_store::create_private_dir;

use super::answers::notify::notifiers;
use super::{on_path, path_directories};
use crate::files::{STATE_DIRECTORY, absolute, hash, home_dir, text, write_atomically};

/// The name of the program, and of the package with everything else.
const NAME: &str = "workflow-sidecar";
/// The file with all installations.
const FILE: &str = "installed.json";
/// The size of a program that is hashed. One that is shipped is smaller.
const MAX_HASHED: u64 = 64 << 20;

/// What was installed in each file: values with the places of their arrays in its JSON; without a place, the hash of its text.
pub(crate) type InstalledParts = BTreeMap<PathBuf, Vec<(String, Value)>>;

/// The option of an installation in a plugin.
pub(crate) const PLUGIN: &str = "--plugin";

/// How to begin a new file.
const INSTALL_ANEW: &str = "remove it, then run `workflow-sidecar install` for each of your hosts";

/// An installation for a host, for a project or for all of the user.
#[derive(Debug, Serialize, Deserialize)]
struct Installation {
    host: String,
    /// `--plugin` or `--managed`; then the project is its directory.
    #[serde(default)]
    option: String,
    project: Option<PathBuf>,
    parts: InstalledParts,
    program: PathBuf,
    stamp: Stamp,
    /// Empty for a long program.
    sha256: String,
    /// The directories that were made for the files.
    #[serde(default)]
    directories: Vec<PathBuf>,
}

/// What differs if a file was replaced or written: its size, the time of the last change, and its inode.
type Stamp = (u64, SystemTime, u64);

fn stamp(program: &Path) -> io::Result<Stamp> {
    let metadata = fs::metadata(program)?;
    #[cfg(unix)]
    let inode = metadata.ino();
    #[cfg(not(unix))]
    let inode = 0;
    Ok((metadata.len(), metadata.modified()?, inode))
}

fn hash_of_program(program: &Path, (size, ..): &Stamp) -> Option<String> {
    let content = (*size <= MAX_HASHED).then(|| fs::read(program).ok())??;
    Some(hash(&content))
}

fn is_complete(file: &Path, parts: &[(String, Value)]) -> bool {
    let text = text(file).ok().flatten().unwrap_or_default();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    parts.iter().all(|(place, value)| {
        let values = json.pointer(place).and_then(Value::as_array);
        let is_hash = place.is_empty() && *value == hash(text.as_bytes());
        is_hash || values.is_some_and(|values| values.contains(value))
    })
}

/// Reads the installations, or says why not.
fn installations(home: &Path) -> Result<Vec<Installation>, String> {
    let file = home.join(STATE_DIRECTORY).join(FILE);
    let noted = text(&file).and_then(|noted| {
        let noted = noted.map(|noted| serde_json::from_str(&noted));
        Ok(noted.transpose()?.unwrap_or_default())
    });
    let file = file.display();
    noted.map_err(|error| format!("{file}, which says what was installed, cannot be read: {error}"))
}

/// Notes what was installed of a program for a host, with an option, in a project, and the directories that were made for it;
/// `None` if nothing is any more. Returns the directories of all times, each after what is in it.
pub(crate) fn note_installation(
    home: &Path,
    (host, option, project): (&str, &str, Option<&Path>),
    program: &Path,
    parts: Option<InstalledParts>,
    mut directories: Vec<PathBuf>,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = installations(home).map_err(|error| anyhow!("{error}: {INSTALL_ANEW}"))?;
    if all.is_empty() && parts.is_none() {
        return Ok(directories);
    }
    let before = all.extract_if(.., |other| {
        other.host == host && other.option == option && other.project.as_deref() == project
    });
    directories.extend(before.flat_map(|it| it.directories));
    directories.sort_by(|a, b| b.cmp(a));
    directories.dedup();
    if let Some(parts) = parts {
        let stamp = stamp(program).with_context(|| program.display().to_string())?;
        all.push(Installation {
            host: host.to_owned(),
            option: option.to_owned(),
            project: project.map(Path::to_path_buf),
            sha256: hash_of_program(program, &stamp).unwrap_or_default(),
            parts,
            program: program.to_path_buf(),
            stamp,
            directories: directories.clone(),
        });
    }
    let (directory, text) = (home.join(STATE_DIRECTORY), serde_json::to_string(&all)?);
    create_private_dir(&directory)?;
    write_atomically(&directory.join(FILE), &text)?;
    Ok(directories)
}

/// The directories of plugins that were written.
pub(crate) fn noted_plugins(home: &Path, host: &str) -> Vec<PathBuf> {
    let all = installations(home).unwrap_or_default().into_iter();
    let plugins = all.filter(|it| it.host == host && it.option == PLUGIN);
    plugins.filter_map(|it| it.project).collect()
}

/// What has changed since the installations of a user, each with how to undo or accept it.
pub(crate) fn changes_since_installation(home: &Path) -> Vec<(String, String)> {
    match installations(home) {
        Ok(all) => all.iter().filter_map(change).collect(),
        Err(error) => vec![(error, INSTALL_ANEW.to_owned())],
    }
}

/// The same, for the user of a session. It is logged as well.
pub(crate) fn installation_warnings() -> Vec<String> {
    let changes = changes_since_installation(&home_dir().unwrap_or_default());
    let warning = |(text, help)| {
        tracing::warn!("{text} ({help})");
        format!("[workflow] Attention: {text} ({help}).")
    };
    changes.into_iter().map(warning).collect()
}

fn change(installed: &Installation) -> Option<(String, String)> {
    #[rustfmt::skip]
    let Installation { host, project, parts, program, .. } = installed;
    // A project that is gone needs no hooks. A plugin may be moved, and what an administrator writes no user changes.
    if !installed.option.is_empty() || project.as_ref().is_some_and(|it| !it.is_dir()) {
        return None;
    }
    let option = project.as_ref().map_or("", |_| " --project");
    let again = format!("workflow-sidecar install {host}{option}");
    let mut parts = parts.iter();
    if let Some((file, _)) = parts.find(|(file, parts)| !is_complete(file, parts)) {
        let gone = format!("workflow-sidecar uninstall {host}{option}");
        let file = file.display();
        let text = format!("{file} no longer has what was installed for {host}");
        return Some((text, format!("{again}; if you removed it: {gone}")));
    }
    let is_same = |now: Stamp| {
        now == installed.stamp
            || hash_of_program(program, &now).is_some_and(|now| now == installed.sha256)
    };
    if stamp(program).is_ok_and(is_same) {
        return None;
    }
    let program = program.display();
    let text = format!("{program}, which {host} starts, is not the program that was installed");
    Some((text, format!("if you updated it: {again}")))
}

/// The files and directories without which hosts have no rules: the program by all its names, its packages, what was
/// installed, the store, what shows the codes to the user, and where `PATH` would find another one of these programs.
pub(super) fn installed_files(agent_dir: &Path) -> Vec<PathBuf> {
    static PROGRAM: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
        let mut files: Vec<PathBuf> = on_path(NAME).into_iter().collect();
        files.extend(std::env::current_exe());
        for program in files.clone().iter().flat_map(|file| file.canonicalize()) {
            let mut around = program.ancestors();
            let package = around.find(|it| it.with_file_name("").ends_with("node_modules"));
            files.extend(package.map(Path::to_path_buf));
            files.extend(package.map(|package| package.with_file_name(NAME)));
        }
        files
    });
    let home = home_dir().unwrap_or_default();
    let mut files = PROGRAM.clone();
    files.extend([agent_dir.join(NAME), home.join(STATE_DIRECTORY)]);
    let known = notifiers(agent_dir).into_iter();
    let notify = known.flat_map(|it| it.command).map(PathBuf::from);
    let notify: Vec<PathBuf> = notify.filter(|it| it.is_absolute()).collect();
    let program = PathBuf::from(format!("{NAME}{EXE_SUFFIX}"));
    // Directories of the project, such as `node_modules/.bin`, come and go.
    let project = std::env::current_dir().unwrap_or_default();
    for program in notify.iter().chain([&program]) {
        let name = program.file_name().unwrap_or_default();
        let named = path_directories()
            .into_iter()
            .map(|it| absolute(&it).join(name));
        files.extend(named.filter(|file| file.exists() || !file.starts_with(&project)));
    }
    files.extend(notify);
    for installed in installations(&home).unwrap_or_default() {
        files.push(installed.program);
        files.extend(installed.parts.into_keys());
    }
    files.sort();
    files.dedup();
    files
}
