//! A session may begin with what its run reaches: that it means the same as if all workflows had been read.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use workflow_core::definition::{
    FilePath, FileProblem, Files, Loaded, MemoryFiles, Needed, Outcome, PhaseEntry, Tier,
    TierEntry, load, load_for, load_reached, load_while,
};
use workflow_core::diagnostic::Code;
use workflow_core::input::{Entry, Ticket};
use workflow_core::policy::rules::PlainPaths;
use workflow_core::run::{entry_type, needed};
use workflow_core::session::Abilities;
use workflow_core::{Input, Session};

const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn needing(keys: &[&str]) -> Needed {
    keys.iter().map(|&key| key.to_owned()).collect()
}

/// A workflow with a phase of its own and these subworkflows.
fn sound(key: &str, references: &[&str]) -> String {
    let references: Vec<String> = references
        .iter()
        .map(|key| format!("  - subworkflow: {key}\n"))
        .collect();
    let references = references.concat();
    format!(
        "name: N-{key}\ncommandName: {key}\ninitialMessage: Go\nphases:\n\
         \x20 - {{id: p, name: P-{key}, emoji: p, instructions: 'In {key}.', tools: {{blacklist: [{key}]}}}}\n{references}"
    )
}

fn with_sound(files: MemoryFiles, key: &str, references: &[&str]) -> MemoryFiles {
    files.with(
        Tier::Project,
        &format!("{key}/workflow.yaml"),
        sound(key, references),
    )
}

