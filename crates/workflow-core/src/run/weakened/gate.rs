//! Comparison of the checks of gates.

use crate::definition::{Check, Gate};

/// Returns true if a check is the same, or demands more. How long a command may take does not matter.
pub(super) fn is_as_demanding(before: &Gate, after: &Gate) -> bool {
    match (&before.check, &after.check) {
        (Check::Run(before), Check::Run(after)) => {
            before.command == after.command
                && before.shell == after.shell
                && before.exit == after.exit
                && before.cwd == after.cwd
                && before.env == after.env
                && (before.stdout.is_none()
                    || before.stdout == after.stdout && before.stream == after.stream)
        }
        (before, after) => before == after,
    }
}
