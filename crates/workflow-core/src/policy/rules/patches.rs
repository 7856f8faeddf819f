//! The files that a patch names: in the format of `apply_patch`, or as a diff.

use std::borrow::Cow;

/// The line that begins a patch of `apply_patch`, and the one that ends it.
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
/// The beginnings of lines of a diff of git about a file that gets another name.
const RENAMES: [&str; 4] = ["rename from ", "rename to ", "copy from ", "copy to "];

/// A line of `apply_patch` that names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchedFile<'t> {
    /// A file that is created, also under another name.
    Created(&'t str),
    /// A file that is changed or removed.
    Changed(&'t str),
}

impl<'t> PatchedFile<'t> {
    /// Reads a line of a patch.
    pub fn parse(line: &'t str) -> Option<Self> {
        let of = |head| line.trim_start().strip_prefix(head).map(str::trim);
        let created = of("*** Add File:").or_else(|| of("*** Move to:"));
        let changed = || of("*** Update File:").or_else(|| of("*** Delete File:"));
        created
            .map(Self::Created)
            .or_else(|| changed().map(Self::Changed))
    }
}

/// Returns whether a shell line contains a patch of `apply_patch`.
pub fn contains_patch(line: &str) -> bool {
    line.contains(BEGIN)
}

/// Returns the directory to which a shell line changes before it applies its patch: empty if it does not, `None` if that is
/// unclear, as after a `cd` that may fail.
pub fn directory_of_patch(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once(BEGIN)?;
    let after = rest
        .split(BEGIN)
        .filter_map(|patch| Some(patch.split_once(END)?.1));
    let outside = std::iter::once(before).chain(after);
    let mut words = outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
    if !words.any(|word| matches!(word, "cd" | "pushd" | "popd" | "chdir")) {
        return Some("");
    }
    // `cd src && apply_patch <<'E'`
    let (directory, command) = before.trim_start().strip_prefix("cd ")?.split_once("&&")?;
    let directory = directory.trim();
    let is_plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let is_certain = directory.chars().all(is_plain)
        && !command
            .trim_end()
            .contains(['&', ';', '|', '\n', '(', '{', '`'])
        && !command.split_whitespace().any(|word| word == "cd")
        && rest.matches(END).count() == 1
        && !rest.contains(BEGIN)
        && rest
            .split_once(END)
            .is_some_and(|(_, end)| !end.contains(['&', ';', '|', '`', '(']));
    is_certain.then_some(directory)
}

/// Returns a path from a directory, unless it is absolute.
pub fn path_in(directory: &str, path: &str) -> String {
    if directory.is_empty() || path.starts_with('/') {
        return path.to_owned();
    }
    let separator = if path.is_empty() { "" } else { "/" };
    [directory, separator, path].concat()
}

/// Returns the files that a text changes if it is a patch; none if it is not. A name that cannot be read is `None`.
pub(super) fn patched_files(text: &str) -> Vec<Option<Cow<'_, str>>> {
    let marks = ["*** ", "+++ ", "rename ", "copy ", "diff --git "];
    if !marks.iter().any(|mark| text.contains(*mark)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut old = None;
    for line in text.lines() {
        let renamed = RENAMES.iter().find_map(|head| line.strip_prefix(head));
        if let Some(PatchedFile::Created(path) | PatchedFile::Changed(path)) =
            PatchedFile::parse(line)
        {
            found.push(Some(path.into()));
        } else if let (Some(old), Some(new)) = (old, line.strip_prefix("+++ ")) {
            found.extend([old, new].into_iter().flat_map(in_diff));
        } else if let Some(path) = renamed {
            found.push(unquoted(path.trim()).map(|(path, _)| path));
        } else if let Some(paths) = line.strip_prefix("diff --git ") {
            found.extend(in_git_header(paths));
        }
        old = line.strip_prefix("--- ");
    }
    found
}

/// Returns the paths of a line of a diff that starts with `---` or `+++`, which a time may follow.
fn in_diff(line: &str) -> Vec<Option<Cow<'_, str>>> {
    let line = line.trim_end();
    if line.starts_with('"') {
        return unquoted(line).map_or(vec![None], |(path, _)| without_prefix(path));
    }
    let path = line.split('\t').next().unwrap_or_default().trim();
    let is_time = |rest: &str| {
        rest.as_bytes()
            .get(..5)
            .is_some_and(|year| year[..4].iter().all(u8::is_ascii_digit) && year[4] == b'-')
    };
    let time = path
        .match_indices(' ')
        .find(|(at, _)| is_time(&path[at + 1..]));
    let mut found = without_prefix(path.into());
    if let Some((at, _)) = time {
        found.extend(without_prefix(path[..at].into()));
    }
    found
}

