use super::unknown_command;

#[test]
fn scripts_that_only_read_are_known() {
    for script in [
        "10,20p",
        "$d",
        "/fn main/,/^}/p",
        "s/a/b/g",
        ":a;N;$!ba;s/\\n/ /g",
        "/a/{s/b/c/;p}",
        "1~2d",
        "0,/x/{//!b;s/x/y/}",
        "/a/I,+3p",
        "s/[[:space:]]*$//",
        "n;d",
        "2q",
        "=",
        "/^$/!p",
        "s/\\//x/p",
    ] {
        assert_eq!(unknown_command(script), None, "{script:?}");
    }
}

#[test]
fn other_scripts_are_unknown_from_the_first_other_command() {
    for (script, unknown) in [
        ("w x", "w x"),
        ("1w x", "1w x"),
        ("p;1,3w x", "1,3w x"),
        ("s/a/b/w x", "w x"),
        ("s/a/b/e", "e"),
        ("s/a/b/gew", "ew"),
        ("e", "e"),
        ("1e touch x", "1e touch x"),
        ("/[]/]/w x", "/[]/]/w x"),
        ("/[/]/w x", "/[/]/w x"),
        ("/[\\]/]/w x", "/[\\]/]/w x"),
        ("1a foo\\\\\nw x", "1a foo\\\\\nw x"),
        ("s]a]b]w x", "s]a]b]w x"),
        (":a w x", "w x"),
        ("y/a/b/;w x", "y/a/b/;w x"),
        ("sxaxbxw x", "sxaxbxw x"),
        ("i\\\nfoo\nw x", "i\\\nfoo\nw x"),
        ("/a/Iw x", "/a/Iw x"),
        ("}w x", "w x"),
        ("v", "v"),
        ("\\,a,w x", "\\,a,w x"),
        ("{w x\n}", "w x\n}"),
        ("/a/,w x", "/a/,w x"),
        ("s/a/b\\\n/;w x", "s/a/b\\\n/;w x"),
        ("5", "5"),
    ] {
        assert_eq!(unknown_command(script), Some(unknown), "{script:?}");
    }
}
