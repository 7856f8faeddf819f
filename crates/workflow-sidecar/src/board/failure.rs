//! Pages that say why something is not shown or not done.

use std::fmt::Display;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use workflow_core::diagnostic::visible_lines;

use super::{Page, Shown};
use crate::answering::Refusal;
use crate::store::StoreError;

/// The reason why something is not shown or not done, and its status.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

/// A page with one message.
#[derive(Template)]
#[template(path = "board/message.html")]
pub(super) struct Message<'m> {
    pub(super) title: &'m str,
    pub(super) text: &'m str,
    /// The run that it is about; empty if it is about none.
    pub(super) run: &'m str,
}

impl Message<'_> {
    pub(super) fn shown(&self) -> Result<Shown, Failure> {
        Ok(Shown {
            title: self.title.to_owned(),
            html: self.render()?,
        })
    }
}

impl Failure {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn internal(error: impl Display) -> Self {
        tracing::error!("{error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }

    /// What a page has as its title.
    fn title(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::UNAUTHORIZED => "Who are you?",
            StatusCode::CONFLICT => "Too late",
            StatusCode::SERVICE_UNAVAILABLE => "The store is away",
            StatusCode::TOO_MANY_REQUESTS => "Wait",
            StatusCode::INTERNAL_SERVER_ERROR => "A mistake of the board",
            _ => "Refused",
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    }
}

impl From<askama::Error> for Failure {
    fn from(error: askama::Error) -> Self {
        Self::internal(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal {
            Refusal::NoCode(_) | Refusal::UnknownCode(_) | Refusal::MayNot => StatusCode::FORBIDDEN,
            Refusal::NoRequest(_) => StatusCode::NOT_FOUND,
            Refusal::NoChoice(..) => StatusCode::BAD_REQUEST,
            Refusal::Several(_) | Refusal::Changed(_) | Refusal::MovedOn => StatusCode::CONFLICT,
            Refusal::Store(error) => return error.into(),
        };
        Self::new(status, refusal.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let message = Message {
            title: self.title(),
            text: &visible_lines(&self.message),
            run: "",
        };
        let page = Page {
            title: self.title(),
            content: &message.render().unwrap_or_default(),
            live: None,
            is_again: self.status == StatusCode::SERVICE_UNAVAILABLE,
        };
        page.response(self.status)
    }
}
