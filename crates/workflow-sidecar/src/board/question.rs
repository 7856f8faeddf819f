//! The question of a run, and the answer to it.

use std::time::{Duration, Instant};

use askama::Template;
use axum::http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use workflow_core::approval::Request;
use workflow_core::diagnostic::{visible, visible_lines};

use super::failure::{Failure, Message};
use super::guard::Visitor;
use super::{Board, Shown};
use crate::answering::{Answering, Refusal, STORED};
use crate::platform::answers::requests::AskedRequest;
use crate::platform::file_excerpt::CUT;
use crate::store::AnswerRight;

/// Wrong codes within a time, of all who try: then all wait.
const MOST_WRONG: usize = 5;
const TIME: Duration = Duration::from_secs(60);

/// Which question is asked for: by its run, or by its code.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Asked {
    pub(super) run: String,
    pub(super) code: String,
}

/// The form of an answer.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Answer {
    run: String,
    /// The id of the question that was shown.
    request: String,
    code: String,
    choice: String,
    comment: String,
}

/// The times of wrong codes.
#[derive(Default)]
pub(super) struct Guesses(Mutex<Vec<Instant>>);

impl Guesses {
    /// Tries a code, unless too many were wrong. Codes are tried one after the other.
    fn attempt<T>(
        &self,
        attempt: impl FnOnce() -> Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, Failure> {
        let mut wrong = self.0.lock();
        let now = Instant::now();
        wrong.retain(|at| now.duration_since(*at) < TIME);
        if let Some(first) = wrong.first().filter(|_| wrong.len() >= MOST_WRONG) {
            let left = TIME.saturating_sub(now.duration_since(*first)).as_secs() + 1;
            return Err(Failure::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!(
                    "{MOST_WRONG} codes were wrong within a minute: nothing was answered. Try again in {left} s, or answer in a terminal \
                     with `workflow-sidecar approve`."
                ),
            ));
        }
        let tried = attempt();
        if matches!(tried, Err(Refusal::NoCode(_) | Refusal::UnknownCode(_))) {
            wrong.push(now);
        }
        Ok(tried)
    }
}

/// A question with the form of its answer. Its texts have no control characters.
#[derive(Template)]
#[template(path = "board/question.html")]
struct Question<'q> {
    run: &'q str,
    request: &'q str,
    place: String,
    task: String,
    project: String,
    about: Vec<String>,
    /// The file that is shown: its name, its beginning, and whether that is all.
    file: Option<(String, String, bool)>,
    ask: String,
    /// Each choice as it is, in words, and what it does.
    choices: Vec<(&'q str, String, String)>,
    /// The answer that was not used yet.
    answered: Option<String>,
    /// Why an answer was refused; empty if none was.
    problem: String,
    right: AnswerRight,
    /// The code that is known; empty if it must be typed.
    code: &'q str,
    comment: &'q str,
}

impl<'q> Question<'q> {
    fn of((request, decision): &'q AskedRequest, right: AnswerRight) -> Self {
        let Request {
            show, shown_file, ..
        } = request;
        let file = show.as_ref().zip(shown_file.as_ref());
        let does = request.consequences.iter().map(|does| visible(does));
        let does = does.chain(std::iter::repeat(String::new()));
        let choices = request.choices.iter().zip(does);
        Self {
            run: &request.task_id,
            request: &request.id,
            place: format!(
                "{} > {}",
                visible(&request.workflow),
                visible(&request.phase)
            ),
            task: visible_lines(&request.task).into_owned(),
            project: visible(&request.cwd.to_string_lossy()),
            about: request
                .about
                .iter()
                .map(|line| visible_lines(line).into_owned())
                .collect(),
            file: file.map(|(name, file)| {
                let text = visible_lines(&file.excerpt).into_owned();
                (visible(name), text, !file.excerpt.ends_with(CUT))
            }),
            ask: visible_lines(&request.ask).into_owned(),
            choices: choices
                .map(|(choice, does)| (&**choice, visible(choice), does))
                .collect(),
            answered: decision.as_ref().map(|decision| visible(&decision.choice)),
            problem: String::new(),
            right,
            code: "",
            comment: "",
        }
    }

