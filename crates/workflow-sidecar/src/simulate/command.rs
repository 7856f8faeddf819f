//! The commands of a simulation.

use serde_json::value::RawValue;
use workflow_core::definition::nearest;
use workflow_core::diagnostic::shown;

/// The commands, for people.
pub(crate) const HELP: &str = "\
tool NAME [JSON]     the agent calls a tool, with this input
next, loop, status   the agent calls workflow_step
cancel               the same; a run is cancelled by the second call
stop                 the agent stops; `stop error`, `stop length`, `stop question`, `stop aborted` say why
start                the agent starts on what it was told last
say TEXT             a person speaks
wait SECONDS         time passes
yes, no              a person answers the open question
choose WORD          a person chooses one of the answers; `dismiss` answers nothing
pass, fail [TEXT]    what the gate that would run comes to; `norun [TEXT]`: it could not be checked
result TOOL TEXT     what the model reads of a tool's result; `error TOOL TEXT`: of a call that failed
trigger NAME TEXT    this comes in at the file or the port that a trigger waits for
back NUMBER          the conversation goes back to where this checkpoint of the code was made
/workflow NAME TEXT  a person starts another workflow; `/cancel-workflow` ends the run
compact, reload      the host shortens the conversation; the session is loaded anew
help, quit

A line of a script may say what must come of it, in upper or lower case: `tool edit => blocked`, `next => Fix`.
  a call       allowed, blocked, refused; asks, if a run is to be cancelled; gate, asked: it waits
  a stop       countdown, pushed, waits, parked and why: max, maxStale, error, question
  a result     changed, unchanged
  a trigger    woken, queued
  the run      the name or the id of the phase it is in then; done, cancelled, gate, asked
Empty lines and lines that start with # are passed over.";

/// A line of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) command: Command,
    /// The expected label.
    pub(crate) expected: Option<String>,
}

/// Something that can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// The agent calls a tool with an input, which is JSON.
    Tool {
        name: String,
        input: String,
    },
    /// The agent calls `workflow_step`.
    Move(&'static str),
    /// The agent stops.
    Stop(Stop),
    /// The agent starts.
    Start,
    /// A person speaks.
    Say(String),
    /// Seconds pass.
    Wait(u64),
    /// A person answers.
    Answer(Answer),
    /// The gate ends with this outcome.
    Gate(Outcome),
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
pub(crate) enum Answer {
    Yes,
    No,
    Chosen(String),
    Dismissed,
}

/// The outcome of a gate, in a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// Its first command, or its first check, did not pass and said this.
    Failed(String),
    /// The same could not be run, because of this.
    CouldNotRun(String),
}

/// Why an agent stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Done,
    Error,
    Length,
    Question,
    Aborted,
}

/// Why a line means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("there is no command `{}`{}", shown(.0), instead(*.1))]
    Command(String, Option<&'static str>),
    #[error("`{0}` wants {1}: {2}")]
    Argument(&'static str, &'static str, &'static str),
    #[error("the input of a tool is not JSON: {0}")]
    Input(String),
    #[error(
        "after `=>` stands what must come of it: blocked, allowed, the phase's name, done, parked, …"
    )]
    Expectation,
}

fn instead(near: Option<&str>) -> String {
    match near {
        Some(near) => format!(": did you mean `{near}`?"),
        None => ": `help` says which there are".to_owned(),
    }
}

/// The commands.
const COMMANDS: [&str; 25] = [
    "tool", "next", "loop", "status", "cancel", "stop", "start", "say", "wait", "yes", "no",
    "compact", "reload", "help", "quit", "exit", "choose", "dismiss", "pass", "fail", "norun",
    "result", "error", "trigger", "back",
];

/// The commands that a person runs in a host.
const OURS: [&str; 2] = ["/workflow", "/cancel-workflow"];

