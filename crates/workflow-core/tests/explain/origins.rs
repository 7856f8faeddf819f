//! The origins of values, in files of every format.

use workflow_core::definition::{MemoryFiles, Tier, load, load_located};
use workflow_core::explain::{Explained, Origin, OriginKind, Topic, Value, everywhere, phase_tree};

const WORKFLOW: &str = "\
name: Fix
commandName: fix
initialMessage: Go
notDoneReminder: Go on.
continue:
  max: 5
  countdown: 9
phases:
  - look.md
  - id: mend
    name: Mend
    emoji: m
    instructions: Mend it.
    tools: {blacklist: [edit]}
  - subworkflow: check
";

const LOOK: &str = "\
---
id: look
name: Look
emoji: l
tools:
  whitelist: [read]
continue:
  countdown: 0
availableProfiles:
---

Look at it.
";

const CHECK: &str = "\
{
  name: 'Check',
  show: 'workflows', loopable: false,
  continue: { onError: 'continue' },
  phases: [{
    id: 'run', name: 'Run', emoji: 'r', instructions: 'Run it.',
    tools: { whitelist: ['bash'] },
    continue: 'wait',
  }],
}
";

fn files() -> MemoryFiles {
    MemoryFiles::new()
        .with(Tier::Project, "fix/workflow.yaml", WORKFLOW)
        .with(Tier::Project, "fix/look.md", LOOK)
        .with(Tier::Global, "check/workflow.json5", CHECK)
}

/// A value of a topic with its origin, as `kind file:line`.
fn origin_in(files: &MemoryFiles, place: &str, section: Topic, key: &str) -> (Value, String) {
    let loaded = load_located(files);
    let fix = loaded.catalog.get("fix").expect("it is sound");
    let tree = phase_tree(fix, &loaded.catalog);
    let state = tree.find(place).unwrap().state().unwrap();
    let explained = Explained::of(&state, &loaded).unwrap();
    let row = explained.row(section, key).expect("there is such a row");
    (row.value.clone(), described(row.origin.as_ref()))
}

fn described(origin: Option<&Origin>) -> String {
    let Some(origin) = origin else {
        return String::new();
    };
    let said = match &origin.kind {
        OriginKind::Default => "default".to_owned(),
        OriginKind::BuiltIn => "built in".to_owned(),
        OriginKind::Settings { tier } => format!("{tier:?} settings"),
        OriginKind::Workflow { key } => format!("workflow {key}"),
        OriginKind::Phase => "phase".to_owned(),
    };
    match &origin.file {
        Some(_) => format!("{said} {origin}"),
        None => said,
    }
}

fn origin(place: &str, section: Topic, key: &str) -> String {
    origin_in(&files(), place, section, key).1
}

#[test]
fn the_read_only_of_a_workflow_has_its_line_in_a_phase_that_adds_a_list_and_a_rule() {
    let files = MemoryFiles::new().with(
        Tier::Project,
        "fix/workflow.yaml",
        "name: Fix\ncommandName: fix\ninitialMessage: Go\ntools: read-only\nphases:\n  \
         - {id: a, name: A, emoji: a, instructions: Do it., tools: {blacklist: [fetch], rules: [{block: bash, command: git log}]}}\n",
    );
    let allowed = origin_in(&files, "a", Topic::Tools, "allowed");
    let read_only = Value::Label("read-only: what changes nothing".to_owned());
    let origin = "workflow fix .pi/workflows/fix/workflow.yaml:4".to_owned();
    assert_eq!(allowed, (read_only, origin));
    let (in_force, _) = origin_in(&files, "a", Topic::Tools, "inForce");
    let all = "read-only; all except fetch; bash may not run `git log`";
    assert_eq!(in_force, Value::Label(all.to_owned()));
}

