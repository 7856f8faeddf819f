//! A table of ours in a TOML file, below a comment.
//!
//! The host writes tables of its own behind it, so it ends where its keys end.

const BEGIN: &str = "\n# `workflow-sidecar uninstall` removes this table.\n";

/// Appends a table, which is right at the end of any file.
pub(super) fn insert(text: &str, header: &str, body: &str) -> Result<String, String> {
    let is_taken = text
        .lines()
        .any(|line| line.trim().starts_with(header.trim_end_matches(']')));
    if is_taken {
        return Err(format!(
            "it has a table {header} that is not ours: rename or remove it"
        ));
    }
    Ok(format!("{text}{}", table(header, body)))
}

/// Removes the table.
pub(super) fn remove(text: &str, header: &str) -> String {
    let begin = format!("{BEGIN}{header}\n");
    let Some((before, rest)) = text.split_once(&begin) else {
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
pub(super) fn has(text: &str, header: &str, body: &str) -> bool {
    text.contains(&table(header, body))
}

fn table(header: &str, body: &str) -> String {
    format!("{BEGIN}{header}\n{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_the_host_adds_behind_ours_stay() {
        let text = "model = \"x\"\n";
        let ours = insert(text, "[mcp_servers.workflow]", "command = \"y\"\n").unwrap();
        let state = "\n[hooks.state]\n\n[hooks.state.\"a:0\"]\ntrusted_hash = \"z\"\n";
        let with_state = format!("{ours}{state}");
        assert!(has(
            &with_state,
            "[mcp_servers.workflow]",
            "command = \"y\"\n"
        ));
        assert_eq!(
            remove(&with_state, "[mcp_servers.workflow]"),
            format!("{text}{state}")
        );
        assert_eq!(remove(&ours, "[mcp_servers.workflow]"), text);
    }
}
