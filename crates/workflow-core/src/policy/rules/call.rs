//! Tool calls. Their properties are computed once, when a rule needs them.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::arguments::{self, PathArgument, ToolEffect};
use super::file_access::{AccessedPaths, accessed_paths, is_too_many};
use super::paths::{PathForm, Paths, of_shell};
use super::shell_lines::{self, ShellLine, with_nested_json};
use crate::diagnostic::shown;
use workflow_shell::{Analysis, FileWrite, Unreadable, Writes, analyze_in};

/// The number of writes of a shell line that are displayed.
const MAX_SHOWN_WRITES: usize = 3;

/// The number of shell lines of a call that are analyzed.
const MAX_SHELL_LINES: usize = 200;

/// A tool call of an agent.
#[derive(Debug)]
pub struct Call<'a> {
    /// The name of the tool.
    pub(super) tool: &'a str,
    input: Option<&'a RawValue>,
    pub(super) paths: &'a dyn Paths,
    fields: OnceCell<Option<Map<String, Value>>>,
    /// The arguments with nested JSON parsed; `None` if there is none.
    expanded: OnceCell<Option<Map<String, Value>>>,
    shell_lines: OnceCell<Vec<ShellLine>>,
    shell_analysis: OnceCell<Option<Analysis>>,
    accessed_paths: OnceCell<AccessedPaths>,
    written_paths: OnceCell<Vec<Target>>,
}

/// A truth value that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
    /// It cannot be determined, and counts against the call.
    Unknown,
}

impl From<bool> for Known {
    fn from(is_true: bool) -> Self {
        if is_true { Self::Yes } else { Self::No }
    }
}

/// A path of a call in all its forms; `None` if unknown.
pub(super) type Target = Option<Vec<PathForm>>;

impl<'a> Call<'a> {
    /// Creates a call with its arguments, if the host sent them.
    #[must_use]
    pub fn new(tool: &'a str, input: Option<&'a RawValue>, paths: &'a dyn Paths) -> Self {
        Self {
            tool,
            input,
            paths,
            fields: OnceCell::new(),
            expanded: OnceCell::new(),
            shell_lines: OnceCell::new(),
            shell_analysis: OnceCell::new(),
            accessed_paths: OnceCell::new(),
            written_paths: OnceCell::new(),
        }
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn tool(&self) -> &'a str {
        self.tool
    }

