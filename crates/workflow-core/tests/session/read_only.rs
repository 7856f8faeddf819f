//! `tools: read-only`, `writable`, `commands` and `unknown`.

use serde_json::{Value, json};
use workflow_core::definition::{
    Guards, Opening, Phase, PhaseEntry, Rule, RuleAction, ToolAccess, Workflow,
};
use workflow_core::session::Control;

use crate::world::{World, line, phase, workflow};

fn read_only() -> ToolAccess {
    let source = "f:1".to_owned();
    ToolAccess::ReadOnly { source }
}

/// A read-only phase with these globs and patterns open.
fn open(writable: &[&str], commands: &[&str]) -> Phase {
    let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect();
    let commands: Vec<String> = texts(commands);
    Phase {
        tools: Some(read_only()),
        writable: texts(writable),
        commands: commands.into_iter().map(Opening::Command).collect(),
        ..phase("a")
    }
}

fn workflow_of(phases: impl IntoIterator<Item = Phase>) -> Workflow {
    let mut work = workflow("w", &[]);
    work.phases = phases.into_iter().map(PhaseEntry::Phase).collect();
    work
}

fn started(phase: Phase) -> World {
    World::started(vec![workflow_of([phase])])
}

fn bash(world: &mut World, line: &str) -> Vec<String> {
    world.call("bash", &json!({"command": line}))
}

fn is_allowed(said: &[String]) -> bool {
    !said
        .iter()
        .any(|line| line.starts_with("block") || line.starts_with("ask"))
}

fn allows(world: &mut World, tool: &str, input: &Value) -> bool {
    is_allowed(&world.call(tool, input))
}

#[test]
fn a_read_only_phase_allows_what_reads_and_blocks_what_writes() {
    let mut world = started(open(&[], &[]));
    for command in ["git status", "cat a | grep b", "ls -l"] {
        assert!(is_allowed(&bash(&mut world, command)), "{command}");
    }
    assert!(allows(&mut world, "read", &json!({"path": "a"})));
    assert!(allows(&mut world, "mcp__x__lookup", &json!({"query": "a"})));
    for command in ["rm a", "echo x > a", "sed -i s/a/b/ f", "cat a; touch b"] {
        let said = bash(&mut world, command);
        let said = line(&said, "block");
        assert!(said.contains("it is read-only"), "{said}");
        assert!(said.contains("It would write: "), "{said}");
    }
    for tool in ["write", "edit", "mcp__files__move_file"] {
        assert!(!allows(&mut world, tool, &json!({"path": "a"})), "{tool}");
    }
}

#[test]
fn code_of_the_project_needs_a_pattern_of_run() {
    let mut world = started(open(&[], &["cargo test*"]));
    for command in [
        "cargo test",
        "cargo test --lib a && git diff",
        "timeout 60 cargo test",
    ] {
        assert!(is_allowed(&bash(&mut world, command)), "{command}");
    }
    let said = bash(&mut world, "cargo build");
    let said = line(&said, "block");
    assert!(
        said.contains("`cargo build` runs code of the project."),
        "{said}"
    );
    assert!(said.contains("`commands: [\"cargo build *\"]`"), "{said}");
    for command in ["cargo test > a", "cargo test; rm a", "./cargo test"] {
        assert!(!is_allowed(&bash(&mut world, command)), "{command}");
    }
}

#[test]
fn run_opens_no_variable_and_no_input_of_a_command() {
    let mut world = started(open(&[], &["mytool *"]));
    assert!(is_allowed(&bash(&mut world, "mytool --check")));
    for command in [
        "LD_PRELOAD=./x.so mytool --check",
        "PATH=. mytool",
        "env -i PATH=. mytool",
    ] {
        assert!(!is_allowed(&bash(&mut world, command)), "{command}");
    }
}

