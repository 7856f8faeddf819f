//! `tools: read-only`: calls that are known to only read, and those that `writable` and `commands` open.

use workflow_shell::{Effect, FileWrite, SimpleCommand, analyze};

use super::call::{Call, Target};
use super::command_patterns::{CommandPatterns, reads_writable_repository};
use super::deciding_files::decides_anywhere;
use super::globs::Globs;
use super::known::Known;
use super::line_verdict::{self, LineFinding};
use super::paths::PLAIN_PATHS;
use super::suggestion;
use crate::definition::Opening;
use crate::diagnostic::shown;
use crate::pattern::{Anchor, names_match};
use crate::text::{joined, quoted};

/// The most commands, or paths, that a denial proposes to open.
const MAX_SUGGESTED: usize = 3;

/// The paths, commands and tools that are open although a level is read-only.
#[derive(Debug, Clone, Default)]
pub struct ReadOnly<'a> {
    /// The location of `read-only`, as `file:line`.
    pub source: &'a str,
    /// Globs of the files that may be written.
    pub writable: Vec<&'a str>,
    /// Patterns of the commands that may run.
    pub run: Vec<&'a str>,
    /// Names of the tools that may be called, with `*` for any characters.
    pub tools: Vec<&'a str>,
}

impl<'a> ReadOnly<'a> {
    /// Creates it from the keys of a definition.
    pub fn new(
        source: &'a str,
        writable: impl IntoIterator<Item = &'a String>,
        opened: impl IntoIterator<Item = &'a Opening>,
    ) -> Self {
        let opened: Vec<&Opening> = opened.into_iter().collect();
        let patterns = |of_tools: bool| {
            let is_one = |opening: &&&Opening| matches!(opening, Opening::Tool(_)) == of_tools;
            let patterns = opened.iter().filter(is_one);
            let patterns = patterns.flat_map(|opening| opening.patterns());
            patterns.map(String::as_str).collect()
        };
        Self {
            source,
            writable: writable.into_iter().map(String::as_str).collect(),
            run: patterns(false),
            tools: patterns(true),
        }
    }

    /// Returns, for display, why values of `writable` and `commands` open nothing, each behind its key.
    pub fn closed_patterns(&self) -> Vec<(&'static str, String)> {
        let writable = Globs::new(&self.writable, Anchor::Project);
        let closed = |pattern: &&str| {
            let patterns = CommandPatterns::new([*pattern]);
            let call = Call::new("", None, &*PLAIN_PATHS);
            // No file has this name, but for globs that match every file.
            let commands = analyze(&pattern.replace('*', "…")).commands;
            let opens = |one| patterns.opens(one, &call, Some(&writable), true);
            let why = commands.iter().find_map(|one| opens(one).err()?)?;
            Some(("commands", why.replace('…', "*")))
        };
        let decides = self.writable.iter().filter(|glob| decides_anywhere(glob));
        let no_file = decides.map(|glob| {
            let but = "which decides what programs run that only read";
            let why = format!("`writable` does not open `{}`, {but}.", shown(glob));
            ("writable", why)
        });
        no_file.chain(self.run.iter().filter_map(closed)).collect()
    }

    /// Describes it with the calls that rules open.
    pub(super) fn describe_with(&self, opened: impl Iterator<Item = String>) -> String {
        let mut open = opened_by(&self.writable, &self.run, &self.tools);
        open.extend(opened);
        match &*open {
            [] => "read-only".to_owned(),
            open => format!("read-only, except {}", joined(open, "and")),
        }
    }
}

/// Returns whether a path decides, in one of its forms, what programs run that only read.
fn decides(target: &Target) -> bool {
    let mut forms = target.iter().flatten();
    forms.any(|form| decides_anywhere(form.in_project.as_ref().unwrap_or(&form.absolute)))
}

/// What these globs, patterns of commands and names of tools open.
fn opened_by<T: AsRef<str>>(writable: &[T], commands: &[T], tools: &[T]) -> Vec<String> {
    let opened = [
        ("writing to", writable),
        ("running", commands),
        ("calling", tools),
    ];
    let opened = opened.iter().filter(|(_, items)| !items.is_empty());
    opened
        .map(|(what, items)| format!("{what} {}", listed(items)))
        .collect()
}

fn listed<T: AsRef<str>>(items: &[T]) -> String {
    joined(&quoted(items), "and")
}

/// What a read-only level opens, compiled.
#[derive(Debug, Clone)]
pub(super) struct Openings {
    pub(super) writable: Globs,
    commands: CommandPatterns,
    /// Tools that may be called, whatever they do.
    tools: Vec<String>,
    /// Tools that the user knows, although the tables do not.
    known: Vec<String>,
}

impl Openings {
    pub(super) fn new(read_only: &ReadOnly<'_>, known: &[String]) -> Self {
        Self {
            writable: Globs::new(&read_only.writable, Anchor::Project),
            commands: CommandPatterns::new(read_only.run.iter().copied()),
            tools: read_only.tools.iter().map(ToString::to_string).collect(),
            known: known.to_vec(),
        }
    }

    /// Returns whether a call does what is not open. `Unknown` is a call of an unknown tool, or with an unknown shell command.
    pub(super) fn forbids(&self, call: &Call<'_>) -> Known {
        // Of a shell of the host, the commands are open or not, and `*` is no shell.
        let opens = |tool: &String| {
            let may_open = !call.is_shell() || !call.name().is_host_shell() && !tool.contains('*');
            may_open && names_match(std::slice::from_ref(tool), call.tool)
        };
        if self.tools.iter().any(opens) {
            return Known::No;
        }
        let is_open = || {
            let targets = call.named_targets();
            !targets.is_empty() && targets.iter().all(|target| self.fits(call, target))
        };
        let writes = call.tool_writes();
        let is_known = || writes && call.only_edits() || names_match(&self.known, call.tool);
        let acts = call.acts() || writes && !is_open();
        match call.forbidden(acts, self.findings(call).as_deref()) {
            Known::No if !is_known() && call.unknown_tool().is_some() => Known::Unknown,
            Known::Unknown if !call.has_lines() && is_known() => Known::No,
            forbids => forbids,
        }
    }

