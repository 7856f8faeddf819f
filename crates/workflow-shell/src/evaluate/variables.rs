//! Variables whose value is evident from the line.

use std::collections::HashMap;

/// The longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 256;

/// The number of assignments that are considered. Each takes a search of the whole line for other assignments.
const MAX_VARIABLES: usize = 50;

/// The number of expansions that are replaced by values.
const MAX_VARIABLE_USES: usize = 1000;

/// The known variables.
#[derive(Default)]
pub(super) struct Variables {
    values: HashMap<String, String>,
    /// Variables whose assignment follows `&&`: they are set only if the previous commands succeeded.
    tentative: Vec<String>,
    assignments: usize,
    uses: usize,
}

impl Variables {
    /// Returns the value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Counts an expansion. Beyond the limit, all values are forgotten.
    pub(super) fn count_use(&mut self) {
        self.uses += usize::from(!self.values.is_empty());
        if self.uses > MAX_VARIABLE_USES {
            self.forget_all();
        }
    }

    /// Assigns a value, which is kept if it is certain and the variable has no other assignment in the line.
    pub(super) fn assign(
        &mut self,
        name: &str,
        value: Option<&str>,
        is_certain: bool,
        after_and: bool,
        source: &str,
    ) {
        let is_considered = is_certain && self.assignments < MAX_VARIABLES;
        self.assignments += usize::from(is_considered);
        let is_kept = is_considered && has_one_assignment(source, name);
        match value.filter(|value| is_kept && value.len() <= MAX_VALUE_BYTES) {
            Some(value) => {
                self.values.insert(name.to_owned(), value.to_owned());
                if after_and {
                    self.tentative.push(name.to_owned());
                }
            }
            None => {
                self.values.remove(name);
            }
        }
    }

    /// Forgets the variables that are set only if the previous commands succeeded.
    pub(super) fn forget_tentative(&mut self) {
        for name in self.tentative.drain(..) {
            self.values.remove(&name);
        }
    }

    /// Forgets all values.
    pub(super) fn forget_all(&mut self) {
        self.values.clear();
    }

    /// Forgets all values, and keeps no further ones.
    pub(super) fn disable(&mut self) {
        self.forget_all();
        self.assignments = MAX_VARIABLES;
    }

    /// Takes the values out, for a new shell that does not have them.
    pub(super) fn take_values(&mut self) -> HashMap<String, String> {
        std::mem::take(&mut self.values)
    }

    /// Restores values that were taken out.
    pub(super) fn restore_values(&mut self, values: HashMap<String, String>) {
        self.values = values;
    }
}

/// Returns whether the name of a variable occurs once in the line, expansions aside: then only its one
/// assignment can have set it.
fn has_one_assignment(source: &str, name: &str) -> bool {
    let is_name =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = source.as_bytes();
    source
        .match_indices(name)
        .filter(|(at, _)| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            !is_name(before)
                && !matches!(before, Some(b'$' | b'{'))
                && !is_name(bytes.get(at + name.len()))
        })
        .take(2)
        .count()
        == 1
}
