//! Patterns of commands.

use workflow_shell::{analyze, matches, matches_exactly};

/// Pattern, line, whether a rule that forbids covers it, whether a rule that allows covers it.
#[rustfmt::skip] // A case a line.
const CASES: &[(&str, &str, bool, bool)] = &[
    // To forbid, options are a set, in any spelling and at any position. To allow, the words are those of the pattern.
    ("rm -rf *", "rm -rf node_modules", true, true),
    ("rm -rf *", "rm -fr x", true, false),
    ("rm -rf *", "rm -r -f x", true, false),
    ("rm -rf *", "rm -f -r x y", true, false),
    ("rm -rf *", "rm x -rf", true, false),
    ("rm -rf *", "rm --recursive --force x", true, false),
    ("rm -rf *", "rm -R --force x", true, false),
    ("rm -rf *", "rm -rfv x", true, false),
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
    // To forbid, options before a subcommand are skipped. To allow, they are words like others.
    ("git push *", "git push", true, true),
    ("git push *", "git push origin main", true, true),
    ("git push *", "git -C dir push origin", true, false),
    ("git push *", "git -c a.b=c -C dir push", true, false),
    ("git push *", "git --git-dir x push", true, false),
    ("git push *", "git --no-pager push", true, false),
    ("git push *", "git pull", false, false),
    ("git push *", "git log push", false, false),
    ("git push --force *", "git push origin main --force", true, false),
    ("git push --force *", "git push -f", true, false),
    ("git push --force *", "git push origin main", false, false),
    ("git push", "git push --force", true, false),
    ("git push", "git push origin", true, false),
    ("git push", "git push", true, true),
    ("npm publish", "npm publish --tag next", true, false),
    ("npm publish", "npm --prefix pkg publish", true, false),
    ("npm run *", "npm run build", true, true),
    ("npm run build", "npm run build:all", false, false),
    ("npm run build*", "npm run build:all", true, true),
    ("kubectl delete *", "kubectl -n prod delete pod x", true, false),
    ("docker rm *", "docker --context c rm x", true, false),
    ("git add *", "git -c core.fsmonitor='touch pwned;true' add x", true, false),
    ("git add *", "git --exec-path=. add x", true, false),
    ("git add *", "git -c filter.y.clean='touch pwned' add x", true, false),
    ("git add *", "git --git-dir=/tmp/x add x", true, false),
    ("git add *", "git -C /tmp add x", true, false),
    ("git add *", "git add -- x", true, true),
    ("git -C docs add *", "git -C docs add x", true, true),
    ("git -C docs add *", "git -C /tmp add x", true, false),
    ("git * add", "git -p add", false, false),
    ("git fetch", "git -c protocol.ext.allow=always -c remote.origin.url='ext::touch pwned' fetch", true, false),
    ("make check", "make -f docs/M check", true, false),
    ("make check", "make -C docs check", true, false),
    ("make check", "make check -f docs/M", true, false),
    ("make check", "make -Cdocs check", true, false),
    ("make check", "make check", true, true),
    ("npm run test", "npm --prefix /tmp run test", true, false),
    ("npm run test", "npm run --prefix /tmp test", false, false),
    ("docker compose up", "docker -H tcp://x compose up", true, false),
    ("docker compose up *", "docker compose -f x.yml up", false, false),
    ("cargo test *", "cargo --config 'x=1' test", true, false),
    ("cargo test *", "cargo +nightly test", false, false),
    // An expansion may be any word, but not an option.
    ("git push *", "git $CMD", true, false),
    ("git push *", "git push $REMOTE", true, true),
    ("git push", "git push $REMOTE", true, false),
    // Braces are several words, and a glob may be any word that fits it.
    ("git push *", "git pu{sh,}", true, true),
    ("git push *", "git {push,origin}", true, true),
    ("git push *", "git {status,push}", false, false),
    ("rm -rf *", "rm -{r,f} x", true, false),
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
