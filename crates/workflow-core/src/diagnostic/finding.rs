//! Mistakes found while a text is read, before their lines and columns are known.

use std::borrow::Cow;

use super::{Code, Fix, Severity, shown};

/// A stretch of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The same stretch, so many bytes further on.
    pub(crate) fn moved(self, by: usize) -> Self {
        Self::new(self.start + by, self.end + by)
    }
}

/// A mistake in a text that is being read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) severity: Severity,
    pub(crate) span: Option<Span>,
    pub(crate) message: String,
    pub(crate) help: Cow<'static, str>,
    /// Boxed, because few findings have one.
    pub(crate) fix: Option<Box<Fix>>,
}

impl Finding {
    /// A finding with the usual help of its code.
    pub(crate) fn new(
        severity: Severity,
        code: Code,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            span,
            message: message.into(),
            help: Cow::Borrowed(code.help()),
            fix: None,
        }
    }

    pub(crate) fn error(code: Code, span: Option<Span>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    pub(crate) fn warning(code: Code, span: Option<Span>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    /// The same finding, with a replacement at its location that corrects it.
    pub(crate) fn fix(mut self, from: &str, to: &str) -> Self {
        self.fix = Some(Box::new(Fix {
            from: from.to_owned(),
            to: to.to_owned(),
        }));
        self
    }

    /// The same finding, with what is most likely meant instead.
    pub(crate) fn meant(self, from: &str, to: &str) -> Self {
        let help = format!("did you mean `{}`?", shown(to));
        self.help(help).fix(from, to)
    }

    pub(crate) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = help.into();
        self
    }
}
