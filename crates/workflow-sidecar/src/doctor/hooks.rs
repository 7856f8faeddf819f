//! Hosts that start hooks: a row for each that is on the path or has our hooks.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_core::diagnostic::shown;

use super::result::{CheckStatus, CheckSubject, InstallationCheck};
use crate::files::{absolute, home_dir};
use crate::hook_hosts::{EventName, HOSTS, HookHost, host};
use crate::install::{
    Directories, InstallTarget, Installed, codex_trust, has_server, installed, plan,
};
use crate::measured::Measured;
use crate::platform::{ProgramLine, ProgramVersion, RunningProgram, on_path, version_in};

/// The time for the answer of an installed command, which gives itself three seconds.
const TIME_TO_ANSWER: Duration = Duration::from_secs(10);

/// Checks each host that is on the path, or that our hooks are installed in, for the user or for the project.
pub(super) fn hosts(project: &Path) -> Vec<InstallationCheck> {
    // Events have absolute directories.
    let project = absolute(project);
    let targets = InstallTarget::all(Some(&project));
    let versions = HOSTS.map(|host| {
        let version = move || ProgramVersion::of(host.name);
        (host, thread::spawn(version))
    });
    let rows = versions.map(|(host, version)| {
        let row = Row {
            host,
            subject: CheckSubject(host.name),
            version: version.join().expect("asking for a version does not panic"),
            project: &project,
        };
        row.check(&targets)
    });
    rows.into_iter().flatten().collect()
}

/// The version of a host, and whether it was measured, which matters if workflows are installed.
pub(super) fn version_of(
    host: CheckSubject,
    version: &ProgramVersion,
    is_installed: bool,
) -> InstallationCheck {
    let ProgramVersion { path, line } = version;
    let Some(line) = line else {
        let text = format!("{} does not print its version in time", path.display());
        return host.warn(text, "run it with --version");
    };
    let Some(found) = version_in(line) else {
        return host.ok("no version");
    };
    match Measured::standing(host.0, found) {
        (text, false) if is_installed => host.warn(
            text,
            "try what you rely on: nothing was measured in this version",
        ),
        (text, _) => host.ok(text),
    }
}

/// A host that is examined.
struct Row<'p> {
    host: &'static HookHost,
    subject: CheckSubject,
    version: Option<ProgramVersion>,
    project: &'p Path,
}

