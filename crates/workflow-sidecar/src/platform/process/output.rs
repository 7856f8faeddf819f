//! The output of a command: the part that is recorded, and its form for people.
//!
//! Owns the bounds: the recorded part stays small however much a command writes, and no control character of it
//! reaches a terminal or a model.

use std::io::Read;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use workflow_core::diagnostic::is_hidden;

use crate::threads::spawn;

/// Bytes of the end that are recorded, before colours are removed: they can be the larger part.
const RECORDED: usize = 32 * 1024;
/// Bytes of the end that are shown.
const SHOWN_BYTES: usize = 4 * 1024;
const SHOWN_LINES: usize = 60;
/// Time between two looks at whether the pipes have ended.
const PAUSE: Duration = Duration::from_millis(1);
/// Characters of a line that names something.
const ONE_LINE: usize = 200;

/// The output of one command so far, for as long as it is needed. A thread that reads a pipe refers to it weakly, until the
/// pipe has ended.
pub(super) struct Output(Arc<Mutex<Captured>>);

#[derive(Debug, Default)]
struct Captured {
    /// The end of all output, in the order of arrival.
    end: Vec<u8>,
    /// The length of all output.
    total: u64,
    /// Standard output from its beginning, up to the limit of [`Output::new`].
    stdout: Vec<u8>,
    stdout_bound: usize,
    /// Set when standard output exceeds the bound.
    is_too_much: bool,
}

impl Output {
    /// Records at most `stdout_bound` bytes of standard output.
    pub(super) fn new(stdout_bound: usize) -> Self {
        let captured = Captured {
            stdout_bound,
            ..Captured::default()
        };
        Self(Arc::new(Mutex::new(captured)))
    }

    /// Reads a pipe on a new thread, to its end or until the output is closed. Of one that is not recorded only the end is
    /// kept.
    pub(super) fn read(
        &self,
        is_recorded: bool,
        mut pipe: impl Read + Send + 'static,
    ) -> std::io::Result<()> {
        let output = Arc::downgrade(&self.0);
        let read = move || {
            let mut buffer = vec![0; 16 * 1024];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => match output.upgrade() {
                        Some(output) => output.lock().add(is_recorded, &buffer[..count]),
                        None => break,
                    },
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        };
        spawn("gate output", read).map(drop)
    }

    /// Returns `true` if standard output exceeds its bound.
    pub(super) fn is_too_much(&self) -> bool {
        self.0.lock().is_too_much
    }

    /// Waits until the pipes have ended, or the time has passed.
    pub(super) fn wait_for_end(&self, at_most: Duration) {
        let end = Instant::now() + at_most;
        while Arc::weak_count(&self.0) > 0 && Instant::now() < end {
            thread::sleep(PAUSE);
        }
    }

    /// Closes the output; returns the recorded part of standard output, and the end of all output.
    pub(super) fn close(self) -> (Vec<u8>, String) {
        let mut captured = self.0.lock();
        let cut = captured.total > captured.end.len() as u64;
        let tail = tail(&captured.end, cut.then_some(captured.total));
        (std::mem::take(&mut captured.stdout), tail)
    }
}

