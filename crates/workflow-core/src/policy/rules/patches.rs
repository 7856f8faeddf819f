//! The files that a patch names: in the format of `apply_patch`, or as a diff.

/// The line that begins a patch of `apply_patch`.
const BEGIN: &str = "*** Begin Patch";
/// The beginnings of lines of such a patch that name a file.
const HEADS: [&str; 4] = [
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
];
/// The beginnings of lines of a diff of git about a file that gets another name.
const RENAMES: [&str; 4] = ["rename from ", "rename to ", "copy from ", "copy to "];

/// Returns whether a shell line contains a patch of `apply_patch`.
pub(super) fn contains_patch(line: &str) -> bool {
    line.contains(BEGIN)
}

/// Returns the files that a text changes if it is a patch; none if it is not.
pub(super) fn patched_files(text: &str) -> Vec<&str> {
    let marks = ["*** ", "+++ ", "rename ", "copy "];
    if !marks.iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let after = |line, heads: &[&str]| {
        let mut heads = heads.iter();
        heads.find_map(|head| str::strip_prefix(line, *head))
    };
    let mut found = Vec::new();
    let mut old = None;
    for line in text.lines() {
        if let Some(path) = after(line.trim_start(), &HEADS) {
            found.push(path.trim());
        } else if let (Some(old), Some(new)) = (old, line.strip_prefix("+++ ")) {
            found.extend([old, new].into_iter().flat_map(diffed));
        } else if let Some(path) = after(line, &RENAMES) {
            found.push(path.trim());
        }
        old = line.strip_prefix("--- ");
    }
    found
}

/// Returns a path of a diff without its first directory, which most tools leave out, and as it is if that is neither `a` nor
/// `b`.
fn diffed(path: &str) -> impl Iterator<Item = &str> {
    // A time may follow.
    let path = path.split('\t').next().unwrap_or_default().trim();
    let path = path.trim_matches('"');
    let path = Some(path).filter(|path| !path.is_empty() && *path != "/dev/null");
    let parts = path.and_then(|path| path.split_once('/'));
    let is_marked = matches!(parts, Some(("a" | "b", _)));
    let inner = parts.map(|(_, inner)| inner);
    path.filter(|_| !is_marked).into_iter().chain(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_patch_are_found() {
        for (patch, expected) in [
            (
                "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b/c\n*** Move to: d\n*** Delete File: e\n",
                vec!["a", "b/c", "d", "e"],
            ),
            (
                "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n",
                vec!["x.rs", "x.rs"],
            ),
            ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n", vec!["new"]),
            (
                "--- x.rs\t2024-01-01\n+++ y.rs\t2024-01-01\n",
                vec!["x.rs", "y.rs"],
            ),
            ("rename from a\nrename to b\n", vec!["a", "b"]),
            ("--- x/y\n+++ x/y\n", vec!["x/y", "y", "x/y", "y"]),
            ("--- \"a/x y\"\n+++ /dev/null\n", vec!["x y"]),
            ("+*** Update File: x\n+++ one more\n", vec![]),
            ("a text", vec![]),
        ] {
            assert_eq!(patched_files(patch), expected, "{patch}");
        }
    }
}
