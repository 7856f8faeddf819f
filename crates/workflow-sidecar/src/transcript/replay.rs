//! Comparing what a sidecar says with what a transcript says, or writing it into the transcript.
//!
//! Owns what counts as the same. Must not know how either side is spoken to.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use serde_json::value::RawValue;
use tracing::subscriber::{NoSubscriber, with_default};
use workflow_core::diagnostic::shown;

use super::difference::{Difference, What, changed};
use super::format::{Line, Transcript};
use super::json_text::{member, quoted, string, unescaped};
use super::player::{Heard, Player, ReplayError, Stage};
use super::steps::{Event, Step, Torn, steps};

/// What a replay found.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) difference: Option<Difference>,
    /// Where the recording was cut off, if it was.
    pub(crate) torn: Option<String>,
}

/// Replays a transcript up to the first difference.
pub(crate) fn replay(transcript: &Transcript, stage: &Stage) -> Result<Replayed, ReplayError> {
    quietly(|| {
        let mut player = Player::new(&transcript.path, stage);
        let mut replayed = Replayed::default();
        for step in steps(&transcript.lines) {
            let heard = player.play(&step)?;
            if let Some((line, what)) = differs(&step, heard) {
                replayed.difference = Some(Difference {
                    line,
                    after: name(&step),
                    note: step.note.map(note),
                    what,
                    hint: player.last_words(),
                });
                break;
            }
            if let Some(Torn { number, text }) = step.torn {
                replayed.torn = Some(format!("line {number} is not whole: `{}`", shown(text)));
            }
        }
        Ok(replayed)
    })
}

/// A note as people read it.
fn note(note: &RawValue) -> String {
    string(note.get()).unwrap_or_else(|| note.get().to_owned())
}

/// The transcript with what a sidecar says now; `None` if that is what it says already.
///
/// Why nothing can be heard any more is an error like any other.
pub(crate) fn blessed(
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
        let blessed = changes.applied_to(text);
        Ok((blessed != text).then_some(blessed))
    })
}

/// Writes a file at once: whoever reads it sees the old text or the new one.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file()
        .set_permissions(path.metadata()?.permissions())?;
    file.persist(path)?;
    Ok(())
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

/// What happened, for people.
fn name(step: &Step<'_>) -> String {
    let number = step.line.number;
    let what = match step.event {
        Event::Start(_) => "the start".to_owned(),
        Event::Definitions(_) => "other definitions".to_owned(),
        Event::World(_) => "what the world answers".to_owned(),
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
        let mut blessed = String::with_capacity(text.len());
        let mut push = |lines: Vec<String>| {
            for line in lines {
                blessed.push_str(&line);
                blessed.push('\n');
            }
        };
        for (at, line) in text.lines().enumerate() {
            let number = at + 1;
            push(self.before.remove(&number).unwrap_or_default());
            let instead = self.instead.remove(&number);
            push(
                instead
                    .unwrap_or_else(|| Some(line.to_owned()))
                    .into_iter()
                    .collect(),
            );
            push(self.after.remove(&number).unwrap_or_default());
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
    match line.at {
        Some(at) => format!("{{\"at\":{at},\"out\":{said}}}"),
        None => format!("{{\"out\":{said}}}"),
    }
}
