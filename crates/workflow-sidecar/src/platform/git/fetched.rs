//! A commit of another repository, fetched into a private one. Its files are read by their objects: none is checked out.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use tempfile::TempDir;

use super::execution::{Git, TIMEOUT};
use crate::files::bytes_below;
use crate::platform::process::{CheckError, Failure, Monitor, failed};

/// Bytes of the largest repository.
const SIZE: u64 = if cfg!(test) { 1 << 20 } else { 512 << 20 };

/// Where the commit is in the private repository.
const FETCHED: &str = "refs/workflow/fetched";

/// A commit that was fetched.
pub(crate) struct FetchedCommit {
    directory: TempDir,
    end: Instant,
    /// Its whole id.
    pub(crate) id: String,
}

/// A file of a commit.
pub(crate) struct CommittedFile {
    /// False for links and submodules.
    pub(crate) is_regular: bool,
    /// Its length in bytes.
    pub(crate) length: u64,
    object: String,
}

impl FetchedCommit {
    /// Fetches a commit, by its id or a part of it, or by a tag. Hexadecimal digits are never a tag: who owns the repository could
    /// make one. A branch is refused, since it moves. The caller has checked the address.
    pub(crate) fn fetch(address: &str, revision: &str) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
        let mut fetched = Self {
            directory,
            end: Instant::now() + TIMEOUT,
            id: String::new(),
        };
        fetched.git(&["init", "--quiet", "--bare", "--template=", "."])?;
        let is_id = revision.len() >= 7 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
        let of = if is_id { "" } else { "refs/tags/" };
        let one = format!("+{of}{revision}:{FETCHED}");
        let is_whole = !is_id || revision.len() >= 40;
        let mut name = FETCHED;
        if !(is_whole && fetched.download(address, &["--depth=1"], &[&one]).is_ok()) {
            let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
            fetched.download(address, &[], &all)?;
            if !is_id {
                let branch = fetched.commit(&format!("refs/heads/{revision}"));
                return Err(failed(branch.map_or_else(
                    |_| format!("it has no tag `{revision}`; a commit needs 7 digits or more"),
                    |id| format!("`{revision}` is a branch, which moves: name its commit, `@{id}`"),
                )));
            }
            name = revision;
        }
        let id = fetched.commit(name).ok();
        let id = id.filter(|id| !is_id || id.starts_with(&revision.to_lowercase()));
        fetched.id = id.ok_or_else(|| failed(format!("it has no commit `{revision}`")))?;
        Ok(fetched)
    }

    /// The files of the commit, by their paths. Those that are not UTF-8 have `U+FFFD` in them.
    pub(crate) fn files(&self) -> Result<BTreeMap<String, CommittedFile>, Failure> {
        let listed = self.git(&["ls-tree", "-r", "-l", "-z", "--full-tree", &self.id])?;
        let entry = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let mut about = about.split_ascii_whitespace();
            let file = CommittedFile {
                is_regular: about.next()?.starts_with("100"),
                object: about.nth(1)?.to_owned(),
                // A submodule has none.
                length: about.next()?.parse().unwrap_or_default(),
            };
            Some((path.to_owned(), file))
        };
        Ok(listed.split('\0').filter_map(entry).collect())
    }

    /// The text of a file. Bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub(crate) fn text(&self, file: &CommittedFile) -> Result<String, Failure> {
        self.git(&["cat-file", "blob", &file.object])
    }

    fn commit(&self, name: &str) -> Result<String, Failure> {
        let name = format!("{name}^{{commit}}");
        let id = self.git(&["rev-parse", "--verify", "--quiet", &name])?;
        Ok(id.trim().to_owned())
    }

    fn download(&self, from: &str, options: &[&str], what: &[&str]) -> Result<(), Failure> {
        let fetch = ["-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch"];
        let quiet = ["--quiet", "--no-tags", "--no-recurse-submodules"];
        let to_run = [&fetch[..], &quiet, options, &["--", from], what];
        self.git(&to_run.concat())?;
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Result<String, Failure> {
        let directory: &Path = self.directory.path();
        let environment = [
            ("GIT_DIR", directory.to_string_lossy().into_owned()),
            ("GIT_ALLOW_PROTOCOL", "http:https:ssh:file".to_owned()),
        ];
        let is_too_large = || bytes_below(directory, SIZE, None) > SIZE;
        let git = Git {
            environment: &environment.map(|(name, value)| (name.to_owned(), value)),
            end: Some(self.end),
            ..Git::new(directory, Monitor::new(&is_too_large, &|_| ()))
        };
        match git.run(arguments) {
            _ if is_too_large() => Err(failed(format!("it is larger than {} MiB", SIZE >> 20))),
            Err((CheckError::Timeout, _)) => {
                let seconds = TIMEOUT.as_secs();
                Err(failed(format!("it was not fetched within {seconds} s")))
            }
            output => Ok(output?.succeeded()?.text),
        }
    }
}
