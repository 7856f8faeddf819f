//! A timeline in the making.

use std::sync::Arc;

use serde::Serialize;
use workflow_core::definition::Catalog;
use workflow_core::event::Entry;
use workflow_core::guard::Parked;
use workflow_core::guard::gate::Report;
use workflow_core::run::{RunState, StoredGate, entry_type};

use super::Fact;
use super::run::{Run, state_of};

/// What happened, in order, and how much of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Timeline {
    pub(crate) events: Vec<Event>,
    pub(crate) totals: Totals,
    /// What workflows are called whose definition is not stored with the run.
    #[serde(skip)]
    known: Option<Arc<Catalog>>,
    #[serde(skip)]
    run: Option<Run>,
    /// What `workflow_step` was last called with.
    #[serde(skip)]
    action: Option<String>,
    /// The phase that is not left yet: its event, and when it was entered.
    #[serde(skip)]
    open: Option<(usize, Option<i64>)>,
    /// The names that wait for the definition: start and phase.
    #[serde(skip)]
    unnamed: Vec<usize>,
    /// The questions that wait: their ids, and their events.
    #[serde(skip)]
    asked: Vec<(String, usize)>,
    /// What triggers had that the agent was not told yet.
    #[serde(skip)]
    came_in: Vec<String>,
    /// The latest time that was told.
    #[serde(skip)]
    now: Option<i64>,
}

/// Something that happened.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Event {
    /// When, in milliseconds since 1970, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<i64>,
    #[serde(flatten)]
    pub(crate) what: Happened,
}

/// What happened.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub(crate) enum Happened {
    /// A run was started.
    Started { workflow: String, task: String },
    /// A run was found in the session.
    Resumed { workflow: String, task: String },
    /// A phase was entered; how long it lasted, once it was left.
    Entered {
        phase: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lasted: Option<i64>,
    },
    /// A tool was blocked.
    Denied { tool: String, reason: String },
    /// The checks of a gate were run.
    Gate { checks: Vec<Report> },
    /// A person was asked something; what was answered, once it was.
    Asked {
        question: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// `workflow_step` did not do it.
    Refused { action: String, answer: String },
    /// The agent was told to go on, so many times in a row.
    Pushed { times: u32 },
    /// A person spoke.
    Spoke { text: String },
    /// A trigger woke the agent with this.
    Woken { text: String },
    /// The code was brought back to a checkpoint, or was not.
    BroughtBack { said: String },
    /// The run waits for a person.
    Parked { why: &'static str },
    /// Older messages were replaced by a summary.
    Compacted,
    /// The run is complete.
    Completed { lasted: Option<i64> },
    /// The run was cancelled.
    Cancelled { lasted: Option<i64> },
}

/// How much of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Totals {
    /// Context messages, and the characters in them.
    pub(crate) contexts: u64,
    pub(crate) context_characters: u64,
    /// Initial messages.
    pub(crate) initial_messages: u64,
    pub(crate) initial_message_characters: u64,
    /// Reminders.
    pub(crate) reminders: u64,
    pub(crate) reminder_characters: u64,
    /// Tools that the agent called while a run was active, `workflow_step` among them.
    pub(crate) tool_calls: u64,
    pub(crate) denials: u64,
    pub(crate) pushes: u64,
    /// How often the code was kept.
    pub(crate) checkpoints: u64,
}

