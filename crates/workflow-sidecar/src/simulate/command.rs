//! The commands of a simulation.

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use workflow_core::definition::nearest;
use workflow_core::diagnostic::shown;
use workflow_core::policy::STEP_TOOL;
use workflow_core::policy::gate_report::{CheckError, CheckVerdict};

use crate::server::commands;

/// The commands, for people.
pub(crate) const HELP: &str = include_str!("commands.txt");

/// A line of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptLine {
    pub(crate) command: ScriptCommand,
    /// The expected label.
    pub(crate) expected: Option<String>,
}

/// Something that can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScriptCommand {
    /// The agent calls a tool, which may be `workflow_step`.
    Tool {
        name: String,
        input: Value,
    },
    /// The agent stops.
    Stop {
        reason: &'static str,
        /// Its last message.
        says: &'static str,
    },
    /// The agent starts.
    Start,
    /// A person speaks.
    Say(String),
    /// Seconds pass.
    Wait(u64),
    /// A person answers: yes or no, with a text, or not at all.
    Answer(Value),
    /// The gate ends: its first command, or its first check, has this verdict and said this.
    Gate(CheckVerdict, String),
    /// A tool gave this back.
    Result {
        tool: String,
        text: String,
        is_error: bool,
    },
    /// Something comes in at a trigger, which is named by its file or its port.
    Trigger {
        name: String,
        text: String,
    },
    /// These lines and paths are changed since the start of the run.
    Change(u64, Vec<String>),
    /// The conversation goes back to where a checkpoint was made.
    Back(u64),
    /// The host calls a method: a person runs a command of ours, or older messages become a summary.
    Call(&'static str, Value),
    /// The session is loaded anew from its entries.
    Reload,
    Help,
    Quit,
}

/// The reasons why an agent stops: the word of the command, the host's name of the reason, and the last message.
const STOPS: [(&str, &str, &str); 5] = [
    ("", "stop", "That is all."),
    ("error", "error", ""),
    ("length", "length", "And so on and so"),
    ("question", "stop", "Shall I go on?"),
    ("aborted", "aborted", ""),
];

/// The error of an unknown command.
fn unknown(command: &str, near: Option<&str>) -> anyhow::Error {
    let instead = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`help` lists the commands".to_owned(),
    };
    anyhow!("there is no command `{}`: {instead}", shown(command))
}

/// The first words of commands, for a suggestion.
const WORDS: [&str; 26] = [
    "tool", "next", "loop", "status", "cancel", "stop", "start", "say", "wait", "yes", "no",
    "compact", "reload", "help", "quit", "exit", "choose", "dismiss", "pass", "fail", "norun",
    "result", "error", "trigger", "back", "change",
];

impl ScriptLine {
    /// Reads a line; `None` if there is nothing in it.
    pub(crate) fn read(line: &str) -> Result<Option<Self>> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (command, expected) = match line.rsplit_once("=>") {
            // What a person says may have an arrow in it, as long as nothing is expected of it.
            Some((command, expected)) if !command.trim().is_empty() => {
                (command.trim(), Some(expected.trim()))
            }
            _ => (line, None),
        };
        if expected == Some("") {
            bail!(
                "`=>` needs the expected outcome: blocked, allowed, the name of a phase, done, paused, …"
            );
        }
        Ok(Some(Self {
            command: ScriptCommand::read(command)?,
            expected: expected.map(str::to_owned),
        }))
    }
}

