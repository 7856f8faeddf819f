//! Lines of a text, and what a hint says of them.

use std::borrow::Cow;

use crate::diagnostic::{Code, Finding, Span};

/// A finding with the help for a mistake. Without a location it is where the parser stopped.
pub(super) fn likely(help: impl Into<Cow<'static, str>>, at: Option<Span>) -> Finding {
    Finding::error(Code::Syntax, at, "").help(help)
}

/// A line of the text, and its offset.
#[derive(Clone, Copy)]
pub(super) struct YamlLine<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
}

impl YamlLine<'_> {
    pub(super) fn indent(&self) -> &str {
        &self.text[..self.text.len() - self.text.trim_start().len()]
    }

    pub(super) fn is_blank(&self) -> bool {
        let text = self.text.trim_start();
        text.is_empty() || text.starts_with('#')
    }

    /// A stretch of the line in the text.
    pub(super) fn part(&self, start: usize, end: usize) -> Span {
        Span::new(self.start + start, self.start + end)
    }
}
