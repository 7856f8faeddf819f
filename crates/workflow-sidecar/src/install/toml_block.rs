//! Our table of an MCP server in the TOML file of Codex, below a comment.
//!
//! The host writes tables of its own behind it, so it ends where its keys end.

const BEGIN: &str = "\n# `workflow-sidecar uninstall` removes this table.\n";
const HEADER: &str = "[mcp_servers.workflow]";

/// Appends the table with these keys, which is right at the end of any file.
pub(super) fn insert(text: &str, keys: &str) -> Result<String, String> {
    let is_taken = text
        .lines()
        .any(|line| line.trim().starts_with(HEADER.trim_end_matches(']')));
    if is_taken {
        return Err(format!(
            "it has a table {HEADER} that is not ours: rename or remove it"
        ));
    }
    Ok(format!("{text}{}", table(keys)))
}

/// Removes the table.
pub(super) fn remove(text: &str) -> String {
    let Some((before, rest)) = text.split_once(&table("")) else {
        return text.to_owned();
    };
    let is_other = |line: &&str| line.trim().is_empty() || line.starts_with(['[', '#']);
    let ours = rest
        .split_inclusive('\n')
        .take_while(|line| !is_other(line));
    let length: usize = ours.map(str::len).sum();
    format!("{before}{}", &rest[length..])
}

/// Returns true if the table is there with these keys.
pub(super) fn has(text: &str, keys: &str) -> bool {
    text.contains(&table(keys))
}

fn table(keys: &str) -> String {
    format!("{BEGIN}{HEADER}\n{keys}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_the_host_adds_behind_ours_stay() {
        let text = "model = \"x\"\n";
        let ours = insert(text, "command = \"y\"\n").unwrap();
        let state = "\n[hooks.state]\n\n[hooks.state.\"a:0\"]\ntrusted_hash = \"z\"\n";
        let with_state = format!("{ours}{state}");
        assert!(has(&with_state, "command = \"y\"\n"));
        assert_eq!(remove(&with_state), format!("{text}{state}"));
        assert_eq!(remove(&ours), text);
    }
}
