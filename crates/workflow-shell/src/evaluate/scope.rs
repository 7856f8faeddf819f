//! The context in which a command runs: directory, standard input, certainty.

use crate::command::StandardInput;
use crate::parse::tree::RawWord;
use crate::programs::is_listed;
use crate::word::Word;

/// The longest path, in bytes; no system opens longer ones.
pub(super) const MAX_PATH_BYTES: usize = 4096;

/// The context in which a command runs.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    /// The directory, relative to the one in which the line starts; `None` if unknown.
    pub(super) directory: Option<String>,
    /// True if the directory is certain only as long as `&&` follows.
    pub(super) directory_is_tentative: bool,
    /// True if the command runs only if the previous one succeeded.
    pub(super) after_and: bool,
    pub(super) input: StandardInput,
    /// True if it certainly runs, in the line's own shell.
    pub(super) is_certain: bool,
    pub(super) here_documents: &'a [RawWord],
    /// True if another command may use its output as arguments.
    pub(super) output_is_used: bool,
    pub(super) depth: usize,
}

impl Scope<'_> {
    /// Creates the scope in which a line starts.
    pub(super) fn start(directory: &str, depth: usize) -> Self {
        Self {
            directory: Some(directory.to_owned()),
            is_certain: true,
            depth,
            ..Self::default()
        }
    }

    /// Creates a scope whose changes are lost when it ends, like those of a subshell.
    pub(super) fn subshell(&self) -> Self {
        Self {
            is_certain: false,
            ..self.clone()
        }
    }

    /// Returns a path relative to the directory in which the line starts, if it is known.
    pub(super) fn path(&self, path: String) -> Option<String> {
        Some(self.location(path)).filter(|location| !location.contains('\0'))
    }

    /// Returns a location relative to the directory in which the line starts, with NUL for unknown parts.
    pub(super) fn location(&self, shape: String) -> String {
        if shape.starts_with(['/', '\0']) || shape == "~" || shape.starts_with("~/") {
            return shape;
        }
        if shape.starts_with('~') {
            let rest = shape.split_once('/').map_or("", |(_, rest)| rest);
            return format!("\0/{rest}");
        }
        match self.directory.as_deref() {
            None => format!("\0/{shape}"),
            Some("") => shape,
            Some(directory) if shape == "." => directory.to_owned(),
            Some(directory) => format!("{}/{shape}", directory.trim_end_matches('/')),
        }
    }

    /// Changes the directory as `cd`, `pushd` and `popd` do.
    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let is_option = |word: &&Word| matches!(word.shape(), "-L" | "-P" | "-e" | "-@" | "--");
        let mut operands = words[1..].iter().skip_while(is_option);
        // A second operand stands in the way, and so does another option: `pushd -n` only notes the directory.
        let target = operands.next().filter(|_| operands.next().is_none());
        let is_popd = words[0].program() == Some("popd");
        self.directory = match target.and_then(Word::text) {
            Some(path) if !is_popd && !path.starts_with(['-', '+']) && !path.is_empty() => self
                .path(path.to_owned())
                .filter(|directory| directory.len() <= MAX_PATH_BYTES),
            _ => None,
        };
        self.directory_is_tentative = true;
    }
}

/// Returns whether a path is a device or an output that is open already: writing to it changes no file.
pub(super) fn is_device(path: &str) -> bool {
    is_listed("devices", path) || is_port(path) && !path.contains("..")
}

/// Returns whether a path is a port of a host: `/dev/tcp/host/80`.
pub(super) fn is_port(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
