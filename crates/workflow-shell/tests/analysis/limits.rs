//! The longest line, and the deepest.

use workflow_shell::{Effect, MAX_LINE_BYTES, Unreadable, analyze};

#[test]
fn a_line_is_analyzed_up_to_the_maximum_length() {
    let line = |length: usize| analyze(&format!("ls {}", "a".repeat(length - 3)));
    assert_eq!(line(MAX_LINE_BYTES - 1).effect(), Effect::Reads);
    assert_eq!(line(MAX_LINE_BYTES).effect(), Effect::Reads);
    let too_long = line(MAX_LINE_BYTES + 1);
    assert_eq!(too_long.unreadable, Some(Unreadable::TooLong));
    assert!(matches!(too_long.effect(), Effect::Unknown(_)));
}

#[test]
fn a_script_at_the_greatest_depth_does_not_exhaust_the_stack() {
    for around in 30..50 {
        let (open, close) = ("( ".repeat(around), " )".repeat(around));
        let line = format!("rm x; {open}bash -c '{}'{close}", "( ".repeat(40_000));
        assert!(
            matches!(analyze(&line).effect(), Effect::Unknown(_)),
            "{around}"
        );
    }
}
