//! Guards in force stay in force: edits of definitions, settings and the session during a run.

use serde_json::{Value, json};
use workflow_core::definition::{
    Approval, Budget, Check, Default, FileCheck, Gate, Guards, MemoryFiles, OnRepeat, Phase,
    PhaseEntry, Rule, RuleAction, Section, Settings, Target, TestsCheck, Tier, ToolAccess,
    Workflow, load,
};
use workflow_core::session::{Abilities, Control};

use crate::event::Event;
use crate::flow::{edit, index, with_review};
use crate::world::{World, guarded, line, phase, workflow};

fn rule(json: Value) -> Rule {
    serde_json::from_value(json).expect("it is a rule")
}

fn blocks_env() -> Rule {
    rule(
        json!({"action":"block", "tools": ["write", "edit"], "path": [".env"], "source": "w.yaml:7"}),
    )
}

/// A workflow with each kind of guard in its first phase.
fn strict() -> Workflow {
    let mut own = workflow("w", &["a", "b", "c"]);
    own.phases[0] = PhaseEntry::Phase(Phase {
        approve: Some(Approval {
            ask: "Good?".to_owned(),
            choices: vec!["approve".to_owned(), "reject".to_owned()],
            targets: Vec::new(),
            comment: false,
            show: None,
            source: String::new(),
        }),
        gate: vec![
            Gate {
                default_of: None,
                on_fail: None,
                tries: None,
                bounds: Vec::new(),
                on_limit: None,
                check: Check::File(FileCheck {
                    path: "plan.md".to_owned(),
                    changed: None,
                }),
                source: String::new(),
            },
            Gate {
                default_of: None,
                on_fail: None,
                tries: None,
                bounds: Vec::new(),
                on_limit: None,
                check: Check::Tests(TestsCheck {
                    min: 1,
                    fails_without_change: true,
                    ..TestsCheck::default()
                }),
                source: String::new(),
            },
        ],
        rules: vec![blocks_env()],
        unknown: Some(RuleAction::Block),
        max_visits: Some(3),
        budget: Budget {
            turns: Some(50),
            ..Budget::default()
        },
        ..guarded("a", &["bash", "edit"])
    });
    own
}

/// The strict workflow with a changed first phase.
fn with_phase(change: impl FnOnce(&mut Phase)) -> Workflow {
    let mut own = strict();
    if let PhaseEntry::Phase(phase) = &mut own.phases[0] {
        change(phase);
    }
    own
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Every guard of a phase changed alone, with the name of its key.
fn other_guards() -> Vec<(Workflow, &'static str)> {
    let other_check = Check::File(FileCheck {
        path: "README.md".to_owned(),
        changed: None,
    });
    vec![
        (with_phase(|phase| phase.approve = None), "approve"),
        (with_phase(|phase| phase.gate.clear()), "gate"),
        (
            with_phase(move |phase| phase.gate[0].check = other_check),
            "gate",
        ),
        (
            with_phase(|phase| {
                if let Check::Tests(tests) = &mut phase.gate[1].check {
                    tests.fails_without_change = false;
                }
            }),
            "gate",
        ),
        (with_phase(|phase| phase.gate.truncate(1)), "gate"),
        (with_phase(|phase| phase.rules.clear()), "rules"),
        (
            with_phase(|phase| {
                let allow = json!({"action":"allow", "tools": ["*"]});
                phase.rules.insert(0, rule(allow));
            }),
            "rules",
        ),
        (
            with_phase(|phase| phase.tools = Some(ToolAccess::Blacklist(names(&["edit"])))),
            "tools",
        ),
        (with_phase(|phase| phase.tools = None), "tools"),
        (with_phase(|phase| phase.max_visits = None), "maxVisits"),
        (
            with_phase(|phase| phase.unknown = Some(RuleAction::Allow)),
            "unknown",
        ),
        (with_phase(|phase| phase.budget.turns = None), "budget"),
    ]
}

/// Every way changed alone, with what is said of it.
fn other_ways() -> Vec<(Workflow, &'static str)> {
    let mut swapped = strict();
    swapped.phases.swap(0, 1);
    let mut longer = strict();
    longer.phases.push(PhaseEntry::Phase(phase("d")));
    let mut shorter = strict();
    shorter.phases.pop();
    let outcome = json!([{"name": "ok", "to": "done"}]);
    let condition = json!([{"subject": {"input": "x"}, "values": [true]}]);
    let output = json!([{"name": "o", "kind": "flag", "required": true}]);
    vec![
        (swapped, "the order of the phases"),
        (longer, "phase D is new"),
        (shorter, "phase C was removed"),
        (
            with_phase(|phase| "other".clone_into(&mut phase.id)),
            "phase A was removed",
        ),
        (
            with_phase(|phase| phase.outcomes = read(&outcome)),
            "`outcomes` of phase A",
        ),
        (
            with_phase(|phase| phase.when = read(&condition)),
            "`when` of phase A",
        ),
        (
            with_phase(|phase| phase.outputs = read(&output)),
            "`outputs` of phase A",
        ),
        (
            with_phase(|phase| phase.gate[0].on_fail = Some(Target::from("c"))),
            "`gate.onFail` of phase A",
        ),
        (
            with_phase(|phase| {
                let approve = phase.approve.as_mut().expect("it has one");
                approve.targets = read(&json!(["done", "next"]));
            }),
            "`approve.choices` of phase A",
        ),
    ]
}

fn read<T: serde::de::DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).expect("it is of this type")
}

