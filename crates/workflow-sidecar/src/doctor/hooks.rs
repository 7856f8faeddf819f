//! Hosts that start hooks: a row for each that is on the path or has our hooks.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_core::diagnostic::shown;

use super::child::{VERSION_TIMEOUT, VersionAnswer, first_line_of_version};
use super::result::{CheckStatus, InstallationCheck};
use crate::files::home_dir;
use crate::hook_hosts::{EventName, HOSTS, HookHost};
use crate::install::{Directories, InstallTarget, Installed, codex_trust, installed, plan};
use crate::platform::{ProgramLine, RunningProgram};

/// The time for the answer of an installed command, which gives itself three seconds.
const TIME_TO_ANSWER: Duration = Duration::from_secs(10);

/// Checks each host that is on the path, or that our hooks are installed in, for the user or for the project.
pub(super) fn hosts(project: &Path) -> Vec<InstallationCheck> {
    let (Some(home), Ok(program)) = (home_dir(), std::env::current_exe()) else {
        return Vec::new();
    };
    let directories = Directories::of_process(&home);
    // Events have absolute directories.
    let project = std::path::absolute(project).unwrap_or_else(|_| project.to_path_buf());
    let versions = HOSTS.map(|host| (host, thread::spawn(move || version(host))));
    let rows = versions.map(|(host, version)| {
        let version = version.join().expect("asking for a version does not panic");
        Row::of(host, &version, &directories, &project, &program)
    });
    rows.into_iter().flatten().collect()
}

/// The version of a host, by the first of its programs that is on the path.
fn version(host: &HookHost) -> VersionAnswer {
    let answers = host
        .programs
        .iter()
        .map(|name| first_line_of_version(name, VERSION_TIMEOUT, |line| number(line).is_some()));
    let mut answers = answers.filter(|answer| *answer != VersionAnswer::Missing);
    answers.next().unwrap_or(VersionAnswer::Missing)
}

/// The version in a line such as `codex-cli 0.169.0`.
fn number(line: &str) -> Option<&str> {
    let mut words = line.split(|c: char| c.is_whitespace() || c == '(' || c == ',');
    words
        .find(|word| {
            let word = word.trim_start_matches('v');
            word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
        })
        .map(|word| word.trim_start_matches('v').trim_end_matches('.'))
}

/// Facts about a host.
struct Row {
    facts: Vec<String>,
    problems: Vec<(CheckStatus, String, String)>,
}

impl Row {
    /// The row of a host; `None` if it is neither on the path nor configured.
    fn of(
        host: &'static HookHost,
        version: &VersionAnswer,
        directories: &Directories,
        project: &Path,
        program: &Path,
    ) -> Option<InstallationCheck> {
        let mut row = Self {
            facts: Vec::new(),
            problems: Vec::new(),
        };
        row.version(host, version);
        let mut has_hooks = false;
        // In the home directory both are the same files.
        let of_project = Some(project).filter(|project| *project != directories.home);
        for at in std::iter::once(None).chain(of_project.map(Some)) {
            let target = InstallTarget {
                directories,
                project: at,
                program,
                state: None,
            };
            if let Some(installed) = installed(host, &target) {
                has_hooks = true;
                row.installation(host, &target, &installed, project);
                row.trust(host, version, &installed, directories, project);
            }
        }
        match (has_hooks, version) {
            (false, VersionAnswer::Missing) => None,
            (false, _) => {
                row.facts.push("no hooks are installed".to_owned());
                let check = row.check(host);
                Some(check.help(format!("workflow-sidecar install {}", host.name)))
            }
            (true, VersionAnswer::Missing) => {
                row.facts
                    .push(format!("`{}` is not on the PATH", host.name));
                Some(row.check(host))
            }
            (true, _) => Some(row.check(host)),
        }
    }

    fn check(self, host: &HookHost) -> InstallationCheck {
        let worst = self.problems.iter().max_by_key(|(status, ..)| *status);
        let problems = self.problems.iter().map(|(_, text, _)| text);
        let facts: Vec<&str> = self
            .facts
            .iter()
            .chain(problems)
            .map(String::as_str)
            .collect();
        let text = facts.join("; ");
        match worst {
            Some((status, _, help)) => InstallationCheck::new(host.name, *status, text).help(help),
            None => InstallationCheck::ok(host.name, text),
        }
    }

    fn problem(&mut self, status: CheckStatus, text: impl Into<String>, help: impl Into<String>) {
        self.problems.push((status, text.into(), help.into()));
    }

