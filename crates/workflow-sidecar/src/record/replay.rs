//! The comparison of a sidecar's lines with those of a transcript, and the update of a transcript.
//!
//! Decides what counts as the same. Must not know how lines are sent.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;
use serde_json::value::RawValue;
use tracing::subscriber::{NoSubscriber, with_default};
use workflow_core::diagnostic::shown;
use workflow_core::run::entry_type;

use super::definitions::RecordedDirectory;
use super::difference::{Difference, DifferenceKind, changed};
use super::format::{Transcript, TranscriptEntry, TranscriptLine};
use super::meaning::{Requests, changes};
use super::player::{Player, ReceivedLines, ReplayOptions};
use super::redefine::redefined;
use super::steps::{TranscriptStep, steps};

/// The number of times that a transcript is rewritten until it stays the same.
const MAX_ROUNDS: usize = 4;

/// The number of blocked calls in the summary at the end of a run.
const BLOCKED: &str = " · blocked calls: ";

/// The result of a replay.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// The first difference; by other definitions, what each message means otherwise.
    pub(crate) differences: Vec<Difference>,
    /// The line where the recording was cut off, if it was.
    pub(crate) torn: Option<String>,
}

/// Replays a transcript up to the first difference; by other definitions, to its end.
pub(crate) fn replay(transcript: &Transcript, options: &ReplayOptions) -> Result<Replayed> {
    quietly(|| {
        let mut player = Player::new(&transcript.path, None, options);
        let mut replayed = Replayed::default();
        let mut noted = None;
        let mut requests = Requests::default();
        for step in steps(&transcript.lines) {
            let received = player.play(&step)?;
            match &step.line.entry {
                TranscriptEntry::Header(_) => requests = Requests::default(),
                TranscriptEntry::In(sent) => requests.note(&sent.message().unwrap_or_default()),
                _ => {}
            }
            let (found, after) = if options.only_decisions || options.instead.are_given() {
                let only_decisions = options.only_decisions;
                let found = difference_in_meaning(&step, received, &requests, only_decisions);
                (found, in_short(&step))
            } else {
                (first_difference(&step, received), name(&step))
            };
            if let Some((line, what)) = found {
                let goes_on = matches!(what, DifferenceKind::Means { .. });
                // Once is enough.
                replayed.differences.push(Difference {
                    line,
                    after,
                    note: note_of(&step).filter(|note| noted.as_ref() != Some(note)),
                    what,
                });
                if !goes_on {
                    break;
                }
                noted = note_of(&step);
            }
            if let Some((number, text)) = step.torn {
                replayed.torn = Some(format!("line {number} is not whole: `{}`", shown(text)));
            }
        }
        Ok(replayed)
    })
}

/// The last note before a step, as people read it.
fn note_of(step: &TranscriptStep<'_>) -> Option<String> {
    let note = step.note?.get();
    Some(serde_json::from_str(note).unwrap_or_else(|_| note.to_owned()))
}

/// The transcript with the lines of the sidecar as they are now; `None` if they are the same.
///
/// A line that is removed takes its time along: where it was the latest one, what follows comes at another time, and
/// may differ. So a transcript is rewritten until it stays the same.
pub(crate) fn blessed(
    transcript: &Transcript,
    text: &str,
    options: &ReplayOptions,
) -> Result<Option<String>> {
    let Some(mut text) = blessed_once(transcript, text, options)? else {
        return Ok(None);
    };
    for _ in 1..MAX_ROUNDS {
        let Ok(transcript) = Transcript::parse(&transcript.path, text.as_bytes()) else {
            break;
        };
        match blessed_once(&transcript, &text, options)? {
            Some(again) => text = again,
            None => break,
        }
    }
    Ok(Some(text))
}

fn blessed_once(
    transcript: &Transcript,
    text: &str,
    options: &ReplayOptions,
) -> Result<Option<String>> {
    quietly(|| {
        let mut player = Player::new(&transcript.path, None, options);
        let mut rewritten = Rewritten::of(text);
        for step in steps(&transcript.lines) {
            let received = player.play(&step)?;
            rewritten.note(&step, received);
        }
        rewritten.define(transcript, &player.replaced_definitions());
        let blessed = rewritten.text();
        Ok((blessed != text).then_some(blessed))
    })
}

/// Replays without a log: what goes wrong is a difference.
fn quietly<T>(replay: impl FnOnce() -> T) -> T {
    with_default(NoSubscriber::new(), replay)
}

