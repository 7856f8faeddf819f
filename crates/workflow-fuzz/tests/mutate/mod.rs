//! Deterministic mutation of inputs.

use workflow_fuzz::numbers::Numbers;

/// Tokens of the languages that are read.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"'",
    b"`",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"$(",
    b"\\",
    b"\n",
    b"\0",
    b":",
    b",",
    b"- ",
    b"#",
    b"&a ",
    b"*a",
    b"<<A\n",
    b">",
    b"|",
    b"&&",
    b"---\n",
    b"%% project/.pi/workflows/w/workflow.yaml\n",
    b"null",
    b"-1",
    b"1e999",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\\ud800",
    b"9007199254740993",
    b"18446744073709551615",
    b"{description}",
    b"\x1b[31m",
];

/// Returns a mutation of one seed; the same for the same number.
pub(crate) fn mutated(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(number);
    let pick = |numbers: &mut Numbers| seeds[numbers.below(seeds.len())].clone();
    let mut input = pick(&mut numbers);
    let other = pick(&mut numbers);
    for _ in 0..=numbers.below(4) {
        let from = numbers.below(input.len() + 1);
        let to = (from + numbers.below(24)).min(input.len());
        match numbers.below(5) {
            0 => drop(input.splice(
                from..from,
                TOKENS[numbers.below(TOKENS.len())].iter().copied(),
            )),
            1 => drop(input.drain(from..to)),
            2 => {
                let part = input[from..to].to_vec();
                drop(input.splice(from..from, part));
            }
            3 => {
                let start = numbers.below(other.len() + 1);
                let end = (start + numbers.below(80)).min(other.len());
                drop(input.splice(from..to, other[start..end].iter().copied()));
            }
            _ => swap_lines(&mut input, &mut numbers),
        }
    }
    input
}

fn swap_lines(input: &mut Vec<u8>, numbers: &mut Numbers) {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let (one, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
    lines.swap(one, other);
    *input = lines.join(&b'\n');
}
