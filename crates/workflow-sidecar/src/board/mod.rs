//! The board: web pages of all runs, with the questions that wait for a person.
//!
//! ```text
//! guard (who may see and send what) ── this file (addresses) ── runs · run · question · order · trust · figures (pages)
//!                                                              live (what changes on a page)
//! ```
//!
//! The pages work without their script, which only keeps them up to date. The store may block, so it is asked on threads of
//! its own.

mod failure;
mod figures;
mod guard;
mod live;
mod order;
mod other;
mod question;
mod run;
mod runs;
#[cfg(test)]
mod tests;
mod trust;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use askama::Template;
use axum::extract::{DefaultBodyLimit, Form, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use serde::Deserialize;
use tokio::runtime;
use tokio::task::{spawn, spawn_blocking};
use workflow_core::diagnostic::visible;

use failure::{Failure, Message};
use guard::Visitor;
pub(crate) use guard::{Access, Guard};
use live::Pulses;
pub(crate) use other::other_board;
use question::Guesses;
use runs::Filter;

use crate::answering::Refusal;
use crate::platform::answers::requests::Requests;
use crate::store::AnswerRight;

/// The longest form, in bytes.
const MAX_BODY: usize = 64 * 1024;
/// Threads that ask the store at once.
const MAX_THREADS: usize = 16;
/// What the board says about itself to another one.
const NAME: &str = concat!("workflow-sidecar ", env!("CARGO_PKG_VERSION"));
const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 3h4v4H2zM10 9h4v4h-4zM6 5h6v4" fill="none" stroke="#0969da" stroke-width="2"/></svg>"##;

/// The runs and questions of a store, and who may see them.
pub(crate) struct Board {
    requests: Requests,
    guard: Guard,
    guesses: Guesses,
    pulses: Pulses,
    /// True once something was stored.
    had_store: AtomicBool,
}

/// A part of a page that is kept up to date.
struct Shown {
    title: String,
    html: String,
}

/// What a page shows: one run, or all that pass a filter.
#[derive(Debug, Deserialize)]
struct View {
    #[serde(default)]
    run: String,
    #[serde(flatten)]
    filter: Filter,
}

/// A page around its part.
#[derive(Template)]
#[template(path = "board/page.html")]
struct Page<'p> {
    title: &'p str,
    content: &'p str,
    /// Where its changes come from; none for a page without any.
    live: Option<&'p str>,
}

