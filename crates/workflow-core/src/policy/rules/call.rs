//! A tool call, and what can be known of it: read once, and only what a rule asks for.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::arguments::{self, Does, Named};
use super::file_access::{Places, is_too_much, places};
use super::paths::{PathForm, Paths, of_shell};
use super::shell_lines::{self, ToldLine};
use crate::diagnostic::shown;
use workflow_shell::{Analysis, FileWrite, Unreadable, Writes, analyze_in};

/// How many writes of a line are told.
const MOST_SEEN: usize = 3;

/// How many lines of a call are read.
const MOST_LINES: usize = 200;

/// A call that an agent asks for.
#[derive(Debug)]
pub struct Call<'a> {
    /// The tool's name.
    pub(super) tool: &'a str,
    input: Option<&'a RawValue>,
    pub(super) paths: &'a dyn Paths,
    read: OnceCell<Option<Map<String, Value>>>,
    /// The arguments in which texts are opened that hold arguments; `None` where there are none.
    opened: OnceCell<Option<Map<String, Value>>>,
    told: OnceCell<Vec<ToldLine>>,
    line: OnceCell<Option<Analysis>>,
    places: OnceCell<Places>,
    written: OnceCell<Vec<Target>>,
}

/// Whether something is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
    /// It cannot be seen, and so counts against the call.
    Unknown,
}

impl From<bool> for Known {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// A path of a call, in all its forms; `None` is one that cannot be seen.
pub(super) type Target = Option<Vec<PathForm>>;

impl<'a> Call<'a> {
    /// A call with its arguments, where the host told them.
    #[must_use]
    pub fn new(tool: &'a str, input: Option<&'a RawValue>, paths: &'a dyn Paths) -> Self {
        Self {
            tool,
            input,
            paths,
            read: OnceCell::new(),
            opened: OnceCell::new(),
            told: OnceCell::new(),
            line: OnceCell::new(),
            places: OnceCell::new(),
            written: OnceCell::new(),
        }
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &'a str {
        self.tool
    }

    /// The arguments as JSON text; empty if they were not told.
    #[must_use]
    pub fn input_text(&self) -> &'a str {
        self.input.map_or("", RawValue::get)
    }

    /// The arguments; `None` if they were not told, or are no map.
    pub(super) fn fields(&self) -> Option<&Map<String, Value>> {
        let read = || serde_json::from_str(self.input?.get()).ok();
        self.read.get_or_init(read).as_ref()
    }

    /// The same, with the arguments that stand in a text of them.
    pub(super) fn opened(&self) -> Option<&Map<String, Value>> {
        let fields = self.fields()?;
        let open = || match shell_lines::opened(fields) {
            Cow::Borrowed(_) => None,
            Cow::Owned(opened) => Some(opened),
        };
        Some(self.opened.get_or_init(open).as_ref().unwrap_or(fields))
    }

    /// What its lines for the shell do together, if the call has any.
    pub(super) fn line(&self) -> Option<&Analysis> {
        let read = |told: &ToldLine| match &told.text {
            Some(text) => analyze_in(&told.directory, text),
            None => Analysis::unreadable(Unreadable::Syntax("it is no text".to_owned())),
        };
        let read = || {
            let told = self.told_lines();
            if told.len() > MOST_LINES {
                return Some(Analysis::unreadable(Unreadable::TooComplex));
            }
            told.iter().map(read).reduce(Analysis::and)
        };
        self.line.get_or_init(read).as_ref()
    }

    /// The lines for the shell, as they are written.
    pub(super) fn told_lines(&self) -> &[ToldLine] {
        let read = || {
            let does = arguments::does(self.tool);
            self.opened()
                .map_or_else(Vec::new, |fields| shell_lines::lines(fields, does))
        };
        self.told.get_or_init(read)
    }

