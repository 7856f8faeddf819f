//! Files and directories, without regard to what is in them: the ground below
//! [`platform`](crate::platform). Imports nothing else of this crate.

mod atomic_write;
mod file_state;
mod home;
pub(crate) mod regular_file;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use sha2::{Digest, Sha256};

pub(crate) use self::atomic_write::write_atomically;
pub(crate) use self::file_state::{FileState, FileVersion};
pub(crate) use self::home::{STATE_DIRECTORY, expanded_home, home_dir, user_dir};

/// Maximum number of bytes of a text.
const MAX_TEXT: u64 = 4 << 20;

/// A result about a file or directory; `None` if it does not exist.
pub(crate) fn if_present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// The SHA-256 of a content, in hexadecimal.
pub(crate) fn hash(content: impl AsRef<[u8]>) -> String {
    format!("{:x}", Sha256::digest(content))
}

/// A path from the root; as it is if it is empty, or if there is no working directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The directory of the repository around a path: that with `.git`.
pub(crate) fn repository_root(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.join(".git").exists())
}

/// The text of a regular file that is not too long; `None` if it does not exist. A pipe is not waited for.
pub(crate) fn text(path: &Path) -> io::Result<Option<String>> {
    let Some(file) = if_present(regular_file::open(path))? else {
        return Ok(None);
    };
    let file = file.ok_or_else(|| io::Error::other("it is not a regular file"))?;
    let mut text = String::new();
    if file.take(MAX_TEXT + 1).read_to_string(&mut text)? as u64 > MAX_TEXT {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(text))
}

/// The bytes of an input; `None` if they are more than this.
pub(crate) fn read_at_most(input: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let length = input.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((length as u64 <= limit).then_some(bytes))
}

/// Bytes of the files below a directory, until they are above a bound or the time is over. What cannot be read has none, and no
/// link is followed.
pub(crate) fn bytes_below(directory: &Path, bound: u64, end: Option<Instant>) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if bytes > bound || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        bytes += match entry.metadata() {
            Ok(found) if found.is_dir() => bytes_below(&entry.path(), bound - bytes, end),
            found => found.map_or(0, |found| found.len()),
        };
    }
    bytes
}

/// The value in a JSON file; `None` if there is none that can be read.
pub(crate) fn json(path: &Path) -> Option<serde_json::Value> {
    serde_json::from_str(&text(path).ok()??).ok()
}

/// Returns true if an input is a pipe, which other processes of the user can open through `/proc`.
#[cfg(unix)]
pub(crate) fn is_pipe(input: impl std::os::fd::AsFd) -> bool {
    let status = rustix::fs::fstat(input);
    status.is_ok_and(|status| {
        rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::Fifo
    })
}

#[cfg(not(unix))]
pub(crate) fn is_pipe<T>(_input: T) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_has_no_end_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let [pipe, long] = ["pipe", "long"].map(|name| directory.path().join(name));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let file = std::fs::File::create(&long).unwrap();
        file.set_len(1 << 40).unwrap();
        assert!(text(&pipe).is_err() && text(&long).is_err());
        assert_eq!(text(&directory.path().join("none")).unwrap(), None);
    }
}
