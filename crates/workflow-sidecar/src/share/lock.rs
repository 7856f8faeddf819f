//! The lock file beside copied workflows: where each file is from, and its digest.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity};

use super::source::Source;
use crate::files::{FileState, hash, text};
use crate::init::WORKFLOWS;

/// Its name in the workflows directory.
pub(super) const LOCK: &str = "workflows.lock";

/// Bytes of a file of a source that is compared.
const LIMIT: u32 = 16 << 20;

/// The content of a lock file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lock {
    /// By their paths in the workflows directory.
    pub(super) files: BTreeMap<String, Locked>,
}

/// A file that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Locked {
    pub(super) source: String,
    /// The commit, if the source is a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
    /// Of its content, in hexadecimal.
    pub(super) sha256: String,
}

impl Lock {
    /// Reads the lock file of a project; an empty one if there is none.
    pub(super) fn read(project: &Path) -> anyhow::Result<Self> {
        let path = project.join(WORKFLOWS).join(LOCK);
        let shown = || format!("{WORKFLOWS}/{LOCK} cannot be read");
        let found = text(&path).with_context(shown)?;
        let lock = found.map(|text| serde_json::from_str(&text)).transpose();
        let mut lock: Self = lock.with_context(shown)?.unwrap_or_default();
        lock.files.retain(|path, _| is_plain(path));
        Ok(lock)
    }
}

/// Returns true for a path in the workflows directory that means the same file everywhere, and may be copied.
pub(super) fn is_plain(path: &str) -> bool {
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.eq_ignore_ascii_case(".git")
            && !part.contains(|c: char| c.is_control() || matches!(c, '\\' | ':' | '\u{fffd}'))
    };
    path.split('/').all(is_part) && !path.eq_ignore_ascii_case(LOCK)
}

/// Returns true if a directory has another version of a file that was copied from it. Nothing is fetched.
fn differs_there(project: &Path, path: &str, locked: &Locked) -> bool {
    let directory = project.join(&locked.source);
    let is_here = locked.commit.is_none() && directory.is_dir();
    let source = is_here.then(|| Source::open(&directory.to_string_lossy()).ok());
    let there = source
        .flatten()
        .and_then(|source| source.read(path, LIMIT).ok());
    there.is_some_and(|bytes| hash(bytes) != locked.sha256)
}

/// Finds what differs from a project's lock file; `read` are the files that the loader has read, `shown` makes their displayed
/// paths.
pub(crate) fn drift(
    project: &Path,
    read: &HashSet<PathBuf>,
    shown: impl Fn(&Path) -> PathBuf,
) -> Vec<Diagnostic> {
    let workflows = project.join(WORKFLOWS);
    let found = |path: &str, message: String, help: String| {
        let file = shown(&workflows.join(path)).to_string_lossy().into_owned();
        let found = Diagnostic::new(Code::LockedFile, Severity::Warning, message);
        found.at(Location::file(&file)).with_help(help)
    };
    let lock = match Lock::read(project) {
        Ok(lock) => lock,
        Err(error) => {
            let help = "delete it, and copy the workflows again".to_owned();
            return vec![found(LOCK, format!("{error:#}"), help)];
        }
    };
    let is_definition = |name: &&str| matches!(*name, "workflow.yaml" | "workflow.json5");
    let keys = lock.files.keys().filter_map(|path| path.split_once('/'));
    let keys = keys.filter(|(_, name)| is_definition(name));
    let keys: BTreeSet<&str> = keys.map(|(key, _)| key).collect();
    let mut all = Vec::new();
    for (path, locked) in &lock.files {
        let at = |before: &str| {
            let commit = locked.commit.as_ref();
            commit.map_or_else(String::new, |commit| format!("{before}{commit:.12}"))
        };
        let from = format!("{}{}", locked.source, at(" at "));
        let key = path.split_once('/').map(|(key, _)| key);
        let key = key.filter(|key| keys.contains(key)).unwrap_or_default();
        let copy = |option| {
            format!("`init --from {}{}{option} {key}", locked.source, at("@"))
                .trim_end()
                .to_owned()
        };
        let (differs, help) = match FileState::of(&workflows.join(path), None) {
            Ok(FileState::Content(digest)) if digest == locked.sha256 => {
                if !differs_there(project, path, locked) {
                    continue;
                }
                let differs =
                    format!("this file differs from that of {from}, which was changed since");
                (differs, copy("") + "` copies it")
            }
            Ok(FileState::Absent) => (
                format!("this file, which was copied from {from}, is missing"),
                copy("") + "` copies it again",
            ),
            _ => (
                format!("this file was changed here since it was copied from {from}"),
                copy(" --force") + "` replaces it",
            ),
        };
        all.push(found(path, differs, help));
    }
    let paths = read.iter().filter(|path| path.is_file());
    let paths = paths.filter_map(|path| path.strip_prefix(&workflows).ok()?.to_str());
    let is_own = |path: &&str| {
        let key = path.split_once('/');
        let of_copied = key.is_some_and(|(key, _)| keys.contains(key));
        of_copied && !lock.files.contains_key(*path)
    };
    let own: BTreeSet<&str> = paths.filter(is_own).collect();
    let message = format!("this file of a copied workflow is not in {LOCK}");
    let own = own.into_iter();
    all.extend(own.map(|path| found(path, message.clone(), Code::LockedFile.help().to_owned())));
    all
}