/// A pattern, a command that it opens, and commands with an option before the subcommand, with which they run any program.
const OPTIONS_BEFORE_SUBCOMMANDS: &[(&str, &str, &[&str])] = &[
    (
        "git add *",
        "git add x",
        &[
            "git -c core.fsmonitor='touch pwned;true' add x",
            "git -c filter.y.clean='touch pwned' add x",
            "git --exec-path=. add x",
            "git --git-dir=/tmp/x add x",
            "git -C /tmp add x",
        ],
    ),
    (
        "git fetch",
        "git fetch",
        &["git -c protocol.ext.allow=always -c remote.origin.url='ext::touch pwned' fetch"],
    ),
    (
        "make check",
        "make check",
        &[
            "make -f docs/M check",
            "make -C docs check",
            "make -C /tmp check",
        ],
    ),
    (
        "npm run test",
        "npm run test",
        &["npm --prefix /tmp run test"],
    ),
    (
        "docker compose up",
        "docker compose up",
        &["docker -H tcp://x compose up"],
    ),
    ("cargo test", "cargo test", &["cargo --config 'x=1' test"]),
];

#[test]
fn run_opens_no_option_before_a_subcommand() {
    for (pattern, command, others) in OPTIONS_BEFORE_SUBCOMMANDS {
        let mut world = started(open(&[], &[pattern]));
        assert!(is_allowed(&bash(&mut world, command)), "{command}");
        for command in *others {
            let said = bash(&mut world, command);
            assert!(!is_allowed(&said), "{pattern}: {command}");
            let opens = |line: &&String| line.contains("run: [") && line.contains(" -");
            assert_eq!(said.iter().find(opens), None, "{command}");
        }
    }
}

#[test]
fn a_rule_that_allows_a_command_allows_no_option_before_its_subcommand() {
    for (pattern, command, others) in OPTIONS_BEFORE_SUBCOMMANDS {
        let allow = json!({"action":"allow", "tools": ["bash"], "command": [pattern]});
        let block = json!({"action":"block", "tools": ["bash"]});
        let mut world = started(Phase {
            rules: rules(&[allow, block]),
            ..phase("a")
        });
        assert!(is_allowed(&bash(&mut world, command)), "{command}");
        for command in *others {
            assert!(!is_allowed(&bash(&mut world, command)), "{command}");
        }
    }
}

#[test]
fn writable_opens_paths_for_tools_and_for_the_shell_alike() {
    let mut world = started(open(&["docs/**"], &[]));
    for command in [
        "echo x > docs/a",
        "rm docs/a.md",
        "cat a > docs/b && git status",
        "cd docs && touch a",
    ] {
        assert!(is_allowed(&bash(&mut world, command)), "{command}");
    }
    assert!(allows(&mut world, "write", &json!({"path": "docs/a"})));
    for command in [
        "echo x > src/a",
        "cp a docs/a && mv docs/a src/b",
        "echo x > docs/../a",
        "touch $f",
        "cd src && touch docs/a",
    ] {
        assert!(!is_allowed(&bash(&mut world, command)), "{command}");
    }
    assert!(!allows(&mut world, "write", &json!({"path": "src/a"})));
    assert!(!allows(&mut world, "write", &json!({})));
}

#[test]
fn a_patch_is_judged_by_its_files() {
    let mut world = started(open(&["docs/**"], &[]));
    let patch = |file: &str| json!({ "input": format!("*** Begin Patch\n*** Update File: {file}\n@@\n+x\n*** End Patch") });
    assert!(allows(&mut world, "apply_patch", &patch("docs/a.md")));
    assert!(!allows(&mut world, "apply_patch", &patch("src/a.rs")));
    assert!(!allows(&mut world, "apply_patch", &json!({ "input": "x" })));
}

#[test]
fn a_phase_adds_to_what_its_workflow_opens() {
    let mut work = workflow_of([Phase {
        writable: vec!["src/**".to_owned()],
        ..phase("a")
    }]);
    work.tools = Some(read_only());
    work.writable = vec!["docs/**".to_owned()];
    let mut world = World::started(vec![work]);
    for path in ["docs/a", "src/a"] {
        assert!(
            allows(&mut world, "write", &json!({"path": path})),
            "{path}"
        );
    }
    assert!(!allows(&mut world, "write", &json!({"path": "a"})));
}