impl Captured {
    /// Adds a piece of output.
    fn add(&mut self, is_recorded: bool, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.end.len() + bytes.len() > 2 * RECORDED {
            let surplus = self.end.len().saturating_sub(RECORDED);
            self.end.drain(..surplus);
        }
        self.end.extend_from_slice(bytes);
        if is_recorded && self.stdout_bound > 0 {
            let room = self.stdout_bound - self.stdout.len();
            self.is_too_much |= bytes.len() > room;
            self.stdout
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

/// Returns the end of an output in printable form. `total` is its whole length if the beginning is lost.
fn tail(end: &[u8], total: Option<u64>) -> String {
    let text = String::from_utf8_lossy(end);
    let mut lines: Vec<String> = text.lines().map(readable).collect();
    let mut is_cut = total.is_some();
    if is_cut && lines.len() > 1 {
        // Probably half a line, perhaps half an escape sequence.
        lines.remove(0);
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let mut bytes = 0;
    let fitting = lines.iter().rev().take(SHOWN_LINES).take_while(|line| {
        bytes += line.len() + 1;
        bytes <= SHOWN_BYTES
    });
    let fitting = fitting.count();
    is_cut |= fitting < lines.len();
    let shown = match lines.last() {
        Some(line) if fitting == 0 => last_bytes(line, SHOWN_BYTES).to_owned(),
        _ => lines[lines.len() - fitting..].join("\n"),
    };
    if is_cut {
        let total = total.unwrap_or(end.len() as u64);
        format!("[the end of {total} bytes]\n{shown}")
    } else {
        shown
    }
}

/// Returns the end of an output that is known as a whole, in printable form.
pub(crate) fn shown_end(output: &[u8]) -> String {
    let start = output.len().saturating_sub(RECORDED);
    tail(&output[start..], (start > 0).then_some(output.len() as u64))
}

fn last_bytes(text: &str, count: usize) -> &str {
    let start = text.len().saturating_sub(count);
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[start.unwrap_or(text.len())..]
}

/// Returns a line without colours and control characters; of a line that was overwritten, the last state.
///
/// Works line by line, so that an escape sequence without an end removes one line and not all that follow.
fn readable(line: &str) -> String {
    let plain = anstream::adapter::strip_str(line).to_string();
    let left = plain.rsplit('\r').find(|part| !part.trim().is_empty());
    let characters = left.unwrap_or_default().chars();
    let seen = characters.filter(|&c| c == '\t' || !is_hidden(c));
    seen.collect::<String>().trim_end().to_owned()
}

/// Returns a text on one short line in printable form.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<String> = text.lines().map(readable).collect();
    let line = words.join(" ").replace('\t', " ");
    if line.chars().count() <= ONE_LINE {
        return line;
    }
    let mut short: String = line.chars().take(ONE_LINE - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]]) -> Output {
        let output = Output::new(0);
        for chunk in chunks {
            output.0.lock().add(false, chunk);
        }
        output
    }

    #[test]
    fn short_output_is_shown_whole() {
        let (_, tail) = captured(&[b"one\n", b"two\n\n"]).close();
        assert_eq!(tail, "one\ntwo");
    }

    #[test]
    fn colours_and_control_characters_are_gone_and_tabs_stay() {
        let (_, tail) = captured(&[b"\x1b[1;31mred\x1b[0m\tx\x07\x08\n\xff\xc3\xa9\x9b\n"]).close();
        assert_eq!(tail, "red\tx\n\u{fffd}é\u{fffd}");
    }

    #[test]
    fn an_escape_sequence_without_an_end_removes_only_its_line() {
        let (_, tail) = captured(&[b"a\x1b]0;title\nthe error\n"]).close();
        assert_eq!(tail, "a\nthe error");
    }

    #[test]
    fn of_a_progress_bar_the_last_state_is_shown() {
        let (_, tail) = captured(&[b"10%\r50%\r100%\r\ndone\r\n"]).close();
        assert_eq!(tail, "100%\ndone");
    }

    #[test]
    fn the_last_sixty_lines_of_long_output_are_shown() {
        let all: Vec<String> = (0..1000).map(|n| format!("line {n}\n")).collect();
        let (_, tail) = captured(&[all.concat().as_bytes()]).close();
        let lines: Vec<&str> = tail.lines().collect();
        assert_eq!(lines.len(), 61);
        assert_eq!(
            (lines[0], lines[1], lines[60]),
            ("[the end of 8890 bytes]", "line 940", "line 999")
        );
    }

    /// Returns `true` if the shown output is shortened.
    fn is_cut(text: &str) -> bool {
        captured(&[text.as_bytes()])
            .close()
            .1
            .starts_with("[the end of")
    }

    #[test]
    fn the_shown_output_has_at_most_sixty_lines_and_four_kibibytes() {
        let cut = [59, 60, 61].map(|lines| is_cut(&"x\n".repeat(lines)));
        assert_eq!(cut, [false, false, true]);
        // The end of the line is counted.
        let lengths = [SHOWN_BYTES - 1, SHOWN_BYTES, SHOWN_BYTES + 1];
        let cut = lengths.map(|bytes| is_cut(&format!("{}\n", "x".repeat(bytes - 1))));
        assert_eq!(cut, [false, false, true]);
    }

    #[test]
    fn recorded_output_is_trimmed_at_twice_the_bound() {
        let lengths = [2 * RECORDED - 1, 2 * RECORDED, 2 * RECORDED + 1].map(|bytes| {
            let output = captured(&[]);
            for _ in 0..bytes {
                output.0.lock().add(false, b"y");
            }
            output.0.lock().end.len()
        });
        assert_eq!(lengths, [2 * RECORDED - 1, 2 * RECORDED, RECORDED + 1]);
    }

    #[test]
    fn memory_is_bounded_for_any_amount_of_output() {
        let output = captured(&[]);
        for _ in 0..10_000 {
            output.0.lock().add(false, &[b'y'; 4096]);
        }
        assert!(output.0.lock().end.capacity() <= 4 * RECORDED);
        let (_, tail) = output.close();
        assert!(tail.starts_with("[the end of 40960000 bytes]\nyyy"));
        assert!(tail.len() < SHOWN_BYTES + 50);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let (_, tail) = captured(&["é".repeat(5000).as_bytes(), b"x"]).close();
        assert!(tail.ends_with("éx") && tail.len() <= SHOWN_BYTES + 50);
    }

    #[test]
    fn standard_output_is_recorded_separately_up_to_its_bound() {
        let output = Output::new(4);
        output.0.lock().add(true, b"ab");
        output.0.lock().add(false, b"--");
        output.0.lock().add(true, b"cd");
        assert!(!output.is_too_much());
        output.0.lock().add(true, b"e");
        assert!(output.is_too_much());
        assert_eq!(output.close(), (b"abcd".to_vec(), "ab--cde".to_owned()));
    }
}
