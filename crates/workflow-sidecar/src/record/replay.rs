//! The comparison of a sidecar's lines with those of a transcript, and the update of a transcript, also to other
//! definitions.
//!
//! Decides what counts as the same. Must not know how lines are sent.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;
use tracing::subscriber::{NoSubscriber, with_default};
use workflow_core::diagnostic::shown;
use workflow_core::run::entry_type;

use super::definitions::{DefinitionsLine, RecordedDirectory};
use super::difference::{Change, Difference, changed};
use super::format::{
    ProtocolLine, Transcript, TranscriptEntry, TranscriptLine, line_value, written_line,
};
use super::loaders::Tiers;
use super::meaning::{HostMethods, changes};
use super::player::Player;
use super::steps::{LinePair, TranscriptStep, steps};

/// The number of times that a transcript is rewritten until it stays the same.
const MAX_ROUNDS: usize = 4;

/// The number of blocked calls in the summary at the end of a run.
const BLOCKED: &str = " · blocked calls: ";

/// Replays a transcript, up to the first difference; by other definitions to its end, with what each message means otherwise. Gives
/// the differences, and the line where the recording was cut off, if it was.
pub(crate) fn replay(
    transcript: &Transcript,
    instead: &Tiers,
) -> Result<(Vec<Difference>, Option<String>)> {
    quietly(|| {
        let mut player = Player::new(&transcript.path, None, instead);
        let (mut differences, mut torn) = (Vec::new(), None);
        let mut noted = None;
        let mut requests = HostMethods::default();
        let by_meaning = instead.are_given();
        for step in steps(&transcript.lines) {
            let pairs = player.play(&step)?;
            match &step.line.entry {
                TranscriptEntry::Header(_) => requests = HostMethods::default(),
                TranscriptEntry::In(sent) => requests.note(&sent.message().unwrap_or_default()),
                _ => {}
            }
            let (line, changes) = if by_meaning {
                let line = step.followed.first().map_or(step.line, |(line, _)| line);
                (line, changed_meaning(pairs, &requests))
            } else {
                first_difference(&step, pairs)
            };
            if !changes.is_empty() {
                let note = note_of(&step);
                differences.push(Difference {
                    line: line.number,
                    after: name(&step),
                    // Once is enough.
                    note: note.clone().filter(|_| noted != note),
                    changes,
                });
                if !by_meaning {
                    break;
                }
                noted = note;
            }
            if let Some((number, text)) = step.torn {
                torn = Some(format!("line {number} is not whole: `{}`", shown(text)));
            }
        }
        Ok((differences, torn))
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
pub(crate) fn blessed(path: &Path, text: &str, instead: &Tiers) -> Result<Option<String>> {
    let mut blessed = text.to_owned();
    for _ in 0..MAX_ROUNDS {
        let again = quietly(|| blessed_once(path, &blessed, instead))?;
        if again == blessed {
            break;
        }
        blessed = again;
    }
    Ok((blessed != text).then_some(blessed))
}

fn blessed_once(path: &Path, text: &str, instead: &Tiers) -> Result<String> {
    let transcript = Transcript::parse(path, text.as_bytes())?;
    let mut player = Player::new(path, None, instead);
    let mut rewritten = Rewritten::of(text);
    for step in steps(&transcript.lines) {
        rewritten.note(player.play(&step)?);
    }
    rewritten.define(&transcript, &player.loader.replaced());
    Ok(rewritten.text())
}

/// Replays without a log: what goes wrong is a difference.
fn quietly<T>(replay: impl FnOnce() -> T) -> T {
    with_default(NoSubscriber::new(), replay)
}

/// The first difference, if there is one, and its line.
fn first_difference<'a>(
    step: &TranscriptStep<'a>,
    pairs: Vec<LinePair<'a>>,
) -> (&'a TranscriptLine, Vec<Change>) {
    match pairs.into_iter().find(|pair| !is_same(pair)) {
        Some(pair) => {
            let expected = pair.expected.map(ProtocolLine::text);
            let change = changed(expected.as_deref(), pair.received.as_deref());
            (pair.line, vec![change])
        }
        None => (step.line, Vec::new()),
    }
}

/// The differences in meaning between the lines that are compared.
fn changed_meaning(pairs: Vec<LinePair<'_>>, requests: &HostMethods) -> Vec<Change> {
    let (mut expected, mut received) = (Vec::new(), Vec::new());
    for pair in pairs {
        if pair.expected.is_none_or(|sent| !sent.is_any()) {
            expected.extend(pair.expected.map(|sent| sent.text().into_owned()));
            received.extend(pair.received);
        }
    }
    changes(requests, &expected, &received)
}

/// The name of an event, as agents and people call it.
fn name(step: &TranscriptStep<'_>) -> String {
    let TranscriptLine { number, at, entry } = step.line;
    let what = match (entry, at) {
        (TranscriptEntry::In(sent), _) => {
            let message = sent.message().unwrap_or_default();
            match (message["method"].as_str(), message.get("id")) {
                (Some(method), _) => name_of_call(method, &message["params"]),
                (None, Some(id)) => format!("the answer to {id}"),
                (None, None) => "a line that is no message".to_owned(),
            }
        }
        (TranscriptEntry::Bytes(_) | TranscriptEntry::TooLong(_), _) => {
            "a line that is no message".to_owned()
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

fn name_of_call(method: &str, params: &Value) -> String {
    let (word, more) = match method {
        "hook/tool_call" => ("tool_call", &params["event"]["toolName"]),
        "tool/execute" => (text(&params["name"]), &params["arguments"]["action"]),
        "command/run" => (text(&params["name"]), &params["arguments"]),
        method => (method.strip_prefix("hook/").unwrap_or(method), &Value::Null),
    };
    let slash = if method == "command/run" { "/" } else { "" };
    format!("{slash}{word} {}", text(more))
        .trim_end()
        .to_owned()
}

/// A JSON text; empty if it is none.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
        for (line, definitions) in redefined(transcript, given) {
            let json = serde_json::to_string(&definitions).expect("names are strings");
            let text = self.written(line, "definitions", &json);
            self.at(line)
                .splice(0..usize::from(line.is_definitions()), [text]);
        }
    }

    /// Writes the lines that came, at the time of those in the transcript.
    fn note(&mut self, pairs: Vec<LinePair<'_>>) {
        let mut before = 0;
        for pair in pairs.into_iter().filter(|pair| !is_same(pair)) {
            let written = pair.received.map(|text| {
                let value = line_value(&text);
                self.written(pair.line, "out", &value)
            });
            let lines = self.at(pair.line);
            if pair.is_before {
                lines.splice(before..before, written);
                before += 1;
            } else if pair.expected.is_some() {
                *lines = written.into_iter().collect();
            } else {
                lines.extend(written);
            }
        }
    }

    /// A line with this member, at the time of another line.
    fn written(&self, line: &TranscriptLine, member: &str, json: &str) -> String {
        written_line(line.at, member, json) + self.end
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

/// True if the line that came is the expected one.
fn is_same(pair: &LinePair<'_>) -> bool {
    let both = pair.expected.zip(pair.received.as_deref());
    both.is_some_and(|(sent, received)| sent.is_any() || is_same_message(received, &sent.text()))
}

/// True if two lines are the same message: the order of members and the spelling of characters do not count.
fn is_same_message(one: &str, other: &str) -> bool {
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

/// The definitions of a transcript with other definitions, by the names of their directories, each with the definitions line that it
/// replaces. The first of a recording has all of them, and precedes the host's first line if there was none.
fn redefined<'a>(
    transcript: &'a Transcript,
    given: &BTreeMap<String, RecordedDirectory>,
) -> Vec<(&'a TranscriptLine, DefinitionsLine)> {
    let mut found = Vec::new();
    let lines = &transcript.lines;
    for lines in lines.chunk_by(|_, next| !matches!(next.entry, TranscriptEntry::Header(_))) {
        let is_defined = lines.iter().any(TranscriptLine::is_definitions);
        let mut is_first = true;
        for line in lines {
            let before = match &line.entry {
                // Definitions that cannot be read have ended the replay before.
                TranscriptEntry::Definitions(definitions) => {
                    definitions.directories(&transcript.path)
                }
                TranscriptEntry::In(_) if is_first && !is_defined => Ok(BTreeMap::new()),
                _ => continue,
            };
            let before = before.unwrap_or_default();
            let mut after = before.clone();
            let known = given.iter();
            let known = known.filter(|(name, _)| is_first || before.contains_key(*name));
            after.extend(known.map(|(name, directory)| (name.clone(), directory.clone())));
            is_first = false;
            if after != before {
                found.push((line, DefinitionsLine::Embedded(after)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_number_of_blocked_calls_does_not_count_and_other_counts_do() {
        let turn = |actions: &str| format!(r#"{{"id":1,"result":{{{actions}}}}}"#);
        let tally = |counts: &str| {
            turn(&format!(
                r#""actions":[{{"type":"appendEntry","customType":"workflow:tally","data":{{"version":1,"taskId":"t"{counts}}}}}]"#
            ))
        };
        assert!(is_same_message(&tally(r#","blocked":2"#), &turn("")));
        assert!(is_same_message(
            &tally(r#","passed":1,"blocked":2"#),
            &tally(r#","passed":1"#)
        ));
        assert!(!is_same_message(&tally(r#","passed":1"#), &turn("")));
        let end = |summary: &str| {
            turn(&format!(
                r#""actions":[{{"type":"sendMessage","message":{{"content":"Time: 3 s{summary}"}}}},{{"type":"notify","message":"x"}}]"#
            ))
        };
        let skipped = " · skipped by you: 1";
        let with_blocked = format!(" · blocked calls: 12{skipped}");
        assert!(is_same_message(&end(&with_blocked), &end(skipped)));
        assert!(!is_same_message(&end(&with_blocked), &end("")));
    }

    const HEADER: &str = r#"{"transcript":3,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

    fn lines(text: &[&str]) -> Vec<(usize, bool, String)> {
        let transcript = Transcript::parse(Path::new("t"), text.join("\n").as_bytes()).unwrap();
        let given = serde_json::from_str(r#"{"/p/.pi":{"workflows/w/a.md":"new"}}"#).unwrap();
        let found = redefined(&transcript, &given).into_iter();
        let json = |definitions: &DefinitionsLine| serde_json::to_string(definitions).unwrap();
        found
            .map(|(line, new)| (line.number, !line.is_definitions(), json(&new)))
            .collect()
    }

    #[test]
    fn each_recording_gets_the_given_definitions() {
        let old =
            r#"{"definitions":{"/a":{"workflows/b/":null},"/p/.pi":{"workflows/w/a.md":"old"}}}"#;
        let agents = r#"{"definitions":{"/a":{"workflows/c/":null}}}"#;
        let new = r#"{"/p/.pi":{"workflows/w/a.md":"new"}}"#;
        let both = r#"{"/a":{"workflows/b/":null},"/p/.pi":{"workflows/w/a.md":"new"}}"#;
        assert_eq!(
            lines(&[
                HEADER,
                old,
                r#"{"in":1}"#,
                agents,
                old,
                HEADER,
                r#"{"in":1}"#
            ]),
            [
                (2, false, both.to_owned()),
                (5, false, both.to_owned()),
                (7, true, new.to_owned())
            ]
        );
    }

    #[test]
    fn a_line_with_the_same_definitions_stays() {
        let same = r#"{"definitions":{"/p/.pi":{"workflows/w/a.md":"new"}}}"#;
        assert!(lines(&[same, r#"{"in":1}"#]).is_empty());
    }
}
