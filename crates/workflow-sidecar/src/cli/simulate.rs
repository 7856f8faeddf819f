//! `simulate`: a dry run of a workflow, interactive or scripted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;

use anyhow::{Context, Result};
use workflow_core::definition::{Parameter, ParameterKind, load_located};
use workflow_core::diagnostic::visible;

use super::lookup;
use super::project::Project;
use crate::present::CommandOutcome;
use crate::simulate::{Script, ScriptKind, Walk, begin_recording};

/// Walk through a workflow without an agent
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Command name of the workflow; without it the session begins without a run
    workflow: Option<String>,
    /// Inputs and description of the task: `version=1.2.0 the export`, or `-- --version 1.2.0 the export`
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
    let loaded = load_located(&arguments.project.disk()?);
    let workflow = arguments.workflow.as_deref();
    let workflow = workflow.map(|name| lookup::find_startable(&loaded, name));
    let workflow = workflow.transpose()?;
    let script = arguments.script()?;
    let project = arguments.project.directory.canonicalize()?;
    let agent_dir = arguments.project.user.directory();
    let record = arguments.record.as_deref();
    let recorder = record.map(begin_recording).transpose()?;
    let mut walk = Walk::start(&project, &agent_dir, &loaded, recorder)?;
    if script.kind == ScriptKind::Typed {
        walk.introduce();
    }
    if let Some(workflow) = workflow {
        let line = arguments.line(&workflow.inputs);
        walk.start_run(&format!("{}{line}", workflow.command_name))?;
    }
    walk.play(script)
}

impl Arguments {
    /// Returns what stands behind the command. A value with spaces, which is one word of the shell, is quoted.
    fn line(&self, inputs: &[Parameter]) -> String {
        let (mut line, mut is_value) = (String::new(), false);
        for word in &self.description {
            let (is_option, option) = (word.starts_with("--"), word.trim_start_matches('-'));
            let name = option.split('=').next();
            let input = inputs.iter().find(|input| Some(&*input.name) == name);
            let assigned = word.split_once('=').filter(|_| input.is_some());
            let value = assigned.map_or(&**word, |(_, value)| value);
            let is_quoted = (is_value || assigned.is_some()) && value.contains(char::is_whitespace);
            let quote = match value.contains('"') {
                _ if !is_quoted => "",
                true => "'",
                false => "\"",
            };
            let name = &word[..word.len() - value.len()];
            line = format!("{line} {name}{quote}{value}{quote}");
            let takes_value = |input: &Parameter| input.kind != ParameterKind::Flag;
            is_value = is_option && assigned.is_none() && input.is_some_and(takes_value);
        }
        line
    }

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
