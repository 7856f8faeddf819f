//! What files say that happened.

use workflow_core::event::Entry;

/// Something that happened, as far as a timeline wants to know.
#[derive(Debug)]
pub(super) enum Fact<'a> {
    /// An entry of ours was stored.
    Stored(Entry<'a>),
    /// The session was loaded, and these are the last entries of ours in it.
    Loaded(Vec<Entry<'a>>),
    /// The agent called a tool.
    Called,
    /// The agent called `workflow_step`.
    Moved(&'a str),
    /// `workflow_step` did not do it.
    Refused(&'a str),
    /// A tool's result: a block is one too, where nobody says which results are.
    Result { tool: &'a str, text: &'a str },
    /// A call was blocked.
    Denied { tool: &'a str, reason: &'a str },
    /// A person is asked something, under this id.
    Asked { id: &'a str, question: &'a str },
    /// The question of this id is answered.
    Answered { id: &'a str, answer: &'a str },
    /// Put into the model's context.
    Injected(&'a str),
    /// Said to the agent, by a person or in the person's place.
    Said(&'a str),
    /// Said to the agent in the person's place.
    SaidByUs(&'a str),
    /// A trigger had this for the agent, who is told now or later.
    CameIn(&'a str),
    /// What came of bringing the code back.
    BroughtBack(&'a str),
    /// Older messages were replaced by a summary.
    Compacted,
}