/// A phase in a read-only workflow.
fn in_read_only_workflow(phase: Phase) -> World {
    let mut work = workflow_of([phase]);
    work.tools = Some(read_only());
    World::started(vec![work])
}

fn rules(rules: &[Value]) -> Vec<Rule> {
    let rules = rules.iter().cloned();
    let rules = rules.map(|rule| serde_json::from_value(rule).expect("it is a rule"));
    rules.collect()
}

#[test]
fn a_rule_or_a_list_of_a_phase_adds_to_the_read_only_of_its_workflow() {
    let names = || vec!["fetch".to_owned()];
    let block = json!({"action":"block", "tools": ["fetch"]});
    let phases = [
        Phase {
            rules: rules(&[block]),
            ..phase("a")
        },
        Phase {
            tools: Some(ToolAccess::Blacklist(names())),
            ..phase("a")
        },
        Phase {
            tools: Some(ToolAccess::Whitelist(vec![
                "bash".to_owned(),
                "write".to_owned(),
            ])),
            ..phase("a")
        },
    ];
    for phase in phases {
        let mut world = in_read_only_workflow(phase.clone());
        assert!(is_allowed(&bash(&mut world, "git status")), "{phase:?}");
        assert!(!is_allowed(&bash(&mut world, "rm a")), "{phase:?}");
        let path = json!({"path": "a"});
        assert!(!allows(&mut world, "write", &path), "{phase:?}");
        assert!(!allows(&mut world, "fetch", &json!({})), "{phase:?}");
    }
}

#[test]
fn the_rules_of_a_level_open_its_own_read_only_and_none_around_it() {
    let allow = json!({"action":"allow", "tools": ["write"], "path": ["docs/**"]});
    let ask = json!({"action":"ask", "tools": ["bash"], "command": ["git push"]});
    let rules = rules(&[allow, ask]);
    let mut outside = workflow("w", &["a"]);
    (outside.tools, outside.rules) = (Some(read_only()), rules.clone());
    let with_rules = Phase {
        rules,
        ..phase("a")
    };
    let inside = Phase {
        tools: Some(read_only()),
        ..with_rules.clone()
    };
    for mut world in [World::started(vec![outside]), started(inside.clone())] {
        assert!(allows(&mut world, "write", &json!({"path": "docs/a"})));
        let said = world.call("write", &json!({"path": "src/a"}));
        let allowed = "Only read-only calls and `docs/**` are allowed here.";
        assert!(line(&said, "block").contains(allowed), "{said:?}");
        assert!(!is_allowed(&bash(&mut world, "rm a")));
        line(&bash(&mut world, "git push"), "ask Allow bash?");
    }
    for phase in [with_rules, inside] {
        let mut world = in_read_only_workflow(phase);
        assert!(!allows(&mut world, "write", &json!({"path": "docs/a"})));
        line(&bash(&mut world, "git push"), "block");
    }
}

fn all() -> ToolAccess {
    let source = "w.yaml:9".to_owned();
    ToolAccess::All { source }
}

#[test]
fn tools_all_of_a_phase_lifts_the_read_only_of_its_workflow_and_the_status_says_so() {
    let mut world = in_read_only_workflow(Phase {
        tools: Some(all()),
        ..phase("a")
    });
    assert!(allows(&mut world, "write", &json!({"path": "a"})));
    let said = world.control(Control::Status, "");
    let lifted = "not read-only, which the N-w workflow otherwise is";
    assert!(said.concat().contains(lifted), "{said:?}");
    let mut world = in_read_only_workflow(Phase {
        tools: Some(ToolAccess::Blacklist(Vec::new())),
        ..phase("a")
    });
    assert!(!allows(&mut world, "write", &json!({"path": "a"})));
}

