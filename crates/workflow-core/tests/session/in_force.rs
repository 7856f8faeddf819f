//! Guards in force stay in force: edits of definitions, settings and the session during a run.

use serde_json::{Value, json};
use workflow_core::definition::{
    Approval, Catalog, Check, FileCheck, Gate, Guards, Phase, PhaseEntry, Rule, Settings,
    ToolAccess, UnknownAction, Workflow,
};
use workflow_core::run::StoredDefinition;
use workflow_core::session::Abilities;

use crate::flow::{edit, index, with_review};
use crate::world::{World, guarded, line, phase, workflow};

fn rule(json: Value) -> Rule {
    serde_json::from_value(json).expect("it is a rule")
}

fn blocks_env() -> Rule {
    rule(
        json!({"verdict": "block", "tools": ["write", "edit"], "path": [".env"], "source": "w.yaml:7"}),
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
        gate: vec![Gate {
            on_fail: None,
            check: Check::File(FileCheck {
                path: "plan.md".to_owned(),
                changed: None,
            }),
            source: String::new(),
        }],
        rules: vec![blocks_env()],
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

/// Every edit of the definition that weakens a guard, with what is said of it.
fn weaker() -> Vec<(Workflow, &'static str)> {
    let mut skipping = strict();
    skipping.phases.swap(0, 1);
    let mut renamed = strict();
    if let PhaseEntry::Phase(phase) = &mut renamed.phases[0] {
        "other".clone_into(&mut phase.id);
    }
    vec![
        (
            with_phase(|phase| phase.approve = None),
            "the approval of phase A was removed",
        ),
        (
            with_phase(|phase| phase.gate.clear()),
            "the check `file plan.md` of phase A was removed or changed",
        ),
        (
            with_phase(|phase| {
                phase.gate[0].check = Check::File(FileCheck {
                    path: "README.md".to_owned(),
                    changed: None,
                });
            }),
            "the check `file plan.md` of phase A was removed or changed",
        ),
        (
            with_phase(|phase| phase.rules.clear()),
            "the rule `block: write, edit` about `.env` (w.yaml:7) of phase A was removed or changed",
        ),
        (
            with_phase(|phase| {
                phase.rules.insert(
                    0,
                    rule(json!({"verdict": "allow", "tools": ["write"], "source": "w.yaml:6"})),
                );
            }),
            "the rule `allow: write` (w.yaml:6) of phase A is new",
        ),
        (
            with_phase(|phase| phase.tools = Some(ToolAccess::Blacklist(names(&["edit"])))),
            "the tool list of phase A lets `bash` run",
        ),
        (
            with_phase(|phase| phase.tools = None),
            "the tool list of phase A lets `bash`, `edit` run",
        ),
        (
            renamed,
            "phase A was removed, with its approval, gate, tool list, rules",
        ),
    ]
}

#[test]
fn weaker_definitions_are_used_only_when_a_person_agrees() {
    for (changed, said) in weaker() {
        for restarts in [false, true] {
            let mut world = World::started(vec![strict()]);
            world.workflows = vec![changed.clone()];
            let lines = if restarts {
                world.restart()
            } else {
                world.reload()
            };
            assert!(line(&lines, "WF106").contains(said), "{said}: {lines:#?}");
            let question = line(&lines, "ask Weaken the rules");
            assert!(question.contains(&format!("- {said}\n")), "{question}");
            assert!(
                line(&world.tool_call("bash"), "block").contains("bash"),
                "{said}"
            );
            world.answer(false);
            // What was declined is not asked about again, and holds.
            let lines = world.reload();
            assert!(
                !lines.iter().any(|line| line.starts_with("ask")),
                "{lines:#?}"
            );
            assert!(
                line(&world.tool("next"), "gate").contains("plan.md"),
                "{said}"
            );
        }
    }
}

#[test]
fn a_phase_that_opens_the_read_only_of_its_workflow_is_weaker_and_one_that_adds_to_it_is_not() {
    let read_only = |change: fn(&mut Phase)| {
        let mut own = workflow("w", &["a", "b"]);
        let source = "w.yaml:2".to_owned();
        own.tools = Some(ToolAccess::ReadOnly { source });
        let mut first = phase("a");
        change(&mut first);
        own.phases[0] = PhaseEntry::Phase(first);
        own
    };
    let with = |change| {
        let mut world = World::started(vec![read_only(|_| {})]);
        world.workflows = vec![read_only(change)];
        world.reload()
    };
    let asked = |change| line(&with(change), "ask Weaken the rules").to_owned();
    let said = asked(|phase| phase.tools = Some(ToolAccess::Blacklist(Vec::new())));
    assert!(
        said.contains("- phase A is no longer read-only\n"),
        "{said}"
    );
    for verdict in ["allow", "ask"] {
        let said = match verdict {
            "allow" => asked(|phase| {
                let allow = json!({"verdict": "allow", "tools": ["write"]});
                phase.rules = vec![rule(allow)];
            }),
            _ => asked(|phase| {
                let ask = json!({"verdict": "ask", "tools": ["write"]});
                phase.rules = vec![rule(ask)];
            }),
        };
        let expected = format!("- the rule `{verdict}: write` of phase A is new\n");
        assert!(said.contains(&expected), "{said}");
    }
    let stricter: [fn(&mut Phase); 2] = [
        |phase| phase.rules = vec![blocks_env()],
        |phase| phase.tools = Some(ToolAccess::Blacklist(names(&["fetch"]))),
    ];
    for change in stricter {
        let said = with(change);
        assert!(!said.iter().any(|line| line.starts_with("ask")), "{said:?}");
    }
}

#[test]
fn a_person_who_agrees_has_the_run_go_on_with_the_files() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| phase.tools = None)];
    world.reload();
    let lines = world.answer(true);
    assert!(line(&lines, "entry workflow:definition").contains("\"agreed\":true"));
    assert!(world.tool_call("bash").is_empty());
    let lines = world.restart();
    assert!(
        !lines.iter().any(|line| line.starts_with("WF106")),
        "{lines:#?}"
    );
    assert!(world.tool_call("bash").is_empty());
}

