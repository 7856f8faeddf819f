//! Long lines, shortened while they come.
//!
//! What makes a line long is a list of which little is needed: of an agent's messages the last one of the assistant, of
//! a session's branch our own entries. Owns how what nobody needs is taken out of such a list, element by element,
//! before the rest of the line is there: the memory that holds it stays small and in the processor's cache. Every byte
//! that is taken out has been read as JSON before. Where something is not the usual JSON, the line is left as it is from
//! there on, and who reads it in the end says what is wrong with it, as with any line; [`Dropped`] says how far that
//! place has moved. Whatever a line holds, it means the same afterwards: that is a test. Only the number of an element
//! in the path of an error is its number among those that are left.

use std::ops::Range;

use serde::de::DeserializeSeed;

use crate::branch;
use crate::lenient::Lenient;
use crate::messages;
use crate::skim::{Declined, Skim};

/// How many bytes of a list are looked at together, unless an element is longer.
const WINDOW: usize = 256 << 10;
/// How many needed elements are noted before they are put where they belong: a note may be larger than its element.
const NOTED: usize = 4096;

/// The lists that are shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    /// `event.messages`
    Messages,
    /// `context.branch`
    Branch,
}

/// What an element of a list is needed for.
enum Worth {
    Nothing,
    /// It is needed beside those that came before.
    Itself,
    /// It is needed instead of those that came before.
    All,
}

/// How much was taken out of a line.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// In bytes.
    pub bytes: usize,
    /// In characters.
    pub chars: usize,
}

impl Dropped {
    fn add(&mut self, text: &[u8]) {
        self.bytes += text.len();
        self.chars += bytecount::num_chars(text);
    }
}

/// A line whose list is shortened while it comes.
#[derive(Debug)]
pub struct Shortening {
    list: List,
    /// Where the list's elements begin.
    begin: usize,
    /// Where those that are kept end, each with its comma, and begins what was not looked at yet.
    kept_to: usize,
    /// How long the line has to be to be looked at again: an element that is not there to its end is read anew.
    look_at: usize,
    /// What was taken out so far.
    pub dropped: Dropped,
}

impl Shortening {
    /// Begins, if this is how a line begins that can be shortened, and its list has begun.
    #[must_use]
    pub fn begin(line: &[u8]) -> Option<Self> {
        let mut skim = Skim::new(text(line));
        let list = skim.list(Level::Message).ok()??;
        Some(Self {
            list,
            begin: skim.at,
            kept_to: skim.at,
            look_at: 0,
            dropped: Dropped::default(),
        })
    }

    /// Takes out what has come meanwhile and is not needed. Gives the line's length afterwards, and whether the list has ended.
    pub fn go_on(&mut self, line: &mut [u8]) -> (usize, bool) {
        if line.len() < self.look_at {
            return (line.len(), false);
        }
        let (mut seen, mut window, mut is_over) = (self.kept_to, WINDOW, false);
        while !is_over {
            let end = line.len().min(seen + window);
            let found = self.look(text(&line[seen..end]));
            if found.to > 0 {
                is_over = found.is_over;
                seen = self.keep(line, seen, found);
                window = WINDOW;
            } else if end < line.len() {
                window *= 2;
            } else {
                break;
            }
        }
        if is_over && self.begin < self.kept_to && line[self.kept_to - 1] == b',' {
            self.kept_to -= 1;
            self.dropped.add(b",");
        }
        line.copy_within(seen.., self.kept_to);
        let rest = line.len() - seen;
        self.look_at = self.kept_to + 2 * rest;
        (self.kept_to + rest, is_over)
    }

    /// Puts what is needed of what was found from here on behind what is kept already. Gives where that ends.
    fn keep(&mut self, line: &mut [u8], from: usize, found: Seen) -> usize {
        let mut seen = from;
        for (worth, range) in found.kept {
            let range = from + range.start..from + range.end;
            self.dropped.add(&line[seen..range.start]);
            seen = range.end;
            if let Worth::All = worth {
                self.dropped.add(&line[self.begin..self.kept_to]);
                self.kept_to = self.begin;
            }
            let length = range.len();
            line.copy_within(range, self.kept_to);
            self.kept_to += length;
        }
        self.dropped.add(&line[seen..from + found.to]);
        from + found.to
    }

    /// Looks at the elements that are there to their ends.
    fn look(&self, text: &str) -> Seen {
        let mut skim = Skim::new(text);
        let (mut kept, mut to, mut is_over) = (Vec::new(), 0, false);
        while !is_over
            && kept.len() < NOTED
            && let Ok(worth) = self.list.worth(&mut skim)
        {
            match skim.peek() {
                // A comma with nothing behind it stays behind its element: there it is seen to be wrong.
                Some(b',') if skim.goes_on() => {}
                Some(b']') => is_over = true,
                _ => break,
            }
            let element = to..skim.at;
            to = skim.at;
            match worth {
                Worth::Nothing => continue,
                Worth::Itself => {}
                Worth::All => kept.clear(),
            }
            kept.push((worth, element));
        }
        Seen { kept, to, is_over }
    }
}

/// What was seen of a list.
struct Seen {
    /// The elements that are needed, each with its comma.
    kept: Vec<(Worth, Range<usize>)>,
    /// How far elements were there to their ends.
    to: usize,
    /// Whether the list ends there.
    is_over: bool,
}

