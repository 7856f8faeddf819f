//! Lines out of a byte stream.
//!
//! Owns where a line ends and how long it may be. Must not know what a line means.

use std::io::{self, BufRead, BufReader, Read};

/// How long a line may be unless `--max-line` says otherwise.
pub const DEFAULT_MAX_LINE: usize = 64 << 20;

/// How long a line may be at all.
pub const HIGHEST_MAX_LINE: usize = 1 << 30;

/// How much is asked of the stream at once.
const CHUNK: usize = 64 << 10;

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
    /// A line, without its end.
    Line(&'a [u8]),
    /// A line over the limit, which was passed over.
    TooLong,
    /// Nothing any more.
    End,
}

/// Cuts a stream into lines: `\n` ends a line, one `\r` before it is dropped.
#[derive(Debug)]
pub(super) struct Frames<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max_line: usize,
    is_first: bool,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(input: R, max_line: usize) -> Self {
        Self {
            input: BufReader::with_capacity(CHUNK, input),
            line: Vec::new(),
            max_line,
            is_first: true,
        }
    }

    /// The next line. The last one counts even if nothing ends it.
    pub(super) fn next(&mut self) -> io::Result<Frame<'_>> {
        // A big line's memory is given back before waiting for the next line.
        if self.line.capacity() > SMALL {
            self.line = Vec::new();
        }
        self.line.clear();
        // Room for `\r\n`, so that a line of exactly the limit is read whole.
        let most = self.max_line.saturating_add(2);
        self.read_up_to(most.min(SMALL))?;
        if self.line.len() == SMALL && !self.is_ended() {
            // Where so much cannot be set aside, the line grows as it comes.
            let _ = self.line.try_reserve_exact(most - SMALL);
            self.read_up_to(most - SMALL)?;
        }
        if self.line.is_empty() {
            return Ok(Frame::End);
        }
        if self.line.len() == most && !self.is_ended() {
            self.input.skip_until(b'\n')?;
            self.is_first = false;
            return Ok(Frame::TooLong);
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        let line = content(&self.line, is_first);
        Ok(if line.len() > self.max_line {
            Frame::TooLong
        } else {
            Frame::Line(line)
        })
    }

    /// Whether the next line has been read from the stream already, to its end.
    pub(super) fn has_next(&self) -> bool {
        self.input.buffer().contains(&b'\n')
    }

    fn read_up_to(&mut self, most: usize) -> io::Result<usize> {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        self.input
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut self.line)
    }

    fn is_ended(&self) -> bool {
        self.line.ends_with(b"\n")
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
        let mut frames = Frames::new(input, max_line);
        let mut found = Vec::new();
        loop {
            found.push(match frames.next().unwrap() {
                Frame::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
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
        let mut frames = Frames::new(input.as_bytes(), DEFAULT_MAX_LINE);
        frames.next().unwrap();
        assert!(frames.line.capacity() > SMALL);
        frames.next().unwrap();
        assert!(frames.line.capacity() < SMALL);
    }

    #[test]
    fn a_line_that_is_there_to_its_end_is_known() {
        let mut frames = Frames::new(&b"a\nb\nc"[..], 100);
        frames.next().unwrap();
        assert!(frames.has_next());
        frames.next().unwrap();
        assert!(!frames.has_next());
    }
}
