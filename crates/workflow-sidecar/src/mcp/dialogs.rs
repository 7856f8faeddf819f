//! Questions to the user in a dialog of the host (MCP: elicitation), and their answers.
//!
//! A dialog is one more way to answer what is stored and can be answered elsewhere: without an answer the run waits on.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use workflow_core::approval::Request;
use workflow_core::diagnostic::{visible, visible_lines};
use workflow_core::effect::Question;

use crate::present::approval_page;

/// The time between two looks for the end of a dialog.
const PAUSE: Duration = Duration::from_millis(100);
/// The choice that confirms.
pub(super) const YES: &str = "yes";
/// Between the parts of a line.
const JOINED: &str = " · ";

/// The host during a call.
pub(super) struct CallHost {
    pub(super) messages: UnboundedSender<ToHost>,
    pub(super) has_dialogs: bool,
    /// Cancelled when it no longer wants the call.
    pub(super) cancelled: CancellationToken,
}

/// What a call sends to the host before its answer.
pub(super) enum ToHost {
    Progress(String),
    Open(OpenDialog),
}

/// A dialog to open.
pub(super) struct OpenDialog {
    pub(super) form: ElicitRequestParams,
    pub(super) withdrawn: CancellationToken,
    /// Takes how the user ended it, if the host asked.
    pub(super) ended: Sender<ElicitResult>,
}

/// A question to the user. Two are the same if they show the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DialogQuestion {
    /// The request that an answer is for; the session for a question without one.
    pub(super) about: String,
    message: String,
    choices: Vec<String>,
    takes_comment: bool,
}

/// The end of asking.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Answered {
        choice: String,
        comment: Option<String>,
    },
    /// The user refused to answer.
    Declined,
    /// The user has answered elsewhere.
    Elsewhere,
    Nobody,
}

/// The dialogs that a cancelled call has left, open or answered.
#[derive(Default)]
pub(super) struct Dialogs(Mutex<HashMap<DialogQuestion, Opened>>);

/// What withdraws an open dialog, and where its end arrives.
type Opened = (CancellationToken, Receiver<ElicitResult>);

impl DialogQuestion {
    /// The question for approval, the results and what each choice does, above what else `workflow-sidecar approve` shows:
    /// Claude Code shows three lines.
    pub(super) fn of_approval(request: &Request) -> Self {
        let ask = visible_lines(&request.ask);
        let choices = request.choices.iter().zip(&request.consequences);
        let choices = choices.map(|(choice, does)| format!("{choice}: {does}"));
        let choices = choices.collect::<Vec<_>>().join(JOINED);
        let rest = Request {
            about: Vec::new(),
            consequences: Vec::new(),
            ..request.clone()
        };
        let page = approval_page(&rest).plain();
        let below = page.replacen(&format!("\n{ask}\n"), "", 1);
        let above = [ask.into_owned(), request.about.join(JOINED), choices];
        Self {
            about: request.id.clone(),
            message: message(&above, &below),
            choices: request.choices.clone(),
            takes_comment: true,
        }
    }

    /// A question that is answered with yes or no.
    pub(super) fn of_confirmation(session: &str, question: &Question) -> Self {
        Self {
            about: session.to_owned(),
            message: message(
                &[
                    question.title.clone(),
                    question.listed().collect::<Vec<_>>().join(JOINED),
                ],
                &question.message,
            ),
            choices: vec!["no".to_owned(), YES.to_owned()],
            takes_comment: false,
        }
    }

    /// The form of the dialog.
    fn form(&self) -> ElicitRequestParams {
        let choices: Vec<_> = self.choices.iter().map(|choice| visible(choice)).collect();
        let mut fields =
            json!({ "choice": { "type": "string", "title": "Answer", "enum": choices } });
        if self.takes_comment {
            let about = "for the agent; may be empty";
            fields["comment"] =
                json!({ "type": "string", "title": "Comment", "description": about });
        }
        let schema = json!({ "type": "object", "properties": fields, "required": ["choice"] });
        let form = json!({ "mode": "form", "message": self.message, "requestedSchema": schema });
        serde_json::from_value(form).expect("a form has this shape")
    }

    /// Opens a dialog of the host.
    fn open(&self, host: &CallHost) -> Opened {
        let (withdrawn, (sender, ended)) = (CancellationToken::new(), channel());
        // Without a receiver the call is over.
        let _ = host.messages.send(ToHost::Open(OpenDialog {
            form: self.form(),
            withdrawn: withdrawn.clone(),
            ended: sender,
        }));
        (withdrawn, ended)
    }

    /// Reads how the user has ended the dialog.
    fn read(&self, ended: &ElicitResult) -> Asked {
        match ended.action {
            ElicitationAction::Accept => {
                let answer = ended.content.as_ref().and_then(|it| self.accepted(it));
                answer.unwrap_or_else(|| {
                    tracing::warn!("the host answered a dialog with something else than a choice");
                    Asked::Nobody
                })
            }
            ElicitationAction::Decline => Asked::Declined,
            _ => Asked::Nobody,
        }
    }

    /// Reads what the user accepted. Another value than a choice is no answer.
    fn accepted(&self, content: &Value) -> Option<Asked> {
        let chosen = content.get("choice")?.as_str()?;
        let mut choices = self.choices.iter();
        let choice = choices.find(|choice| visible(choice) == chosen)?.clone();
        let comment = content.get("comment").and_then(Value::as_str);
        let comment = comment.map(str::trim).filter(|_| self.takes_comment);
        let comment = comment.filter(|comment| !comment.is_empty());
        let comment = comment.map(str::to_owned);
        Some(Asked::Answered { choice, comment })
    }
}

/// A message whose first lines have these texts, a line each.
fn message(above: &[String], below: &str) -> String {
    let lines = above.iter().filter(|text| !text.is_empty());
    let lines: Vec<String> = lines.map(|text| text.replace('\n', " ")).collect();
    format!("{}\n\n{below}", visible_lines(&lines.join("\n")))
}

impl Dialogs {
    /// Asks the user, and waits. A call that is cancelled leaves its dialog open: a late answer counts for the next call that has
    /// the same question.
    pub(super) fn ask(
        &self,
        question: &DialogQuestion,
        host: &CallHost,
        mut is_answered_elsewhere: impl FnMut() -> bool,
    ) -> Asked {
        if !host.has_dialogs {
            return Asked::Nobody;
        }
        let left = self.0.lock().remove(question);
        let late = left.map(|opened| (opened.1.try_recv(), opened));
        let (withdrawn, ended) = match late {
            Some((Err(TryRecvError::Empty), opened)) => opened,
            Some((Ok(ended), _)) => match question.read(&ended) {
                answered @ Asked::Answered { .. } => return answered,
                // A refusal was one of the call that waited.
                _ => question.open(host),
            },
            Some(_) | None => question.open(host),
        };
        let left = loop {
            if host.cancelled.is_cancelled() {
                break ended;
            }
            match ended.recv_timeout(PAUSE) {
                // The call was cancelled first, so the answer is for the next one.
                Ok(answer) if host.cancelled.is_cancelled() => {
                    let (sender, left) = channel();
                    sender.send(answer).expect("its receiver is here");
                    break left;
                }
                Ok(answer) => return question.read(&answer),
                Err(RecvTimeoutError::Disconnected) => return Asked::Nobody,
                Err(RecvTimeoutError::Timeout) if is_answered_elsewhere() => {
                    withdrawn.cancel();
                    return Asked::Elsewhere;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        self.0.lock().insert(question.clone(), (withdrawn, left));
        Asked::Nobody
    }
}
