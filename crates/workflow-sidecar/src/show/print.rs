//! Timelines as text.

use workflow_core::diagnostic::shown;

use super::described::{Below, Described, Tone};
use super::timeline::Totals;
use super::{SessionTimeline, Timelines};
use crate::present::{BAD, DIMMED, GOOD, Moment, NOTABLE, Page, TITLE, count, paint};

/// The columns before what belongs to an event.
const INDENT: &str = "               ";

impl Timelines {
    /// Adds the timelines to a page.
    pub(crate) fn print(&self, page: &mut Page) {
        for (at, session) in self.sessions.iter().enumerate() {
            if at > 0 {
                page.line("");
            }
            if !session.id.is_empty() {
                let session = format_args!("session {}", shown(&session.id));
                page.line(paint(TITLE, session));
            }
            session.print(page);
        }
        if self.sessions.is_empty() {
            page.line("nothing happened in any session");
        }
        if let number @ 1.. = self.on_other_branches {
            let entries = if number == 1 { "entry" } else { "entries" };
            let entries = format_args!("{number} {entries} on other branches not shown");
            page.line(paint(DIMMED, entries));
        }
        if self.skipped > 0 {
            let (note, lines) = (paint(NOTABLE, "note:"), count(self.skipped, "line"));
            page.line(format_args!("{note} {lines} could not be read as an entry"));
        }
    }
}

impl SessionTimeline {
    fn print(&self, page: &mut Page) {
        let start = self.events.iter().find_map(|event| event.at);
        match start {
            Some(start) => page.line(paint(DIMMED, Moment(start).with_seconds())),
            None if self.events.is_empty() => page.line("no workflow was run"),
            None => {}
        }
        for event in &self.events {
            let since = format!("{:>11}", event.since(start));
            page.add(&format!("{}  ", paint(DIMMED, since)));
            Described::of(&event.what).print(page);
        }
        match &self.totals {
            Some(totals) => totals.print(page),
            None => page.line(paint(
                DIMMED,
                "tool calls and messages are in the session of the host, and not known here",
            )),
        }
    }
}

impl Described {
    /// Adds the line of an event, and the lines below it.
    fn print(&self, page: &mut Page) {
        let word = painted(self.tone, &self.word);
        let note = match &*self.note {
            "" => String::new(),
            note => format!("  {}", paint(DIMMED, note)),
        };
        page.line(format_args!("{}{word}{}{note}", self.cause, self.rest));
        for below in &self.below {
            match below {
                Below::Text(text) => page.block(INDENT, text),
                Below::Note(tone, "", text) => {
                    page.line(format_args!("{INDENT}{}", painted(*tone, text)));
                }
                Below::Note(tone, word, text) => {
                    page.line(format_args!("{INDENT}{} {text}", painted(*tone, word)));
                }
                Below::Check(check) => {
                    let (mark, source) = (painted(check.tone, check.mark), &check.source);
                    let source = paint(DIMMED, source);
                    page.line(format_args!("{INDENT}{mark} {}  {source}", check.what));
                }
            }
        }
    }
}

/// Formats a text in the style of its tone.
fn painted(tone: Tone, text: &str) -> String {
    let style = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Title => TITLE,
        Tone::Good => GOOD,
        Tone::Bad => BAD,
        Tone::Notable => NOTABLE,
        Tone::Quiet => DIMMED,
    };
    paint(style, text)
}

impl Totals {
    fn print(&self, page: &mut Page) {
        let mut counts = vec![
            count(self.tool_calls, "tool call"),
            count(self.denials, "denial"),
            count(self.reminders, "reminder"),
        ];
        if self.checkpoints > 0 {
            counts.push(count(self.checkpoints, "checkpoint"));
        }
        page.line(counts.join(", "));
        let sent = [
            (self.context_characters, self.contexts, "context message"),
            (
                self.initial_message_characters,
                self.initial_messages,
                "initial message",
            ),
            (self.reminder_characters, self.reminders, "reminder"),
            (self.message_characters, self.messages, "other message"),
        ];
        let characters = sent.iter().map(|(characters, ..)| characters).sum();
        let sent = sent.iter().filter(|(_, messages, _)| *messages > 0);
        let sent = sent.map(|(characters, messages, what)| {
            format!("{characters} in {}", count(*messages, what))
        });
        let sent = sent.collect::<Vec<_>>().join(", ");
        page.line(if sent.is_empty() {
            "nothing added to the model's context".to_owned()
        } else {
            let characters = count(characters, "character");
            format!("{characters} added to the model's context: {sent}")
        });
    }
}
