//! The commands of projects that gates may not run yet, and an approver's trust in them.

use askama::Template;
use axum::http::StatusCode;
use serde::Deserialize;
use workflow_core::definition::RunCheck;
use workflow_core::diagnostic::visible;

use super::failure::Failure;
use super::guard::Visitor;
use super::{Board, Shown};
use crate::platform::answers::trust_store::{decide, trust_requests};
use crate::store::TrustRequest;

/// The commands that were shown, and what is decided about them.
#[derive(Deserialize)]
pub(super) struct TrustForm {
    project: String,
    id: String,
    answer: String,
}

#[derive(Template)]
#[template(path = "board/trust.html")]
struct Page {
    wanted: Vec<(Vec<RunCheck>, TrustRequest)>,
}

impl Page {
    /// What waits for trust, if this login may give it.
    fn of(board: &Board) -> Result<Self, Failure> {
        board.require_approver()?;
        let wanted = trust_requests(board.requests.store())?;
        Ok(Self { wanted })
    }
}

/// Shows the commands that wait for trust.
pub(super) fn show(board: &Board) -> Result<Shown, Failure> {
    Shown::new("Trust in commands", &Page::of(board)?)
}

/// Stores what is decided about commands that were shown.
pub(super) fn send(board: &Board, visitor: &Visitor, form: &TrustForm) -> Result<Shown, Failure> {
    let mut wanted = Page::of(board)?.wanted.into_iter();
    let is_it = |of: &TrustRequest| of.project == form.project && of.id == form.id;
    let Some((_, request)) = wanted.find(|(_, request)| is_it(request)) else {
        let message = "These commands wait for trust no longer: nothing was decided.";
        return Err(Failure::new(StatusCode::CONFLICT, message));
    };
    let trusts = form.answer == "trust";
    decide(board.requests.store(), &request, trusts)?;
    let (by, project) = (visitor.name.as_deref(), &form.project);
    tracing::info!(by, project, id = form.id, trusts, "trust was decided");
    let (title, text) = if trusts {
        let text = "The commands are trusted as they are. Where an agent waits for that, tell it to go on: its next workflow_step runs \
             the gate.";
        ("Trusted", text)
    } else {
        let text =
            "The commands do not run. You are asked again at the next gate that would run them.";
        ("Declined", text)
    };
    Shown::message(title, text, "")
}
