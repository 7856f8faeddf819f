//! Timeline of a session, from a recording or from a session file of pi.
//!
//! [`session`] and [`recording`] read the two kinds of files, in order; [`Timeline`] has the events and totals of what they
//! find. Formatting is not known here.
//!
//! Files may be damaged or from another version, so a value of another type counts as absent: it never stops the
//! timeline.

mod recording;
mod run;
mod session;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use recording::of_recording;
pub(crate) use run::FlowNotes;
pub(crate) use session::of_session;
pub(crate) use timeline::{TimedEvent, Timeline, TimelineEvent, Totals};
