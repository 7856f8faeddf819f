//! What `commands`, `writable` and rules that allow open, and what they do not.

use serde_json::json;
use serde_json::value::to_raw_value;
use workflow_core::definition::{Opening, Phase, PhaseEntry, Rule, ToolAccess};
use workflow_core::policy::rules::{
    Call, CallDecision, LevelRules, PLAIN_PATHS, PathForm, Paths, ReadOnly, RuleSource, Rules,
};

use crate::world::{World, line, phase, workflow};

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn patterns(all: &[&str]) -> Vec<Opening> {
    texts(all).into_iter().map(Opening::Command).collect()
}

/// A session in a read-only phase with these globs and patterns open.
fn started(writable: &[&str], commands: &[&str]) -> World {
    let source = "f:1".to_owned();
    in_phase(Phase {
        tools: Some(ToolAccess::ReadOnly { source }),
        writable: texts(writable),
        commands: patterns(commands),
        ..phase("a")
    })
}

fn in_phase(phase: Phase) -> World {
    let mut work = workflow("w", &[]);
    work.phases = vec![PhaseEntry::Phase(phase)];
    World::started(vec![work])
}

fn said(world: &mut World, command: &str) -> Vec<String> {
    world.call("bash", &json!({"command": command}))
}

fn runs(world: &mut World, command: &str) -> bool {
    let said = said(world, command);
    let is_denial = |line: &String| line.starts_with("block") || line.starts_with("ask");
    !said.iter().any(is_denial)
}

