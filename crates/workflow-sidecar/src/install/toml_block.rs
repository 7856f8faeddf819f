//! A block in a TOML file, between two comments.

const BEGIN: &str = "\n# workflow-sidecar: begin, `workflow-sidecar uninstall` removes this\n";
const END: &str = "# workflow-sidecar: end\n";

/// Appends a block. A table can always stand at the end.
pub(super) fn insert(text: &str, header: &str, body: &str) -> Result<String, String> {
    let is_taken = text
        .lines()
        .any(|line| line.trim().starts_with(header.trim_end_matches(']')));
    if is_taken {
        return Err(format!(
            "it has a table {header} that is not ours: rename or remove it"
        ));
    }
    Ok(format!("{text}{BEGIN}{header}\n{body}{END}"))
}

/// Removes the block.
pub(super) fn remove(text: &str) -> String {
    let Some((before, rest)) = text.split_once(BEGIN) else {
        return text.to_owned();
    };
    match rest.split_once(END) {
        Some((_, after)) => format!("{before}{after}"),
        None => text.to_owned(),
    }
}
