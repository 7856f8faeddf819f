//! Patterns of commands.

use workflow_shell::{analyze, matches, matches_exactly};

/// Pattern, line, whether a rule that forbids covers it, whether a rule that allows covers it.
#[rustfmt::skip] // A case a line.
const CASES: &[(&str, &str, bool, bool)] = &[
    // Options are a set, in any spelling and at any position.
    ("rm -rf *", "rm -rf node_modules", true, true),
    ("rm -rf *", "rm -fr x", true, true),
    ("rm -rf *", "rm -r -f x", true, true),
    ("rm -rf *", "rm -f -r x y", true, true),
    ("rm -rf *", "rm x -rf", true, true),
    ("rm -rf *", "rm --recursive --force x", true, true),
    ("rm -rf *", "rm -R --force x", true, true),
    ("rm -rf *", "rm -rfv x", true, true),
    ("rm -rf *", "rm -rf -- x", true, true),
    ("rm -rf *", "rm -rf", true, true),
    ("rm -rf *", "rm -rf \"$DIR\"/*", true, true),
    ("rm -rf *", "rm -r x", false, false),
    ("rm -rf *", "rm -f x", false, false),
    ("rm -rf *", "rm -- -rf", false, false),
    ("rm -rf *", "rmdir -rf x", false, false),
    ("rm -rf *", "echo rm -rf x", false, false),
    ("rm -rf *", "echo 'rm -rf x'", false, false),
    // The name alone counts, unless the pattern has a directory.
    ("rm *", "/bin/rm x", true, true),
    ("rm *", "\\rm x", true, true),
    ("rm *", "\"rm\" x", true, true),
    ("rm *", "./rm x", true, true),
    ("/bin/rm *", "/bin/rm x", true, true),
    ("/bin/rm *", "rm x", false, false),
    ("rm*", "rmdir x", true, false),
    // Commands behind wrappers, in substitutions and in scripts.
    ("rm -rf *", "sudo rm -rf x", true, true),
    ("rm -rf *", "A=1 B=2 rm -rf x", true, true),
    ("rm -rf *", "env A=1 rm -rf x", true, true),
    ("rm -rf *", "ls; true && (rm -rf x)", true, true),
    ("rm -rf *", "echo $(rm -rf x)", true, true),
    ("rm -rf *", "bash -c 'rm -rf x'", true, true),
    ("rm -rf *", "find . -exec rm -rf {} +", true, true),
    ("rm -rf *", "ls | xargs rm -rf", true, true),
    ("rm -rf *", "ssh host rm -rf x", true, true),
    ("sudo *", "sudo ls", true, true),
    ("sudo *", "sudo -u bob ls", true, true),
    ("sudo *", "/usr/bin/sudo ls", true, true),
    ("sudo *", "time sudo ls", true, true),
    ("sudo *", "echo sudo", false, false),
    ("sudo", "sudo ls", true, false),
    // Options before a subcommand are skipped.
    ("git push *", "git push", true, true),
    ("git push *", "git push origin main", true, true),
    ("git push *", "git -C dir push origin", true, true),
    ("git push *", "git -c a.b=c -C dir push", true, true),
    ("git push *", "git --git-dir x push", true, true),
    ("git push *", "git --no-pager push", true, true),
    ("git push *", "git pull", false, false),
    ("git push *", "git log push", false, false),
    ("git push --force *", "git push origin main --force", true, true),
    ("git push --force *", "git push -f", true, true),
    ("git push --force *", "git push origin main", false, false),
    ("git push", "git push --force", true, false),
    ("git push", "git push origin", true, false),
    ("git push", "git push", true, true),
    ("npm publish", "npm publish --tag next", true, false),
    ("npm publish", "npm --prefix pkg publish", true, true),
    ("npm run *", "npm run build", true, true),
    ("npm run build", "npm run build:all", false, false),
    ("npm run build*", "npm run build:all", true, true),
    ("kubectl delete *", "kubectl -n prod delete pod x", true, true),
    ("docker rm *", "docker --context c rm x", true, true),
    // An expansion may be any word, but not an option.
    ("git push *", "git $CMD", true, false),
    ("git push *", "git push $REMOTE", true, true),
    ("git push", "git push $REMOTE", true, false),
    // Braces are several words, and a glob may be any word that fits it.
    ("git push *", "git pu{sh,}", true, true),
    ("git push *", "git {push,origin}", true, true),
    ("git push *", "git {status,push}", false, false),
    ("rm -rf *", "rm -{r,f} x", true, true),
    ("git push *", "git pus[h]", true, false),
    ("git push *", "git p?s*", true, false),
    ("git push *", "git @(push)", true, false),
    ("git push *", "git pus[[:alpha:]]", true, false),
    ("git push *", "git pus[]h]", true, false),
    ("git push *", "git @(p@(us)h)", true, false),
    ("rm -rf *", "rm -{r..r}f x", true, false),
    ("git push --force", "git push --forc{e..e}", true, false),
    ("rm -rf *", "rm -r --inter*=x x", true, false),
    ("grep -r *", "grep -n --include=*.rs x", false, false),
    ("rm -rf *", "rm *.rs", false, false),
    ("git push *", "git 'pus?'", false, false),
    ("git push *", "git *.rs", false, false),
    ("curl *example.com*", "curl https://*.org/x", true, false),
    ("cat README.md", "cat \"$F\"", true, false),
    ("rm -rf *", "rm $OPTIONS x", false, false),
    ("curl *example.com*", "curl https://example.com/x", true, true),
    ("curl *example.com*", "curl https://example.org/x", false, false),
    // `*` as the last word covers further words; without it, a rule that allows covers no further words.
    ("cargo test *", "cargo test", true, true),
    ("cargo test *", "cargo test --workspace -q x", true, true),
    ("cargo test", "cargo test --workspace", true, false),
    ("ls", "ls", true, true),
    ("ls", "ls -la src", true, false),
    ("*", "anything at all", true, false),
    ("* *", "anything at all", true, true),
    ("", "ls", false, false),
];

#[test]
fn patterns_cover_the_expected_commands() {
    let mut wrong = Vec::new();
    for (pattern, line, forbids, allows) in CASES {
        let commands = analyze(line).commands;
        let found = commands.iter().any(|command| matches(pattern, command));
        let exact = commands
            .iter()
            .any(|command| matches_exactly(pattern, command));
        if (found, exact) != (*forbids, *allows) {
            wrong.push(format!(
                "{pattern:?} and {line:?}: forbids {found}, allows {exact}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_option_among_more_braces_than_are_expanded_is_covered() {
    let names: Vec<String> = (0..64).map(|number| format!("a{number}")).collect();
    let line = format!("rm {{-rf,{}}} x", names.join(","));
    assert!(matches("rm -rf *", &analyze(&line).commands[0]));
}
