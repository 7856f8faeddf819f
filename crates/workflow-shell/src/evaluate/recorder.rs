//! Records of writes and file accesses.

use super::scope::{Scope, is_device};
use crate::analysis::FileWrite;
use crate::braces::expand_braces;
use crate::display::displayed;
use crate::file_access::{AccessKind, FileAccess, Location};

/// The number of file accesses after which a line counts as accessing any path.
const MAX_FILE_ACCESSES: usize = 4000;

/// The longest path, in bytes; no system opens longer ones.
const MAX_PATH_BYTES: usize = 4096;

/// The writes and file accesses found so far.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) writes: Vec<FileWrite>,
    pub(super) accesses: Vec<FileAccess>,
}

/// The number of records at some time.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    writes: usize,
    accesses: usize,
}

impl Recorder {
    /// Records a write, unless it changes no file.
    pub(super) fn write(&mut self, write: FileWrite, scope: &Scope<'_>) {
        if write.path.as_deref().is_some_and(is_device) {
            return;
        }
        self.access(&write.location, scope);
        self.writes.push(FileWrite {
            operation: displayed(&write.operation),
            path: write.path.and_then(|path| scope.path(&path)),
            location: write.location,
        });
    }

    /// Records an access to a location, once for each alternative of its braces.
    pub(super) fn access(&mut self, location: &Location, scope: &Scope<'_>) {
        if self.accesses.len() > MAX_FILE_ACCESSES {
            return;
        }
        if self.accesses.len() == MAX_FILE_ACCESSES {
            return self.access_anywhere();
        }
        if location.shape.is_empty() || location.shape.len() > MAX_PATH_BYTES {
            return;
        }
        let without_comma = |inside: &str| {
            if inside.contains("..") {
                "*".to_owned()
            } else {
                format!("{{{inside}}}")
            }
        };
        let shapes = if location.is_glob && location.shape.contains('{') {
            expand_braces(&location.shape, without_comma)
        } else {
            Some(vec![location.shape.clone()])
        };
        let Some(shapes) = shapes else {
            return self.access_anywhere();
        };
        self.accesses.extend(shapes.iter().map(|shape| FileAccess {
            path: scope.location(shape),
            is_glob: location.is_glob,
            kind: location.kind,
        }));
    }

    fn access_anywhere(&mut self) {
        self.accesses.push(FileAccess {
            path: Location::anywhere().shape,
            is_glob: false,
            kind: AccessKind::Write,
        });
    }

    /// Returns the current position, for [`Self::forget_directory_since`].
    pub(super) fn mark(&self) -> Mark {
        Mark {
            writes: self.writes.len(),
            accesses: self.accesses.len(),
        }
    }

    /// Makes relative paths that were recorded since `mark` unknown, because the directory may differ.
    pub(super) fn forget_directory_since(&mut self, mark: Mark) {
        for write in &mut self.writes[mark.writes..] {
            write.path.take_if(|path| !path.starts_with(['/', '~']));
        }
        for access in &mut self.accesses[mark.accesses..] {
            access.forget_directory();
        }
    }

    /// Makes paths unknown that depend on a home directory or a `cd` that may differ.
    pub(super) fn forget_uncertain_paths(&mut self, home_changed: bool, cd_uncertain: bool) {
        for write in &mut self.writes {
            write.path.take_if(|path| {
                home_changed && path.starts_with('~')
                    || cd_uncertain && !path.starts_with(['/', '~'])
            });
        }
        for access in &mut self.accesses {
            if home_changed && access.path.starts_with('~') {
                access.path.replace_range(..1, "\0");
            } else if cd_uncertain {
                access.forget_directory();
            }
        }
    }
}
