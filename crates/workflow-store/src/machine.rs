//! The name of this machine in a store of several machines.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::private_directory::create_private_dir;

const FILE: &str = "machine";

/// Returns the name of this machine. It is made once for each directory of a store: containers often share a host name.
pub(crate) fn machine(directory: &Path) -> io::Result<String> {
    let path = directory.join(FILE);
    if let Ok(name) = fs::read_to_string(&path)
        && !name.trim().is_empty()
    {
        return Ok(name.trim().to_owned());
    }
    create_private_dir(directory)?;
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    let host = if host.is_empty() { "machine" } else { host };
    let name = format!("{host}-{:08x}", u32::from_be_bytes(bytes));
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(name.as_bytes()).map(|()| name),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::read_to_string(&path).map(|name| name.trim().to_owned())
        }
        Err(error) => Err(error),
    }
}
