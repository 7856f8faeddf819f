//! Lines out of a byte stream.
//!
//! Owns where a line ends and how long it may be. Must not know what a line means.

use std::io::{self, Read};

use memchr::memchr;
use workflow_protocol::{Dropped, Shortening};

/// How long a line may be unless `--max-line` says otherwise.
pub const DEFAULT_MAX_LINE: usize = 64 << 20;

/// How long a line may be at all.
pub const HIGHEST_MAX_LINE: usize = 1 << 30;

/// What a line may take before it is a long one, which is shortened if it can be.
const LONG: usize = 64 << 10;

/// How much is asked of the stream at once, while a long line comes.
const CHUNK: usize = 256 << 10;

/// What a line may take before the whole of the limit is set aside for it.
///
/// Set aside, not used: memory counts once it is written to. One big allocation never moves, and
/// the allocator gives it back to the system for sure.
const SMALL: usize = 1 << 20;

/// The mark some programs put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the stream holds next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// A line, without its end and without what was taken out of it.
    Line(&'a [u8], Dropped),
    /// A line over the limit, which was passed over.
    TooLong,
    /// Nothing any more.
    End,
}

/// Cuts a stream into lines: `\n` ends a line, one `\r` before it is dropped.
#[derive(Debug)]
pub(super) struct Frames<R> {
    input: R,
    /// What was read, and room for more.
    buffer: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// Where what was read ends.
    end: usize,
    max_line: usize,
    /// Whether nobody wants to see long lines whole.
    shortens: bool,
    is_first: bool,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(input: R, max_line: usize, shortens: bool) -> Self {
        Self {
            input,
            buffer: vec![0; LONG],
            begin: 0,
            end: 0,
            max_line,
            shortens,
            is_first: true,
        }
    }

    /// The next line. The last one counts even if nothing ends it.
    pub(super) fn next(&mut self) -> io::Result<Frame<'_>> {
        self.give_back();
        let mut shortening = None;
        let mut may_shorten = self.shortens;
        let mut dropped = Dropped::default();
        let mut searched = self.begin;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                return Ok(self.line(searched + at + 1, dropped));
            }
            let length = self.end - self.begin;
            // Room for `\r\n`, so that a line of exactly the limit is read whole.
            if length + dropped.bytes >= self.max_line.saturating_add(2) {
                return self.skip_line();
            }
            if may_shorten && length >= LONG {
                let line = &mut self.buffer[self.begin..self.end];
                shortening = shortening.or_else(|| Shortening::begin(line));
                may_shorten = shortening
                    .as_mut()
                    .is_some_and(|shortening: &mut Shortening| {
                        let (length, is_over) = shortening.go_on(line);
                        self.end = self.begin + length;
                        dropped = shortening.dropped;
                        !is_over
                    });
            }
            // What is read is put behind, or to the front where there is no room: nothing else moves.
            let before = self.end - self.begin;
            if !self.read()? {
                return Ok(match before {
                    0 => Frame::End,
                    _ => self.line(self.end, dropped),
                });
            }
            searched = self.begin + before;
        }
    }

    /// Whether the next line has been read from the stream already, to its end.
    pub(super) fn has_next(&self) -> bool {
        memchr(b'\n', &self.buffer[self.begin..self.end]).is_some()
    }

    /// Gives a long line's memory back before waiting for the next line.
    fn give_back(&mut self) {
        let rest = self.begin..self.end;
        if self.buffer.len() > LONG && rest.len() < LONG {
            let mut buffer = vec![0; LONG];
            buffer[..rest.len()].copy_from_slice(&self.buffer[rest.clone()]);
            self.buffer = buffer;
            (self.begin, self.end) = (0, rest.len());
        }
    }

    /// The line that ends here.
    fn line(&mut self, end: usize, dropped: Dropped) -> Frame<'_> {
        let line = &self.buffer[self.begin..end];
        self.begin = end;
        let is_first = std::mem::replace(&mut self.is_first, false);
        let line = content(line, is_first);
        if line.len() + dropped.bytes > self.max_line {
            Frame::TooLong
        } else {
            Frame::Line(line, dropped)
        }
    }

    /// Passes over the rest of a line that is too long.
    fn skip_line(&mut self) -> io::Result<Frame<'_>> {
        self.is_first = false;
        loop {
            self.begin = self.end;
            if !self.read()? {
                return Ok(Frame::TooLong);
            }
            if let Some(at) = memchr(b'\n', &self.buffer[self.begin..self.end]) {
                self.begin += at + 1;
                return Ok(Frame::TooLong);
            }
        }
    }

    /// Reads what is there, at the latest when something is; nothing is there any more if that was not so.
    fn read(&mut self) -> io::Result<bool> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        if self.end == self.buffer.len() && self.begin > 0 {
            self.buffer.copy_within(self.begin.., 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        if self.end == self.buffer.len() {
            self.grow();
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    self.end += read;
                    return Ok(read > 0);
                }
            }
        }
    }

    fn grow(&mut self) {
        let length = self.buffer.len();
        let most = self.max_line.saturating_add(2);
        if length >= SMALL && self.buffer.capacity() < most {
            // Where so much cannot be set aside, the line grows as it comes.
            let _ = self
                .buffer
                .try_reserve_exact(most.saturating_sub(length) + CHUNK);
        }
        self.buffer.resize(length + CHUNK, 0);
    }
}

