//! Invariants of loading for any files: it ends, reports everything it leaves out, and yields a valid catalog.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use workflow_core::definition::{
    LoadOutcome, Loaded, MemoryFiles, PhaseEntry, RuleAction, Tier, ToolAccess, load,
};
use workflow_core::diagnostic::{Code, Severity, render};

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