    /// Returns the arguments as JSON text; empty if they were not sent.
    #[must_use]
    pub fn input_text(&self) -> &'a str {
        self.input.map_or("", RawValue::get)
    }

    /// Returns the arguments; `None` if they were not sent or are not a valid map.
    pub(super) fn fields(&self) -> Option<&Map<String, Value>> {
        let read = || serde_json::from_str(self.input?.get()).ok();
        self.fields.get_or_init(read).as_ref()
    }

    /// Returns the arguments with nested JSON parsed.
    pub(super) fn expanded_fields(&self) -> Option<&Map<String, Value>> {
        let fields = self.fields()?;
        let expand = || match with_nested_json(fields) {
            Cow::Borrowed(_) => None,
            Cow::Owned(expanded) => Some(expanded),
        };
        Some(self.expanded.get_or_init(expand).as_ref().unwrap_or(fields))
    }

    /// Returns the combined analysis of its shell lines, if it has any.
    pub(super) fn shell_analysis(&self) -> Option<&Analysis> {
        let analyze = |line: &ShellLine| match &line.text {
            Some(text) => analyze_in(&line.directory, text),
            None => Analysis::unreadable(Unreadable::Syntax("it is no text".to_owned())),
        };
        let read = || {
            let lines = self.shell_lines();
            if lines.len() > MAX_SHELL_LINES {
                return Some(Analysis::unreadable(Unreadable::TooComplex));
            }
            lines.iter().map(analyze).reduce(Analysis::and)
        };
        self.shell_analysis.get_or_init(read).as_ref()
    }

    /// Returns the shell lines as they are written.
    pub(super) fn shell_lines(&self) -> &[ShellLine] {
        let read = || {
            let effect = arguments::tool_effect(self.tool);
            self.expanded_fields()
                .map_or_else(Vec::new, |fields| shell_lines::shell_lines(fields, effect))
        };
        self.shell_lines.get_or_init(read)
    }

    /// Returns the paths and globs in its arguments; `None` if they were not sent.
    fn path_arguments(&self) -> Option<Vec<PathArgument<'_>>> {
        self.expanded_fields().map(arguments::path_arguments)
    }

    /// Returns whether it changes files.
    pub(super) fn writes(&self) -> Known {
        let line = self.shell_analysis().map(|line| &line.writes);
        match line {
            Some(Writes::Yes(_)) => return Known::Yes,
            Some(Writes::Unreadable(_)) => return Known::Unknown,
            Some(Writes::No) | None => {}
        }
        match arguments::tool_effect(self.tool) {
            ToolEffect::RunsShell if line.is_none() => Known::Unknown,
            ToolEffect::Changes(_) if self.is_editor() => Known::Yes,
            ToolEffect::Changes(_) => {
                Known::from(self.path_arguments().is_none_or(|named| !named.is_empty()))
            }
            ToolEffect::Reads | ToolEffect::RunsShell | ToolEffect::Unknown => Known::No,
        }
    }

    /// Returns whether it changes files, for a rule that allows: an unknown tool may.
    pub(super) fn certainly_writes(&self) -> Known {
        let is_known = self.shell_analysis().is_some()
            || arguments::tool_effect(self.tool) == ToolEffect::Reads;
        match self.writes() {
            Known::No if !is_known => Known::Unknown,
            known => known,
        }
    }

    /// Returns whether it is one of the hosts' tools that write the file they name.
    fn is_editor(&self) -> bool {
        arguments::is_editor(self.tool)
    }

    /// Returns the files that its arguments name and that its shell lines write.
    pub(super) fn written_paths(&self) -> &[Target] {
        self.written_paths.get_or_init(|| {
            let mut all: Vec<Option<Cow<'_, str>>> = Vec::new();
            let Some(named) = self.path_arguments() else {
                return vec![None];
            };
            all.extend(named.into_iter().filter_map(|named| match named {
                PathArgument::Path(path) => Some(Some(path)),
                PathArgument::Opaque => Some(None),
                PathArgument::Glob(_) | PathArgument::Directory(_) => None,
            }));
            match self.shell_analysis().map(|line| &line.writes) {
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
            if is_too_many(all.len()) {
                return vec![None];
            }
            let forms = |path: Option<Cow<'_, str>>| path.map(|path| self.paths.forms(&path));
            all.into_iter().map(forms).collect()
        })
    }

    /// Returns all paths that it accesses.
    pub(super) fn accessed_paths(&self) -> &AccessedPaths {
        self.accessed_paths
            .get_or_init(|| match self.path_arguments() {
                None => AccessedPaths::default(),
                Some(named) => accessed_paths(
                    self.shell_analysis(),
                    &named,
                    arguments::tool_effect(self.tool),
                    self.paths,
                ),
            })
    }

    /// Returns whether it has a shell line that cannot be analyzed.
    pub(super) fn is_unreadable(&self) -> bool {
        let writes = self.shell_analysis().map(|line| &line.writes);
        matches!(writes, Some(Writes::Unreadable(_)))
    }

    /// Describes, for display, what its shell lines would write.
    pub(super) fn write_summary(&self) -> String {
        match self.shell_analysis().map(|line| &line.writes) {
            Some(Writes::Yes(writes)) => {
                let shown = |write: &FileWrite| match &write.path {
                    Some(path) => format!("{} ({})", write.operation, shown(path)),
                    None => write.operation.clone(),
                };
                let writes: Vec<String> = writes.iter().take(MAX_SHOWN_WRITES).map(shown).collect();
                format!("It would write: {}.", writes.join(", "))
            }
            Some(Writes::Unreadable(why)) => {
                format!("Its line cannot be read, and so counts against it: {why}.")
            }
            Some(Writes::No) | None => String::new(),
        }
    }
}