/// The first difference, and its line.
fn first_difference(
    step: &TranscriptStep<'_>,
    received: ReceivedLines,
) -> Option<(usize, DifferenceKind)> {
    if step.is_unknown() {
        return None;
    }
    if let Some(received) = received.before.into_iter().next() {
        return Some((step.line.number, DifferenceKind::Extra { received }));
    }
    let mut then = received.then.into_iter();
    for (line, sent) in &step.followed {
        let expected = sent.text().unwrap_or_default().into_owned();
        let what = match then.next() {
            Some(_) if sent.is_any() => continue,
            Some(received) if is_same(&received, &expected) => continue,
            Some(received) => changed(&expected, &received),
            None => DifferenceKind::Missing { expected },
        };
        return Some((line.number, what));
    }
    let last = step.followed.last().map_or(step.line, |(line, _)| line);
    let more = then.next().filter(|_| step.torn.is_none());
    more.map(|received| (last.number, DifferenceKind::Extra { received }))
}

/// The differences in meaning, and their line.
fn difference_in_meaning(
    step: &TranscriptStep<'_>,
    received: ReceivedLines,
    requests: &Requests,
    only_decisions: bool,
) -> Option<(usize, DifferenceKind)> {
    let line = step.followed.first().map_or(step.line, |(line, _)| line);
    if step.is_unknown() {
        return None;
    }
    let mut then = received.then.into_iter();
    let (mut expected, mut now) = (Vec::new(), received.before);
    for (_, sent) in &step.followed {
        let received = then.next();
        if sent.is_any() {
            continue;
        }
        expected.push(sent.text().unwrap_or_default().into_owned());
        now.extend(received);
    }
    if step.torn.is_none() {
        now.extend(then);
    }
    let changes = changes(requests, &expected, &now, only_decisions);
    (!changes.is_empty()).then_some((line.number, DifferenceKind::Means { changes }))
}

/// The name of an event, as agents and people call it.
fn in_short(step: &TranscriptStep<'_>) -> String {
    let TranscriptEntry::In(sent) = &step.line.entry else {
        return name(step);
    };
    let message = sent.message().unwrap_or_default();
    let text = |path: &str| {
        let found = message.pointer(path).and_then(Value::as_str);
        found.unwrap_or_default()
    };
    let words = match text("/method") {
        "" => return name(step),
        "hook/tool_call" => format!("tool_call {}", text("/params/event/toolName")),
        "tool/execute" => format!(
            "{} {}",
            text("/params/name"),
            text("/params/arguments/action")
        ),
        "command/run" => format!("/{} {}", text("/params/name"), text("/params/arguments")),
        method => method.strip_prefix("hook/").unwrap_or(method).to_owned(),
    };
    format!("{} (line {})", words.trim_end(), step.line.number)
}

/// The name of an event, for people.
fn name(step: &TranscriptStep<'_>) -> String {
    let TranscriptLine { number, at, entry } = step.line;
    let what = match (entry, at) {
        (TranscriptEntry::In(sent), _) => {
            let message = sent.message().unwrap_or_default();
            match (message["method"].as_str(), message.get("id")) {
                (Some(method), _) => method.to_owned(),
                (None, Some(id)) => format!("the answer to {id}"),
                (None, None) => "a line that is no message".to_owned(),
            }
        }
        (TranscriptEntry::Out(_), Some(time)) => format!("waiting until {time}"),
        (TranscriptEntry::Definitions(_), _) => "other definitions".to_owned(),
        (TranscriptEntry::Result(_), _) => "a result of the platform".to_owned(),
        (TranscriptEntry::Event(_), _) => "an event of the platform".to_owned(),
        (TranscriptEntry::End, _) => "the host closed its side".to_owned(),
        _ => "the start".to_owned(),
    };
    format!("{what} (line {number})")
}

/// A transcript's lines as they will be written, by their numbers: the lines in the place of each.
struct Rewritten {
    lines: Vec<Vec<String>>,
    /// The end of a line.
    end: &'static str,
}

