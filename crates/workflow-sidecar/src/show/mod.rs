//! Timeline of a session, from a recording or from a session file of pi.
//!
//! [`session`] and [`recording`] read the two kinds of files, in order; [`Timeline`] has the events and totals of what they
//! find, and [`print`] makes text of them.
//!
//! Files may be damaged or from another version, so a value of another type counts as absent: it never stops the
//! timeline.

mod print;
mod recording;
mod run;
mod session;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::sessions::SessionFile;

pub(crate) use recording::of_recording;
pub(crate) use session::of_session;
pub(crate) use timeline::Timeline;
use timeline::{TimedEvent, Totals};

/// The timelines of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Timelines {
    /// The kind of file.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// The sessions by id; the one of a session file has no id.
    sessions: Vec<SessionTimeline>,
    /// Lines that could not be read as an entry.
    skipped: usize,
    /// Entries on other branches.
    on_other_branches: usize,
}

#[derive(Serialize)]
struct SessionTimeline {
    id: String,
    events: Vec<TimedEvent>,
    /// `None` for a session whose messages only its host knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
}

impl Timelines {
    pub(crate) fn of_session(
        file: &SessionFile<'_>,
        timeline: Timeline,
        has_messages: bool,
    ) -> Self {
        Self {
            kind: "session",
            cwd: file.cwd.as_deref().map(str::to_owned),
            sessions: vec![SessionTimeline {
                id: String::new(),
                events: timeline.events,
                totals: has_messages.then_some(timeline.totals),
            }],
            skipped: file.skipped,
            on_other_branches: file.on_other_branches,
        }
    }

    pub(crate) fn of_recording(sessions: BTreeMap<String, Timeline>) -> Self {
        let sessions = sessions.into_iter().map(|(id, timeline)| SessionTimeline {
            id,
            events: timeline.events,
            totals: Some(timeline.totals),
        });
        Self {
            kind: "recording",
            cwd: None,
            sessions: sessions.collect(),
            skipped: 0,
            on_other_branches: 0,
        }
    }
}
