//! A transcript in steps: something happens, and lines of the sidecar follow from it.
//!
//! Owns which lines belong to which event. Must not know how either side is spoken to.

use serde_json::value::RawValue;
use workflow_core::types::Millis;

use super::definitions::Definitions;
use super::format::{Entry, Header, Line, Said};
use super::json_text::{at, string};
use super::world::{Answer, GateLine, TriggerLine};

/// Something that happens, and the lines that follow from it.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) event: Event<'a>,
    /// The line that says so; of time, the first line that it caused.
    pub(super) line: &'a Line,
    /// What the sidecar said then.
    pub(super) followed: Vec<(&'a Line, &'a Said)>,
    /// Where writing stopped amid what followed, if it did.
    pub(super) torn: Option<Torn<'a>>,
    /// The last word to people before it.
    pub(super) note: Option<&'a RawValue>,
}

/// A line that was not written to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Torn<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
}

/// What happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    /// A sidecar starts that says something unasked, or nothing is expected of any more.
    Start(Option<&'a Header>),
    Definitions(&'a Definitions),
    /// The world answers this to what happens next.
    World(&'a Answer),
    Gate(&'a GateLine),
    Trigger(&'a TriggerLine),
    Host(&'a Said),
    /// It became this late.
    Time(Millis),
    End,
}

impl Step<'_> {
    /// Whether nobody knows what follows when it happens again.
    pub(super) fn is_unknown(&self) -> bool {
        self.followed.iter().any(|(_, said)| said.is_unknown())
    }
}

/// A transcript's steps, in order.
pub(super) fn steps(lines: &[Line]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut clock = Recorded::default();
    let mut note = None;
    for line in lines {
        let mut followed = Vec::new();
        let event = match &line.entry {
            Entry::Note(text) => {
                note = Some(&**text);
                continue;
            }
            Entry::Torn(text) => {
                let number = line.number;
                if let Some(step) = steps.last_mut() {
                    step.torn = Some(Torn { number, text });
                }
                continue;
            }
            Entry::Out(said) => match (clock.moves_on(line), steps.last_mut()) {
                (None, Some(step)) => {
                    step.followed.push((line, said));
                    continue;
                }
                (time, _) => {
                    followed.push((line, said));
                    time.map_or(Event::Start(None), Event::Time)
                }
            },
            Entry::Header(header) => {
                clock = Recorded {
                    is_systems: true,
                    now: header.clock.now,
                };
                Event::Start(Some(header))
            }
            Entry::Definitions(definitions) => Event::Definitions(definitions),
            Entry::World(answer) => Event::World(answer),
            Entry::Gate(gate) => {
                clock.moves_on(line);
                Event::Gate(gate)
            }
            Entry::Trigger(trigger) => {
                clock.moves_on(line);
                Event::Trigger(trigger)
            }
            Entry::In(said) => {
                clock.moves_on(line);
                clock.is_systems &= !asks_for_virtual_clock(said);
                Event::Host(said)
            }
            Entry::End => {
                clock.moves_on(line);
                Event::End
            }
        };
        steps.push(Step {
            event,
            line,
            followed,
            torn: None,
            note,
        });
    }
    steps
}

/// The clock of what was recorded.
#[derive(Debug, Default)]
struct Recorded {
    /// Whether time passed by itself.
    is_systems: bool,
    now: Millis,
}

impl Recorded {
    /// The time of a line, if it is later than everything before it.
    fn moves_on(&mut self, line: &Line) -> Option<Millis> {
        let later = line.at.filter(|at| self.is_systems && *at > self.now);
        self.now = later.unwrap_or(self.now);
        later
    }
}

/// Whether a line makes time stand still until it is advanced.
fn asks_for_virtual_clock(said: &Said) -> bool {
    let Some(line) = said.text() else {
        return false;
    };
    line.contains("initialize")
        && at(&line, &["method"]).and_then(string).as_deref() == Some("initialize")
        && at(&line, &["params", "clock"]).is_some_and(|clock| clock.starts_with('{'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::format::Transcript;
    use super::*;

    /// What happens at which line, and how many lines follow from it.
    fn told(lines: &[&str]) -> Vec<(String, usize, usize)> {
        let transcript = Transcript::parse(Path::new("t"), lines.join("\n").as_bytes()).unwrap();
        let name = |event: &Event<'_>| format!("{event:?}").split('(').next().unwrap().to_owned();
        steps(&transcript.lines)
            .iter()
            .map(|step| (name(&step.event), step.line.number, step.followed.len()))
            .collect()
    }

    const HEADER: &str = r#"{"transcript":1,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

    #[test]
    fn lines_follow_from_the_host_or_from_time() {
        let expected = |rows: &[(&str, usize, usize)]| {
            let owned = rows
                .iter()
                .map(|(name, line, count)| ((*name).to_owned(), *line, *count));
            owned.collect::<Vec<_>>()
        };
        assert_eq!(
            told(&[
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
            told(&[HEADER, virtually, r#"{"at":7,"out":{}}"#]),
            expected(&[("Start", 1, 0), ("Host", 2, 1)])
        );
        assert_eq!(
            told(&[r#"{"at":7,"out":{}}"#]),
            expected(&[("Start", 1, 1)])
        );
    }
}
