//! The dialogs of the host: questions of sessions as requests, and the host's answers.

use jsonrpsee::types::Id;
use serde_json::value::RawValue;
use workflow_core::effect::Question;
use workflow_core::types::QuestionId;
use workflow_protocol::method::{UiConfirm, UiDismiss, UiInput, UiSelect};
use workflow_protocol::{ConfirmParams, DismissParams, InputDialogParams, SelectParams};

use super::convert;
use super::host_questions::{HostQuestion, HostRequest, QuestionFile};
use super::state::Server;
use crate::driver::Driver;

impl Server {
    /// Handles a response of the host to a question or a command.
    pub(super) fn handle_response(&mut self, id: &Id<'_>, result: Option<&RawValue>) {
        let question = match self.questions.take(id) {
            Some(HostRequest::Question(question)) => question,
            Some(HostRequest::Command(session)) => {
                let answer = convert::exec_answer(result);
                let event = |driver: &mut Driver, now| ((), driver.on_command_ended(now, answer));
                let out = self.handle_driven(&session, event);
                return self.apply(&session, out.actions);
            }
            None => {
                tracing::warn!(%id, "the host answered a question that is not open");
                return;
            }
        };
        let answer = question.read_answer(id, result);
        let session = &question.session;
        let shown = question.shown.as_ref();
        let answer =
            answer.for_session(|| shown.is_some_and(|shown| self.has_changed(session, shown)));
        let out = self.handle_event(session, |session, out| {
            session.handle_answer(question.question, answer, out);
        });
        self.apply(session, out.actions);
    }

    fn has_changed(
        &self,
        session: &str,
        QuestionFile { path, fingerprint }: &QuestionFile,
    ) -> bool {
        !self.sessions.get(session).is_some_and(|open| {
            let cwd = &open.driver.directories.cwd;
            self.platform.is_unchanged(path, cwd, fingerprint)
        })
    }

    /// Sends a question of a session to the host.
    pub(super) fn ask(&mut self, session: &str, question: Question) {
        let Question {
            id,
            title,
            message,
            options,
            placeholder,
            show,
        } = question;
        let show = show.zip(self.sessions.get(session));
        let show = show.map(|(path, open)| (path, &open.driver.directories.cwd));
        // The fingerprint comes first, so that a change before the excerpt is read counts as a change.
        let shown = show.as_ref().map(|(path, cwd)| QuestionFile {
            path: path.clone(),
            fingerprint: self.platform.fingerprint(path, cwd),
        });
        let excerpt = show.map(|(path, cwd)| self.platform.excerpt(&path, cwd));
        let message = [message, excerpt.unwrap_or_default()]
            .join("\n")
            .trim()
            .to_owned();
        let id = self.questions.add(HostQuestion {
            session: session.to_owned(),
            question: id,
            options: options.clone(),
            is_text: placeholder.is_some(),
            shown,
        });
        let session_id = session.to_owned();
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
            && let Some(id) = self.questions.find(session, question)
        {
            let session_id = session.to_owned();
            self.outbox
                .notify::<UiDismiss>(&DismissParams { session_id, id });
        }
    }
}
