//! An entry of a block mapping at the top of a YAML file, such as an extension of goose.
//!
//! goose writes the file anew when it is configured, without comments and in another order. So the entry is found by its
//! name and its indentation.

const BEGIN: &str = "\n# workflow-sidecar: begin, `workflow-sidecar uninstall` removes this\n";
const END: &str = "# workflow-sidecar: end\n";

/// The extent of an entry: from the line feed before it to the end of its last line.
struct Entry {
    start: usize,
    end: usize,
}

/// Adds an entry with its lines to the mapping of a key. The mapping is created if there is none.
pub(super) fn insert(
    text: &str,
    key: &str,
    name: &str,
    members: &[String],
) -> Result<String, String> {
    let Some(line) = key_line(text, key) else {
        let entry = entry(name, members, "  ");
        return Ok(format!("{text}{BEGIN}{key}:{entry}\n{END}"));
    };
    if line.rest(text).is_some() {
        return Err(format!(
            "`{key}` is not a block mapping: write its entries in lines of their own"
        ));
    }
    if find(text, key, name).is_some() {
        return Err(format!(
            "it has `{key}.{name}`, which is not ours: rename or remove it"
        ));
    }
    let indent = first_indent(&text[line.end..]).unwrap_or("  ");
    let entry = entry(name, members, indent);
    Ok(format!("{}{entry}{}", &text[..line.end], &text[line.end..]))
}

/// Removes an entry if it is ours, and the mapping if it was created for it.
pub(super) fn remove(text: &str, key: &str, name: &str, is_ours: impl Fn(&str) -> bool) -> String {
    let ours = find(text, key, name).filter(|entry| is_ours(&text[entry.start..entry.end]));
    let Some(Entry { start, end }) = ours else {
        return text.to_owned();
    };
    let text = format!("{}{}", &text[..start], &text[end..]);
    text.replacen(&format!("{BEGIN}{key}:\n{END}"), "", 1)
}

/// Returns true if the entry is there with these members. goose may have written it anew: then its order and its quotes are
/// others, and its command is what counts.
pub(super) fn has(text: &str, key: &str, name: &str, members: &[String]) -> bool {
    let Some(entry) = find(text, key, name) else {
        return false;
    };
    let entry = &text[entry.start..entry.end];
    let has = |member: &String| entry.contains(member.as_str());
    let command = members
        .iter()
        .find_map(|member| member.strip_prefix("cmd: "));
    let command = command.map(|command| command.trim_matches('"'));
    members.iter().all(has)
        || entry.contains("\n    - mcp\n") && command.is_some_and(|command| entry.contains(command))
}

/// The text of an entry, with the line feed before it.
fn entry(name: &str, members: &[String], indent: &str) -> String {
    let line_feed = format!("\n{indent}{indent}");
    let members = members.join(&line_feed);
    format!("\n{indent}{name}:{line_feed}{members}")
}

/// A line without its end.
struct Line {
    colon: usize,
    end: usize,
}

impl Line {
    /// The text behind the key in its line; `None` if it is empty or a comment.
    fn rest<'a>(&self, text: &'a str) -> Option<&'a str> {
        let rest = text[self.colon..self.end].trim();
        (!rest.is_empty() && !rest.starts_with('#')).then_some(rest)
    }
}

/// Finds a key that is not indented.
fn key_line(text: &str, key: &str) -> Option<Line> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        if let Some(after) = content.strip_prefix(key)
            && after.starts_with(':')
        {
            return Some(Line {
                colon: start + key.len() + 1,
                end: start + content.len(),
            });
        }
        start += line.len();
    }
    None
}

/// The indentation of the first entry.
fn first_indent(lines: &str) -> Option<&str> {
    let line = lines.lines().find(|line| !is_blank(line))?;
    let indent = indent_of(line);
    (!indent.is_empty()).then_some(indent)
}

fn find(text: &str, key: &str, name: &str) -> Option<Entry> {
    let line = key_line(text, key)?;
    let indent = first_indent(&text[line.end..])?;
    let mut start = None;
    let mut end = line.end;
    // Where the last line before this one ends, without its line feed.
    let mut before = line.end;
    let mut at = line.end;
    for line in text[line.end..].split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let (from, to) = (at, at + content.len());
        at += line.len();
        // The rest of the line of the key.
        if from == end && start.is_none() && content.is_empty() {
            before = to;
            continue;
        }
        if is_blank(content) {
            if start.is_none() {
                before = to;
            }
            continue;
        }
        let depth = indent_of(content).len();
        match start {
            Some(_) if depth > indent.len() => end = to,
            Some(start) => return Some(Entry { start, end }),
            None if depth < indent.len() => return None,
            None if content
                .trim_start()
                .strip_prefix(name)
                .is_some_and(|after| after.starts_with(':'))
                && depth == indent.len() =>
            {
                start = Some(before);
                end = to;
            }
            None => before = to,
        }
    }
    start.map(|start| Entry { start, end })
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Vec<String> {
        vec![
            "cmd: \"/opt/workflow-sidecar\"".to_owned(),
            "args: [\"mcp\"]".to_owned(),
        ]
    }

    fn added(text: &str) -> String {
        insert(text, "extensions", "workflow", &members()).unwrap()
    }

    fn removed(text: &str) -> String {
        remove(text, "extensions", "workflow", |entry| {
            entry.contains("workflow-sidecar")
        })
    }

    #[test]
    fn removing_an_entry_gives_the_bytes_of_before() {
        for text in [
            "",
            "GOOSE_MODEL: x",
            "GOOSE_MODEL: x\n",
            "extensions:",
            "extensions:\n",
            "extensions: # mine\n\n  # more\n  developer:\n    enabled: true\nGOOSE_MODEL: x\n",
            "a: 1\r\nextensions:\r\n    developer:\r\n        enabled: true\r\n",
        ] {
            let with = added(text);
            assert!(with.contains("workflow:\n"), "{with}");
            assert_eq!(removed(&with), text);
        }
    }

    #[test]
    fn an_entry_is_found_after_the_file_was_written_anew() {
        let text = "extensions:\n  developer:\n    enabled: true\n  workflow:\n    args:\n    - mcp\n    cmd: /opt/workflow-sidecar\n  z:\n    enabled: false\n";
        let without = "extensions:\n  developer:\n    enabled: true\n  z:\n    enabled: false\n";
        assert_eq!(removed(text), without);
    }

    #[test]
    fn an_entry_of_another_program_and_a_flow_mapping_are_refused() {
        let insert = |text| insert(text, "extensions", "workflow", &members());
        let taken = "extensions:\n  workflow:\n    cmd: other\n";
        assert!(insert(taken).unwrap_err().contains("not ours"));
        assert_eq!(removed(taken), taken);
        assert!(
            insert("extensions: {}\n")
                .unwrap_err()
                .contains("block mapping")
        );
    }
}
