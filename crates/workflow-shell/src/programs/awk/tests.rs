use super::unknown_part;

#[test]
fn programs_that_only_read_are_known() {
    for program in [
        "{print $1}",
        "NR==1",
        "$3 > 100 {print $1}",
        "{ if ($1 > m) m = $1 } END {print m}",
        "BEGIN{FS=\":\"} {print $1, $2}",
        "/a|b/ && !/c/",
        "{s += $1 / 2} END {print s/NR}",
        "{print length($0)}",
        "NR>=10 && NR<=20",
        "{a[$1]++} END {for (k in a) print k, a[k]}",
        "{printf \"%s\\n\", $1}",
        "$1 ~ /^[a-z]+$/",
        "/^[[:space:]_]*[[:alpha:]]+$/{print}",
        "BEGIN { x = (3 > 2) ? 1 : 0 }",
        "NR==n{print; exit}",
        "{gsub(/[ \\t]+/, \" \"); print}",
        "BEGIN{while ((getline l < \"f\") > 0) n++}",
    ] {
        assert_eq!(unknown_part(program), None, "{program:?}");
    }
}

#[test]
fn other_programs_are_unknown_from_the_first_other_part() {
    for (program, unknown) in [
        ("{print > \"x\"}", "> \"x\"}"),
        ("{print >> \"x\"}", ">> \"x\"}"),
        ("{print | \"sh\"}", "| \"sh\"}"),
        ("BEGIN{system(\"x\")}", "system(\"x\")}"),
        ("BEGIN{system (\"x\")}", "system (\"x\")}"),
        ("{print /\"/ > \"pwned\"}", "/\"/ > \"pwned\"}"),
        ("BEGIN{print \"a\",\n \"b\" > \"pwned\"}", "> \"pwned\"}"),
        ("BEGIN{print \"x\" \\\n > \"x\"}", "\\\n > \"x\"}"),
        ("BEGIN{print x ? \"a\" : \"b\" > \"x\"}", "> \"x\"}"),
        ("\"date\" | getline d", "| getline d"),
        ("@include \"x\"", "@include \"x\""),
        (
            "BEGIN{for (;;print > \"x\") break}",
            "print > \"x\") break}",
        ),
        ("{print(1) > \"x\"}", "> \"x\"}"),
        ("{print \"a\" |& \"sh\"}", "|& \"sh\"}"),
        (
            "BEGIN{if (1) /\"/; print > \"x\" #\"\n}",
            "/\"/; print > \"x\" #\"\n}",
        ),
        (
            "{print > \"/dev/stderr\" \"x\"}",
            "> \"/dev/stderr\" \"x\"}",
        ),
        ("BEGIN{f=\"system\"; @f(\"x\")}", "@f(\"x\")}"),
        ("{print $1, $2 > $3}", "> $3}"),
        ("{x[1]/\"/; print > \"x\" }", "\" }"),
        (
            "/[[:alpha:]/\"]/{print > \"x\"} #\"",
            "/[[:alpha:]/\"]/{print > \"x\"} #\"",
        ),
        ("{x++ /\"/; print > \"x\" }", "/\"/; print > \"x\" }"),
        ("{print", "{print"),
    ] {
        assert_eq!(unknown_part(program), Some(unknown), "{program:?}");
    }
}
