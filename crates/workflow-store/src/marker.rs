//! The markers of active runs: a file for each project that exists while a run is active in one of its sessions.
//!
//! They answer the question whether to fail closed where the store cannot: in the installed command, when the program is
//! missing, and here, when the database cannot be read. The file is below [`MARKERS`], in a directory for each part of the
//! project's real path, so that a shell finds it with the path alone, whatever characters that has.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The directory of the markers, in the directory of the store.
pub const MARKERS: &str = "running";
/// The name of a marker.
pub const MARKER: &str = ".active";
/// The marker of all projects, which counts where the directory of a call is not known.
pub const OF_ALL: &str = "active";
/// The project whose marker counts in every directory.
const EVERYWHERE: &str = "/";

/// Returns true if a run may be active in a directory or in one around it. One that cannot be read counts as active.
pub fn has_active_runs(directory: &Path, cwd: &Path) -> bool {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf());
    let mut around = real.ancestors();
    around.any(|project| marker(directory, project).try_exists().unwrap_or(true))
        || is_marked(directory, Path::new(EVERYWHERE))
}

/// Returns true if a project has a marker.
pub(crate) fn is_marked(directory: &Path, project: &Path) -> bool {
    marker_of(directory, project).try_exists().unwrap_or(true)
}

/// Creates the marker of a project, or the one that counts everywhere if that fails.
pub(crate) fn mark(directory: &Path, project: &Path) -> io::Result<()> {
    create(&directory.join(OF_ALL))?;
    create(&marker_of(directory, project)).or_else(|_| mark_everywhere(directory))
}

/// Creates the marker that counts in every directory.
pub(crate) fn mark_everywhere(directory: &Path) -> io::Result<()> {
    create(&marker(directory, Path::new(EVERYWHERE)))
}

fn create(marker: &Path) -> io::Result<()> {
    fs::create_dir_all(marker.with_file_name(""))?;
    let mut options = OpenOptions::new();
    options.create(true).append(true).open(marker).map(drop)
}

/// Removes all markers but those of these projects. That of everywhere stays as long as there is one.
pub(crate) fn keep(directory: &Path, projects: &[PathBuf]) -> io::Result<()> {
    let kept = projects.iter().map(|it| marker_of(directory, it));
    let mut kept: Vec<PathBuf> = kept.collect();
    if kept.is_empty() {
        remove(&directory.join(OF_ALL))?;
    } else {
        kept.push(marker(directory, Path::new(EVERYWHERE)));
    }
    remove_others(&directory.join(MARKERS), &kept)
}

fn remove_others(directory: &Path, kept: &[PathBuf]) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            remove(&path)?;
        }
    }
    // One with a marker below it stays.
    let _ = fs::remove_dir(directory);
    Ok(())
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The marker of a project, by its real path; that of everywhere if the stored path may be another one than the shell's.
fn marker_of(directory: &Path, project: &Path) -> PathBuf {
    let is_exact = cfg!(unix)
        && project
            .to_str()
            .is_some_and(|it| !it.contains(char::REPLACEMENT_CHARACTER));
    if !is_exact {
        return marker(directory, Path::new(EVERYWHERE));
    }
    let real = project.canonicalize();
    marker(directory, &real.unwrap_or_else(|_| project.to_path_buf()))
}

fn marker(directory: &Path, real: &Path) -> PathBuf {
    let parts = real.components();
    let parts = parts.filter(|part| matches!(part, Component::Normal(_)));
    directory
        .join(MARKERS)
        .join(parts.collect::<PathBuf>())
        .join(MARKER)
}
