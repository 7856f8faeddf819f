//! Variables of the shell, as far as the line determines them.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::programs::{is_environment_variable, is_listed};

/// The longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 256;

/// The number of assignments that are considered. Each takes a search of the whole line for other assignments.
const MAX_VARIABLES: usize = 50;

/// The number of expansions that are replaced by values.
const MAX_VARIABLE_USES: usize = 1000;

/// Numbers of the shell. Shells evaluate a text that is assigned to some of them as an arithmetic expression.
#[rustfmt::skip] // Names in order.
const SHELL_NUMBERS: &[&str] = &[
    "BASHPID", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "HISTCMD", "LINENO", "OPTIND", "PIPESTATUS", "PPID", "RANDOM", "SECONDS", "SHLVL",
    "SRANDOM", "UID",
];

/// Returns whether a variable may have a value that the line does not give it: the shell and the environment have names
/// without small letters, and some that are known.
fn is_from_outside(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_lowercase()) || is_environment_variable(name)
}

/// Returns whether the value of a variable of the environment is taken for an address, which starts with no dash.
pub(super) fn is_address(name: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let ends = ["URL", "_HOST", "_ENDPOINT"];
    name.bytes().all(is_upper) && ends.iter().any(|end| name.ends_with(end))
}

/// The known variables.
#[derive(Default)]
pub(super) struct Variables {
    values: HashMap<String, String>,
    /// Variables whose value is known not to start with a dash, such as those of a loop over files.
    no_options: HashSet<String>,
    /// Those of `no_options` whose value is a number.
    numbers: HashSet<String>,
    /// Variables whose value is empty or a list of files or commits: `x=$(git merge-base a b)`.
    file_lists: HashSet<String>,
    /// Variables whose assignment follows `&&`: they are set only if the previous commands succeeded.
    tentative: Vec<String>,
    /// Variables with an assignment that has run whenever the next command runs.
    given: Vec<String>,
    /// The names in the line, expansions left out: it may assign only these.
    mentioned: HashSet<String>,
    /// Variables of which something is known because the line has one assignment.
    kept: HashSet<String>,
    /// Variables that are assigned, and true for those with several assignments.
    assigned: HashMap<String, bool>,
    /// Variables that may have a value that is no number.
    texts: HashSet<String>,
    /// Variables that arithmetic expressions evaluate.
    evaluated: Vec<String>,
    /// Functions or aliases may be called like programs.
    may_redefine: bool,
    /// True if what is known of a program has counted.
    trusts_programs: Cell<bool>,
    assignments: usize,
    uses: usize,
}

/// The values that only one shell has.
pub(super) type ShellValues = (
    HashMap<String, String>,
    HashSet<String>,
    HashSet<String>,
    Vec<String>,
);

impl Variables {
    /// Notes that functions or aliases may stand for programs. Returns false if a program has been trusted before.
    pub(super) fn redefine(&mut self) -> bool {
        self.may_redefine = true;
        !self.trusts_programs.get()
    }

    /// Returns whether functions or aliases may stand for programs. If not, they must not later.
    pub(super) fn may_redefine(&self) -> bool {
        self.trusts_programs.set(!self.may_redefine);
        self.may_redefine
    }