impl Step {
    /// Reads a line; `None` if there is nothing in it.
    pub(crate) fn read(line: &str) -> Result<Option<Self>, Unknown> {
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
            return Err(Unknown::Expectation);
        }
        Ok(Some(Self {
            command: Command::read(command)?,
            expected: expected.map(str::to_owned),
        }))
    }
}

impl Command {
    fn read(line: &str) -> Result<Self, Unknown> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if let Some(name) = word.strip_prefix('/') {
            if !OURS.contains(&word) {
                return Err(Unknown::Command(word.to_owned(), nearest(word, OURS)));
            }
            return Ok(Self::Run {
                name: name.to_owned(),
                arguments: rest.to_owned(),
            });
        }
        if rest.is_empty()
            && let Some(alone) = Self::alone(word)
        {
            return Ok(alone);
        }
        match word {
            "tool" => tool(rest),
            "stop" => stop(rest),
            "choose" if !rest.is_empty() => Ok(Self::Answer(Answer::Chosen(rest.to_owned()))),
            "choose" => Err(Unknown::Argument("choose", "an answer", "choose approve")),
            "fail" => Ok(Self::Gate(Outcome::Failed(rest.to_owned()))),
            "norun" => Ok(Self::Gate(Outcome::CouldNotRun(rest.to_owned()))),
            "result" => result("result", rest),
            "error" => result("error", rest),
            "trigger" => trigger(rest),
            "back" => rest
                .parse()
                .map(Self::Back)
                .map_err(|_| Unknown::Argument("back", "a checkpoint's number", "back 1")),
            "say" if !rest.is_empty() => Ok(Self::Say(rest.to_owned())),
            "say" => Err(Unknown::Argument("say", "a text", "say Go on.")),
            "wait" => rest
                .parse()
                .map(Self::Wait)
                .map_err(|_| Unknown::Argument("wait", "whole seconds", "wait 3")),
            known if Self::alone(known).is_some() => Err(Unknown::Command(line.to_owned(), None)),
            unknown => Err(Unknown::Command(
                unknown.to_owned(),
                nearest(unknown, COMMANDS),
            )),
        }
    }

    /// The commands that have nothing behind them.
    fn alone(word: &str) -> Option<Self> {
        Some(match word {
            "next" => Self::Move("next"),
            "loop" => Self::Move("loop"),
            "status" => Self::Move("status"),
            "cancel" => Self::Move("cancel"),
            "start" => Self::Start,
            "stop" => Self::Stop(Stop::Done),
            "yes" => Self::Answer(Answer::Yes),
            "no" => Self::Answer(Answer::No),
            "dismiss" => Self::Answer(Answer::Dismissed),
            "pass" => Self::Gate(Outcome::Passed),
            "compact" => Self::Compact,
            "reload" => Self::Reload,
            "help" => Self::Help,
            "quit" | "exit" => Self::Quit,
            _ => return None,
        })
    }
}

fn tool(rest: &str) -> Result<Command, Unknown> {
    let (name, input) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() {
        return Err(Unknown::Argument(
            "tool",
            "a name",
            "tool edit {\"path\": \"a.rs\"}",
        ));
    }
    let input = if input.trim().is_empty() {
        "{}"
    } else {
        input.trim()
    };
    serde_json::from_str::<&RawValue>(input).map_err(|error| Unknown::Input(error.to_string()))?;
    Ok(Command::Tool {
        name: name.to_owned(),
        input: input.to_owned(),
    })
}

