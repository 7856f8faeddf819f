//! Rules on tool calls and results, level by level.

use proptest::prelude::*;
use serde_json::{Value, json};
use workflow_core::definition::{Guards, PhaseEntry, ResultRule, Rule, RuleAction, ToolAccess};
use workflow_core::policy::rules::{
    Call, CallDecision, LevelRules, PLAIN_PATHS, PathForm, Paths, RuleSource, Rules,
};

use crate::event::Event;
use crate::world::{World, guarded, line, phase, workflow};

fn rule(said: &Value) -> Rule {
    let mut rule = json!({"source": "f:1"});
    for (key, value) in said.as_object().expect("a rule is a map") {
        rule[key] = value.clone();
    }
    serde_json::from_value(rule).expect("it is a rule")
}

fn blocks(tools: &[&str], conditions: &Value) -> Rule {
    let mut said = conditions.clone();
    said["action"] = json!("block");
    said["tools"] = json!(tools);
    rule(&said)
}

/// A run of one phase, with these rules.
fn with_rules(rules: Vec<Rule>) -> World {
    let mut work = workflow("w", &[]);
    let mut only = phase("a");
    only.rules = rules;
    work.phases = vec![PhaseEntry::Phase(only)];
    World::started(vec![work])
}

#[test]
fn a_denial_names_the_rule_the_alternatives_and_the_next_step() {
    let mut world = with_rules(vec![
        rule(&json!({"action":"allow", "tools": ["write"], "path": ["docs/**", "*.md"]})),
        rule(
            &json!({"action":"block", "tools": ["write"], "reason": "planning writes documents only"}),
        ),
    ]);
    assert!(
        world
            .call("write", &json!({"path": "docs/plan.txt"}))
            .is_empty()
    );
    assert!(
        world
            .call("write", &json!({"path": "notes/a.md"}))
            .is_empty()
    );
    assert_eq!(
        world.call("write", &json!({"path": "src/main.rs"})),
        [
            "block by Policy: [workflow] The tool \"write\" is blocked by the A phase (f:1): planning writes documents only.\n\
          Allowed here: docs/**, *.md.\n\
          Use another approach, or call workflow_step with action='next' if the phase is done."
        ]
    );
}

#[test]
fn the_reason_of_a_rule_names_the_path_the_tool_and_the_command() {
    let mut world = with_rules(vec![
        blocks(
            &["write", "bash"],
            &json!({"path": [".env", ".git/**"], "reason": "Path \"{path}\" is protected from {tool}."}),
        ),
        blocks(
            &["bash"],
            &json!({"command": ["sudo *"], "reason": "`{command}` needs rights, {path}{other}"}),
        ),
    ]);
    let reason = |lines: Vec<String>| lines[0].lines().next().unwrap_or_default().to_owned();
    let of_write = world.call("write", &json!({"path": "app/.env"}));
    assert_eq!(
        reason(of_write),
        "block by Policy: [workflow] The tool \"write\" is blocked by the A phase (f:1): Path \"app/.env\" is protected from write."
    );
    let of_line = world.call("bash", &json!({"command": "cat README.md > .git/config"}));
    assert!(
        reason(of_line).ends_with("(f:1): Path \".git/config\" is protected from bash."),
        "the path that matched, not the first one"
    );
    let of_command = world.call("bash", &json!({"command": "sudo true\u{1b}"}));
    assert!(
        line(&of_command, "block").contains("(f:1): `sudo true\\u{1b}` needs rights, {other}."),
        "{of_command:?}"
    );
}

#[test]
fn a_person_is_notified_of_a_blocked_call_where_the_rule_says_so() {
    let mut world = with_rules(vec![
        blocks(
            &["write"],
            &json!({"path": [".env"], "notify": true, "reason": "{path} is protected"}),
        ),
        blocks(&["edit"], &json!({"path": [".env"]})),
    ]);
    let blocked = world.call("write", &json!({"path": ".env"}));
    assert_eq!(
        line(&blocked, "notify"),
        "notify Warning [workflow] A call of \"write\" was blocked by the A phase (f:1): .env is protected."
    );
    let again = world.call("write", &json!({"path": ".env"}));
    assert_eq!(again.len(), 1, "once is enough: {again:?}");
    let silent = world.call("edit", &json!({"path": ".env"}));
    assert_eq!(silent.len(), 1, "{silent:?}");
}