#[test]
fn tools_all_of_a_phase_lifts_the_read_only_of_the_defaults_but_not_their_rules() {
    for (tools, is_lifted) in [(all(), true), (ToolAccess::Blacklist(Vec::new()), false)] {
        let mut work = workflow("w", &["a"]);
        work.phases = vec![PhaseEntry::Phase(Phase {
            tools: Some(tools),
            ..phase("a")
        })];
        let mut world = World::new(vec![work]);
        let defaults = &mut world.settings.user.defaults;
        defaults.access = Some(read_only());
        defaults.rules = rules(&[json!({"action":"block", "tools": ["edit"]})]);
        world.reload();
        world.command("w the task");
        let path = json!({"path": "a"});
        assert_eq!(allows(&mut world, "write", &path), is_lifted);
        assert!(!allows(&mut world, "edit", &path));
    }
}

#[test]
fn the_phases_of_a_subworkflow_do_not_replace_the_read_only_around_them() {
    for tools in [ToolAccess::Blacklist(vec!["edit".to_owned()]), all()] {
        let mut outer = workflow("w", &[]);
        outer.tools = Some(read_only());
        outer.phases = vec![PhaseEntry::Subworkflow("inner".into())];
        let mut inner = workflow("inner", &[]);
        inner.phases = vec![PhaseEntry::Phase(Phase {
            tools: Some(tools),
            writable: vec!["**".to_owned()],
            ..phase("a")
        })];
        let mut world = World::started(vec![outer, inner]);
        assert!(!allows(&mut world, "write", &json!({"path": "a"})));
    }
}

#[test]
fn an_unknown_command_is_asked_about_if_a_person_can_be_asked() {
    let mut world = started(open(&[], &[]));
    let said = bash(&mut world, "git frob --zz");
    let asked = line(&said, "ask Allow bash?");
    assert!(asked.contains("`git frob --zz` is unknown: "), "{asked}");
    let said = world.answer(false);
    assert!(
        line(&said, "settled").contains("did not allow it"),
        "{said:?}"
    );
    let said = bash(&mut world, "git frob --zz; rm a");
    assert!(
        line(&said, "block").contains("It would write: "),
        "{said:?}"
    );
}

fn with_rule(unknown: &Value, settings: [Option<RuleAction>; 2]) -> World {
    let rule = json!({"action":"block", "tools": ["bash"], "writes": true, "unknown": unknown, "source": "f:1"});
    let rule: Rule = serde_json::from_value(rule).expect("it is a rule");
    let mut work = workflow_of([phase("a")]);
    work.rules = vec![rule];
    let mut world = World::new(vec![work]);
    let [user, project] = settings.map(|unknown| Guards {
        unknown,
        ..Guards::default()
    });
    world.settings.user = user;
    world.settings.project = project;
    world.reload();
    world.command("w the task");
    world
}

#[test]
fn the_strictest_decision_on_unknown_commands_wins_from_outside_in() {
    use RuleAction::{Allow, Ask, Block};
    for (of_rule, settings, expected) in [
        (json!(null), [None, None], "ask"),
        (json!("allow"), [None, None], "allow"),
        (json!("block"), [None, None], "block"),
        (json!("allow"), [Some(Ask), None], "ask"),
        (json!("allow"), [Some(Block), Some(Allow)], "block"),
        (json!("block"), [Some(Allow), None], "block"),
        (json!(null), [Some(Allow), None], "allow"),
        (json!(null), [None, Some(Block)], "block"),
    ] {
        let mut world = with_rule(&of_rule, settings);
        let said = bash(&mut world, "mytool --check");
        let found = ["ask", "block"]
            .into_iter()
            .find(|start| said.iter().any(|line| line.starts_with(start)));
        assert_eq!(found.unwrap_or("allow"), expected, "{of_rule} {settings:?}");
    }
}

#[test]
fn a_write_in_eval_or_a_trap_counts_although_what_is_unknown_is_allowed() {
    let mut world = with_rule(&json!("allow"), [None, None]);
    for line in [
        "eval 'rm x'",
        "eval -- 'rm x'",
        "c='rm x'; eval \"$c\"",
        "c='rm x'; eval '$c'",
        "trap 'rm x' EXIT",
        "trap -- 'rm x' EXIT",
    ] {
        assert!(!is_allowed(&bash(&mut world, line)), "{line}");
    }
    assert!(is_allowed(&bash(&mut world, "eval 'ls x'")));
}