#[test]
fn a_phase_that_lifts_the_read_only_of_its_workflow_says_so_with_its_line() {
    let files = MemoryFiles::new().with(
        Tier::Project,
        "fix/workflow.yaml",
        "name: Fix\ncommandName: fix\ninitialMessage: Go\ntools: read-only\nphases:\n  \
         - {id: mend-it, instructions: Mend it.,\n     tools: {mode: all, rules: [{block: bash, command: git push}]}}\n",
    );
    let file = ".pi/workflows/fix/workflow.yaml";
    let label = |text: &str| Value::Label(text.to_owned());
    let of = |topic, key| origin_in(&files, "mend-it", topic, key);
    let lifts = label("all, which lifts the read-only of the workflow");
    assert_eq!(
        of(Topic::Tools, "allowed"),
        (lifts, format!("phase {file}:7"))
    );
    let all = "not read-only, which the Fix workflow otherwise is; bash may not run `git push`";
    assert_eq!(of(Topic::Tools, "inForce").0, label(all));
    assert_eq!(of(Topic::Phase, "name").0, label("Mend it"));
}

#[test]
fn a_phase_file_is_an_origin_in_its_frontmatter_and_its_body() {
    let at = |section, key| origin("look", section, key);
    let file = ".pi/workflows/fix/look.md";
    assert_eq!(at(Topic::Phase, "id"), format!("phase {file}:2"));
    assert_eq!(at(Topic::Tools, "allowed"), format!("phase {file}:6"));
    assert_eq!(at(Topic::Continue, "countdown"), format!("phase {file}:8"));
    assert_eq!(at(Topic::Phase, "instructions"), format!("phase {file}:12"));
    // A map under `continue` sets `wait` to false; there is no separate line for that.
    assert_eq!(at(Topic::Continue, "wait"), format!("phase {file}:7"));
    assert_eq!(at(Topic::Phase, "availableProfiles"), "default");
}

#[test]
fn a_phase_written_out_in_the_workflow_is_an_origin_there() {
    let file = ".pi/workflows/fix/workflow.yaml";
    assert_eq!(
        origin("mend", Topic::Tools, "blocked"),
        format!("phase {file}:14")
    );
    assert_eq!(
        origin("mend", Topic::Phase, "instructions"),
        format!("phase {file}:13")
    );
    assert_eq!(
        origin("mend", Topic::Continue, "max"),
        format!("workflow fix {file}:6")
    );
    assert_eq!(
        origin("mend", Topic::Continue, "reminder"),
        format!("workflow fix {file}:4")
    );
    assert_eq!(origin("mend", Topic::Continue, "maxStale"), "default");
    assert_eq!(
        origin("look", Topic::Moves, "next"),
        format!("workflow fix {file}:10")
    );
}

#[test]
fn a_workflow_in_json5_has_its_lines_too() {
    let file = "~/.pi/agent/workflows/check/workflow.json5";
    let at = |section, key| origin("check/run", section, key);
    assert_eq!(at(Topic::Tools, "allowed"), format!("phase {file}:7"));
    assert_eq!(at(Topic::Continue, "wait"), format!("phase {file}:8"));
    assert_eq!(
        at(Topic::Continue, "onError"),
        format!("workflow check {file}:4")
    );
    assert_eq!(at(Topic::Moves, "loop"), format!("workflow check {file}:3"));
    // The scope around says what the inner ones do not.
    assert_eq!(
        at(Topic::Continue, "max"),
        "workflow fix .pi/workflows/fix/workflow.yaml:6"
    );
    assert_eq!(at(Topic::Context, "mode"), "default");
}

#[test]
fn of_two_settings_files_the_one_that_wins_is_named() {
    let files = files()
        .with_settings(Tier::Global, "{\n  defaults: { continue: {\n    onLimit: 'cancel',\n    onError: 'pause' } },\n  context: 'every-turn'}")
        .with_settings(Tier::Project, "{\n  defaults: { continue: { onLimit: 'pause', onQuestion: 'what' } } }");
    let at = |section, key| origin_in(&files, "mend", section, key);
    let (value, origin) = at(Topic::Continue, "onLimit");
    assert_eq!(value, Value::Label("pause".to_owned()));
    assert_eq!(origin, "Project settings .pi/workflow-sidecar.json5:2");
    assert_eq!(
        at(Topic::Continue, "onError").1,
        "Global settings ~/.pi/agent/workflow-sidecar.json5:4"
    );
    assert_eq!(
        at(Topic::Context, "mode").1,
        "Global settings ~/.pi/agent/workflow-sidecar.json5:5"
    );
    // What a file says and means nothing is not said.
    assert_eq!(at(Topic::Continue, "onQuestion").1, "default");
}

