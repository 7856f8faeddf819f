//! Timeline: events and totals.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use workflow_core::definition::Catalog;
use workflow_core::event::Entry;
use workflow_core::explain::Explained;
use workflow_core::policy::gate_report::Report;
use workflow_core::run::{RunState, StoredGate, entry_type, restore};
use workflow_core::session::RunCondition;

use super::run::{FlowNotes, TimelineRun};
use crate::driver::CallDecision;
use crate::store::SHOWN_ONLY;

/// The events of a session in order, and totals.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) events: Vec<TimedEvent>,
    pub(crate) totals: Totals,
    /// Definitions of runs that have none stored.
    known: Option<Arc<Catalog>>,
    pub(super) run: Option<TimelineRun>,
    /// The runs before, in order.
    pub(super) earlier: Vec<TimelineRun>,
    /// The action of the last call of `workflow_step`, until the run moves.
    action: Option<String>,
    /// The action of the last call of `workflow_step`, after it has moved the run.
    moved_by: Option<String>,
    /// The open questions: the index of the event by id.
    pub(super) open_questions: HashMap<String, usize>,
    /// Texts of triggers that were not sent to the agent yet.
    pub(super) trigger_texts: Vec<String>,
    /// The latest known time.
    now: Option<i64>,
}

/// An event with its time.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TimedEvent {
    /// In milliseconds since 1970, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<i64>,
    #[serde(flatten)]
    pub(crate) what: TimelineEvent,
}

/// An event.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub(crate) enum TimelineEvent {
    /// A run was started.
    Started { workflow: String, task: String },
    /// A run was found in the session.
    Resumed { workflow: String, task: String },
    /// A phase was entered; with its duration, once it was left.
    Entered {
        phase: String,
        /// The ids of the phase and of the references around it, outer ones first.
        #[serde(skip)]
        path: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lasted: Option<i64>,
        #[serde(flatten)]
        flow: Box<FlowNotes>,
    },
    /// A tool was blocked.
    Denied { tool: String, reason: String },
    /// The checks of a gate ran.
    Gate { checks: Vec<Report> },
    /// A question to the user; with the answer, once there is one.
    Asked {
        question: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// The user answered the question for an approval, in a session that has no dialogs.
    Answered {
        choice: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
    },
    /// `workflow_step` answered with an error.
    Refused { action: String, answer: String },
    /// The agent was reminded to continue; the number of reminders in a row.
    Reminded { times: u32 },
    /// The user sent a message.
    UserMessage { text: String },
    /// A trigger started the agent with this text.
    Triggered { text: String },
    /// A checkpoint was restored, or could not be.
    CodeRestored { message: String },
    /// The run was paused.
    Paused { why: &'static str },
    /// Older messages were replaced by a summary.
    Compacted,
    /// The run is complete; with the command, if the user ended it by one.
    Completed {
        lasted: Option<i64>,
        #[serde(flatten)]
        flow: Box<FlowNotes>,
    },
    /// The run was cancelled.
    Cancelled { lasted: Option<i64> },
}

/// Totals.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Totals {
    /// Context messages, and their characters.
    pub(crate) contexts: usize,
    pub(crate) context_characters: usize,
    /// Initial messages.
    pub(crate) initial_messages: usize,
    pub(crate) initial_message_characters: usize,
    /// Reminders.
    pub(crate) reminders: usize,
    pub(crate) reminder_characters: usize,
    /// Other messages of the sidecar, as of a move by the user.
    pub(crate) messages: usize,
    pub(crate) message_characters: usize,
    /// Tools that the agent called while a run was active, `workflow_step` among them.
    pub(crate) tool_calls: usize,
    pub(crate) denials: usize,
    /// Recorded checkpoints.
    pub(crate) checkpoints: usize,
}

impl TimelineEvent {
    /// Returns true for a gate that did not pass.
    pub(super) fn is_failed_gate(&self) -> bool {
        matches!(self, Self::Gate { checks } if !checks.iter().all(Report::has_passed))
    }