fn is_asked(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("ask "))
}

/// Asserts that what the strict workflow forbids is forbidden.
fn assert_is_held(world: &mut World, what: &str) {
    let env = json!({"path": ".env"});
    for tool in ["bash", "edit"] {
        assert!(
            line(&world.tool_call(tool), "block").contains(tool),
            "{what}"
        );
    }
    assert!(
        line(&world.call("write", &env), "block").contains(".env"),
        "{what}"
    );
    let gate = line(&world.tool("next"), "gate").to_owned();
    assert!(gate.contains("plan.md"), "{what}: {gate}");
}

#[test]
fn guards_that_were_changed_hold_until_the_user_agrees() {
    for (changed, key) in other_guards() {
        for restarts in [false, true] {
            let mut world = World::started(vec![strict()]);
            world.workflows = vec![changed.clone()];
            let lines = if restarts {
                world.restart()
            } else {
                world.reload()
            };
            let said = format!("`{key}` of phase A");
            assert!(line(&lines, "WF106").contains(&said), "{said}: {lines:#?}");
            let question = line(&lines, "ask Use the changed files");
            assert!(question.contains(&format!("- {said}\n")), "{question}");
            assert_is_held(&mut world, key);
        }
    }
}

/// A workflow and a phase in which every key has its example, but for one that only this section may have.
fn with_examples(section: &str, key: &str, has_it: bool) -> Vec<Workflow> {
    let of = |name: &str, by_hand: &[&str]| {
        let mut all = Section::ALL.iter();
        let of = all.find(|section| section.name == name).expect("it exists");
        let keys = of.keys.iter().filter(|row| !by_hand.contains(&row.name));
        let keys = keys.filter(|row| row.name != key || (has_it && name == section));
        // These have a meaning only beside `tools`.
        let keys =
            keys.filter(|row| key != "tools" || !["writable", "commands"].contains(&row.name));
        let keys = keys.map(|row| format!("{:?}: {}", row.name, row.example));
        keys.collect::<Vec<_>>().join(", ")
    };
    let phase = of("a phase", &["onLimit"]);
    let workflow = of("a workflow", &["phases", "show", "inputs", "outputs"]);
    let uses =
        "{id: 'u', name: 'U', emoji: 'u', instructions: 'Go.', tools: {use: ['no-network']}}";
    let files = MemoryFiles::new().with(
        Tier::Project,
        "w/workflow.json5",
        format!("{{{workflow}, phases: [{{{phase}}}, {uses}]}}"),
    );
    let loaded = load(&files);
    let own = loaded.catalog.get("w").cloned();
    vec![own.unwrap_or_else(|| panic!("{section}: {key}: {:#?}", loaded.diagnostics))]
}

