//! The requests to the host, and its answers: questions of sessions as dialogs, and commands of gates.

use jsonrpsee::types::Id;
use serde_json::value::RawValue;
use workflow_core::effect::Question;
use workflow_core::event::Answer;
use workflow_core::types::QuestionId;
use workflow_protocol::method::{UiConfirm, UiDismiss, UiInput, UiSelect};
use workflow_protocol::{ConfirmParams, DismissParams, InputDialogParams, SelectParams, Text};

use super::convert;
use super::requests::{HostQuestion, HostRequest};
use super::state::Server;
use crate::driver::Driver;
use crate::platform::gates::HostAnswer;

impl Server {
    /// Handles a response of the host to a question or a command.
    pub(super) fn handle_response(&mut self, id: &Id<'_>, result: Option<&RawValue>) {
        match self.asked.take(id) {
            Some(HostRequest::Question(question)) => {
                self.handle_dialog_answer(id, &question, result);
            }
            Some(HostRequest::Command(session)) => {
                // An answer that cannot be read does not count.
                let read = result.and_then(|result| serde_json::from_str(result.get()).ok());
                let answer = read.map_or(HostAnswer::Failed, HostAnswer::Ended);
                let event = |driver: &mut Driver, now| ((), driver.on_command_ended(now, answer));
                let ((), out) = self.drive(&session, event).unwrap_or_default();
                self.apply(&session, out.actions);
            }
            None => tracing::warn!(%id, "the host answered a question that is not open"),
        }
    }

    /// Handles the answer to a question. One that does not fit the question counts as none, and an option counts only if
    /// the file that was shown is unchanged.
    fn handle_dialog_answer(
        &mut self,
        id: &Id<'_>,
        asked: &HostQuestion,
        result: Option<&RawValue>,
    ) {
        let question = &asked.question;
        let is_confirmation = question.options.is_empty() && question.placeholder.is_none();
        let result = result.map(RawValue::get);
        // A response that is not a string chooses nothing.
        let chosen: Option<Text<'_>> = result
            .filter(|_| !is_confirmation)
            .and_then(|result| serde_json::from_str(result).ok());
        let answer = match (result, &chosen) {
            (Some("null"), _) => Answer::Dismissed,
            (Some(yes @ ("true" | "false")), _) if is_confirmation => {
                Answer::Confirmed(yes == "true")
            }
            (_, Some(_)) if self.has_changed(asked) => Answer::Outdated,
            (_, Some(chosen)) => Answer::Chosen(asked.option_shown_as(chosen)),
            (_, None) => {
                tracing::warn!(%id, "the host could not ask: this counts as no answer");
                Answer::Dismissed
            }
        };
        let out = self.handle_event(&asked.session, |session| {
            session.handle_answer(question.id, answer);
        });
        self.apply(&asked.session, out.actions);
    }

    fn has_changed(&self, asked: &HostQuestion) -> bool {
        let shown = asked.question.show.as_ref().zip(asked.shown.as_ref());
        shown.is_some_and(|(path, shown)| {
            !self.sessions.get(&asked.session).is_some_and(|open| {
                let cwd = &open.driver.context.cwd;
                let platform = &self.config.platform;
                platform.is_unchanged(path, cwd, &shown.state)
            })
        })
    }

    /// Sends a question of a session to the host.
    pub(super) fn ask(&mut self, session: &str, question: Question) {
        let (title, options) = (question.title.clone(), question.options.clone());
        let placeholder = question.placeholder.clone();
        let shown = question.show.as_ref().zip(self.sessions.get(session));
        let shown = shown.map(|(path, open)| {
            let cwd = &open.driver.context.cwd;
            self.config.platform.show(path, cwd)
        });
        let excerpt = shown.as_ref().map_or("", |shown| &shown.excerpt);
        let message = [&question.message, excerpt].join("\n").trim().to_owned();
        let session_id = session.to_owned();
        let id = self.asked.add(HostRequest::Question(HostQuestion {
            session: session_id.clone(),
            question,
            shown,
        }));
        if let Some(placeholder) = placeholder {
            let params = InputDialogParams {
                session_id,
                title: convert::whole_title(&title, &message),
                placeholder: Some(placeholder).filter(|text| !text.is_empty()),
            };
            self.outbox.request::<UiInput>(id, &params);
        } else if options.is_empty() {
            let params = ConfirmParams {
                session_id,
                title,
                message,
            };
            self.outbox.request::<UiConfirm>(id, &params);
        } else {
            let params = SelectParams {
                session_id,
                title: convert::whole_title(&title, &message),
                options,
            };
            self.outbox.request::<UiSelect>(id, &params);
        }
    }

    /// Has the host close the dialog of a question, if it can.
    pub(super) fn dismiss(&mut self, session: &str, question: QuestionId) {
        let host = self.host.as_ref();
        if host.is_some_and(|host| host.abilities.dismissal)
            && let Some(id) = self.asked.find(|request| match request {
                HostRequest::Question(open) => {
                    open.session == session && open.question.id == question
                }
                HostRequest::Command(_) => false,
            })
        {
            let session_id = session.to_owned();
            self.outbox
                .notify::<UiDismiss>(&DismissParams { session_id, id });
        }
    }
}