#[test]
fn the_settings_of_a_project_do_not_loosen_the_rules_of_the_user() {
    let mut world = with_rule(&json!("block"), [None, None]);
    let rule = json!({"action":"block", "tools": ["bash"], "writes": true});
    world.settings.user.rules = vec![serde_json::from_value(rule).expect("it is a rule")];
    world.settings.project.unknown = Some(RuleAction::Allow);
    world.reload();
    assert!(!is_allowed(&bash(&mut world, "mytool --check")));
}

#[test]
fn a_rule_on_writing_lets_code_of_the_project_run_and_names_the_rule_that_would_allow() {
    let mut world = with_rule(&json!("block"), [None, None]);
    assert!(is_allowed(&bash(&mut world, "cargo test")));
    let said = bash(&mut world, "mytool --check");
    let said = line(&said, "block");
    let expected = "`mytool --check` is unknown: `mytool` is not a program that is known to only read.\n\
         To allow this, the user can add `rules: [{allow: bash, command: \"mytool --check *\"}]` before that rule.";
    assert!(said.contains(expected), "{said}");
    assert!(said.lines().count() <= 4, "{said}");
}

#[test]
fn a_rule_that_allows_what_does_not_write_allows_only_what_reads() {
    let allow = json!({"action":"allow", "tools": ["bash"], "writes": false});
    let mut only = phase("a");
    only.rules = vec![serde_json::from_value(allow).expect("it is a rule")];
    only.tools = Some(ToolAccess::Whitelist(Vec::new()));
    let mut world = started(only);
    assert!(is_allowed(&bash(&mut world, "git status")));
    for command in ["cargo test", "mytool", "rm a"] {
        assert!(!is_allowed(&bash(&mut world, command)), "{command}");
    }
}

#[test]
fn identical_calls_that_wait_for_an_answer_are_no_denials() {
    let ask = json!({"action":"ask", "tools": ["bash"]});
    let mut only = phase("a");
    only.rules = vec![serde_json::from_value(ask).expect("it is a rule")];
    let mut world = started(only);
    for _ in 0..10 {
        let said = bash(&mut world, "make x");
        assert!(said.iter().any(|line| line.starts_with("ask ")), "{said:?}");
    }
    for _ in 0..3 {
        world.answer(false);
    }
    let said = bash(&mut world, "make x");
    assert!(
        line(&said, "block").contains("refused 4 times in a row"),
        "{said:?}"
    );
}

#[test]
fn a_patch_writes_the_files_that_it_names() {
    let mut world = started(open(&["docs/**"], &[]));
    let patch = |path: &str| format!("*** Begin Patch\n*** Update File: {path}\n+x\n*** End Patch");
    let diff = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n");
    for (tool, field) in [
        ("apply_patch", "input"),
        ("patch", "patchText"),
        ("mcp__git__apply_diff", "diff"),
    ] {
        for patch in [&patch as &dyn Fn(&str) -> String, &diff] {
            assert!(!allows(&mut world, tool, &json!({ field: patch("src/a") })));
            assert!(allows(&mut world, tool, &json!({ field: patch("docs/a") })));
        }
    }
    // Where the tool names the file, a patch is its content.
    let content = json!({ "path": "docs/a.patch", "content": diff("src/a") });
    assert!(allows(&mut world, "write", &content));
}

#[test]
fn a_tool_whose_name_says_that_it_writes_files_writes_under_any_field() {
    let mut world = started(open(&["docs/**"], &[]));
    for tool in [
        "mcp__fs__write_file",
        "writefile",
        "FSWriteFile",
        "overwrite_file",
    ] {
        for field in ["path", "location", "name"] {
            assert!(!allows(&mut world, tool, &json!({ field: "src/a" })));
        }
        assert!(allows(&mut world, tool, &json!({ "path": "docs/a" })));
    }
}
