//! A host made of values: a session, a clock that moves by hand, and the branch it keeps.

use std::sync::Arc;

use serde_json::value::RawValue;
use workflow_core::definition::{
    Catalog, Listing, Loaded, Outcome, Phase, PhaseEntry, Settings, Show, Tier, ToolAccess,
    Workflow,
};
use workflow_core::effect::{Action, Effect, Reply, ToolAnswer};
use workflow_core::event::{
    Answer, ApprovalDecision, Author, Command, Entry, LastAssistant, PlatformEvent,
};
use workflow_core::guard::rules::PlainPaths;
use workflow_core::session::Abilities;
use workflow_core::types::{GateRunId, QuestionId, RequestId, RestoreId};
use workflow_core::{Effects, Event, Session};

/// The moment at which every test starts.
pub(crate) const NOW: u64 = 1_747_234_567_890;

/// A phase whose id, name and instructions follow from one word.
pub(crate) fn phase(word: &str) -> Phase {
    Phase {
        id: word.to_owned(),
        name: word.to_uppercase(),
        emoji: "🔹".to_owned(),
        instructions: format!("Do {word}."),
        ..Phase::default()
    }
}

/// A phase with a blacklist.
pub(crate) fn guarded(word: &str, blacklist: &[&str]) -> Phase {
    let names = blacklist.iter().map(|&name| name.to_owned()).collect();
    Phase {
        tools: Some(ToolAccess::Blacklist(names)),
        ..phase(word)
    }
}

/// A workflow named after its key; a word in braces is a subworkflow, any other a phase.
pub(crate) fn workflow(key: &str, entries: &[&str]) -> Workflow {
    let entry = |word: &&str| match word
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        Some(inner) => PhaseEntry::Subworkflow(inner.to_owned()),
        None => PhaseEntry::Phase(phase(word)),
    };
    Workflow {
        key: key.to_owned(),
        name: format!("N-{key}"),
        command_name: key.to_owned(),
        initial_message: "Start {workflowName}: {description}".to_owned(),
        show: Show::User,
        loopable: true,
        phases: entries.iter().map(entry).collect(),
        ..Workflow::default()
    }
}

/// A host and its session.
pub(crate) struct World {
    pub(crate) session: Session,
    pub(crate) now: u64,
    pub(crate) workflows: Vec<Workflow>,
    pub(crate) settings: Settings,
    /// The keys of those workflows that are the user's own.
    pub(crate) own: Vec<String>,
    pub(crate) branch: Vec<(String, Box<RawValue>)>,
    /// The questions that wait for an answer.
    pub(crate) asked: Vec<QuestionId>,
    /// The gate that was run last.
    pub(crate) gate: GateRunId,
    /// The restore that was begun last.
    pub(crate) restore: RestoreId,
    /// What the person said outside of the host.
    pub(crate) word: Option<ApprovalDecision>,
    requests: u64,
}

impl World {
    /// A session with an interface and dialogs, started over an empty branch.
    pub(crate) fn new(workflows: Vec<Workflow>) -> Self {
        let mut world = Self {
            session: Session::new(
                Abilities {
                    dialogs: true,
                    widgets: Some(true),
                },
                7,
            ),
            now: NOW,
            workflows,
            settings: Settings::default(),
            own: Vec::new(),
            branch: Vec::new(),
            asked: Vec::new(),
            gate: GateRunId(0),
            restore: RestoreId(0),
            word: None,
            requests: 0,
        };
        world.reload();
        world
    }