/// What a session has in force in the first phase, as far as a key can change it.
fn in_force(world: &mut World) -> String {
    let view = world.session.view().expect("there is a run");
    let seen = format!("{:?} {:?}", view.phase, view.budget());
    let lines = world.tool("cancel");
    format!("{seen} {}", line(&lines, "tool"))
}

/// A key of which this is said, and that `run/changes.rs` forgets, would be dropped at once.
#[test]
fn each_key_of_which_old_and_new_hold_is_held() {
    let started = |workflows| {
        let mut world = World::new(workflows);
        world.command("bugfix the task");
        world
    };
    let mut held = Vec::new();
    for section in ["a phase", "a workflow"] {
        let keys = Section::ALL.iter().filter(|of| of.name == section);
        let keys = keys.flat_map(|of| of.keys);
        let keys =
            keys.filter(|key| !matches!(key.default, Default::Required | Default::RequiredToStart));
        // A workflow needs its name.
        for key in keys.filter(|key| !["rulesets", "name"].contains(&key.name)) {
            let changed = [true, false].map(|has_it| with_examples(section, key.name, has_it));
            let [all, without] = changed;
            // What opens something holds where it is new: without it is stricter.
            let both = [(all.clone(), without.clone()), (without, all)].map(|(before, after)| {
                let [mut fresh, mut world] = [after.clone(), before].map(started);
                world.workflows = after;
                let lines = world.reload();
                let said = lines
                    .iter()
                    .any(|line| line.contains("what held before and what is new both hold"));
                said.then(|| in_force(&mut world) != in_force(&mut fresh))
            });
            if both.iter().any(Option::is_some) {
                assert!(both.contains(&Some(true)), "`{}` of {section}", key.name);
                held.push(key.name);
            }
        }
    }
    assert!(held.len() > 15, "{held:?}");
}

#[test]
fn the_stored_definition_holds_whole_while_ways_differ() {
    for (mut changed, said) in other_ways() {
        if let PhaseEntry::Phase(phase) = &mut changed.phases[0] {
            phase.tools = None;
        }
        let mut world = World::started(vec![strict()]);
        world.workflows = vec![changed];
        let lines = world.reload();
        let found = line(&lines, "WF106");
        assert!(found.contains("keeps its stored definition"), "{found}");
        assert!(found.contains(said), "{said}: {found}");
        assert_eq!(line(&lines, "status"), "status N-w > 🔹 A [1/3]", "{said}");
        assert_is_held(&mut world, said);
    }
}

#[test]
fn guards_that_are_new_act_at_once_beside_those_that_were_removed() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| {
        phase.rules = vec![rule(
            json!({"action":"block", "tools": ["write"], "path": ["new.txt"]}),
        )];
        phase.tools = Some(ToolAccess::Blacklist(names(&["fetch"])));
        phase.gate[0].check = Check::File(FileCheck {
            path: "README.md".to_owned(),
            changed: None,
        });
    })];
    assert!(is_asked(&world.reload()));
    let new = json!({"path": "new.txt"});
    assert!(line(&world.call("write", &new), "block").contains("new.txt"));
    assert!(line(&world.tool_call("fetch"), "block").contains("fetch"));
    assert!(line(&world.tool("next"), "gate").contains("README.md"));
    world = {
        let workflows = world.workflows.clone();
        let mut world = World::started(vec![strict()]);
        world.workflows = workflows;
        world.reload();
        world
    };
    assert_is_held(&mut world, "what held before");
}

#[test]
fn the_lower_bound_holds() {
    let with_visits = |visits| with_phase(|phase| phase.max_visits = visits);
    for (before, after) in [(Some(2), Some(3)), (Some(3), Some(2)), (Some(2), None)] {
        let mut world = World::started(vec![with_visits(before)]);
        world.workflows = vec![with_visits(after)];
        assert!(is_asked(&world.reload()), "{before:?} {after:?}");
        let visit = world.session.view().and_then(|view| view.visit());
        assert_eq!(visit.as_deref(), Some("1 of 2"));
    }
}