    /// What its arguments name; `None` if they were not told.
    fn named(&self) -> Option<Vec<Named<'_>>> {
        self.opened().map(arguments::named)
    }

    /// The paths that its arguments name, beside a line and the directory it runs in.
    pub(super) fn named_paths(&self) -> Vec<Target> {
        let named = self.named().unwrap_or_default().into_iter();
        let paths = named.filter_map(|named| match named {
            Named::Path(path) => Some(Some(self.paths.forms(&path))),
            Named::Unseen | Named::Glob(_) | Named::Directory(_) => None,
        });
        paths.collect()
    }

    /// Whether it changes files.
    pub(super) fn writes(&self) -> Known {
        let line = self.line().map(|line| &line.writes);
        match line {
            Some(Writes::Yes(_)) => return Known::Yes,
            Some(Writes::Unreadable(_)) => return Known::Unknown,
            Some(Writes::No) | None => {}
        }
        match arguments::does(self.tool) {
            Does::Runs if line.is_none() => Known::Unknown,
            Does::Changes(_) if self.is_editor() => Known::Yes,
            Does::Changes(_) => Known::from(self.named().is_none_or(|named| !named.is_empty())),
            Does::Reads | Does::Runs | Does::Unknown => Known::No,
        }
    }

    /// Whether it changes files, for a rule that allows: a tool that nobody knows may.
    pub(super) fn surely_writes(&self) -> Known {
        let is_known = self.line().is_some() || arguments::does(self.tool) == Does::Reads;
        match self.writes() {
            Known::No if !is_known => Known::Unknown,
            known => known,
        }
    }

    /// Whether it is one of the hosts' tools that write the file they name.
    fn is_editor(&self) -> bool {
        arguments::is_editor(self.tool)
    }

    /// The files that its arguments name, and those that its line writes.
    pub(super) fn written(&self) -> &[Target] {
        self.written.get_or_init(|| {
            let mut all: Vec<Option<Cow<'_, str>>> = Vec::new();
            let Some(named) = self.named() else {
                return vec![None];
            };
            all.extend(named.into_iter().filter_map(|named| match named {
                Named::Path(path) => Some(Some(path)),
                Named::Unseen => Some(None),
                Named::Glob(_) | Named::Directory(_) => None,
            }));
            match self.line().map(|line| &line.writes) {
                Some(Writes::Yes(writes)) => {
                    all.extend(
                        writes
                            .iter()
                            .map(|write| write.path.as_deref().map(of_shell)),
                    );
                }
                Some(Writes::Unreadable(_)) => all.push(None),
                Some(Writes::No) | None => {}
            }
            if is_too_much(all.len()) {
                return vec![None];
            }
            let forms = |path: Option<Cow<'_, str>>| path.map(|path| self.paths.forms(&path));
            all.into_iter().map(forms).collect()
        })
    }

    /// The places that it touches in any way.
    pub(super) fn places(&self) -> &Places {
        self.places.get_or_init(|| match self.named() {
            None => Places::default(),
            Some(named) => places(self.line(), &named, arguments::does(self.tool), self.paths),
        })
    }

    /// Whether it has a line that cannot be read in full.
    pub(super) fn is_unreadable(&self) -> bool {
        let writes = self.line().map(|line| &line.writes);
        matches!(writes, Some(Writes::Unreadable(_)))
    }

    /// What it would write, as people read it.
    pub(super) fn seen(&self) -> String {
        match self.line().map(|line| &line.writes) {
            Some(Writes::Yes(writes)) => {
                let shown = |write: &FileWrite| match &write.path {
                    Some(path) => format!("{} ({})", write.operation, shown(path)),
                    None => write.operation.clone(),
                };
                let writes: Vec<String> = writes.iter().take(MOST_SEEN).map(shown).collect();
                format!("It would write: {}.", writes.join(", "))
            }
            Some(Writes::Unreadable(why)) => {
                format!("Its line cannot be read, and so counts against it: {why}.")
            }
            Some(Writes::No) | None => String::new(),
        }
    }
}
