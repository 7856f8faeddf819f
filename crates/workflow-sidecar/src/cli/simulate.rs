//! `simulate`: a dry run of a workflow, interactive or scripted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;

use anyhow::{Context, Result};
use workflow_core::definition::load_located;
use workflow_core::diagnostic::visible;

use super::lookup;
use super::project::Project;
use crate::present::CommandOutcome;
use crate::simulate::{Script, ScriptKind, Walk, begin_recording};

/// Walk through a workflow without an agent
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Command name of the workflow
    workflow: String,
    /// Inputs and description of the task: `version=1.2.0 the export`
    #[arg(default_value = "a dry run")]
    description: Vec<String>,
    /// Read commands from a file
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Record the conversation with the sidecar
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    project: Project,
}

pub(super) fn run(arguments: &Arguments) -> Result<CommandOutcome> {
    let disk = arguments.project.disk()?;
    let loaded = load_located(&disk);
    let command = lookup::find_startable(&loaded, &arguments.workflow)?;
    let script = arguments.script()?;
    let project = arguments.project.directory.canonicalize()?;
    let agent_dir = arguments.project.user.directory();
    let recorder = arguments.record.as_deref().map(begin_recording);
    let recorder = recorder.transpose()?;
    let mut walk = Walk::start(&project, &agent_dir, &loaded, recorder)?;
    if script.kind == ScriptKind::Typed {
        walk.introduce();
    }
    walk.start_run(&format!("{command} {}", arguments.description.join(" ")))?;
    walk.play(script)
}

impl Arguments {
    /// Opens the source of the commands.
    fn script(&self) -> Result<Script<'static>> {
        let (lines, name): (Box<dyn BufRead>, String) = match &self.script {
            Some(path) => {
                let name = path.display();
                let file = File::open(path).with_context(|| format!("{name} cannot be read"))?;
                (Box::new(BufReader::new(file)), visible(&name.to_string()))
            }
            None => (Box::new(io::stdin().lock()), "stdin".to_owned()),
        };
        // Interactive only if both sides are a terminal.
        let is_typed =
            self.script.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
        let kind = if is_typed {
            ScriptKind::Typed
        } else {
            ScriptKind::Read
        };
        Ok(Script { lines, name, kind })
    }
}