impl Row<'_> {
    /// The row of a host; `None` if it is neither on the path nor configured.
    fn check(&self, targets: &[InstallTarget]) -> Option<InstallationCheck> {
        let (name, mut facts) = (self.host.name, Vec::new());
        let (mut has_hooks, mut judges) = (false, 0);
        let has_server = targets.iter().any(|target| has_server(self.host, target));
        let mut all = targets.iter().map(|target| &target.directories);
        let managed = all.find(|directories| directories.is_managed);
        let only_managed = managed.and_then(|managed| only_managed(self.host, managed));
        for target in targets {
            let Some(installed) = installed(self.host, target) else {
                continue;
            };
            has_hooks = true;
            if let Some(file) = &only_managed
                && !target.directories.is_managed
            {
                facts.extend((judges == 0).then(|| self.switched_off(file)));
                continue;
            }
            judges += 1;
            facts.push(self.installation(target, &installed, has_server));
            facts.extend(self.trust(target, &installed));
        }
        if judges > 1 {
            facts.push(self.subject.warn(
                format!("they are installed {judges} times, so a call may be judged as often"),
                format!("workflow-sidecar uninstall {name}, or with --project"),
            ));
        }
        facts.extend(self.other_host(targets).filter(|_| has_hooks));
        let version = self.version.as_ref();
        let version = version.map(|version| version_of(self.subject, version, has_hooks));
        facts.splice(..0, version);
        let mut help = None;
        match (has_hooks, &self.version) {
            (false, None) => return None,
            (false, Some(_)) => {
                facts.push(self.subject.ok("no hooks are installed"));
                help = Some(format!("workflow-sidecar install {name}"));
            }
            (true, None) => facts.push(self.subject.ok(format!("`{name}` is not on the PATH"))),
            (true, Some(_)) => {}
        }
        // The problems come last.
        facts.sort_by_key(|fact| fact.status != CheckStatus::Ok);
        let row = facts.into_iter().reduce(|first, next| next.after(first))?;
        Some(InstallationCheck {
            help: help.or(row.help),
            ..row
        })
    }

    /// The hooks of a user where an administrator allows none.
    fn switched_off(&self, file: &Path) -> InstallationCheck {
        let HookHost { name, title, .. } = self.host;
        let file = file.display();
        self.subject.fail(
            format!("{title} runs managed hooks only, by {file}, and so none of yours"),
            format!("an administrator runs `workflow-sidecar install {name} --managed`"),
        )
    }

    fn installation(
        &self,
        target: &InstallTarget,
        installed: &Installed,
        has_server: bool,
    ) -> InstallationCheck {
        let host = self.host;
        let (of, again) = match target.project {
            Some(_) => ("for this project", " --project"),
            None if target.directories.is_managed => ("for all users", " --managed"),
            None => ("for you", ""),
        };
        let again = format!("workflow-sidecar install {}{again}", host.name);
        let mut commands = installed.commands.iter();
        let silent = commands.find_map(|(name, command)| {
            let (event, asks) = fixture(host, name, self.project)?;
            let why = judge(command, &event, asks).err()?;
            Some(format!("their command does not answer ({why}): {command}"))
        });
        // A store elsewhere is part of the installed commands, and not known here.
        let mut commands = installed.commands.iter();
        let is_elsewhere = commands.any(|(_, command)| command.contains("--state"));
        // An administrator may have another program than the user.
        let is_elsewhere = is_elsewhere || target.directories.is_managed;
        let differs = match plan(Some(host), target) {
            _ if is_elsewhere => None,
            Ok(changes) => changes.into_iter().find_map(|change| {
                let path = change.path.display();
                (!change.is_made()).then(|| format!("{path} is not as this version writes it"))
            }),
            Err(error) => Some(error.to_string()),
        };
        let all = host.events.len();
        let missing = all.saturating_sub(installed.commands.len());
        let failure = if silent.is_none() && missing > 0 {
            Some(format!("{missing} of {all} hooks are missing {of}"))
        } else {
            let no_server = (!has_server).then(|| "the MCP server is not registered".to_owned());
            let why = silent.or(no_server);
            why.map(|why| format!("hooks are installed {of}, and {why}"))
        };
        if let Some(failure) = failure {
            self.subject.fail(failure, again)
        } else if let Some(differs) = differs {
            let text = format!("hooks are installed {of}, and {differs}");
            self.subject.warn(text, again)
        } else {
            let text = format!("hooks and MCP server installed {of} and responding");
            self.subject.ok(text)
        }
    }

    /// Says which other host runs the hooks, too.
    fn other_host(&self, targets: &[InstallTarget]) -> Option<InstallationCheck> {
        let home = home_dir().unwrap_or_default();
        let claude = host("claude");
        let mut in_project = targets.iter().filter(|target| target.project.is_some());
        match self.host.name {
            "copilot" if in_project.any(|it| installed(claude.unwrap_or(self.host), it).is_some()) => {
                let text = "in this project it runs the hooks of Claude Code, too, which leave each event to these";
                Some(self.subject.ok(text))
            }
            "claude" if on_path("grok").is_some() && runs_in_grok(&home) => Some(self.subject.warn(
                "Grok runs these hooks, too, and shows the model nothing of a workflow, so workflows are refused there",
                "write `hooks = false` below `[compat.claude]` in ~/.grok/config.toml",
            )),
            _ => None,
        }
    }

    /// Says whether the host runs the hooks, or that it cannot be known.
    fn trust(&self, target: &InstallTarget, installed: &Installed) -> Option<InstallationCheck> {
        match (self.host.name, &self.version) {
            ("codex", Some(ProgramVersion { path, line: Some(_) })) => {
                Some(self.trust_of_codex(path, installed))
            }
            ("gemini", _) if is_trusted_by_gemini(&target.directories, self.project) => {
                Some(self.subject.ok("this folder is trusted"))
            }
            ("gemini", _) => Some(self.subject.warn(
                "Gemini CLI may not trust this folder, and runs no hooks in one that it does not trust",
                "start `gemini` here, and choose to trust the folder",
            )),
            _ => None,
        }
    }

    fn trust_of_codex(&self, program: &Path, installed: &Installed) -> InstallationCheck {
        match codex_trust::status(program, self.project, installed) {
            Ok((0, _)) => self.subject.warn(
                format!("Codex does not read {}", installed.hooks.display()),
                "start `codex` in the project and trust it, with the same CODEX_HOME if that is set",
            ),
            Ok((listed, trusted)) if trusted < listed => self.subject.warn(
                format!(
                    "Codex does not trust {} of {listed} hooks, and does not run them",
                    listed - trusted
                ),
                "workflow-sidecar install codex --trust, or /hooks in Codex",
            ),
            Ok(_) => self.subject.ok("trusted"),
            Err(error) => self.subject.warn(
                format!("whether it trusts the hooks is not known: {error}"),
                "/hooks in Codex shows it",
            ),
        }
    }
}

/// The file by which an administrator allows managed hooks only.
fn only_managed(host: &HookHost, managed: &Directories) -> Option<PathBuf> {
    let text = |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    if host.name == "codex" {
        let file = managed.codex.join("requirements.toml");
        let text = text(&file).replace([' ', '\t'], "");
        let is_it = |line: &str| line.starts_with("allow_managed_hooks_only=true");
        return text.lines().any(is_it).then_some(file);
    }
    if host.name != "claude" {
        return None;
    }
    let drop_ins = managed.claude.join("managed-settings.d").read_dir();
    let drop_ins = drop_ins.into_iter().flatten().flatten();
    let mut files = drop_ins
        .map(|entry| entry.path())
        .chain([managed.claude.join("managed-settings.json")]);
    files.find(|file| {
        let settings: Value = serde_json::from_str(&text(file)).unwrap_or_default();
        settings["allowManagedHooksOnly"] == true
    })
}