#[test]
fn a_user_who_agrees_has_the_run_go_on_with_the_files_alone() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| phase.tools = None)];
    world.reload();
    let lines = world.answer(true);
    assert!(!line(&lines, "entry workflow:definition").contains("blacklist"));
    assert!(world.tool_call("bash").is_empty());
    let lines = world.restart();
    assert!(
        !lines.iter().any(|line| line.starts_with("WF10")),
        "{lines:#?}"
    );
    assert!(world.tool_call("bash").is_empty());
}

#[test]
fn files_that_the_user_declined_are_not_asked_about_again() {
    for changed in [
        with_phase(|phase| phase.tools = None),
        with_phase(|phase| phase.outcomes = read(&json!([{"name": "ok", "to": "done"}]))),
    ] {
        let mut world = World::started(vec![strict()]);
        world.workflows = vec![changed];
        world.reload();
        let lines = world.answer(false);
        assert!(line(&lines, "entry workflow:definition").contains("\"declined\":"));
        for lines in [world.reload(), world.restart()] {
            assert!(!is_asked(&lines), "{lines:#?}");
        }
        // Other texts are no other question, other guards are.
        if let PhaseEntry::Phase(phase) = &mut world.workflows[0].phases[0] {
            phase.instructions = "Do it well.".to_owned();
        }
        assert!(!is_asked(&world.reload()));
        if let PhaseEntry::Phase(phase) = &mut world.workflows[0].phases[1] {
            phase.tools = Some(ToolAccess::Blacklist(names(&["fetch"])));
        }
        assert!(is_asked(&world.reload()));
        assert_is_held(&mut world, "declined");
    }
}

#[test]
fn without_dialogs_the_guards_apply_and_the_user_reads_how_to_agree() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| phase.approve = None)];
    let lines = world.restart_with(Abilities::default());
    let notice = line(&lines, "notify Warning");
    assert!(notice.contains("`approve` of phase A"), "{notice}");
    assert!(
        notice.contains("end the run with /cancel-workflow and start it again"),
        "{notice}"
    );
    assert!(!is_asked(&lines));
    let status = world.control(Control::Status, "");
    let status = line(&status, "notify");
    assert!(
        status.contains("`approve` of phase A") && status.contains("/cancel-workflow"),
        "{status}"
    );
    assert!(line(&world.tool_call("edit"), "block").contains("edit"));
}

#[test]
fn an_answer_after_the_run_moved_on_loosens_nothing() {
    let mut own = workflow("w", &["x", "a"]);
    own.phases[1] = strict().phases[0].clone();
    let mut world = World::started(vec![own]);
    let mut changed = world.workflows[0].clone();
    changed.phases[1] = PhaseEntry::Phase(phase("a"));
    world.workflows[0] = changed;
    world.reload();
    world.tool("next");
    assert!(line(&world.answer(true), "notify Warning").contains("moved in the meantime"));
    assert!(line(&world.tool_call("bash"), "block").contains("bash"));
}

#[test]
fn a_rule_set_holds_although_it_now_excepts_the_phase() {
    let with = |except: &[&str]| {
        let mut own = workflow("w", &["a"]);
        own.rules = vec![Rule {
            except: names(except),
            ..rule(json!({"action":"block", "tools": ["fetch"]}))
        }];
        own
    };
    let mut world = World::started(vec![with(&[])]);
    world.workflows = vec![with(&["a"])];
    world.reload();
    let lines = world.call("fetch", &json!({}));
    assert!(
        line(&lines, "block").contains("before the change"),
        "{lines:?}"
    );
    world.answer(true);
    assert!(world.call("fetch", &json!({})).is_empty());
}

