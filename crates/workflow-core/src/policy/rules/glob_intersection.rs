//! Whether two patterns of paths have a path in common: that of a rule, and what a shell line names
//! with globs and variables.
//!
//! Owns the comparison, part by part. It must not know from where the patterns are seen.

/// A part of a path between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Any parts, also none.
    Any,
    /// Any parts, also none, of which only the running shell knows.
    Unknown,
    /// One part.
    One(Vec<Sign>),
}

/// What stands in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// This character.
    Is(char),
    /// Any character.
    Any,
    /// Any characters, also none.
    Many,
    /// Any characters, also none, of which only the running shell knows.
    Unknown,
}

impl Part {
    /// A part that is all text.
    pub(super) fn literal(text: &str) -> Self {
        Self::One(text.chars().map(Sign::Is).collect())
    }

    /// A part of a glob; a backslash makes the next character one that stands for itself where `escapes`.
    pub(super) fn glob(text: &str, escapes: bool) -> Self {
        if text == "**" {
            return Self::Any;
        }
        if !text.is_empty() && text.bytes().all(|byte| byte == 0) {
            return Self::Unknown;
        }
        let mut signs = Vec::new();
        let mut rest = text.chars();
        while let Some(next) = rest.next() {
            signs.push(match next {
                '\\' if escapes => rest.next().map_or(Sign::Is('\\'), Sign::Is),
                '?' => Sign::Any,
                '*' => Sign::Many,
                '\0' => Sign::Unknown,
                '[' => {
                    let class = rest.as_str();
                    // A `]` that comes first belongs to the class.
                    let first = class.chars().take_while(|c| "!^".contains(*c)).count() + 1;
                    match class.char_indices().skip(first).find(|(_, c)| *c == ']') {
                        Some((end, _)) => {
                            rest = class[end + 1..].chars();
                            Sign::Any
                        }
                        None => Sign::Is('['),
                    }
                }
                other => Sign::Is(other),
            });
        }
        Self::One(signs)
    }

    pub(super) fn is_literal(&self) -> bool {
        match self {
            Self::Any | Self::Unknown => false,
            Self::One(signs) => signs.iter().all(|sign| matches!(sign, Sign::Is(_))),
        }
    }

    /// The text that a part is, if it is all text.
    pub(super) fn text(&self) -> Option<String> {
        let Self::One(signs) = self else {
            return None;
        };
        let letter = |sign: &Sign| match sign {
            Sign::Is(c) => Some(*c),
            Sign::Any | Sign::Many | Sign::Unknown => None,
        };
        signs.iter().map(letter).collect()
    }

    /// Whether it is one part of which the call says all that is known.
    pub(super) fn is_seen(&self) -> bool {
        matches!(self, Self::One(signs) if !signs.contains(&Sign::Unknown))
    }

    /// Whether something of it is text.
    pub(super) fn says_something(&self) -> bool {
        matches!(self, Self::One(signs) if signs.iter().any(|sign| matches!(sign, Sign::Is(_))))
    }

    /// The same part in lower case.
    pub(super) fn folded(&self) -> Self {
        match self {
            Self::One(signs) => {
                let fold = |sign: &Sign| match sign {
                    Sign::Is(c) => c.to_lowercase().map(Sign::Is).collect(),
                    other => vec![*other],
                };
                Self::One(signs.iter().flat_map(fold).collect())
            }
            other => other.clone(),
        }
    }
}

/// How much of a rule's pattern must be seen in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing: what is unknown may be anything.
    Nothing,
    /// A part that says something, from this part of the pattern on: what is unknown names nothing by itself.
    From(usize),
}

/// Whether a path fits both a rule's pattern and what a call names.
pub(super) fn meet(rule: &[Part], named: &[Part], seen: Seen) -> bool {
    // Which parts of the pattern may be next, each without and with having seen something.
    let mut next = vec![[false; 2]; rule.len() + 1];
    next[0][usize::from(seen == Seen::Nothing)] = true;
    skip(rule, &mut next);
    for part in named {
        next = step(rule, &next, part, seen);
        skip(rule, &mut next);
        if next.iter().all(|reached| *reached == [false; 2]) {
            return false;
        }
    }
    next[rule.len()][1]
}

