//! `tools: read-only`: calls that change nothing, and those that `writable` and `commands` open.

use workflow_shell::{Analysis, Effect, FileWrite, SimpleCommand};

use super::call::{Call, Target};
use super::command_patterns::CommandPatterns;
use super::globs::Globs;
use super::known::Known;
use super::line_verdict::{self, LineFinding, is_of_command};
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use crate::text::joined;

/// The paths and commands that are open although a level is read-only.
#[derive(Debug, Clone, Default)]
pub struct ReadOnly<'a> {
    /// The location of `read-only`, as `file:line`.
    pub source: &'a str,
    /// Globs of the files that may be written.
    pub writable: Vec<&'a str>,
    /// Patterns of the commands that may run.
    pub run: Vec<&'a str>,
}

impl<'a> ReadOnly<'a> {
    /// Creates it from the keys of a definition.
    #[must_use]
    pub fn new(
        source: &'a str,
        writable: impl IntoIterator<Item = &'a String>,
        run: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        Self {
            source,
            writable: writable.into_iter().map(String::as_str).collect(),
            run: run.into_iter().map(String::as_str).collect(),
        }
    }

    /// Describes it with the calls that rules open.
    pub(super) fn describe_with(&self, opened: impl Iterator<Item = String>) -> String {
        let mut open = Vec::new();
        if !self.writable.is_empty() {
            open.push(format!("writing to {}", quoted(&self.writable)));
        }
        if !self.run.is_empty() {
            open.push(format!("running {}", quoted(&self.run)));
        }
        open.extend(opened);
        match &*open {
            [] => "read-only".to_owned(),
            open => format!("read-only, except {}", joined(open, "and")),
        }
    }
}

fn quoted<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|item| format!("`{}`", item.as_ref()))
        .collect();
    joined(&items, "and")
}

/// A read-only level, compiled.
#[derive(Debug, Clone)]
pub(super) struct ReadOnlyRule {
    /// The rule in the form of others, for display and for consent.
    pub(super) rule: Rule,
    writable: Globs,
    run: CommandPatterns,
}

impl ReadOnlyRule {
    pub(super) fn new(level: &str, read_only: &ReadOnly<'_>) -> Self {
        let writable: Vec<String> = read_only.writable.iter().map(ToString::to_string).collect();
        let mut name = level.to_owned();
        if let Some(first) = name.get(..1) {
            let first = first.to_ascii_lowercase();
            name.replace_range(..1, &first);
        }
        Self {
            rule: Rule {
                writes: Some(true),
                reason: Some(format!("{name} is read-only")),
                source: read_only.source.to_owned(),
                ..Rule::new(RuleAction::Block, "*")
            },
            writable: Globs::in_project(&writable),
            run: CommandPatterns::new(read_only.run.iter().copied()),
        }
    }

    /// Returns whether it forbids a call. `Unknown` is a call with an unknown shell command.
    pub(super) fn forbids(&self, call: &Call<'_>) -> Known {
        let by_tool = match call.tool_writes() {
            Known::No => Known::No,
            Known::Yes | Known::Unknown => {
                let targets = call.named_targets();
                let is_open =
                    !targets.is_empty() && targets.iter().all(|target| self.fits(call, target));
                Known::from(!is_open)
            }
        };
        match (by_tool, self.findings(call)) {
            (Known::No, Some(findings)) => line_verdict::worst(&findings),
            (Known::No, None) if call.is_shell() => Known::Unknown,
            (known, _) => known,
        }
    }

    /// Returns what is not open of the shell lines of a call; `None` if it has none.
    fn findings<'c>(&self, call: &'c Call<'_>) -> Option<Vec<LineFinding<'c>>> {
        let analysis = call.shell_analysis()?;
        let mut found: Vec<LineFinding<'_>> = Vec::new();
        if let Some(reason) = &analysis.unreadable {
            found.push(LineFinding::Unreadable(reason));
        }
        found.extend(self.closed_commands(call, analysis));
        let closed = |write: &&FileWrite| !self.is_writable(call, write);
        found.extend(
            analysis
                .redirections
                .iter()
                .filter(closed)
                .map(LineFinding::Redirection),
        );
        Some(found)
    }

    fn closed_commands<'c>(
        &self,
        call: &'c Call<'_>,
        analysis: &'c Analysis,
    ) -> impl Iterator<Item = LineFinding<'c>> {
        let is_open = |command: &SimpleCommand| match &command.effect {
            Effect::Reads => true,
            Effect::Writes(writes) if writes.iter().all(|write| self.is_writable(call, write)) => {
                !writes.is_empty()
            }
            Effect::Unknown(unknown) if !is_of_command(unknown) => false,
            Effect::Writes(_) | Effect::RunsProjectCode | Effect::Unknown(_) => {
                self.run.opens(command, call.comparisons()) == Ok(true)
            }
        };
        let closed: Vec<_> = analysis
            .commands
            .iter()
            .filter(|command| !is_open(command))
            .collect();
        closed.into_iter().map(LineFinding::Command)
    }

    fn is_writable(&self, call: &Call<'_>, write: &FileWrite) -> bool {
        !self.writable.is_empty() && self.fits(call, &call.target(write))
    }

    /// Returns whether a path is writable in all of its forms.
    fn fits(&self, call: &Call<'_>, target: &Target) -> bool {
        let fits = |form| self.writable.matches(form, call.paths) == Some(true);
        let forms = target.as_deref().unwrap_or_default();
        !forms.is_empty() && forms.iter().all(fits)
    }

    /// Explains, for display, what of a call is not open, and how the user could open it.
    pub(super) fn seen(&self, call: &Call<'_>) -> String {
        let findings = self.findings(call).unwrap_or_default();
        let mut text = line_verdict::describe(&findings);
        let open = if let Some(pattern) = findings.iter().find_map(LineFinding::pattern) {
            Some(format!("`commands: [\"{pattern}\"]`"))
        } else {
            let path = self.closed_path(call, &findings);
            path.map(|path| format!("`writable: [\"{path}\"]`"))
        };
        if let Some(open) = open {
            text.push_str("\nTo allow this, the user can add ");
            text.push_str(&open);
            text.push('.');
        }
        text.trim_start().to_owned()
    }

    /// Returns the first path that is written and not writable, for display, if it is in the project.
    fn closed_path(&self, call: &Call<'_>, findings: &[LineFinding<'_>]) -> Option<String> {
        let of_line = findings.iter().flat_map(LineFinding::writes);
        let of_line = of_line.map(|write| call.target(write));
        let of_tool = match call.tool_writes() {
            Known::Yes => call.named_targets(),
            Known::No | Known::Unknown => Vec::new(),
        };
        let mut closed = of_line
            .chain(of_tool)
            .filter(|target| !self.fits(call, target));
        let path =
            closed.find_map(|target| target?.into_iter().find_map(|form| form.in_project))?;
        Some(shown(&path))
            .filter(|path| !path.is_empty() && !path.contains(['"', '*', '?', '[', '{']))
    }

    /// Says, for display, what is allowed for the tool of a call: this, and what rules of its level open.
    pub(super) fn allowed(&self, call: &Call<'_>, by_rules: &[&str]) -> String {
        let mut allowed = vec!["read-only calls".to_owned()];
        if !self.writable.is_empty() {
            allowed.push(format!("writing to {}", quoted(self.writable.texts())));
        }
        if call.shell_analysis().is_some() && !self.run.is_empty() {
            allowed.push(quoted(self.run.texts()));
        }
        if !by_rules.is_empty() {
            allowed.push(quoted(by_rules));
        }
        format!("Only {} are allowed here.", joined(&allowed, "and"))
    }
}
