//! A minimal child process: answers every line with the same result and the line's id.
//!
//! The reference of `scripts/bench`. It does not parse JSON; the id is at the same position in the lines of all hosts.
//! The result is the argument, as JSON; default null.

use std::io::{self, BufRead, BufReader, Write};

/// The text before the id in a line of a host.
const BEFORE_ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

fn main() -> io::Result<()> {
    // A buffer larger than the one of standard input reads past it.
    let mut input = BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut output = io::stdout().lock();
    let result = std::env::args().nth(1);
    let behind_id = format!(",\"result\":{}}}\n", result.as_deref().unwrap_or("null"));
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        answer(&line, &behind_id, &mut answers);
        // Answers to lines that arrived together are written together, as in the sidecar.
        if !input.buffer().contains(&b'\n') {
            output.write_all(&answers)?;
            answers.clear();
        }
    }
}

fn answer(line: &[u8], behind_id: &str, answers: &mut Vec<u8>) {
    let rest = line.strip_prefix(BEFORE_ID).unwrap_or_default();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    answers.extend_from_slice(BEFORE_ID);
    answers.extend_from_slice(&rest[..digits]);
    answers.extend_from_slice(behind_id.as_bytes());
}
