//! Comparing what a sidecar says with what a transcript says, or writing it into the transcript.
//!
//! Owns what counts as the same. Must not know how either side is spoken to.

use std::collections::{BTreeMap, HashMap};

use serde_json::value::RawValue;
use tracing::subscriber::{NoSubscriber, with_default};
use workflow_core::diagnostic::shown;

use super::definitions::Directory;
use super::difference::{Difference, What, changed};
use super::format::{Line, Said, Transcript};
use super::json_text::{at, member, quoted, string, unescaped};
use super::meaning::changes;
use super::player::{Heard, Player, ReplayError, Stage};
use super::redefine::redefined;
use super::steps::{Event, Step, Torn, steps};

/// How often a transcript is rewritten at most until it says the same again.
const MOST_ROUNDS: usize = 4;

/// What a replay found.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// The first difference; by other definitions, what each message means otherwise.
    pub(crate) differences: Vec<Difference>,
    /// Where the recording was cut off, if it was.
    pub(crate) torn: Option<String>,
}

/// Replays a transcript up to the first difference; by other definitions, to its end.
pub(crate) fn replay(transcript: &Transcript, stage: &Stage) -> Result<Replayed, ReplayError> {
    quietly(|| {
        let mut player = Player::new(&transcript.path, stage);
        let mut replayed = Replayed::default();
        let mut noted = None;
        for step in steps(&transcript.lines) {
            let heard = player.play(&step)?;
            let (found, after) = if stage.instead.are_given() {
                (means(&step, heard), in_short(&step))
            } else {
                (differs(&step, heard), name(&step))
            };
            if let Some((line, what)) = found {
                let goes_on = matches!(what, What::Means { .. });
                // Once is enough.
                replayed.differences.push(Difference {
                    line,
                    after,
                    note: note_of(&step).filter(|note| noted.as_ref() != Some(note)),
                    what,
                    hint: player.hint(),
                });
                if !goes_on {
                    break;
                }
                noted = note_of(&step);
            }
            if let Some(Torn { number, text }) = step.torn {
                replayed.torn = Some(format!("line {number} is not whole: `{}`", shown(text)));
            }
        }
        Ok(replayed)
    })
}

/// The last note before a step, as people read it.
fn note_of(step: &Step<'_>) -> Option<String> {
    let note = step.note?.get();
    Some(string(note).unwrap_or_else(|| note.to_owned()))
}

/// The transcript with what a sidecar says now; `None` if that is what it says already.
///
/// Why nothing can be heard any more is an error like any other.
///
/// A line that is gone takes its time along: where it was the latest one, what came after it comes at another
/// time, and what is said then may be something else.
pub(crate) fn blessed(
    transcript: &Transcript,
    text: &str,
    stage: &Stage,
) -> Result<Option<String>, ReplayError> {
    let Some(mut text) = blessed_once(transcript, text, stage)? else {
        return Ok(None);
    };
    for _ in 1..MOST_ROUNDS {
        let Ok(transcript) = Transcript::parse(&transcript.path, text.as_bytes()) else {
            break;
        };
        match blessed_once(&transcript, &text, stage)? {
            Some(again) => text = again,
            None => break,
        }
    }
    Ok(Some(text))
}

fn blessed_once(
    transcript: &Transcript,
    text: &str,
    stage: &Stage,
) -> Result<Option<String>, ReplayError> {
    quietly(|| {
        let mut player = Player::new(&transcript.path, stage);
        let mut changes = Changes::default();
        for step in steps(&transcript.lines) {
            let heard = player.play(&step)?;
            if let Some(why) = heard.broken.clone().or_else(|| player.last_words()) {
                return Err(ReplayError::Broken {
                    path: transcript.path.clone(),
                    line: step.line.number,
                    why,
                });
            }
            changes.note(&step, heard);
        }
        changes.define(transcript, &player.definitions_in_place());
        let blessed = changes.applied_to(text);
        Ok((blessed != text).then_some(blessed))
    })
}