#[test]
fn a_list_applies_if_no_rule_matches() {
    let mut work = workflow("w", &[]);
    let mut only = guarded("a", &["write", "edit"]);
    only.rules = vec![rule(
        &json!({"action":"allow", "tools": ["write"], "path": ["docs/**"]}),
    )];
    work.phases = vec![PhaseEntry::Phase(only)];
    let mut world = World::started(vec![work]);
    assert!(world.call("write", &json!({"path": "docs/a"})).is_empty());
    assert!(
        line(&world.call("write", &json!({"path": "src/a"})), "block")
            .contains("is blocked during the A phase")
    );
    assert!(line(&world.call("edit", &json!({"path": "docs/a"})), "block").contains("edit"));
}

#[test]
fn a_rule_that_allows_paths_allows_nothing_that_names_none() {
    let mut work = workflow("w", &[]);
    let mut only = guarded("a", &["bash", "fetch"]);
    only.rules = vec![rule(
        &json!({"action":"allow", "tools": ["bash", "fetch"], "path": ["docs/**"]}),
    )];
    work.phases = vec![PhaseEntry::Phase(only)];
    let mut world = World::started(vec![work]);
    let mut bash = |line: &str| world.call("bash", &json!({"command": line}));
    assert!(bash("echo x > docs/a").is_empty());
    assert!(line(&bash("echo x > docs/a > src/a"), "block").contains("bash"));
    assert!(line(&bash("npm test"), "block").contains("bash"));
    assert!(line(&bash(""), "block").contains("bash"));
    let fetch = world.call("fetch", &json!({"url": "docs/a"}));
    assert!(line(&fetch, "block").contains("fetch"));
}

/// Paths as the tools of a host read them that drops a leading `@`.
#[derive(Debug)]
struct WithoutAt;

impl Paths for WithoutAt {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        PLAIN_PATHS.forms(path.strip_prefix('@').unwrap_or(path))
    }

    fn ignores_case(&self) -> bool {
        false
    }
}

#[test]
fn an_at_sign_is_part_of_a_path_in_the_shell_and_a_prefix_in_a_tool() {
    let allow = rule(&json!({"action":"allow", "tools": ["*"], "path": ["docs/**"]}));
    let nothing_else = ToolAccess::Whitelist(Vec::new());
    let decide = |tool: &str, input: &Value| {
        let input = serde_json::value::to_raw_value(input).expect("a value is JSON");
        let level = LevelRules {
            name: "a level".into(),
            source: RuleSource::Phase,
            tools: Some(&nothing_else),
            rules: std::slice::from_ref(&allow).into(),
            read_only: None,
            unknown: None,
            on_repeat: None,
        };
        let rules = Rules::new([level]);
        let call = Call::new(tool, Some(&input), &WithoutAt);
        matches!(rules.decide(&call), CallDecision::Allow)
    };
    assert!(decide("write", &json!({"path": "@docs/a"})));
    assert!(decide("bash", &json!({"command": "echo x > docs/a"})));
    assert!(!decide("bash", &json!({"command": "echo x > @docs/a"})));
}

#[test]
fn settings_apply_with_and_without_a_run() {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.settings.project = Guards {
        rules: vec![blocks(&["write", "edit"], &json!({"path": [".env"]}))],
        ..Guards::default()
    };
    world.reload();
    let call = |world: &mut World| world.call("write", &json!({"path": "config/.env"}));
    assert_eq!(
        call(&mut world),
        [
            "block by Policy: [workflow] The tool \"write\" is blocked by the project's settings (f:1): `write`, `edit` on `.env`.\n\
          Use another approach, or ask the user."
        ]
    );
    world.command("w the task");
    assert!(line(&call(&mut world), "block").contains("the project's settings"));
    assert!(world.call("write", &json!({"path": ".envrc"})).is_empty());
}