    /// Changes the texts of people, models and tools.
    pub(super) fn change_texts(&mut self, change: &dyn Fn(&mut String)) {
        match self {
            Self::Started { task: text, .. }
            | Self::Resumed { task: text, .. }
            | Self::Denied { reason: text, .. }
            | Self::Refused { answer: text, .. }
            | Self::UserMessage { text }
            | Self::Triggered { text }
            | Self::CodeRestored { message: text } => change(text),
            Self::Entered { flow, .. } | Self::Completed { flow, .. } => {
                let texts = [&mut flow.comment, &mut flow.approver];
                texts.into_iter().flatten().for_each(change);
            }
            Self::Gate { checks } => {
                for check in checks {
                    change(&mut check.reason);
                    change(&mut check.tail);
                }
            }
            Self::Asked { question, answer } => {
                change(question);
                answer.as_mut().into_iter().for_each(change);
            }
            Self::Answered { comment, .. } => comment.as_mut().into_iter().for_each(change),
            Self::Reminded { .. }
            | Self::Paused { .. }
            | Self::Compacted
            | Self::Cancelled { .. } => {}
        }
    }

    /// The text that the line of the event shows the beginning of.
    pub(super) fn line_text(&self) -> Option<&str> {
        match self {
            Self::Asked { question: text, .. }
            | Self::UserMessage { text }
            | Self::Triggered { text } => Some(text),
            _ => None,
        }
    }
}