    fn shown(&self) -> Result<Shown, Failure> {
        let title = format!("{}: a question", self.place);
        Ok(Shown {
            title,
            html: self.render()?,
        })
    }
}

/// Shows a question. One whose code is known is shown to whoever knows it.
pub(super) fn show(board: &Board, visitor: &Visitor, asked: &Asked) -> Result<Shown, Failure> {
    let pending = board.requests.all()?;
    let right = board.requests.answer_right();
    let mut problem = String::new();
    if right == AnswerRight::NeedsProof && !asked.code.is_empty() {
        let by_code = || Answering::by_code(pending.clone(), &asked.code, &board.requests);
        match board.guesses.attempt(by_code)? {
            Ok(answering) => {
                let asked_now = (answering.request, None);
                let question = Question {
                    code: &asked.code,
                    ..Question::of(&asked_now, right)
                };
                return question.shown();
            }
            Err(refusal) if !visitor.is_known => return Err(refusal.into()),
            Err(refusal) => problem = refusal.to_string(),
        }
    }
    visitor.require_known()?;
    let found = of_run(&pending, &asked.run, &problem)?;
    Question {
        problem,
        ..Question::of(found, right)
    }
    .shown()
}

/// Finds the question of a run. Without one, the problem of before is said.
fn of_run<'p>(
    pending: &'p [AskedRequest],
    run: &str,
    problem: &str,
) -> Result<&'p AskedRequest, Failure> {
    let found = pending.iter().find(|(request, _)| request.task_id == run);
    found.ok_or_else(|| match problem {
        "" => Failure::new(StatusCode::CONFLICT, Refusal::MovedOn.to_string()),
        problem => Failure::new(StatusCode::FORBIDDEN, problem),
    })
}

/// Stores an answer, or shows the question again with what was wrong.
pub(super) fn answer(board: &Board, visitor: Visitor, answer: &Answer) -> Result<Shown, Failure> {
    let pending = board.requests.all()?;
    let right = board.requests.answer_right();
    let is_known = visitor.is_known;
    let answering = match right {
        AnswerRight::NeedsProof => {
            let by_code = || Answering::by_code(pending.clone(), &answer.code, &board.requests);
            board.guesses.attempt(by_code)?
        }
        AnswerRight::MayAnswer => {
            visitor.require_known()?;
            let (request, _) = of_run(&pending, &answer.run, "")?;
            if request.id != answer.request {
                return Err(Refusal::MovedOn.into());
            }
            let it = pending
                .iter()
                .filter(|(request, _)| request.task_id == answer.run);
            Answering::by_run(it.cloned().collect(), &answer.run)
        }
        AnswerRight::MayRead => Err(Refusal::MayNot),
    };
    let stored = answering.and_then(|answering| {
        let choice = answering.chosen(&answer.choice)?;
        // A form has the line ends of another system.
        let comment = answer.comment.replace("\r\n", "\n");
        answering.answer(&board.requests, choice, Some(&comment), visitor.name)?;
        Ok((answering.request.task_id.clone(), visible(choice)))
    });
    match stored {
        Ok((run, choice)) => {
            let message = format!("{choice}: {STORED}");
            Message {
                title: "Answered",
                text: &message,
                run: &run,
            }
            .shown()
        }
        Err(refusal @ (Refusal::NoCode(_) | Refusal::UnknownCode(_))) if is_known => {
            let problem = refusal.to_string();
            let found = of_run(&pending, &answer.run, &problem)?;
            let question = Question::of(found, right);
            Question {
                problem,
                comment: &answer.comment,
                ..question
            }
            .shown()
        }
        Err(refusal) => Err(refusal.into()),
    }
}
