//! The commands of a simulation.

use serde_json::value::RawValue;
use workflow_core::definition::nearest;
use workflow_core::diagnostic::shown;
use workflow_core::session::Control;

/// The commands, for people.
pub(crate) const HELP: &str = "\
tool NAME [JSON]     the agent calls a tool with these arguments
next, loop, status   the agent calls workflow_step with this action
next OUTCOME {JSON}  the same with the outcome, the outputs, or both: next ok {\"plan\": \"Add it.\"}
cancel               the same; the second call in a row cancels the run
stop                 the agent stops; `stop error`, `stop length`, `stop question`, `stop aborted` give the reason
start                the agent starts on the last message
say TEXT             the user sends a message
wait SECONDS         time passes
yes, no              the user answers the open question
choose ANSWER        the user chooses or writes an answer; `dismiss` closes the dialog without one
pass, fail [TEXT]    result of the gate that would run; `norun [TEXT]`: the check could not run
result TOOL TEXT     a tool returns a result; `error TOOL TEXT`: the call failed
trigger NAME TEXT    a trigger receives this text
back NUMBER          the conversation goes back to this checkpoint
/workflow NAME TEXT  the user starts another workflow; `/cancel-workflow` ends the run
/workflow-next ok    the user moves the run; so do `/workflow-skip`, `/workflow-goto PHASE`, `/workflow-pause`,
                     `/workflow-resume +20 turns`, `/workflow-approve CHOICE COMMENT`, `/workflow-status`
compact, reload      the host compacts the conversation; the session is loaded again
help, quit

A line of a script can state its expected outcome, in upper or lower case: `tool edit => blocked`, `next => Fix`.
  a tool call      allowed, blocked, refused, asked (the user must answer)
  workflow_step    name or id of the phase that it leads to, refused, gate or asked (it waits), done, cancelled;
                   `cancel`: asks (a second call is needed)
  a stop           countdown, reminded, waits, paused, or the reason: max, maxStale, error, question, visits, budget
  a result         changed, unchanged
  a trigger        woken, queued
Empty lines and lines that start with # are ignored.";

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
    /// The agent calls a tool with an input, which is JSON.
    Tool {
        name: String,
        input: String,
    },
    /// The agent calls `workflow_step`.
    Move(&'static str),
    /// The agent calls `workflow_step` with the action `next`.
    Next {
        /// The name of the outcome.
        outcome: Option<String>,
        /// The outputs, which are JSON.
        outputs: Option<String>,
    },
    /// The agent stops.
    Stop(Stop),
    /// The agent starts.
    Start,
    /// A person speaks.
    Say(String),
    /// Seconds pass.
    Wait(u64),
    /// A person answers.
    Answer(PersonAnswer),
    /// The gate ends with this outcome.
    Gate(DryGateOutcome),
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
    /// The conversation goes back to where a checkpoint was made.
    Back(u64),
    /// A person runs a command of ours.
    Run {
        name: String,
        arguments: String,
    },
    /// The host replaces older messages by a summary.
    Compact,
    /// The session is loaded anew from its entries.
    Reload,
    Help,
    Quit,
}

/// The answer of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PersonAnswer {
    Yes,
    No,
    Chosen(String),
    Dismissed,
}

/// The outcome of a gate, in a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DryGateOutcome {
    Passed,
    /// Its first command, or its first check, did not pass and said this.
    Failed(String),
    /// The same could not be run, because of this.
    CouldNotRun(String),
}

/// The reason why an agent stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Done,
    Error,
    Length,
    Question,
    Aborted,
}

/// The reason why a line has no meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScriptError {
    #[error("there is no command `{}`{}", shown(.0), instead(.1.as_deref()))]
    Command(String, Option<String>),
    #[error("`{0}` wants {1}: {2}")]
    Argument(&'static str, &'static str, &'static str),
    #[error("the input of a tool is not JSON: {0}")]
    Input(String),
    #[error("the outputs of `next` are not JSON: {0}")]
    Outputs(String),
    #[error(
        "`=>` needs the expected outcome: blocked, allowed, the name of a phase, done, paused, …"
    )]
    Expectation,
}

fn instead(near: Option<&str>) -> String {
    match near {
        Some(near) => format!(": did you mean `{near}`?"),
        None => ": `help` lists the commands".to_owned(),
    }
}

/// The text behind the name of a command.
enum Syntax {
    /// There is none.
    Alone(ScriptCommand),
    /// A description of the text, an example of the command, and the reader of the text.
    Text(
        &'static str,
        &'static str,
        fn(&str) -> Option<ScriptCommand>,
    ),
}

use Syntax::{Alone, Text};

