//! Invariants of loading for any files: it ends, reports everything it leaves out, and yields a valid catalog.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use workflow_core::definition::{
    LoadOutcome, Loaded, MemoryFiles, PhaseEntry, RuleAction, Tier, ToolAccess, load,
};
use workflow_core::diagnostic::{Code, Severity, render};
use workflow_core::session::project_gate_commands;

const WORKFLOW: &str = "\
name: Fix
commandName: fix
initialMessage: \"Fix {description}\"
continue:
  max: 3
phases:
  - look.md
  - subworkflow: part
";

const PHASE: &str = "\
---
id: look
name: Look
emoji: \"👀\"
tools:
  whitelist: [read, grep]
---

Find the cause in {workflowName}.
";

const PART: &str = "\
{
  name: 'Part', show: 'workflows', // a part
  phases: [
    { id: 'a', name: 'A', emoji: 'a', instructions: 'Do it.', tools: { blacklist: ['edit'] } },
  ],
}
";

fn files(workflow: &str, phase: &str, part: &str) -> MemoryFiles {
    MemoryFiles::new()
        .with(Tier::Project, "fix/workflow.yaml", workflow)
        .with(Tier::Project, "fix/look.md", phase)
        .with(Tier::Project, "part/workflow.json5", part)
}

/// Checks the invariants of loaded definitions.
fn check_loaded(loaded: &Loaded) -> Result<(), TestCaseError> {
    for listing in &loaded.index {
        let error = loaded.diagnostics.iter().any(|found| {
            found.severity == Severity::Error && found.workflow.as_deref() == Some(&*listing.key)
        });
        let left_out = listing.outcome == LoadOutcome::LeftOut;
        prop_assert_eq!(left_out, error, "{:?}", listing);
        let in_catalog = loaded.catalog.get(&listing.key).is_some();
        prop_assert_eq!(listing.outcome == LoadOutcome::Loaded, in_catalog);
    }
    for workflow in loaded.catalog.iter() {
        prop_assert!(!workflow.phases.is_empty());
        for entry in &workflow.phases {
            if let PhaseEntry::Subworkflow(key) = entry {
                prop_assert!(loaded.catalog.get(key).is_some());
            }
        }
    }
    for found in &loaded.diagnostics {
        prop_assert!(!found.message.contains(char::is_control), "{:?}", found);
        let text = render(found, false);
        prop_assert!(text.contains(found.code.as_str()));
        let escape = char::from(0x1b);
        prop_assert!(!text.contains(escape));
    }
    Ok(())
}

