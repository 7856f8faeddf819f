//! Lets things happen to a run, in the order in which they happen in a host.
//!
//! Each call of the agent is one response: a turn starts, the tool is called and run, the turn ends. An agent that is idle
//! starts first, on its last message.

use anyhow::Result;
use serde_json::{Value, json};
use workflow_core::policy::STEP_TOOL;
use workflow_core::run::{RunState, restore};
use workflow_core::session::Needed;

use super::command::{ScriptCommand, Stop};
use super::guards::GuardLookup;
use super::host::TestHost;
use super::reaction::{Cause, Reaction, ReactionLabels, first_line, text};
use crate::present::{BAD, DIMMED, GOOD, Page, count, paint, restored_session};

/// The text of a person who has nothing else to say.
const GO_ON: &str = "Go on.";

/// A run without an agent.
pub(crate) struct Simulation<'a> {
    host: TestHost,
    /// The guards of the definitions at the start.
    guards: GuardLookup<'a>,
    is_running: bool,
    calls: u64,
    turns: u64,
    /// The number of messages of triggers that wait until the agent has stopped.
    queued: u64,
    /// A call that waits for a person or a gate.
    waiting: Option<UnansweredCall>,
    /// The texts that were added to the context.
    contexts: Vec<String>,
    /// The results of the current command, which an expectation may name.
    verdicts: Vec<String>,
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

