//! The question of a run, and the answer to it.

use std::iter::repeat;
use std::time::{Duration, Instant};

use askama::Template;
use axum::http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use workflow_core::approval::Request;
use workflow_core::diagnostic::{visible, visible_lines};

use super::failure::Failure;
use super::guard::Visitor;
use super::{Board, Shown};
use crate::answering::{Answering, Refusal, STORED};
use crate::files::hash;
use crate::platform::answers::requests::AskedRequest;
use crate::platform::file_excerpt::CUT;
use crate::store::AnswerRight;

/// Wrong codes within a time, of all who may see the board, and of all others: then these wait.
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
    /// The hash of the question that was shown.
    request: String,
    code: String,
    choice: String,
    comment: String,
}

/// The times of wrong codes: of unknown visitors, and of known ones, whom the others must not keep from answering.
#[derive(Default)]
pub(super) struct Guesses([Mutex<Vec<Instant>>; 2]);

impl Guesses {
    /// Tries a code, unless too many were wrong.
    fn attempt<T>(
        &self,
        is_known: bool,
        attempt: impl FnOnce() -> Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, Failure> {
        let wrong = &self.0[usize::from(is_known)];
        let now = Instant::now();
        let first = {
            let mut wrong = wrong.lock();
            wrong.retain(|at| now.duration_since(*at) < TIME);
            wrong.first().copied().filter(|_| wrong.len() >= MOST_WRONG)
        };
        if let Some(first) = first {
            let left = TIME.saturating_sub(now.duration_since(first)).as_secs() + 1;
            return Err(Failure::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!(
                    "{MOST_WRONG} codes were wrong within a minute: nothing was answered. Try again in {left} s, or answer in a terminal \
                     with `workflow-sidecar approve`."
                ),
            ));
        }
        let tried = attempt();
        if matches!(tried, Err(Refusal::UnknownCode(_))) {
            wrong.lock().push(now);
        }
        Ok(tried)
    }
}

/// A question with the form of its answer.
#[derive(Template)]
#[template(path = "board/question.html")]
struct Question<'q> {
    asked: &'q Request,
    /// The answer that was not used yet.
    answered: Option<&'q str>,
    /// Why an answer was refused; empty if none was.
    problem: String,
    right: AnswerRight,
    /// The code that is known; empty if it must be typed.
    code: &'q str,
    comment: &'q str,
}

impl<'q> Question<'q> {
    fn of((asked, decision): &'q AskedRequest, right: AnswerRight) -> Self {
        Self {
            asked,
            answered: decision.as_ref().map(|decision| &*decision.choice),
            problem: String::new(),
            right,
            code: "",
            comment: "",
        }
    }

    fn shown_request(&self) -> String {
        hash_of(self.asked)
    }

    /// The choices, each with what it does.
    fn choices(&self) -> impl Iterator<Item = (&String, &str)> {
        let does = self.asked.consequences.iter().map(String::as_str);
        self.asked.choices.iter().zip(does.chain(repeat("")))
    }

    fn file_name(&self) -> String {
        visible(self.asked.show.as_deref().unwrap_or_default())
    }

    fn shown(&self) -> Result<Shown, Failure> {
        let title = format!("{}: a question", visible(&self.asked.workflow));
        Shown::new(title, self)
    }
}

/// Shows a question. One whose code is known is shown to whoever knows it.
pub(super) fn show(board: &Board, visitor: &Visitor, asked: &Asked) -> Result<Shown, Failure> {
    let (pending, right) = (board.requests.all()?, board.requests.answer_right());
    if right == AnswerRight::NeedsProof && !asked.code.is_empty() {
        let by_code = || Answering::by_code(pending.clone(), &asked.code, &board.requests);
        return match board.guesses.attempt(visitor.is_known, by_code)? {
            Ok(answering) => {
                let question = of_run(&pending, &answering.request.task_id);
                let question = question.ok_or(Refusal::MovedOn)?;
                let code = &asked.code;
                Question {
                    code,
                    ..Question::of(question, right)
                }
                .shown()
            }
            Err(refusal) => again(visitor.is_known, &pending, &asked.run, refusal, ""),
        };
    }
    visitor.require_known()?;
    let question = of_run(&pending, &asked.run).ok_or(Refusal::MovedOn)?;
    Question::of(question, right).shown()
}

/// The hash of a question, with all that belongs to it.
pub(super) fn hash_of(request: &Request) -> String {
    hash(serde_json::to_string(request).unwrap_or_default())
}

fn of_run<'p>(pending: &'p [AskedRequest], run: &str) -> Option<&'p AskedRequest> {
    pending.iter().find(|(request, _)| request.task_id == run)
}

/// Shows a question again after a wrong code, to those who may see it.
fn again(
    is_known: bool,
    pending: &[AskedRequest],
    run: &str,
    refusal: Refusal,
    comment: &str,
) -> Result<Shown, Failure> {
    let is_wrong = matches!(refusal, Refusal::NoCode(_) | Refusal::UnknownCode(_));
    let question = of_run(pending, run).filter(|_| is_known && is_wrong);
    let Some(question) = question else {
        return Err(refusal.into());
    };
    Question {
        problem: refusal.to_string(),
        comment,
        ..Question::of(question, AnswerRight::NeedsProof)
    }
    .shown()
}

/// Stores an answer, or shows the question again with what was wrong.
pub(super) fn answer(board: &Board, visitor: &Visitor, answer: &Answer) -> Result<Shown, Failure> {
    let pending = board.requests.all()?;
    let is_known = visitor.is_known;
    let answering = match board.requests.answer_right() {
        AnswerRight::NeedsProof => {
            let by_code = || Answering::by_code(pending.clone(), &answer.code, &board.requests);
            board.guesses.attempt(is_known, by_code)?
        }
        AnswerRight::MayAnswer => {
            visitor.require_known()?;
            let question = of_run(&pending, &answer.run);
            let question = question.ok_or(Refusal::MovedOn)?.clone();
            Answering::by_run(vec![question], &answer.run)
        }
        AnswerRight::MayRead => Err(Refusal::MayNot),
    };
    let stored = answering.and_then(|answering| {
        let run = &answering.request.task_id;
        if !answer.run.is_empty() && *run != answer.run {
            return Err(Refusal::OfAnotherRun(run.clone()));
        }
        // The person answers what the page showed, and nothing that took its place.
        if hash_of(&answering.request) != answer.request {
            return Err(Refusal::AnotherQuestion);
        }
        let choice = answering.chosen(&answer.choice)?;
        // A form has the line ends of another system.
        let comment = answer.comment.replace("\r\n", "\n");
        let by = visitor.name.clone();
        answering.answer(&board.requests, choice, Some(&comment), by)?;
        let message = format!("{}: {STORED}", visible(choice));
        Ok((message, answering.request.task_id))
    });
    match stored {
        Ok((message, run)) => Shown::message("Answered", &message, &run),
        Err(refusal) => again(is_known, &pending, &answer.run, refusal, &answer.comment),
    }
}
