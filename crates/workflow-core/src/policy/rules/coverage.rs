//! Whether a rule takes the calls of another one, judged by the texts of both.
//!
//! The checks, the description for the model and the advice ask this one function.

use super::known::Known;
use crate::definition::{Rule, RuleAction, WRITING};
use crate::pattern::{directory_and_words, names_match};

impl Rule {
    /// Returns whether it matches the calls that another rule matches: all of them, or none. Where it matches some, or the texts
    /// do not say, it is unknown.
    pub fn covers(&self, other: &Self) -> Known {
        let conditions = [
            tools_cover(&self.tools, &other.tools),
            patterns_cover(&self.path, &other.path),
            patterns_cover(&self.command, &other.command),
            self.writes_cover(other),
        ];
        if conditions.contains(&Known::No) {
            return Known::No;
        }
        // To allow, all commands and paths of a call must match; to forbid, one.
        let matches_less = self.action == RuleAction::Allow
            && other.action != RuleAction::Allow
            && !self.is_unconditional();
        let has_input = self.input.iter().all(|field| other.input.contains(field));
        let is_there = self.except.iter().all(|id| other.except.contains(id));
        let skips_unknown = self.unknown == Some(RuleAction::Allow);
        let is_all = conditions.iter().all(|known| *known == Known::Yes);
        if is_all && has_input && is_there && !matches_less && !skips_unknown {
            Known::Yes
        } else {
            Known::Unknown
        }
    }

    fn writes_cover(&self, other: &Self) -> Known {
        let only_writing = || {
            other.tools.iter().all(|tool| WRITING.contains(&&**tool))
                // A path of a rule that allows is about what is written.
                || other.action == RuleAction::Allow && !other.path.is_empty()
        };
        match (self.writes, other.writes) {
            (None, _) => Known::Yes,
            (Some(own), Some(other)) => Known::from(own == other),
            (Some(true), None) if only_writing() => Known::Yes,
            (Some(_), None) => Known::Unknown,
        }
    }
}

fn tools_cover(own: &[String], others: &[String]) -> Known {
    let names = |tools: &[String], tool: &String| names_match(tools, tool);
    if others.iter().all(|tool| names(own, tool)) {
        Known::Yes
    } else if others.iter().any(|tool| names(own, tool))
        || own.iter().any(|tool| names(others, tool))
    {
        Known::Unknown
    } else {
        Known::No
    }
}

/// Compares patterns, of which none matches everything. Two meet if their first words are not different.
fn patterns_cover(own: &[String], others: &[String]) -> Known {
    let first = |pattern: &str| {
        let (_, words) = directory_and_words(pattern);
        let first = words.split([' ', '/', '*']).next();
        first.unwrap_or_default().to_owned()
    };
    let meet = |one: &String, other: &String| {
        let (one, other) = (first(one), first(other));
        one.is_empty() || other.is_empty() || one == other
    };
    let meets = |one| others.iter().any(|other| meet(one, other));
    let are_own = || others.iter().all(|pattern| own.contains(pattern));
    if own.is_empty() || !others.is_empty() && are_own() {
        Known::Yes
    } else if others.is_empty() || own.iter().any(meets) {
        Known::Unknown
    } else {
        Known::No
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_rule_covers_what_it_matches_in_every_case() {
        use Known::{No, Unknown, Yes};
        let rule = |value: &Value| serde_json::from_value::<Rule>(value.clone()).unwrap();
        let block = |tools: &[&str]| json!({"action":"block", "tools": tools});
        let with = |mut rule: Value, more: Value| {
            let more = more.as_object().expect("it is a map").clone();
            rule.as_object_mut().expect("it is a map").extend(more);
            rule
        };
        let all = block(&["*"]);
        let bash = block(&["bash"]);
        let edits = block(&["edit", "write"]);
        let push = with(bash.clone(), json!({"command": ["git push"]}));
        let pushes = with(bash.clone(), json!({"command": ["git push", "git fetch"]}));
        let npm = with(bash.clone(), json!({"command": ["npm publish"]}));
        let writing = with(all.clone(), json!({"writes": true}));
        let reading = with(all.clone(), json!({"writes": false}));
        let allows = |rule: &Value| with(rule.clone(), json!({"action":"allow"}));
        let docs = with(all.clone(), json!({"path": ["docs/**"]}));
        let field = with(bash.clone(), json!({"input": [["a", "x"]]}));
        let lenient = with(writing.clone(), json!({"unknown": "allow"}));
        for (one, other, expected) in [
            (&all, &push, Yes),
            (&block(&["mcp__*"]), &block(&["mcp__fs__*"]), Yes),
            (&block(&["mcp__fs__*"]), &block(&["mcp__*"]), Unknown),
            (&bash, &edits, No),
            (&bash, &all, Unknown),
            (&pushes, &push, Yes),
            (&push, &pushes, Unknown),
            (&push, &npm, No),
            (&push, &bash, Unknown),
            (&pushes, &allows(&push), Yes),
            // A line with another command beside it is not allowed, and is blocked.
            (&allows(&push), &push, Unknown),
            (&allows(&bash), &push, Yes),
            (&writing, &edits, Yes),
            (&writing, &reading, No),
            (&writing, &bash, Unknown),
            (&writing, &allows(&docs), Yes),
            (&writing, &docs, Unknown),
            (&lenient, &edits, Unknown),
            (&field, &bash, Unknown),
            (&bash, &field, Yes),
        ] {
            assert_eq!(rule(one).covers(&rule(other)), expected, "{one} {other}");
        }
    }
}
