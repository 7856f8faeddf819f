//! The longest line.

use workflow_shell::{MAX_LINE_BYTES, Unreadable, Writes, analyze};

#[test]
fn a_line_is_analyzed_up_to_the_maximum_length() {
    let line = |length: usize| analyze(&format!("ls {}", "a".repeat(length - 3))).writes;
    assert_eq!(line(MAX_LINE_BYTES - 1), Writes::No);
    assert_eq!(line(MAX_LINE_BYTES), Writes::No);
    assert_eq!(
        line(MAX_LINE_BYTES + 1),
        Writes::Unreadable(Unreadable::TooLong)
    );
}