    /// The same, with a run of the first workflow.
    pub(crate) fn started(workflows: Vec<Workflow>) -> Self {
        let key = workflows[0].key.clone();
        let mut world = Self::new(workflows);
        world.command(&format!("{key} the task"));
        world
    }

    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        let listing = |key: &String| Listing {
            key: key.clone(),
            tier: Tier::Global,
            source: String::new(),
            name: String::new(),
            command_name: String::new(),
            show: Show::User,
            phases: 0,
            shadows: false,
            outcome: Outcome::Loaded,
        };
        Arc::new(Loaded {
            index: self.own.iter().map(listing).collect(),
            catalog: Arc::new(Catalog::new(self.workflows.clone())),
            settings: self.settings.clone(),
            ..Loaded::default()
        })
    }

    /// Puts an input in and tells what came out, a line an effect.
    pub(crate) fn step(&mut self, input: Event<'_>) -> Vec<String> {
        let out = self.session.step(self.now, input);
        self.tell(out)
    }

    /// Takes a report of the platform, and tells what came out.
    pub(crate) fn report(&mut self, event: PlatformEvent) -> Vec<String> {
        self.step(Event::Platform(event))
    }

    fn tell(&mut self, out: Effects) -> Vec<String> {
        let mut lines = Vec::new();
        match out.reply {
            Reply::None => {}
            Reply::Later => lines.push("later".to_owned()),
            Reply::Content(content) => lines.push(format!("content {content}")),
            Reply::Block { reason, .. } => lines.push(format!("block {reason}")),
            Reply::Inject { content, .. } => lines.push(format!("inject {content}")),
            Reply::Mutation(mutation) => {
                if mutation.unload {
                    lines.push(format!("unload, persist {}", mutation.persist));
                }
            }
            Reply::Tool(ToolAnswer { text, .. }) => lines.push(format!("tool {text}")),
            Reply::Triggered(heard) => lines.push(format!("heard {heard:?}")),
        }
        for problem in out.diagnostics {
            lines.push(format!("{} {}", problem.code, problem.message));
        }
        self.take(out.actions, &mut lines);
        for question in out.questions {
            lines.push(format!("ask {}: {}", question.title, question.message));
            self.asked.push(question.id);
        }
        for settled in out.deferred {
            lines.push(match settled.reply {
                Reply::Block { reason, by } => format!("settled block {by:?} {reason}"),
                Reply::Tool(ToolAnswer { text, .. }) => format!("settled tool {text}"),
                _ => "settled".to_owned(),
            });
            self.take(settled.actions, &mut lines);
        }
        let mut reads_word = false;
        for effect in out.effects {
            lines.push(match effect {
                Effect::RunGate(run) => {
                    self.gate = run.id;
                    let baseline = run
                        .baseline
                        .map_or("-".to_owned(), |baseline| baseline.to_string());
                    format!(
                        "gate {} checks, baseline {baseline}, {} commands",
                        run.gates.len(),
                        run.commands.len()
                    )
                }
                Effect::CancelGate { .. } => "stop gate".to_owned(),
                Effect::TakeBaseline { gates } => format!("baseline of {}", gates.len()),
                Effect::TrustCommands { commands } => format!("trust {}", commands.len()),
                Effect::RequestApproval(awaiting) => format!("await {}", awaiting.approval.ask),
                Effect::ReadApproval(awaiting) => {
                    reads_word = true;
                    format!("read word about {}", awaiting.approval.ask)
                }
                Effect::ClearApproval { .. } => "forget word".to_owned(),
                Effect::RecordCheckpoint => "keep code".to_owned(),
                Effect::RestoreCode { restore, snapshot } => {
                    self.restore = restore;
                    format!("restore {}", snapshot.reference.unwrap_or(snapshot.head))
                }
                Effect::WatchTriggers { triggers } => format!("watch {}", triggers.len()),
                Effect::ReadOthers { told } => format!("read others, {} told", told.len()),
                Effect::StopWatching => "watch no more".to_owned(),
                Effect::TrustTriggers { triggers } => format!("trust triggers {}", triggers.len()),
            });
        }
        if reads_word {
            let decision = self.word.take();
            lines.extend(self.step(Event::Platform(PlatformEvent::ApprovalRead { decision })));
        }
        lines
    }

    fn take(&mut self, actions: Vec<Action>, lines: &mut Vec<String>) {
        for action in actions {
            lines.push(match action {
                Action::AppendEntry { custom_type, data } => {
                    self.branch.push((custom_type.to_owned(), data));
                    format!("entry {custom_type}")
                }
                Action::SendMessage {
                    custom_type,
                    content,
                } => format!("message {custom_type} {content}"),
                Action::SendUserMessage { content, .. } => format!("user {content}"),
                Action::SetSessionName { name } => format!("name {name}"),
                Action::SetStatus { text } => {
                    format!("status {}", text.unwrap_or_else(|| "-".to_owned()))
                }
                Action::SetWidget { lines } => format!(
                    "widget {}",
                    lines.map_or("-".to_owned(), |lines| lines.join("/"))
                ),
                Action::Notify { message, severity } => format!("notify {severity:?} {message}"),
            });
        }
    }

    /// The session is loaded again, over the branch as it stands.
    pub(crate) fn reload(&mut self) -> Vec<String> {
        let branch = std::mem::take(&mut self.branch);
        let entries = branch
            .iter()
            .map(|(custom_type, data)| Entry {
                custom_type,
                data: Some(data),
            })
            .collect();
        let lines = self.step(Event::Session {
            entries,
            loaded: self.loaded(),
        });
        // What the session appends on loading stands behind what was there.
        let appended = std::mem::replace(&mut self.branch, branch);
        self.branch.extend(appended);
        lines
    }

    pub(crate) fn command(&mut self, arguments: &str) -> Vec<String> {
        self.requests += 1;
        let command = Command::Workflow {
            arguments,
            loaded: self.loaded(),
        };
        self.step(Event::Command {
            request: RequestId(self.requests),
            command,
        })
    }

    pub(crate) fn cancel_command(&mut self) -> Vec<String> {
        self.requests += 1;
        self.step(Event::Command {
            request: RequestId(self.requests),
            command: Command::CancelWorkflow,
        })
    }

    /// The person chooses one of the options, or dismisses the dialog.
    pub(crate) fn choose(&mut self, option: Option<&str>) -> Vec<String> {
        let question = self.asked.pop().expect("a question waits");
        let answer = option.map_or(Answer::Dismissed, Answer::Chosen);
        self.step(Event::Answer { question, answer })
    }

    pub(crate) fn answer(&mut self, confirmed: bool) -> Vec<String> {
        let question = self.asked.pop().expect("a question waits");
        let answer = Answer::Confirmed(confirmed);
        self.step(Event::Answer { question, answer })
    }

    pub(crate) fn tool(&mut self, action: &str) -> Vec<String> {
        self.requests += 1;
        self.step(Event::Step {
            request: RequestId(self.requests),
            action: Some(action),
        })
    }

    pub(crate) fn tool_call(&mut self, tool: &str) -> Vec<String> {
        self.call(tool, &serde_json::json!({}))
    }

    /// A tool call with arguments.
    pub(crate) fn call(&mut self, tool: &str, input: &serde_json::Value) -> Vec<String> {
        self.requests += 1;
        let input = serde_json::value::to_raw_value(input).expect("a value is JSON");
        self.step(Event::ToolCall {
            request: RequestId(self.requests),
            tool,
            input: Some(&input),
            paths: &PlainPaths,
        })
    }

    pub(crate) fn user_input(&mut self) -> Vec<String> {
        self.step(Event::UserInput {
            author: Some(Author::Person),
        })
    }

    pub(crate) fn prompt(&mut self, prompt: &str) -> Vec<String> {
        self.step(Event::BeforeAgentStart {
            prompt: Some(prompt),
        })
    }

    pub(crate) fn stop(&mut self, reason: &str) -> Vec<String> {
        let last = LastAssistant {
            stop_reason: Some(reason),
            text_tail: Some("Done."),
        };
        self.step(Event::AgentEnd { last: Some(last) })
    }

    /// Lets time pass, in one go.
    pub(crate) fn wait(&mut self, millis: u64) -> Vec<String> {
        self.now += millis;
        match self.session.deadline() {
            Some(due) if due <= self.now => self.step(Event::Tick),
            _ => Vec::new(),
        }
    }

    /// The state entry appended last.
    pub(crate) fn last_state(&self) -> serde_json::Value {
        let entry = self
            .branch
            .iter()
            .rev()
            .find(|(custom_type, _)| custom_type == "workflow:state");
        serde_json::from_str(entry.expect("a state was appended").1.get())
            .expect("entries are JSON")
    }

    /// Appends an entry whose data is this text.
    pub(crate) fn append_text(&mut self, custom_type: &str, data: &str) {
        let data = RawValue::from_string(data.to_owned()).expect("the text is JSON");
        self.branch.push((custom_type.to_owned(), data));
    }

    /// Appends an entry as somebody else would have.
    pub(crate) fn append(&mut self, custom_type: &str, data: &serde_json::Value) {
        self.branch.push((
            custom_type.to_owned(),
            serde_json::value::to_raw_value(data).expect("a value is JSON"),
        ));
    }
}

/// The user messages among some lines.
pub(crate) fn user_messages(lines: &[String]) -> usize {
    lines
        .iter()
        .filter(|line| line.starts_with("user "))
        .count()
}

/// The first line that starts with a word.
pub(crate) fn line<'l>(lines: &'l [String], word: &str) -> &'l str {
    lines
        .iter()
        .find(|line| line.starts_with(word))
        .unwrap_or_else(|| panic!("no `{word}` in {lines:#?}"))
}
