//! Lets things happen to a run, in the order in which they happen in a host.
//!
//! Each call of the agent is one response: a turn starts, the tool is called and run, the turn ends. An agent that is idle
//! starts first, on its last message.

use anyhow::Result;
use serde_json::{Value, json};
use workflow_core::policy::STEP_TOOL;
use workflow_core::session::{Needed, RunCondition};

use super::command::ScriptCommand;
use super::guards::{list, results};
use super::host::TestHost;
use super::reaction::{Reaction, ReactionLabels, first_line, guard, text};
use crate::present::{BAD, DIMMED, GOOD, Page, count, paint};
use crate::server::session_state_result;

/// The text of a person who has nothing else to say.
const GO_ON: &str = "Go on.";

/// A run without an agent.
pub(crate) struct Simulation<'a> {
    host: TestHost<'a>,
    is_running: bool,
    /// True once there was a run.
    pub(super) was_started: bool,
    /// The number of calls of the agent. Each is in a turn of its own.
    calls: u64,
    /// The number of messages of triggers that wait until the agent has stopped.
    queued: u64,
    /// A call that waits for a person or a gate.
    waiting: Option<UnansweredCall>,
    /// The texts that were added to the context.
    contexts: Vec<String>,
    /// The results of the current command, which an expectation may name.
    verdicts: Vec<Vec<String>>,
}

/// A call of the agent that is not answered yet.
struct UnansweredCall {
    /// Under which its answer comes.
    answer: u64,
    /// The call of the tool that may run or not; `None` if `workflow_step` was run.
    call: Option<Value>,
}