/// A line without its end, and the first one without its mark.
fn content(line: &[u8], is_first: bool) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) if is_first => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_LONG: &str = "<too long>";

    fn frames(input: &[u8], max_line: usize) -> Vec<String> {
        let mut frames = Frames::new(input, max_line, true);
        let mut found = Vec::new();
        loop {
            found.push(match frames.next().unwrap() {
                Frame::Line(line, _) => String::from_utf8(line.to_vec()).unwrap(),
                Frame::TooLong => TOO_LONG.to_owned(),
                Frame::End => return found,
            });
        }
    }

    #[test]
    fn a_line_feed_ends_a_line_and_a_carriage_return_before_it_is_dropped() {
        assert_eq!(
            frames(b"a\nb\r\n\nc\rd\n\xe2\x80\xa8e\n", 100),
            ["a", "b", "", "c\rd", "\u{2028}e"]
        );
    }

    #[test]
    fn the_last_line_needs_no_end() {
        assert_eq!(frames(b"a\nb", 100), ["a", "b"]);
        assert!(frames(b"", 100).is_empty());
    }

    #[test]
    fn only_the_first_line_loses_its_mark() {
        assert_eq!(
            frames(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", 100),
            ["a", "\u{feff}b"]
        );
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_read() {
        assert_eq!(
            frames(b"1234\n12345\r\n123456\n1234567890\nab\n", 5),
            ["1234", "12345", TOO_LONG, TOO_LONG, "ab"]
        );
        assert_eq!(frames(b"1234567890", 5), [TOO_LONG]);
    }

    #[test]
    fn the_limit_holds_for_big_lines_too() {
        let long = "x".repeat(3 * SMALL);
        let input = format!("{long}\n{long}y\nab\n");
        let found = frames(input.as_bytes(), long.len());
        assert_eq!(found, [&*long, TOO_LONG, "ab"]);
    }

    #[test]
    fn a_big_line_gives_its_memory_back() {
        let input = format!("{}\na\n", "x".repeat(2 * SMALL));
        let mut frames = Frames::new(input.as_bytes(), DEFAULT_MAX_LINE, true);
        frames.next().unwrap();
        assert!(frames.buffer.capacity() > SMALL);
        frames.next().unwrap();
        assert!(frames.buffer.capacity() < SMALL);
    }

    #[test]
    fn a_line_that_is_there_to_its_end_is_known() {
        let mut frames = Frames::new(&b"a\nb\nc"[..], 100, true);
        frames.next().unwrap();
        assert!(frames.has_next());
        frames.next().unwrap();
        assert!(!frames.has_next());
    }
}