impl<'a> Simulation<'a> {
    /// A simulation in a session that has started.
    pub(super) fn new(host: TestHost, guards: GuardLookup<'a>) -> Self {
        Self {
            host,
            guards,
            is_running: false,
            calls: 0,
            turns: 0,
            queued: 0,
            waiting: None,
            contexts: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// Plays a command, and adds the reactions to a page; gives their labels.
    pub(super) fn play(
        &mut self,
        command: &ScriptCommand,
        page: &mut Page,
    ) -> Result<ReactionLabels> {
        self.happen(command)?;
        self.continue_call()?;
        let run = self.state_of_run();
        for reaction in self.host.take_reactions() {
            reaction.print(&self.guards, run.as_ref(), page);
        }
        Ok(ReactionLabels {
            verdicts: std::mem::take(&mut self.verdicts),
            phase: self.phase()?,
        })
    }

    fn verdict(&mut self, label: &str) {
        self.verdicts.push(label.to_owned());
    }

    fn happen(&mut self, command: &ScriptCommand) -> Result<()> {
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
            self.host.add(Reaction::nothing(why));
            return Ok(());
        }
        // A question before the run, such as one about an input: the agent has nothing to work on yet.
        if let Some(question) = &self.host.question
            && is_the_agents
            && self.state_of_run().is_none()
        {
            let reaction = Reaction::not_an_answer(&question.answers);
            self.host.add(reaction);
            return Ok(());
        }
        match command {
            ScriptCommand::Tool { name, input } => self.tool(name, serde_json::from_str(input)?),
            ScriptCommand::Move(action) => self.tool(STEP_TOOL, json!({ "action": action })),
            ScriptCommand::Next { outcome, outputs } => {
                let mut call = json!({ "action": "next" });
                if let Some(outcome) = outcome {
                    call["outcome"] = outcome.as_str().into();
                }
                if let Some(outputs) = outputs {
                    call["outputs"] = serde_json::from_str(outputs)?;
                }
                self.tool(STEP_TOOL, call)
            }
            ScriptCommand::Stop(why) => self.stop(*why),
            ScriptCommand::Wait(seconds) => self.wait(*seconds),
            ScriptCommand::Result {
                tool,
                text,
                is_error,
            } => self.result(tool, text, *is_error),
            ScriptCommand::Trigger { name, text } => self.come_in(name, text),
            ScriptCommand::Start if self.is_running => {
                let why = "the agent is at work already";
                self.host.add(Reaction::nothing(why));
                Ok(())
            }
            ScriptCommand::Start => self.agent_starts(),
            ScriptCommand::Say(text) => self.say(text),
            ScriptCommand::Answer(answer) => self.host.answer(answer),
            ScriptCommand::Gate(outcome) => self.host.end_gate(outcome),
            ScriptCommand::Back(number) => self.back(*number),
            ScriptCommand::Run { name, arguments } => {
                let params = json!({ "name": name, "arguments": arguments });
                self.host.call("command/run", &params).map(drop)
            }
            ScriptCommand::Compact => self.hook("session_compact", &json!({})).map(drop),
            ScriptCommand::Reload => {
                self.is_running = false;
                self.host.start_session()
            }
            ScriptCommand::Help | ScriptCommand::Quit => Ok(()),
        }
    }

    fn hook(&mut self, name: &str, event: &Value) -> Result<Value> {
        let result = self
            .host
            .call(&format!("hook/{name}"), &json!({ "event": event }))?;
        Ok(result.unwrap_or_default())
    }

    /// Starts the agent on its last message.
    fn agent_starts(&mut self) -> Result<()> {
        if let Some(prompt) = self.host.prompt.take() {
            return self.starts_on(&prompt, "extension");
        }
        let why = "the agent had no message: assuming one from the user";
        self.host.add(Reaction::nothing(why));
        self.starts_on(GO_ON, "interactive")
    }

    fn starts_on(&mut self, prompt: &str, source: &str) -> Result<()> {
        let line = format!("the agent starts on: {}", first_line(prompt));
        self.host.add(Reaction::new(line));
        self.hook("input", &json!({ "text": prompt, "source": source }))?;
        let answer = self.hook("before_agent_start", &json!({ "prompt": prompt }))?;
        if let Some(content) = answer["inject"]["content"].as_str() {
            let characters = count(content.chars().count(), "character");
            let added = Reaction::new(format!("added to the context, {characters}"));
            if self.contexts.iter().any(|known| known == content) {
                let same = format!("│ {}", paint(DIMMED, "as before"));
                self.host.add(added.with_line(&same));
            } else {
                self.host.add(added.with(content));
                self.contexts.push(content.to_owned());
            }
        }
        self.hook("agent_start", &json!({}))?;
        self.is_running = true;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<()> {
        if self.is_running {
            let event = json!({ "text": text, "source": "interactive" });
            return self.hook("input", &event).map(drop);
        }
        self.host.prompt = None;
        self.starts_on(text, "interactive")
    }

    /// One response of the model with one call in it.
    fn tool(&mut self, name: &str, input: Value) -> Result<()> {
        if !self.is_running {
            self.agent_starts()?;
        }
        self.turns += 1;
        let turn = json!({ "turnIndex": self.turns - 1 });
        self.hook("turn_start", &turn)?;
        self.calls += 1;
        let id = format!("call-{}", self.calls);
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
    fn continue_call(&mut self) -> Result<()> {
        while let Some(waiting) = self.waiting.take() {
            let Some((answer, at)) = self.host.answer_to(waiting.answer) else {
                self.waiting = Some(waiting);
                break;
            };
            match waiting.what {
                Call::Tool { id, name, input } => match answer["block"]["reason"].as_str() {
                    Some(reason) => {
                        let blocked = Reaction::new(paint(BAD, "blocked")).with(reason);
                        let (tool, reason) = (name, reason.to_owned());
                        let blocked = blocked.by(Cause::List { tool, reason });
                        self.host.add_at(at, blocked);
                        self.verdict("blocked");
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
                        let allowed = Reaction::new(paint(GOOD, "allowed"));
                        self.host.add_at(at, allowed);
                        self.verdict("allowed");
                    }
                },
                Call::Step => {
                    self.host.close_phase_exit();
                    self.stepped(&answer, at);
                }
            }
            if self.is_running {
                self.hook("turn_end", &waiting.turn)?;
            }
        }
        Ok(())
    }

    /// Plays a tool's result, and gives it as the model would read it.
    fn result(&mut self, tool: &str, said: &str, is_error: bool) -> Result<()> {
        if !self.is_running {
            self.agent_starts()?;
        }
        let content = json!([{ "type": "text", "text": said }]);
        let event =
            json!({ "toolName": tool, "input": {}, "content": content, "isError": is_error });
        let answer = self.hook("tool_result", &event)?;
        let reaction = if let Some(blocks) = answer["mutation"]["content"].as_array() {
            self.verdict("changed");
            let texts: Vec<String> = blocks.iter().map(|block| text(&block["text"])).collect();
            let read = Reaction::new("read by the model").with(&texts.join("\n"));
            read.by(Cause::Results {
                tool: tool.to_owned(),
                said: said.to_owned(),
                is_error,
            })
        } else {
            self.verdict("unchanged");
            Reaction::new("read by the model as it is").with(said)
        };
        self.host.add(reaction);
        Ok(())
    }

    fn come_in(&mut self, name: &str, said: &str) -> Result<()> {
        let has_to_wait = self.host.come_in(name, said)?;
        if self.host.has_message {
            self.verdict("woken");
        } else if has_to_wait {
            self.queued += 1;
            self.verdict("queued");
        }
        Ok(())
    }

    /// A person takes the conversation back to where a checkpoint was made.
    fn back(&mut self, number: u64) -> Result<()> {
        let kept = self.host.checkpoints();
        if !kept.iter().any(|kept| kept.number == number) {
            let kept = count(kept.len(), "checkpoint");
            let why = format!("there is no such checkpoint: {kept} so far");
            self.host.add(Reaction::nothing(&why));
            return Ok(());
        }
        let branch = self.host.branch_before_checkpoint(number);
        let params = json!({ "event": {}, "context": { "branch": branch } });
        self.host.call("hook/branch", &params).map(drop)
    }

    /// Handles the answer of `workflow_step`.
    fn stepped(&mut self, answer: &Value, at: usize) {
        let is_error = answer["isError"] == true;
        let heading = if is_error {
            paint(BAD, "refused")
        } else {
            paint(GOOD, "answered")
        };
        let reaction = Reaction::new(heading).with(&text(&answer["content"][0]["text"]));
        self.host.add_at(at, reaction);
        if is_error {
            self.verdict("refused");
        }
        if answer["details"]["cancelPending"] == true {
            self.verdict("asks");
        }
    }

    fn stop(&mut self, why: Stop) -> Result<()> {
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
        let state = self.host.state()?;
        if let Some(reason) = state["paused"].as_str() {
            self.verdict("paused");
            self.verdict(reason);
        } else if state["countdown"].is_number() {
            self.verdict("countdown");
        } else if woken {
            self.verdict("woken");
        } else if self.host.prompt.is_some() {
            self.verdict("reminded");
        } else if state["active"] == true {
            self.host.add(Reaction::nothing(match why {
                Stop::Aborted => "nothing: the user stopped the agent",
                Stop::Done | Stop::Error | Stop::Length | Stop::Question => {
                    "nothing: the phase waits for the user"
                }
            }));
            self.verdict("waits");
        }
        Ok(())
    }

    fn wait(&mut self, seconds: u64) -> Result<()> {
        self.host.wait(seconds.saturating_mul(1000))?;
        if self.takes_queued() {
            self.verdict("woken");
        } else if self.host.has_message {
            self.verdict("reminded");
        }
        Ok(())
    }

    /// True if a message that waited was sent to the agent.
    fn takes_queued(&mut self) -> bool {
        let takes = self.queued > 0 && self.host.has_message;
        self.queued -= u64::from(takes);
        takes
    }

    /// The labels of the run's phase.
    fn phase(&self) -> Result<Vec<String>> {
        let label = |label: &str| Ok(vec![label.to_owned()]);
        if self.host.question.is_some() {
            return label("asked");
        }
        if self.host.gate.is_some() {
            return label("gate");
        }
        let state = self.host.state()?;
        let phase = [&state["phase"]["name"], &state["phase"]["id"]];
        let words = phase.into_iter().filter_map(Value::as_str);
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.dedup();
        match &*words {
            [] if self.host.was_cancelled() => label("cancelled"),
            [] => label("done"),
            _ => Ok(words),
        }
    }

    /// The state of the run that there is, or was last.
    fn state_of_run(&self) -> Option<RunState> {
        restore(&self.host.entries()).state
    }

    /// Who or what the run needs to continue, and its place if it is not over.
    pub(super) fn rest(&self) -> (Needed, Option<String>) {
        let entries = self.host.entries();
        let (session, _) = restored_session(&entries, self.guards.loaded);
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
    pub(super) fn finish(&mut self) -> Result<()> {
        self.host.call("shutdown", &json!({})).map(drop)
    }
}