    fn version(&mut self, host: &HookHost, version: &VersionAnswer) {
        match version {
            // It is named behind what is installed.
            VersionAnswer::Missing => {}
            VersionAnswer::Slow { path } => {
                let text = format!("{} does not print its version in time", path.display());
                self.problem(CheckStatus::Warn, text, "run it with --version");
            }
            VersionAnswer::Answered { line, .. } => {
                let found = number(line).map_or_else(|| "no version".to_owned(), shown);
                self.facts.push(match host.tested {
                    Some(tested) if tested == found => found,
                    Some(tested) => format!("{found}, tested with {tested}"),
                    None => format!("{found}, untested"),
                });
            }
        }
    }

    fn installation(
        &mut self,
        host: &'static HookHost,
        target: &InstallTarget<'_>,
        installed: &Installed,
        project: &Path,
    ) {
        let (of, again) = match target.project {
            Some(_) => ("for this project", " --project"),
            None => ("for you", ""),
        };
        let again = format!("workflow-sidecar install {}{again}", host.name);
        let silent = installed.commands.iter().find_map(|(name, command)| {
            let (event, asks) = fixture(host, name, project)?;
            let why = judge(command, &event, asks).err()?;
            Some((command, why))
        });
        // A store elsewhere is part of the installed commands, and not known here.
        let has_own_store = installed
            .commands
            .iter()
            .any(|(_, command)| command.contains("--state"));
        let is_current = || {
            has_own_store
                || plan(host, target).is_ok_and(|changes| {
                    let mut changes = changes.iter();
                    changes.all(|change| change.before == change.after)
                })
        };
        let missing = host.events.len().saturating_sub(installed.commands.len());
        if let Some((command, why)) = silent {
            let text = format!(
                "hooks are installed {of}, and their command does not answer ({why}): {command}"
            );
            self.problem(CheckStatus::Fail, text, again);
        } else if missing > 0 {
            let text = format!("{missing} of {} hooks are missing {of}", host.events.len());
            self.problem(CheckStatus::Fail, text, again);
        } else if !installed.has_server {
            let text = format!("hooks are installed {of}, and the MCP server is not registered");
            self.problem(CheckStatus::Fail, text, again);
        } else if !is_current() {
            let text = format!("hooks are installed {of}, and not as this version installs them");
            self.problem(CheckStatus::Warn, text, again);
        } else {
            self.facts.push(format!(
                "hooks and MCP server installed {of} and responding"
            ));
        }
    }

    /// Says whether the host runs the hooks, or that it cannot be known.
    fn trust(
        &mut self,
        host: &HookHost,
        version: &VersionAnswer,
        installed: &Installed,
        directories: &Directories,
        project: &Path,
    ) {
        match (host.name, version) {
            ("codex", VersionAnswer::Answered { path, .. }) => {
                self.trust_of_codex(path, installed, project);
            }
            ("gemini", _) => self.trust_of_gemini(directories, project),
            _ => {}
        }
    }

    fn trust_of_codex(&mut self, program: &Path, installed: &Installed, project: &Path) {
        let commands: Vec<String> = installed
            .commands
            .iter()
            .map(|(_, command)| command.clone())
            .collect();
        match codex_trust::status(program, project, &installed.hooks, &commands) {
            Ok(hooks) if hooks.listed == 0 => {
                let text = format!("Codex does not read {}", installed.hooks.display());
                let help = "start `codex` in the project and trust it, with the same CODEX_HOME if that is set";
                self.problem(CheckStatus::Warn, text, help);
            }
            Ok(hooks) if hooks.trusted < hooks.listed => {
                let left = hooks.listed - hooks.trusted;
                let text = format!(
                    "Codex does not trust {left} of {} hooks, and does not run them",
                    hooks.listed
                );
                let help = "workflow-sidecar install codex --trust, or /hooks in Codex";
                self.problem(CheckStatus::Warn, text, help);
            }
            Ok(_) => self.facts.push("trusted".to_owned()),
            Err(error) => {
                let text = format!("whether it trusts the hooks is not known: {error}");
                self.problem(CheckStatus::Warn, text, "/hooks in Codex shows it");
            }
        }
    }

    fn trust_of_gemini(&mut self, directories: &Directories, project: &Path) {
        if is_trusted_by_gemini(directories, project) {
            self.facts.push("this folder is trusted".to_owned());
        } else {
            let text = "Gemini CLI may not trust this folder, and runs no hooks in one that it does not trust";
            self.problem(
                CheckStatus::Warn,
                text,
                "start `gemini` here, and choose to trust the folder",
            );
        }
    }
}