impl Rewritten {
    fn of(text: &str) -> Self {
        let lines = text.split_inclusive('\n');
        Self {
            lines: lines.map(|line| vec![line.to_owned()]).collect(),
            end: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    /// The lines in the place of a line.
    fn at(&mut self, line: &TranscriptLine) -> &mut Vec<String> {
        &mut self.lines[line.number - 1]
    }

    /// Adds the definitions that replaced the transcript's.
    fn define(&mut self, transcript: &Transcript, given: &BTreeMap<String, RecordedDirectory>) {
        for redefined in redefined(transcript, given) {
            let line = redefined.line;
            let json = serde_json::to_string(&redefined.definitions).expect("names are strings");
            let text = self.timed(line, &format!("\"definitions\":{json}"));
            let replaced = usize::from(!redefined.is_before);
            self.at(line).splice(0..replaced, [text]);
        }
    }

    fn note(&mut self, step: &TranscriptStep<'_>, received: ReceivedLines) {
        if step.is_unknown() {
            return;
        }
        let mut then = received.then.into_iter();
        for (line, sent) in &step.followed {
            let stays = |received: &String| {
                sent.is_any() || is_same(received, &sent.text().unwrap_or_default())
            };
            match then.next() {
                Some(received) if stays(&received) => {}
                received => {
                    *self.at(line) = self.written(line, received.as_slice());
                }
            }
        }
        let before = self.written(step.line, &received.before);
        self.at(step.line).splice(0..0, before);
        if step.torn.is_none() {
            let last = step.followed.last().map_or(step.line, |(line, _)| line);
            let more = self.written(last, then.as_slice());
            self.at(last).extend(more);
        }
    }

    /// Lines of the sidecar as they are written down, at the time of another line.
    fn written(&self, line: &TranscriptLine, texts: &[String]) -> Vec<String> {
        let written = |text: &String| {
            let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
            if is_json && !text.starts_with('"') {
                self.timed(line, &format!("\"out\":{text}"))
            } else {
                self.timed(line, &format!("\"out\":{}", Value::from(text.as_str())))
            }
        };
        texts.iter().map(written).collect()
    }

    /// A line with this member, at the time of another line.
    fn timed(&self, line: &TranscriptLine, member: &str) -> String {
        let time = line.at.map(|at| format!("\"at\":{at},"));
        format!("{{{}{member}}}{}", time.unwrap_or_default(), self.end)
    }

    /// The text. A line that was cut off is known by its missing end, so only a line that another one follows gets one.
    fn text(self) -> String {
        let mut text = String::new();
        for line in self.lines.into_iter().flatten() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str(self.end);
            }
            text.push_str(&line);
        }
        text
    }
}

/// True if two lines are the same message: the order of members and the spelling of characters do not count.
fn is_same(one: &str, other: &str) -> bool {
    let message = |line: &str| serde_json::from_str(line).ok().map(without_blocked_calls);
    one == other || message(one).is_some_and(|one| message(other) == Some(one))
}

/// A message without the number of blocked calls, which is not known where a recording leaves arguments out. Each answer to
/// a call is compared by itself.
fn without_blocked_calls(mut message: Value) -> Value {
    let holder = if message["result"].is_object() {
        "result"
    } else {
        "params"
    };
    let actions = message.pointer_mut(&format!("/{holder}/actions"));
    let Some(Value::Array(actions)) = actions else {
        return message;
    };
    actions.retain_mut(|action| {
        if action["customType"] == entry_type::TALLY
            && let Some(data) = action["data"].as_object_mut()
        {
            data.remove("blocked");
            // Without the version and the task nothing is left.
            return data.len() > 2;
        }
        if let Some(Value::String(text)) = action.pointer_mut("/message/content")
            && let Some((before, after)) = text.split_once(BLOCKED)
        {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            *text = format!("{before}{rest}");
        }
        true
    });
    if actions.is_empty()
        && let Some(holder) = message[holder].as_object_mut()
    {
        holder.remove("actions");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_blocked_calls_does_not_count_and_other_counts_do() {
        let turn = |actions: &str| format!(r#"{{"id":1,"result":{{{actions}}}}}"#);
        let tally = |counts: &str| {
            turn(&format!(
                r#""actions":[{{"type":"appendEntry","customType":"workflow:tally","data":{{"version":1,"taskId":"t"{counts}}}}}]"#
            ))
        };
        assert!(is_same(&tally(r#","blocked":2"#), &turn("")));
        assert!(is_same(
            &tally(r#","passed":1,"blocked":2"#),
            &tally(r#","passed":1"#)
        ));
        assert!(!is_same(&tally(r#","passed":1"#), &turn("")));
        let end = |summary: &str| {
            turn(&format!(
                r#""actions":[{{"type":"sendMessage","message":{{"content":"Time: 3 s{summary}"}}}},{{"type":"notify","message":"x"}}]"#
            ))
        };
        let skipped = " · skipped by you: 1";
        let with_blocked = format!(" · blocked calls: 12{skipped}");
        assert!(is_same(&end(&with_blocked), &end(skipped)));
        assert!(!is_same(&end(&with_blocked), &end("")));
    }
}
