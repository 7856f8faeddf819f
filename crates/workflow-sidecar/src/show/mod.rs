//! What happened in a session, as a timeline: from a recording, or from a session file of pi.
//!
//! [`session`] and [`recording`] read the two kinds of files into [`Fact`]s, in order; [`Timeline`] makes of them what a
//! person wants to know. Must not know how it is shown.

mod fact;
mod recording;
mod run;
mod session;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use recording::of_recording;
pub(crate) use session::of_session;
pub(crate) use timeline::{Happened, Timeline, Totals};

use fact::Fact;