#[test]
fn an_inner_level_removes_no_restriction() {
    let mut work = workflow("w", &[]);
    let mut only = phase("a");
    only.rules = vec![rule(&json!({"action":"allow", "tools": ["*"]}))];
    work.phases = vec![PhaseEntry::Phase(only)];
    work.tools = Some(ToolAccess::Blacklist(vec!["bash".to_owned()]));
    let mut world = World::started(vec![work]);
    assert!(line(&world.tool_call("bash"), "block").contains("is blocked during the A phase"));
    assert!(world.tool_call("read").is_empty());
    assert!(world.tool_call("workflow_step").is_empty());
}

#[test]
fn a_person_decides_in_a_dialog() {
    let rules = || vec![rule(&json!({"action":"ask", "tools": ["deploy"]}))];
    let mut world = with_rules(rules());
    assert!(line(&world.tool_call("deploy"), "ask Allow deploy?").contains("consent"));
    assert_eq!(
        world.answer(true),
        ["status N-w > 🔹 A [1/1]", "settled none #2"]
    );
    world.tool_call("deploy");
    let no = world.answer(false);
    assert!(
        line(&no, "settled block #3 by User: ").contains("did not allow it"),
        "{no:?}"
    );
}

#[test]
fn a_dialog_that_is_late_or_lost_blocks() {
    let rules = || vec![rule(&json!({"action":"ask", "tools": ["deploy"]}))];
    let mut world = with_rules(rules());
    world.tool_call("deploy");
    assert!(world.wait(29 * 60 * 1000).is_empty());
    assert!(line(&world.wait(60 * 1000), "settled block #2 by Failure: ").contains("in time"));
    let late = world.answer(true);
    assert!(
        late.len() == 1
            && line(&late, "notify")
                .contains("came too late and has no effect. The call was not allowed."),
        "an answer that is late changes nothing, and that is said: {late:?}"
    );
    world.tool_call("deploy");
    assert!(
        line(
            &world.step(Event::Shutdown),
            "settled block #3 by Failure: "
        )
        .contains("the session ended")
    );
}

#[test]
fn the_third_denial_in_a_row_asks_and_later_ones_tell_the_agent_to_stop() {
    let mut world = with_rules(vec![blocks(&["write"], &json!({}))]);
    let call = |world: &mut World, path: &str| world.call("write", &json!({"path": path}));
    for _ in 0..2 {
        line(&call(&mut world, "a"), "block");
    }
    line(&call(&mut world, "b"), "block");
    for _ in 0..2 {
        line(&call(&mut world, "a"), "block");
    }
    line(&call(&mut world, "a"), "ask Allow write?");
    assert!(line(&world.answer(false), "settled block #7 by User: ").contains("did not allow"));
    assert!(line(&call(&mut world, "a"), "block").contains("4 times in a row. Stop trying"));
}

#[test]
fn results_of_all_levels_are_changed_outer_first() {
    let results = |append: &str| -> Vec<ResultRule> {
        vec![serde_json::from_value(json!({"tools": ["*"], "append": append})).expect("a rule")]
    };
    let mut work = workflow("w", &["a"]);
    work.results = results("inner");
    let mut world = World::new(vec![work]);
    world.settings.user.results = results("outer");
    world.reload();
    let content = serde_json::value::to_raw_value("said").expect("a text is JSON");
    let result = |world: &mut World| {
        world.step(Event::ToolResult {
            tool: "bash",
            content: Some(&content),
            is_error: false,
        })
    };
    assert_eq!(result(&mut world), ["content \"said\\nouter\""]);
    world.command("w the task");
    assert_eq!(result(&mut world), ["content \"said\\nouter\\ninner\""]);
}

#[test]
fn the_rules_of_a_workflow_do_not_hold_in_the_entries_that_they_except() {
    let rule = |except: &[&str]| {
        let except = json!({ "except": except });
        vec![blocks(&["bash"], &except)]
    };
    for (except, in_a, inside) in [
        (&[][..], true, true),
        (&["a"], false, true),
        (&["inner"], true, false),
        (&["b"], true, true),
    ] {
        let mut outer = workflow("w", &["a", "{inner}"]);
        outer.rules = rule(except);
        let mut world = World::started(vec![outer, workflow("inner", &["b"])]);
        let is_blocked = |world: &mut World| !world.tool_call("bash").is_empty();
        assert_eq!(is_blocked(&mut world), in_a, "{except:?}");
        world.tool("next");
        assert_eq!(is_blocked(&mut world), inside, "{except:?}");
    }
}

