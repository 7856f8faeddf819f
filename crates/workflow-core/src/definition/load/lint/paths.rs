//! Paths from the root of the file system.

use super::item::{Item, corrected};
use crate::diagnostic::{Code, Finding, shown};

/// Directories at the root of usual systems and containers.
#[rustfmt::skip] // Alphabetical.
const ROOTS: &[&str] = &[
    "Applications", "Library", "Network", "System", "Users", "Volumes", "afs", "bin", "boot", "cores", "data", "dev",
    "efs", "etc", "export", "gnu", "home", "host", "init", "initrd.img", "lib", "lib32", "lib64", "libx32", "lost+found",
    "media", "mnt", "net", "nix", "opt", "private", "proc", "root", "run", "sbin", "scratch", "snap", "srv", "sys",
    "tmp", "usr", "var", "vmlinuz", "work", "workspace", "workspaces",
];

/// Returns the finding about a path whose first directory no root has.
pub(super) fn finding((path, span): Item<'_>) -> Option<Finding> {
    let inside = path.strip_prefix('/')?;
    let first = inside.split('/').next().unwrap_or_default();
    if first.is_empty() || first.contains(['*', '?', '[', '{']) || ROOTS.contains(&first) {
        return None;
    }
    let message = format!(
        "`{}` is from the root of the file system, not from the project",
        shown(path)
    );
    let finding = Finding::warning(Code::AbsolutePath, span, message);
    Some(corrected(finding, path, inside))
}