/// One change of a text: a character removed, inserted or replaced, or a part of a line removed.
fn changed(text: &'static str) -> impl Strategy<Value = String> {
    // `#` is left out: to comment something out is not to lose it by mistake.
    let inserted = prop::sample::select(
        "abz\n\t :-[]{},'\"&*!|>%@`?\\/0é\u{feff}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let length = text.chars().count();
    (0..length, 0..4, inserted, 0..8_usize).prop_map(move |(at, kind, inserted, run)| {
        let mut chars: Vec<char> = text.chars().collect();
        match kind {
            0 => drop(chars.remove(at)),
            1 => chars.insert(at, inserted),
            2 => chars[at] = inserted,
            _ => drop(chars.drain(at..(at + run).min(length))),
        }
        chars.into_iter().collect()
    })
}

/// Returns whether every phase of a loaded workflow has tools of this kind. A phase that is taken out whole takes
/// its guard along: that is no accident of a letter.
fn all_phases_have(loaded: &Loaded, key: &str, kind: fn(&ToolAccess) -> bool) -> bool {
    let has = |entry: &PhaseEntry| match entry {
        PhaseEntry::Phase(phase) => phase.tools.as_ref().is_some_and(kind),
        PhaseEntry::Subworkflow(_) => true,
    };
    let workflow = loaded.catalog.get(key);
    workflow.is_some_and(|workflow| workflow.phases.iter().all(has))
}

proptest! {
    #[test]
    fn a_guard_is_never_lost_in_silence(
        workflow in changed(WORKFLOW), phase in changed(PHASE), part in changed(PART), which in 0..3,
    ) {
        let loaded = load(&match which {
            0 => files(&workflow, PHASE, PART),
            1 => files(WORKFLOW, &phase, PART),
            _ => files(WORKFLOW, PHASE, &part),
        });
        check_loaded(&loaded)?;
        if loaded.diagnostics.is_empty() {
            let whitelist = all_phases_have(&loaded, "fix", |tools| matches!(tools, ToolAccess::Whitelist(_)));
            let blacklist = all_phases_have(&loaded, "part", |tools| matches!(tools, ToolAccess::Blacklist(_)));
            prop_assert!(whitelist && blacklist, "{workflow:?} {phase:?} {part:?}");
            prop_assert!(loaded.catalog.get("fix").unwrap().auto_continue.max.is_some());
        }
    }

    #[test]
    fn any_files_load(workflow in any::<Vec<u8>>(), phase in any::<Vec<u8>>(), part in any::<String>()) {
        let files = MemoryFiles::new()
            .with(Tier::Global, "fix/workflow.yaml", workflow)
            .with(Tier::Global, "fix/look.md", phase.clone())
            .with(Tier::Project, "fix/workflow.json5", part.clone())
            .with(Tier::Project, "ok/workflow.yaml", WORKFLOW)
            .with(Tier::Project, "ok/look.md", [b"---\n", &*phase].concat())
            .with_settings(Tier::Project, part);
        let loaded = load(&files);
        for found in &loaded.diagnostics {
            prop_assert!(render(found, true).contains(found.code.as_str()));
        }
    }

    #[test]
    fn the_remaining_workflows_have_valid_references(
        references in prop::collection::btree_map("[a-f]", prop::collection::vec("[a-g]", 0..3), 1..7),
    ) {
        let mut files = MemoryFiles::new().with(Tier::Global, "p.md", PHASE);
        for (key, targets) in &references {
            files = files.with(Tier::Global, &format!("{key}/workflow.yaml"), internal(targets));
        }
        let loaded = load(&files);
        check_loaded(&loaded)?;
        let kept: BTreeSet<&str> = loaded.catalog.iter().map(|workflow| &*workflow.key).collect();
        let expected: BTreeSet<&str> =
            references.keys().map(|key| &**key).filter(|key| sound(&references, key)).collect();
        prop_assert_eq!(kept, expected);
    }
}

fn internal(targets: &[String]) -> String {
    let mut text = "name: N\nshow: workflows\nphases:\n  - ../p.md\n".to_owned();
    for target in targets {
        text.push_str("  - subworkflow: ");
        text.push_str(target);
        text.push('\n');
    }
    text
}

/// Checks by a plain search that no reference is missing, and that there are no cycles.
fn sound(references: &BTreeMap<String, Vec<String>>, key: &str) -> bool {
    let reached = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(key) = open.pop() {
            for target in references.get(&key).into_iter().flatten() {
                if reached.insert(target.clone()) {
                    open.push(target.clone());
                }
            }
        }
        reached
    };
    let mut all = reached(key);
    all.insert(key.to_owned());
    all.iter()
        .all(|at| references.contains_key(at) && !reached(at).contains(at))
}

#[test]
fn a_long_chain_of_references_is_refused_not_followed_forever() {
    let mut files = MemoryFiles::new().with(Tier::Global, "p.md", PHASE);
    for at in 0..3000 {
        let targets = vec![format!("w{}", at + 1)];
        let text = internal(if at < 2999 { &targets } else { &[] });
        files = files.with(Tier::Global, &format!("w{at}/workflow.yaml"), text);
    }
    let loaded = load(&files);
    assert_eq!(loaded.catalog.iter().count(), 33);
    let deep = |code| {
        loaded
            .diagnostics
            .iter()
            .filter(|found| found.code == code)
            .count()
    };
    assert_eq!(deep(Code::NestedTooDeep), 3000 - 33);
}

#[test]
fn a_cycle_of_thousands_is_reported_in_short() {
    let mut files = MemoryFiles::new().with(Tier::Global, "p.md", PHASE);
    for at in 0..3000 {
        let text = internal(&[format!("w{}", (at + 1) % 3000)]);
        files = files.with(Tier::Global, &format!("w{at}/workflow.yaml"), text);
    }
    let loaded = load(&files);
    assert_eq!(loaded.catalog.iter().count(), 0);
    assert_eq!(loaded.diagnostics.len(), 3000);
    assert!(
        loaded
            .diagnostics
            .iter()
            .all(|found| found.message.len() < 200)
    );
}

