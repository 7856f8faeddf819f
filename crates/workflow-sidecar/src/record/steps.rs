//! The steps of a transcript: something happens, and lines of the sidecar follow.
//!
//! Decides which lines belong to which event. Must not know how lines are sent.

use serde_json::value::RawValue;
use workflow_core::types::Millis;

use super::definitions::DefinitionsLine;
use super::format::{Header, ProtocolLine, TranscriptEntry, TranscriptLine};
use super::results::{PlatformResult, ReportedEvent};

/// Something that happens, and the lines that follow from it.
#[derive(Debug)]
pub(super) struct TranscriptStep<'a> {
    pub(super) event: TranscriptEvent<'a>,
    /// The line of the event; for time, the first line that it caused.
    pub(super) line: &'a TranscriptLine,
    /// The lines of the sidecar that follow.
    pub(super) followed: Vec<(&'a TranscriptLine, &'a ProtocolLine)>,
    /// The line that was cut off, if one was.
    pub(super) torn: Option<Torn<'a>>,
    /// The last note before it.
    pub(super) note: Option<&'a RawValue>,
}

/// A line that was cut off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Torn<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
}

/// An event of a transcript.
#[derive(Debug, Clone, Copy)]
pub(super) enum TranscriptEvent<'a> {
    /// A sidecar starts.
    Start(Option<&'a Header>),
    Definitions(&'a DefinitionsLine),
    /// The platform's answer to something that the next event causes.
    Result(&'a PlatformResult),
    /// A report of the platform.
    Reported(&'a ReportedEvent),
    Host(&'a ProtocolLine),
    /// Time passed until then.
    Time(Millis),
    End,
}

impl TranscriptStep<'_> {
    /// True if the lines that follow are not compared.
    pub(super) fn is_unknown(&self) -> bool {
        self.followed.iter().any(|(_, sent)| sent.is_unknown())
    }
}

/// A transcript's steps, in order.
pub(super) fn steps(lines: &[TranscriptLine]) -> Vec<TranscriptStep<'_>> {
    let mut steps: Vec<TranscriptStep<'_>> = Vec::new();
    let mut clock = RecordedClock::default();
    let mut note = None;
    for line in lines {
        let mut followed = Vec::new();
        let event = match &line.entry {
            TranscriptEntry::Note(text) => {
                note = Some(&**text);
                continue;
            }
            TranscriptEntry::Torn(text) => {
                let number = line.number;
                if let Some(step) = steps.last_mut() {
                    step.torn = Some(Torn { number, text });
                }
                continue;
            }
            TranscriptEntry::Out(sent) => match (clock.moves_on(line), steps.last_mut()) {
                (None, Some(step)) => {
                    step.followed.push((line, sent));
                    continue;
                }
                (time, _) => {
                    followed.push((line, sent));
                    time.map_or(TranscriptEvent::Start(None), TranscriptEvent::Time)
                }
            },
            TranscriptEntry::Header(header) => {
                clock = RecordedClock {
                    is_systems: true,
                    now: header.clock.now,
                };
                TranscriptEvent::Start(Some(header))
            }
            TranscriptEntry::Definitions(definitions) => TranscriptEvent::Definitions(definitions),
            TranscriptEntry::Result(result) => TranscriptEvent::Result(result),
            TranscriptEntry::Event(reported) => {
                clock.moves_on(line);
                TranscriptEvent::Reported(reported)
            }
            TranscriptEntry::In(sent) => {
                clock.moves_on(line);
                clock.is_systems &= !asks_for_virtual_clock(sent);
                TranscriptEvent::Host(sent)
            }
            TranscriptEntry::End => {
                clock.moves_on(line);
                TranscriptEvent::End
            }
        };
        steps.push(TranscriptStep {
            event,
            line,
            followed,
            torn: None,
            note,
        });
    }
    steps
}

/// The clock of a recording.
#[derive(Debug, Default)]
struct RecordedClock {
    /// True if it is the system's.
    is_systems: bool,
    now: Millis,
}

impl RecordedClock {
    /// The time of a line, if it is later than everything before it.
    fn moves_on(&mut self, line: &TranscriptLine) -> Option<Millis> {
        let later = line.at.filter(|at| self.is_systems && *at > self.now);
        self.now = later.unwrap_or(self.now);
        later
    }
}

/// True for an `initialize` that asks for a virtual clock.
fn asks_for_virtual_clock(sent: &ProtocolLine) -> bool {
    let is_likely = sent.text().is_some_and(|line| line.contains("virtual"));
    is_likely
        && sent.message().is_some_and(|message| {
            message["method"] == "initialize" && message["params"]["clock"].is_object()
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::format::Transcript;
    use super::*;

    /// The names of the steps, their lines, and the number of lines that follow.
    fn summary(lines: &[&str]) -> Vec<(String, usize, usize)> {
        let transcript = Transcript::parse(Path::new("t"), lines.join("\n").as_bytes()).unwrap();
        let name = |event: &TranscriptEvent<'_>| {
            format!("{event:?}").split('(').next().unwrap().to_owned()
        };
        steps(&transcript.lines)
            .iter()
            .map(|step| (name(&step.event), step.line.number, step.followed.len()))
            .collect()
    }

    const HEADER: &str = r#"{"transcript":2,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

    #[test]
    fn lines_follow_from_the_host_or_from_time() {
        let expected = |rows: &[(&str, usize, usize)]| {
            let owned = rows
                .iter()
                .map(|(name, line, count)| ((*name).to_owned(), *line, *count));
            owned.collect::<Vec<_>>()
        };
        assert_eq!(
            summary(&[
                HEADER,
                r#"{"at":6,"in":{}}"#,
                r#"{"at":6,"out":{}}"#,
                r#"{"note":"ticks"}"#,
                r#"{"at":8,"out":{}}"#,
                r#"{"at":8,"out":{}}"#,
                r#"{"at":9,"in":{}}"#,
                r#"{"at":9,"out":{}}"#,
                r#"{"at":10,"end":true}"#,
                r#"{"at":10,"out":{}}"#,
            ]),
            expected(&[
                ("Start", 1, 0),
                ("Host", 2, 1),
                ("Time", 5, 2),
                ("Host", 7, 1),
                ("End", 9, 1)
            ])
        );
        let virtually =
            r#"{"at":6,"in":{"method":"initialize","params":{"clock":{"virtual":{"now":0}}}}}"#;
        assert_eq!(
            summary(&[HEADER, virtually, r#"{"at":7,"out":{}}"#]),
            expected(&[("Start", 1, 0), ("Host", 2, 1)])
        );
        assert_eq!(
            summary(&[r#"{"at":7,"out":{}}"#]),
            expected(&[("Start", 1, 1)])
        );
    }
}
