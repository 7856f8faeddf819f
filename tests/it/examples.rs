//! Runs of the demo and the example hosts.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::connection::Process;

const SIDECAR: &str = env!("CARGO_BIN_EXE_workflow-sidecar");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A project with one workflow of two phases; the first may not edit.
fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    let directory = project.path().join(".pi/workflows/two");
    fs::create_dir_all(&directory).unwrap();
    let definition = r#"{
        name: "Two", commandName: "two", initialMessage: "Do {description}",
        phases: [
            { id: "look", name: "Look", emoji: "👀", instructions: "Look.", tools: { blacklist: ["edit"] } },
            { id: "act", name: "Act", emoji: "🔨", instructions: "Act." },
        ],
    }"#;
    fs::write(directory.join("workflow.json5"), definition).unwrap();
    project
}

/// The output of a command in a fresh project.
fn output_of(command: &mut Command, input: &str) -> String {
    let project = project();
    let mut child = command
        .current_dir(project.path())
        .env_remove("PI_CODING_AGENT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Fails unless the output has the texts in this order.
fn assert_in_order(output: &str, texts: &[&str]) {
    let mut rest = output;
    for text in texts {
        let at = rest
            .find(text)
            .unwrap_or_else(|| panic!("`{text}` is missing in:\n{output}"));
        rest = &rest[at + text.len()..];
    }
}

#[test]
fn the_demo_shows_the_whole_job() {
    let output = output_of(Process::command().arg("demo"), "");
    let expected = [
        "> tool edit => blocked",
        "is blocked during the Plan phase",
        "Auto-continuing in 3s",
        "is still in",
        "Entered subworkflow 'Build'",
        "Looped 'Build'",
        "as after a crash",
        "is blocked during the Verify phase",
        "Ship a change Complete",
        "Start a new one?",
        "Workflow cancelled.",
    ];
    assert_in_order(&output, &expected);
    assert!(!output.contains('\u{1b}'), "no colors into a pipe");
}

#[test]
fn the_host_in_python_runs_a_workflow() {
    let script = repository().join("protocol/examples/host.py");
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("python3");
    command
        .arg(script)
        .args([SIDECAR, "serve"])
        .env("HOME", home.path())
        .env("PYTHONUTF8", "1");
    let input = "/workflow two tidy up\ntool edit\nstep next\ntool edit\n/workflow two again\nstep next\nstep next\nstop\n";
    let output = output_of(&mut command, input);
    let expected = [
        "setSessionName {\"name\": \"Workflow: tidy up\"}",
        "BLOCKED edit",
        "Advanced: Look → 🔨 Act",
        "ALLOWED edit",
        "ASKED",
        "All phases complete",
        "Two Complete",
    ];
    for text in expected {
        assert!(output.contains(text), "`{text}` is missing in:\n{output}");
    }
}

#[test]
fn the_host_in_rust_runs_a_workflow() {
    // As `scripts/test` builds it, so that no library is built again with other features.
    let directory = Path::new(SIDECAR).parent().unwrap();
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--workspace",
            "--all-features",
        ])
        .args(["--example", "host", "--target-dir"])
        .arg(directory.parent().unwrap())
        .current_dir(repository())
        .status();
    assert!(built.unwrap().success());
    let mut command = Command::new(directory.join("examples/host"));
    command.args([SIDECAR, "serve"]);
    let output = output_of(&mut command, "");
    let expected = [
        "setSessionName",
        "edit: [workflow] The tool",
        "edit: allowed",
        "All phases complete",
        "Two Complete",
    ];
    assert_in_order(&output, &expected);
}