#[test]
fn the_read_only_of_a_workflow_holds_although_a_phase_opens_it() {
    let read_only = |change: fn(&mut Phase)| {
        let mut own = workflow("w", &["a", "b"]);
        let source = "w.yaml:2".to_owned();
        own.tools = Some(ToolAccess::ReadOnly { source });
        let mut first = phase("a");
        change(&mut first);
        own.phases[0] = PhaseEntry::Phase(first);
        own
    };
    let opening: [fn(&mut Phase); 2] = [
        |phase| {
            let source = "w.yaml:9".to_owned();
            phase.tools = Some(ToolAccess::All { source });
        },
        |phase| phase.writable = names(&["**"]),
    ];
    for open in opening {
        let mut world = World::started(vec![read_only(|_| {})]);
        world.workflows = vec![read_only(open)];
        world.reload();
        let file = json!({"path": "a.txt"});
        let lines = world.call("write", &file);
        assert!(line(&lines, "block").contains("read-only"), "{lines:?}");
        world.answer(true);
        assert!(world.call("write", &file).is_empty());
    }
}

#[test]
fn a_redaction_that_was_removed_holds() {
    let with = |results: Value| {
        let mut own = workflow("w", &["a", "b"]);
        let mut first = phase("a");
        first.results = read(&results);
        own.phases[0] = PhaseEntry::Phase(first);
        own
    };
    let mut world = World::started(vec![with(json!([{"tools": ["*"], "redact": ["s3cret"]}]))]);
    world.workflows = vec![with(json!([]))];
    assert!(is_asked(&world.reload()));
    let content = serde_json::value::to_raw_value("a s3cret").expect("it is JSON");
    let lines = world.step(Event::ToolResult {
        tool: "bash",
        content: Some(&content),
        is_error: false,
    });
    assert_eq!(line(&lines, "content"), r#"content "a [redacted]""#);
}

#[test]
fn other_texts_and_locations_apply_at_once() {
    let texts = [
        with_phase(|phase| phase.instructions = "Do it well.".to_owned()),
        with_phase(|phase| phase.rules[0].source = "w.yaml:70".to_owned()),
        with_phase(|phase| phase.rules[0].reason = Some("It has secrets.".to_owned())),
        with_phase(|phase| phase.gate[0].source = "w.yaml:71".to_owned()),
    ];
    for changed in texts {
        let mut world = World::started(vec![strict()]);
        world.workflows = vec![changed.clone()];
        let lines = world.reload();
        assert!(
            line(&lines, "WF104").contains("continues with the new ones"),
            "{changed:#?}"
        );
        assert!(!is_asked(&lines), "{lines:#?}");
    }
}

#[test]
fn a_phase_that_takes_the_place_of_the_current_one_is_named_in_the_question() {
    let mut world = World::started(vec![workflow("w", &["a", "b", "c"])]);
    world.tool("next");
    world.workflows = vec![workflow("w", &["a", "new", "b", "c"])];
    let lines = world.reload();
    let question = line(&lines, "ask Use the changed files");
    assert!(
        question.contains("phase NEW is where B was: /workflow-goto moves the run"),
        "{question}"
    );
}

fn settings(rules: Vec<Rule>) -> Settings {
    Settings {
        user: Guards {
            rules,
            ..Guards::default()
        },
        ..Settings::default()
    }
}

#[test]
fn settings_in_force_apply_during_a_run_until_the_user_agrees() {
    for restarts in [false, true] {
        let mut world = World::new(vec![workflow("w", &["a", "b"])]);
        world.settings = settings(vec![blocks_env()]);
        world.command("w the task");
        world.settings = Settings::default();
        let lines = if restarts {
            world.restart()
        } else {
            world.reload()
        };
        assert!(line(&lines, "WF106").contains("`rules` of the user's settings"));
        let env = json!({"path": ".env"});
        assert!(line(&world.call("write", &env), "block").contains(".env"));
        world.answer(true);
        assert!(world.call("write", &env).is_empty());
    }
}

/// A loop that only the settings limit.
#[test]
fn a_repeated_call_that_settings_blocked_stays_blocked_until_the_user_agrees() {
    let mut world = World::new(vec![workflow("w", &["a", "b"])]);
    world.settings = settings(vec![blocks_env()]);
    world.settings.user.on_repeat = Some(OnRepeat::Block);
    world.command("w the task");
    world.settings.user.on_repeat = None;
    let lines = world.reload();
    assert!(line(&lines, "WF106").contains("`onRepeat` of the user's settings"));
    let three_times = |world: &mut World| {
        let env = json!({"path": ".env"});
        world.call("write", &env);
        world.call("write", &env);
        world.call("write", &env)
    };
    let lines = three_times(&mut world);
    assert!(line(&lines, "block").contains("refused 3 times"));
    world.answer(true);
    line(&three_times(&mut world), "ask ");
}

fn with_loop(most: u32) -> World {
    let mut work = with_review();
    edit(&mut work, "build", |build| build.max_visits = None);
    let mut world = World::new(vec![work]);
    world.settings.limits.jumps = most;
    world.reload();
    world.command("w do it");
    world.stop("aborted");
    world
}

#[test]
fn more_visits_in_the_settings_need_consent_during_a_run() {
    for (before, after) in [(2, 3), (25, 26)] {
        for restarts in [false, true] {
            let mut world = with_loop(before);
            world.settings.limits.jumps = after;
            let lines = if restarts {
                world.restart()
            } else {
                world.reload()
            };
            let said = "`limits.maxVisits` of the settings";
            assert!(line(&lines, "WF106").contains(said), "{lines:#?}");
            assert!(line(&lines, "ask Use the changed files").contains(said));
            world.tool("next");
            for jumped in 0..after {
                world.tool("next");
                let lines = world.next("changes", &json!({}));
                let is_refused =
                    line(&lines, "tool").contains("which is the limit of the settings");
                assert_eq!(is_refused, jumped == before, "{jumped}: {lines:?}");
                if is_refused {
                    break;
                }
            }
        }
    }
}

#[test]
fn more_visits_in_the_settings_apply_when_the_user_agrees_and_fewer_at_once() {
    let mut world = with_loop(1);
    world.settings.limits.jumps = 2;
    world.reload();
    world.answer(true);
    let lines = world.restart();
    assert!(
        !lines.iter().any(|line| line.starts_with("WF106")),
        "{lines:#?}"
    );
    world.tool("next");
    world.tool("next");
    world.next("changes", &json!({}));
    assert_eq!(index(&world), 1);

    world.settings.limits.jumps = 1;
    assert!(is_asked(&world.reload()));
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert!(line(&lines, "tool").contains("which is the limit of the settings"));
}

#[test]
fn a_question_about_changed_files_is_withdrawn_when_they_change_again() {
    let mut world = with_loop(1);
    let mut change = |jumps| {
        world.settings.limits.jumps = jumps;
        let loaded = world.loaded();
        world.step(Event::Settings { loaded: &loaded })
    };
    line(&change(2), "ask Use the changed files");
    let lines = change(3);
    line(&lines, "dismiss #");
    line(&lines, "ask Use the changed files");
}

#[test]
fn settings_of_a_project_that_is_not_trusted_any_more_do_not_hold() {
    let mut world = World::new(vec![workflow("w", &["a", "b"])]);
    world.session.set_project_trusted(true);
    world.settings.project.rules = vec![blocks_env()];
    world.command("w the task");
    world.settings = Settings::default();
    world.session.set_project_trusted(false);
    assert!(!is_asked(&world.reload()));
    assert!(world.call("write", &json!({"path": ".env"})).is_empty());
}

#[test]
fn a_second_start_says_what_it_changes() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| phase.approve = None)];
    let lines = world.command("w again");
    let question = line(&lines, "ask Workflow already active");
    assert!(question.contains("- `approve` of phase A\n"), "{question}");
    world.answer(false);
    assert!(line(&world.tool("next"), "gate").contains("plan.md"));
}

