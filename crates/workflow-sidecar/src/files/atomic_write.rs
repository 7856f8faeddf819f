//! Atomic writes of files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file atomically: a reader sees the old text or the new one.
///
/// Something that is not a file, such as a pipe, is written to directly.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    // A link is kept. A path that cannot be resolved is that of a new file, or fails below.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    // A path without metadata is that of a new file, or fails below.
    let existing = path.metadata().ok();
    if existing
        .as_ref()
        .is_some_and(|existing| !existing.is_file())
    {
        return fs::write(path, text);
    }
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let builder = &mut tempfile::Builder::new();
    // A new file has the usual permissions, within the user's mask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let directory = directory.unwrap_or(Path::new("."));
    directory.metadata()?;
    // The error without the name of the temporary file, which is unknown to the user.
    let file = builder.tempfile_in(directory);
    let mut file = file.map_err(|error| error.kind())?;
    file.write_all(text.as_bytes())?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn permissions_links_and_sockets_are_the_same_as_after_an_ordinary_write() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        use std::os::unix::net::UnixListener;
        let directory = tempfile::tempdir().unwrap();
        let [new, usual, link] = ["new", "usual", "link"].map(|name| directory.path().join(name));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        fs::write(&usual, "").unwrap();
        write_atomically(&new, "1").unwrap();
        assert_eq!(mode(&new), mode(&usual));
        fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("new", &link).unwrap();
        write_atomically(&link, "2").unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            (fs::read_to_string(&new).unwrap(), mode(&new)),
            ("2".to_owned(), 0o640)
        );
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(write_atomically(&socket, "3").is_err());
        assert!(!socket.is_file(), "it is not replaced");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4);
    }
}
