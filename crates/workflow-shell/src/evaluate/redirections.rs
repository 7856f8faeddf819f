//! Redirections.

use super::Evaluator;
use super::expand::{expand, expand_unsplit};
use super::scope::{self, Scope};
use crate::command::StandardInput;
use crate::effect::{Unknown, UnknownReason};
use crate::file_write::FileWrite;
use crate::parse::tree::{RawWord, Redirection, RedirectionKind, WordPart};
use crate::word::{Word, is_descriptor};

impl Evaluator<'_> {
    /// Evaluates a redirection. Returns why its effect is not known.
    pub(super) fn redirection(
        &mut self,
        redirection: &Redirection,
        scope: &mut Scope<'_>,
    ) -> Option<Unknown> {
        let unknown = |word: &str| Some(Unknown::new(word, UnknownReason::Descriptor));
        let reads = !redirection.kind.writes();
        let mut found = match redirection.descriptor {
            None | Some(0) => None,
            Some(1 | 2) if !reads => None,
            Some(number) if reads => unknown(&format!("{number}<")),
            Some(number) => unknown(&format!("{number}>")),
        };
        let raw = match redirection.kind {
            RedirectionKind::HereDocument(index) => scope.here_documents.get(index),
            _ => Some(&redirection.target),
        };
        let Some(raw) = raw else {
            return found;
        };
        let raws = std::slice::from_ref(raw);
        self.substitutions(raws, scope);
        match redirection.kind {
            RedirectionKind::Read => {
                self.access_words(raws, scope);
                let is_process = matches!(raw.0.as_slice(), [WordPart::Process(_)]);
                scope.input = if is_process {
                    StandardInput::Pipe { lists_files: false }
                } else if raw.text() == Some("/dev/null") {
                    StandardInput::Text(Word::literal(""))
                } else {
                    StandardInput::File
                };
            }
            RedirectionKind::DuplicateInput => match raw.text() {
                Some("-") => {}
                Some("0" | "1" | "2") => scope.input = StandardInput::Inherited,
                _ => found = unknown("<&"),
            },
            RedirectionKind::Write => found = found.or(self.write_redirection(raw, scope)),
            RedirectionKind::DuplicateOutput => {
                let word = expand_unsplit(raw, &self.variables);
                let shape = word.shape().trim_end_matches('-');
                if shape.contains('\0') {
                    found = unknown(word.shape());
                } else if !shape.bytes().all(|byte| byte.is_ascii_digit()) {
                    found = found.or(self.write_redirection(raw, scope));
                } else if !matches!(shape, "" | "1" | "2") {
                    found = unknown(&format!(">&{shape}"));
                }
            }
            RedirectionKind::HereString => {
                self.access_words(raws, scope);
                scope.input = StandardInput::Text(expand_unsplit(raw, &self.variables));
            }
            RedirectionKind::HereDocument(_) => {
                scope.input = StandardInput::Text(expand_unsplit(raw, &self.variables));
            }
        }
        found
    }

    /// Returns whether a redirection writes to a host: `> /dev/tcp/host/80`.
    pub(super) fn reaches_host(&self, redirection: &Redirection) -> bool {
        let word = || expand_unsplit(&redirection.target, &self.variables);
        redirection.kind.writes() && scope::is_port(word().shape())
    }

    pub(super) fn write_redirection(
        &mut self,
        raw: &RawWord,
        scope: &Scope<'_>,
    ) -> Option<Unknown> {
        let words = expand(std::slice::from_ref(raw), &self.variables);
        if words.iter().all(|word| word.is_process) && !words.is_empty() {
            return None;
        }
        let operation = "a redirection".to_owned();
        let write = match words.as_slice() {
            [word] => FileWrite::to_word(operation, word),
            _ => FileWrite::anywhere(operation),
        };
        let is_reopened =
            |word: &Word| is_descriptor(word.shape()) && !scope::is_device(word.shape());
        let reopened = words.iter().find(|word| is_reopened(word));
        let reopened = reopened.map(|word| Unknown::new(word.shape(), UnknownReason::Descriptor));
        self.recorder.redirection(write, scope);
        reopened
    }
}
