//! Timeline of a session, from a recording or from a session file of pi.
//!
//! [`recording`] reads the two kinds of files, in order; [`Timeline`] has the events, runs and totals of what it finds.
//! [`described`] says each event in words: [`print`] makes text of them, [`page`] a page of each run, which [`html`] and
//! [`markdown`] write.
//!
//! Files may be damaged or from another version, so a value of another type counts as absent: it never stops the
//! timeline.

mod described;
mod html;
mod markdown;
mod page;
#[cfg(test)]
mod page_tests;
mod print;
mod recording;
mod run;
#[cfg(test)]
mod tests;
mod timeline;

use std::sync::Arc;

use anyhow::bail;
use serde::Serialize;
use workflow_core::definition::Catalog;
use workflow_core::diagnostic::visible;

pub(crate) use self::described::duration;
use crate::record::Transcript;
use crate::sessions::{FoundSession, SessionFile};
pub(crate) use html::style;
use recording::{of_recording, of_session};
use run::TimelineRun;
use timeline::{TimedEvent, Timeline, Totals};

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
    #[serde(skip)]
    runs: Vec<TimelineRun>,
    /// `None` for a session whose messages only its host knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
}

impl SessionTimeline {
    fn of((id, timeline): (String, Timeline)) -> Self {
        Self {
            id,
            runs: timeline.earlier.into_iter().chain(timeline.run).collect(),
            events: timeline.events,
            totals: Some(timeline.totals),
        }
    }
}

impl Timelines {
    /// The timeline of a run that was found: the part of its session that is about it.
    pub(crate) fn of_found(
        found: &FoundSession,
        known: Option<Arc<Catalog>>,
    ) -> anyhow::Result<Self> {
        if found.bytes.is_none() {
            bail!("{}", found.place().unwrap_or_default());
        }
        let mut file = found.entries();
        if file.entries.is_empty() {
            let run = found.run.as_ref().map(|run| visible(&run.run.task_id));
            let run = run.unwrap_or_default();
            bail!("the session of {run} has nothing of it on its current branch");
        }
        file.on_other_branches = 0;
        Ok(Self::of_session(&file, known, found.has_messages))
    }

    /// The timeline of a session; `has_messages` is false if only its host knows them.
    pub(crate) fn of_session(
        file: &SessionFile<'_>,
        known: Option<Arc<Catalog>>,
        has_messages: bool,
    ) -> Self {
        let mut session = SessionTimeline::of((String::new(), of_session(file, known)));
        session.totals.take_if(|_| !has_messages);
        Self {
            kind: "session",
            cwd: file.cwd.as_deref().map(str::to_owned),
            sessions: vec![session],
            skipped: file.skipped,
            on_other_branches: file.on_other_branches,
        }
    }

    /// The timelines of a recording.
    pub(crate) fn of_recording(transcript: &Transcript, known: Option<Arc<Catalog>>) -> Self {
        let sessions = of_recording(transcript, known).into_iter();
        Self {
            kind: "recording",
            cwd: None,
            sessions: sessions.map(SessionTimeline::of).collect(),
            skipped: 0,
            on_other_branches: 0,
        }
    }
}
