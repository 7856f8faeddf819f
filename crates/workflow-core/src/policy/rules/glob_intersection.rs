//! Intersection of two path patterns: that of a rule, and that of a shell line with globs and variables.
//!
//! The patterns are compared part by part. Both are relative to the same directory.

/// A part of a path between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Any number of parts.
    Any,
    /// Any number of parts that only the running shell knows.
    Unknown,
    /// One part: its characters, some of which stand for others.
    One(String),
}

/// The characters of a part that stand for any one, for any number, and for any number that only the running shell knows.
const ANY: char = '\u{1}';
const MANY: char = '\u{2}';
const UNKNOWN: char = '\0';

fn is_open(c: char) -> bool {
    matches!(c, ANY | MANY | UNKNOWN)
}

impl Part {
    /// Creates a literal part, in lower case if case is ignored.
    pub(super) fn literal(text: &str, ignores_case: bool) -> Self {
        Self::One(folded(text, ignores_case))
    }

    /// Creates a part of a glob. With `escapes`, a backslash makes the next character literal.
    pub(super) fn glob(text: &str, escapes: bool, ignores_case: bool) -> Self {
        if text == "**" {
            return Self::Any;
        }
        if !text.is_empty() && text.bytes().all(|byte| byte == 0) {
            return Self::Unknown;
        }
        let text = folded(text, ignores_case);
        let mut part = String::new();
        let mut rest = text.chars();
        while let Some(next) = rest.next() {
            part.push(match next {
                '\\' if escapes => rest.next().unwrap_or(next),
                '?' => ANY,
                '*' => MANY,
                '[' => {
                    let class = rest.as_str();
                    // A `]` at the start belongs to the class.
                    let first = class.chars().take_while(|c| "!^".contains(*c)).count() + 1;
                    let mut inside = class.char_indices().skip(first);
                    let end = inside.find(|(_, c)| *c == ']');
                    rest = class[end.map_or(0, |(end, _)| end + 1)..].chars();
                    end.map_or(next, |_| ANY)
                }
                other => other,
            });
        }
        Self::One(part)
    }

    pub(super) fn is_literal(&self) -> bool {
        matches!(self, Self::One(text) if !text.contains(is_open))
    }

    /// Returns whether it contains a literal character.
    pub(super) fn has_literal(&self) -> bool {
        matches!(self, Self::One(text) if !text.chars().all(is_open))
    }

    /// Its characters, if it is one part.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Any | Self::Unknown => "",
            Self::One(text) => text,
        }
    }
}

/// Returns a text, in lower case if case is ignored.
fn folded(text: &str, ignores_case: bool) -> String {
    if ignores_case {
        text.chars().flat_map(char::to_lowercase).collect()
    } else {
        text.to_owned()
    }
}

/// The part of a rule's pattern that must occur literally in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// None: an unknown part may be anything.
    NotNeeded,
    /// A part with a literal character, starting with this part: an unknown part alone is not a match.
    From(usize),
}

/// Returns whether some path matches both a rule's pattern and the pattern that a call names.
pub(super) fn intersects(rule: &[Part], named: &[Part], evidence: Evidence) -> bool {
    // The parts of the rule that may be next, each without and with evidence.
    let mut next = vec![[false; 2]; rule.len() + 1];
    next[0][usize::from(evidence == Evidence::NotNeeded)] = true;
    skip(rule, &mut next);
    for part in named {
        next = step(rule, &next, part, evidence);
        skip(rule, &mut next);
        if next.iter().all(|reached| *reached == [false; 2]) {
            return false;
        }
    }
    next[rule.len()][1]
}

/// Adds the parts that follow a `**` that matches nothing.
fn skip(rule: &[Part], next: &mut [[bool; 2]]) {
    for (at, part) in rule.iter().enumerate() {
        if *part == Part::Any {
            next[at + 1] = either(next[at + 1], next[at]);
        }
    }
}

