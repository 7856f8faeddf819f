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
    /// One part.
    One(Vec<Symbol>),
}

/// An element of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// This character.
    Is(char),
    /// Any character.
    Any,
    /// Any number of characters.
    Many,
    /// Any number of characters that only the running shell knows.
    Unknown,
}

impl Part {
    /// Creates a literal part, in lower case if case is ignored.
    pub(super) fn literal(text: &str, ignores_case: bool) -> Self {
        let symbols = folded(text, ignores_case).into_iter();
        Self::One(symbols.map(Symbol::Is).collect())
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
        let mut symbols = Vec::new();
        let mut rest = &text[..];
        while let [next, after @ ..] = rest {
            rest = after;
            symbols.push(match (next, after) {
                ('\\', [literal, after @ ..]) if escapes => {
                    rest = after;
                    Symbol::Is(*literal)
                }
                ('?', _) => Symbol::Any,
                ('*', _) => Symbol::Many,
                ('\0', _) => Symbol::Unknown,
                ('[', class) => {
                    // A `]` at the start belongs to the class.
                    let first = class.iter().take_while(|c| "!^".contains(**c)).count() + 1;
                    let end = class.iter().skip(first).position(|c| *c == ']');
                    rest = end.map_or(class, |end| &class[first + end + 1..]);
                    end.map_or(Symbol::Is('['), |_| Symbol::Any)
                }
                (other, _) => Symbol::Is(*other),
            });
        }
        Self::One(symbols)
    }

    pub(super) fn is_literal(&self) -> bool {
        match self {
            Self::Any | Self::Unknown => false,
            Self::One(symbols) => symbols.iter().all(|symbol| matches!(symbol, Symbol::Is(_))),
        }
    }

    /// Returns whether it contains a literal character.
    pub(super) fn has_literal(&self) -> bool {
        matches!(self, Self::One(symbols) if symbols.iter().any(|symbol| matches!(symbol, Symbol::Is(_))))
    }
}

/// Returns the characters of a text, in lower case if case is ignored.
fn folded(text: &str, ignores_case: bool) -> Vec<char> {
    if ignores_case {
        text.chars().flat_map(char::to_lowercase).collect()
    } else {
        text.chars().collect()
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

fn parts_intersect(rule: &Part, named: &Part) -> bool {
    let (Part::One(rule_signs), Part::One(named_signs)) = (rule, named) else {
        return true;
    };
    if rule.is_literal() && named.is_literal() {
        return rule_signs == named_signs;
    }
    // Globs of a shell match hidden files only with a literal dot.
    let hidden = rule_signs.first() == Some(&Symbol::Is('.'));
    if hidden && matches!(named_signs.first(), Some(Symbol::Any | Symbol::Many)) {
        return false;
    }
    symbols_intersect(rule_signs, named_signs)
}

fn symbols_intersect(rule: &[Symbol], named: &[Symbol]) -> bool {
    // The symbols of `named` that may be next.
    let mut next = vec![false; named.len() + 1];
    next[0] = true;
    spread(named, &mut next);
    for symbol in rule {
        let mut reached = vec![false; named.len() + 1];
        for (at, _) in next.iter().enumerate().filter(|(_, may)| **may) {
            match (symbol, named.get(at)) {
                (Symbol::Many, _) => reached[at..].fill(true),
                (_, Some(Symbol::Many | Symbol::Unknown)) => reached[at] = true,
                (Symbol::Is(one), Some(Symbol::Is(other))) => reached[at + 1] |= one == other,
                (_, Some(_)) => reached[at + 1] = true,
                (_, None) => {}
            }
            if *symbol == Symbol::Many {
                break;
            }
        }
        next = reached;
        spread(named, &mut next);
    }
    next[named.len()]
}

/// Adds the symbols that follow a `*` that matches nothing.
fn spread(named: &[Symbol], next: &mut [bool]) {
    for (at, symbol) in named.iter().enumerate() {
        if matches!(symbol, Symbol::Many | Symbol::Unknown) && next[at] {
            next[at + 1] = true;
        }
    }
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