/// What goes wrong in a replay is a difference, not a log.
fn quietly<T>(replay: impl FnOnce() -> T) -> T {
    with_default(NoSubscriber::new(), replay)
}

/// What is not as the transcript has it, and in which line.
fn differs(step: &Step<'_>, heard: Heard) -> Option<(usize, What)> {
    if step.is_unknown() {
        let broken = heard.broken.map(|why| What::Broken { why });
        return broken.map(|what| (step.line.number, what));
    }
    if let Some(heard) = heard.before.into_iter().next() {
        return Some((step.line.number, What::Extra { heard }));
    }
    let mut then = heard.then.into_iter();
    for (line, said) in &step.followed {
        let expected = unescaped(&said.text().unwrap_or_default());
        let what = match then.next() {
            Some(_) if said.is_any() => continue,
            Some(heard) if heard == expected => continue,
            Some(heard) => changed(&expected, &heard),
            None => match heard.broken {
                Some(why) => What::Broken { why },
                None => What::Missing { expected },
            },
        };
        return Some((line.number, what));
    }
    let last = step.followed.last().map_or(step.line, |(line, _)| line);
    let more = then.next().filter(|_| step.torn.is_none());
    let more = more.map(|heard| What::Extra { heard });
    let broken = heard.broken.map(|why| What::Broken { why });
    more.or(broken).map(|what| (last.number, what))
}

/// What means something else than the transcript has it, and in which line.
fn means(step: &Step<'_>, heard: Heard) -> Option<(usize, What)> {
    let line = step.followed.first().map_or(step.line, |(line, _)| line);
    if let Some(why) = heard.broken {
        return Some((line.number, What::Broken { why }));
    }
    if step.is_unknown() {
        return None;
    }
    let mut then = heard.then.into_iter();
    let (mut expected, mut now) = (Vec::new(), heard.before);
    for (_, said) in &step.followed {
        let heard = then.next();
        if said.is_any() {
            continue;
        }
        expected.push(unescaped(&said.text().unwrap_or_default()));
        now.extend(heard);
    }
    if step.torn.is_none() {
        now.extend(then);
    }
    let asked = match step.event {
        Event::Host(said) => method(said),
        Event::Start(_)
        | Event::Definitions(_)
        | Event::World(_)
        | Event::Gate(_)
        | Event::Trigger(_)
        | Event::Time(_)
        | Event::End => None,
    };
    let changes = changes(asked.as_deref(), &expected, &now);
    (!changes.is_empty()).then_some((line.number, What::Means { changes }))
}

/// The method of a line of the host.
fn method(said: &Said) -> Option<String> {
    member(&said.text()?, "method").and_then(string)
}

/// What happened, as agents and people call it.
fn in_short(step: &Step<'_>) -> String {
    let Event::Host(said) = step.event else {
        return name(step);
    };
    let line = said.text().unwrap_or_default();
    let text = |path: &[&str]| at(&line, path).and_then(string).unwrap_or_default();
    let params = |path: &str| text(&["params", path]);
    let words = match method(said).as_deref() {
        Some("hook/tool_call") => [
            "tool_call".to_owned(),
            text(&["params", "event", "toolName"]),
        ],
        Some("tool/execute") => [params("name"), text(&["params", "arguments", "action"])],
        Some("command/run") => [format!("/{}", params("name")), params("arguments")],
        Some(method) => [
            method.strip_prefix("hook/").unwrap_or(method).to_owned(),
            String::new(),
        ],
        None => return name(step),
    };
    let words = words.join(" ");
    format!("{} (line {})", words.trim_end(), step.line.number)
}