impl List {
    fn worth(self, skim: &mut Skim<'_>) -> Result<Worth, Declined> {
        Ok(match self {
            Self::Messages => match Lenient(messages::OneMessage).deserialize(skim)? {
                Some(_) => Worth::All,
                None => Worth::Nothing,
            },
            Self::Branch => match Lenient(branch::Entry).deserialize(skim)? {
                branch::Found::Foreign => Worth::Nothing,
                branch::Found::Ours(_) | branch::Found::Malformed => Worth::Itself,
            },
        })
    }
}

/// Which object of a line it is.
#[derive(Debug, Clone, Copy)]
enum Level {
    Message,
    Params,
    Context,
    Event,
}

impl Skim<'_> {
    /// Goes over an object up to the first element of its list, if it has one.
    fn list(&mut self, level: Level) -> Result<Option<List>, Declined> {
        self.expect(b'{')?;
        if self.eats(b'}') {
            return Ok(None);
        }
        loop {
            let name = self.text()?;
            self.expect(b':')?;
            let found = match (level, name, self.peek()) {
                (Level::Message, "params", Some(b'{')) => self.list(Level::Params)?,
                (Level::Params, "context", Some(b'{')) => self.list(Level::Context)?,
                (Level::Params, "event", Some(b'{')) => self.list(Level::Event)?,
                (Level::Context, "branch", Some(b'[')) => self.elements(List::Branch)?,
                (Level::Event, "messages", Some(b'[')) => self.elements(List::Messages)?,
                _ => {
                    self.skip()?;
                    None
                }
            };
            if found.is_some() {
                return Ok(found);
            }
            if !self.eats(b',') {
                return self.expect(b'}').map(|()| None);
            }
        }
    }

    /// Goes over a comma, and says whether an element may follow it.
    fn goes_on(&mut self) -> bool {
        self.at += 1;
        let behind = self.at;
        let next = self.peek();
        self.at = behind;
        // Other white space is not skimmed: what it hides is left to who reads the line in the end.
        matches!(
            next,
            Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
        )
    }

    /// Goes to the first element of a list, or over one that has none.
    fn elements(&mut self, list: List) -> Result<Option<List>, Declined> {
        self.expect(b'[')?;
        Ok((!self.eats(b']')).then_some(list))
    }
}

/// What of it is text: all, unless it is cut in the middle of a character or there is something else in it.
fn text(bytes: &[u8]) -> &str {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            simdutf8::compat::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a line that comes in pieces of this size, and what was taken out.
    fn shortened(line: &str, piece: usize) -> (String, Dropped) {
        let (mut short, mut shortening, mut is_over) = (Vec::new(), None, false);
        for piece in line.as_bytes().chunks(piece) {
            short.extend_from_slice(piece);
            shortening = shortening.or_else(|| Shortening::begin(&short));
            if !is_over && let Some(shortening) = &mut shortening {
                let length;
                (length, is_over) = Shortening::go_on(shortening, &mut short);
                short.truncate(length);
            }
        }
        let dropped = shortening.map(|shortening| shortening.dropped);
        (
            String::from_utf8(short).unwrap(),
            dropped.unwrap_or_default(),
        )
    }

    /// In however large pieces it comes, this is left of the line when enough has come behind its list.
    fn leaves(line: &str, expected: &str) {
        for piece in 1..line.len() {
            let (short, dropped) = shortened(&format!("{line}{:256}", ""), piece);
            let short = short.trim_end();
            assert_eq!(short, expected, "in pieces of {piece}");
            let chars = |text: &str| text.chars().count();
            assert_eq!(dropped.bytes, line.len() - short.len());
            assert_eq!(dropped.chars, chars(line) - chars(short));
        }
    }

    #[test]
    fn of_messages_the_last_one_of_the_assistant_is_left() {
        leaves(
            r#"{"params":{"event":{"messages":[{"role":"user","content":"ü"},{"role":"assistant","content":"ü"}, {"role":"assistant","content":"b"},1,{"role":"user"}],"x":1}}}"#,
            r#"{"params":{"event":{"messages":[ {"role":"assistant","content":"b"}],"x":1}}}"#,
        );
    }

    #[test]
    fn of_a_branch_our_entries_are_left_and_what_is_none() {
        leaves(
            r#"{"params":{"context":{"hasUI":true,"branch":[{"type":"a"},{"type":"custom","customType":"workflow:run"},{"type":"ü"},{},{"type":"b"}]}}}"#,
            r#"{"params":{"context":{"hasUI":true,"branch":[{"type":"custom","customType":"workflow:run"},{}]}}}"#,
        );
    }

    #[test]
    fn nothing_is_taken_from_elsewhere_or_behind_what_is_wrong() {
        for line in [
            r#"{"params":{"messages":[1,2],"input":{"messages":[1,2]},"event":{"branch":[1,2]}}}"#,
            r#"{"event":{"messages":[1,2]},"params":[]}"#,
            r#"{"params":{"event":{"messages":[],"x":1}}}"#,
            r#"{"params":{"event":{"messages":[01,2]}}}"#,
            r#"{"params":{"event":{"messages":[1,]}}}"#,
            "{\"params\":{\"event\":{\"messages\":[1,\t]}}}",
            "{\"params\":{\"event\":{\"messages\":[1,\r]}}}",
            r#"{"params":{"event":{"messages":[1 2]}}}"#,
            r#"{"par\u0061ms":{"event":{"messages":[1,2]}}}"#,
        ] {
            leaves(line, line);
        }
        leaves(
            r#"{"params":{"event":{"messages":[1,2,01,2]}}}"#,
            r#"{"params":{"event":{"messages":[01,2]}}}"#,
        );
    }
}
