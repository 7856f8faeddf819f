//! Lines of a text, and what a hint says of them.

use std::borrow::Cow;
use std::ops::Range;

/// The help for a mistake, and its bytes, if they are not those where the parser stopped.
pub(in super::super) struct MistakeHint {
    pub(in super::super) help: Cow<'static, str>,
    pub(in super::super) at: Option<Range<usize>>,
    /// The text that corrects what is there.
    pub(in super::super) to: Option<&'static str>,
}

impl<H: Into<Cow<'static, str>>> From<H> for MistakeHint {
    /// The help where the parser stopped.
    fn from(help: H) -> Self {
        let help = help.into();
        let (at, to) = (None, None);
        Self { help, at, to }
    }
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

    /// A stretch of the line, as bytes of the text.
    pub(super) fn part(&self, range: Range<usize>) -> Range<usize> {
        self.start + range.start..self.start + range.end
    }
}