fn action() -> impl Strategy<Value = RuleAction> {
    prop::sample::select(vec![RuleAction::Allow, RuleAction::Ask, RuleAction::Block])
}

/// A level: its list and its rules.
type Level = (Option<ToolAccess>, Vec<Rule>);

fn any_rule() -> impl Strategy<Value = Rule> {
    let tools = prop::sample::select(vec!["write", "edit", "bash", "*", "w*"]);
    let path = prop::option::of(prop::sample::select(vec![
        "docs/**", "*.md", ".env", "/etc/**",
    ]));
    let command = prop::option::weighted(0.2, prop::sample::select(vec!["git *", "npm test", "*"]));
    let writes = prop::option::of(any::<bool>());
    let input = prop::option::weighted(0.2, prop::sample::select(vec!["key", "a", "("]));
    (action(), tools, path, command, writes, input).prop_map(
        |(action, tools, path, command, writes, input)| Rule {
            action,
            tools: vec![tools.to_owned()],
            path: path.into_iter().map(str::to_owned).collect(),
            command: command.into_iter().map(str::to_owned).collect(),
            writes,
            unknown: None,
            input: input
                .into_iter()
                .map(|pattern| ("content".to_owned(), pattern.to_owned()))
                .collect(),
            on_repeat: None,
            reason: None,
            notify: false,
            except: Vec::new(),
            source: String::new(),
        },
    )
}

fn any_level() -> impl Strategy<Value = Level> {
    let names = prop::collection::vec(prop::sample::select(vec!["write", "edit", "bash"]), 0..3);
    let list = (any::<bool>(), names).prop_map(|(black, names)| {
        let names = names.into_iter().map(str::to_owned).collect();
        if black {
            ToolAccess::Blacklist(names)
        } else {
            ToolAccess::Whitelist(names)
        }
    });
    (
        prop::option::of(list),
        prop::collection::vec(any_rule(), 0..4),
    )
}

/// A level of a run, which may be `read-only` or lift that.
fn any_level_of_a_run() -> impl Strategy<Value = Level> {
    let source = String::new();
    let modes = vec![
        ToolAccess::ReadOnly {
            source: source.clone(),
        },
        ToolAccess::All { source },
    ];
    let mode = prop::option::of(prop::sample::select(modes));
    (any_level(), mode).prop_map(|((tools, rules), mode)| (mode.or(tools), rules))
}

/// A command for the shell with a file, or a tool with one.
fn any_call() -> impl Strategy<Value = (&'static str, Value)> {
    let path = prop::sample::select(vec![
        "docs/a.md",
        "src/a.rs",
        ".env",
        "/etc/passwd",
        "a/../.env",
        "docs",
        "",
    ]);
    let command = prop::sample::select(vec![
        "echo x > docs/a.md",
        "cat docs/a.md",
        "npm test",
        "git push --force",
        "ls > $OUT",
        "(",
        "true && cp a .env",
    ]);
    let tool = prop::sample::select(vec!["write", "edit", "read", "fetch"]);
    prop_oneof![
        (tool, path).prop_map(|(tool, path)| (tool, json!({"path": path, "content": "key"}))),
        command.prop_map(|command| ("bash", json!({"command": command}))),
        Just(("bash", json!(["no", "map"]))),
    ]
}

