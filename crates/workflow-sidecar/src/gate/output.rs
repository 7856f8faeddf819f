//! What a command says: how much of it is kept, and how it is shown.
//!
//! Owns the bounds. However much a command says, and however long, what is kept stays small; and
//! nothing of it reaches a terminal or a model that moves a cursor or turns text around.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How much of the end is kept, before it is made fit to be shown: colours take a lot of it away.
const KEPT: usize = 32 * 1024;
/// How much of the end is shown.
const SHOWN_BYTES: usize = 4 * 1024;
const SHOWN_LINES: usize = 60;
/// How much a line has that names something.
const ONE_LINE: usize = 200;

/// What the pipes of one command have brought so far.
#[derive(Debug, Clone)]
pub(super) struct Output(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    heard: Mutex<Heard>,
    pipe_ended: Condvar,
}

#[derive(Debug, Default)]
struct Heard {
    /// The end of everything, in the order it came.
    end: Vec<u8>,
    /// How much there was.
    total: u64,
    /// Standard output from its beginning, as far as [`Output::new`] allows.
    stdout: Vec<u8>,
    stdout_bound: usize,
    /// Whether standard output was longer than that.
    is_too_much: bool,
    /// How many pipes may still bring something.
    open: usize,
    /// Whether nobody listens any more.
    is_closed: bool,
}

/// Which pipe it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard output, which an expectation is held against.
    Stdout,
    /// Anything else: only its end is kept.
    Other,
}

impl Output {
    /// Nothing heard; of standard output as much is kept as is said here.
    pub(super) fn new(stdout_bound: usize) -> Self {
        let heard = Heard {
            stdout_bound,
            ..Heard::default()
        };
        Self(Arc::new(Shared {
            heard: Mutex::new(heard),
            pipe_ended: Condvar::new(),
        }))
    }

    /// Reads a pipe to its end on a thread of its own, or until nobody listens any more.
    pub(super) fn listen(
        &self,
        source: Source,
        mut pipe: impl Read + Send + 'static,
    ) -> std::io::Result<()> {
        self.heard().open += 1;
        let output = self.clone();
        let reader = thread::Builder::new().name("gate output".to_owned());
        let spawned = reader.spawn(move || {
            let mut buffer = vec![0; 16 * 1024];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        if !output.heard().take(source, &buffer[..count]) {
                            break;
                        }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            output.heard().open -= 1;
            output.0.pipe_ended.notify_all();
        });
        if spawned.is_err() {
            self.heard().open -= 1;
        }
        spawned.map(drop)
    }

    /// Whether standard output is longer than its bound.
    pub(super) fn is_too_much(&self) -> bool {
        self.heard().is_too_much
    }

