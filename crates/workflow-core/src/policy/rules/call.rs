//! Tool calls. Their properties are computed once, when a rule needs them.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::digest::Output;
use sha2::{Digest, Sha256};

use super::acting_fields::acting_field;
use super::arguments::{self, PathArgument, all_texts, is_path_field};
use super::comparisons::{COMPARISONS_OF_A_PATH, Comparisons};
use super::file_access::{AccessedPath, AccessedPaths, accessed_paths, is_too_many};
use super::known::Known;
use super::line_verdict::{self, LineFinding};
use super::patches::{contains_patch, directory_of_patch, patched_files, path_in};
use super::paths::{PathForm, Paths, of_shell};
use super::shell_lines::{self, ShellLine};
use crate::diagnostic::shown;
use crate::tool_names::{ToolEffect, ToolName, is_listed, normalized};
use workflow_shell::{
    AccessKind, Analysis, Effect, FileWrite, UnknownReason, Unreadable, analyze_in,
};

/// The number of shell lines of a call that are analyzed.
const MAX_SHELL_LINES: usize = 200;

/// A tool call of an agent.
#[derive(Debug)]
pub struct Call<'a> {
    /// The name of the tool.
    pub(super) tool: &'a str,
    input: Option<&'a RawValue>,
    pub(super) paths: &'a dyn Paths,
    /// The directory in which it opens relative paths; empty for that of the session.
    directory: &'a str,
    is_part: bool,
    name: OnceCell<ToolName>,
    written_fields: OnceCell<Option<Map<String, Value>>>,
    fields: OnceCell<Option<Map<String, Value>>>,
    shell_lines: OnceCell<Vec<ShellLine>>,
    shell_analysis: OnceCell<Option<Analysis>>,
    comparisons: Comparisons,
    path_arguments: OnceCell<Option<Vec<PathArgument>>>,
    accessed_paths: OnceCell<AccessedPaths>,
    written_paths: OnceCell<Vec<Target>>,
}

/// A path of a call in all its forms; `None` if unknown.
pub(super) type Target = Option<Vec<PathForm>>;

/// Returns a hash of texts.
pub(crate) fn hash_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Output<Sha256> {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize()
}

/// Returns the files of a patch in a shell line.
fn files_of_patch(line: &ShellLine, text: &str) -> Vec<PathArgument> {
    let directory = directory_of_patch(text);
    let around = path_in(&line.directory, directory.unwrap_or_default());
    let files = patched_files(text).into_iter().map(|file| {
        file.map_or(PathArgument::Opaque, |file| {
            PathArgument::Path(path_in(&around, &file))
        })
    });
    let is_unclear = directory.is_none().then_some(PathArgument::Opaque);
    files.chain(is_unclear).collect()
}

impl<'a> Call<'a> {
    /// Creates a call with its arguments, if the host sent them.
    pub fn new(tool: &'a str, input: Option<&'a RawValue>, paths: &'a dyn Paths) -> Self {
        Self {
            tool,
            input,
            paths,
            directory: "",
            is_part: false,
            name: OnceCell::new(),
            written_fields: OnceCell::new(),
            fields: OnceCell::new(),
            shell_lines: OnceCell::new(),
            shell_analysis: OnceCell::new(),
            comparisons: Comparisons::default(),
            path_arguments: OnceCell::new(),
            accessed_paths: OnceCell::new(),
            written_paths: OnceCell::new(),
        }
    }

    /// The same call, made in a directory that may be another one than that of the session.
    #[must_use]
    pub fn opened_in(self, directory: &'a str) -> Self {
        Self { directory, ..self }
    }

    /// The same call, as a further part of one that is decided in several.
    #[must_use]
    pub fn as_part(mut self) -> Self {
        self.is_part = true;
        self
    }