#[test]
fn without_a_bound_the_others_are_off_because_of_it() {
    let workflow = WORKFLOW.replace("max: 5", "max: unlimited");
    let files = files().with(Tier::Project, "fix/workflow.yaml", workflow);
    let (value, origin) = origin_in(&files, "mend", Topic::Continue, "maxStale");
    assert_eq!(value, Value::Label("unlimited".to_owned()));
    assert_eq!(origin, "workflow fix .pi/workflows/fix/workflow.yaml:6");
    assert!(
        origin_in(&files, "mend", Topic::Continue, "onError")
            .1
            .ends_with("workflow.yaml:6")
    );
}

#[test]
fn a_value_without_effect_is_left_out() {
    let workflow = WORKFLOW.replace(
        "notDoneReminder: Go on.",
        "sessionNameMaxLength: -2\nroleInstruction:",
    );
    let files = files().with(Tier::Project, "fix/workflow.yaml", workflow);
    let loaded = load_located(&files);
    let fix = loaded.catalog.get("fix").unwrap();
    let rows = everywhere(fix, &loaded);
    let origin = |key| {
        described(
            rows.iter()
                .find(|row| row.key == key)
                .unwrap()
                .origin
                .as_ref(),
        )
    };
    assert_eq!(origin("sessionName"), "default");
    assert_eq!(origin("roleInstruction"), "default");
    assert_eq!(
        origin("initialMessage"),
        "workflow fix .pi/workflows/fix/workflow.yaml:3"
    );
}

#[test]
fn without_locations_the_kind_of_origin_is_left() {
    let loaded = load(&files());
    let tree = phase_tree(loaded.catalog.get("fix").unwrap(), &loaded.catalog);
    let state = tree.find("look").unwrap().state().unwrap();
    let explained = Explained::of(&state, &loaded).unwrap();
    let row = explained.row(Topic::Tools, "allowed").unwrap();
    assert_eq!(described(row.origin.as_ref()), "phase");
}

#[test]
fn values_around_turns_name_their_lines() {
    let files = files()
        .with_settings(
            Tier::Global,
            "{\n  triggers: [\n    { file: '/a.txt', prompt: 'A {content}' },\n  ],\n}",
        )
        .with_settings(
            Tier::Project,
            "{\n  checkpoint: 'git',\n  triggers: [{ http: { port: 1, tokenEnv: 'T' }, prompt: 'B' }],\n}",
        )
        .with(
            Tier::Project,
            "fix/look.md",
            LOOK.replace("emoji: l\n", "emoji: l\ncheckpoint: off\n"),
        );
    let kept = |place| origin_in(&files, place, Topic::Turns, "checkpoint");
    let word = |text: &str| Value::Label(text.to_owned());
    assert_eq!(
        kept("look"),
        (word("off"), "phase .pi/workflows/fix/look.md:5".to_owned())
    );
    let settings = "Project settings .pi/workflow-sidecar.json5:2".to_owned();
    assert_eq!(kept("mend"), (word("git"), settings.clone()));
    let loaded = load_located(&files);
    let fix = loaded.catalog.get("fix").unwrap();
    let around: Vec<(Value, String)> = everywhere(fix, &loaded)
        .into_iter()
        .filter(|row| row.topic == Topic::Turns)
        .map(|row| (row.value, described(row.origin.as_ref())))
        .collect();
    assert_eq!(around[0], (word("git"), settings));
    let [a, b] = &around[1..] else {
        panic!("{around:?}")
    };
    assert_eq!(a.0, word("file /a.txt: \"A {content}\""));
    assert!(a.1.starts_with("Global settings "), "{a:?}");
    assert!(a.1.ends_with(":3"), "{a:?}");
    assert_eq!(b.0, word("http port 1: \"B\""));
    assert!(b.1.ends_with(":3"), "{b:?}");
}