/// `before0after before1after …`, as one text.
fn numbered(count: usize, before: &str, after: &str) -> String {
    let numbers: Vec<String> = (0..count).map(|at| at.to_string()).collect();
    format!(
        "{before}{}{after}",
        numbers.join(&format!("{after}{before}"))
    )
}

#[test]
fn a_flood_of_mistakes_is_cut_and_still_counts() {
    let unknown = numbered(3_000, "unknown", ": 1\n");
    let loaded = load(&files(&format!("{WORKFLOW}{unknown}"), PHASE, PART));
    assert_eq!(loaded.diagnostics.len(), 101);
    assert_eq!(loaded.diagnostics[100].code, Code::MoreNotShown);
    assert!(loaded.catalog.get("fix").is_some());

    let then_an_error = format!("{WORKFLOW}{unknown}whitelist: []\n");
    let loaded = load(&files(&then_an_error, PHASE, PART));
    assert!(loaded.catalog.get("fix").is_none());
    check_loaded(&loaded).unwrap();
}

#[test]
fn many_broken_workflows_are_each_reported_once() {
    let unknown = numbered(100, "unknown", ": 1\n");
    let mut files = MemoryFiles::new();
    for at in 0..100 {
        let path = format!("w{at}/workflow.yaml");
        files = files.with(Tier::Global, &path, format!("{unknown}name: 3\n"));
    }
    let loaded = load(&files);
    check_loaded(&loaded).unwrap();
    assert!(loaded.diagnostics.len() < 2400);
}

#[test]
fn all_files_together_are_limited() {
    let mut files = MemoryFiles::new()
        .with_settings(Tier::Project, "{limits: {maxTotalBytes: 2200}}")
        .with(Tier::Global, "p.md", PHASE.to_owned() + &"x".repeat(900));
    for at in 0..5 {
        files = files.with(Tier::Global, &format!("w{at}/workflow.yaml"), internal(&[]));
    }
    let loaded = load(&files);
    check_loaded(&loaded).unwrap();
    assert_eq!(loaded.catalog.iter().count(), 2);
    assert!(
        loaded
            .diagnostics
            .iter()
            .all(|found| found.code == Code::OverLimit)
    );
    assert_eq!(loaded.diagnostics.len(), 3);
}

#[test]
fn a_flood_of_unknown_variables_is_cut() {
    let body = numbered(50_000, "{unknown", "} ");
    let loaded = load(&files(WORKFLOW, &format!("{PHASE}{body}"), PART));
    assert_eq!(loaded.diagnostics.len(), 20);
}