impl Timeline {
    /// Creates a timeline, with definitions for runs that have none stored.
    pub(super) fn new(known: Option<Arc<Catalog>>) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }

    /// Sets the time of what is added next, if it is known.
    pub(super) fn at(&mut self, at: Option<i64>) -> &mut Self {
        self.now = at.or(self.now);
        self
    }

    /// Adds a call of a tool by the agent.
    pub(super) fn tool_called(&mut self) {
        if self.active_run().is_some() {
            self.totals.tool_calls += 1;
        }
    }

    /// Adds a call of `workflow_step` with this action.
    pub(super) fn step_called(&mut self, action: &str) {
        self.moved_by = None;
        self.action = Some(action.to_owned());
    }

    /// Adds an answer of `workflow_step` that is an error.
    pub(super) fn step_refused(&mut self, answer: &str) {
        let action = self.action.take().or_else(|| self.moved_by.take());
        // A session file may begin after the call.
        let action = action.unwrap_or_default();
        let answer = answer.to_owned();
        self.push(TimelineEvent::Refused { action, answer });
    }

    /// Adds the answer of the user to the question for an approval: before the move that it caused, if it caused one.
    pub(super) fn approval_answered(&mut self, choice: &str, comment: Option<&str>) {
        self.push(TimelineEvent::Answered {
            choice: choice.to_owned(),
            comment: comment.map(str::to_owned),
        });
        if let [.., moved, answered] = &mut *self.events
            && let TimelineEvent::Entered { flow, .. } | TimelineEvent::Completed { flow, .. } =
                &mut moved.what
            && self.moved_by.is_some()
        {
            flow.comment = None;
            std::mem::swap(moved, answered);
        }
    }

    /// Adds a tool's error result. In a session file a blocked call is one too.
    pub(super) fn tool_failed(&mut self, tool: &str, text: &str) {
        let by_rule = format!("[workflow] The tool \"{tool}\" is blocked by ");
        let by_list = self
            .explained()
            .is_some_and(|explained| explained.is_list_reason(tool, text));
        if text.starts_with(&by_rule) || by_list {
            self.denied(tool, text);
        }
    }

    /// Adds a question to the user.
    pub(super) fn question_opened(&mut self, id: &str, question: &str) {
        let event = self.events.len();
        self.open_questions.insert(id.to_owned(), event);
        let question = question.to_owned();
        let answer = None;
        self.push(TimelineEvent::Asked { question, answer });
    }

    /// Adds a context message.
    pub(super) fn context_injected(&mut self, text: &str) {
        self.totals.contexts += 1;
        self.totals.context_characters += characters(text);
    }

    /// Notes that older messages were replaced by a summary.
    pub(super) fn compacted(&mut self) {
        if self.active_run().is_some() {
            self.push(TimelineEvent::Compacted);
        }
    }

    fn active_run(&self) -> Option<&TimelineRun> {
        self.run.as_ref().filter(|run| run.state.active)
    }

    /// The explanation of the current phase of an active run.
    fn explained(&self) -> Option<&Explained> {
        self.active_run()?.explained()
    }

    /// Adds an event. The current phase ends where another begins, or a run.
    pub(super) fn push(&mut self, what: TimelineEvent) {
        if let TimelineEvent::Entered { .. }
        | TimelineEvent::Started { .. }
        | TimelineEvent::Resumed { .. }
        | TimelineEvent::Completed { .. }
        | TimelineEvent::Cancelled { .. } = what
        {
            self.leave_phase();
        }
        self.events.push(TimedEvent { at: self.now, what });
    }

    /// Adds the answer to a question.
    pub(super) fn question_answered(&mut self, id: &str, text: &str) {
        let event = self.open_questions.remove(id);
        let event = event.and_then(|event| self.events.get_mut(event));
        if let Some(TimelineEvent::Asked { answer, .. }) = event.map(|event| &mut event.what) {
            *answer = Some(text.to_owned());
        }
    }

    /// Adds a decision about a call, as sessions of the store keep it.
    fn decided(&mut self, entry: Entry<'_>) {
        let decision = entry
            .data
            .and_then(|data| serde_json::from_str(data.get()).ok());
        let Some(CallDecision {
            tool,
            reason,
            is_asked,
        }) = decision
        else {
            return;
        };
        if is_asked {
            self.push(TimelineEvent::Asked {
                question: reason,
                answer: Some("in the host".to_owned()),
            });
        } else {
            self.denied(&tool, &reason);
        }
    }

    /// Adds a blocked call.
    pub(super) fn denied(&mut self, tool: &str, reason: &str) {
        self.totals.denials += 1;
        self.push(TimelineEvent::Denied {
            tool: tool.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// Adds a user message that the sidecar sent: a trigger's text, or our own.
    pub(super) fn sent_message(&mut self, text: &str) {
        let mut texts = self.trigger_texts.iter();
        if let Some(at) = texts.position(|trigger_text| trigger_text == text) {
            let text = self.trigger_texts.remove(at);
            self.push(TimelineEvent::Triggered { text });
        } else {
            self.message(text, true);
        }
    }

    /// Adds a message that the user wrote, or the sidecar sent: one of ours if it equals the initial message or the reminder, else the user's.
    pub(super) fn message(&mut self, text: &str, is_ours: bool) {
        let explained = self.explained();
        let is_reminder = explained.is_some_and(|explained| explained.is_reminder(text));
        let is_initial = explained.is_some_and(|explained| explained.initial_message == text);
        let is_told = text.starts_with("[workflow] ");
        if is_initial || (is_ours && !is_reminder && !is_told) {
            self.totals.initial_messages += 1;
            self.totals.initial_message_characters += characters(text);
        } else if is_reminder {
            self.totals.reminder_characters += characters(text);
        } else if is_told {
            self.totals.messages += 1;
            self.totals.message_characters += characters(text);
        } else {
            let text = text.to_owned();
            self.push(TimelineEvent::UserMessage { text });
        }
    }

    /// Adds an entry of ours.
    pub(super) fn stored(&mut self, entry: Entry<'_>) {
        match entry.custom_type {
            entry_type::STATE => {
                if let Some(state) = restore(&[entry]).state {
                    self.entered(state);
                }
            }
            entry_type::DEFINITION => self.defined(entry),
            entry_type::RUN => self.counted(entry),
            entry_type::VALUES => {
                if let Some(run) = &mut self.run {
                    run.note_values(entry);
                }
            }
            entry_type::GATE => self.checked(entry),
            entry_type::CHECKPOINT => self.totals.checkpoints += 1,
            SHOWN_ONLY => self.decided(entry),
            _ => {}
        }
    }

    /// Adopts the position of a loaded session, which may differ from the current one.
    pub(super) fn loaded(&mut self, entries: &[Entry<'_>]) {
        let newest = |of: &str| entries.iter().rev().find(|entry| entry.custom_type == of);
        let Some(state) = newest(entry_type::STATE).and_then(|entry| restore(&[*entry]).state)
        else {
            self.leave_phase();
            self.earlier.extend(self.run.take());
            return;
        };
        let is_known = (self.run.as_ref()).map_or(!state.active, |run| run.state == state);
        if is_known {
            return;
        }
        let mut run = TimelineRun::new(state, self.known.clone());
        if let Some(definition) = newest(entry_type::DEFINITION) {
            run.define(*definition);
        }
        if let Some(counters) = newest(entry_type::RUN) {
            run.note(*counters);
        }
        if let Some(values) = newest(entry_type::VALUES) {
            run.note_values(*values);
        }
        self.begin(run, true);
    }

    fn entered(&mut self, state: RunState) {
        let action = self.action.take();
        self.moved_by.clone_from(&action);
        let by = if self.gate_just_failed() {
            Some("onFail".to_owned())
        } else {
            action
        };
        let lasted = self.now.map(|now| now.saturating_sub(state.started_at));
        let run = self.run.as_mut();
        let Some(run) = run.filter(|run| run.state.task_id == state.task_id) else {
            return self.started(state);
        };
        let before = run.moved(state);
        let (now, mut flow) = (&run.state, Box::new(run.flow_notes()));
        let has_moved = before.current_path != now.current_path
            || before.global_step_count != now.global_step_count;
        let what = match (before.active, now.active) {
            (true, false) if now.cancelled => TimelineEvent::Cancelled { lasted },
            (true, false) => {
                flow.visit = None;
                TimelineEvent::Completed { lasted, flow }
            }
            (_, true) if has_moved => TimelineEvent::Entered {
                phase: run.phase(),
                path: run.path(),
                by,
                lasted: None,
                flow,
            },
            _ => return,
        };
        self.push(what);
    }

    fn started(&mut self, state: RunState) {
        let run = TimelineRun::new(state, self.known.clone());
        if run.state.active {
            self.begin(run, false);
        } else {
            // The start of the run is not in the file.
            self.leave_phase();
            self.replace(run);
        }
    }

    /// Takes a run in place of the one before, which is another one or the same as it was.
    fn replace(&mut self, mut run: TimelineRun) {
        let before = self.run.take();
        run.first_event = self.events.len();
        match before {
            Some(before) if before.state.task_id == run.state.task_id => {
                run.first_event = before.first_event;
            }
            before => self.earlier.extend(before),
        }
        self.run = Some(run);
    }

    /// Begins or resumes a run in its current phase.
    fn begin(&mut self, run: TimelineRun, is_resumed: bool) {
        let workflow = run.workflow().to_owned();
        let task = run.state.task_description.clone();
        let (phase, path) = (run.phase(), run.path());
        self.replace(run);
        self.push(if is_resumed {
            TimelineEvent::Resumed { workflow, task }
        } else {
            TimelineEvent::Started { workflow, task }
        });
        self.push(TimelineEvent::Entered {
            phase,
            path,
            by: None,
            lasted: None,
            flow: Box::default(),
        });
    }

    /// Names the start, because the definition is stored after the state.
    fn defined(&mut self, entry: Entry<'_>) {
        if let Some(run) = &mut self.run
            && run.define(entry)
            && let [.., started, entered] = &mut *self.events
            && let TimelineEvent::Started { workflow, .. } = &mut started.what
            && let TimelineEvent::Entered { phase, path, .. } = &mut entered.what
        {
            run.workflow().clone_into(workflow);
            (*phase, *path) = (run.phase(), run.path());
        }
    }

    /// Adds the reports of a gate. An entry without reports is a baseline, and one that cannot be read is skipped.
    fn checked(&mut self, entry: Entry<'_>) {
        let stored = entry
            .data
            .and_then(|data| serde_json::from_str::<StoredGate>(data.get()).ok());
        let checks = stored.map(|stored| stored.reports).unwrap_or_default();
        if !checks.is_empty() {
            self.push(TimelineEvent::Gate { checks });
        }
    }

    fn counted(&mut self, entry: Entry<'_>) {
        let Some(run) = self.run.as_mut() else { return };
        let [before, now] = run.note(entry);
        if now.reminders > before.reminders {
            self.totals.reminders += (now.reminders - before.reminders) as usize;
            self.push(TimelineEvent::Reminded {
                times: now.reminders,
            });
        }
        let why = now.paused.filter(|_| before.paused.is_none());
        let by_user = now.paused_by_owner && !before.paused_by_owner;
        let paused = by_user.then_some(RunCondition::PausedByUser);
        let paused = paused.or(why.map(RunCondition::Paused));
        if let Some(why) = paused.map(RunCondition::words) {
            self.push(TimelineEvent::Paused { why });
        }
    }

    /// Returns true if the last event is a gate that did not pass. A move after it follows `onFail`.
    fn gate_just_failed(&self) -> bool {
        let last = self.events.last();
        last.is_some_and(|event| event.what.is_failed_gate())
    }

    /// Sets the duration of the phase that is left.
    fn leave_phase(&mut self) {
        let mut events = self.events.iter_mut().rev();
        let phase = events.find_map(|event| match &mut event.what {
            TimelineEvent::Entered { lasted, .. } => Some((event.at, lasted)),
            _ => None,
        });
        if let Some((since, lasted @ None)) = phase {
            let times = self.now.zip(since);
            *lasted = times.map(|(now, since)| now.saturating_sub(since));
        }
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}