fn step(rule: &[Part], next: &[[bool; 2]], named: &Part, evidence: Evidence) -> Vec<[bool; 2]> {
    let mut reached = vec![[false; 2]; rule.len() + 1];
    if matches!(named, Part::Any | Part::Unknown) {
        // It matches any number of the rule's parts.
        let mut so_far = [false; 2];
        for (at, here) in next.iter().enumerate() {
            so_far = either(so_far, *here);
            reached[at] = so_far;
        }
        return reached;
    }
    for (at, part) in rule.iter().enumerate() {
        let [without, with] = next[at];
        if !without && !with {
            continue;
        }
        if *part == Part::Any {
            reached[at] = either(reached[at], next[at]);
        } else if parts_intersect(part, named) {
            let is_evidence = match evidence {
                Evidence::NotNeeded => true,
                Evidence::From(first) => at >= first && part.has_literal(),
            };
            reached[at + 1][0] |= without && !is_evidence;
            reached[at + 1][1] |= with || without && is_evidence;
        }
    }
    reached
}

fn either(one: [bool; 2], other: [bool; 2]) -> [bool; 2] {
    [one[0] || other[0], one[1] || other[1]]
}

/// Returns whether some name may match both parts: whether their literal starts and ends fit each other.
fn parts_intersect(rule: &Part, named: &Part) -> bool {
    let (Part::One(one), Part::One(other)) = (rule, named) else {
        return true;
    };
    // Globs of a shell match hidden files only with a literal dot.
    if one.starts_with('.') && other.starts_with([ANY, MANY]) {
        return false;
    }
    let (whole, other_whole) = (rule.is_literal(), named.is_literal());
    let meet = |one: &str, other: &str, has: fn(&str, &str) -> bool| {
        has(one, other) && !other_whole || has(other, one) && !whole
    };
    let start = |text: &str| text.split(is_open).next().map_or(0, str::len);
    let end = |text: &str| text.len() - text.rsplit(is_open).next().map_or(0, str::len);
    whole && other_whole && one == other
        || meet(&one[..start(one)], &other[..start(other)], |a, b| {
            a.starts_with(b)
        }) && meet(&one[end(one)..], &other[end(other)..], |a, b| {
            a.ends_with(b)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(glob: &str) -> Vec<Part> {
        let parts = glob.split('/').map(|part| Part::glob(part, false, false));
        parts.collect()
    }

    fn intersect(rule: &str, named: &str) -> bool {
        intersects(&parts(rule), &parts(named), Evidence::NotNeeded)
    }

    #[test]
    fn patterns_intersect_if_a_path_matches_both() {
        for (rule, named, expected) in [
            (".env", ".env", true),
            (".env", ".e*", true),
            (".env", ".en?", true),
            (".env", ".[a-z]nv", true),
            (".env", "*", false),
            (".env", ".*", true),
            ("src", "*", true),
            ("src", "s*c", true),
            ("src", "*.rs", false),
            ("*.md", "a*", true),
            ("*.md", "*.rs", false),
            ("*.md", "*.m?", true),
            ("a*b", "*c*", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "a/b/.e*", true),
            ("src/**", "src", true),
            ("src/**", "*/x", true),
            ("src/**", "lib/*", false),
            ("src/a/b", "src/**", true),
            ("src/a/b", "src/**/c", false),
            ("a/**/z", "a/*/z", true),
            ("a/**/z", "**", true),
            ("[ab]", "c", true),
        ] {
            assert_eq!(intersect(rule, named), expected, "{rule} {named}");
        }
    }

    #[test]
    fn an_unknown_part_alone_is_not_evidence() {
        let intersect =
            |rule: &str, named: &str| intersects(&parts(rule), &parts(named), Evidence::From(0));
        assert!(!intersect("**/.env/**", "\0"));
        assert!(!intersect("**/.env/**", "\0/config.json"));
        assert!(!intersect("**/.env/**", "src/\0"));
        assert!(intersect("**/.env/**", "\0/.env"));
        assert!(intersect("**/.env/**", ".e\0"));
        assert!(intersect("src/**", "\0/src/main.rs"));
        assert!(intersect("docs/*.md", "docs/\0"));
        assert!(!intersect("docs/*.md", "\0/b.rs"));
    }
}
