//! Lets things happen to a run, in the order in which they happen in a host.
//!
//! Each call of the agent is one response: a turn starts, the tool is called and run, the turn ends. An agent that is idle
//! starts first, on its last message.

use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};
use workflow_core::definition::Loaded;
use workflow_core::policy::STEP_TOOL;
use workflow_core::run::{RunState, restore};
use workflow_core::session::Needed;

use super::command::{ScriptCommand, Stop};
use super::host::{SimulatedHost, text};
use super::reaction::{Changed, Reaction, ReactionLabels};
use crate::record::Recorder;
use crate::run_condition::restored_session;

/// The text of a person who has nothing else to say.
const GO_ON: &str = "Go on.";

/// A run without an agent.
pub(crate) struct Simulation {
    host: SimulatedHost,
    is_running: bool,
    calls: u64,
    turns: u64,
    /// The number of messages of triggers that wait until the agent has stopped.
    queued: u64,
    /// A call that waits for a person or a gate.
    waiting: Option<UnansweredCall>,
    /// The definitions at the start.
    loaded: Arc<Loaded>,
}

/// A call of the agent that is not answered yet.
struct UnansweredCall {
    /// Under which its answer comes.
    answer: u64,
    what: Call,
    turn: Value,
}

/// The kind of a call.
enum Call {
    /// May this tool run?
    Tool {
        id: String,
        name: String,
        input: Value,
    },
    /// `workflow_step` was run.
    Step,
}

/// The start of a simulation.
pub(crate) struct Start<'a> {
    /// The project's directory.
    pub(crate) cwd: &'a str,
    /// The directory of the user's own definitions.
    pub(crate) agent_dir: &'a str,
    /// The command name of the workflow.
    pub(crate) workflow: &'a str,
    pub(crate) description: &'a str,
    pub(crate) recorder: Option<Recorder>,
    /// The definitions.
    pub(crate) loaded: Arc<Loaded>,
}

impl Simulation {
    /// Starts a session and a run in it.
    pub(crate) fn start(start: Start<'_>) -> Result<(Self, Vec<Reaction>)> {
        let mut host = SimulatedHost::new(start.recorder);
        host.initialize(start.cwd, start.agent_dir)?;
        host.start_session()?;
        let mut simulation = Self {
            host,
            is_running: false,
            calls: 0,
            turns: 0,
            queued: 0,
            waiting: None,
            loaded: start.loaded,
        };
        let arguments = format!("{} {}", start.workflow, start.description);
        simulation.run_command("workflow", &arguments)?;
        let reactions = simulation.host.take_reactions();
        Ok((simulation, reactions))
    }

    /// Plays a command; gives the reactions and their labels.
    pub(crate) fn take(
        &mut self,
        command: &ScriptCommand,
    ) -> Result<(Vec<Reaction>, ReactionLabels)> {
        let mut verdicts = self.happen(command)?;
        verdicts.extend(self.continue_call()?);
        let reactions = self.host.take_reactions();
        let phase = self.phase()?;
        Ok((reactions, ReactionLabels { verdicts, phase }))
    }