/// Returns the decision on a call under these levels, outer first: the user's settings, the project's, a workflow,
/// a workflow in it, the phase. 0 is allowed, 1 asked, 2 blocked.
fn in_a_session(levels: &[Level; 5], call: &(&str, Value)) -> u8 {
    let guards = |level: &Level| Guards {
        tools: level.0.clone(),
        rules: level.1.clone(),
        ..Guards::default()
    };
    let [user, project, outer, inner, own] = levels;
    let mut only = phase("a");
    (only.tools, only.rules) = own.clone();
    let mut inside = workflow("inner", &[]);
    inside.phases = vec![PhaseEntry::Phase(only)];
    (inside.tools, inside.rules) = inner.clone();
    let mut work = workflow("w", &["{inner}"]);
    (work.tools, work.rules) = outer.clone();
    let mut world = World::new(vec![work, inside]);
    (world.settings.user, world.settings.project) = (guards(user), guards(project));
    world.reload();
    world.command("w the task");
    let said = world.call(call.0, &call.1);
    match said
        .iter()
        .map(String::as_str)
        .find(|line| !line.starts_with("later #") && !line.starts_with("status "))
    {
        None => 0,
        Some(line) if line.starts_with("ask ") => 1,
        Some(line) if line.starts_with("block ") => 2,
        Some(line) => panic!("{line}"),
    }
}

/// Returns the strictness of a decision.
fn strictness(levels: &[Level], call: &Call<'_>) -> u8 {
    let levels = levels.iter().map(|(tools, rules)| LevelRules {
        name: "a level".into(),
        source: RuleSource::Phase,
        tools: tools.as_ref(),
        rules: rules.into(),
        read_only: None,
        unknown: None,
        on_repeat: None,
    });
    match Rules::new(levels).decide(call) {
        CallDecision::Allow => 0,
        CallDecision::Ask(_) => 1,
        CallDecision::Block(_) => 2,
    }
}