#[test]
fn states_that_transitions_lead_to_are_restored() {
    let mut world = World::started(vec![
        workflow("w", &["a", "{s}", "b"]),
        workflow("s", &["x", "y"]),
    ]);
    for action in ["next", "next", "loop", "next", "next"] {
        world.tool(action);
        let lines = world.restart();
        assert!(
            !lines.iter().any(|line| line.starts_with("WF1")),
            "{action}: {lines:#?}"
        );
    }
    assert_eq!(line(&world.reload(), "status"), "status N-w > 🔹 B [3/3]");
    world.tool("next");
    assert_eq!(world.restart(), ["status -"]);
}

#[test]
fn writing_what_holds_in_a_run_needs_consent() {
    let files = [
        ".pi/workflows/w/workflow.yaml",
        ".pi/workflows/_shared/a.md",
        ".agents/workflows/w/workflow.yaml",
        ".pi/workflows/workflows.lock",
        "~/.pi/agent/workflows/w/workflow.yaml",
        "/project/.pi/workflow-sidecar.json5",
        "~/.pi/agent/workflow-sidecar.json5",
        "~/.pi/agent/sessions/session.jsonl",
    ];
    for file in files {
        let calls = [
            ("write", json!({"path": file, "content": "x"})),
            ("edit", json!({"path": file})),
            ("mcp__fs__write_file", json!({"save_as": {"key": [file]}})),
            ("bash", json!({"command": format!("echo x > {file}")})),
        ];
        for (tool, input) in calls {
            let mut world = World::started(vec![workflow("w", &["a"])]);
            let lines = world.call(tool, &input);
            let question = line(&lines, "ask Allow");
            assert!(
                question.contains("decide which rules are in force"),
                "{input}: {question}"
            );
            // Without a run and without rules nothing is in force.
            world.answer(false);
            world.cancel_command();
            assert!(world.call(tool, &input).is_empty(), "{input}");
        }
    }
    for line in [
        "rm -rf .pi",
        "rm -rf .agents",
        "cd /tmp; sed -i s/a/b/ /project/.pi/workflows/w/a.md",
        "mv .pi/workflows x",
        "cp x .pi/workfl*/w/workflow.yaml",
        "rm -rf ~/.pi",
        "rm .pi/*.json5",
        "tee .pi/workflow-sidecar.json5 < x",
    ] {
        let mut world = World::started(vec![workflow("w", &["a"])]);
        let lines = world.call("bash", &json!({ "command": line }));
        assert!(
            lines.iter().any(|line| line.starts_with("ask Allow")),
            "{line}: {lines:#?}"
        );
    }
}