/// The commands by name.
static COMMANDS: [(&str, Syntax); 25] = [
    (
        "tool",
        Text("a name", "tool edit {\"path\": \"a.rs\"}", |text| {
            let (name, input) = name_and_text(text)?;
            let input = if input.is_empty() {
                "{}".to_owned()
            } else {
                input
            };
            Some(ScriptCommand::Tool { name, input })
        }),
    ),
    (
        "next",
        Text(
            "an outcome, outputs as JSON, both or nothing",
            "next ok {\"plan\": \"Add it.\"}",
            next,
        ),
    ),
    ("loop", Alone(ScriptCommand::Move("loop"))),
    ("status", Alone(ScriptCommand::Move("status"))),
    ("cancel", Alone(ScriptCommand::Move("cancel"))),
    (
        "stop",
        Text(
            "error, length, question or aborted, or nothing",
            "stop question",
            stop,
        ),
    ),
    ("start", Alone(ScriptCommand::Start)),
    (
        "say",
        Text("a text", "say Go on.", |text| {
            some(text).map(ScriptCommand::Say)
        }),
    ),
    (
        "wait",
        Text("whole seconds", "wait 3", |text| {
            text.parse().ok().map(ScriptCommand::Wait)
        }),
    ),
    ("yes", Alone(ScriptCommand::Answer(PersonAnswer::Yes))),
    ("no", Alone(ScriptCommand::Answer(PersonAnswer::No))),
    ("compact", Alone(ScriptCommand::Compact)),
    ("reload", Alone(ScriptCommand::Reload)),
    ("help", Alone(ScriptCommand::Help)),
    ("quit", Alone(ScriptCommand::Quit)),
    ("exit", Alone(ScriptCommand::Quit)),
    (
        "choose",
        Text("an answer", "choose approve", |text| {
            Some(ScriptCommand::Answer(PersonAnswer::Chosen(some(text)?)))
        }),
    ),
    (
        "dismiss",
        Alone(ScriptCommand::Answer(PersonAnswer::Dismissed)),
    ),
    ("pass", Alone(ScriptCommand::Gate(DryGateOutcome::Passed))),
    (
        "fail",
        Text("a text", "fail", |text| {
            Some(ScriptCommand::Gate(DryGateOutcome::Failed(text.to_owned())))
        }),
    ),
    (
        "norun",
        Text("a text", "norun", |text| {
            Some(ScriptCommand::Gate(DryGateOutcome::CouldNotRun(
                text.to_owned(),
            )))
        }),
    ),
    (
        "result",
        Text("a tool and a text", RESULT, |text| result(text, false)),
    ),
    (
        "error",
        Text("a tool and a text", RESULT, |text| result(text, true)),
    ),
    (
        "trigger",
        Text(
            "a file or a port, and a text",
            "trigger wake.txt run the tests",
            |text| {
                let (name, text) = name_and_text(text)?;
                Some(ScriptCommand::Trigger { name, text })
            },
        ),
    ),
    (
        "back",
        Text("a checkpoint's number", "back 1", |text| {
            text.parse().ok().map(ScriptCommand::Back)
        }),
    ),
];

const RESULT: &str = "result bash the key is sk-1234";

/// The commands that start and end a run. The others are those of [`Control`].
const START_AND_END: [&str; 2] = ["workflow", "cancel-workflow"];

impl ScriptLine {
    /// Reads a line; `None` if there is nothing in it.
    pub(crate) fn read(line: &str) -> Result<Option<Self>, ScriptError> {
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
            return Err(ScriptError::Expectation);
        }
        Ok(Some(Self {
            command: ScriptCommand::read(command)?,
            expected: expected.map(str::to_owned),
        }))
    }
}

impl ScriptCommand {
    fn read(line: &str) -> Result<Self, ScriptError> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if let Some(name) = word.strip_prefix('/') {
            let controls = Control::ALL.into_iter().map(Control::command);
            let commands: Vec<&str> = START_AND_END.into_iter().chain(controls).collect();
            if !commands.contains(&name) {
                let near = nearest(name, commands).map(|near| format!("/{near}"));
                return Err(ScriptError::Command(word.to_owned(), near));
            }
            return Ok(Self::Run {
                name: name.to_owned(),
                arguments: rest.to_owned(),
            });
        }
        let known = COMMANDS.iter().find(|(name, _)| *name == word);
        let Some((name, syntax)) = known else {
            let names = COMMANDS.iter().map(|(name, _)| *name);
            return Err(ScriptError::Command(
                word.to_owned(),
                nearest(word, names).map(str::to_owned),
            ));
        };
        let command = match syntax {
            Alone(command) if rest.is_empty() => command.clone(),
            Alone(_) => return Err(ScriptError::Command(line.to_owned(), None)),
            Text(wants, example, read) => {
                read(rest).ok_or(ScriptError::Argument(name, wants, example))?
            }
        };
        if let Self::Tool { input, .. } = &command {
            serde_json::from_str::<&RawValue>(input)
                .map_err(|error| ScriptError::Input(error.to_string()))?;
        }
        if let Self::Next {
            outputs: Some(outputs),
            ..
        } = &command
        {
            serde_json::from_str::<&RawValue>(outputs)
                .map_err(|error| ScriptError::Outputs(error.to_string()))?;
        }
        Ok(command)
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// A name, and the text behind it, which may be empty.
fn name_and_text(text: &str) -> Option<(String, String)> {
    let (name, text) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some((some(name)?, text.trim().to_owned()))
}

/// An outcome, which may be missing, and outputs in braces, which may be missing.
fn next(text: &str) -> Option<ScriptCommand> {
    let (outcome, outputs) = match text.find('{') {
        Some(at) => (text[..at].trim(), Some(text[at..].to_owned())),
        None => (text, None),
    };
    let is_one_word = !outcome.contains(char::is_whitespace);
    is_one_word.then(|| ScriptCommand::Next {
        outcome: some(outcome),
        outputs,
    })
}

fn result(text: &str, is_error: bool) -> Option<ScriptCommand> {
    let (tool, text) = name_and_text(text)?;
    Some(ScriptCommand::Result {
        tool,
        text,
        is_error,
    })
}

fn stop(reason: &str) -> Option<ScriptCommand> {
    Some(ScriptCommand::Stop(match reason {
        "" => Stop::Done,
        "error" => Stop::Error,
        "length" => Stop::Length,
        "question" => Stop::Question,
        "aborted" => Stop::Aborted,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests;
