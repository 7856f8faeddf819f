//! Whom a transcript is replayed against.
//!
//! Owns one face for a sidecar in memory and one in a process. Must not know what is expected of it.

use std::sync::Arc;

use workflow_core::definition::Tier;

use super::held::Held;
use super::world::{GateLine, HeldWorld, TriggerLine};
use crate::serve::{Memory, Surroundings};

/// A sidecar that is spoken to. What it says because of a line is there before the next line.
pub(super) trait Sidecar {
    /// The directories hold something else than before.
    fn redefine(&mut self) -> Result<(), Trouble>;

    /// What a directory that the host named is called here.
    fn directory(&mut self, tier: Tier, named: &str) -> Result<String, Trouble>;

    /// Sends a line, gives the lines that follow from it.
    fn say(&mut self, line: Sent<'_>) -> Result<Vec<String>, Trouble>;

    /// Tells it of a gate, gives the lines that follow from it.
    fn hear_of_gate(&mut self, gate: &GateLine) -> Result<Vec<String>, Trouble>;

    /// Tells it what a trigger has, gives the lines that follow from it.
    fn hear_of_trigger(&mut self, trigger: &TriggerLine) -> Result<Vec<String>, Trouble>;

    /// Closes the host's side, gives the lines that follow from it.
    fn end(&mut self) -> Result<Vec<String>, Trouble>;

    /// How it ended, if it did although nobody asked for it.
    fn last_words(&mut self) -> Option<String>;

    /// What it said last that is no answer.
    fn complaints(&self) -> Vec<String>;
}

/// A line that is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sent<'a> {
    Line(&'a [u8]),
    /// Any line longer than this.
    TooLong(usize),
}

/// Why a transcript cannot be played on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the command cannot be started: {0}")]
    Start(std::io::Error),
    #[error("the command says nothing for {0} seconds")]
    Silent(u64),
    #[error("the command does not stop talking")]
    Babbling,
    #[error("the directory for the definitions cannot be written: {0}")]
    Files(std::io::Error),
    #[error("{name} cannot be played against a command: {why}")]
    Unplayable { name: String, why: &'static str },
}

/// The engine in this process.
#[derive(Debug)]
pub(super) struct InMemory(Memory);

impl InMemory {
    pub(super) fn new(held: &Arc<Held>, world: &Arc<HeldWorld>) -> Self {
        let surroundings = Surroundings::of(Arc::clone(held) as _);
        Self(Memory::within(
            surroundings.in_world(Arc::clone(world) as _),
        ))
    }
}

impl Sidecar for InMemory {
    fn redefine(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    fn directory(&mut self, _: Tier, named: &str) -> Result<String, Trouble> {
        Ok(named.to_owned())
    }

    fn say(&mut self, line: Sent<'_>) -> Result<Vec<String>, Trouble> {
        Ok(match line {
            // A line of a transcript may be several: it is text of any kind.
            Sent::Line(text) => text
                .split(|byte| *byte == b'\n')
                .flat_map(|line| self.0.send(line))
                .collect(),
            Sent::TooLong(limit) => self.0.send_long_line(limit),
        })
    }

    fn hear_of_gate(&mut self, gate: &GateLine) -> Result<Vec<String>, Trouble> {
        let news = gate.news();
        Ok(news.map_or_else(Vec::new, |(name, news)| self.0.hear_of_gate(&name, news)))
    }

    fn hear_of_trigger(&mut self, trigger: &TriggerLine) -> Result<Vec<String>, Trouble> {
        let news = trigger.news();
        Ok(news.map_or_else(Vec::new, |(name, news)| self.0.hear_of_trigger(&name, news)))
    }

    fn end(&mut self) -> Result<Vec<String>, Trouble> {
        Ok(self.0.finish())
    }

    fn last_words(&mut self) -> Option<String> {
        None
    }

    fn complaints(&self) -> Vec<String> {
        Vec::new()
    }
}