    /// Waits until the pipes have ended, at most so long.
    pub(super) fn wait_for_end(&self, at_most: Duration) {
        let end = Instant::now() + at_most;
        let mut heard = self.heard();
        while heard.open > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.pipe_ended.wait_timeout(heard, left);
            heard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Stops listening, and gives standard output as far as it was kept, and the end of everything.
    pub(super) fn close(self) -> (Vec<u8>, String) {
        let mut heard = self.heard();
        heard.is_closed = true;
        let cut = heard.total > heard.end.len() as u64;
        let tail = tail(&heard.end, cut.then_some(heard.total));
        (std::mem::take(&mut heard.stdout), tail)
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    /// Keeps what is worth it; says whether more is wanted.
    fn take(&mut self, source: Source, bytes: &[u8]) -> bool {
        if self.is_closed {
            return false;
        }
        self.total += bytes.len() as u64;
        if self.end.len() + bytes.len() > 2 * KEPT {
            let surplus = self.end.len().saturating_sub(KEPT);
            self.end.drain(..surplus);
        }
        self.end.extend_from_slice(bytes);
        if source == Source::Stdout {
            let room = self.stdout_bound - self.stdout.len();
            self.is_too_much |= bytes.len() > room;
            self.stdout
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        true
    }
}

/// The end of an output, fit to be shown. `total` says how long it was if its beginning is gone.
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

fn last_bytes(text: &str, count: usize) -> &str {
    let start = text.len().saturating_sub(count);
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[start.unwrap_or(text.len())..]
}

/// A line without colours and control characters; of a line that was written over, what was left.
///
/// Line by line, so that a sequence that is never closed swallows one line and not all the rest.
fn readable(line: &str) -> String {
    let plain = anstream::adapter::strip_str(line).to_string();
    let left = plain.rsplit('\r').find(|part| !part.trim().is_empty());
    let seen = left.unwrap_or_default().chars().filter(|&c| is_harmless(c));
    seen.collect::<String>().trim_end().to_owned()
}

fn is_harmless(c: char) -> bool {
    let turns_around =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks_line = matches!(c, '\u{2028}' | '\u{2029}');
    c == '\t' || !(c.is_control() || turns_around || breaks_line)
}

/// A text on one short line, fit to be shown.
pub(super) fn one_line(text: &str) -> String {
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

    fn heard(chunks: &[&[u8]]) -> Output {
        let output = Output::new(0);
        for chunk in chunks {
            assert!(output.heard().take(Source::Other, chunk));
        }
        output
    }

    #[test]
    fn what_is_short_is_shown_whole() {
        let (_, tail) = heard(&[b"one\n", b"two\n\n"]).close();
        assert_eq!(tail, "one\ntwo");
    }

    #[test]
    fn colours_and_control_characters_are_gone_and_tabs_stay() {
        let (_, tail) = heard(&[b"\x1b[1;31mred\x1b[0m\tx\x07\x08\n\xff\xc3\xa9\x9b\n"]).close();
        assert_eq!(tail, "red\tx\n\u{fffd}é\u{fffd}");
    }

    #[test]
    fn a_sequence_that_is_never_closed_takes_its_line_only() {
        let (_, tail) = heard(&[b"a\x1b]0;title\nthe error\n"]).close();
        assert_eq!(tail, "a\nthe error");
    }

    #[test]
    fn of_a_progress_bar_the_last_state_is_shown() {
        let (_, tail) = heard(&[b"10%\r50%\r100%\r\ndone\r\n"]).close();
        assert_eq!(tail, "100%\ndone");
    }

    #[test]
    fn of_much_the_last_sixty_lines_are_shown() {
        let all: Vec<String> = (0..1000).map(|n| format!("line {n}\n")).collect();
        let (_, tail) = heard(&[all.concat().as_bytes()]).close();
        let lines: Vec<&str> = tail.lines().collect();
        assert_eq!(lines.len(), 61);
        assert_eq!(
            (lines[0], lines[1], lines[60]),
            ("[the end of 8890 bytes]", "line 940", "line 999")
        );
    }

    /// Whether something is left out of what is shown.
    fn is_cut(said: &str) -> bool {
        heard(&[said.as_bytes()])
            .close()
            .1
            .starts_with("[the end of")
    }

    #[test]
    fn so_many_lines_and_bytes_are_shown() {
        let cut = [59, 60, 61].map(|lines| is_cut(&"x\n".repeat(lines)));
        assert_eq!(cut, [false, false, true]);
        // The end of the line is counted.
        let lengths = [SHOWN_BYTES - 1, SHOWN_BYTES, SHOWN_BYTES + 1];
        let cut = lengths.map(|bytes| is_cut(&format!("{}\n", "x".repeat(bytes - 1))));
        assert_eq!(cut, [false, false, true]);
    }

    #[test]
    fn what_is_kept_is_let_go_when_there_is_twice_as_much() {
        let kept = [2 * KEPT - 1, 2 * KEPT, 2 * KEPT + 1].map(|bytes| {
            let output = heard(&[]);
            for _ in 0..bytes {
                output.heard().take(Source::Other, b"y");
            }
            output.heard().end.len()
        });
        assert_eq!(kept, [2 * KEPT - 1, 2 * KEPT, KEPT + 1]);
    }

    #[test]
    fn memory_is_bounded_however_much_comes() {
        let output = heard(&[]);
        for _ in 0..10_000 {
            output.heard().take(Source::Other, &[b'y'; 4096]);
        }
        assert!(output.heard().end.capacity() <= 4 * KEPT);
        let (_, tail) = output.close();
        assert!(tail.starts_with("[the end of 40960000 bytes]\nyyy"));
        assert!(tail.len() < SHOWN_BYTES + 50);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let (_, tail) = heard(&["é".repeat(5000).as_bytes(), b"x"]).close();
        assert!(tail.ends_with("éx") && tail.len() <= SHOWN_BYTES + 50);
    }

    #[test]
    fn standard_output_is_kept_apart_up_to_its_bound() {
        let output = Output::new(4);
        output.heard().take(Source::Stdout, b"ab");
        output.heard().take(Source::Other, b"--");
        output.heard().take(Source::Stdout, b"cd");
        assert!(!output.is_too_much());
        output.heard().take(Source::Stdout, b"e");
        assert!(output.is_too_much());
        assert_eq!(output.close(), (b"abcd".to_vec(), "ab--cde".to_owned()));
    }
}
