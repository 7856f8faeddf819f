//! Lines of a byte stream, with a limit on their length.

use std::io::{self, BufRead, BufReader, Read};

/// The limit for a line in bytes, unless `--max-line` gives another.
pub const DEFAULT_MAX_LINE: usize = 64 << 20;

/// The highest limit that `--max-line` may give.
pub const MAX_LINE_LIMIT: usize = 1 << 30;

/// The size of the buffer, and the capacity that is kept for lines, in bytes.
const BUFFER: usize = 64 << 10;

/// The mark that some programs put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The next part of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A line, without its end.
    Line(&'a [u8]),
    /// A line over the limit of this many bytes, which was skipped.
    TooLong(usize),
    /// The end of the stream.
    End,
}

/// Splits a stream into lines: `\n` ends a line, one `\r` before it is dropped.
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max_line: usize,
    is_first: bool,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(input: R, max_line: usize) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER, input),
            line: Vec::new(),
            max_line,
            is_first: true,
        }
    }

    /// Reads the next line. The last one counts even if nothing ends it.
    pub(crate) fn next(&mut self) -> io::Result<Frame<'_>> {
        // The memory of a long line is freed before the wait for the next one.
        self.line.clear();
        self.line.shrink_to(BUFFER);
        // Room for `\r\n`, so that a line of exactly the limit is read to its end.
        let limit = self.max_line.saturating_add(2);
        let mut input = self.input.by_ref().take(limit as u64);
        if input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(Frame::End);
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        if self.line.len() == limit && !self.line.ends_with(b"\n") {
            self.input.skip_until(b'\n')?;
            return Ok(Frame::TooLong(self.max_line));
        }
        let line = content(&self.line, is_first);
        if line.len() > self.max_line {
            return Ok(Frame::TooLong(self.max_line));
        }
        Ok(Frame::Line(line))
    }

    /// Tells whether the next line has already been read from the stream, to its end.
    pub(crate) fn has_next(&self) -> bool {
        self.input.buffer().contains(&b'\n')
    }
}

/// Strips a line's end, and the mark of the first line.
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
        let mut reader = LineReader::new(input, max_line);
        let mut found = Vec::new();
        loop {
            found.push(match reader.next().unwrap() {
                Frame::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                Frame::TooLong(_) => TOO_LONG.to_owned(),
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
        let long = "x".repeat(3 << 20);
        let input = format!("{long}\n{long}y\nab\n");
        let found = frames(input.as_bytes(), long.len());
        assert_eq!(found, [&*long, TOO_LONG, "ab"]);
    }

    #[test]
    fn a_big_line_gives_its_memory_back() {
        let input = format!("{}\na\n", "x".repeat(2 << 20));
        let mut reader = LineReader::new(input.as_bytes(), DEFAULT_MAX_LINE);
        reader.next().unwrap();
        assert!(reader.line.capacity() > BUFFER);
        reader.next().unwrap();
        assert!(reader.line.capacity() <= BUFFER);
    }

    #[test]
    fn a_line_that_has_been_read_to_its_end_is_reported() {
        let mut reader = LineReader::new(&b"a\nb\nc"[..], 100);
        reader.next().unwrap();
        assert!(reader.has_next());
        reader.next().unwrap();
        assert!(!reader.has_next());
    }
}
