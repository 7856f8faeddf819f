//! Patches of `apply_patch`, as calls of the tools that change one file.

use serde_json::{Value, json};

/// The line that begins a patch.
const BEGIN: &str = "*** Begin Patch";

/// Returns true if the text contains a patch.
pub(super) fn contains_patch(text: &str) -> bool {
    text.contains(BEGIN)
}

/// The calls that a patch stands for: the tool and its arguments, a file each. A text without a file is an `edit` of an
/// unknown one.
pub(super) fn calls(patch: &str) -> Vec<(&'static str, Value)> {
    let mut files: Vec<(&'static str, &str, String)> = Vec::new();
    for line in patch.lines() {
        let line = line.trim_end_matches('\r');
        let head = |prefix| line.trim_start().strip_prefix(prefix).map(str::trim);
        if let Some(path) = head("*** Add File:").or_else(|| head("*** Move to:")) {
            files.push(("write", path, String::new()));
        } else if let Some(path) = head("*** Update File:").or_else(|| head("*** Delete File:")) {
            files.push(("edit", path, String::new()));
        } else if let (Some((_, _, added)), Some(text)) = (files.last_mut(), line.strip_prefix('+'))
        {
            added.push_str(text);
            added.push('\n');
        }
    }
    if files.is_empty() {
        return vec![("edit", json!({ "patch": patch }))];
    }
    let call = |(tool, path, added)| (tool, json!({ "path": path, "content": added }));
    files.into_iter().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_a_patch_is_a_call() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n\
            @@\n-x\n+y\n*** Delete File: d.txt\n*** End Patch\n";
        assert_eq!(
            calls(patch),
            [
                ("write", json!({ "path": "a.txt", "content": "one\ntwo\n" })),
                ("edit", json!({ "path": "b.txt", "content": "" })),
                ("write", json!({ "path": "c.txt", "content": "y\n" })),
                ("edit", json!({ "path": "d.txt", "content": "" })),
            ]
        );
    }

    #[test]
    fn a_patch_without_files_is_an_edit_of_an_unknown_file() {
        assert_eq!(calls("hm"), [("edit", json!({ "patch": "hm" }))]);
    }
}
