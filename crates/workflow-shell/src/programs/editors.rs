//! Editors. Their changes are key strokes, so a file that is opened counts as written.

use super::write_rules::Condition::{AtLeast, AtMost, With};
use super::write_rules::WriteRule::When;
use super::write_rules::WriteTarget::{Operands, Somewhere};
use super::write_rules::{ProgramRow, row};

#[rustfmt::skip] // A row a line.
pub(super) const EDITORS: &[ProgramRow] = &[
    row(&["ed", "red", "ex", "vi", "vim", "nvim", "view", "vimdiff", "emacs", "nano", "pico", "micro", "joe", "helix", "hx", "code"], &["-c", "-S"], &[When(&[AtLeast(1)], Operands), When(&[AtMost(0), With(&["-c", "-S", "-e", "--eval", "--batch"])], Somewhere)]),
];