#[test]
fn without_dialogs_the_guards_apply_and_the_person_reads_how_to_agree() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| phase.approve = None)];
    let lines = world.restart_with(Abilities::default());
    assert!(
        line(&lines, "notify Warning")
            .contains("end the run with /cancel-workflow and start it again")
    );
    assert!(!lines.iter().any(|line| line.starts_with("ask")));
    assert!(line(&world.tool_call("edit"), "block").contains("edit"));
}

#[test]
fn an_answer_after_the_run_moved_on_weakens_nothing() {
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
fn a_guarded_phase_cannot_be_moved_behind_the_run() {
    let mut own = strict();
    own.phases.rotate_left(1);
    let mut world = World::started(vec![own.clone()]);
    world.tool("next");
    // The run is in the second of three phases; the third one has the guards.
    let mut changed = own;
    changed.phases.swap(0, 2);
    world.workflows = vec![changed];
    let lines = world.reload();
    assert!(
        line(&lines, "WF106").contains("phase A would be skipped"),
        "{lines:#?}"
    );
}

#[test]
fn stricter_and_unrelated_changes_apply_at_once() {
    let mut more = strict();
    more.phases.push(PhaseEntry::Phase(phase("d")));
    let stricter = [
        with_phase(|phase| phase.instructions = "Do it well.".to_owned()),
        with_phase(|phase| {
            phase.tools = Some(ToolAccess::Blacklist(names(&["bash", "edit", "write"])));
        }),
        with_phase(|phase| phase.tools = Some(ToolAccess::Whitelist(names(&["read"])))),
        with_phase(|phase| {
            phase.rules.push(rule(
                json!({"verdict": "block", "tools": ["*"], "path": ["b"]}),
            ));
        }),
        with_phase(|phase| phase.gate.push(phase.gate[0].clone())),
        with_phase(|phase| phase.rules[0].source = "w.yaml:70".to_owned()),
        more,
    ];
    for changed in stricter {
        let mut world = World::started(vec![strict()]);
        world.workflows = vec![changed.clone()];
        let lines = world.reload();
        assert!(
            line(&lines, "WF104").contains("continues with the new definition"),
            "{changed:#?}"
        );
        assert!(
            !lines.iter().any(|line| line.starts_with("ask")),
            "{lines:#?}"
        );
    }
}

#[test]
fn a_phase_that_takes_the_place_of_the_current_one_is_named() {
    let mut world = World::started(vec![workflow("w", &["a", "b", "c"])]);
    world.tool("next");
    world.workflows = vec![workflow("w", &["a", "new", "b", "c"])];
    let lines = world.reload();
    let notice = line(&lines, "WF104");
    assert!(
        notice.contains("in phase NEW, which is now where B was: /workflow-goto moves it"),
        "{notice}"
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
fn settings_in_force_apply_during_a_run_until_a_person_agrees() {
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
        assert!(line(&lines, "WF106").contains("of the user's settings was removed or changed"));
        let env = json!({"path": ".env"});
        assert!(line(&world.call("write", &env), "block").contains(".env"));
        world.answer(true);
        assert!(world.call("write", &env).is_empty());
    }
}

/// A loop that only the settings limit.
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
            let said = format!("`limits.maxVisits` of the settings is {after} instead of {before}");
            assert!(line(&lines, "WF106").contains(&said), "{lines:#?}");
            assert!(line(&lines, "ask Weaken the rules").contains(&said));
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
fn more_visits_in_the_settings_apply_when_a_person_agrees_and_fewer_at_once() {
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
    let lines = world.reload();
    assert!(
        !lines.iter().any(|line| line.starts_with("ask")),
        "{lines:#?}"
    );
}

#[test]
fn an_unknown_command_may_not_run_because_of_settings_of_a_run_that_had_none() {
    let settings = |unknown| Settings {
        user: Guards {
            unknown: Some(unknown),
            ..Guards::default()
        },
        ..Settings::default()
    };
    for (unknown, is_weaker) in [(UnknownAction::Allow, true), (UnknownAction::Block, false)] {
        let mut world = World::started(vec![workflow("w", &["a", "b"])]);
        world.settings = settings(unknown);
        let lines = world.reload();
        let is_said = lines
            .iter()
            .any(|line| line.contains("`unknown` of the user's settings"));
        assert_eq!(is_said, is_weaker, "{lines:#?}");
    }
}

#[test]
fn a_second_start_says_what_it_weakens() {
    let mut world = World::started(vec![strict()]);
    world.workflows = vec![with_phase(|phase| phase.approve = None)];
    let lines = world.command("w again");
    let question = line(&lines, "ask Workflow already active");
    assert!(
        question.contains("- the approval of phase A was removed"),
        "{question}"
    );
    world.answer(false);
    assert!(line(&world.tool("next"), "gate").contains("plan.md"));
}

fn forged(world: &World, phase_index: i64, step: u64) -> Value {
    let mut state = world.last_state();
    state["currentPath"][0]["phaseIndex"] = json!(phase_index);
    state["globalStepCount"] = json!(step);
    state
}

#[test]
fn a_stored_state_that_no_transition_leads_to_is_left_out() {
    for (phase_index, step) in [(1, 1), (2, 2), (1, 0), (2, 1), (-1, 1)] {
        let mut world = World::started(vec![strict()]);
        let state = forged(&world, phase_index, step);
        world.append("workflow:state", &state);
        for lines in [world.reload(), world.restart()] {
            assert!(line(&lines, "WF107").contains("it was not written by the workflow"));
            assert_eq!(
                line(&lines, "status"),
                "status N-w > 🔹 A [1/3]",
                "{phase_index}"
            );
        }
    }
    for change in [
        json!({"active": false, "completionNotified": true}),
        json!({"taskId": "wf-1-other"}),
        // Another run begins active: an ended one would end this run, and its guards.
        json!({"taskId": "wf-1-other", "globalStepCount": 0, "currentPath": [{"workflowKey": "w", "phaseIndex": 0}], "active": false}),
    ] {
        let mut world = World::started(vec![strict()]);
        let mut state = forged(&world, 1, 1);
        for (field, value) in change.as_object().expect("changes are fields") {
            state[field] = value.clone();
        }
        world.append("workflow:state", &state);
        let lines = world.restart();
        assert_eq!(
            line(&lines, "status"),
            "status N-w > 🔹 A [1/3]",
            "{change}"
        );
    }
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
fn a_stored_definition_that_is_weaker_counts_only_with_a_persons_agreement() {
    let mut world = World::started(vec![strict()]);
    let task = world.last_state()["taskId"]
        .as_str()
        .expect("it is a text")
        .to_owned();
    let weaker = vec![with_phase(|phase| phase.approve = None)];
    let forged = StoredDefinition::of("w", &Catalog::new(weaker.clone()), &task);
    world.append(
        "workflow:definition",
        &serde_json::to_value(forged).expect("it is JSON"),
    );
    world.workflows = weaker;
    let lines = world.restart();
    assert!(
        line(&lines, "WF106").contains("the approval of phase A was removed"),
        "{lines:#?}"
    );
}

#[test]
fn writing_what_holds_in_a_run_needs_consent() {
    let files = [
        ".pi/workflows/w/workflow.yaml",
        ".pi/workflows/_shared/a.md",
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
