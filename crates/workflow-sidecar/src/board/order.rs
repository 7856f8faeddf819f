//! What an approver orders for a run: to pause or resume it, or to skip its phase.

use askama::Template;
use axum::http::StatusCode;
use serde::Deserialize;
use workflow_core::diagnostic::visible;
use workflow_core::event::Order;
use workflow_core::session::Control;

use super::failure::Failure;
use super::guard::Visitor;
use super::{Board, Shown};
use crate::store::{IndexedRun, RunQuery};

const CONTROLS: [Control; 3] = [Control::Pause, Control::Resume, Control::Skip];

/// The form of an order, or the run that one is for.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OrderForm {
    run: String,
    /// The phase that was shown.
    phase: String,
    command: String,
}

#[derive(Template)]
#[template(path = "board/order.html")]
struct Page<'p> {
    run: &'p IndexedRun,
    /// What was ordered and not carried out yet.
    ordered: Option<Order>,
}

/// Finds the run, if this login may order something for it. Fails if several sessions say that they have it: what is shown could
/// be of another login's session than the one that takes the order.
fn find(board: &Board, id: &str) -> Result<IndexedRun, Failure> {
    board.require_approver()?;
    let mut runs = board.requests.store().runs(&RunQuery {
        task_id: id,
        only_active: true,
        ..RunQuery::default()
    })?;
    runs.retain(|run| run.run.task_id == id);
    let run = runs.pop().ok_or_else(no_active_run)?;
    if runs.is_empty() {
        return Ok(run);
    }
    let message = "Several sessions say that they have this run: order it in its host.";
    Err(Failure::new(StatusCode::CONFLICT, message))
}

fn no_active_run() -> Failure {
    let message = "There is no such active run in the store.";
    Failure::new(StatusCode::NOT_FOUND, message)
}

/// What was ordered for a run and not carried out yet.
pub(super) fn waiting(board: &Board, run: &str) -> Result<Option<Order>, Failure> {
    let mut orders = board.requests.orders()?.into_iter();
    let ordered = orders.find(|(stored, _)| stored.task_id == run);
    Ok(ordered.map(|(_, order)| order))
}

/// Shows what can be ordered.
pub(super) fn show(board: &Board, _: &Visitor, form: &OrderForm) -> Result<Shown, Failure> {
    let run = find(board, &form.run)?;
    let page = Page {
        run: &run,
        ordered: waiting(board, &form.run)?,
    };
    Shown::new(format!("{}: an order", visible(&run.run.workflow)), &page)
}

/// Stores an order.
pub(super) fn send(board: &Board, visitor: &Visitor, form: &OrderForm) -> Result<Shown, Failure> {
    let run = find(board, &form.run)?;
    let control = CONTROLS.into_iter().find(|it| it.word() == form.command);
    let control = control.ok_or_else(|| {
        let message = "Nothing was ordered: choose what to order.";
        Failure::new(StatusCode::BAD_REQUEST, message)
    })?;
    if run.run.phase != form.phase {
        let message =
            "The run has left the phase that the page showed: nothing was ordered. Load it again.";
        return Err(Failure::new(StatusCode::CONFLICT, message));
    }
    let order = Order {
        command: control.word().to_owned(),
        phase: run.run.phase,
        by: visitor.name.clone(),
    };
    if !board.requests.order(&form.run, &order)? {
        return Err(no_active_run());
    }
    let text = format!(
        "{}: stored. In pi and opencode an open session carries it out within seconds; in other hosts the next prompt, call or end \
         of a turn of the agent does.",
        control.short_name()
    );
    Shown::message("Ordered", &text, &form.run)
}
