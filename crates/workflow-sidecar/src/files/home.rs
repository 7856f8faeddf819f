//! The user's home directory.
//!
//! Owns that no library is loaded to find it: the standard library asks the system's name services, which a statically
//! linked program cannot load safely.

use std::path::{Path, PathBuf};

use super::absolute;

/// The directory of the store of hook hosts, in the home directory.
pub(crate) const STATE_DIRECTORY: &str = ".local/state/workflow-sidecar";

/// Returns the home directory from the environment, or else, on unix, from `/etc/passwd`.
pub(crate) fn home_dir() -> Option<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let variable = std::env::var_os(variable).filter(|home| !home.is_empty());
    let home = variable.map(PathBuf::from);
    #[cfg(unix)]
    let home = home.or_else(from_passwd);
    home
}

/// Returns a directory of the user's by its variable, or else below the home directory.
pub(crate) fn user_dir(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|path| !path.is_empty());
    let named = named.map(|path| absolute(Path::new(&path)));
    named.or_else(|| Some(home_dir()?.join(in_home)))
}

/// Expands a `~` at the beginning of a path. Without a home directory the path stays.
pub(crate) fn expanded_home(path: &str) -> PathBuf {
    let rest = Path::new(path).strip_prefix("~").ok();
    let expanded = rest.and_then(|rest| Some(home_dir()?.join(rest)));
    expanded.unwrap_or_else(|| PathBuf::from(path))
}

#[cfg(unix)]
fn from_passwd() -> Option<PathBuf> {
    let text = std::fs::read_to_string("/etc/passwd");
    let text = text.inspect_err(|error| tracing::debug!("/etc/passwd: {error}"));
    of_user(&text.ok()?, rustix::process::getuid().as_raw())
}

/// Returns the home directory of a user, from the text of `/etc/passwd`.
#[cfg(unix)]
fn of_user(passwd: &str, user: u32) -> Option<PathBuf> {
    let number = user.to_string();
    let mut fields = passwd.lines().map(|line| line.split(':'));
    let mut of_user = fields.find_map(|mut fields| (fields.nth(2)? == number).then_some(fields))?;
    let home = of_user.nth(2)?;
    home.starts_with('/').then(|| PathBuf::from(home))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_directory_is_found_by_the_user_id() {
        let passwd =
            "root:x:0:0:root:/root:/bin/sh\nodd\nme:x:1000:5:,,:/home/me:/bin/sh\nno:x:7:7:::\n";
        assert_eq!(of_user(passwd, 1000), Some(PathBuf::from("/home/me")));
        assert_eq!(of_user(passwd, 0), Some(PathBuf::from("/root")));
        assert_eq!((of_user(passwd, 5), of_user(passwd, 7)), (None, None));
    }
}
