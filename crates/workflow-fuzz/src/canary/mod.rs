//! Lines of the shell, judged by the real one: what the analysis takes for reading must change nothing.
//!
//! The lines come from a grammar (`seeds/canary.txt`) of assignments, expansions, arithmetic and redirections around commands that make a
//! file in the working directory. Only lines that count as reading run.

mod grammar;
mod sandbox;

use workflow_shell::analyze;

pub use grammar::line;
pub use sandbox::Sandbox;

/// What a search has found.
#[derive(Debug, Default)]
pub struct Found {
    /// The number of lines that were judged.
    pub tried: u64,
    /// The number of these that count as reading, and ran.
    pub reading: u64,
    /// Lines that count as reading and changed something, as short as they became.
    pub holes: Vec<String>,
}

/// Returns what a line changes although it counts as reading.
pub fn change(line: &str, sandbox: &mut Sandbox) -> Option<String> {
    let is_reading = analyze(line).effect().is_harmless();
    is_reading.then(|| sandbox.run(line)).flatten()
}

/// Judges the lines of a seed with these numbers. Each hole is reported when it is found.
pub fn search(
    seed: u64,
    numbers: impl Iterator<Item = u64>,
    sandbox: &mut Sandbox,
    report: impl Fn(&str),
) -> Found {
    let mut found = Found::default();
    for number in numbers {
        let line = line(seed, number);
        found.tried += 1;
        if !analyze(&line).effect().is_harmless() {
            continue;
        }
        found.reading += 1;
        if sandbox.run(&line).is_some() {
            let hole = shortened(&line, sandbox);
            if !found.holes.contains(&hole) {
                report(&hole);
                found.holes.push(hole);
            }
        }
    }
    found
}

/// Leaves out parts of a line as long as it is still a hole.
fn shortened(line: &str, sandbox: &mut Sandbox) -> String {
    let mut parts: Vec<&str> = line.split_inclusive([' ', ';', '\n', '{', '(']).collect();
    let mut size = parts.len();
    while size > 0 {
        let mut start = 0;
        while start < parts.len() {
            let end = (start + size).min(parts.len());
            let less = [&parts[..start], &parts[end..]].concat();
            if change(&less.concat(), sandbox).is_some() {
                parts = less;
            } else {
                start += size;
            }
        }
        size /= 2;
    }
    parts.concat()
}