/// Returns true unless the settings of Grok say that it does not run the hooks of Claude Code.
fn runs_in_grok(home: &Path) -> bool {
    let text = std::fs::read_to_string(home.join(".grok/config.toml")).unwrap_or_default();
    let text: String = text.split_whitespace().collect();
    let section = text.split_once("[compat.claude]");
    let section = section.and_then(|(_, rest)| rest.split('[').next());
    !section.is_some_and(|section| section.contains("hooks=false"))
}

/// Returns true if Gemini CLI trusts a folder: the rule of the nearest folder counts.
fn is_trusted_by_gemini(directories: &Directories, folder: &Path) -> bool {
    let text = std::fs::read(&directories.gemini_trusted_folders).unwrap_or_default();
    let rules: BTreeMap<PathBuf, Value> = serde_json::from_slice(&text).unwrap_or_default();
    let rule = |folder: &Path| {
        rules.iter().find_map(|(path, rule)| match rule.as_str()? {
            "TRUST_PARENT" => (path.parent()? == folder).then_some(true),
            rule => (path == folder).then_some(rule == "TRUST_FOLDER"),
        })
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
        EventName::Prompt => {
            fixture["prompt"] = json!("workflow status");
            fixture["submitted_prompt"] = json!("workflow status");
        }
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
    fn a_policy_that_allows_managed_hooks_only_is_found() {
        let root = tempfile::tempdir().unwrap();
        let managed = Directories::managed(root.path());
        let found = || HOSTS.map(|host| only_managed(host, &managed).is_some());
        assert_eq!(found(), HOSTS.map(|_| false));
        let drop_ins = managed.claude.join("managed-settings.d");
        std::fs::create_dir_all(&drop_ins).unwrap();
        std::fs::create_dir_all(&managed.codex).unwrap();
        let requirements = managed.codex.join("requirements.toml");
        std::fs::write(&requirements, "allow_managed_hooks_only = false\n").unwrap();
        std::fs::write(
            drop_ins.join("a.json"),
            r#"{"allowManagedHooksOnly": false}"#,
        )
        .unwrap();
        assert_eq!(found(), HOSTS.map(|_| false));
        std::fs::write(&requirements, "allow_managed_hooks_only  = true # ours\n").unwrap();
        std::fs::write(
            drop_ins.join("b.json"),
            r#"{"allowManagedHooksOnly": true}"#,
        )
        .unwrap();
        assert_eq!(
            found(),
            HOSTS.map(|host| ["codex", "claude"].contains(&host.name))
        );
    }

    #[test]
    fn hooks_that_a_policy_switches_off_and_second_installations_are_named() {
        let home = tempfile::tempdir().unwrap();
        let target = |directories| InstallTarget {
            directories,
            project: None,
            program: "/opt/workflow-sidecar".into(),
            plugin: None,
            state: None,
        };
        let managed = target(Directories::managed(home.path()));
        let own = target(Directories::new(home.path(), |_| None));
        let host = HOSTS[1];
        let write = |target: &InstallTarget| {
            for change in plan(Some(host), target).unwrap() {
                std::fs::create_dir_all(change.path.parent().unwrap()).unwrap();
                std::fs::write(change.path, change.after.unwrap()).unwrap();
            }
        };
        let row = Row {
            host,
            subject: CheckSubject(host.name),
            version: None,
            project: home.path(),
        };
        let check = || row.check(&[managed.clone(), own.clone()]).unwrap();
        write(&own);
        assert!(!check().text.contains("managed") && !check().text.contains("times"));
        write(&managed);
        assert!(
            check().text.contains("they are installed 2 times"),
            "{:?}",
            check()
        );
        let policy = managed.directories.claude.join("managed-settings.json");
        std::fs::write(&policy, r#"{"allowManagedHooksOnly": true}"#).unwrap();
        assert!(!check().text.contains("times"), "the user's do not run");
        let managed_hooks = managed
            .directories
            .claude
            .join("managed-settings.d/workflow-sidecar.json");
        std::fs::remove_file(managed_hooks).unwrap();
        let found = check();
        assert!(found.text.contains("runs managed hooks only"), "{found:?}");
        assert!(found.help.unwrap().contains("install claude --managed"));
    }

    #[test]
    fn grok_runs_the_hooks_of_claude_code_unless_its_settings_say_no() {
        let home = tempfile::tempdir().unwrap();
        assert!(runs_in_grok(home.path()));
        std::fs::create_dir(home.path().join(".grok")).unwrap();
        for (text, runs) in [
            (
                "[compat.claude]\nskills = false\n[compat.cursor]\nhooks = false\n",
                true,
            ),
            (
                "[models]\n[compat.claude]\nskills = true\nhooks = false\n[a]\n",
                false,
            ),
        ] {
            std::fs::write(home.path().join(".grok/config.toml"), text).unwrap();
            assert_eq!(runs_in_grok(home.path()), runs, "{text}");
        }
    }

    #[test]
    fn the_nearest_rule_of_gemini_decides_about_a_folder() {
        let home = tempfile::tempdir().unwrap();
        let directories = Directories::new(home.path(), |_| None);
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