    fn happen(&mut self, command: &ScriptCommand) -> Result<Vec<String>> {
        let is_the_agents = matches!(
            command,
            ScriptCommand::Tool { .. }
                | ScriptCommand::Move(_)
                | ScriptCommand::Next { .. }
                | ScriptCommand::Stop(_)
                | ScriptCommand::Start
                | ScriptCommand::Result { .. }
        );
        if is_the_agents && self.waiting.is_some() {
            let why = "the agent waits: answer the question, or give the result of the gate";
            self.host.add(Reaction::Nothing(why));
            return Ok(Vec::new());
        }
        // A question before the run, such as one about an input: the agent has nothing to work on yet.
        let asked = self
            .host
            .question
            .as_ref()
            .map(|question| question.answers.clone());
        if let Some(answers) = asked.filter(|_| is_the_agents && self.state_of_run().is_none()) {
            self.host.add(Reaction::NotAnAnswer(answers));
            return Ok(Vec::new());
        }
        match command {
            ScriptCommand::Tool { name, input } => return self.tool(name, input),
            ScriptCommand::Move(action) => {
                return self.tool(STEP_TOOL, &json!({ "action": action }).to_string());
            }
            ScriptCommand::Next { outcome, outputs } => {
                let call = step_arguments(outcome.as_deref(), outputs.as_deref())?;
                return self.tool(STEP_TOOL, &call.to_string());
            }
            ScriptCommand::Stop(why) => return self.stop(*why),
            ScriptCommand::Wait(seconds) => return self.wait(*seconds),
            ScriptCommand::Result {
                tool,
                text,
                is_error,
            } => return self.result(tool, text, *is_error),
            ScriptCommand::Trigger { name, text } => return self.come_in(name, text),
            ScriptCommand::Start if self.is_running => self
                .host
                .add(Reaction::Nothing("the agent is at work already")),
            ScriptCommand::Start => self.agent_starts()?,
            ScriptCommand::Say(text) => self.say(text)?,
            ScriptCommand::Answer(answer) => self.host.answer(answer)?,
            ScriptCommand::Gate(outcome) => self.host.end_gate(outcome)?,
            ScriptCommand::Back(number) => self.back(*number)?,
            ScriptCommand::Run { name, arguments } => self.run_command(name, arguments)?,
            ScriptCommand::Compact => {
                self.hook("session_compact", &json!({}))?;
            }
            ScriptCommand::Reload => {
                self.is_running = false;
                self.host.question = None;
                self.host.gate = None;
                self.host.start_session()?;
            }
            ScriptCommand::Help | ScriptCommand::Quit => {}
        }
        Ok(Vec::new())
    }

    fn hook(&mut self, name: &str, event: &Value) -> Result<Value> {
        let result = self
            .host
            .call(&format!("hook/{name}"), &json!({ "event": event }))?;
        Ok(result.unwrap_or_default())
    }

    fn run_command(&mut self, name: &str, arguments: &str) -> Result<()> {
        let params = json!({ "name": name, "arguments": arguments });
        self.host.call("command/run", &params)?;
        Ok(())
    }

    /// Starts the agent on its last message.
    fn agent_starts(&mut self) -> Result<()> {
        if let Some(prompt) = self.host.prompt.take() {
            return self.starts_on(&prompt, "extension");
        }
        let why = "the agent had no message: assuming one from the user";
        self.host.add(Reaction::Nothing(why));
        self.starts_on(GO_ON, "interactive")
    }