/// Asserts which lines run in a read-only phase.
fn check(writable: &[&str], commands: &[&str], open: &[&str], closed: &[&str]) {
    let mut wrong = Vec::new();
    for (lines, is_open) in [(open, true), (closed, false)] {
        for command in lines {
            let mut world = started(writable, commands);
            if runs(&mut world, command) != is_open {
                wrong.push(format!(
                    "{command:?} is not {}",
                    if is_open { "open" } else { "closed" }
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{writable:?} {commands:?}:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn a_pattern_holds_in_the_root_of_the_project() {
    let open = [
        "make check",
        "cd . && make check",
        "cd /project && make check",
        "cd docs/.. && make check",
        "cd docs && cd .. && make check",
        "pushd . && make check",
        "timeout 60 make check",
        "(cd docs && ls); make check",
        "git status && make check",
    ];
    let closed = [
        "cd docs && make check",
        "cd docs; make check",
        "cd docs || make check",
        "cd /tmp && make check",
        "cd / && make check",
        "cd && make check",
        "cd ~ && make check",
        "cd - && make check",
        "cd \"$X\" && make check",
        "cd . ; make check",
        "pushd docs && make check",
        "pushd docs; popd; make check",
        "(cd docs && make check)",
        "(cd docs; make check)",
        "{ cd docs && make check; }",
        "env -C docs make check",
        "env --chdir=docs make check",
        "sudo -D docs make check",
        "bash -c 'cd docs && make check'",
        "eval 'cd docs && make check'",
        "command cd docs && make check",
        "builtin cd docs && make check",
        "\\cd docs && make check",
        "c\"d\" docs && make check",
        "find docs -maxdepth 0 -execdir make check \\;",
        "ls docs | xargs -I{} sh -c 'cd {} && make check'",
        "while make check; do cd docs; done",
        "for d in docs; do make check; cd $d; done",
        "if cd docs; then make check; fi",
        "f() { make check; }; cd docs && f",
        "alias x='make check'; cd docs; x",
        "trap 'make check' EXIT; cd docs",
        "cd() { builtin cd docs; }; cd . && make check",
        "CDPATH=docs; cd . && make check",
        "HOME=docs; cd ~ && make check",
        "ssh host make check",
        "docker exec c make check",
        "kubectl exec pod -- make check",
        "git submodule foreach 'make check'",
        "make -C docs check",
        "make -Cdocs check",
        "make -f docs/M check",
        "make check -f docs/M",
        "make check SHELL=docs/x",
        "make --directory=docs check",
        "MAKEFLAGS='-f docs/M' make check",
        "MAKEFILES=docs/M make check",
        "export MAKEFLAGS='-f docs/M'; make check",
        "set -a; MAKEFLAGS='-f docs/M'; make check",
        "export MAKEFILES=docs/M && make check",
        "PATH=docs:$PATH; make check",
        "export PATH=docs; make check",
        "PATH=docs make check",
        "hash -p docs/make make; make check",
        "enable -f docs/x.so make; make check",
        "make() { docs/x; }; make check",
        "alias make=docs/x; make check",
        "docs/make check",
        "./make check",
        "make check > src/x",
    ];
    check(&["docs/**"], &["make check"], &open, &closed);
    check(
        &["docs/**"],
        &["./scripts/count *", "npm test", "make check"],
        &[
            "./scripts/count x",
            "mkdir -p docs/scripts; printf '#!/bin/sh\\ntouch ../src/pwned\\n' > docs/scripts/count; chmod +x docs/scripts/count",
        ],
        &[
            "cd docs && ./scripts/count x",
            "docs/scripts/count x",
            "printf 'check:\\n\\ttouch ../src/pwned\\n' > docs/Makefile; cd docs && make check",
            "cd docs && npm test",
        ],
    );
    check(
        &["docs/**"],
        &["cd docs/.. && make check"],
        &["make check"],
        &[],
    );
}

#[test]
fn a_pattern_with_a_directory_holds_there() {
    let open = [
        "cd sub && make check",
        "cd ./sub && make check",
        "cd sub/ && make check",
        "cd /project/sub && make check",
        "cd . && cd sub && make check",
        "cd sub && make check && git status",
    ];
    let closed = [
        "make check",
        "cd . && make check",
        "cd docs && make check",
        "cd sub/docs && make check",
        "cd sub && cd docs && make check",
        "cd sub; make check",
        "cd sub && make install",
        "cd sub && make -C ../docs check",
    ];
    check(&["docs/**"], &["cd sub && make check"], &open, &closed);
    check(
        &[],
        &["cd  ./sub  &&  make check"],
        &["cd sub && make check"],
        &["make check"],
    );
    check(
        &[],
        &["cd /tmp/x && make check"],
        &["cd /tmp/x && make check"],
        &["make check"],
    );
    check(
        &["sub/**"],
        &["cd sub && make check"],
        &[],
        &["cd sub && make check"],
    );
    check(
        &["sub/docs/**"],
        &["cd sub && make check"],
        &["cd sub && make check"],
        &[],
    );
}

#[test]
fn a_call_in_another_directory_is_there() {
    let mut world = started(&[], &["make check", "cd sub && npm test"]);
    let mut runs = |command: &str, directory: &str| {
        let said = world.call("bash", &json!({"command": command, "cwd": directory}));
        !said.iter().any(|line| line.starts_with("block"))
    };
    assert!(runs("make check", ""));
    assert!(runs("make check", "."));
    assert!(runs("make check", "/project"));
    assert!(!runs("make check", "docs"));
    assert!(!runs("make check", "/tmp"));
    assert!(runs("cd .. && make check", "docs"));
    assert!(runs("npm test", "sub"));
    assert!(!runs("npm test", ""));
}

#[test]
fn usual_commands_are_open() {
    for (pattern, lines) in [
        ("npm test", &["npm test", "npm test && git diff"][..]),
        (
            "npm run *",
            &[
                "npm run build",
                "npm run build -- --watch",
                "npm run lint -w packages/a",
            ],
        ),
        (
            "./scripts/count *",
            &[
                "./scripts/count a b",
                "./scripts/count docs/a.md",
                "./scripts/count",
            ],
        ),
        (
            "git add *",
            &[
                "git add a b",
                "git add -A docs",
                "git add -- docs/a.md",
                "git add .",
            ],
        ),
        (
            "git commit *",
            &["git commit -m docs", "git commit -F docs/message.txt"],
        ),
        (
            "cargo test *",
            &[
                "cargo test",
                "cargo test --doc",
                "cargo test -p a -- --nocapture",
            ],
        ),
        ("cargo test*", &["cargo test --lib a && git diff"]),
        (
            "pytest *",
            &["pytest -q tests/test_a.py", "pytest -k docs_test"],
        ),
        (
            "python scripts/gen.py *",
            &["python scripts/gen.py --out src/a.md"],
        ),
        ("make check *", &["make check -j 4", "make check VERBOSE=1"]),
        ("make *", &["make -j4", "make docs", "make -j4 test"]),
        ("npm *", &["npm test", "npm run docs", "npm run docs:build"]),
        ("cargo *", &["cargo test", "cargo doc --no-deps"]),
        ("go *", &["go test ./...", "go vet ./..."]),
        ("pytest *", &["pytest tests/", "pytest tests/*", "pytest"]),
        (
            "mytool *",
            &["mytool", "mytool src/a.md -v --config a.toml"],
        ),
    ] {
        check(&["docs/**"], &[pattern], lines, &[]);
    }
    check(
        &["docs/**"],
        &["git add *", "git commit *"],
        &[
            "git add a && git commit -m x",
            "echo x > docs/a && git add docs/a && git commit -m 'x y'",
        ],
        &[
            "git -c core.fsmonitor=docs/x add a && git commit -m x",
            "git add a && git push",
        ],
    );
}

#[test]
fn a_pattern_does_not_hold_where_what_it_runs_may_be_written() {
    for (writable, pattern, closed) in [
        (
            "./*",
            "make check",
            &["make check", "cd . && make check", "timeout 5 make check"][..],
        ),
        ("Makefile", "make check", &["make check"]),
        ("*.json", "npm test", &["npm test"]),
        ("*.json", "npm run *", &["npm run build"]),
        ("package.json", "yarn lint", &["yarn lint"]),
        ("build.rs", "cargo test *", &["cargo test"]),
        ("**", "cargo test *", &["cargo test"]),
        ("**", "git add *", &["git add x"]),
        (".cargo/**", "cargo test", &["cargo test"]),
        ("justfile", "just build", &["just build"]),
        ("conftest.py", "pytest *", &["pytest tests"]),
        (
            "scripts/**",
            "./scripts/count *",
            &["./scripts/count x", "cd . && ./scripts/count x"],
        ),
        ("scripts/count", "./scripts/count *", &["./scripts/count x"]),
        ("**/count", "./scripts/count *", &["./scripts/count x"]),
        (
            "scripts/**",
            "python scripts/gen.py *",
            &["python scripts/gen.py x"],
        ),
        (
            "scripts/**",
            "python3 -u scripts/gen.py *",
            &["python3 -u scripts/gen.py x"],
        ),
        (
            "scripts/**",
            "node *",
            &[
                "node scripts/x.js",
                "node -r ./scripts/x.js a.js",
                "node --import=./scripts/x.js a.js",
            ],
        ),
        ("scripts/**", "bash scripts/x.sh *", &["bash scripts/x.sh"]),
        ("scripts/**", ". scripts/x.sh", &[". scripts/x.sh"]),
        (
            "docs/**",
            "make *",
            &[
                "make -C docs check",
                "make -f docs/M check",
                "make -Cdocs",
                "make --file=docs/M",
                "make SHELL=docs/x a",
                "make check -f \"$X\"",
            ],
        ),
        (
            "docs/**",
            "npm run *",
            &["npm run test --prefix docs", "npm run test --prefix=docs"],
        ),
        (
            "docs/**",
            "cargo *",
            &[
                "cargo test --manifest-path docs/Cargo.toml",
                "cargo --config docs/x.toml test",
            ],
        ),
        (
            "docs/**",
            "pytest *",
            &["pytest -c docs/pytest.ini", "pytest --rootdir=docs"],
        ),
        (
            "docs/**",
            "python3 *",
            &[
                "python3 -- docs/x.py",
                "python3 -u -- docs/x.py",
                "python3 -m docs.x",
                "python3 */x.py",
                "python3 \"$x\"",
                "python3 scripts/x.py docs/a",
            ],
        ),
        ("docs/**", "node *", &["node -- docs/x.js", "node docs"]),
        (
            "docs/*",
            "make *",
            &[
                "make -C docs check",
                "make -Cdocs x",
                "make --directory docs x",
                "make -C docs -f a.mk",
            ],
        ),
        ("docs/*.mk", "make *", &["make -C docs -f a.mk"]),
        ("docs/*", "node *", &["node docs", "/usr/bin/node docs"]),
        ("docs/**", "go *", &["go run docs/x.go", "go run ./docs"]),
        ("docs/**", "deno *", &["deno run docs/x.ts"]),
        ("docs/**", "mocha *", &["mocha -r ./docs/x.js"]),
        ("docs/**", "jest *", &["jest --config docs/jest.config.js"]),
        ("docs/**", "eslint *", &["eslint -c docs/x.js ."]),
        ("docs/**", "awk *", &["awk -f docs/x a", "awk -fdocs/x a"]),
        (
            "docs/**",
            "ansible-playbook *",
            &["ansible-playbook docs/x.yml"],
        ),
        ("docs/*", "cmake *", &["cmake docs", "cmake -S docs -B b"]),
        ("docs/*", "docker *", &["docker build docs"]),
        ("docs/*", "terraform *", &["terraform -chdir=docs apply"]),
        ("docs/**", "sqlite3 *", &["sqlite3 -init docs/x db"]),
        (
            "docs/**",
            "pre-commit *",
            &["pre-commit run -c docs/x.yaml"],
        ),
        (
            "docs/**",
            "./x *",
            &["./x -c docs/y", "./x --config=docs/y"],
        ),
        ("docs/**", "java *", &["java -cp lib:docs Main"]),
        ("docs/**", "javac *", &["javac @docs/a"]),
        ("docs/**", "cargo *", &["cargo test -- docs/x"]),
        ("docs/**", "mytool *", &["mytool docs/a.md", "mytool *"]),
    ] {
        check(&[writable], &[pattern], &[], closed);
    }
}

#[test]
fn the_reason_says_why_a_pattern_does_not_open_a_command() {
    let block = |writable: &[&str], command: &str| {
        let said = said(&mut started(writable, &["make check"]), command);
        line(&said, "block").to_owned()
    };
    let text = block(&["Makefile"], "make check");
    let expected = "`make check` is opened by `commands`, but `writable` opens Makefile, which may decide what it runs.";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("the user can add"), "{text}");
    let text = block(&[], "cd sub && make check");
    assert!(
        text.contains("`make check` is opened by `commands`, but not in this directory."),
        "{text}"
    );
    assert!(
        text.contains("the user can add `commands: [\"cd sub && make check *\"]`"),
        "{text}"
    );
    let text = block(&[], "cd \"$X\"; make check");
    assert!(text.contains("but not in this directory."), "{text}");
    assert!(!text.contains("the user can add"), "{text}");
    let text = block(&[], "cd /project && make build");
    assert!(
        text.contains("the user can add `commands: [\"make build *\"]`"),
        "{text}"
    );
}

#[test]
fn what_makes_links_or_chooses_names_is_not_writable() {
    let open = [
        "mkdir -p docs/img && cp img/a.png docs/img",
        "cp -p a docs/a && echo x > docs/a",
        "cp -f a b docs/",
        "mv docs/a docs/b && echo x > docs/a",
        "echo x > docs/a && mv docs/a docs/d/",
        "ln docs/a docs/b",
        "find docs -name '*.tmp' -delete",
        "find -L docs -name '*.md'",
        "tar -tf docs/a.tar",
        "rm -rf docs/d && mkdir docs/d",
    ];
    let closed = [
        "cp -P /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp -a /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp -d /proc/self/cwd docs/c; echo pwned > docs/c/src/x.py",
        "cp -R /proc/self/cwd docs/c\necho pwned > docs/c/src/x.py",
        "cp -r /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp -vP /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp --no-dereference /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp --archive /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp -P -t docs /proc/self/cwd && echo pwned > docs/cwd/src/x.py",
        "cp -P /proc/self/root docs/r && echo pwned > docs/r/tmp/x",
        "cp -P /proc/self/cwd docs/c && echo pwned > ./docs//c/src/x.py",
        "cp -P /proc/self/cwd docs/c && echo pwned > /project/docs/c/src/x.py",
        "cp -P /proc/self/cwd /project/docs/c && echo pwned > docs/c/src/x.py",
        "cd docs && cp -P /proc/self/cwd c && echo pwned > c/../src/x.py",
        "cp -P /proc/self/cwd docs/c && cd docs/c/src && touch x.py",
        "cp -P /proc/self/cwd docs/c && cp a docs/c/src/x.py",
        "cp -P /proc/self/cwd docs/c && tee docs/c/src/x.py < a",
        "cp -P /proc/self/fd/0 docs/c < src/x.py && echo pwned > docs/c",
        "cp -P /proc/self/cwd docs/c & echo pwned > docs/c/src/x.py",
        "(sleep 1; echo pwned > docs/c/src/x.py) & cp -P /proc/self/cwd docs/c",
        "for i in 1 2; do echo pwned > docs/c/src/x.py; cp -P /proc/self/cwd docs/c; done",
        "while true; do echo pwned > docs/c/src/x.py; cp -P /proc/self/cwd docs/c; done",
        "f() { echo pwned > docs/c/src/x.py; }; cp -P /proc/self/cwd docs/c; f",
        "trap 'echo pwned > docs/c/src/x.py' EXIT; cp -P /proc/self/cwd docs/c",
        "sh -c 'cp -P /proc/self/cwd docs/c'; echo pwned > docs/c/src/x.py",
        "timeout 5 cp -P /proc/self/cwd docs/c; echo pwned > docs/c/src/x.py",
        "X=docs/c; cp -P /proc/self/cwd $X && echo pwned > docs/c/src/x.py",
        "cp -P /proc/self/cwd docs/[c] && echo pwned > docs/c/src/x.py",
        "cp -r docs/d docs/e && echo pwned > docs/e/l/src/x.py",
        "ln -s ../src docs/l && echo pwned > docs/l/x.py",
        "cd docs/a/b && ln -s ../src/x.py ../../x.py",
        "cd docs/a/b && cp -s ../src/x.py ../../x.py",
        "cd docs/a && ln -st .. ../src",
        "cd docs/a/b && ln -s ../src ../../l && echo pwned > ../../l/x.py",
        "ln -s docs/a docs/b",
        "cd docs/d && ln -s ../src l",
        "cp -r img docs/img",
        "cp -r docs/q/. docs",
        "cp -rL docs/q docs/r",
        "cp docs/q/*.md docs",
        "cp -t docs docs/q/[a-z].md",
        "tar -cf - -C /proc/self cwd | tar -xf - -C docs; echo pwned > docs/cwd/src/x.py",
        "tar -xf docs/a.tar -C docs",
        "cd docs && tar xf a.tar",
        "bsdtar -xf docs/a.tar -C docs",
        "unzip -o docs/a.zip -d docs",
        "rsync -a /proc/self/cwd docs/c && echo pwned > docs/c/src/x.py",
        "cp --parents cwd/src/x.py docs",
        "find -L docs -name '*.py' -delete",
        "find docs -follow -name '*.py' -delete",
        "find -H docs/l -name '*.py' -delete",
        "find -L docs -exec rm {} +",
        "chown -R -L me docs",
        "chown -RH me docs/l",
    ];
    check(&["docs/**"], &[], &open, &closed);
}

#[test]
fn a_line_that_may_be_in_another_directory_writes_nothing_there() {
    let open = [
        "cd docs && touch x",
        "cd -P -- docs && touch x",
        "pushd docs && touch x",
        "! grep -q x a && touch docs/x",
        "cd /project && for f in a b; do touch docs/x; done",
    ];
    let closed = [
        "f() { (cd src && ls); }; f; touch docs/x",
        "trap 'ls docs' EXIT; touch docs/x",
        "! cd docs/none && rm Makefile",
        "! cd docs/none && echo x > Makefile",
        "time ! cd docs/none && rm Makefile",
        "! time cd docs/none && rm Makefile",
        "! pushd docs/none && rm Makefile",
        "! { cd docs/none; } && rm Makefile",
        "! cd docs/none && true && rm Makefile",
        "! ! ! cd docs/none && rm Makefile",
        "! command cd docs/none && rm Makefile",
        "{ ! cd docs/none && rm Makefile; }",
        "if ! cd docs/none && rm Makefile; then :; fi",
        "n=Makefile; ! cd docs/none && rm \"$n\"",
        "pushd -n docs && echo pwned > Makefile",
        "builtin pushd -n docs && echo pwned > Makefile",
        "command pushd -n docs && echo pwned > Makefile",
        "pushd -n -- docs && echo pwned > Makefile",
        "cd docs none; echo pwned > Makefile",
        "true && cd() { :; } && cd docs && echo x > Makefile",
        "true && function cd { :; } && cd docs && echo x > Makefile",
        "true && pushd() { :; } && pushd docs && rm Makefile",
        "if true; then cd() { :; }; fi; cd docs && touch pwned",
        "true && command() { :; } && command cd docs && touch pwned",
        "if true; then builtin() { :; }; fi; builtin cd docs && touch pwned",
        "shopt -s expand_aliases\nalias cd=:\ncd docs && touch pwned",
        "cd docs && trap 'cd ..' DEBUG && touch pwned",
        "cd docs && trap 'pushd .. >/dev/null' DEBUG && touch pwned",
        "cd /project/docs && trap 'cd ..' DEBUG && touch pwned",
        "f() { cd ..; } && cd /project/docs && f && rm Makefile",
        "true && f() { cd ..; }; cd /project/docs && f && rm Makefile",
        "true && ls() { cd ..; }; cd /project/docs && ls && rm Makefile",
        "f() { cd ..; }; g() { f; }; cd /project/docs && g && rm Makefile",
        "f() { eval 'cd ..'; }; cd /project/docs && f && rm Makefile",
        "cd /project/docs && for i in 1 2; do touch y; cd ..; done",
    ];
    check(&["docs/**"], &["make check"], &open, &closed);
}

#[test]
fn a_rule_that_allows_a_command_holds_in_the_root_of_the_project() {
    let rule = |value| serde_json::from_value::<Rule>(value).expect("it is a rule");
    let mut world = in_phase(Phase {
        rules: vec![
            rule(
                json!({"action": "allow", "tools": ["bash"], "command": ["git add *", "cd sub && make check", "ls *"]}),
            ),
            rule(json!({"action": "block", "tools": ["bash"]})),
        ],
        ..phase("a")
    });
    for command in [
        "git add x",
        "cd . && git add x",
        "cd /project && git add x && git add y",
        "cd sub && make check",
        "cd docs && ls -l",
    ] {
        assert!(runs(&mut world, command), "{command}");
    }
    for command in [
        "cd docs && git add x",
        "cd docs",
        "make check",
        "git -C docs add x",
        "git -c core.fsmonitor='touch pwned;true' add x",
        "cd sub && git add x",
        "env -C docs git add x",
    ] {
        assert!(!runs(&mut world, command), "{command}");
    }
}

#[test]
fn a_rule_that_allows_does_not_hold_where_what_it_runs_may_be_written() {
    let allow = json!({"action": "allow", "tools": ["bash"], "command": ["make check"]});
    let mut work = workflow("w", &[]);
    let source = "f:1".to_owned();
    work.tools = Some(ToolAccess::ReadOnly { source });
    work.rules = vec![serde_json::from_value(allow).expect("it is a rule")];
    work.phases = vec![PhaseEntry::Phase(phase("a"))];
    assert!(runs(&mut World::started(vec![work.clone()]), "make check"));
    work.writable = texts(&["Makefile"]);
    assert!(!runs(&mut World::started(vec![work]), "make check"));
}

#[test]
fn a_rule_that_blocks_a_command_of_a_directory_blocks_it_anywhere() {
    let block = json!({"action": "block", "tools": ["bash"], "command": ["cd sub && make deploy"]});
    let mut world = in_phase(Phase {
        rules: vec![serde_json::from_value(block).expect("it is a rule")],
        ..phase("a")
    });
    assert!(!runs(&mut world, "cd sub && make deploy"));
    assert!(!runs(&mut world, "make -s deploy"));
    assert!(runs(&mut world, "make check"));
}

/// Paths with links that are there, and their targets.
#[derive(Debug)]
struct WithLinks(&'static [(&'static str, &'static str)]);

impl Paths for WithLinks {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let mut forms = PLAIN_PATHS.forms(path);
        for (link, target) in self.0 {
            let behind = forms[0].in_project.as_deref();
            let rest = behind.and_then(|path| path.strip_prefix(link));
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                forms.extend(PLAIN_PATHS.forms(&format!("{target}{rest}")));
            }
        }
        forms
    }

    fn ignores_case(&self) -> bool {
        false
    }
}

/// Asserts which lines run where `docs/**` and some commands are open, with links on the disk.
fn check_with_links(
    links: &'static [(&'static str, &'static str)],
    open: &[&str],
    closed: &[&str],
) {
    let paths = WithLinks(links);
    let writable = texts(&["docs/**"]);
    let commands = patterns(&["make check", "./scripts/count *", "cd sub && npm test"]);
    let rules = Rules::new([LevelRules {
        name: "a level".into(),
        source: RuleSource::Phase,
        tools: None,
        rules: (&[]).into(),
        read_only: Some(ReadOnly::new("f:1", &writable, &commands)),
        unknown: None,
        on_repeat: None,
    }]);
    let runs = |command: &str| {
        let input = to_raw_value(&json!({"command": command})).expect("a value is JSON");
        let decision = rules.decide(&Call::new("bash", Some(&input), &paths));
        matches!(decision, CallDecision::Allow)
    };
    for command in open {
        assert!(runs(command), "{command:?} {links:?}");
    }
    for command in closed {
        assert!(!runs(command), "{command:?} {links:?}");
    }
}

#[test]
fn links_that_are_there_lead_out_of_what_is_writable() {
    let open = ["echo x > docs/a", "cp a docs", "cp b/a docs/"];
    let closed = [
        "echo pwned > docs/c/src/x.py",
        "touch docs/c/x",
        "cd docs/c && touch x",
        "cp a docs/c",
        "cp x.py docs",
        "cp docs/b/x.py docs/",
        "cp -t docs x.py",
        "cd docs && cp ../x.py .",
        "mv docs/b/a docs/c/a",
        "rm docs/x.py",
        "find docs/c/ -delete",
    ];
    check_with_links(
        &[("docs/c", "."), ("docs/x.py", "src/x.py")],
        &open,
        &closed,
    );
    let files: Vec<String> = (0..1100).map(|number| format!("f{number}")).collect();
    let many = format!("ls {}; cp x.py docs", files.join(" "));
    check_with_links(&[("docs/x.py", "src/x.py")], &[], &[&many]);
}

#[test]
fn a_file_that_a_link_leads_to_decides_what_runs() {
    check_with_links(
        &[],
        &["make check", "./scripts/count x", "cd sub && npm test"],
        &[],
    );
    check_with_links(
        &[("Makefile", "docs/M")],
        &["./scripts/count x"],
        &["make check"],
    );
    check_with_links(
        &[("scripts", "docs/s")],
        &["make check"],
        &["./scripts/count x"],
    );
    check_with_links(
        &[("sub", "docs/sub")],
        &["make check"],
        &["cd sub && npm test"],
    );
    check_with_links(
        &[("root", ".")],
        &["cd . && make check"],
        &["cd root && make check"],
    );
}

#[test]
fn patterns_that_open_nothing_are_known_without_a_call() {
    let closed = |writable: &[&str], commands: &[&str]| {
        ReadOnly::new("", &texts(writable), &patterns(commands))
            .closed_patterns()
            .len()
    };
    let commands = [
        "make check",
        "./scripts/count *",
        "cargo test*",
        "git status",
        "cd sub && npm run *",
        "mytool *",
    ];
    assert_eq!(closed(&["docs/**"], &commands), 0);
    assert_eq!(closed(&[".npmrc", "docs/a", "**/.git/hooks/*"], &[]), 2);
    assert_eq!(closed(&["**"], &commands), 5);
    assert_eq!(closed(&["sub/**", "scripts/**"], &commands), 2);
    assert_eq!(
        closed(&["docs/**"], &["make -C docs *", "python docs/x.py"]),
        2
    );
}

#[test]
fn what_decides_what_a_reading_program_runs_is_not_writable() {
    let open = [
        "mkdir -p docs/r && echo x > docs/r/config",
        "echo x > docs/git/HEAD",
    ];
    let closed = [
        "mkdir -p docs/r/.git",
        "echo 'ref: refs/heads/m' > docs/r/.git/HEAD",
        "cp -r docs/a docs/r/.git",
        "mv docs/r/git docs/r/.GIT",
        "echo x > docs/r/.git",
        "cd docs/r && echo x > .git/config",
        "echo x > /project/docs/.git/config",
        "echo x > docs/rust-toolchain.toml",
        "echo x > docs/rust-toolchain",
        "echo x > docs/.mvn/jvm.config",
        "cp docs/a docs/.npmrc",
        "tee docs/.yarnrc.yml < docs/a",
        "echo x > docs/.envrc",
        "echo x > docs/pip.conf",
        "mkdir docs/.cargo && echo x > docs/.cargo/config.toml",
        "cp -t docs rust-toolchain.toml",
    ];
    check(&["docs/**"], &[], &open, &closed);
}

#[test]
fn a_program_that_is_installed_in_a_directory_is_code_of_the_project() {
    let open = [
        "/usr/bin/cat x",
        "cat docs/x",
        "node_modules/.bin/prettier --write docs/a.md",
    ];
    let closed = [
        ".venv/bin/cat x",
        "cd docs && .venv/bin/cat x",
        "cd docs && ./.venv/bin/cat x",
        "cd docs && venv/bin/cat x",
        "cd docs && node_modules/.bin/cat x",
        "cd docs && vendor/bin/cat x",
        "cd /project/docs && .venv/bin/cat x",
        "env -C docs .venv/bin/cat x",
        "cd docs && timeout 5 .venv/bin/cat x",
        "ls | xargs .venv/bin/cat",
        "cd docs && node_modules/.bin/tee a.md",
        "cd docs && bin/rails --version",
        "cd docs && ./gradlew --version",
        "/usr/bin/cd docs && touch x",
        ".venv/bin/cd docs && touch x",
        "mkdir -p docs/.venv/bin",
        "echo x > docs/.venv/bin/cat",
        "echo x > docs/node_modules/.bin/cat",
        "cd docs && cp a vendor/bin/cat",
        "chmod +x docs/venv/bin/cat",
    ];
    check(&["docs/**"], &[], &open, &closed);
    check(
        &["docs/**"],
        &[".venv/bin/pytest *", "cd docs && .venv/bin/cat *"],
        &[".venv/bin/pytest x", "cd /project && .venv/bin/pytest x"],
        &[
            "cd docs && .venv/bin/cat x",
            "cd docs && .venv/bin/pytest x",
        ],
    );
}

#[test]
fn a_variable_or_an_input_that_may_be_code_opens_nothing() {
    let commands = [
        "pytest *",
        "make *",
        "python manage.py test *",
        "git commit *",
        "cargo test *",
    ];
    let open = [
        "pytest -q",
        "CI=1 pytest -q",
        "make test < /dev/null",
        "make test 2>&1 | tail -5",
        "git log | grep x; make test",
        "git commit -m x",
    ];
    let closed = [
        "PYTHONPATH=docs pytest",
        "PYTHONPATH=docs pytest -q",
        "PYTHONPATH=docs make test",
        "PYTHONPATH=docs timeout 5 make test",
        "PYTHONPATH=docs black docs/a.py",
        "DJANGO_SETTINGS_MODULE=docs.x pytest -q",
        "DJANGO_SETTINGS_MODULE=docs.x python manage.py test a",
        "export DJANGO_SETTINGS_MODULE=docs.x; pytest -q",
        "export DJANGO_SETTINGS_MODULE; DJANGO_SETTINGS_MODULE=docs.x; pytest -q",
        "env DJANGO_SETTINGS_MODULE=docs.x pytest -q",
        "env PYTHONPATH=docs pytest -q",
        "make -f - <<< 'x: ; touch f'",
        "echo 'x: ; touch f' | make -f -",
        "make -f /dev/stdin < docs/a",
        "make -f /dev/fd/3 3<<< 'x: ; touch f'",
        "make -f <(echo 'x: ; touch f')",
        "make -f - <<E\nx: ; touch f\nE",
        "pytest --trace <<< 'import os'",
        "pytest --pdb < docs/a",
        "{ make -f -; } < docs/a",
        "echo x | timeout 5 make -f -",
        "echo x | while true; do make -f -; done",
        "f() { make -f -; }; echo x | f",
        "f() { make -f -; }; f < docs/a",
        "echo x | bash -c 'make -f -'",
        "echo x | eval 'make -f -'",
    ];
    check(&["docs/**"], &commands, &open, &closed);
    let said = said(&mut started(&[], &["make *"]), "make -f - <<< x").join("\n");
    assert!(said.contains("but not with an input."), "{said}");
}

#[test]
fn git_reads_no_repository_that_may_be_written() {
    let anywhere = [
        "git status",
        "git -C . log",
        "git -C /project log",
        "git --no-pager -c color.ui=never diff",
        "git --version",
        "cd /project && git status",
        "(cd docs && ls); git status docs",
        "cd sub && git status",
        "git -C sub/x log",
        "git -C /tmp/x log",
    ];
    let elsewhere = [
        "git -C docs/x status",
        "git -C sub/../docs/x/y status",
        "cd docs/x && git status",
        "cd docs; git log",
        "git --git-dir=docs/x status",
        "git --git-dir docs/x log",
        "git --no-pager -C docs -C x diff",
        "git -C . -C docs/x diff",
        "env -C docs/x git status",
        "cd /project/docs/x && /usr/bin/git status",
        "cd docs/x && timeout 5 git diff",
        "cd \"$X\" && git status",
    ];
    check(
        &["docs/**"],
        &["git *", "cd docs/x && git *"],
        &anywhere,
        &elsewhere,
    );
    check(&["docs/HEAD"], &[], &anywhere, &elsewhere);
    check(&["docs/**"], &[], &anywhere, &elsewhere);
    check(
        &[],
        &[],
        &["git -C docs/x status", "cd docs/x && git status"],
        &[],
    );
    let said = said(&mut started(&["docs/**"], &[]), "git -C docs status").join("\n");
    assert!(
        said.contains("may open the configuration of its repository. Use git"),
        "{said}"
    );
}

#[test]
fn what_the_reason_proposes_opens_the_line_and_not_more_than_its_name() {
    for (line_text, proposed) in [
        (
            "python3 -m unittest tests",
            Some(&["python3 -m unittest *"][..]),
        ),
        ("npm run deploy", Some(&["npm run deploy *"])),
        (
            "npm run deploy && make x",
            Some(&["npm run deploy *", "make x *"]),
        ),
        ("npx jest src", Some(&["npx jest *", "jest src *"])),
        ("python3 -m \"$X\"", None),
        ("npm run deploy && make $(x)", None),
        ("make x > /tmp/out", None),
        ("make x > .git/config", None),
        ("make a; make b; make c; make d; cp a b", None),
    ] {
        let text = said(&mut started(&[], &["other"]), line_text).join("\n");
        let Some(proposed) = proposed else {
            assert!(!text.contains("the user can add"), "{line_text}: {text}");
            continue;
        };
        let listed = proposed.join("\", \"");
        let expected = format!("the user can add `commands: [\"{listed}\"]`");
        assert!(text.contains(&expected), "{line_text}: {text}");
        let is_open = runs(&mut started(&[], proposed), line_text);
        assert!(is_open, "{line_text}");
    }
    let text = said(&mut started(&[], &["other"]), "cp a b && cp a c").join("\n");
    assert!(
        text.contains("the user can add `writable: [\"b\", \"c\"]`"),
        "{text}"
    );
}