/// What is there of a workflow in one tier.
#[derive(Debug, Clone)]
enum There {
    Nothing,
    Sound(Vec<&'static str>),
    /// With a key that nobody knows: a warning.
    Odd(Vec<&'static str>),
    Broken,
    NoDefinition,
    Long,
}

fn there() -> impl Strategy<Value = There> {
    let references = || prop::sample::subsequence(KEYS.to_vec(), 0..3);
    prop_oneof![
        3 => Just(There::Nothing),
        5 => references().prop_map(There::Sound),
        1 => references().prop_map(There::Odd),
        1 => Just(There::Broken),
        1 => Just(There::NoDefinition),
        1 => Just(There::Long),
    ]
}

fn settings() -> impl Strategy<Value = Option<String>> {
    let limits = (1..8_u32, 200..6000_u32, 1..4_u32).prop_map(|(workflows, bytes, nesting)| {
        format!("{{limits: {{maxWorkflows: {workflows}, maxTotalBytes: {bytes}, maxNesting: {nesting}}}}}")
    });
    prop_oneof![
        3 => Just(None),
        1 => Just(Some("{ tools: {".to_owned())),
        4 => limits.prop_map(Some),
    ]
}

fn catalogs() -> impl Strategy<Value = MemoryFiles> {
    let tier = || prop::collection::vec(there(), KEYS.len());
    (tier(), tier(), settings()).prop_map(|(global, project, settings)| {
        let mut files = MemoryFiles::new();
        if let Some(settings) = settings {
            files = files.with_settings(Tier::Project, settings);
        }
        for (tier, all) in [(Tier::Global, global), (Tier::Project, project)] {
            for (key, there) in KEYS.into_iter().zip(all) {
                let text = match there {
                    There::Nothing => continue,
                    There::Sound(references) => sound(key, &references),
                    There::Odd(references) => format!("nam: x\n{}", sound(key, &references)),
                    There::Broken => "phases: [".to_owned(),
                    There::NoDefinition => {
                        files = files.with(tier, &format!("{key}/workflow.yml"), "");
                        continue;
                    }
                    There::Long => format!("{}# {}\n", sound(key, &[]), "x".repeat(1500)),
                };
                files = files.with(tier, &format!("{key}/workflow.yaml"), text);
            }
        }
        files
    })
}

/// The keys of a workflow and of all it reaches.
fn closure(loaded: &Loaded, keys: &[&str]) -> BTreeSet<String> {
    let mut met = BTreeSet::new();
    let mut waiting: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    while let Some(key) = waiting.pop() {
        let Some(workflow) = loaded.catalog.get(&key) else {
            continue;
        };
        if met.insert(key) {
            waiting.extend(workflow.phases.iter().filter_map(|entry| match entry {
                PhaseEntry::Subworkflow(key) => Some(key.clone()),
                PhaseEntry::Phase(_) => None,
            }));
        }
    }
    met
}

fn run_in(path: &[(&str, usize)], active: bool) -> Box<RawValue> {
    let path: Vec<Value> = path
        .iter()
        .map(|(key, index)| json!({"workflowKey": key, "phaseIndex": index}))
        .collect();
    let state = json!({
        "active": active, "workflowKey": path[0]["workflowKey"], "currentPath": path, "globalStepCount": 1,
        "taskId": "wf-1-abcdef", "taskDescription": "the task", "startedAt": 1, "completionNotified": false,
    });
    to_raw_value(&state).expect("it is JSON")
}

/// What a session says in which this is stored: where it stands, what it tells the agent, what it blocks, how it goes on.
fn lived(loaded: Loaded, stored: &RawValue) -> Vec<String> {
    let mut session = Session::new(Abilities::default(), 7);
    let entries = vec![Entry {
        custom_type: entry_type::STATE,
        data: Some(stored),
    }];
    let loaded = Arc::new(loaded);
    let begun = session.step(1, Input::Session { entries, loaded });
    let mut said: Vec<String> = begun
        .actions
        .iter()
        // What is wrong with others is told in another line.
        .filter(|action| !matches!(action, workflow_core::output::Action::Notify { .. }))
        .map(|action| format!("{action:?}"))
        .collect();
    said.push(format!("{:?}", session.view()));
    for _ in 0..4 {
        let told = session.step(1, Input::BeforeAgentStart { prompt: None });
        said.push(format!("{:?} {:?}", told.reply, told.actions));
        for tool in KEYS {
            let called = session.step(
                1,
                Input::ToolCall {
                    ticket: Ticket(1),
                    tool,
                    input: None,
                    paths: &PlainPaths,
                },
            );
            said.push(format!("{:?}", called.reply));
        }
        let action = Some("next");
        let stepped = session.step(
            1,
            Input::Step {
                ticket: Ticket(2),
                action,
            },
        );
        said.push(format!("{:?} {:?}", stepped.reply, stepped.actions));
    }
    let ended = session.step(1, Input::AgentEnd { last: None });
    said.push(format!("{:?} {:?}", ended.reply, ended.actions));
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_run_sees_the_same_whether_the_rest_is_read_or_not(
        files in catalogs(),
        path in prop::collection::vec((prop::sample::select(KEYS.to_vec()), 0..3_usize), 1..3),
        active in any::<bool>(),
    ) {
        let stored = run_in(&path, active);
        let entries = [Entry { custom_type: entry_type::STATE, data: Some(&stored) }];
        let needed = needed(&entries);
        let keys: Vec<&str> = path.iter().map(|(key, _)| *key).collect();
        prop_assert_eq!(&needed, &needing(&keys));
        let (part, whole) = (load_reached(&files, &needed), load_for(&files, &needed));
        prop_assert_eq!(&part.settings, &whole.settings);
        let reached = closure(&whole, &keys);
        prop_assert_eq!(&closure(&part, &keys), &reached);
        for key in &reached {
            prop_assert_eq!(part.catalog.get(key), whole.catalog.get(key));
            let of = |loaded: &Loaded| loaded.index.iter().filter(|listing| listing.key == *key).cloned().collect::<Vec<_>>();
            prop_assert_eq!(of(&part), of(&whole));
        }
        let mut rest = whole.diagnostics.clone();
        for found in &part.diagnostics {
            let at = rest.iter().position(|other| other == found);
            prop_assert!(at.is_some(), "told twice, in other words: {:?}\n{:?}", found, rest);
            rest.remove(at.unwrap_or_default());
        }
        if part.is_part {
            prop_assert!(part.catalog.iter().all(|workflow| reached.contains(&workflow.key)));
        } else {
            prop_assert_eq!(&part, &whole);
        }
        prop_assert_eq!(lived(part, &stored), lived(whole, &stored));
    }

    #[test]
    fn what_no_run_needs_first_is_read_as_ever(files in catalogs()) {
        let whole = load(&files);
        prop_assert!(!whole.is_part);
        let enough = "{limits: {maxWorkflows: 100, maxNesting: 32}}";
        let files = files.with_settings(Tier::Project, enough);
        // Where there is room for all, the order of reading is seen nowhere.
        prop_assert_eq!(load(&files), load_for(&files, &needing(&["c", "f"])));
    }
}

#[test]
fn a_way_that_no_run_can_go_is_not_looked_for_step_by_step() {
    let keys: Vec<String> = (0..1000).map(|at| format!("a/{at}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let loaded = load_reached(&four(), &needing(&keys));
    assert!(!loaded.is_part);
    assert_eq!(loaded, load(&four()));
}

/// Files that remember which workflows were opened.
struct Remembered {
    files: MemoryFiles,
    opened: RefCell<BTreeSet<String>>,
}

impl Files for Remembered {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        self.files.entries(tier)
    }

    fn holds(&self, tier: Tier, name: &str) -> Option<bool> {
        self.files.holds(tier, name)
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let opened = path.directory().map(str::to_owned);
        self.opened.borrow_mut().extend(opened);
        self.files.read(path, max_bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        self.files.shown(path)
    }
}

fn opened_for(files: MemoryFiles, keys: &[&str]) -> Vec<String> {
    let files = Remembered {
        files,
        opened: RefCell::default(),
    };
    let _ = load_reached(&files, &needing(keys));
    files.opened.into_inner().into_iter().collect()
}

fn four() -> MemoryFiles {
    let files = with_sound(MemoryFiles::new(), "a", &["b"]);
    let files = with_sound(files, "b", &[]);
    with_sound(with_sound(files, "c", &["a"]), "d", &[])
}

#[test]
fn what_no_run_reaches_is_not_opened() {
    assert_eq!(opened_for(four(), &["a"]), ["a", "b"]);
    assert_eq!(opened_for(four(), &[]), Vec::<String>::new());
    assert!(load_reached(&four(), &needing(&["a"])).is_part);
}

#[test]
fn all_is_read_where_something_reached_is_missing_or_broken() {
    let broken = four().with(Tier::Project, "b/workflow.yaml", "phases: [");
    let no_entry = with_sound(four(), "a", &["gone"]);
    for (files, keys) in [
        (broken.clone(), ["a"]),
        (broken, ["b"]),
        (no_entry, ["a"]),
        (four(), ["gone"]),
        (four(), ["../a"]),
        (four(), [""]),
        (with_sound(four(), "b", &["a"]), ["a"]),
    ] {
        let needed = needing(&keys);
        let loaded = load_reached(&files, &needed);
        assert!(!loaded.is_part, "{keys:?}");
        assert_eq!(loaded, load_for(&files, &needed));
        assert!(loaded.catalog.get("d").is_some());
    }
}

#[test]
fn a_run_is_not_pushed_out_by_workflows_that_come_before_its_own() {
    let most = four().with_settings(Tier::Project, "{limits: {maxWorkflows: 2}}");
    let length = sound("d", &[]).len() + sound("a", &["b"]).len();
    let bytes = format!("{{limits: {{maxTotalBytes: {length}}}}}");
    let total = four().with_settings(Tier::Project, bytes);
    for files in [most, total] {
        assert!(load(&files).catalog.get("d").is_none());
        let loaded = load_for(&files, &needing(&["d"]));
        assert!(
            loaded.catalog.get("d").is_some(),
            "{:?}",
            loaded.diagnostics
        );
        let over = loaded.diagnostics.iter();
        assert!(over.clone().any(|found| found.code == Code::OverLimit));
        let is_own =
            |found: &&workflow_core::diagnostic::Diagnostic| found.workflow.as_deref() == Some("d");
        assert_eq!(over.filter(is_own).count(), 0);
        let left_out = loaded
            .index
            .iter()
            .any(|listing| listing.key == "d" && listing.outcome != Outcome::Loaded);
        assert!(!left_out);
    }
}

#[test]
fn loading_that_is_told_to_stop_says_that_it_is_a_part() {
    let mut left = 2;
    let mut go_on = || {
        left -= 1;
        left >= 0
    };
    let loaded = load_while(&four(), &Needed::default(), &mut go_on);
    assert!(loaded.is_part);
    assert!(loaded.catalog.get("a").is_some() && loaded.catalog.get("c").is_none());
}
