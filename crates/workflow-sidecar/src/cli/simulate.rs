//! `simulate`: a dry run of a workflow, interactive or scripted.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use workflow_core::definition::{Parameter, ParameterKind, load_located};
use workflow_core::diagnostic::{shown, visible};

use super::lookup;
use super::project::Project;
use crate::present::CommandOutcome;
use crate::simulate::{Script, ScriptKind, Walk, begin_recording};

/// Walk through a workflow without an agent
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Command name of the workflow
    workflow: String,
    /// Inputs and description of the task: `--version 1.2.0 the export`
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
    let command = lookup::find_startable(&loaded, &arguments.workflow)?;
    let script = arguments.script()?;
    let project = arguments.project.directory.canonicalize()?;
    let agent_dir = arguments.project.user.directory();
    let record = arguments.record.as_deref();
    let recorder = record.map(begin_recording).transpose()?;
    let mut walk = Walk::start(&project, &agent_dir, &loaded, recorder)?;
    if script.kind == ScriptKind::Typed {
        walk.introduce();
    }
    let workflow = lookup::find_workflow(&loaded, &arguments.workflow)?;
    walk.start_run(&format!("{command}{}", arguments.line(&workflow.inputs)?))?;
    walk.play(script)
}

/// Marks an option that may be an input of the workflow.
const MARK: char = '\u{1}';

/// Marks the options that are not those of the command, which the parser would refuse.
pub(super) fn marked(words: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    let own = command.get_arguments().filter_map(clap::Arg::get_long);
    let own: Vec<&str> = own.chain(["help", ""]).collect();
    let words = words.into_iter().map(|word| {
        let option = word.to_str().and_then(|word| word.strip_prefix("--"));
        match option.filter(|option| !own.iter().any(|own| option.split('=').next() == Some(own))) {
            Some(option) => format!("{MARK}--{option}").into(),
            None => word,
        }
    });
    words.collect()
}

impl Arguments {
    /// Returns what stands behind the command. A value with spaces, which is one word of the shell, is quoted.
    fn line(&self, inputs: &[Parameter]) -> Result<String> {
        let (mut line, mut is_value) = (String::new(), false);
        for word in &self.description {
            let option = word.trim_start_matches([MARK, '-']);
            let name = option.split('=').next();
            let input = inputs.iter().find(|input| Some(&*input.name) == name);
            let (is_marked, word) = (word.starts_with(MARK), word.trim_start_matches(MARK));
            ensure!(
                !is_marked || input.is_some(),
                "`{}` is neither an option of `simulate` nor an input of `{}`",
                shown(word),
                shown(&self.workflow)
            );
            let assigned = word.split_once('=').filter(|_| input.is_some());
            let value = assigned.map_or(word, |(_, value)| value);
            let is_quoted = (is_value || assigned.is_some()) && value.contains(char::is_whitespace);
            let quote = match value.contains('"') {
                _ if !is_quoted => "",
                true => "'",
                false => "\"",
            };
            let name = &word[..word.len() - value.len()];
            line = format!("{line} {name}{quote}{value}{quote}");
            let takes_value = |input: &Parameter| input.kind != ParameterKind::Flag;
            is_value = is_marked && assigned.is_none() && input.is_some_and(takes_value);
        }
        Ok(line)
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