/// What happened, for people.
fn name(step: &Step<'_>) -> String {
    let number = step.line.number;
    let what = match step.event {
        Event::Start(_) => "the start".to_owned(),
        Event::Definitions(_) => "other definitions".to_owned(),
        Event::World(_) => "what the world answers".to_owned(),
        Event::Trigger(_) => "what a trigger had".to_owned(),
        Event::Gate(gate) => format!("news of gate {}", gate.gate),
        Event::Time(time) => format!("waiting until {time}"),
        Event::End => "the host closed its side".to_owned(),
        Event::Host(said) => {
            let line = said.text().unwrap_or_default();
            let text = |name| member(&line, name).and_then(string);
            match (text("method"), member(&line, "id")) {
                (Some(method), _) => method,
                (None, Some(id)) => format!("the answer to {id}"),
                (None, None) => "a line that is no message".to_owned(),
            }
        }
    };
    format!("{what} (line {number})")
}

/// What becomes of the lines of a transcript, by their numbers.
#[derive(Debug, Default)]
struct Changes {
    instead: HashMap<usize, Option<String>>,
    before: HashMap<usize, Vec<String>>,
    after: HashMap<usize, Vec<String>>,
}

impl Changes {
    /// From here on, the transcript holds the definitions that took the place of its own.
    fn define(&mut self, transcript: &Transcript, given: &BTreeMap<String, Directory>) {
        for redefined in redefined(transcript, given) {
            let line = redefined.line;
            let json = serde_json::to_string(&redefined.definitions).expect("names are strings");
            let text = timed(line, &format!("\"definitions\":{json}"));
            if redefined.is_before {
                self.before.entry(line.number).or_default().insert(0, text);
            } else {
                self.instead.insert(line.number, Some(text));
            }
        }
    }

    fn note(&mut self, step: &Step<'_>, heard: Heard) {
        if step.is_unknown() {
            return;
        }
        let out = |said: &String| written(step.line, said);
        self.before
            .insert(step.line.number, heard.before.iter().map(out).collect());
        let mut then = heard.then.into_iter();
        for (line, said) in &step.followed {
            let is_same = |heard: &String| {
                said.is_any() || *heard == unescaped(&said.text().unwrap_or_default())
            };
            match then.next() {
                Some(heard) if is_same(&heard) => {}
                heard => {
                    let instead = heard.map(|heard| written(line, &heard));
                    self.instead.insert(line.number, instead);
                }
            }
        }
        if step.torn.is_some() {
            return;
        }
        let last = step.followed.last().map_or(step.line, |(line, _)| line);
        let more = then.map(|heard| written(last, &heard)).collect();
        self.after.insert(last.number, more);
    }

    fn applied_to(mut self, text: &str) -> String {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut blessed = String::with_capacity(text.len());
        let push = |blessed: &mut String, lines: Vec<String>| {
            for line in lines {
                if !blessed.is_empty() && !blessed.ends_with('\n') {
                    blessed.push_str(end);
                }
                blessed.push_str(&line);
                blessed.push_str(end);
            }
        };
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let number = at + 1;
            push(
                &mut blessed,
                self.before.remove(&number).unwrap_or_default(),
            );
            match self.instead.remove(&number) {
                Some(instead) => push(&mut blessed, Vec::from_iter(instead)),
                // To the byte: a line that was cut off is known by having no end.
                None => blessed.push_str(line),
            }
            push(&mut blessed, self.after.remove(&number).unwrap_or_default());
        }
        blessed
    }
}

/// A line of the sidecar as it is written down, at the time of another line.
fn written(line: &Line, said: &str) -> String {
    let is_json = serde_json::from_str::<&RawValue>(said).is_ok();
    let said = if is_json && !said.starts_with('"') {
        said.to_owned()
    } else {
        quoted(said)
    };
    timed(line, &format!("\"out\":{said}"))
}

/// A line with this member, at the time of another line.
fn timed(line: &Line, member: &str) -> String {
    match line.at {
        Some(at) => format!("{{\"at\":{at},{member}}}"),
        None => format!("{{{member}}}"),
    }
}