#[test]
fn everyday_calls_need_no_consent_in_a_run() {
    for (tool, input) in [
        ("read", json!({"path": ".pi/workflows/w/workflow.yaml"})),
        (
            "bash",
            json!({"command": "cat .pi/workflows/w/workflow.yaml"}),
        ),
        ("bash", json!({"command": "cargo test && git status"})),
        ("bash", json!({"command": "git add -A && git commit -m x"})),
        ("bash", json!({"command": "./unknown-program --flag"})),
        (
            "write",
            json!({"path": "docs/workflows.md", "content": "see .pi/workflows/w/workflow.yaml"}),
        ),
        (
            "write",
            json!({"path": "workflows/w/workflow.yaml", "content": "x"}),
        ),
        ("bash", json!({"command": "echo x > .pi/notes.md"})),
    ] {
        let mut world = World::started(vec![workflow("w", &["a"])]);
        assert!(world.call(tool, &input).is_empty(), "{input}");
    }
    for line in [
        "npx prettier --write .",
        "tar xf a.tar",
        "git checkout -- .",
        "git clean -fdx",
        "git stash && git pull --rebase",
        "rm -rf node_modules dist",
        "find . -name '*.o' -delete",
        "sed -i s/a/b/ src/*.rs",
        "cp -r a b",
        "npm install",
        "for f in *.md; do echo x >> $f; done",
        "echo x > $OUT",
        "mv src/a.rs src/b.rs",
    ] {
        let mut world = World::started(vec![workflow("w", &["a"])]);
        let lines = world.call("bash", &json!({ "command": line }));
        assert!(lines.is_empty(), "{line}: {lines:#?}");
    }
}

#[test]
fn without_dialogs_a_write_of_what_holds_is_blocked() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    world.restart_with(Abilities::default());
    let lines = world.call("write", &json!({"path": ".pi/workflows/w/a.md"}));
    let reason = line(&lines, "block");
    assert!(reason.contains("needs the consent of the user"), "{reason}");
}
