//! Open questions to the host: ids, timeouts, late answers.
//!
//! The table knows the topic of a question. The part that opened the question decides what an answer does.

use std::collections::BTreeMap;

use super::Abilities;
use crate::effect::{Effects, Question};
use crate::types::{Millis, QuestionId, Severity};

/// The time that a person has to answer, unless the settings have another.
const TIMEOUT: Millis = 30 * 60 * 1000;
/// The reason why an answer is no longer expected.
pub(crate) const TIMED_OUT: &str = "there was no answer in time";
/// Questions of a session that may be open at once.
const MAX_OPEN: usize = 64;
/// Questions that are remembered, so that a late answer is recognized.
const REMEMBERED: usize = 64;

/// The questions that were sent to the host and not answered.
#[derive(Debug, Clone)]
pub(crate) struct QuestionTable {
    /// True if the host can ask a person.
    dialogs: bool,
    /// True if a command can be given again to confirm it.
    confirmations: bool,
    /// True if the host closes the dialog of a question that is settled.
    dismissal: bool,
    /// The time that a person has to answer; `None` is without end.
    timeout: Option<Millis>,
    last: u64,
    questions: BTreeMap<QuestionId, TakenQuestion>,
}

/// A question that was sent to the host.
#[derive(Debug, Clone)]
pub(crate) struct TakenQuestion {
    title: String,
    topic: QuestionTopic,
    /// When it times out, if ever.
    due: Option<Millis>,
    /// False once the answer is no longer awaited.
    is_open: bool,
}

/// The part of the session that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionTopic {
    /// A workflow to start: an input that is missing, or the active run that it would replace.
    Start,
    /// A tool call.
    ToolCall,
    /// Trust in the commands of a gate.
    Trust,
    /// Trust in the commands of a run that has started.
    StartTrust,
    /// Approval to leave a phase.
    Approval,
    /// A move of the run that passes gates or approvals over.
    Move,
    /// A restore of the code.
    Restore,
    /// Trust in the triggers of the project.
    Triggers,
    /// Files that changed during the run.
    ChangedFiles,
    /// The end of the run, which the agent asks for.
    Cancel,
}

impl QuestionTopic {
    /// The outcome without an answer.
    fn without_answer(self) -> &'static str {
        match self {
            Self::Start => "No workflow was started.",
            Self::ToolCall => "The call was not allowed.",
            Self::Trust | Self::StartTrust => "Nothing was trusted, and no command was run.",
            Self::Approval => "Nothing was approved.",
            Self::Move => "The workflow was not moved.",
            Self::Restore => "The code was not changed.",
            Self::Triggers => "The triggers of the project are not watched.",
            Self::ChangedFiles => "The run keeps its rules.",
            Self::Cancel => "The workflow is not cancelled.",
        }
    }
}

/// The text of a question.
#[derive(Debug, Default)]
pub(crate) struct QuestionText {
    /// The dialog's title.
    pub(crate) title: String,
    /// The dialog's text.
    pub(crate) message: String,
    /// The choices; without options and placeholder the answer is yes or no.
    pub(crate) options: Vec<String>,
    /// The answer is a line of text, and the empty field shows this.
    pub(crate) placeholder: Option<String>,
    /// A file that is shown with it.
    pub(crate) show: Option<String>,
}

impl QuestionText {
    /// A question for trust in everything that is listed.
    pub(crate) fn trust(title: &str, about: &str, listed: impl Iterator<Item = String>) -> Self {
        let lines: Vec<String> = listed.map(|line| format!("  {line}")).collect();
        Self {
            title: title.to_owned(),
            message: format!("{about}\n{}", lines.join("\n")),
            ..Self::default()
        }
    }
}

impl QuestionTable {
    /// An empty table for a host with these abilities.
    pub(crate) fn new(abilities: Abilities) -> Self {
        Self {
            dialogs: abilities.dialogs,
            confirmations: abilities.confirmations,
            dismissal: abilities.dismissal,
            timeout: Some(TIMEOUT),
            last: 0,
            questions: BTreeMap::new(),
        }
    }

    /// True if the host has dialogs.
    pub(crate) fn has_dialogs(&self) -> bool {
        self.dialogs
    }

