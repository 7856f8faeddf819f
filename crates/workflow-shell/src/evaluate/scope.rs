//! Where a command stands: its directory, what it reads, whether it surely runs.

use super::Word;
use super::tree::Raw;

/// The longest path of a directory, in bytes; systems have none that is longer.
const LONGEST_DIRECTORY: usize = 4096;

/// What a command reads on its standard input.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// Whatever the line itself would read.
    Inherited,
    /// A file.
    File,
    /// Another command's output.
    Pipe,
    /// A text that stands in the line.
    Text(Word),
}

/// Where a command stands.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    /// The directory, seen from the one in which the line starts; `None` if nobody knows.
    pub(super) directory: Option<String>,
    /// Whether the directory holds only as long as `&&` follows.
    pub(super) moved: bool,
    /// Whether it runs only if the one before succeeded.
    pub(super) chained: bool,
    pub(super) input: Input,
    /// Whether it surely runs, in the line's own shell.
    pub(super) sure: bool,
    pub(super) here_documents: &'a [Raw],
    /// Whether its output may be taken for words by another command.
    pub(super) heard: bool,
    pub(super) depth: usize,
}

impl Scope<'_> {
    pub(super) fn start(directory: &str, depth: usize) -> Self {
        Self {
            directory: Some(directory.to_owned()),
            heard: false,
            moved: false,
            chained: false,
            input: Input::Inherited,
            sure: true,
            here_documents: &[],
            depth,
        }
    }

    /// A place from which nothing comes back: what is set there is gone afterwards.
    pub(super) fn apart(&self) -> Self {
        Self {
            sure: false,
            ..self.clone()
        }
    }

    /// The path from where the line starts, if it can be told.
    pub(super) fn path(&self, path: &str) -> Option<String> {
        if path.starts_with('/') || path == "~" || path.starts_with("~/") {
            return Some(path.to_owned());
        }
        if path.starts_with('~') {
            // Somebody's home, or where the shell was before.
            return None;
        }
        match self.directory.as_deref()? {
            "" => Some(path.to_owned()),
            directory if path == "." => Some(directory.to_owned()),
            directory => Some(format!("{}/{path}", directory.trim_end_matches('/'))),
        }
    }
}

impl Scope<'_> {
    /// The place from where the line starts; NUL stands for what cannot be told.
    pub(super) fn place(&self, shape: &str) -> String {
        if shape.starts_with(['/', '\0']) || shape == "~" || shape.starts_with("~/") {
            return shape.to_owned();
        }
        if shape.starts_with('~') {
            let rest = shape.split_once('/').map_or("", |(_, rest)| rest);
            return format!("\0/{rest}");
        }
        match self.directory.as_deref() {
            None => format!("\0/{shape}"),
            Some("") => shape.to_owned(),
            Some(directory) => format!("{}/{shape}", directory.trim_end_matches('/')),
        }
    }
}

/// `cd`, `pushd` and `popd`.
pub(super) fn move_to(words: &[Word], scope: &mut Scope<'_>) {
    let target = words[1..]
        .iter()
        .find(|word| word.shape() == "-" || !word.shape().starts_with('-'));
    let known = words[0].shape() != "popd";
    scope.directory = match target.and_then(Word::text) {
        Some(path) if known && !path.starts_with(['-', '+']) && !path.is_empty() => {
            let to = scope.path(path);
            to.filter(|to| to.len() <= LONGEST_DIRECTORY)
        }
        _ => None,
    };
    scope.moved = true;
}

/// Whether a path is no file: writing there changes nothing that stays.
pub(super) fn is_no_file(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/stdin"
            | "/dev/tty"
            | "/dev/zero"
            | "/dev/full"
    ) || ["/dev/fd/", "/proc/self/fd/", "/dev/tcp/", "/dev/udp/"]
        .iter()
        .any(|place| path.starts_with(place) && !path.contains(".."))
}
