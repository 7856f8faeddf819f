//! Files that are written at once.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file at once: whoever reads it sees the old text or the new one.
///
/// What is there and is no file, as a pipe, is written to.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    // A link stays one.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let there = path.metadata().ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return fs::write(path, text);
    }
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let mut builder = tempfile::Builder::new();
    open_to_others(&mut builder);
    let directory = directory.unwrap_or(Path::new("."));
    directory.metadata()?;
    // Nobody knows the file that the error would name.
    let file = builder.tempfile_in(directory);
    let mut file = file.map_err(|error| error.kind())?;
    file.write_all(text.as_bytes())?;
    if let Some(there) = there {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

/// Lets a file that is new be used as any other, within the user's mask.
#[cfg(unix)]
fn open_to_others(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn open_to_others(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_as_if_it_had_been_written_in_place() {
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
