//! The steps of a transcript: something happens, and lines of the sidecar follow.
//!
//! Decides which lines belong to which event, and which lines are compared. Must not know how lines are sent.

use serde_json::value::RawValue;
use workflow_core::types::Millis;

use super::format::{ProtocolLine, TranscriptEntry, TranscriptLine};

/// Something that happens, and the lines that follow from it.
pub(super) struct TranscriptStep<'a> {
    /// The line of the event; for time, the first line that it caused.
    pub(super) line: &'a TranscriptLine,
    /// The lines of the sidecar that follow.
    pub(super) followed: Vec<(&'a TranscriptLine, &'a ProtocolLine)>,
    /// The number and the text of the line that was cut off, if one was.
    pub(super) torn: Option<(usize, &'a str)>,
    /// The last note before it.
    pub(super) note: Option<&'a RawValue>,
}

/// A line of the sidecar in a transcript, and the line that came in its place. One of them may be missing.
pub(super) struct LinePair<'a> {
    /// The line of the transcript; of a line too many, the one that it precedes or follows.
    pub(super) line: &'a TranscriptLine,
    /// True if it precedes the line, because time passed before anything else happened.
    pub(super) is_before: bool,
    pub(super) expected: Option<&'a ProtocolLine>,
    pub(super) received: Option<String>,
}

impl<'a> TranscriptStep<'a> {
    /// A line, and nothing that follows yet.
    pub(super) fn of(line: &'a TranscriptLine, note: Option<&'a RawValue>) -> Self {
        Self {
            line,
            followed: Vec::new(),
            torn: None,
            note,
        }
    }

    /// Pairs the lines that follow with those that came: some before the event, the others then. There are none if they are not
    /// compared.
    pub(super) fn pairs(&self, before: Vec<String>, then: Vec<String>) -> Vec<LinePair<'a>> {
        if self.is_unknown() {
            return Vec::new();
        }
        let extra = |line, is_before, received| LinePair {
            line,
            is_before,
            expected: None,
            received: Some(received),
        };
        let before = before.into_iter();
        let mut pairs: Vec<_> = before.map(|text| extra(self.line, true, text)).collect();
        let mut then = then.into_iter();
        pairs.extend(self.followed.iter().map(|(line, sent)| LinePair {
            line,
            is_before: false,
            expected: Some(sent),
            received: then.next(),
        }));
        if self.torn.is_none() {
            let last = self.followed.last().map_or(self.line, |(line, _)| line);
            pairs.extend(then.map(|text| extra(last, false, text)));
        }
        pairs
    }

    /// True if the lines that follow are not compared.
    pub(super) fn is_unknown(&self) -> bool {
        self.followed.iter().any(|(_, sent)| sent.is_unknown())
    }
}

/// A transcript's steps, in order.
pub(super) fn steps(lines: &[TranscriptLine]) -> Vec<TranscriptStep<'_>> {
    let mut steps: Vec<TranscriptStep<'_>> = Vec::new();
    // The time by the system's clock, while a recording uses it.
    let mut now: Option<Millis> = None;
    let mut note = None;
    for line in lines {
        match &line.entry {
            TranscriptEntry::Note(text) => note = Some(&**text),
            TranscriptEntry::Torn(text) => {
                if let Some(step) = steps.last_mut() {
                    step.torn = Some((line.number, text));
                }
            }
            TranscriptEntry::Out(sent) => {
                if moves_on(&mut now, line) || steps.is_empty() {
                    steps.push(TranscriptStep::of(line, note));
                }
                let step = steps.last_mut().expect("a step has been added");
                step.followed.push((line, sent));
            }
            entry => {
                match entry {
                    TranscriptEntry::Header(header) => {
                        now = Some(header.clock.now);
                    }
                    // They are noted for what happens next.
                    TranscriptEntry::Definitions(_) | TranscriptEntry::Result(_) => {}
                    entry => {
                        moves_on(&mut now, line);
                        now.take_if(|_| asks_for_virtual_clock(entry));
                    }
                }
                steps.push(TranscriptStep::of(line, note));
            }
        }
    }
    steps
}

/// Adopts the time of a line, if it is later than everything before it.
fn moves_on(now: &mut Option<Millis>, line: &TranscriptLine) -> bool {
    let later = line.at.filter(|at| now.is_some_and(|now| *at > now));
    *now = later.or(*now);
    later.is_some()
}

/// True for an `initialize` that asks for a virtual clock.
fn asks_for_virtual_clock(entry: &TranscriptEntry) -> bool {
    let TranscriptEntry::In(sent) = entry else {
        return false;
    };
    sent.text().contains("virtual")
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
        let name =
            |entry: &TranscriptEntry| format!("{entry:?}").split('(').next().unwrap().to_owned();
        steps(&transcript.lines)
            .iter()
            .map(|step| {
                (
                    name(&step.line.entry),
                    step.line.number,
                    step.followed.len(),
                )
            })
            .collect()
    }

    const HEADER: &str = r#"{"transcript":3,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

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
                ("Header", 1, 0),
                ("In", 2, 1),
                ("Out", 5, 2),
                ("In", 7, 1),
                ("End", 9, 1)
            ])
        );
        let virtually =
            r#"{"at":6,"in":{"method":"initialize","params":{"clock":{"virtual":{"now":0}}}}}"#;
        assert_eq!(
            summary(&[HEADER, virtually, r#"{"at":7,"out":{}}"#]),
            expected(&[("Header", 1, 0), ("In", 2, 1)])
        );
        assert_eq!(
            summary(&[r#"{"at":7,"out":{}}"#]),
            expected(&[("Out", 1, 1)])
        );
    }
}