/// Returns the paths of the first line of a diff of git: `a/x b/x`.
fn in_git_header(paths: &str) -> Vec<Option<Cow<'_, str>>> {
    let paths = paths.trim();
    let pair: Option<(Cow<'_, str>, Cow<'_, str>)> = if paths.contains('"') {
        unquoted(paths).and_then(|(old, rest)| Some((old, unquoted(rest.trim_start())?.0)))
    } else {
        // Of a name with spaces, the halves are the same.
        let middle = paths.len() / 2;
        let halves = paths
            .is_char_boundary(middle)
            .then(|| paths.split_at(middle));
        let halves = halves.and_then(|(old, new)| Some((old, new.strip_prefix(' ')?)));
        let inner = |path: &'_ str| path.split_once('/').map(|(_, inner)| inner.to_owned());
        let halves = halves.filter(|(old, new)| old == new || inner(old) == inner(new));
        let halves = halves.or_else(|| paths.split_once(' ').filter(|(_, new)| !new.contains(' ')));
        halves.map(|(old, new)| (old.into(), new.into()))
    };
    match pair {
        Some((old, new)) => [without_prefix(old), without_prefix(new)].concat(),
        None => vec![None],
    }
}

/// Returns a path of a diff without its first directory, which most tools leave out, and as it is if that is neither `a` nor
/// `b`.
fn without_prefix(path: Cow<'_, str>) -> Vec<Option<Cow<'_, str>>> {
    if path.is_empty() || path == "/dev/null" {
        return Vec::new();
    }
    match path.split_once('/') {
        Some(("a" | "b", inner)) => vec![Some(inner.to_owned().into())],
        Some((_, inner)) => vec![Some(inner.to_owned().into()), Some(path)],
        None => vec![Some(path)],
    }
}

/// Returns a name of a patch that may be in quotes, with the escapes of C, and what follows it.
fn unquoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(" \"").unwrap_or(text.len());
        return Some((text[..end].into(), &text[end..]));
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().enumerate();
    loop {
        let (at, byte) = rest.next()?;
        match byte {
            b'"' => {
                let name = String::from_utf8_lossy(&bytes).into_owned();
                return Some((name.into(), &quoted[at + 1..]));
            }
            b'\\' => {
                let (at, escaped) = rest.next()?;
                bytes.push(match escaped {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'0'..=b'3' => {
                        let code = u8::from_str_radix(quoted.get(at..at + 3)?, 8).ok()?;
                        rest.nth(1)?;
                        code
                    }
                    b'"' | b'\\' => escaped,
                    _ => return None,
                });
            }
            _ => bytes.push(byte),
        }
    }
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
                "--- x.rs\t2024-01-01\n+++ y.rs 2024-01-01 00:00:00 +0000\n",
                vec!["x.rs", "y.rs 2024-01-01 00:00:00 +0000", "y.rs"],
            ),
            (
                "rename from \"a\\tb\"\nrename to b c\n",
                vec!["a\tb", "b c"],
            ),
            ("--- x/y\n+++ x/y\n", vec!["y", "x/y", "y", "x/y"]),
            ("--- \"a/x y\"\n+++ /dev/null\n", vec!["x y"]),
            (
                "--- \"a/\\056env\"\n+++ \"b/\\303\\244\"\n",
                vec![".env", "ä"],
            ),
            ("--- \"a/\\q\"\n+++ b/x\n", vec!["?", "x"]),
            (
                "diff --git a/.env b/.env\nold mode 100644\nnew mode 100755\n",
                vec![".env", ".env"],
            ),
            ("diff --git a/a b b/a b\n", vec!["a b", "a b"]),
            ("diff --git a/x b/y\n", vec!["x", "y"]),
            (
                "diff --git \"a/\\303\\244\" \"b/\\303\\244\"\n",
                vec!["ä", "ä"],
            ),
            ("diff --git a/x y b/z\n", vec!["?"]),
            ("+*** Update File: x\n+++ one more\n", vec![]),
            ("a text", vec![]),
        ] {
            let found = patched_files(patch);
            let found: Vec<&str> = found
                .iter()
                .map(|path| path.as_deref().unwrap_or("?"))
                .collect();
            assert_eq!(found, expected, "{patch}");
        }
    }

    #[test]
    fn the_directory_of_a_patch_is_the_one_before_it() {
        let patch = "*** Begin Patch\n+cd x\n*** End Patch\nE";
        for (before, after, expected) in [
            ("apply_patch <<'E'\n", "", Some("")),
            ("cd src && apply_patch <<'E'\n", "", Some("src")),
            ("cd /p/src&&apply_patch <<'E'\n", "\n", Some("/p/src")),
            // If it fails, the patch is applied elsewhere.
            ("cd src; apply_patch <<'E'\n", "", None),
            ("cd src\napply_patch <<'E'\n", "", None),
            ("cd src & apply_patch <<'E'\n", "", None),
            ("cd src && true; apply_patch <<'E'\n", "", None),
            ("cd src && ls || apply_patch <<'E'\n", "", None),
            (
                "cd src && apply_patch <<'E'\n",
                "\napply_patch <<'E'\n*** Begin Patch\n*** End Patch",
                None,
            ),
            ("cd \"$X\" && apply_patch <<'E'\n", "", None),
            ("ls; cd src && apply_patch <<'E'\n", "", None),
            ("(cd src && apply_patch <<'E'\n", "\n)", None),
            ("cd a && apply_patch <<'E'\n", "\ncd b", Some("a")),
        ] {
            let line = format!("{before}{patch}{after}");
            assert_eq!(directory_of_patch(&line), expected, "{line}");
        }
    }
}