#[test]
fn the_problems_of_a_workflow_are_found_by_the_name_a_person_types() {
    let broken = WORKFLOW.replace("  max: 3", "  max: three");
    let broken = broken.replace("commandName: fix", "commandName: repair");
    let loaded = load(&files(&broken, PHASE, PART));
    let codes = |name: &str| {
        loaded
            .problems_of(name)
            .map(|found| found.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes("repair"), [Code::InvalidValue]);
    assert_eq!(codes("fix"), [Code::InvalidValue]);
    assert_eq!(codes("part"), []);
    assert_eq!(codes("nothing"), []);
}

#[test]
fn settings_that_allow_with_a_misspelled_condition_allow_nothing() {
    let settings = "{ tools: { rules: [{ allow: 'bash', comand: 'ls' }, { block: 'bash', comand: 'rm *' }] } }";
    let loaded = load(&MemoryFiles::new().with_settings(Tier::Project, settings));
    assert_eq!(loaded.diagnostics.len(), 2);
    let rules = &loaded.settings.project.rules;
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(rules[0].action, RuleAction::Block);
}

/// A workflow with a phase of its own guards, under these settings of the user and of the project.
fn under_defaults(user: &str, project: &str) -> Loaded {
    let workflow = "{name: 'W', commandName: 'w', initialMessage: 'Go.', budget: {turns: 9}, continue: {max: 2},\
        phases: [{id: 'a', name: 'A', emoji: 'a', instructions: 'Go.', gate: [{file: 'own'}]}]}";
    let files = MemoryFiles::new()
        .with_settings(Tier::Global, user)
        .with_settings(Tier::Project, project)
        .with(Tier::Global, "w/workflow.json5", workflow);
    load(&files)
}

#[test]
fn defaults_are_added_to_every_workflow_and_to_the_built_in_one() {
    let user = "{defaults: {gate: [{run: ['true']}], budget: {turns: 5, minutes: 9}, cancel: 'user', continue: {max: 4, countdown: 7}}}";
    let loaded = under_defaults(
        user,
        "{defaults: {gate: [{git: 'clean'}], budget: {turns: 7}}}",
    );
    assert_eq!(loaded.diagnostics, []);
    for (key, own) in [("w", 1), ("workflow-quick", 0)] {
        let workflow = loaded.catalog.get(key).unwrap();
        assert_eq!(workflow.budget.turns, Some(5), "{key}: the stricter one");
        assert_eq!(workflow.budget.minutes, Some(9), "{key}");
        assert!(workflow.cancel.is_some(), "{key}");
        let PhaseEntry::Phase(phase) = &workflow.phases[0] else {
            panic!("it is a phase");
        };
        let tiers: Vec<_> = phase.gate.iter().map(|gate| gate.default_of).collect();
        let settings = [Some(Tier::Global), Some(Tier::Project)];
        assert_eq!(tiers[..2], settings, "{key}");
        assert_eq!(tiers.len(), 2 + own, "{key}");
    }
    assert!(loaded.catalog.iter().all(|workflow| workflow.key == "w"));
    // A key of the workflow comes in place of that of the settings.
    assert!(loaded.settings.auto_continue.countdown.is_some());
}

#[test]
fn a_default_check_of_the_project_needs_trust_and_one_of_the_user_does_not() {
    let run = |program: &str| format!("{{defaults: {{gate: [{{run: ['{program}']}}]}}}}");
    let loaded = under_defaults(&run("mine"), &run("theirs"));
    for key in ["w", "workflow-quick"] {
        let needed = project_gate_commands(key, &loaded.catalog, &loaded.index);
        let needed: Vec<_> = needed.map(|(run, _)| run.in_full()).collect();
        assert_eq!(needed, ["theirs"], "{key}");
    }
}

#[test]
fn defaults_that_cannot_be_read_forbid_everything() {
    for defaults in [
        "3",
        "{gate: [{rum: ['x']}]}",
        "{budget: {turns: 0}}",
        "{gates: []}",
    ] {
        let loaded = under_defaults(&format!("{{defaults: {defaults}}}"), "{}");
        let blocks = |rule: &workflow_core::definition::Rule| rule.action == RuleAction::Block;
        assert!(loaded.settings.user.rules.iter().any(blocks), "{defaults}");
        assert!(!loaded.tiers[0].is_loaded(), "{defaults}");
    }
    let loaded = under_defaults("{defaults: {gate: [{file: 'x', onFail: 'a'}]}}", "{}");
    assert!(
        loaded.diagnostics[0]
            .message
            .contains("belong to all workflows")
    );
}

#[test]
fn without_run_that_cannot_be_read_forbids_everything_without_a_run() {
    for closed in [
        "3",
        "{tool: 'read-only'}",
        "{tools: 'read'}",
        "{tools: {rules: 3}}",
    ] {
        let loaded = under_defaults(&format!("{{withoutRun: {closed}}}"), "{}");
        let door = loaded.settings.user.without_run.unwrap();
        let blocks = |rule: &workflow_core::definition::Rule| rule.action == RuleAction::Block;
        assert!(door.rules.iter().any(blocks), "{closed}");
    }
    let loaded = under_defaults("{withoutRun: {tools: 'read-only', start: 'ww'}}", "{}");
    assert_eq!(loaded.diagnostics[0].code, Code::BrokenReference);
    let region = loaded.diagnostics[0]
        .location
        .as_ref()
        .unwrap()
        .region
        .as_ref();
    let excerpt = &region.unwrap().excerpt;
    assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "'ww'");
    assert!(
        loaded.diagnostics[0]
            .help
            .as_ref()
            .unwrap()
            .contains("add a workflow")
    );
    let loaded = under_defaults(
        "{withoutRun: {tools: 'read-only', start: {workflow: 'w', ask: false}}}",
        "{}",
    );
    assert_eq!(loaded.diagnostics, []);
    assert!(!loaded.settings.start().unwrap().0.ask);
    assert!(loaded.settings.has_rules());
}