/// What of the rule may also be reached as its `**` stands for nothing.
fn skip(rule: &[Part], next: &mut [[bool; 2]]) {
    for (at, part) in rule.iter().enumerate() {
        if *part == Part::Any {
            next[at + 1] = either(next[at + 1], next[at]);
        }
    }
}

fn step(rule: &[Part], next: &[[bool; 2]], named: &Part, seen: Seen) -> Vec<[bool; 2]> {
    let mut reached = vec![[false; 2]; rule.len() + 1];
    if matches!(named, Part::Any | Part::Unknown) {
        // It stands for any number of the rule's parts.
        let mut so_far = [false; 2];
        for (at, here) in next.iter().enumerate() {
            so_far = either(so_far, *here);
            reached[at] = so_far;
        }
        return reached;
    }
    for (at, part) in rule.iter().enumerate() {
        let [blind, seeing] = next[at];
        if !blind && !seeing {
            continue;
        }
        if *part == Part::Any {
            reached[at] = either(reached[at], next[at]);
        } else if parts_meet(part, named) {
            let shows = match seen {
                Seen::Nothing => true,
                Seen::From(first) => at >= first && part.says_something(),
            };
            reached[at + 1][0] |= blind && !shows;
            reached[at + 1][1] |= seeing || blind && shows;
        }
    }
    reached
}

fn either(one: [bool; 2], other: [bool; 2]) -> [bool; 2] {
    [one[0] || other[0], one[1] || other[1]]
}

fn parts_meet(rule: &Part, named: &Part) -> bool {
    let (Part::One(rule_signs), Part::One(named_signs)) = (rule, named) else {
        return true;
    };
    if rule.is_literal() && named.is_literal() {
        return rule_signs == named_signs;
    }
    // A shell's globs find no hidden files unless they say the dot.
    let hidden = rule_signs.first() == Some(&Sign::Is('.'));
    if hidden && matches!(named_signs.first(), Some(Sign::Any | Sign::Many)) {
        return false;
    }
    signs_meet(rule_signs, named_signs)
}

fn signs_meet(rule: &[Sign], named: &[Sign]) -> bool {
    // Which sign of `named` may be next.
    let mut next = vec![false; named.len() + 1];
    next[0] = true;
    spread(named, &mut next);
    for sign in rule {
        let mut reached = vec![false; named.len() + 1];
        for (at, _) in next.iter().enumerate().filter(|(_, may)| **may) {
            match (sign, named.get(at)) {
                (Sign::Many, _) => reached[at..].fill(true),
                (_, Some(Sign::Many | Sign::Unknown)) => reached[at] = true,
                (Sign::Is(one), Some(Sign::Is(other))) => reached[at + 1] |= one == other,
                (_, Some(_)) => reached[at + 1] = true,
                (_, None) => {}
            }
            if *sign == Sign::Many {
                break;
            }
        }
        next = reached;
        spread(named, &mut next);
    }
    next[named.len()]
}

/// What of a text may also be reached as its `*` stands for nothing.
fn spread(named: &[Sign], next: &mut [bool]) {
    for (at, sign) in named.iter().enumerate() {
        if matches!(sign, Sign::Many | Sign::Unknown) && next[at] {
            next[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(glob: &str) -> Vec<Part> {
        let parts = glob.split('/').map(|part| Part::glob(part, false));
        parts.collect()
    }

    fn meets(rule: &str, named: &str) -> bool {
        meet(&parts(rule), &parts(named), Seen::Nothing)
    }

    #[test]
    fn patterns_meet_where_a_path_fits_both() {
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
            assert_eq!(meets(rule, named), expected, "{rule} {named}");
        }
    }

    #[test]
    fn what_is_unknown_names_nothing_by_itself() {
        let meets = |rule: &str, named: &str| meet(&parts(rule), &parts(named), Seen::From(0));
        assert!(!meets("**/.env/**", "\0"));
        assert!(!meets("**/.env/**", "\0/config.json"));
        assert!(!meets("**/.env/**", "src/\0"));
        assert!(meets("**/.env/**", "\0/.env"));
        assert!(meets("**/.env/**", ".e\0"));
        assert!(meets("src/**", "\0/src/main.rs"));
        assert!(meets("docs/*.md", "docs/\0"));
        assert!(!meets("docs/*.md", "\0/b.rs"));
    }
}