#[test]
fn the_flow_of_a_phase_is_explained_with_its_locations() {
    const FLOW: &str = "\
name: Change
commandName: change
initialMessage: Go
budget: {turns: 9}
inputs:
  hotfix: {type: flag, default: false}
cancel: user
phases:
  - id: build
    name: Build
    emoji: b
    instructions: Build it.
    gate: [{run: [make], onFail: build}]
    maxVisits: 3
    outputs: {risk: {oneOf: [low, high], about: How risky it is}}
  - id: review
    name: Review
    emoji: r
    instructions: Review it.
    when: {inputs.hotfix: false}
    outcomes: {ok: next, changes: build}
  - id: publish
    name: Publish
    emoji: p
    instructions: Publish it.
    approve: {ask: Publish?, choices: {publish: next, abort: cancel}, comment: true}
";
    let files = MemoryFiles::new().with(Tier::Project, "change/workflow.yaml", FLOW);
    let loaded = load_located(&files);
    assert_eq!(loaded.diagnostics, []);
    let change = loaded.catalog.get("change").unwrap();
    let tree = phase_tree(change, &loaded.catalog);
    let rows = |place: &str| -> Vec<(String, String)> {
        let state = tree.find(place).unwrap().state().unwrap();
        let explained = Explained::of(&state, &loaded).unwrap();
        let rows = explained.rows.into_iter();
        let rows = rows.filter(|row| matches!(row.topic, Topic::Moves | Topic::Flow));
        rows.map(|row| {
            let Value::Label(value) = row.value else {
                panic!("{row:?}")
            };
            (
                format!("{} {value}", row.key),
                described(row.origin.as_ref()),
            )
        })
        .collect()
    };
    let has = |place: &str, text: &str, line: u32| {
        let rows = rows(place);
        let found = rows.iter().find(|(row, _)| row == text);
        let (_, origin) = found.unwrap_or_else(|| panic!("{text}: {rows:?}"));
        assert!(
            origin.ends_with(&format!("workflow.yaml:{line}")),
            "{text}: {origin}"
        );
    };
    has("build", "gate make must pass, otherwise → build", 13);
    has("build", "maxVisits 3, then pause", 14);
    has(
        "build",
        "output risk: one of `low`, `high` (How risky it is)",
        15,
    );
    has("build", "budget 9 turns in Change", 4);
    has("review", "when inputs.hotfix is false", 20);
    has("review", "outcome changes → build", 21);
    has(
        "publish",
        "approve Publish? (publish → next, abort → cancel; with a comment)",
        26,
    );
    let everywhere = everywhere(change, &loaded);
    let flow = everywhere.iter().filter(|row| row.topic == Topic::Flow);
    let flow: Vec<&Value> = flow.map(|row| &row.value).collect();
    let label = |text: &str| Value::Label(text.to_owned());
    assert_eq!(
        flow,
        [
            &label("hotfix: true or false, false where it is not given"),
            &label("9 turns"),
            &label("by the user only"),
        ]
    );
}

#[test]
fn the_condition_of_a_subworkflow_is_explained_in_each_of_its_phases() {
    const CHANGE: &str = "\
name: Change
commandName: change
initialMessage: Go
inputs:
  hotfix: {type: flag, default: false}
phases:
  - {id: build, name: Build, emoji: b, instructions: Build it.}
  - subworkflow: checks
    when: {inputs.hotfix: false}
";
    const CHECKS: &str = "\
name: Checks
initialMessage: Go
show: workflows
phases:
  - {id: lint, name: Lint, emoji: l, instructions: Lint it.}
  - {id: test, name: Test, emoji: t, instructions: Test it.}
";
    let files = MemoryFiles::new()
        .with(Tier::Project, "change/workflow.yaml", CHANGE)
        .with(Tier::Project, "checks/workflow.yaml", CHECKS);
    let loaded = load_located(&files);
    assert_eq!(loaded.diagnostics, []);
    for (place, is_conditional) in [("build", false), ("lint", true), ("test", true)] {
        let change = loaded.catalog.get("change").unwrap();
        let tree = phase_tree(change, &loaded.catalog);
        let state = tree.find(place).unwrap().state().unwrap();
        let explained = Explained::of(&state, &loaded).unwrap();
        let row = explained.row(Topic::Flow, "when");
        assert_eq!(row.is_some(), is_conditional, "{place}");
        if let Some(row) = row {
            let said = Value::Label("inputs.hotfix is false for Checks".to_owned());
            assert_eq!(row.value, said);
            let origin = described(row.origin.as_ref());
            assert!(origin.contains("change/workflow.yaml:"), "{origin}");
        }
    }
}
