//! Where workflows are copied from: a directory, or a commit of a repository.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure};
use workflow_core::definition::{FilePath, FileProblem, Files, Root, TierEntry};
use workflow_core::diagnostic::visible;

use crate::files::regular_file::ContainedFile;
use crate::platform::disk::{Disk, problem, read_bounded};
use crate::platform::git::{CommittedFile, FetchedCommit};

/// The directories in which a source may have its workflows, the first that is there.
const PLACES: [&str; 3] = [".pi/workflows/", ".agents/workflows/", ""];

/// Where workflows are copied from.
pub(super) struct Source {
    /// As the user named it, without the commit.
    pub(super) name: String,
    /// Where its workflows are in it.
    place: &'static str,
    content: Content,
}

enum Content {
    /// Its real path.
    Directory(PathBuf),
    Commit(FetchedCommit, BTreeMap<String, CommittedFile>),
}

impl Source {
    /// Finds a directory, or fetches a commit.
    pub(super) fn open(named: &str) -> anyhow::Result<Self> {
        let named_shown = visible(named);
        ensure!(
            !named.starts_with('-') && !named.contains(char::is_control),
            "`{named_shown}` is neither a directory nor an address"
        );
        if Path::new(named).is_dir() {
            let root = fs::canonicalize(named)?;
            let mut places = PLACES.into_iter();
            return Ok(Self {
                name: named.to_owned(),
                place: places.find(|place| root.join(place).is_dir()).unwrap_or(""),
                content: Content::Directory(root),
            });
        }
        let Some((name, revision)) = named.rsplit_once('@').filter(|(_, of)| is_revision(of))
        else {
            bail!(
                "`{named_shown}` is not a directory, and names no commit of a repository: `ADDRESS@COMMIT`, with a commit, a part of \
                 its id, or a tag"
            );
        };
        let commit = FetchedCommit::fetch(&address(name)?, revision);
        let commit =
            commit.map_err(|(_, reason)| anyhow!("{}: {}", visible(name), visible(&reason)))?;
        let files = commit.files().map_err(|(_, reason)| anyhow!(reason))?;
        let has = |place: &&str| files.keys().any(|path| path.starts_with(place));
        Ok(Self {
            name: name.to_owned(),
            place: PLACES.into_iter().find(has).unwrap_or(""),
            content: Content::Commit(commit, files),
        })
    }

    /// The whole id of its commit.
    pub(super) fn commit(&self) -> Option<&str> {
        match &self.content {
            Content::Directory(_) => None,
            Content::Commit(commit, _) => Some(&commit.id),
        }
    }

    fn entries(&self) -> io::Result<BTreeSet<String>> {
        match &self.content {
            Content::Directory(root) => {
                let listed = fs::read_dir(root.join(self.place))?.flatten();
                let directories = listed.filter(|entry| entry.path().is_dir());
                let names =
                    directories.map(|entry| entry.file_name().to_string_lossy().into_owned());
                Ok(names.collect())
            }
            Content::Commit(_, files) => {
                let inside = files
                    .keys()
                    .filter_map(|path| path.strip_prefix(self.place));
                let names = inside.filter_map(|path| path.split_once('/'));
                Ok(names.map(|(name, _)| name.to_owned()).collect())
            }
        }
    }

    /// Reads a file. No link is followed.
    pub(super) fn read(&self, path: &str, limit: u32) -> Result<Vec<u8>, FileProblem> {
        let path = format!("{}{path}", self.place);
        match &self.content {
            Content::Directory(root) => {
                let file = ContainedFile::below(root, &root.join(path));
                let file = file.ok_or(FileProblem::Escapes)?.open();
                let file = file.map_err(|error| problem(&error))?;
                read_bounded(file.ok_or(FileProblem::NotAFile)?, limit)
            }
            Content::Commit(commit, files) => {
                let file = files.get(&path).ok_or(FileProblem::Missing)?;
                if !file.is_regular {
                    return Err(FileProblem::NotAFile);
                }
                if file.length > u64::from(limit) {
                    return Err(FileProblem::TooLarge { limit });
                }
                let text = commit.text(file);
                let text = text.map_err(|(_, reason)| FileProblem::Unreadable(reason))?;
                if text.contains('\u{fffd}') {
                    return Err(FileProblem::Unreadable("it is not UTF-8".to_owned()));
                }
                Ok(text.into_bytes())
            }
        }
    }
}

/// Returns true for what can be a commit or a tag, and means nothing else to git.
fn is_revision(revision: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/+-".contains(c);
    !revision.is_empty()
        && !revision.starts_with(['-', '/'])
        && !revision.contains("..")
        && revision.chars().all(is_plain)
}

/// Returns the address of a repository for git: that of a server, or the real path of a directory.
fn address(name: &str) -> anyhow::Result<String> {
    if Path::new(name).is_dir() {
        return Ok(fs::canonicalize(name)?.to_string_lossy().into_owned());
    }
    let (scheme, rest) = name.split_once("://").unwrap_or(("", name));
    let is_address = match scheme {
        "http" | "https" => {
            let host = rest.split('/').next().unwrap_or_default();
            ensure!(
                !host.contains('@'),
                "leave name and password out of the address, which the lock file would store: git asks its credential helper"
            );
            rest.contains('/')
        }
        "ssh" | "file" => rest.contains('/') && !rest.starts_with('-'),
        // `git@host:path`
        "" => rest.split_once(':').is_some_and(|(host, path)| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
            host.contains('@') && host.chars().all(is_plain) && !path.starts_with([':', '-'])
        }),
        _ => false,
    };
    let what = "neither a directory nor an address of http, https, ssh or file";
    ensure!(is_address, "`{}` is {what}", visible(name));
    Ok(name.to_owned())
}

/// The workflows of a source, with the settings of the project that they are copied to.
pub(super) struct SourceFiles<'a> {
    pub(super) source: &'a Source,
    pub(super) target: &'a Disk,
    /// What was read: the key of the workflow and the content, by its path in the workflows directory.
    pub(super) read: RefCell<BTreeMap<(String, String), Vec<u8>>>,
}

impl Files for SourceFiles<'_> {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        let names = match root {
            Root::Project => self.source.entries().map_err(|error| problem(&error))?,
            Root::User | Root::Agents => BTreeSet::new(),
        };
        let entry = |name| TierEntry {
            name,
            problem: None,
        };
        Ok(names.into_iter().map(entry).collect())
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let Some(key) = path.directory() else {
            return self.target.read(path, max_bytes);
        };
        let bytes = self.source.read(path.relative(), max_bytes)?;
        let name = (key.to_owned(), path.relative().to_owned());
        self.read.borrow_mut().insert(name, bytes.clone());
        Ok(bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        if path.directory().is_none() {
            return self.target.shown(path);
        }
        let (name, place) = (self.source.name.trim_end_matches('/'), self.source.place);
        format!("{name}/{place}{}", path.relative())
    }
}
