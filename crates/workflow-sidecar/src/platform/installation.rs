//! What `install` has written: the programs that hosts start, and the files that name them.
//!
//! It is noted beside the store, so that other hosts and `doctor` notice if one of them changes.

use std::fs;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use workflow_store::create_private_dir;

use super::on_path;
use crate::files::{STATE_DIRECTORY, home_dir, json, text, write_atomically};

/// The name of the program, and of the package with everything else.
const NAME: &str = "workflow-sidecar";
/// The file with all installations.
const FILE: &str = "installed.json";
/// The size of a program that is hashed. One that is shipped is smaller.
const MAX_HASHED: u64 = 64 << 20;

/// An installation for a host, for a project or for all of the user.
#[derive(Debug, Serialize, Deserialize)]
struct Installation {
    host: String,
    project: Option<PathBuf>,
    /// The file that names the program, and the number of its commands.
    file: PathBuf,
    commands: usize,
    program: PathBuf,
    stamp: Stamp,
    /// Empty for a long program.
    sha256: String,
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

fn hash(program: &Path, (size, ..): &Stamp) -> Option<String> {
    let content = (*size <= MAX_HASHED).then(|| fs::read(program).ok())??;
    Some(format!("{:x}", Sha256::digest(content)))
}

fn commands(host: &str, file: &Path) -> usize {
    let text = text(file).ok().flatten().unwrap_or_default();
    text.matches(&format!("hook {host}")).count()
}

fn installations(home: &Path) -> Vec<Installation> {
    let noted = json(&home.join(STATE_DIRECTORY).join(FILE));
    let noted = noted.and_then(|noted| serde_json::from_value(noted).ok());
    noted.unwrap_or_default()
}

/// Notes the file and the program of the installation for a host and a project; `None` if there is none any more.
pub(crate) fn note_installation(
    home: &Path,
    host: &str,
    project: Option<&Path>,
    installed: Option<(PathBuf, PathBuf)>,
) -> anyhow::Result<()> {
    let mut all = installations(home);
    if all.is_empty() && installed.is_none() {
        return Ok(());
    }
    all.retain(|other| other.host != host || other.project.as_deref() != project);
    if let Some((file, program)) = installed {
        let stamp = stamp(&program).with_context(|| program.display().to_string())?;
        all.push(Installation {
            host: host.to_owned(),
            project: project.map(Path::to_path_buf),
            commands: commands(host, &file),
            sha256: hash(&program, &stamp).unwrap_or_default(),
            file,
            program,
            stamp,
        });
    }
    let (directory, text) = (home.join(STATE_DIRECTORY), serde_json::to_string(&all)?);
    create_private_dir(&directory)?;
    Ok(write_atomically(&directory.join(FILE), &text)?)
}

/// What has changed since the installations of a user, each with how to undo or accept it.
pub(crate) fn changes_since_installation(home: &Path) -> Vec<(String, String)> {
    installations(home).iter().filter_map(change).collect()
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
    let Installation { host, project, file, program, .. } = installed;
    // A project that is gone needs no hooks.
    if project.as_ref().is_some_and(|it| !it.is_dir()) {
        return None;
    }
    let option = project.as_ref().map_or("", |_| " --project");
    let again = format!("workflow-sidecar install {host}{option}");
    if !file.is_file() || commands(host, file) < installed.commands {
        let gone = format!("workflow-sidecar uninstall {host}{option}");
        let text = format!("the hooks of {host} were removed from {}", file.display());
        return Some((text, format!("{again}; if you removed them: {gone}")));
    }
    let is_same = |now: Stamp| {
        now == installed.stamp || hash(program, &now).is_some_and(|now| now == installed.sha256)
    };
    if stamp(program).is_ok_and(is_same) {
        return None;
    }
    let program = program.display();
    let text = format!("{program}, which {host} starts, is not the program that was installed");
    Some((text, format!("if you updated it: {again}")))
}

/// The files and directories without which hosts have no rules: the program by all its names, its packages, what was
/// installed, and the store.
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
    let installed = installations(&home).into_iter();
    files.extend(installed.flat_map(|installed| [installed.program, installed.file]));
    files.sort();
    files.dedup();
    files
}
