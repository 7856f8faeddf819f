//! What we asked the host and it has not answered yet.
//!
//! Owns the ids of our requests. Must not know what a question is about, or wait for an answer:
//! asking is an effect, the answer comes back as an input.

use std::collections::HashMap;

use workflow_core::types::QuestionId;

/// A question of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) session: String,
    pub(super) question: QuestionId,
    /// Whether it is answered with one of a few options, or with yes or no.
    pub(super) has_options: bool,
    /// The file that was shown with it.
    pub(super) shown: Option<Shown>,
}

/// A file that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) path: String,
    /// How it stood.
    pub(super) state: String,
}

/// The questions the host has not answered.
#[derive(Debug, Default)]
pub(super) struct Peer {
    last: u64,
    open: HashMap<String, Asked>,
}

impl Peer {
    /// Remembers a question, gives the id to ask it under: `s1`, `s2`, and so on.
    pub(super) fn ask(&mut self, asked: Asked) -> String {
        self.last += 1;
        let id = format!("s{}", self.last);
        self.open.insert(id.clone(), asked);
        id
    }

    /// The question that an answer belongs to, once. Late, second and unknown answers belong to none.
    pub(super) fn answered(&mut self, id: &str) -> Option<Asked> {
        self.open.remove(id)
    }

    /// Forgets what a session asked: nobody waits for the answers any more.
    pub(super) fn forget(&mut self, session: &str) {
        self.open.retain(|_, asked| asked.session != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(session: &str, question: u64) -> Asked {
        Asked {
            session: session.to_owned(),
            question: QuestionId(question),
            has_options: false,
            shown: None,
        }
    }

    #[test]
    fn an_answer_counts_once() {
        let mut peer = Peer::default();
        assert_eq!(peer.ask(asked("a", 1)), "s1");
        assert_eq!(peer.ask(asked("b", 1)), "s2");
        assert_eq!(peer.answered("s2"), Some(asked("b", 1)));
        assert_eq!(peer.answered("s2"), None);
        assert_eq!(peer.answered("s3"), None);
        assert_eq!(peer.answered("s1"), Some(asked("a", 1)));
    }

    #[test]
    fn a_session_that_is_gone_waits_for_nothing() {
        let mut peer = Peer::default();
        let (first, second) = (peer.ask(asked("a", 1)), peer.ask(asked("b", 1)));
        peer.forget("a");
        assert_eq!(peer.answered(&first), None);
        assert_eq!(peer.answered(&second), Some(asked("b", 1)));
    }
}