proptest! {
    #[test]
    fn no_inner_level_undoes_an_outer_one_in_any_order(
        levels in prop::collection::vec(any_level(), 1..5),
        tool in prop::sample::select(vec!["write", "edit", "bash", "read"]),
        path in prop::sample::select(vec!["docs/a.md", "src/a.rs", ".env", "/etc/passwd", "a/../.env"]),
        rotate in 0..4_usize,
    ) {
        let input = json!({"path": path, "command": "echo x > docs/a.md"});
        let input = serde_json::value::to_raw_value(&input).expect("a value is JSON");
        let call = Call::new(tool, Some(&input), &*PLAIN_PATHS);
        let all = strictness(&levels, &call);
        let strictest = levels.iter().map(|level| strictness(std::slice::from_ref(level), &call)).max();
        prop_assert_eq!(Some(all), strictest, "the strictest level decides");
        let mut other = levels.clone();
        other.rotate_left(rotate % levels.len());
        prop_assert_eq!(strictness(&other, &call), all, "whatever the order");
        for more in 1..=levels.len() {
            let outer = strictness(&levels[..more], &call);
            prop_assert!(outer <= all, "an inner level only adds");
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn in_a_session_the_strictest_of_the_five_levels_decides(
        levels in prop::array::uniform5(any_level()),
        call in any_call(),
        shift in 1..5_usize,
    ) {
        let all = in_a_session(&levels, &call);
        let nothing = || <[Level; 5]>::default();
        let alone = |at: usize| {
            let mut only = nothing();
            only[at] = levels[at].clone();
            in_a_session(&only, &call)
        };
        let strictest = (0..5).map(alone).max();
        prop_assert_eq!(Some(all), strictest, "no level undoes another");
        // The source of the rule makes no difference to what it forbids.
        let mut moved = levels.clone();
        moved.rotate_left(shift);
        prop_assert_eq!(in_a_session(&moved, &call), all, "in any order");
        let mut outer = nothing();
        outer[..shift].clone_from_slice(&levels[..shift]);
        prop_assert!(in_a_session(&outer, &call) <= all, "an inner level only adds");
    }

    #[test]
    fn nothing_inside_opens_what_is_closed_around_it(
        [user, project] in prop::array::uniform2(any_level()),
        [outer, inner, own] in prop::array::uniform3(any_level_of_a_run()),
        call in any_call(),
    ) {
        let levels = [user, project, outer, inner, own];
        let all = in_a_session(&levels, &call);
        let is_read_only = |level: &Level| matches!(level.0, Some(ToolAccess::ReadOnly { .. }));
        // The only exception: `tools: all` of a phase lifts the read-only of its own workflow.
        let mut left = levels.clone();
        if matches!(levels[4].0, Some(ToolAccess::All { .. })) && is_read_only(&levels[3]) {
            left[3].0 = None;
        }
        // What the user's rules name is known to the levels inside.
        let alone = |at: usize| {
            let mut only = <[Level; 5]>::default();
            only[0] = left[0].clone();
            only[at] = left[at].clone();
            in_a_session(&only, &call)
        };
        prop_assert_eq!((0..5).map(alone).max(), Some(all));
    }
}

#[test]
fn lines_that_a_tool_has_another_one_run_are_read() {
    let mut world = with_rules(vec![
        blocks(&["*"], &json!({"command": ["rm"]})),
        blocks(&["*"], &json!({"writes": true, "path": [".env"]})),
    ]);
    for input in [
        json!({"tool": "bash", "arguments": {"command": "rm -rf ."}}),
        json!({"tool": "bash", "arguments": "{\"command\":\"rm -rf .\"}"}),
        json!({"calls": [{"command": "ls"}, {"command": "rm a"}]}),
        json!({"calls": [{"command": "echo x > .env"}, {"command": "ls"}]}),
        json!({"steps": [{"command": "tee .env", "cwd": "a"}]}),
        json!({"script": "rm a"}),
        json!({"shell": "ls; rm a"}),
    ] {
        assert!(!world.call("batch", &input).is_empty(), "{input}");
    }
    for input in [
        json!({"calls": [{"command": "ls"}, {"command": "echo x > a"}]}),
        json!({"code": "open('a')", "language": "python"}),
    ] {
        assert!(world.call("batch", &input).is_empty(), "{input}");
    }
}

#[test]
fn a_patch_in_a_shell_line_is_in_the_directory_of_the_line() {
    let secret = json!({ "path": ["src/secret.rs"] });
    let mut world = with_rules(vec![blocks(&["bash"], &secret)]);
    let patch = "apply_patch <<'E'\n*** Begin Patch\n*** Update File: secret.rs\n*** End Patch\nE";
    let in_src = format!("cd src && {patch}");
    let unclear = format!("cd \"$DIR\" && {patch}");
    for (input, blocked) in [
        (json!({ "command": patch }), false),
        (json!({ "command": patch, "workdir": "src" }), true),
        (json!({ "command": in_src }), true),
        (json!({ "command": unclear }), true),
    ] {
        let said = world.call("bash", &input);
        let is_blocked = said.iter().any(|line| line.starts_with("block"));
        assert_eq!(is_blocked, blocked, "{input}");
    }
}

#[test]
fn every_part_of_an_argument_is_compared_with_a_rule_on_input() {
    let mut world = with_rules(vec![blocks(
        &["fetch"],
        &json!({ "input": [["url", "^http://"]] }),
    )]);
    let is_blocked = |world: &mut World, url: &Value| {
        let said = world.call("fetch", &json!({ "url": url }));
        said.iter().any(|line| line.starts_with("block"))
    };
    for url in [
        json!("http://x"),
        json!(["http://x"]),
        json!(["https://x", "http://x"]),
        json!({ "href": "http://x" }),
        json!([{ "urls": ["http://x"] }]),
    ] {
        assert!(is_blocked(&mut world, &url), "{url}");
    }
    for url in [
        json!("https://x"),
        json!(["https://x"]),
        json!(5),
        json!([]),
    ] {
        assert!(!is_blocked(&mut world, &url), "{url}");
    }
    let allowing = json!({ "action":"allow", "tools": ["fetch"], "input": [["url", "docs"]] });
    let mut world = with_rules(vec![rule(&allowing), blocks(&["fetch"], &json!({}))]);
    for (url, allowed) in [
        (json!("docs.rs"), true),
        (json!(["docs.rs", "docs.x"]), true),
        (json!(["docs.rs", "evil"]), false),
        (json!({ "docs": "evil" }), false),
        (json!({ "evil": "docs.rs" }), false),
    ] {
        assert_eq!(is_blocked(&mut world, &url), !allowed, "{url}");
    }
}