    /// Returns true if it is a further part of a call: budgets count the call once.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Returns a path of the arguments relative to the directory of the session.
    pub(super) fn opened<'p>(&self, path: &'p str) -> Cow<'p, str> {
        // The hosts' tools ignore a leading `@`.
        let inner = path.strip_prefix('@').unwrap_or(path);
        let is_home = inner == "~" || inner.starts_with("~/");
        if self.directory.is_empty() || inner.starts_with('/') || is_home {
            return Cow::Borrowed(path);
        }
        // A directory may have a name that starts like a path of the hosts.
        let prefix = if self.directory.starts_with(['@', '~']) {
            "./"
        } else {
            ""
        };
        Cow::Owned(prefix.to_owned() + &path_in(self.directory, inner))
    }

    /// Returns the name of the tool.
    pub(crate) fn tool(&self) -> &'a str {
        self.tool
    }

    /// Returns the arguments as JSON text; empty if they were not sent.
    pub(crate) fn input_text(&self) -> &'a str {
        self.input.map_or("", RawValue::get)
    }

    /// Returns the arguments as they are written; `None` if they were not sent or are not a valid map.
    pub(super) fn written_fields(&self) -> Option<&Map<String, Value>> {
        self.written_fields
            .get_or_init(|| self.parsed_input())
            .as_ref()
    }

    /// Parses the arguments.
    fn parsed_input(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.input?.get()).ok()
    }

    /// Returns why its arguments cannot be read; `None` if they can, or were not sent.
    pub(super) fn unreadable(&self) -> Option<serde_json::Error> {
        let input = self.input.filter(|_| self.fields().is_none())?;
        serde_json::from_str::<Map<String, Value>>(input.get()).err()
    }

    /// Returns the arguments, with those parsed that are a text of JSON.
    pub(super) fn fields(&self) -> Option<&Map<String, Value>> {
        let read = || {
            let mut fields = self.parsed_input()?;
            shell_lines::parse_nested(&mut fields);
            Some(fields)
        };
        self.fields.get_or_init(read).as_ref()
    }

    /// Returns the combined analysis of its shell lines, if it has any.
    pub(super) fn shell_analysis(&self) -> Option<&Analysis> {
        let analyze = |line: &ShellLine| match &line.text {
            Some(text) => analyze_in(&self.opened(&line.directory), text),
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

    /// Returns the effect of its shell lines together, if it has any.
    fn shell_effect(&self) -> Option<Effect> {
        self.shell_analysis().map(Analysis::effect)
    }

    /// Returns the comparisons of commands so far.
    pub(super) fn comparisons(&self) -> &Comparisons {
        &self.comparisons
    }

    /// Returns what unknown calls have in common that are allowed together, as a hash: the tool, and exactly these shell lines in
    /// the same directory.
    pub(crate) fn likeness(&self) -> String {
        let lines = self.shell_lines().iter();
        let lines = lines.flat_map(|line| [Some(&line.directory), line.text.as_ref()]);
        let lines = lines.map(|part| part.map_or("", String::as_str));
        format!("{:x}", hash_of([self.tool].into_iter().chain(lines)))
    }

    /// Returns whether it has shell lines.
    pub(super) fn has_lines(&self) -> bool {
        !self.shell_lines().is_empty()
    }

    /// Returns the shell lines as they are written.
    pub(super) fn shell_lines(&self) -> &[ShellLine] {
        let read = || {
            let fields = self.fields();
            fields.map_or_else(Vec::new, |fields| {
                shell_lines::shell_lines(fields, self.tool_effect())
            })
        };
        self.shell_lines.get_or_init(read)
    }

    /// Returns the paths and globs in its arguments, and the files of patches, also of those in its shell lines; `None` if they
    /// were not sent.
    fn path_arguments(&self) -> Option<&[PathArgument]> {
        let read = || {
            let mut found = arguments::path_arguments(self.name(), self.fields()?);
            for line in self.shell_lines() {
                let text = line.text.as_deref().filter(|text| contains_patch(text));
                found.extend(text.into_iter().flat_map(|text| files_of_patch(line, text)));
            }
            for argument in &mut found {
                if let PathArgument::Path(path) = argument {
                    *path = self.opened(path).into_owned();
                }
            }
            Some(found)
        };
        self.path_arguments.get_or_init(read).as_deref()
    }

    /// Returns whether it changes files, for a rule that forbids: code of the project does not.
    pub(super) fn writes(&self) -> Known {
        self.forbidden(self.tool_writes(), self.line_findings().as_deref())
    }

    /// Returns whether it does something forbidden: the tool itself, or its shell lines by what was found in them.
    pub(super) fn forbidden(&self, by_tool: bool, findings: Option<&[LineFinding<'_>]>) -> Known {
        match findings {
            _ if by_tool => Known::Yes,
            Some(findings) => line_verdict::worst(findings),
            None if self.lacks_line() => Known::Unknown,
            None => Known::No,
        }
    }

    /// Returns what its shell lines write, and what of them is unknown; `None` if it has none.
    pub(super) fn line_findings(&self) -> Option<Vec<LineFinding<'_>>> {
        self.shell_analysis().map(line_verdict::of_line)
    }

    /// Returns whether it changes files, for a rule that allows: an unknown tool and code of the project may.
    pub(super) fn certainly_writes(&self) -> Known {
        let is_known = match self.shell_effect() {
            Some(effect) => effect == Effect::Reads,
            None => self.unknown_tool().is_none(),
        };
        match self.writes() {
            Known::No if !is_known => Known::Unknown,
            known => known,
        }
    }

    /// Returns whether the tool itself changes files, apart from its shell lines.
    pub(super) fn tool_writes(&self) -> bool {
        let name = self.name();
        let names_files = || self.path_arguments().is_none_or(|named| !named.is_empty());
        matches!(name.effect, ToolEffect::Changes(_))
            && (name.is_editor() || name.has("about_files") || names_files())
    }

    /// Returns whether it is a host's tool that is known to change something else than files.
    pub(super) fn acts(&self) -> bool {
        is_listed("acts", &normalized(self.tool))
    }

    /// Returns the texts that such a tool gets, which it may send as a prompt.
    pub fn sent_texts(&self) -> Vec<&str> {
        let fields = self.fields().filter(|_| self.acts());
        let values = fields.into_iter().flat_map(Map::values);
        values.flat_map(all_texts).collect()
    }

    /// Returns whether the tool is known to change local files that it names, and nothing else.
    pub(super) fn only_edits(&self) -> bool {
        let is_content = |key: &String| is_listed("contents", &normalized(key));
        let mut fields = self.fields().into_iter().flat_map(Map::keys);
        self.name().is_editor()
            || self.name().only_edits() && fields.all(|key| is_path_field(key) || is_content(key))
    }

    /// Returns what the name of the tool says.
    pub(super) fn name(&self) -> &ToolName {
        self.name.get_or_init(|| ToolName::of(self.tool))
    }

    /// Returns what the tool does according to its name.
    pub(super) fn tool_effect(&self) -> ToolEffect {
        self.name().effect
    }

    /// Returns why it is not known that the tool itself only reads, apart from its shell lines, for display; `None` if it is known.
    pub(super) fn unknown_tool(&self) -> Option<String> {
        let why = match self.tool_effect() {
            ToolEffect::RunsShell if self.lacks_line() => {
                "no argument is the command line that it runs".to_owned()
            }
            ToolEffect::Reads | ToolEffect::RunsShell => return None,
            ToolEffect::Unknown if self.name().reads() => {
                let field = shown(acting_field(self.name(), self.fields()?)?);
                format!("its argument `{field}` may change something")
            }
            ToolEffect::Unknown | ToolEffect::Changes(_) => {
                "it is not a tool that is known to only read".to_owned()
            }
        };
        Some(why)
    }

    /// Returns whether it is a shell without a line. One of the host that is given no text runs nothing: `write_stdin` reads then.
    fn lacks_line(&self) -> bool {
        let has_text =
            |fields: &Map<_, _>| fields.values().any(|value| !all_texts(value).is_empty());
        let may_run = || !self.name().is_host_shell() || self.fields().is_none_or(has_text);
        self.is_shell() && !self.has_lines() && may_run()
    }

    /// Returns whether the tool runs shell lines.
    pub(super) fn is_shell(&self) -> bool {
        self.tool_effect() == ToolEffect::RunsShell
    }

    /// Returns the files that its arguments name and that its shell lines write.
    pub(super) fn written_paths(&self) -> &[Target] {
        self.written_paths.get_or_init(|| {
            let mut all = self.named_targets();
            match self.shell_effect() {
                Some(Effect::Writes(writes)) if is_too_many(all.len() + writes.len()) => {
                    return vec![None];
                }
                Some(Effect::Writes(writes)) => {
                    all.extend(writes.iter().map(|write| self.target(write)));
                }
                Some(Effect::Unknown(_)) => all.push(None),
                Some(Effect::Reads | Effect::RunsProjectCode) | None => {}
            }
            all
        })
    }

    /// Returns the files that its arguments name.
    pub(super) fn named_targets(&self) -> Vec<Target> {
        let target = |named: &PathArgument| match named {
            PathArgument::Path(path) => Some(Some(self.paths.forms(path))),
            PathArgument::Opaque => Some(None),
            PathArgument::Glob(_) | PathArgument::Directory(_) => None,
        };
        match self.path_arguments() {
            Some(named) if !is_too_many(named.len()) => named.iter().filter_map(target).collect(),
            Some(_) | None => vec![None],
        }
    }

    /// Returns the file that a shell line writes, in all its forms, with its copies: `cp a docs` writes `docs/a`.
    pub(super) fn target(&self, write: &FileWrite) -> Target {
        let path = write.path.as_deref()?;
        if is_too_many(self.shell_analysis()?.file_accesses.len()) {
            return None;
        }
        let is_copy = |copy: &&AccessedPath| {
            let rest = copy.path.strip_prefix(path.trim_end_matches('/'));
            let is_below = rest.is_some_and(|rest| rest.starts_with('/'));
            is_below && copy.kind == AccessKind::Write && copy.tail.len() < 2
        };
        let copies = self.accessed_paths().paths.iter().filter(is_copy);
        let forms = |copy: &AccessedPath| copy.tail.is_empty().then(|| copy.forms.clone());
        let copies: Option<Vec<_>> = copies.map(forms).collect();
        Some([self.paths.forms(&of_shell(path)), copies?.concat()].concat())
    }

    /// Returns whether two directories are certainly the same; the empty one is that of the session.
    pub(super) fn is_same_directory(&self, one: &str, other: &str) -> bool {
        let forms = |directory| self.paths.forms(&of_shell(directory));
        let is_known = || {
            let known = forms(other);
            forms(one).iter().all(|form| known.contains(form))
        };
        one == other || self.comparisons.spend(COMPARISONS_OF_A_PATH) && is_known()
    }

    /// Returns all paths that it accesses.
    pub(super) fn accessed_paths(&self) -> &AccessedPaths {
        self.accessed_paths
            .get_or_init(|| match self.path_arguments() {
                None => AccessedPaths::default(),
                Some(named) => {
                    accessed_paths(self.shell_analysis(), named, self.tool_effect(), self.paths)
                }
            })
    }

    /// Returns whether its shell lines run commands that are not known at all, so that rules on commands and paths
    /// cannot see what they are about.
    pub(super) fn hides_commands(&self) -> bool {
        self.shell_analysis()
            .is_some_and(line_verdict::hides_commands)
    }

    /// Returns whether an unknown command of its shell lines has an argument that only the shell knows.
    pub(super) fn may_write_anywhere(&self) -> bool {
        let mut commands = self
            .shell_analysis()
            .into_iter()
            .flat_map(|line| &line.commands);
        commands.any(|command| {
            matches!(&command.effect, Effect::Unknown(unknown) if unknown.reason == UnknownReason::Expansion)
        })
    }
}