    /// Returns what is not open of the shell lines of a call; `None` if it has none.
    fn findings<'c>(&self, call: &'c Call<'_>) -> Option<Vec<LineFinding<'c>>> {
        let is_writable =
            |write: &FileWrite| !self.writable.is_empty() && self.fits(call, &call.target(write));
        let is_open = |command: &SimpleCommand| match &command.effect {
            Effect::Reads => !reads_writable_repository(command, call, &self.writable),
            Effect::Writes(writes)
                if writes.iter().all(is_writable) && !command.has_project_variable =>
            {
                !writes.is_empty()
            }
            Effect::Writes(_) | Effect::RunsProjectCode | Effect::Unknown(_) => {
                let writable = Some(&self.writable);
                self.commands.opens(command, call, writable, true).is_ok()
            }
        };
        let analysis = call.shell_analysis()?;
        Some(line_verdict::findings(analysis, &is_open, &is_writable))
    }

    /// Returns whether a path is writable in all of its forms, and does not decide what programs run that only read.
    fn fits(&self, call: &Call<'_>, target: &Target) -> bool {
        !decides(target) && self.writable.match_all(target, call.paths)
    }

    /// Explains, for display, what of a call is not open, and how the user could open it.
    pub(super) fn seen(&self, call: &Call<'_>, forbids: Known) -> String {
        let why = call.unknown_tool();
        let why = why.filter(|_| forbids == Known::Unknown);
        let why = why.map(|why| format!("is unknown: {why}"));
        let acts = call
            .acts()
            .then(|| "changes something else than files".to_owned());
        if let Some(why) = acts.or(why) {
            let tool = shown(call.tool);
            return format!(
                "`{tool}` {why}.\nTo allow this, the user can add `commands: [{{tool: \"{tool}\"}}]`."
            );
        }
        let findings = self.findings(call).unwrap_or_default();
        let mut text = line_verdict::describe(&findings);
        let commands = || findings.iter().filter_map(LineFinding::command);
        let writable = Some(&self.writable);
        let mut closed =
            commands().map(|command| self.commands.opens(command, call, writable, true));
        if let Some(why) = closed.find_map(|opens| opens.err()?) {
            text = format!("{text} {why}");
        }
        // One that cannot be opened keeps the line closed.
        let runs = commands().filter(|command| !matches!(command.effect, Effect::Writes(_)));
        let patterns: Option<Vec<String>> = runs
            .map(|command| {
                let pattern = suggestion::pattern(command, call)?;
                let added = CommandPatterns::new([&*pattern]);
                let opens = added.opens(command, call, writable, true);
                opens.is_ok().then_some(pattern)
            })
            .collect();
        let keys = patterns.and_then(|patterns| {
            let commands = key_with("commands", &patterns)?;
            let paths = key_with("writable", &self.closed_paths(call, &findings)?)?;
            Some([commands, paths].concat())
        });
        let keys = keys.unwrap_or_default();
        let open = (!keys.is_empty()).then(|| {
            let keys = joined(&keys, "and");
            format!("To allow this, the user can add {keys}.")
        });
        let parts = [Some(text).filter(|text| !text.is_empty()), open];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Returns the paths that are written and not writable, for display; `None` if one of them cannot be opened by its name.
    fn closed_paths(&self, call: &Call<'_>, findings: &[LineFinding<'_>]) -> Option<Vec<String>> {
        let of_line = findings.iter().flat_map(LineFinding::writes);
        let of_line = of_line.map(|write| call.target(write));
        let of_tool = call.tool_writes().then(|| call.named_targets());
        let written = of_line.chain(of_tool.into_iter().flatten());
        let closed = written.filter(|target| !self.fits(call, target));
        let path = |target: Target| {
            let is_open = !decides(&target);
            let path = target?.into_iter().find_map(|form| form.in_project)?;
            let path = shown(&path);
            let is_plain = !path.is_empty() && !path.contains(['"', '*', '?', '[', '{']);
            (is_open && is_plain).then_some(path)
        };
        closed.map(path).collect()
    }

    /// Says, for display, what is allowed: this, and what rules of its level open for the tool of the call. That only read-only
    /// calls are is in the reason already.
    pub(super) fn allowed(&self, by_rules: &[&str]) -> String {
        let (writable, commands) = (self.writable.texts(), self.commands.texts());
        let mut allowed = vec!["read-only calls".to_owned()];
        allowed.extend(opened_by(writable, commands, &self.tools));
        allowed.extend((!by_rules.is_empty()).then(|| listed(by_rules)));
        if allowed.len() == 1 {
            return String::new();
        }
        format!("Only {} are allowed here.", joined(&allowed, "and"))
    }
}

/// Returns a key with these values, each once, as the user would write it, and nothing without values; `None` for too many to
/// write.
fn key_with(key: &str, values: &[String]) -> Option<Vec<String>> {
    let mut each: Vec<String> = Vec::new();
    for value in values.iter().map(|value| format!("\"{value}\"")) {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    let written = || format!("`{key}: [{}]`", each.join(", "));
    let keys = (!each.is_empty()).then(written).into_iter().collect();
    (each.len() <= MAX_SUGGESTED).then_some(keys)
}
