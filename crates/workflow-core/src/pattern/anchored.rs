//! Globs of rules, relative to a directory and without braces.

use workflow_shell::expand_braces;

/// The reason why a glob with `..` after a part with wildcards is invalid.
const CLIMBS: &str = "`..` after a `*` is not supported: write the path without `..`";
/// The reason why a glob with braces with too many alternatives is invalid.
const BRACES: &str = "its braces expand to too many paths: write several patterns";

/// The directory to which a glob is relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Root,
    Home,
    Project,
}

/// One alternative of a pattern, without `.`, `..` and braces.
///
/// `/x` is relative to the root, `~/x` to the home directory, `a/b`, `./x` and `../x` to the project. A
/// pattern without `/`, or with `/` only at its end, is a name at any depth below the directory for bare names.
#[derive(Debug, Clone)]
pub(crate) struct Anchored {
    pub(crate) from: Anchor,
    /// The number of directories above `from` at which it starts.
    pub(crate) up: usize,
    pub(crate) parts: Vec<String>,
    /// True if it may match a directory: it does not end in the name of a file.
    pub(crate) is_wide: bool,
}

/// Returns the alternatives of a pattern; `bare` is the directory for bare names.
pub(crate) fn anchored(pattern: &str, bare: Anchor) -> Result<Vec<Anchored>, String> {
    let all = expand_braces(pattern, str::to_owned).ok_or(BRACES)?;
    all.iter().map(|text| Anchored::new(text, bare)).collect()
}

impl Anchored {
    fn new(text: &str, bare: Anchor) -> Result<Self, String> {
        let first = text.split('/').next().unwrap_or_default();
        let is_name = !text.trim_end_matches('/').contains('/');
        let from = match first {
            "" => Anchor::Root,
            "~" => Anchor::Home,
            "." | ".." => Anchor::Project,
            "**" => bare,
            _ if is_name => bare,
            _ => Anchor::Project,
        };
        let said = text.split('/').skip(usize::from(first == "~"));
        let deep = is_name && !matches!(first, "" | "~" | "." | ".." | "**");
        let (mut up, mut parts) = (0, Vec::new());
        for part in deep.then_some("**").into_iter().chain(said) {
            match part {
                "" | "." => {}
                ".." => match parts.pop() {
                    None => up += 1,
                    Some(last) if is_plain(last) => {}
                    Some(_) => return Err(CLIMBS.to_owned()),
                },
                part => parts.push(part),
            }
        }
        let is_directory = text.ends_with('/') || parts.last() == Some(&"**");
        while parts.last() == Some(&"**") {
            parts.pop();
        }
        let is_file = |name: &&str| is_plain(name) && name.contains('.');
        Ok(Self {
            is_wide: is_directory || !parts.last().is_some_and(is_file),
            from,
            up: if from == Anchor::Root { 0 } else { up },
            parts: parts.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Returns the path of its literal head, and the number of parts of the head.
    pub(crate) fn head(&self) -> (String, usize) {
        let plain = self.parts.iter().take_while(|part| is_plain(part)).count();
        let start = match self.from {
            Anchor::Root => "/",
            Anchor::Home => "~/",
            Anchor::Project => "./",
        };
        let (up, inside) = ("../".repeat(self.up), self.parts[..plain].join("/"));
        let head = format!("{start}{up}{inside}");
        let head = if head.len() > 1 {
            head.trim_end_matches('/').to_owned()
        } else {
            head
        };
        (head, plain)
    }
}

/// Returns the globs of parts below a directory; a directory includes everything below it.
pub(crate) fn globs(directory: &str, parts: &[String]) -> Vec<String> {
    let head = (!directory.is_empty()).then_some(directory);
    let all = head.into_iter().chain(parts.iter().map(String::as_str));
    let itself = all.collect::<Vec<_>>().join("/");
    if itself.is_empty() {
        return vec!["**".to_owned()];
    }
    vec![format!("{itself}/**"), itself]
}

/// Returns whether a part of a glob has no wildcards.
fn is_plain(part: &str) -> bool {
    !part.contains(['*', '?', '[', '\\'])
}
