//! Names of tools, and patterns of them.

use super::{corrected, mistake};
use crate::diagnostic::{Finding, Severity, shown};
use crate::pattern::names_match;
use crate::text::join;
use crate::white_space::trim;

/// The tools that pi brings.
const USUAL_TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// Signs that the name of no tool has.
const SIGNS: &str = "?[]{}(),;|&^$!\\\"'`<>=+%";

/// The name of a tool, or a pattern of them.
pub(super) fn name(name: &str, is_pattern: bool) -> Option<Finding> {
    let trimmed = trim(name);
    if trimmed.is_empty() {
        return Some(mistake("it is empty", "remove it"));
    }
    if trimmed.len() != name.len() {
        return Some(corrected("white space around it counts", name, trimmed));
    }
    if let Some((tool, rest)) = name.split_once('(')
        && let Some(inside) = rest.strip_suffix(')')
        && !tool.is_empty()
    {
        let tool = tool.to_lowercase();
        let (key, pattern) = match tool.as_str() {
            "bash" => ("command", inside.replace(':', " ")),
            _ => ("path", inside.to_owned()),
        };
        let (tool, pattern) = (shown(&tool), shown(&pattern));
        let help = format!("write a rule about `{tool}` with `{key}: \"{pattern}\"`");
        return Some(mistake("a name cannot contain conditions", help));
    }
    let mut starts = [".", "~", "/", "*."].iter();
    let is_path = starts.any(|start| name.starts_with(start)) || name.contains("**");
    if is_path || name.ends_with('/') {
        let name = shown(name);
        let help = format!(
            "write a rule about the tools, with `path: \"{name}\"`: `block: [read, write, edit, bash]`"
        );
        return Some(mistake("it looks like a path", help));
    }
    if name.contains('*') && !is_pattern {
        let help = "write each name, or the pattern in a rule";
        return Some(mistake("a list has names, not patterns", help));
    }
    let is_sign = |c: &char| SIGNS.contains(*c) || c.is_whitespace();
    match name.chars().find(is_sign) {
        Some(sign) => Some(with_sign(name, sign)),
        None => misspelled(name),
    }
}

fn with_sign(name: &str, sign: char) -> Finding {
    let why = format!("names do not contain `{}`", shown(&sign.to_string()));
    if sign != ',' && !sign.is_whitespace() {
        return mistake(why, "write the name as the host does");
    }
    let names = name.split([',', ' ']).filter(|part| !part.is_empty());
    let names = shown(&join(names, ", "));
    mistake(why, format!("write a list: `[{names}]`"))
}

/// A name that is nearly that of a usual tool. Only a slip of the keyboard is certainly no other tool: `exit` may be one.
fn misspelled(name: &str) -> Option<Finding> {
    let own = [name.to_owned()];
    if USUAL_TOOLS.iter().any(|usual| names_match(&own, usual)) {
        return None;
    }
    let lower = [name.to_lowercase()];
    let guess = |why: &str, near: &str| Finding {
        severity: Severity::Warning,
        ..mistake(why, format!("did you mean `{}`?", shown(near)))
    };
    if let Some(usual) = USUAL_TOOLS.iter().find(|usual| names_match(&lower, usual)) {
        let why = format!("the usual tool is `{usual}`, and names are compared with their case");
        return Some(guess(&why, &lower[0]).fix(name, &lower[0]));
    }
    if name.contains('*') {
        return None;
    }
    let near = USUAL_TOOLS.iter().find(|usual| {
        usual.len() > 3 && lower[0].len() > 2 && strsim::osa_distance(&lower[0], usual) == 1
    })?;
    let why = "it differs in one letter from a usual tool";
    Some(if is_slip(&lower[0], near) {
        corrected(why, name, near)
    } else {
        guess(why, near)
    })
}

/// Returns whether a name at distance one has a letter less, twice, or in the place of its neighbour.
fn is_slip(name: &str, usual: &str) -> bool {
    let letters = |change: fn(&mut Vec<char>)| {
        [name, usual].map(|text| {
            let mut letters = text.chars().collect();
            change(&mut letters);
            letters
        })
    };
    let [without_doubles, usual_without] = letters(Vec::dedup);
    let [sorted, usual_sorted] = letters(|letters| letters.sort_unstable());
    name.len() < usual.len() || without_doubles == usual_without || sorted == usual_sorted
}
