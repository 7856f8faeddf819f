//! A tool call, and what can be known of it: read once, and only what a rule asks for.

use std::cell::OnceCell;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::paths::{PathForm, Paths};
use crate::diagnostic::shown;
use crate::guard::shell::{self, Line, Word, Writes};

/// The fields that hold a path, in the tools of the usual hosts.
const PATH_FIELDS: [&str; 4] = ["path", "file_path", "filePath", "notebook_path"];
/// The fields that hold a line for the shell.
const COMMAND_FIELDS: [&str; 2] = ["command", "cmd"];
/// The tools that write the file they name, in lower case.
const WRITING_TOOLS: [&str; 4] = ["edit", "write", "multiedit", "notebookedit"];

/// How many writes of a line are told.
const MOST_SEEN: usize = 3;

/// A call that an agent asks for.
#[derive(Debug)]
pub struct Call<'a> {
    /// The tool's name.
    pub(super) tool: &'a str,
    input: Option<&'a RawValue>,
    pub(super) paths: &'a dyn Paths,
    read: OnceCell<Option<Map<String, Value>>>,
    line: OnceCell<Option<Line>>,
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
            line: OnceCell::new(),
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

    /// The line for the shell, if the call has one.
    pub(super) fn line(&self) -> Option<&Line> {
        let read = || Some(shell::read(self.line_text()?));
        self.line.get_or_init(read).as_ref()
    }

    /// The line for the shell, as it is written.
    pub(super) fn line_text(&self) -> Option<&str> {
        let fields = self.fields()?;
        COMMAND_FIELDS
            .iter()
            .find_map(|key| fields.get(*key)?.as_str())
    }

    /// Whether it changes files.
    pub(super) fn writes(&self) -> Known {
        if let Some(line) = self.line() {
            return match &line.writes {
                Writes::No => Known::No,
                Writes::Yes(_) => Known::Yes,
                Writes::Unreadable(_) => Known::Unknown,
            };
        }
        let tool = self.tool.to_ascii_lowercase();
        if WRITING_TOOLS.contains(&&*tool) {
            return Known::Yes;
        }
        // A shell whose line was not told.
        let is_shell = matches!(&*tool, "bash" | "shell" | "sh");
        if is_shell { Known::Unknown } else { Known::No }
    }

    /// The files that its arguments name, and those that its line writes.
    pub(super) fn written(&self) -> Vec<Target> {
        match self.line() {
            None => self.named(),
            Some(line) => match &line.writes {
                Writes::No => Vec::new(),
                Writes::Yes(writes) => writes
                    .iter()
                    .map(|write| write.path.as_deref().map(|path| self.paths.forms(path)))
                    .collect(),
                Writes::Unreadable(_) => vec![None],
            },
        }
    }

    /// The files that it names in any way.
    pub(super) fn touched(&self) -> Vec<Target> {
        let Some(line) = self.line() else {
            return self.named();
        };
        let words = line
            .commands
            .iter()
            .flat_map(|simple| simple.words.iter().skip(1));
        let words = words.filter_map(Word::text);
        // What stands behind `=` may be a path as well: `--file=.env`, `if=/dev/sda`.
        let words =
            words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]);
        let words = words.flatten().filter(|word| !word.is_empty());
        let read = words.map(|word| Some(self.paths.forms(word)));
        read.chain(self.written()).collect()
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
                let shown = |write: &shell::Write| match &write.path {
                    Some(path) => format!("{} ({})", write.how, shown(path)),
                    None => write.how.clone(),
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

    /// The files that its arguments name.
    fn named(&self) -> Vec<Target> {
        let Some(fields) = self.fields() else {
            return vec![None];
        };
        let paths = PATH_FIELDS.iter().filter_map(|key| fields.get(*key));
        paths
            .map(|value| value.as_str().map(|path| self.paths.forms(path)))
            .collect()
    }
}