impl Timeline {
    /// A timeline of runs whose definitions are in a catalog, where they are not stored.
    pub(super) fn new(known: Option<Arc<Catalog>>) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }

    /// Takes what happened next.
    pub(super) fn take(&mut self, at: Option<i64>, fact: Fact<'_>) {
        self.now = at.or(self.now);
        match fact {
            Fact::Stored(entry) => self.stored(entry),
            Fact::Loaded(entries) => self.loaded(&entries),
            Fact::Called => {
                if self.is_active() {
                    self.totals.tool_calls += 1;
                }
            }
            Fact::Moved(action) => self.action = Some(action.to_owned()),
            Fact::Refused(answer) => {
                let action = self.action.take().unwrap_or_default();
                let answer = answer.to_owned();
                self.push(Happened::Refused { action, answer });
            }
            Fact::Result { tool, text } => {
                let explained = self
                    .run
                    .as_ref()
                    .filter(|run| run.state.active)
                    .and_then(Run::explained);
                let by_rule = format!("[workflow] The tool \"{tool}\" is blocked by ");
                let by_list = explained
                    .is_some_and(|explained| explained.blocks(tool).as_deref() == Some(text));
                if text.starts_with(&by_rule) || by_list {
                    self.denied(tool, text);
                }
            }
            Fact::Denied { tool, reason } => self.denied(tool, reason),
            Fact::Asked { id, question } => {
                self.asked.push((id.to_owned(), self.events.len()));
                let question = question.to_owned();
                let answer = None;
                self.push(Happened::Asked { question, answer });
            }
            Fact::Answered { id, answer } => self.answered(id, answer),
            Fact::Injected(text) => {
                self.totals.contexts += 1;
                self.totals.context_characters += characters(text);
            }
            Fact::Said(text) => self.said(text, false),
            Fact::SaidByUs(text) => self.said_by_us(text),
            Fact::CameIn(text) => self.came_in.push(text.to_owned()),
            Fact::BroughtBack(said) => {
                let said = said.to_owned();
                self.push(Happened::BroughtBack { said });
            }
            Fact::Compacted => {
                if self.is_active() {
                    self.push(Happened::Compacted);
                }
            }
        }
    }

    fn is_active(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.state.active)
    }

    fn push(&mut self, what: Happened) {
        self.events.push(Event { at: self.now, what });
    }

    fn answered(&mut self, id: &str, said: &str) {
        let Some(at) = self.asked.iter().position(|(asked, _)| asked == id) else {
            return;
        };
        let (_, event) = self.asked.swap_remove(at);
        if let Some(Happened::Asked { answer, .. }) =
            self.events.get_mut(event).map(|event| &mut event.what)
        {
            *answer = Some(said.to_owned());
        }
    }

    fn denied(&mut self, tool: &str, reason: &str) {
        self.totals.denials += 1;
        self.push(Happened::Denied {
            tool: tool.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// A text of ours to the agent: one that a trigger had, or our own.
    fn said_by_us(&mut self, text: &str) {
        match self.came_in.iter().position(|came_in| came_in == text) {
            Some(at) => {
                let text = self.came_in.remove(at);
                self.push(Happened::Woken { text });
            }
            None => self.said(text, true),
        }
    }

    /// A text to the agent: ours, if it is what we say here, or a person's.
    fn said(&mut self, text: &str, is_ours: bool) {
        let explained = self
            .run
            .as_ref()
            .filter(|run| run.state.active)
            .and_then(Run::explained);
        let is_reminder = explained.is_some_and(|explained| explained.is_reminder(text));
        let is_initial = explained.is_some_and(|explained| explained.initial_message() == text);
        if is_initial || (is_ours && !is_reminder) {
            self.totals.initial_messages += 1;
            self.totals.initial_message_characters += characters(text);
        } else if is_reminder {
            self.totals.reminders += 1;
            self.totals.reminder_characters += characters(text);
        } else {
            let text = text.to_owned();
            self.push(Happened::Spoke { text });
        }
    }

    fn stored(&mut self, entry: Entry<'_>) {
        match entry.custom_type {
            entry_type::STATE => {
                if let Some(state) = state_of(entry) {
                    self.entered(state);
                }
            }
            entry_type::DEFINITION => self.defined(entry),
            entry_type::RUN => self.paced(entry),
            entry_type::GATE => self.checked(entry),
            entry_type::CHECKPOINT => self.totals.checkpoints += 1,
            _ => {}
        }
    }

    /// The session stands somewhere, and perhaps somewhere else than it did.
    fn loaded(&mut self, entries: &[Entry<'_>]) {
        let newest = |of: &str| entries.iter().rev().find(|entry| entry.custom_type == of);
        let Some(state) = newest(entry_type::STATE).and_then(|entry| state_of(*entry)) else {
            self.leave();
            self.run = None;
            return;
        };
        let is_known = self.run.as_ref().is_some_and(|run| run.state == state);
        if is_known || (self.run.is_none() && !state.active) {
            return;
        }
        let mut run = Run::new(state, self.known.clone());
        if let Some(definition) = newest(entry_type::DEFINITION) {
            run.define(*definition);
        }
        if let Some(pace) = newest(entry_type::RUN) {
            run.pace(*pace);
        }
        self.push(Happened::Resumed {
            workflow: run.workflow().to_owned(),
            task: run.state.task_description.clone(),
        });
        self.leave();
        self.open_phase(run.phase(), None);
        self.run = Some(run);
    }

    fn entered(&mut self, state: RunState) {
        let by = self.action.take();
        let before = self
            .run
            .as_ref()
            .filter(|run| run.state.task_id == state.task_id);
        let Some(before) = before.map(|run| run.state.clone()) else {
            return self.started(state);
        };
        let is_over = before.active && !state.active;
        let moved = state.active
            && (before.current_path != state.current_path
                || before.global_step_count != state.global_step_count);
        let lasted = self.now.map(|now| now.saturating_sub(state.started_at));
        let cancelled = state.cancelled;
        if let Some(run) = &mut self.run {
            run.moved(state);
        }
        if is_over {
            self.leave();
            self.push(if cancelled {
                Happened::Cancelled { lasted }
            } else {
                Happened::Completed { lasted }
            });
        } else if moved {
            self.leave();
            let phase = self.run.as_ref().map(Run::phase).unwrap_or_default();
            self.open_phase(phase, by);
        }
    }

    fn started(&mut self, state: RunState) {
        self.leave();
        let run = Run::new(state, self.known.clone());
        let (workflow, task) = (
            run.workflow().to_owned(),
            run.state.task_description.clone(),
        );
        if !run.state.active {
            // Only its end is known.
            self.run = Some(run);
            return;
        }
        self.unnamed = vec![self.events.len(), self.events.len() + 1];
        self.push(Happened::Started { workflow, task });
        self.open_phase(run.phase(), None);
        self.run = Some(run);
    }

    /// The definition comes after the state: what was named by keys and numbers gets its names.
    fn defined(&mut self, entry: Entry<'_>) {
        let Some(run) = self.run.as_mut() else { return };
        if !run.define(entry) {
            return;
        }
        let (name, now_in) = (run.workflow().to_owned(), run.phase());
        for at in std::mem::take(&mut self.unnamed) {
            match self.events.get_mut(at).map(|event| &mut event.what) {
                Some(Happened::Started { workflow, .. }) => workflow.clone_from(&name),
                Some(Happened::Entered { phase, .. }) => phase.clone_from(&now_in),
                _ => {}
            }
        }
    }

    /// A gate came to something; how things stood where a phase was entered is nobody's interest.
    fn checked(&mut self, entry: Entry<'_>) {
        let stored = entry
            .data
            .and_then(|data| serde_json::from_str::<StoredGate>(data.get()).ok());
        let checks = stored.map(|stored| stored.reports).unwrap_or_default();
        if !checks.is_empty() {
            self.push(Happened::Gate { checks });
        }
    }

    fn paced(&mut self, entry: Entry<'_>) {
        let Some(run) = self.run.as_mut() else { return };
        let before = run.pace(entry);
        let now = run.pace;
        if now.pushes > before.pushes {
            self.totals.pushes += u64::from(now.pushes - before.pushes);
            self.push(Happened::Pushed { times: now.pushes });
        }
        if let Some(why) = now.parked.filter(|_| before.parked.is_none()) {
            self.push(Happened::Parked { why: reason(why) });
        }
    }

    fn open_phase(&mut self, phase: String, by: Option<String>) {
        self.open = Some((self.events.len(), self.now));
        let lasted = None;
        self.push(Happened::Entered { phase, by, lasted });
    }

    /// Notes how long the phase lasted that is left now.
    fn leave(&mut self) {
        let Some((at, since)) = self.open.take() else {
            return;
        };
        let times = self.now.zip(since);
        let duration = times.map(|(now, since)| now.saturating_sub(since));
        if let Some(Happened::Entered { lasted, .. }) =
            self.events.get_mut(at).map(|event| &mut event.what)
        {
            *lasted = duration;
        }
    }
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

fn reason(why: Parked) -> &'static str {
    match why {
        Parked::Max => "the bound of reminders is reached",
        Parked::MaxStale => "the agent called no tool",
        Parked::Error => "the model's answer ended in an error",
        Parked::Question => "the agent asked a question",
        Parked::Approval => "the phase needs the user's word",
    }
}