impl<'a> Simulation<'a> {
    /// A simulation in a session that has started.
    pub(super) fn new(host: TestHost<'a>) -> Self {
        Self {
            host,
            is_running: false,
            was_started: false,
            calls: 0,
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
        self.was_started |= self.host.sidecar.look(|view| view.is_some());
        for reaction in self.host.take_reactions() {
            page.add(&reaction.0.0);
        }
        let mut labels = std::mem::take(&mut self.verdicts);
        labels.push(self.phase());
        Ok(ReactionLabels(labels))
    }

    fn verdict(&mut self, label: &str) {
        self.verdicts.push(vec![label.to_owned()]);
    }

    fn happen(&mut self, command: &ScriptCommand) -> Result<()> {
        let is_act = matches!(
            command,
            ScriptCommand::Tool { .. } | ScriptCommand::Stop { .. } | ScriptCommand::Result { .. }
        );
        let is_the_agents = is_act || *command == ScriptCommand::Start;
        if is_the_agents && self.waiting.is_some() {
            let why = "the agent waits: answer the question, or give the result of the gate";
            return self.host.nothing(why);
        }
        // A question before the run, such as one about an input: the agent has nothing to work on yet.
        if let Some(question) = &self.host.question
            && is_the_agents
            && self.host.run().is_none()
        {
            let why = question.answers.only();
            return self.host.nothing(&why);
        }
        if is_act && !self.is_running {
            self.agent_starts()?;
        }
        match command {
            ScriptCommand::Tool { name, input } => self.tool(name, input),
            ScriptCommand::Stop { reason, says } => self.stop(reason, says),
            ScriptCommand::Wait(seconds) => self.wait(*seconds),
            ScriptCommand::Result {
                tool,
                text,
                is_error,
            } => self.result(tool, text, *is_error),
            ScriptCommand::Trigger { name, text } => self.come_in(name, text),
            ScriptCommand::Start if self.is_running => {
                self.host.nothing("the agent is at work already")
            }
            ScriptCommand::Start => self.agent_starts(),
            ScriptCommand::Say(text) => self.say(text),
            ScriptCommand::Answer(answer) => self.host.answer(answer),
            ScriptCommand::Gate(verdict, said) => self.host.end_gate(*verdict, said),
            ScriptCommand::Change(lines, paths) => {
                self.host.platform.set_change(*lines, paths.clone());
                Ok(())
            }
            ScriptCommand::Back(number) => self.back(*number),
            ScriptCommand::Call(method, params) => self.host.call(method, params).map(drop),
            ScriptCommand::Reload => {
                self.is_running = false;
                self.host.start_session()
            }
            ScriptCommand::Help | ScriptCommand::Quit => Ok(()),
        }
    }

    fn hook(&mut self, name: &str, event: &Value) -> Result<Value> {
        let params = json!({ "event": event });
        let result = self.host.call(&format!("hook/{name}"), &params)?;
        Ok(result.unwrap_or_default())
    }

    /// Starts the agent on its last message.
    fn agent_starts(&mut self) -> Result<()> {
        if let Some(prompt) = self.host.prompt.take() {
            return self.starts_on(&prompt, "extension");
        }
        let why = "the agent had no message: assuming one from the user";
        self.host.nothing(why)?;
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
                let same = paint(DIMMED, "as before");
                self.host.add(added.with_line(format_args!("│ {same}")));
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
    fn tool(&mut self, name: &str, input: &Value) -> Result<()> {
        self.calls += 1;
        self.hook("turn_start", &json!({ "turnIndex": self.calls - 1 }))?;
        let id = format!("call-{}", self.calls);
        let call = json!({ "toolName": name, "toolCallId": id, "input": input });
        let answer = self.host.ask("hook/tool_call", &json!({ "event": call }))?;
        let call = Some(call);
        self.waiting = Some(UnansweredCall { answer, call });
        Ok(())
    }

    /// Continues a call that waited, if it is answered now.
    fn continue_call(&mut self) -> Result<()> {
        while let Some(waiting) = self.waiting.take() {
            let Some((answer, at)) = self.host.answers.remove(&waiting.answer) else {
                self.waiting = Some(waiting);
                break;
            };
            if let Some(call) = waiting.call {
                let name = text(&call["toolName"]);
                match answer["block"]["reason"].as_str() {
                    Some(reason) => {
                        let run = self.host.run();
                        let loaded = self.host.loaded;
                        let source = run.and_then(|run| list(loaded, &run, &name, reason));
                        let blocked = Reaction::by(paint(BAD, "blocked"), source);
                        self.host.add_at(at, blocked.with(reason));
                        self.verdict("blocked");
                    }
                    None if name == STEP_TOOL => {
                        let (id, input) = (&call["toolCallId"], &call["input"]);
                        let params = json!({ "name": name, "toolCallId": id, "arguments": input });
                        let answer = self.host.ask("tool/execute", &params)?;
                        self.waiting = Some(UnansweredCall { answer, call: None });
                        continue;
                    }
                    None => {
                        let allowed = Reaction::new(paint(GOOD, "allowed"));
                        self.host.add_at(at, allowed);
                        self.verdict("allowed");
                    }
                }
            } else {
                self.host.close_phase_exit();
                self.stepped(&answer, at);
            }
            if self.is_running {
                self.hook("turn_end", &json!({ "turnIndex": self.calls - 1 }))?;
            }
        }
        Ok(())
    }

    /// Plays a tool's result, and gives it as the model would read it.
    fn result(&mut self, tool: &str, said: &str, is_error: bool) -> Result<()> {
        let content = json!([{ "type": "text", "text": said }]);
        let event =
            json!({ "toolName": tool, "input": {}, "content": content, "isError": is_error });
        let answer = self.hook("tool_result", &event)?;
        let reaction = if let Some(blocks) = answer["mutation"]["content"].as_array() {
            self.verdict("changed");
            let texts: Vec<String> = blocks.iter().map(|block| text(&block["text"])).collect();
            let mut read = Reaction::new("read by the model").with(&texts.join("\n"));
            let run = self.host.run();
            let rules = results(self.host.loaded, run.as_ref(), tool, said, is_error);
            for (what, source) in rules {
                read = read.with_line(format_args!("by {}", guard(&what, &source)));
            }
            read
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
        if !kept.contains(&number) {
            let kept = count(kept.len(), "checkpoint");
            let why = format!("there is no such checkpoint: {kept} so far");
            return self.host.nothing(&why);
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

    fn stop(&mut self, reason: &str, says: &str) -> Result<()> {
        self.is_running = false;
        let message = json!({
            "role": "assistant",
            "stopReason": reason,
            "content": [{ "type": "text", "text": says }],
        });
        self.hook("agent_end", &json!({ "messages": [message] }))?;
        let mut woken = false;
        if self.queued > 0 {
            // What waited comes by itself, at once.
            woken = self.let_pass(0)?;
        }
        let state = self.host.sidecar.look(session_state_result);
        if let Some(reason) = state.paused {
            self.verdict("paused");
            self.verdict(&reason);
        } else if state.countdown.is_some() {
            self.verdict("countdown");
        } else if woken {
            self.verdict("woken");
        } else if self.host.prompt.is_some() {
            self.verdict("reminded");
        } else if state.active {
            self.verdict("waits");
            return self.host.nothing(if reason == "aborted" {
                "nothing: the user stopped the agent"
            } else {
                "nothing: the phase waits for the user"
            });
        }
        Ok(())
    }

    fn wait(&mut self, seconds: u64) -> Result<()> {
        if self.let_pass(seconds.saturating_mul(1000))? {
            self.verdict("woken");
        } else if self.host.has_message {
            self.verdict("reminded");
        }
        Ok(())
    }

    /// Lets time pass. True if a message that waited was sent to the agent.
    fn let_pass(&mut self, ms: u64) -> Result<bool> {
        self.host.call("clock/advance", &json!({ "ms": ms }))?;
        let takes = self.queued > 0 && self.host.has_message;
        self.queued -= u64::from(takes);
        Ok(takes)
    }

    /// The labels of the run's phase.
    fn phase(&self) -> Vec<String> {
        let label = |label: &str| vec![label.to_owned()];
        if self.host.question.is_some() {
            return label("asked");
        }
        if self.host.gate.is_some() {
            return label("gate");
        }
        let words = self.host.sidecar.look(|view| {
            let phase = &view?.phase?.phase;
            Some(vec![phase.name.clone(), phase.id.clone()])
        });
        words.unwrap_or_else(|| {
            label(match self.host.was_cancelled() {
                _ if !self.was_started => "no run",
                true => "cancelled",
                false => "done",
            })
        })
    }

    /// Who or what the run needs to continue, and its place if it is not over.
    pub(super) fn rest(&self) -> (Needed, Option<String>) {
        self.host.sidecar.look(|view| {
            let Some(view) = view else {
                return match &self.host.question {
                    Some(_) => (
                        Needed::User,
                        Some("not started: a question is open".to_owned()),
                    ),
                    None => (Needed::Nothing, None),
                };
            };
            let condition = view.condition;
            let (needed, how) = match condition.needed() {
                _ if self.host.question.is_some() => {
                    (Needed::User, ": a question is open".to_owned())
                }
                Needed::Nothing => (Needed::Nothing, String::new()),
                // The agent is still at work.
                Needed::User if self.is_running && condition == RunCondition::AwaitsUser => {
                    (Needed::Nothing, String::new())
                }
                needed => (needed, format!(": {}", condition.described())),
            };
            let place = view.phase.map(|phase| &phase.status);
            (needed, place.map(|place| format!("still in {place}{how}")))
        })
    }

    /// Ends the session.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.host.call("shutdown", &json!({})).map(drop)
    }
}
