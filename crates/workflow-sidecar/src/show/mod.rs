//! Timeline of a session, from a recording or from a session file of pi.
//!
//! [`session`] and [`recording`] turn the two kinds of files into [`Fact`]s, in order; [`Timeline`] turns facts into
//! events and totals. Formatting is not known here.
//!
//! Files may be damaged or from another version, so a value of another type counts as absent: it never stops the
//! timeline.

mod fact;
mod recording;
mod run;
mod session;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use recording::of_recording;
pub(crate) use session::of_session;
pub(crate) use timeline::{Timeline, TimelineEvent, Totals};

use fact::Fact;