fn result(command: &'static str, rest: &str) -> Result<Command, Unknown> {
    let (tool, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if tool.is_empty() {
        let example = "result bash the key is sk-1234";
        return Err(Unknown::Argument(command, "a tool and a text", example));
    }
    Ok(Command::Result {
        tool: tool.to_owned(),
        text: text.trim().to_owned(),
        is_error: command == "error",
    })
}

fn trigger(rest: &str) -> Result<Command, Unknown> {
    let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() {
        let example = "trigger wake.txt run the tests";
        return Err(Unknown::Argument(
            "trigger",
            "a file or a port, and a text",
            example,
        ));
    }
    Ok(Command::Trigger {
        name: name.to_owned(),
        text: text.trim().to_owned(),
    })
}

fn stop(why: &str) -> Result<Command, Unknown> {
    Ok(Command::Stop(match why {
        "error" => Stop::Error,
        "length" => Stop::Length,
        "question" => Stop::Question,
        "aborted" => Stop::Aborted,
        _ => {
            return Err(Unknown::Argument(
                "stop",
                "error, length, question or aborted, or nothing",
                "stop question",
            ));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Step {
        Step::read(line).unwrap().unwrap()
    }

    fn unknown(line: &str) -> String {
        Step::read(line).unwrap_err().to_string()
    }

    #[test]
    fn a_line_is_a_command_and_what_must_come_of_it() {
        let step = read("  tool edit {\"path\": \"a\"}  =>  blocked ");
        let input = "{\"path\": \"a\"}".to_owned();
        assert_eq!(
            step.command,
            Command::Tool {
                name: "edit".to_owned(),
                input
            }
        );
        assert_eq!(step.expected.as_deref(), Some("blocked"));
        assert_eq!(read("next => Fix it").expected.as_deref(), Some("Fix it"));
        assert_eq!(read("say a b").command, Command::Say("a b".to_owned()));
        assert_eq!(read("stop").command, Command::Stop(Stop::Done));
        assert_eq!(read("wait 3").command, Command::Wait(3));
        let chosen = Answer::Chosen("do it".to_owned());
        assert_eq!(read("choose do it").command, Command::Answer(chosen));
        let failed = Outcome::Failed("2 tests failed".to_owned());
        assert_eq!(
            read("fail 2 tests failed => refused").command,
            Command::Gate(failed)
        );
        assert_eq!(read("pass => Fix").command, Command::Gate(Outcome::Passed));
        assert_eq!(
            read("error bash no such file").command,
            Command::Result {
                tool: "bash".to_owned(),
                text: "no such file".to_owned(),
                is_error: true
            }
        );
        assert_eq!(
            read("trigger 3333 red build => woken").command,
            Command::Trigger {
                name: "3333".to_owned(),
                text: "red build".to_owned()
            }
        );
        assert_eq!(read("back 2").command, Command::Back(2));
        let arguments = "fix the total".to_owned();
        assert_eq!(
            read("/workflow fix the total").command,
            Command::Run {
                name: "workflow".to_owned(),
                arguments
            }
        );
    }

    #[test]
    fn nothing_is_read_from_empty_lines_and_comments() {
        for line in ["", "   ", "# tool edit", "  # x"] {
            assert_eq!(Step::read(line), Ok(None));
        }
    }

    #[test]
    fn what_means_nothing_says_what_would() {
        assert_eq!(
            unknown("nxt"),
            "there is no command `nxt`: did you mean `next`?"
        );
        assert_eq!(
            unknown("xyzzy"),
            "there is no command `xyzzy`: `help` says which there are"
        );
        assert_eq!(
            unknown("tool"),
            "`tool` wants a name: tool edit {\"path\": \"a.rs\"}"
        );
        assert_eq!(
            unknown("/cancel-workflw"),
            "there is no command `/cancel-workflw`: did you mean `/cancel-workflow`?"
        );
        assert!(unknown("/").contains("`help` says"));
        assert!(unknown("tool edit {path}").starts_with("the input of a tool is not JSON"));
        assert!(unknown("wait a").contains("whole seconds"));
        assert!(unknown("wait").contains("whole seconds"));
        assert!(unknown("stop why").contains("stop question"));
        assert!(unknown("next =>").contains("after `=>`"));
        assert!(unknown("next now").contains("there is no command `next now`"));
        assert!(unknown("say").contains("a text"));
        assert!(unknown("choose").contains("choose approve"));
        assert!(unknown("trigger").contains("a file or a port"));
        assert!(unknown("back then").contains("back 1"));
        assert!(unknown("result").contains("a tool and a text"));
    }
}
