//! Pages that say why something is not shown or not done.

use std::fmt::Display;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use workflow_core::diagnostic::visible_lines;

use super::Page;
use crate::answering::Refusal;
use crate::store::StoreError;

/// The reason why something is not shown or not done, and its status.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
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

impl Failure {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    pub(super) fn internal(error: impl Display) -> Self {
        tracing::error!("{error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
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
            Refusal::NoChoice(..) => StatusCode::BAD_REQUEST,
            Refusal::Store(error) => return error.into(),
            _ => StatusCode::CONFLICT,
        };
        Self::new(status, refusal.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Refused");
        let message = Message {
            title,
            text: &visible_lines(&self.message),
            run: "",
        };
        let page = Page {
            title,
            content: &message.render().unwrap_or_default(),
            live: None,
        };
        page.response(self.status)
    }
}