/// Returns true if Gemini CLI trusts a folder: the rule of the nearest folder counts.
fn is_trusted_by_gemini(directories: &Directories, folder: &Path) -> bool {
    let text = std::fs::read_to_string(directories.gemini_trusted_folders());
    let rules: Value = text
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let rules: Vec<(PathBuf, bool)> = rules
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(path, rule)| {
            let path = PathBuf::from(path);
            match rule.as_str()? {
                "TRUST_PARENT" => Some((path.parent()?.to_path_buf(), true)),
                "TRUST_FOLDER" => Some((path, true)),
                _ => Some((path, false)),
            }
        })
        .collect();
    let rule = |folder: &Path| {
        let mut alike = rules.iter().filter(|(path, _)| path == folder);
        alike.next().map(|(_, trusts)| *trusts)
    };
    folder.ancestors().find_map(rule).unwrap_or(false)
}

/// An event of a session that is unknown: a prompt that asks for the status, or a call that nothing forbids. With it, true if
/// it asks.
fn fixture(host: &HookHost, name: &str, project: &Path) -> Option<(Value, bool)> {
    let (_, event) = host.events.iter().find(|(known, _)| *known == name)?;
    let mut fixture = json!({
        "hook_event_name": name,
        "session_id": "workflow-sidecar doctor",
        "cwd": project,
    });
    match event {
        EventName::Prompt => fixture["prompt"] = json!("workflow status"),
        EventName::ToolCall => {
            fixture["tool_name"] = json!("Read");
            fixture["tool_input"] = json!({ "path": "README.md" });
        }
        _ => return None,
    }
    Some((fixture, *event == EventName::Prompt))
}

/// Runs the installed command, as the host does, and returns why it does not answer an event as we do.
fn judge(command: &str, event: &Value, asks: bool) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let late = || format!("nothing in {} seconds", TIME_TO_ANSWER.as_secs());
    let until = Instant::now() + TIME_TO_ANSWER;
    let mut shell = Command::new("/bin/sh");
    let mut program =
        RunningProgram::start(shell.args(["-c", command]), Duration::ZERO).map_err(failed)?;
    // A program that does not read it does not answer either.
    let _ = program.write(&event.to_string());
    program.close_input();
    let (mut is_ours, mut first_error) = (false, None);
    loop {
        match program.next_line(until) {
            Ok(ProgramLine::Out(line)) => is_ours |= line.contains("No workflow is active"),
            Ok(ProgramLine::Error(line)) => first_error = first_error.or(Some(line)),
            Err(RecvTimeoutError::Timeout) => return Err(late()),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = program.wait(until).map_err(failed)?.ok_or_else(late)?;
    if !status.success() {
        let why = shown(&first_error.unwrap_or_default());
        return Err(format!("it failed: {why}"));
    }
    if asks && !is_ours {
        return Err("it printed something else".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_the_line_of_any_host() {
        assert_eq!(number("codex-cli 0.169.0"), Some("0.169.0"));
        assert_eq!(number("2.1.330 (Claude Code)"), Some("2.1.330"));
        assert_eq!(number("GitHub Copilot CLI 1.0.102."), Some("1.0.102"));
        assert_eq!(number("Usage: x"), None);
    }

    #[test]
    fn the_nearest_rule_of_gemini_decides_about_a_folder() {
        let home = tempfile::tempdir().unwrap();
        let directories = Directories::in_home(home.path());
        let is_trusted = |path: &str| is_trusted_by_gemini(&directories, Path::new(path));
        assert!(!is_trusted("/p/a"));
        std::fs::create_dir(home.path().join(".gemini")).unwrap();
        let rules = r#"{"/p":"TRUST_FOLDER","/p/no":"DO_NOT_TRUST","/q/here":"TRUST_PARENT"}"#;
        std::fs::write(home.path().join(".gemini/trustedFolders.json"), rules).unwrap();
        assert!(is_trusted("/p/a/b") && is_trusted("/q/other"));
        assert!(!is_trusted("/p/no/b") && !is_trusted("/r"));
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_fails_or_prints_something_else_does_not_answer() {
        let judged = |command: &str, asks| judge(command, &json!({}), asks);
        assert!(judged("echo No workflow is active", true).is_ok());
        assert!(judged("echo hello", true).is_err());
        assert!(judged("true", false).is_ok());
        let blocked = judged("echo blocked >&2; exit 2", false);
        assert!(blocked.unwrap_err().contains("blocked"));
    }
}
