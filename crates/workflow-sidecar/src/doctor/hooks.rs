//! Hosts that start hooks: what is installed, and whether it answers.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::InstallationCheck;
use crate::hook_hosts::{EventName, HOSTS, HookHost};
use crate::install::{Place, installed_command, plan};
use crate::platform::home::home_dir;

/// Checks each host that our hooks are installed in, for the user or for the project.
pub(super) fn hosts(project: &Path) -> Vec<InstallationCheck> {
    let (Some(home), Ok(program)) = (home_dir(), std::env::current_exe()) else {
        return Vec::new();
    };
    let places = [None, Some(project)].map(|project| Place {
        home: &home,
        project,
        program: &program,
        state: None,
    });
    let mut checks = Vec::new();
    for host in HOSTS {
        for place in &places {
            if let Some(command) = installed_command(host, place) {
                checks.push(check(host, place, &command, project));
            }
        }
    }
    checks
}

fn check(host: &HookHost, place: &Place<'_>, command: &str, project: &Path) -> InstallationCheck {
    let of = if place.project.is_some() {
        "for this project"
    } else {
        "for you"
    };
    let again = format!("workflow-sidecar install {}", host.name);
    if !answers(host, command, project) {
        let text =
            format!("hooks are installed {of}, and their command does not answer: {command}");
        return InstallationCheck::fail(host.name, text).help(again);
    }
    // A store elsewhere is part of the installed commands, and not known here.
    let has_own_store = command.contains("--state");
    let is_current = has_own_store
        || plan(host, place).is_ok_and(|changes| {
            let mut changes = changes.iter();
            changes.all(|change| change.before == change.after)
        });
    if !is_current {
        let text = format!("hooks are installed {of}, and not as this version installs them");
        return InstallationCheck::warn(host.name, text).help(again);
    }
    let note = match host.name {
        "codex" => "; Codex runs them once you trust them: /hooks there shows it",
        "gemini" => "; Gemini CLI runs them in folders that it trusts, and not in editors",
        _ => "",
    };
    InstallationCheck::ok(
        host.name,
        format!("hooks and MCP server are installed {of}, and answer{note}"),
    )
}

/// Runs the installed command, as the host does, with a prompt that asks for the status of a session that is unknown.
fn answers(host: &HookHost, command: &str, project: &Path) -> bool {
    let event = host
        .events
        .iter()
        .find(|(_, event)| *event == EventName::Prompt);
    let event = json!({
        "hook_event_name": event.map(|(name, _)| name),
        "session_id": "workflow-sidecar doctor",
        "cwd": project,
        "prompt": "workflow status",
    });
    let shell = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = shell else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read it does not answer either.
        let _ = stdin.write_all(event.to_string().as_bytes());
    }
    let output = child.wait_with_output();
    output.is_ok_and(|output| {
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("decision")
    })
}
