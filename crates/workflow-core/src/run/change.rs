//! What was changed since the start of a run, as git measured it: the facts that conditions look at.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::definition::{Fact, ProjectGlob, Test};

/// What was changed since the start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MeasuredChange {
    /// The changed files.
    pub files: u64,
    /// The lines that were added, and those that were removed.
    pub lines: u64,
    /// How many of the files each list of globs of a condition matches, by its lines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    matched: BTreeMap<String, u64>,
}

impl MeasuredChange {
    /// The change of these files: as many as there are paths, relative to the project.
    pub fn new(lines: u64, paths: &[String], lists: &[Vec<String>]) -> Self {
        let count = |globs: &Vec<String>| {
            let is_one = ProjectGlob::any_of(globs.clone());
            let matched = paths.iter().filter(|path| is_one(path));
            (globs.join("\n"), number(matched))
        };
        Self {
            files: number(paths.iter()),
            lines,
            matched: lists.iter().map(count).collect(),
        }
    }

    /// Returns true if a fact is as it must be. A list of globs that was not measured fits.
    pub(crate) fn meets(&self, fact: Fact, test: &Test) -> bool {
        if fact != Fact::Paths {
            let value = self.number(fact).map(Value::from);
            return test.holds(value.as_ref());
        }
        let matched = test
            .globs()
            .and_then(|globs| self.matched.get(&globs.join("\n")));
        matched.is_none_or(|&matched| match test {
            Test::Values { negated, .. } => (matched > 0) != *negated,
            Test::Only { .. } => matched == self.files,
            Test::Within { .. } => true,
        })
    }

    /// The number of a fact that is one.
    pub(crate) fn number(&self, fact: Fact) -> Option<u64> {
        match fact {
            Fact::Files => Some(self.files),
            Fact::Lines => Some(self.lines),
            Fact::Paths => None,
        }
    }
}

fn number<T>(of: impl Iterator<Item = T>) -> u64 {
    u64::try_from(of.count()).unwrap_or(u64::MAX)
}
