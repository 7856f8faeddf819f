//! Records of commands, writes and file accesses.

use super::scope::{MAX_PATH_BYTES, Scope, is_device};
use crate::braces::expand_braces;
use crate::command::SimpleCommand;
use crate::effect::{Effect, UnknownReason};
use crate::file_access::FileAccess;
use crate::file_write::FileWrite;
use crate::visible::displayed;
use crate::word::is_descriptor;

/// The number of file accesses after which a line counts as accessing any path.
const MAX_FILE_ACCESSES: usize = 4000;

/// The commands, writes and file accesses found so far.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) redirections: Vec<FileWrite>,
    pub(super) accesses: Vec<FileAccess>,
}

/// The number of records at some time.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    commands: usize,
    redirections: usize,
    accesses: usize,
}

impl Recorder {
    /// Records the file that a redirection writes.
    pub(super) fn redirection(&mut self, write: FileWrite, scope: &Scope<'_>) {
        if !write.path.as_deref().is_some_and(is_device) {
            let write = self.resolved(write, scope);
            self.redirections.push(write);
        }
    }

    /// Resolves the paths that a command writes.
    pub(super) fn effect(&mut self, effect: Effect, scope: &Scope<'_>) -> Effect {
        let Effect::Writes(mut writes) = effect else {
            return effect;
        };
        writes.retain(|write| !write.path.as_deref().is_some_and(is_device));
        if writes.is_empty() {
            return Effect::Reads;
        }
        let mut paths = writes.iter().map(|write| &write.location.path);
        if let Some(path) = paths.find(|path| is_descriptor(path)) {
            return Effect::unknown(path, UnknownReason::Descriptor);
        }
        let writes = writes.into_iter().map(|write| self.resolved(write, scope));
        Effect::Writes(writes.collect())
    }

    fn resolved(&mut self, write: FileWrite, scope: &Scope<'_>) -> FileWrite {
        self.access(write.location.clone(), scope);
        FileWrite {
            operation: displayed(&write.operation),
            path: write.path.and_then(|path| scope.path(path)),
            location: write.location,
        }
    }

    /// Records an access to a location, once for each alternative of its braces.
    pub(super) fn access(&mut self, location: FileAccess, scope: &Scope<'_>) {
        let number = self.accesses.len();
        let is_short = !location.path.is_empty() && location.path.len() <= MAX_PATH_BYTES;
        if number > MAX_FILE_ACCESSES || !is_short {
            return;
        }
        let without_comma = |inside: &str| {
            let inside = Some(inside).filter(|inside| !inside.contains(".."));
            inside.map_or_else(|| "*".to_owned(), |inside| format!("{{{inside}}}"))
        };
        let paths = if location.is_glob && location.path.contains('{') {
            expand_braces(&location.path, without_comma)
        } else {
            Some(vec![location.path])
        };
        match paths.filter(|_| number < MAX_FILE_ACCESSES) {
            None => self.access_anywhere(),
            Some(paths) => self
                .accesses
                .extend(paths.into_iter().map(|path| FileAccess {
                    path: scope.location(path),
                    ..location
                })),
        }
    }

    /// Records an access to any path.
    pub(super) fn access_anywhere(&mut self) {
        self.accesses.push(FileAccess::anywhere());
    }

    /// Returns the current position, for [`Self::forget_directory_since`].
    pub(super) fn mark(&self) -> Mark {
        Mark {
            commands: self.commands.len(),
            redirections: self.redirections.len(),
            accesses: self.accesses.len(),
        }
    }

    /// Returns the paths since `mark` that are written, and the directories of commands.
    fn paths_since(&mut self, mark: Mark) -> impl Iterator<Item = &mut Option<String>> {
        let commands = self.commands[mark.commands..].iter_mut();
        let commands = commands.flat_map(|command| {
            let writes = match &mut command.effect {
                Effect::Writes(writes) => writes.as_mut_slice(),
                _ => &mut [],
            };
            let paths = writes.iter_mut().map(|write| &mut write.path);
            paths.chain([&mut command.directory])
        });
        let redirections = self.redirections[mark.redirections..].iter_mut();
        commands.chain(redirections.map(|write| &mut write.path))
    }

    /// Makes relative paths that were recorded since `mark` unknown, because the directory may differ.
    pub(super) fn forget_directory_since(&mut self, mark: Mark) {
        for path in self.paths_since(mark) {
            path.take_if(|path| !path.starts_with(['/', '~']));
        }
        for access in &mut self.accesses[mark.accesses..] {
            access.forget_directory();
        }
    }

    /// Records the accesses to `~` also as accesses to any directory, because the home directory may differ.
    pub(super) fn add_homes(&mut self) {
        let at_home = |access: &&FileAccess| access.path.starts_with('~');
        let at_home = self.accesses.iter().filter(at_home).cloned();
        let anywhere: Vec<FileAccess> = at_home
            .map(|mut access| {
                access.path.replace_range(..1, "\0");
                access
            })
            .collect();
        self.accesses.extend(anywhere);
    }

    /// Makes paths unknown, because the directory may differ wherever a command runs.
    pub(super) fn forget_directories(&mut self) {
        let is_absolute = |path: &str| path.starts_with(['/', '~']);
        let mut directories = self.commands.iter().map(|command| &command.directory);
        if directories.any(|path| path.as_deref().is_some_and(is_absolute)) {
            self.access_anywhere();
        }
        for path in self.paths_since(Mark::default()) {
            *path = None;
        }
        self.accesses
            .iter_mut()
            .for_each(FileAccess::forget_directory);
    }
}