    /// Collects the names that the line mentions.
    pub(super) fn mention(&mut self, line: &str) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut at = 0;
        while let Some(start) = line[at..].find(is_name).map(|start| at + start) {
            let name = &line[start..];
            let name = &name[..name.find(|c| !is_name(c)).unwrap_or(name.len())];
            if !is_expansion(line, start, name) && !self.mentioned.contains(name) {
                self.mentioned.insert(name.to_owned());
            }
            at = start + name.len();
        }
    }

    /// Returns the value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns whether the line may assign the variable.
    pub(super) fn is_mentioned(&self, name: &str) -> bool {
        self.mentioned.contains(name)
    }

    /// Returns whether the value of a variable is known not to start with a dash.
    pub(super) fn is_no_option(&self, name: &str) -> bool {
        let is_known = is_listed("no_options", name) || is_address(name);
        self.no_options.contains(name) || is_known && !self.is_mentioned(name)
    }

    /// Notes that the values of a variable, which has no other assignment, do not start with a dash.
    pub(super) fn set_no_option(&mut self, name: &str, source: &str) {
        if self.may_keep(name, source) {
            self.no_options.insert(name.to_owned());
        }
        self.assignments += 1;
    }

    /// Returns whether the value of a variable is a number.
    pub(super) fn is_number(&self, name: &str) -> bool {
        SHELL_NUMBERS.contains(&name)
            || self.numbers.contains(name) && self.no_options.contains(name)
    }

    /// Notes that the values of a variable, which has no other assignment, are numbers.
    pub(super) fn set_number(&mut self, name: &str, source: &str) {
        if self.assignments >= MAX_VARIABLES {
            return;
        }
        self.numbers.insert(name.to_owned());
        // An arithmetic expression that changes it leaves a number.
        let source = source.replace(&format!("$(({name}"), "$((");
        self.set_no_option(name, &source);
    }

    /// Returns whether the value of a variable is empty or a list of files or commits.
    pub(super) fn lists_files(&self, name: &str) -> bool {
        self.file_lists.contains(name)
    }

    /// Notes that the certain value of a variable, which has no other assignment, is empty or a list of files or commits.
    pub(super) fn set_lists_files(&mut self, name: &str, after_and: bool, source: &str) {
        if self.assignments >= MAX_VARIABLES {
            return;
        }
        // `base=$(git merge-base a b)`: the subcommand is no other assignment.
        let source = source.replace("git merge-base ", "git ");
        if self.may_keep(name, &source) {
            self.file_lists.insert(name.to_owned());
            if after_and {
                self.tentative.push(name.to_owned());
            }
        }
    }

    /// Returns whether the line has one assignment of a variable, so that what it says is kept.
    fn may_keep(&mut self, name: &str, source: &str) -> bool {
        let is_kept = self.assignments < MAX_VARIABLES && has_one_assignment(source, name);
        if is_kept {
            self.kept.insert(name.to_owned());
        }
        is_kept
    }

    /// Notes that a command assigns a variable, and whether the value is a number.
    pub(super) fn note_assignment(&mut self, name: &str, is_number: bool) {
        let assigned = self.assigned.entry(name.to_owned());
        assigned.and_modify(|several| *several = true).or_default();
        if !is_number {
            self.texts.insert(name.to_owned());
        }
    }

    /// Returns a variable that is assigned although the line does not show that: `read x''y`.
    pub(super) fn hidden_assignment(&self) -> Option<&str> {
        let hidden = self.assigned.iter().filter(|(name, several)| {
            **several && self.kept.contains(*name) || !self.mentioned.contains(*name)
        });
        hidden.map(|(name, _)| name.as_str()).min()
    }

    /// Notes that a variable has a value of the line whenever the next command runs.
    pub(super) fn give(&mut self, name: &str, after_and: bool) {
        // The shell gives `_` to the last argument of each command.
        if self.given.len() < MAX_VARIABLES && name != "_" {
            self.given.push(name.to_owned());
            if after_and {
                self.tentative.push(name.to_owned());
            }
        }
    }

    /// Returns the number of assignments that have certainly run, for [`Self::forget_given_since`].
    pub(super) fn given(&self) -> usize {
        self.given.len()
    }

    /// Forgets the assignments since then, which may not have run.
    pub(super) fn forget_given_since(&mut self, number: usize) {
        self.given.truncate(number);
    }

    /// Notes that an arithmetic expression evaluates a variable.
    pub(super) fn evaluate(&mut self, name: &str) {
        let has_value = self.given.iter().any(|given| given == name);
        if !has_value && !SHELL_NUMBERS.contains(&name) && is_from_outside(name) {
            self.texts.insert(name.to_owned());
        }
        if self.evaluated.len() < MAX_VARIABLE_USES {
            self.evaluated.push(name.to_owned());
        }
    }

    /// Returns a variable that an arithmetic expression evaluates although its value may be a text.
    pub(super) fn evaluated_text(&self) -> Option<&str> {
        let too_many = self.evaluated.len() == MAX_VARIABLE_USES && !self.texts.is_empty();
        let evaluated = self.evaluated.iter().map(String::as_str);
        let mut evaluated = evaluated.chain(SHELL_NUMBERS.iter().copied());
        evaluated.find(|name| too_many || self.texts.contains(*name))
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
        let is_kept = is_certain && self.may_keep(name, source);
        self.assignments += usize::from(is_certain);
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
            self.file_lists.remove(&name);
            self.given.retain(|given| *given != name);
        }
    }

    /// Forgets all values.
    pub(super) fn forget_all(&mut self) {
        self.values.clear();
        self.no_options.clear();
        self.file_lists.clear();
    }

    /// Forgets all values, and keeps no further ones.
    pub(super) fn disable(&mut self) {
        self.forget_all();
        self.assignments = MAX_VARIABLES;
    }

    /// Takes the values out, for a new shell that does not have them.
    pub(super) fn take_values(&mut self) -> ShellValues {
        (
            std::mem::take(&mut self.values),
            std::mem::take(&mut self.no_options),
            std::mem::take(&mut self.file_lists),
            std::mem::take(&mut self.given),
        )
    }

    /// Restores values that were taken out.
    pub(super) fn restore_values(&mut self, values: ShellValues) {
        (self.values, self.no_options, self.file_lists, self.given) = values;
    }
}

/// Returns whether a name in the line is that of an expansion that assigns nothing: `$x`, `${x}`, but not `${x:=value}`.
fn is_expansion(line: &str, start: usize, name: &str) -> bool {
    let (before, after) = (&line[..start], &line[start + name.len()..]);
    if before.ends_with("${") {
        !after.starts_with(['=', '[']) && !after.starts_with(":=")
    } else {
        before.ends_with('$')
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
            // `sed -n`: a letter of an option.
            let is_letter = name.len() == 1
                && before == Some(&b'-')
                && at.checked_sub(2).is_some_and(|at| bytes[at] == b' ')
                && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            // `kubectl get ns`: the argument of a program.
            let is_argument = source[..*at].ends_with("get ");
            !is_name(before)
                && !is_letter
                && !is_argument
                && !is_expansion(source, *at, name)
                && !is_name(bytes.get(at + name.len()))
        })
        .take(2)
        .count()
        == 1
}