impl ScriptCommand {
    fn read(line: &str) -> Result<Self> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if let Some(name) = word.strip_prefix('/') {
            let commands = commands();
            let commands: Vec<&str> = commands.iter().map(|command| command.name).collect();
            if !commands.contains(&name) {
                let near = nearest(name, commands).map(|near| format!("/{near}"));
                return Err(unknown(word, near.as_deref()));
            }
            return Ok(Self::run(name, rest));
        }
        let wants = |what: &str, example: &str| anyhow!("`{word}` wants {what}: {example}");
        Ok(match (word, rest) {
            ("tool", _) => {
                let wants = wants("a name", "tool edit {\"path\": \"a.rs\"}");
                let (name, input) = name_and_text(rest).ok_or(wants)?;
                let input = match &*input {
                    "" => json!({}),
                    input => parse_json("the input of a tool is", input)?,
                };
                Self::Tool { name, input }
            }
            ("next", _) => {
                let at = rest.find('{').unwrap_or(rest.len());
                let (outcome, outputs) = (rest[..at].trim(), &rest[at..]);
                if outcome.contains(char::is_whitespace) {
                    let what = "an outcome, outputs as JSON, both or nothing";
                    return Err(wants(what, "next ok {\"plan\": \"Add it.\"}"));
                }
                let mut input = json!({ "action": "next" });
                if !outcome.is_empty() {
                    input["outcome"] = outcome.into();
                }
                if !outputs.is_empty() {
                    input["outputs"] = parse_json("the outputs of `next` are", outputs)?;
                }
                Self::step(input)
            }
            ("loop" | "status" | "cancel", "") => Self::step(json!({ "action": word })),
            ("stop", _) => {
                let what = "error, length, question or aborted, or nothing";
                let stop = STOPS.into_iter().find(|(name, _, _)| *name == rest);
                let (_, reason, says) = stop.ok_or(wants(what, "stop question"))?;
                Self::Stop { reason, says }
            }
            ("start", "") => Self::Start,
            ("say", _) => Self::Say(some(rest).ok_or(wants("a text", "say Go on."))?),
            ("wait", _) => {
                let seconds = rest.parse().map_err(|_| wants("whole seconds", "wait 3"))?;
                Self::Wait(seconds)
            }
            ("yes" | "no", "") => Self::Answer((word == "yes").into()),
            ("dismiss", "") => Self::Answer(Value::Null),
            ("choose", _) => {
                let answer = some(rest).ok_or(wants("an answer", "choose approve"))?;
                Self::Answer(answer.into())
            }
            ("compact", "") => Self::Call("hook/session_compact", json!({ "event": {} })),
            ("reload", "") => Self::Reload,
            ("help", "") => Self::Help,
            ("quit" | "exit", "") => Self::Quit,
            ("pass", "") => Self::Gate(CheckVerdict::Passed, String::new()),
            ("fail", _) => Self::Gate(CheckVerdict::Failed, rest.to_owned()),
            ("norun", _) => {
                let verdict = CheckVerdict::CouldNotRun(CheckError::Missing);
                Self::Gate(verdict, rest.to_owned())
            }
            ("result" | "error", _) => {
                let wants = wants("a tool and a text", "result bash the key is sk-1234");
                let (tool, text) = name_and_text(rest).ok_or(wants)?;
                Self::Result {
                    tool,
                    text,
                    is_error: word == "error",
                }
            }
            ("trigger", _) => {
                let what = "a file or a port, and a text";
                let wants = wants(what, "trigger wake.txt run the tests");
                let (name, text) = name_and_text(rest).ok_or(wants)?;
                Self::Trigger { name, text }
            }
            ("change", _) => {
                let mut words = rest.split_whitespace();
                let lines = words.next().and_then(|lines| lines.parse().ok());
                let wants = wants("a number of lines and paths", "change 12 src/a.js");
                Self::Change(lines.ok_or(wants)?, words.map(str::to_owned).collect())
            }
            ("back", _) => {
                let wants = |_| wants("a checkpoint's number", "back 1");
                Self::Back(rest.parse().map_err(wants)?)
            }
            _ if WORDS.contains(&word) => return Err(unknown(line, None)),
            _ => return Err(unknown(word, nearest(word, WORDS))),
        })
    }

    /// A command of ours that a person runs.
    pub(super) fn run(name: &str, arguments: &str) -> Self {
        let params = json!({ "name": name, "arguments": arguments });
        Self::Call("command/run", params)
    }

    /// A call of `workflow_step`.
    fn step(input: Value) -> Self {
        let name = STEP_TOOL.to_owned();
        Self::Tool { name, input }
    }
}

fn parse_json(what: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| anyhow!("{what} not JSON: {error}"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// A name, and the text behind it, which may be empty.
fn name_and_text(text: &str) -> Option<(String, String)> {
    let (name, text) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some((some(name)?, text.trim().to_owned()))
}

#[cfg(test)]
mod tests;
