//! Demo: a narrated script in example workflows, played by the host of `simulate`.
//!
//! The answers of the sidecar are real. One that the script does not expect is reported.

use anyhow::{Context, Result};
use workflow_core::definition::load_located;

use crate::platform::disk::{Disk, HOST_DIRECTORY};
use crate::present::CommandOutcome;
use crate::simulate::{Script, ScriptKind, Walk};

/// The agent and the user of the demo.
const SCRIPT: &str = include_str!("demo.steps");

/// The example workflows, by their paths in `.pi/workflows`.
#[rustfmt::skip] // A row a line.
const WORKFLOWS: &[(&str, &str)] = &[
    ("ship/workflow.yaml", include_str!("workflows/ship/workflow.yaml")),
    ("ship/plan.md", include_str!("workflows/ship/plan.md")),
    ("ship/release.md", include_str!("workflows/ship/release.md")),
    ("build/workflow.yaml", include_str!("workflows/build/workflow.yaml")),
    ("build/implement.md", include_str!("workflows/build/implement.md")),
    ("build/verify.md", include_str!("workflows/build/verify.md")),
    ("note/workflow.json5", include_str!("workflows/note/workflow.json5")),
];

/// Runs the demo in a temporary directory, which is removed afterwards.
pub(crate) fn run() -> Result<CommandOutcome> {
    let directory = tempfile::tempdir().context("no temporary directory could be made")?;
    let (project, agent_dir) = (directory.path(), directory.path().join("agent"));
    for (name, text) in WORKFLOWS {
        let path = project.join(HOST_DIRECTORY).join("workflows").join(name);
        let directory = path.parent().unwrap_or(project);
        std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, text))?;
    }
    let disk = Disk::new(agent_dir.clone(), project.to_path_buf());
    let loaded = load_located(&disk);
    Walk::start(project, &agent_dir, &loaded, None)?.play(Script {
        lines: Box::new(SCRIPT.as_bytes()),
        name: "demo.steps".to_owned(),
        kind: ScriptKind::Narrated,
    })
}
