//! Deterministic mutation of inputs.

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

/// A deterministic generator of numbers.
#[derive(Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Creates the generator with this number.
    pub(crate) fn new(number: u64) -> Self {
        let mut numbers = Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        numbers.below(2);
        numbers
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Knuth's MMIX generator; its high bits are the better ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(self.0 >> 33).expect("31 bits fit into usize");
        high % end.max(1)
    }
}

/// Returns a mutation of one seed; the same for the same number.
#[must_use]
pub fn mutated(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
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
