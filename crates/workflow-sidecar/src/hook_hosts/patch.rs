//! Patches of `apply_patch`, as calls of the tools that change one file.

use serde_json::{Value, json};
use workflow_core::policy::rules::{PatchedFile, path_in};

/// The calls that a patch stands for: the tool and its arguments, a file each, in a directory. A text without a file, or in a
/// directory that is unknown, is an `edit` of an unknown file.
pub(super) fn calls(patch: &str, directory: Option<&str>) -> Vec<(&'static str, Value)> {
    let mut files: Vec<(&'static str, String, String)> = Vec::new();
    let lines = directory.map_or("", |_| patch).lines();
    let named = |file| path_in(directory.unwrap_or_default(), file);
    for line in lines.map(|line| line.trim_end_matches('\r')) {
        match PatchedFile::parse(line) {
            Some(PatchedFile::Created(file)) => files.push(("write", named(file), String::new())),
            Some(PatchedFile::Changed(file)) => files.push(("edit", named(file), String::new())),
            None => {
                if let (Some((_, _, added)), Some(text)) =
                    (files.last_mut(), line.strip_prefix('+'))
                {
                    added.push_str(text);
                    added.push('\n');
                }
            }
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
            calls(patch, Some("")),
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
        assert_eq!(calls("hm", Some("")), [("edit", json!({ "patch": "hm" }))]);
    }

    #[test]
    fn the_files_of_a_patch_are_in_the_directory_of_its_line() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** Delete File: /b\n";
        let paths = |directory| -> Vec<Value> {
            let calls = calls(patch, directory).into_iter();
            calls.map(|(_, input)| input["path"].clone()).collect()
        };
        assert_eq!(paths(Some("src")), ["src/a", "/b"]);
        assert_eq!(paths(None), [Value::Null]);
    }
}