    /// The request to close the dialog of a question that was settled outside of the host; empty if the host closes it.
    pub(crate) fn please_close(&self) -> &'static str {
        if self.dismissal {
            ""
        } else {
            " Close the dialog that still asks for it: its answer does not count."
        }
    }

    /// Sets the time in seconds that a person has to answer questions from now on; 0 is without end.
    pub(crate) fn adopt_timeout(&mut self, seconds: Option<u32>) {
        self.timeout = match seconds {
            None => Some(TIMEOUT),
            Some(0) => None,
            Some(seconds) => Some(Millis::from(seconds) * 1000),
        };
    }

    /// True if questions to a person are possible: the host says that it has dialogs, whatever it shows (A14).
    pub(crate) fn can_ask(&self) -> bool {
        self.dialogs && self.open().count() < MAX_OPEN
    }

    /// True if the user can confirm a command: in a dialog, or by giving it again.
    pub(crate) fn can_confirm(&self) -> bool {
        self.confirmations || self.can_ask()
    }

    /// The reason why no question to a person is possible: `without_dialogs`, or the number of open questions.
    pub(crate) fn why_not(&self, without_dialogs: &str) -> String {
        if self.dialogs {
            format!("{MAX_OPEN} questions are already waiting for an answer")
        } else {
            without_dialogs.to_owned()
        }
    }

    /// Asks a question.
    pub(crate) fn ask(
        &mut self,
        topic: QuestionTopic,
        text: QuestionText,
        out: &mut Effects,
    ) -> QuestionId {
        self.last += 1;
        let id = QuestionId(self.last);
        let asked = TakenQuestion {
            title: text.title.clone(),
            topic,
            due: self
                .timeout
                .map(|timeout| out.now().saturating_add(timeout)),
            is_open: true,
        };
        self.questions.insert(id, asked);
        while self.questions.len() > REMEMBERED {
            let is_closed = |(_, asked): &(&QuestionId, &TakenQuestion)| !asked.is_open;
            let Some((&oldest, _)) = self.questions.iter().find(is_closed) else {
                break;
            };
            self.questions.remove(&oldest);
        }
        let QuestionText {
            title,
            message,
            options,
            placeholder,
            show,
        } = text;
        out.ask(Question {
            id,
            title,
            message,
            options,
            placeholder,
            show,
        });
        id
    }

    /// Closes a question, and has the host close its dialog. A late answer to it is recognized.
    pub(crate) fn close(&mut self, id: QuestionId, out: &mut Effects) {
        if let Some(asked) = self.questions.get_mut(&id)
            && std::mem::take(&mut asked.is_open)
        {
            out.withdraw(id);
        }
    }

    /// Closes the open questions of a topic.
    pub(crate) fn close_all(&mut self, topic: QuestionTopic, out: &mut Effects) {
        let open: Vec<_> = self.open().collect();
        for (question, _) in open.iter().filter(|(_, asked)| *asked == topic) {
            self.close(*question, out);
        }
    }

    /// Takes a question that was answered out of the table.
    pub(crate) fn take(&mut self, id: QuestionId) -> Option<TakenQuestion> {
        self.questions.remove(&id)
    }

    /// The open questions, oldest first, each with its topic.
    pub(crate) fn open(&self) -> impl Iterator<Item = (QuestionId, QuestionTopic)> {
        let open = self.questions.iter().filter(|(_, asked)| asked.is_open);
        open.map(|(id, asked)| (*id, asked.topic))
    }

    /// When the first open question times out.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        let open = self.questions.values().filter(|asked| asked.is_open);
        open.filter_map(|asked| asked.due).min()
    }

    /// Closes the questions that timed out, and returns them.
    pub(crate) fn close_overdue(&mut self, out: &mut Effects) -> Vec<(QuestionId, QuestionTopic)> {
        let mut overdue = Vec::new();
        for (id, asked) in &mut self.questions {
            if asked.is_open && asked.due.is_some_and(|due| due <= out.now()) {
                asked.is_open = false;
                out.withdraw(*id);
                overdue.push((*id, asked.topic));
            }
        }
        overdue
    }

    /// The notification about a question that timed out, and its outcome.
    pub(crate) fn timeout_notice(&self, id: QuestionId) -> Option<String> {
        let asked = self.questions.get(&id)?;
        let (title, without) = (&asked.title, asked.topic.without_answer());
        Some(format!("[workflow] \"{title}\": {TIMED_OUT}. {without}"))
    }
}

impl TakenQuestion {
    /// The topic, if the answer is still awaited.
    pub(crate) fn open_topic(&self) -> Option<QuestionTopic> {
        self.is_open.then_some(self.topic)
    }

    /// Tells the person that the answer came too late.
    pub(crate) fn report_late_answer(&self, phase: Option<&str>, out: &mut Effects) {
        let (title, without) = (&self.title, self.topic.without_answer());
        let phase = phase.map_or_else(String::new, |phase| format!(" The workflow is in {phase}."));
        let message = format!(
            "[workflow] Your answer to \"{title}\" came too late and has no effect. {without}{phase}"
        );
        out.notify(Severity::Warning, message);
    }
}
