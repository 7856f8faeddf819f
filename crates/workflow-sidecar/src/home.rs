//! Where the user's home directory is.
//!
//! Owns that nothing is loaded to find out: the standard library's way asks the system's name services, which a program
//! that is linked with everything it needs cannot load safely.

use std::path::PathBuf;

/// What the environment says; where it says nothing, on unix, what `/etc/passwd` does.
pub(crate) fn home_dir() -> Option<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let said = std::env::var_os(variable).filter(|home| !home.is_empty());
    said.map(PathBuf::from).or_else(of_this_user)
}

#[cfg(unix)]
fn of_this_user() -> Option<PathBuf> {
    let known = std::fs::read_to_string("/etc/passwd").ok()?;
    of_user(&known, rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn of_this_user() -> Option<PathBuf> {
    None
}

/// The home directory of a user, from the text of `/etc/passwd`.
#[cfg(unix)]
fn of_user(known: &str, user: u32) -> Option<PathBuf> {
    let number = user.to_string();
    let mut fields = known.lines().map(|line| line.split(':'));
    let mut of_user = fields.find_map(|mut fields| (fields.nth(2)? == number).then_some(fields))?;
    let home = of_user.nth(2)?;
    home.starts_with('/').then(|| PathBuf::from(home))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_found_by_the_users_number() {
        let known =
            "root:x:0:0:root:/root:/bin/sh\nodd\nme:x:1000:5:,,:/home/me:/bin/sh\nno:x:7:7:::\n";
        assert_eq!(of_user(known, 1000), Some(PathBuf::from("/home/me")));
        assert_eq!(of_user(known, 0), Some(PathBuf::from("/root")));
        assert_eq!((of_user(known, 5), of_user(known, 7)), (None, None));
    }
}
