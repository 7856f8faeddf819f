//! A host made of values: a session, a clock that moves by hand, and the branch it keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::value::RawValue;
use workflow_core::approval::{Decision, Request};
use workflow_core::definition::{
    Catalog, Listing, LoadOutcome, Loaded, Phase, PhaseEntry, Settings, Show, Tier, ToolAccess,
    Workflow,
};
use workflow_core::diagnostic::Diagnostic;
use workflow_core::effect::{Action, Delivery, Effect, Placement};
use workflow_core::event::{Answer, Author, Entry, LastAssistant, PlatformEvent};
use workflow_core::session::{Abilities, Control, RunCondition, StepCall};
use workflow_core::types::{GateRunId, QuestionId, RequestId, RestoreId};
use workflow_core::{Effects, Session};

use crate::event::{self, Event, Replied, RequestKind, render_late_reply, render_reply};

/// The moment at which every test starts.
pub(crate) const NOW: u64 = 1_747_234_567_890;

/// A phase with an id, a name and instructions that follow from one text.
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

/// A workflow named after its key; a name in braces is a subworkflow, any other a phase.
pub(crate) fn workflow(key: &str, entries: &[&str]) -> Workflow {
    let entry = |word: &&str| match word
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        Some(inner) => PhaseEntry::Subworkflow(inner.into()),
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

/// What the user decides outside of the host.
#[derive(Debug, Clone)]
pub(crate) enum Word {
    Chosen(String),
    /// An answer about a file that has changed since.
    Outdated,
}

impl Word {
    pub(crate) fn read(word: Option<Self>) -> PlatformEvent {
        let is_outdated = matches!(word, Some(Self::Outdated));
        let decision = word.map(|word| {
            Box::new(Decision {
                choice: match word {
                    Self::Chosen(choice) => choice,
                    Self::Outdated => "approve".to_owned(),
                },
                ..Decision::default()
            })
        });
        PlatformEvent::ApprovalRead {
            decision,
            is_outdated,
        }
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
    /// The calls that a person was asked about, and the answers, as they are counted.
    pub(crate) consents: Vec<Option<bool>>,
    /// The levels whose rules denied calls, as they are counted.
    pub(crate) denied: Vec<String>,
    /// The gate that was run last.
    pub(crate) gate: GateRunId,
    /// The restore that was begun last.
    pub(crate) restore: RestoreId,
    /// The decision of the person outside of the host.
    pub(crate) word: Option<Word>,
    /// The phases that the host shows.
    pub(crate) phases: Option<String>,
    /// The id of the approval request that was stored last.
    pub(crate) approval: String,
    /// What each answer to it does.
    pub(crate) consequences: Vec<String>,
    /// The runs that the session has unloaded for good: task, and how each ended.
    pub(crate) ended: Vec<(String, RunCondition)>,
    requests: u64,
    /// The requests that are answered later.
    unanswered: BTreeMap<RequestId, RequestKind>,
    /// All questions so far.
    asked_before: BTreeSet<QuestionId>,
}

impl World {
    /// A session with an interface and dialogs, started over an empty branch.
    pub(crate) fn new(workflows: Vec<Workflow>) -> Self {
        let mut world = Self {
            session: Session::new(
                Abilities {
                    dialogs: true,
                    dismissal: true,
                    widgets: Some(true),
                    ..Abilities::default()
                },
                7,
            ),
            now: NOW,
            workflows,
            settings: Settings::default(),
            own: Vec::new(),
            branch: Vec::new(),
            asked: Vec::new(),
            consents: Vec::new(),
            denied: Vec::new(),
            gate: GateRunId(0),
            restore: RestoreId(0),
            word: None,
            phases: None,
            approval: String::new(),
            consequences: Vec::new(),
            ended: Vec::new(),
            requests: 0,
            unanswered: BTreeMap::new(),
            asked_before: BTreeSet::new(),
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
        let listing = |Workflow { key, .. }: &Workflow| Listing {
            key: key.clone(),
            tier: if self.own.contains(key) {
                Tier::Global
            } else {
                Tier::Project
            },
            source: String::new(),
            name: String::new(),
            command_name: String::new(),
            show: Show::User,
            phases: 0,
            shadows: false,
            outcome: LoadOutcome::Loaded,
        };
        Arc::new(Loaded {
            index: self.workflows.iter().map(listing).collect(),
            catalog: Arc::new(Catalog::new(self.workflows.clone()).with_quick()),
            settings: self.settings.clone(),
            ..Loaded::default()
        })
    }

    /// Sends an event and renders everything that comes out, a line for each reply, diagnostic, action, question and effect.
    pub(crate) fn step(&mut self, input: Event<'_>) -> Vec<String> {
        let send = |session: &mut Session| event::send(session, input);
        let (reply, out) = self.session.at(self.now, send);
        self.render(reply, out)
    }

    /// Sends a report of the platform, and renders everything that comes out.
    pub(crate) fn report(&mut self, event: PlatformEvent) -> Vec<String> {
        self.step(Event::Platform(event))
    }

    fn render(&mut self, reply: Replied, mut out: Effects) -> Vec<String> {
        let mut lines = Vec::new();
        let consents = out.asked.iter().map(|asked| asked.allowed);
        self.consents.extend(consents);
        let denied = out.denied.iter().map(|denied| denied.level.clone());
        self.denied.extend(denied);
        match reply {
            Replied::ToRequest(request, kind) if is_answered(&out, request) => {
                let answer = out.take_answer(request).expect("it is answered");
                assert_eq!(RequestKind::of(&answer.reply), kind);
                lines.extend(render_reply(&answer.reply));
                out.actions.extend(answer.actions);
            }
            Replied::ToRequest(request, kind) => {
                let before = self.unanswered.insert(request, kind);
                assert_eq!(before, None, "{request:?} waits twice");
                lines.push(format!("later #{}", request.0));
            }
            Replied::Now(reply) => lines.extend(reply),
        }
        let ended = out.ended.into_iter();
        self.ended
            .extend(ended.map(|run| (run.state.task_description, run.condition)));
        lines.extend(out.diagnostics.iter().map(render_diagnostic));
        self.take(out.actions, &mut lines);
        for question in out.questions {
            let show = question.show.map_or("-".to_owned(), |file| file);
            lines.push(format!(
                "ask {}: {}\n= #{} {:?}, shows {show}",
                question.title, question.message, question.id.0, question.options
            ));
            assert!(
                self.asked_before.insert(question.id),
                "{:?} is asked twice",
                question.id
            );
            self.asked.push(question.id);
        }
        lines.extend(
            out.withdrawn
                .iter()
                .map(|question| format!("dismiss #{}", question.0)),
        );
        for answer in out.answers {
            assert_eq!(
                self.unanswered.remove(&answer.request),
                Some(RequestKind::of(&answer.reply)),
                "{:?} waits for an answer of this kind",
                answer.request
            );
            lines.push(render_late_reply(answer.request, &answer.reply));
            self.take(answer.actions, &mut lines);
        }
        let mut reads_word = false;
        for effect in out.effects {
            lines.push(match effect {
                Effect::RunGate(run) => {
                    self.gate = run.id;
                    let start = run.start.map(|start| format!(", start {start}"));
                    format!(
                        "gate #{} checks {}, baseline {}{}, to trust {}",
                        run.id.0,
                        json(&run.gates),
                        json(&run.baseline),
                        start.unwrap_or_default(),
                        json(&run.commands)
                    )
                }
                Effect::CancelGate { gate } => format!("stop gate #{}", gate.0),
                Effect::TakeBaseline { gates, .. } => format!("baseline of {}", json(&gates)),
                Effect::MeasureChange { start, globs } => {
                    format!("measure since {} {}", json(&start), json(&globs))
                }
                Effect::CheckTrust { commands } => format!("check trust in {}", json(&commands)),
                Effect::TrustCommands { commands } => format!("trust {}", json(&commands)),
                Effect::RequestApproval(awaiting) => {
                    self.approval.clone_from(&awaiting.id);
                    self.consequences.clone_from(&awaiting.consequences);
                    format!("await {}", render_awaiting(&awaiting))
                }
                Effect::ReadApproval(awaiting) => {
                    reads_word = true;
                    format!("read approval of {}", render_awaiting(&awaiting))
                }
                Effect::ClearApproval { task_id: task } => format!("clear approval of {task}"),
                Effect::RecordCheckpoint => "record checkpoint".to_owned(),
                Effect::RestoreCode { restore, snapshot } => {
                    self.restore = restore;
                    format!("restore #{} {}", restore.0, json(&snapshot))
                }
                Effect::WatchTriggers { triggers } => format!("watch {}", json(&triggers)),
                Effect::StopWatching => "watch nothing".to_owned(),
                Effect::TrustTriggers { triggers } => format!("trust triggers {}", json(&triggers)),
            });
        }
        if reads_word {
            let read = Word::read(self.word.take());
            lines.extend(self.step(Event::Platform(read)));
        }
        lines
    }

    fn take(&mut self, actions: Vec<Action>, lines: &mut Vec<String>) {
        for action in actions {
            lines.push(match action {
                Action::AppendEntry { custom_type, data } => {
                    let line = format!("entry {custom_type} {data}");
                    self.branch.push((custom_type.to_owned(), data));
                    line
                }
                Action::SendMessage { message, .. } => {
                    format!("message {} {}", message.custom_type, message.content)
                }
                Action::SendUserMessage {
                    content,
                    deliver_as,
                } => {
                    let delivery = match deliver_as {
                        None => "if idle",
                        Some(Delivery::Steer) => "steers",
                        Some(Delivery::FollowUp) => "follows up",
                    };
                    format!("user ({delivery}) {content}")
                }
                Action::SetHints { hints } => format!("hints {hints:?}"),
                Action::SetSessionName { name } => format!("name {name}"),
                Action::SetStatus { text, .. } => {
                    format!("status {}", text.unwrap_or_else(|| "-".to_owned()))
                }
                Action::SetWidget {
                    placement: Placement::BelowEditor,
                    lines,
                    ..
                } => {
                    self.phases = lines.map(|lines| lines.join("/"));
                    continue;
                }
                Action::SetWidget {
                    placement: Placement::AboveEditor,
                    lines,
                    ..
                } => format!(
                    "widget {}",
                    lines.map_or("-".to_owned(), |lines| lines.join("/"))
                ),
                Action::Notify { message, level, .. } => format!("notify {level:?} {message}"),
            });
        }
    }

    /// Loads the session again, over the current branch.
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
        // The entries that the session appends on loading follow the earlier ones.
        let appended = std::mem::replace(&mut self.branch, branch);
        self.branch.extend(appended);
        lines
    }

    /// Starts another sidecar over the current branch.
    pub(crate) fn restart(&mut self) -> Vec<String> {
        let abilities = Abilities {
            dialogs: true,
            dismissal: true,
            widgets: Some(true),
            ..Abilities::default()
        };
        self.restart_with(abilities)
    }

    /// Starts another sidecar over the current branch, for a host with these abilities.
    pub(crate) fn restart_with(&mut self, abilities: Abilities) -> Vec<String> {
        self.session = Session::new(abilities, 7);
        self.asked.clear();
        self.asked_before.clear();
        self.unanswered.clear();
        self.reload()
    }

    pub(crate) fn command(&mut self, arguments: &str) -> Vec<String> {
        self.requests += 1;
        let loaded = self.loaded();
        self.step(Event::StartCommand {
            request: RequestId(self.requests),
            arguments,
            loaded,
        })
    }

    /// A command that controls the run.
    pub(crate) fn control(&mut self, control: Control, arguments: &str) -> Vec<String> {
        self.requests += 1;
        self.step(Event::Control {
            request: RequestId(self.requests),
            control,
            arguments,
        })
    }

    pub(crate) fn cancel_command(&mut self) -> Vec<String> {
        self.step(Event::CancelCommand)
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
        self.call_step(StepCall {
            action: Some(action.into()),
            ..StepCall::default()
        })
    }

    /// Leaves the phase with an outcome, or none if it is empty, and with outputs.
    pub(crate) fn next(&mut self, outcome: &str, outputs: &serde_json::Value) -> Vec<String> {
        let outputs = serde_json::value::to_raw_value(outputs).expect("a JSON value is JSON");
        self.call_step(StepCall {
            action: Some("next".into()),
            outcome: Some(outcome.into()).filter(|_| !outcome.is_empty()),
            outputs: Some(&outputs),
            ..StepCall::default()
        })
    }

    pub(crate) fn call_step(&mut self, call: StepCall<'_>) -> Vec<String> {
        self.requests += 1;
        self.step(Event::Step {
            request: RequestId(self.requests),
            call,
        })
    }

    pub(crate) fn tool_call(&mut self, tool: &str) -> Vec<String> {
        self.call(tool, &serde_json::json!({}))
    }

    /// A tool call with arguments.
    pub(crate) fn call(&mut self, tool: &str, input: &serde_json::Value) -> Vec<String> {
        self.call_written(tool, &input.to_string())
    }

    /// A tool call with arguments as they are written.
    pub(crate) fn call_written(&mut self, tool: &str, input: &str) -> Vec<String> {
        self.requests += 1;
        let input = RawValue::from_string(input.to_owned()).expect("the arguments are JSON");
        self.step(Event::ToolCall {
            request: RequestId(self.requests),
            tool,
            input: Some(&input),
            loaded: self.loaded(),
        })
    }

    pub(crate) fn user_input(&mut self) -> Vec<String> {
        self.step(Event::UserInput {
            author: Some(Author::User),
        })
    }

    /// The user types something that is not sent.
    pub(crate) fn type_key(&mut self) -> Vec<String> {
        self.step(Event::UserInput {
            author: Some(Author::Typist),
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

    /// Appends an entry with this text as data.
    pub(crate) fn append_text(&mut self, custom_type: &str, data: &str) {
        let data = RawValue::from_string(data.to_owned()).expect("the text is JSON");
        self.branch.push((custom_type.to_owned(), data));
    }

    /// Appends an entry of another program.
    pub(crate) fn append(&mut self, custom_type: &str, data: &serde_json::Value) {
        self.branch.push((
            custom_type.to_owned(),
            serde_json::value::to_raw_value(data).expect("a value is JSON"),
        ));
    }
}

fn render_diagnostic(problem: &Diagnostic) -> String {
    format!(
        "{} {}\n= {} {}, about {:?}",
        problem.code, problem.message, problem.severity, problem, problem.workflow
    )
}

/// True if a request is answered at once.
fn is_answered(out: &Effects, request: RequestId) -> bool {
    let mut answers = out.answers.iter();
    answers.any(|answer| answer.request == request)
}

fn render_awaiting(awaiting: &Request) -> String {
    let Request {
        id,
        ask,
        choices,
        show,
        ..
    } = awaiting;
    let show = show
        .as_ref()
        .map(|show| format!(",\"show\":{}", json(show)));
    format!(
        "{id} {{\"ask\":{},\"choices\":{}{}}}",
        json(ask),
        json(choices),
        show.unwrap_or_default()
    )
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("a value is JSON")
}

/// The text of the first user message among some lines.
#[track_caller]
pub(crate) fn user_text(lines: &[String]) -> &str {
    let (_, text) = line(lines, "user (")
        .split_once(") ")
        .expect("the delivery is in brackets");
    text
}

/// The user messages among some lines.
pub(crate) fn user_messages(lines: &[String]) -> usize {
    lines
        .iter()
        .filter(|line| line.starts_with("user "))
        .count()
}

/// The first line with this start.
#[track_caller]
pub(crate) fn line<'l>(lines: &'l [String], start: &str) -> &'l str {
    match lines.iter().find(|line| line.starts_with(start)) {
        Some(line) => line,
        None => panic!("no `{start}` in {lines:#?}"),
    }
}
