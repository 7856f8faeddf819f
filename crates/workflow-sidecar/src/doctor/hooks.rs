//! Hosts that start hooks: a row for each that is on the path or has our hooks.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_core::diagnostic::shown;

use super::child::{VERSION_TIMEOUT, VersionAnswer, first_line_of_version};
use super::result::{CheckStatus, InstallationCheck};
use crate::files::home_dir;
use crate::hook_hosts::{EventName, HOSTS, HookHost};
use crate::install::{Directories, InstallTarget, Installed, codex_trust, installed, plan};

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
        let worst = self.problems.iter().map(|(status, ..)| *status).max();
        let problems = self.problems.iter().map(|(_, text, _)| text.clone());
        let facts = self.facts.into_iter().chain(problems);
        let text = facts.collect::<Vec<_>>().join("; ");
        let check = InstallationCheck::new(host.name, worst.unwrap_or(CheckStatus::Ok), text);
        // The help of the worst problem comes first.
        let worst = self.problems.into_iter().max_by_key(|(status, ..)| *status);
        match worst {
            Some((_, _, help)) => check.help(help),
            None => check,
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
            let event = fixture(host, name, project)?;
            let why = answer(command, &event).and_then(|answer| answer.judged(host, name));
            why.err().map(|why| (command, why))
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

/// An event of a session that is unknown: a prompt that asks for the status, or a call that nothing forbids.
fn fixture(host: &HookHost, name: &str, project: &Path) -> Option<Value> {
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
    Some(fixture)
}

/// The answer of a command.
struct CommandAnswer {
    is_success: bool,
    stdout: String,
    stderr: String,
}

impl CommandAnswer {
    /// Returns why this is not an answer of ours to the fixture.
    fn judged(self, host: &HookHost, name: &str) -> Result<(), String> {
        let asks = host
            .events
            .iter()
            .any(|(known, event)| *known == name && *event == EventName::Prompt);
        if !self.is_success {
            let why = shown(self.stderr.lines().next().unwrap_or_default());
            return Err(format!("it failed: {why}"));
        }
        if asks && !self.stdout.contains("No workflow is active") {
            return Err("it printed something else".to_owned());
        }
        Ok(())
    }
}

/// Runs the installed command, as the host does, and gives up after a time.
fn answer(command: &str, event: &Value) -> Result<CommandAnswer, String> {
    let failed = |error: io::Error| error.to_string();
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read it does not answer either.
        let _ = stdin.write_all(event.to_string().as_bytes());
    }
    let is_success = ended(&mut child)?;
    let mut answer = CommandAnswer {
        is_success,
        stdout: String::new(),
        stderr: String::new(),
    };
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut answer.stdout).map_err(failed)?;
    }
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut answer.stderr).map_err(failed)?;
    }
    Ok(answer)
}

/// Waits for the end of a command. What it prints fits into the pipe.
fn ended(child: &mut Child) -> Result<bool, String> {
    let until = Instant::now() + TIME_TO_ANSWER;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("nothing in {} seconds", TIME_TO_ANSWER.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
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
        let codex = crate::hook_hosts::host("codex").unwrap();
        let judged = |command: &str, name| answer(command, &json!({})).unwrap().judged(codex, name);
        assert!(judged("echo No workflow is active", "UserPromptSubmit").is_ok());
        assert!(judged("echo hello", "UserPromptSubmit").is_err());
        assert!(judged("true", "PreToolUse").is_ok());
        assert!(
            judged("echo blocked >&2; exit 2", "PreToolUse")
                .unwrap_err()
                .contains("blocked")
        );
    }
}