    fn starts_on(&mut self, prompt: &str, source: &str) -> Result<()> {
        self.host.add(Reaction::Starts {
            prompt: prompt.to_owned(),
        });
        self.hook("input", &json!({ "text": prompt, "source": source }))?;
        let answer = self.hook("before_agent_start", &json!({ "prompt": prompt }))?;
        if let Some(content) = answer["inject"]["content"].as_str() {
            self.host.add(Reaction::Injected {
                text: content.to_owned(),
            });
        }
        self.hook("agent_start", &json!({}))?;
        self.is_running = true;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<()> {
        if self.is_running {
            self.hook("input", &json!({ "text": text, "source": "interactive" }))?;
            return Ok(());
        }
        self.host.prompt = None;
        self.starts_on(text, "interactive")
    }

    /// One response of the model with one call in it.
    fn tool(&mut self, name: &str, input: &str) -> Result<Vec<String>> {
        if !self.is_running {
            self.agent_starts()?;
        }
        self.turns += 1;
        let turn = json!({ "turnIndex": self.turns - 1 });
        self.hook("turn_start", &turn)?;
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let input: Value = serde_json::from_str(input)?;
        let event = json!({ "toolName": name, "toolCallId": id, "input": input });
        let answer = self
            .host
            .ask("hook/tool_call", &json!({ "event": event }))?;
        let name = name.to_owned();
        self.waiting = Some(UnansweredCall {
            answer,
            what: Call::Tool { id, name, input },
            turn,
        });
        self.continue_call()
    }

    /// Continues a call that waited, if it is answered now.
    fn continue_call(&mut self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        while let Some(waiting) = self.waiting.take() {
            let Some((answer, at)) = self.host.answer_to(waiting.answer) else {
                self.waiting = Some(waiting);
                break;
            };
            words = match waiting.what {
                Call::Tool { id, name, input } => match answer["block"]["reason"].as_str() {
                    Some(reason) => {
                        let reason = reason.to_owned();
                        self.host
                            .add_at(at, Reaction::Blocked { tool: name, reason });
                        vec!["blocked".to_owned()]
                    }
                    None if name == STEP_TOOL => {
                        let params =
                            json!({ "name": STEP_TOOL, "toolCallId": id, "arguments": input });
                        self.waiting = Some(UnansweredCall {
                            answer: self.host.ask("tool/execute", &params)?,
                            what: Call::Step,
                            turn: waiting.turn,
                        });
                        continue;
                    }
                    None => {
                        self.host.add_at(at, Reaction::Allowed);
                        vec!["allowed".to_owned()]
                    }
                },
                Call::Step => {
                    self.host.close_phase_exit();
                    self.stepped(&answer, at)
                }
            };
            if self.is_running {
                self.hook("turn_end", &waiting.turn)?;
            }
        }
        Ok(words)
    }

    /// Plays a tool's result, and gives it as the model would read it.
    fn result(&mut self, tool: &str, said: &str, is_error: bool) -> Result<Vec<String>> {
        if !self.is_running {
            self.agent_starts()?;
        }
        let content = json!([{ "type": "text", "text": said }]);
        let event =
            json!({ "toolName": tool, "input": {}, "content": content, "isError": is_error });
        let answer = self.hook("tool_result", &event)?;
        let changed = answer["mutation"]["content"].as_array();
        let text = match changed {
            Some(blocks) => {
                let texts: Vec<String> = blocks.iter().map(|block| text(&block["text"])).collect();
                texts.join("\n")
            }
            None => said.to_owned(),
        };
        let word = if changed.is_some() {
            "changed"
        } else {
            "unchanged"
        };
        let changed = changed.map(|_| Changed {
            tool: tool.to_owned(),
            said: said.to_owned(),
            is_error,
        });
        self.host.add(Reaction::Read { text, changed });
        Ok(vec![word.to_owned()])
    }

    fn come_in(&mut self, name: &str, said: &str) -> Result<Vec<String>> {
        self.host.come_in(name, said)?;
        let word = if self.has_message_to_agent() {
            "woken"
        } else if self
            .host
            .has_reaction(|reaction| matches!(reaction, Reaction::Queued))
        {
            self.queued += 1;
            "queued"
        } else {
            return Ok(Vec::new());
        };
        Ok(vec![word.to_owned()])
    }

    /// A person takes the conversation back to where a checkpoint was made.
    fn back(&mut self, number: u64) -> Result<()> {
        let kept = self.host.checkpoints();
        if !kept.iter().any(|kept| kept.number == number) {
            self.host.add(Reaction::NoCheckpoint(kept.len()));
            return Ok(());
        }
        let branch = self.host.branch_before_checkpoint(number);
        let params = json!({ "event": {}, "context": { "branch": branch } });
        self.host.call("hook/branch", &params)?;
        Ok(())
    }

    /// Handles the answer of `workflow_step`.
    fn stepped(&mut self, answer: &Value, at: usize) -> Vec<String> {
        let reaction = Reaction::Answer {
            text: text(&answer["content"][0]["text"]),
            is_error: answer["isError"] == true,
        };
        self.host.add_at(at, reaction);
        let mut words = Vec::new();
        if answer["isError"] == true {
            words.push("refused".to_owned());
        }
        if answer["details"]["cancelPending"] == true {
            words.push("asks".to_owned());
        }
        words
    }

    fn stop(&mut self, why: Stop) -> Result<Vec<String>> {
        if !self.is_running {
            self.agent_starts()?;
        }
        self.is_running = false;
        let (reason, says) = match why {
            Stop::Done => ("stop", "That is all."),
            Stop::Error => ("error", ""),
            Stop::Length => ("length", "And so on and so"),
            Stop::Question => ("stop", "Shall I go on?"),
            Stop::Aborted => ("aborted", ""),
        };
        let message = json!({
            "role": "assistant",
            "stopReason": reason,
            "content": [{ "type": "text", "text": says }],
        });
        self.hook("agent_end", &json!({ "messages": [message] }))?;
        let mut woken = false;
        if self.queued > 0 {
            // What waited comes by itself, at once.
            self.host.wait(0)?;
            woken = self.takes_queued();
        }
        let state = self.state()?;
        let mut words = Vec::new();
        if let Some(reason) = state["paused"].as_str() {
            words.extend(["paused".to_owned(), reason.to_owned()]);
        } else if state["countdown"].is_number() {
            words.push("countdown".to_owned());
        } else if woken {
            words.push("woken".to_owned());
        } else if self.host.prompt.is_some() {
            words.push("reminded".to_owned());
        } else if state["active"] == true {
            self.host.add(Reaction::Nothing(match why {
                Stop::Aborted => "nothing: the user stopped the agent",
                Stop::Done | Stop::Error | Stop::Length | Stop::Question => {
                    "nothing: the phase waits for the user"
                }
            }));
            words.push("waits".to_owned());
        }
        Ok(words)
    }

    fn wait(&mut self, seconds: u64) -> Result<Vec<String>> {
        self.host.wait(seconds.saturating_mul(1000))?;
        let word = if self.takes_queued() {
            "woken"
        } else if self.has_message_to_agent() {
            "reminded"
        } else {
            return Ok(Vec::new());
        };
        Ok(vec![word.to_owned()])
    }

    fn has_message_to_agent(&self) -> bool {
        let is_message = |reaction: &Reaction| matches!(reaction, Reaction::ToAgent { .. });
        self.host.has_reaction(is_message)
    }

    /// True if a message that waited was sent to the agent.
    fn takes_queued(&mut self) -> bool {
        let takes = self.queued > 0 && self.has_message_to_agent();
        self.queued -= u64::from(takes);
        takes
    }

    fn state(&mut self) -> Result<Value> {
        self.host.look("session/state")
    }

    /// The labels of the run's phase.
    fn phase(&mut self) -> Result<Vec<String>> {
        if self.host.question.is_some() {
            return Ok(vec!["asked".to_owned()]);
        }
        if self.host.gate.is_some() {
            return Ok(vec!["gate".to_owned()]);
        }
        let state = self.state()?;
        let phase = [&state["phase"]["name"], &state["phase"]["id"]];
        let mut words: Vec<String> = phase
            .into_iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        if words.is_empty() {
            let ended = if self.host.was_cancelled() {
                "cancelled"
            } else {
                "done"
            };
            words.push(ended.to_owned());
        }
        words.dedup();
        Ok(words)
    }

    /// The state of the run that there is, or was last.
    pub(crate) fn state_of_run(&self) -> Option<RunState> {
        restore(&self.host.entries()).state
    }

    /// Who or what the run needs to continue, and its place if it is not over.
    pub(crate) fn rest(&self) -> (Needed, Option<String>) {
        let entries = self.host.entries();
        let (session, _) = restored_session(&entries, &self.loaded);
        let Some(view) = session.view() else {
            return (Needed::Nothing, None);
        };
        let condition = view.condition;
        let (needed, how) = match condition.needed() {
            _ if self.host.question.is_some() => (Needed::User, ": a question is open".to_owned()),
            Needed::Nothing => (Needed::Nothing, String::new()),
            // The agent is still at work.
            Needed::User if self.is_running => (Needed::Nothing, String::new()),
            needed => (needed, format!(": {}", condition.described())),
        };
        let place = view.phase.map(|phase| phase.status);
        (needed, place.map(|place| format!("still in {place}{how}")))
    }

    /// Ends the session.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.host.call("shutdown", &json!({}))?;
        Ok(())
    }
}

/// The arguments of a call that leaves the phase.
fn step_arguments(outcome: Option<&str>, outputs: Option<&str>) -> Result<Value> {
    let mut call = json!({ "action": "next" });
    if let Some(outcome) = outcome {
        call["outcome"] = outcome.into();
    }
    if let Some(outputs) = outputs {
        call["outputs"] = serde_json::from_str(outputs)?;
    }
    Ok(call)
}