impl Page<'_> {
    fn response(&self, status: StatusCode) -> Response {
        match self.render() {
            Ok(html) => (status, Html(html)).into_response(),
            Err(error) => {
                tracing::error!("a page cannot be made: {error}");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

impl Shown {
    fn new(title: impl Into<String>, part: &impl Template) -> Result<Self, Failure> {
        Ok(Self {
            title: title.into(),
            html: part.render()?,
        })
    }

    /// One message, about a run unless that is empty.
    fn message(title: &str, text: &str, run: &str) -> Result<Self, Failure> {
        Self::new(title, &Message { title, text, run })
    }

    fn page(&self, live: Option<&str>) -> Response {
        let page = Page {
            title: &self.title,
            content: &self.html,
            live,
        };
        page.response(StatusCode::OK)
    }
}

impl View {
    fn show(&self, board: &Board) -> Result<Shown, Failure> {
        if self.run.is_empty() {
            runs::show(board, &self.filter)
        } else {
            run::show(board, &self.run)
        }
    }
}

impl Board {
    pub(crate) fn new(requests: Requests, guard: Guard) -> Self {
        Self {
            requests,
            guard,
            guesses: Guesses::default(),
            pulses: Pulses::default(),
            had_store: AtomicBool::default(),
        }
    }

    /// Fails if the store was there and is gone: nothing would wait for a person then.
    fn require_store(&self) -> Result<(), Failure> {
        let store = self.requests.store();
        if store.exists()? {
            self.had_store.store(true, Ordering::Relaxed);
        } else if self.had_store.load(Ordering::Relaxed) {
            let place = visible(&store.directory().to_string_lossy());
            let message = format!("The store in {place} is gone. The board looks for it again.");
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        Ok(())
    }

    /// Returns true if this login is an approver's.
    fn is_of_approver(&self) -> bool {
        self.requests.answer_right() == AnswerRight::MayAnswer
    }

    fn require_approver(&self) -> Result<(), Failure> {
        if self.is_of_approver() {
            return Ok(());
        }
        Err(Refusal::MayNot.into())
    }

    /// Serves pages until the process ends.
    pub(crate) fn serve(self, listener: TcpListener) -> anyhow::Result<()> {
        let mut runtime = runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().max_blocking_threads(MAX_THREADS);
        let runtime = runtime.build().context("the board cannot start")?;
        runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let board = Arc::new(self);
            spawn(live::follow(Arc::clone(&board)));
            Ok(axum::serve(listener, router(board)).await?)
        })
    }
}

type SharedBoard = State<Arc<Board>>;

/// All addresses of the board.
fn router(board: Arc<Board>) -> Router {
    let asset = |kind: &'static str, text: String| {
        get(move || async move { ([(CONTENT_TYPE, kind)], text) })
    };
    let style = crate::show::style() + include_str!("board.css");
    Router::new()
        .route("/", get(list))
        .route(
            "/figures",
            get(|board, by| show(board, by, (), |board, _, ()| figures::show(board))),
        )
        .route(
            "/a",
            get(|board, by, Query(asked)| show(board, by, asked, question::show)),
        )
        .route(
            "/answer",
            get(Redirect::to("/"))
                .post(|board, by, Form(form)| show(board, by, form, question::answer)),
        )
        .route(
            "/order",
            get(|board, by, Query(form)| show(board, by, form, order::show))
                .post(|board, by, Form(form)| show(board, by, form, order::send)),
        )
        .route(
            "/trust",
            get(|board, by| show(board, by, (), |board, _, ()| trust::show(board)))
                .post(|board, by, Form(form)| show(board, by, form, trust::send)),
        )
        .route("/live", get(live::events))
        // What only looks at a link must not take the token.
        .route(
            "/enter",
            get(enter).head(|| async { StatusCode::NO_CONTENT }),
        )
        .route("/style.css", asset("text/css", style))
        .route(
            "/board.js",
            asset("text/javascript", include_str!("board.js").to_owned()),
        )
        .route("/icon.svg", asset("image/svg+xml", ICON.to_owned()))
        .route("/board", asset("text/plain", other::says()))
        .fallback(|| async { Failure::new(StatusCode::NOT_FOUND, "There is no such page.") })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&board), guard::guard))
        .with_state(board)
}

/// Carries out work that may block.
async fn blocking<T: Send + 'static>(
    board: &Arc<Board>,
    work: impl FnOnce(&Board) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let board = Arc::clone(board);
    let done = spawn_blocking(move || {
        board.require_store()?;
        work(&board)
    });
    let done = done.await;
    done.unwrap_or_else(|error| Err(Failure::internal(error)))
}

async fn list(
    State(board): SharedBoard,
    RawQuery(query): RawQuery,
    Query(view): Query<View>,
) -> Result<Response, Failure> {
    let shown = blocking(&board, move |board| view.show(board)).await?;
    let live = format!("/live?{}", query.unwrap_or_default());
    Ok(shown.page(Some(&live)))
}

/// Answers with a page that needs nothing more, for what a request asks or sends.
async fn show<T: Send + 'static>(
    State(board): SharedBoard,
    Extension(visitor): Extension<Visitor>,
    asked: T,
    show: fn(&Board, &Visitor, &T) -> Result<Shown, Failure>,
) -> Result<Response, Failure> {
    let shown = blocking(&board, move |board| show(board, &visitor, &asked));
    Ok(shown.await?.page(None))
}

/// Takes the token of the address that was printed, and gives a cookie for it.
async fn enter(
    State(board): SharedBoard,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    if visitor.is_known {
        return Ok(Redirect::to("/").into_response());
    }
    let token = query
        .as_deref()
        .and_then(|query| query.strip_prefix("token="));
    let cookie = board.guard.take(token.unwrap_or_default())?;
    Ok(([(SET_COOKIE, cookie)], Redirect::to("/")).into_response())
}
