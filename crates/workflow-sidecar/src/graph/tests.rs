use std::path::Path;

use proptest::prelude::*;
use workflow_core::definition::{
    Approval, Catalog, Check, FileCheck, Gate, MemoryFiles, Phase, PhaseEntry, Settings, Show,
    Tier, ToolAccess, Workflow, load,
};
use workflow_core::diagnostic::shown;

use super::model::{MAX_NODES, MarkKind, NodeMark};
use super::*;
use crate::init::{Language, STARTER, templates};

const ALL: usize = 128;

fn phase(name: &str) -> Phase {
    Phase {
        id: name.to_owned(),
        name: name.to_owned(),
        emoji: "🔹".to_owned(),
        instructions: "Do it.".to_owned(),
        ..Phase::default()
    }
}

fn workflow(key: &str, name: &str, phases: Vec<PhaseEntry>) -> Workflow {
    Workflow {
        key: key.to_owned(),
        name: name.to_owned(),
        command_name: key.to_owned(),
        initial_message: "Go.".to_owned(),
        show: Show::User,
        loopable: true,
        phases,
        ..Workflow::default()
    }
}

fn graph_of(mut workflows: Vec<Workflow>, depth: usize) -> anyhow::Result<Graph> {
    // Phases may have the same name, and no two of a workflow have the same id.
    for workflow in &mut workflows {
        for (at, entry) in workflow.phases.iter_mut().enumerate() {
            if let PhaseEntry::Phase(phase) = entry {
                phase.id = format!("p{at}");
            }
        }
    }
    let catalog = Catalog::checked(workflows).expect("a sound catalog");
    let first = catalog.iter().next().expect("one workflow");
    Graph::of(&catalog, &Settings::default(), first, depth)
}

fn sub(key: &str) -> PhaseEntry {
    PhaseEntry::Subworkflow(key.into())
}

fn step(name: &str) -> PhaseEntry {
    PhaseEntry::Phase(phase(name))
}

#[test]
fn loop_leads_from_the_last_phase_of_the_scope_to_its_first_node() {
    let outer = workflow("a", "A", vec![sub("b"), step("own"), sub("b")]);
    let inner = workflow("b", "B", vec![step("one"), step("two")]);
    let graph = graph_of(vec![outer, inner], ALL).unwrap();
    let names: Vec<(usize, &str)> = graph
        .root
        .nodes()
        .iter()
        .map(|step| (step.id, &*step.name))
        .collect();
    assert_eq!(
        names,
        [(2, "one"), (3, "two"), (4, "own"), (6, "one"), (7, "two")]
    );
    let backs: Vec<(usize, usize)> = graph
        .root
        .scopes()
        .iter()
        .filter_map(|scope| Some((*scope.loop_from.last()?, scope.first().id)))
        .collect();
    assert_eq!(backs, [(4, 2), (3, 2), (7, 6)]);
}

#[test]
fn a_scope_without_phases_or_not_loopable_has_no_loop() {
    let mut inner = workflow("b", "B", vec![step("one")]);
    inner.loopable = false;
    let graph = graph_of(
        vec![workflow("a", "A", vec![sub("b"), sub("b")]), inner],
        ALL,
    )
    .unwrap();
    assert!(
        graph
            .root
            .scopes()
            .iter()
            .all(|scope| scope.loop_from.is_empty())
    );
}

#[test]
fn continue_wait_applies_inside_subworkflows() {
    let mut outer = workflow("a", "A", vec![sub("b")]);
    outer.auto_continue.wait = Some(true);
    let mut awake = phase("two");
    awake.auto_continue.wait = Some(false);
    let inner = workflow("b", "B", vec![step("one"), PhaseEntry::Phase(awake)]);
    let graph = graph_of(vec![outer, inner], ALL).unwrap();
    let waits: Vec<bool> = graph
        .root
        .nodes()
        .iter()
        .map(|step| step.has(MarkKind::Waits))
        .collect();
    assert_eq!(waits, [true, false]);
}

#[test]
fn a_blank_name_is_drawn_as_a_question_mark() {
    let graph = graph_of(vec![workflow("a", " \u{a0}", vec![step("\u{3000}")])], ALL).unwrap();
    assert!(mermaid(&graph, Direction::Down).contains("n0[\"?\"]"));
    assert!(svg(&graph).contains(">?</text>"));
}

#[test]
fn a_graph_that_is_too_large_reports_the_depth_that_fits() {
    let level = |at: usize| {
        workflow(
            &format!("l{at}"),
            "L",
            vec![sub(&format!("l{}", at + 1)); 20],
        )
    };
    let mut workflows: Vec<Workflow> = (0..30).map(level).collect();
    workflows.push(workflow("l30", "L", vec![step("end")]));
    assert_eq!(
        graph_of(workflows.clone(), ALL).unwrap_err().to_string(),
        "`l0` has more than 250 phases and subworkflows, all in all: `--depth 0` draws fewer"
    );
    assert_eq!(graph_of(workflows, 0).unwrap().root.nodes().len(), 20);
    let flat = workflow("a", "A", vec![step("p"); MAX_NODES]);
    assert_eq!(
        graph_of(vec![flat], 0).unwrap_err().to_string(),
        "`a` has 250 phases; a picture can have 250"
    );
}

/// Text as a hostile or careless author writes it.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z][a-zA-Z ]{0,29}",
        "\\PC{1,40}",
        any::<String>().prop_filter("required", |text| !text.trim().is_empty()),
        Just(
            "</title><script>\"'`&amp;#quot;]]>\\N\\\"\n```\u{1b}[2J\u{202e}\u{fffe}\u{ffff}"
                .to_owned()
        ),
        Just("end".to_owned()),
        Just("- 1. `markdown` **list** <br> %%{init: {}}%% --> n1".to_owned()),
        Just("W".repeat(5000)),
    ]
}

fn tools() -> impl Strategy<Value = Option<ToolAccess>> {
    let names = || prop::collection::vec(text(), 0..4);
    prop_oneof![
        Just(None),
        names().prop_map(|names| Some(ToolAccess::Whitelist(names))),
        names().prop_map(|names| Some(ToolAccess::Blacklist(names))),
    ]
}

fn any_phase() -> impl Strategy<Value = Phase> {
    let guards = (prop::option::of(text()), text(), any::<bool>());
    let strategy = (text(), text(), tools(), any::<Option<bool>>(), guards);
    strategy.prop_map(|(name, emoji, tools, wait, (ask, said, has_gate))| {
        let mut phase = phase(&name);
        phase.emoji = emoji;
        phase.tools = tools;
        phase.auto_continue.wait = wait;
        phase.approve = ask.map(|ask| Approval {
            ask,
            choices: vec!["yes".to_owned()],
            targets: Vec::new(),
            comment: false,
            show: None,
            source: String::new(),
        });
        if has_gate {
            let check = FileCheck {
                path: said,
                changed: None,
            };
            phase.gate.push(Gate {
                default_of: None,
                on_fail: None,
                tries: None,
                bounds: Vec::new(),
                on_limit: None,
                check: Check::File(check),
                source: String::new(),
            });
        }
        phase
    })
}

/// Workflows that refer only to later ones.
fn workflows() -> impl Strategy<Value = Vec<Workflow>> {
    let entry = prop_oneof![
        2 => any_phase().prop_map(Ok),
        1 => any::<prop::sample::Index>().prop_map(Err),
    ];
    let one = (
        text(),
        any::<bool>(),
        any::<bool>(),
        prop::collection::vec(entry, 1..6),
    );
    prop::collection::vec(one, 1..6).prop_map(|drawn| {
        let count = drawn.len();
        let all = drawn.into_iter().enumerate();
        all.map(|(at, (name, loopable, startable, entries))| {
            let entries = entries.into_iter().map(|entry| match entry {
                Ok(phase) => PhaseEntry::Phase(phase),
                Err(index) if at + 1 < count => {
                    let later = at + 1 + index.index(count - at - 1);
                    sub(&format!("w{later}"))
                }
                Err(_) => step("leaf"),
            });
            let mut workflow = workflow(&format!("w{at}"), &name, entries.collect());
            workflow.loopable = loopable;
            workflow.show = if startable {
                Show::User
            } else {
                Show::Workflows
            };
            workflow
        })
        .collect()
    })
}

/// Replaces the characters that XML cannot represent.
fn in_xml(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn check_svg(graph: &Graph) {
    let diagram = svg(graph);
    let page = roxmltree::Document::parse(&diagram).expect("well-formed XML");
    let root = page.root_element();
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> u32 {
        node.attribute(name)
            .map_or(0, |value| value.parse().expect("a number"))
    };
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    for node in root.descendants().filter(|node| node.has_tag_name("rect")) {
        assert!(number(&node, "x") + number(&node, "width") <= width);
        assert!(number(&node, "y") + number(&node, "height") <= height);
    }
    let titles: Vec<&str> = root
        .descendants()
        .filter(|node| node.has_tag_name("title"))
        .filter_map(|node| node.text())
        .collect();
    for step in graph.root.nodes() {
        let name = in_xml(&step.name);
        assert!(
            titles.iter().any(|title| title.starts_with(&name)),
            "{name:?}"
        );
    }
    assert!(root.descendants().all(|node| !node.has_tag_name("script")));
}

/// Returns a text without the places at which long names are broken into lines.
fn without_breaks(text: &str) -> String {
    text.replace("<br>", "").replace(char::is_whitespace, "")
}

fn check_mermaid(graph: &Graph) {
    let source = mermaid(graph, Direction::Down);
    for step in graph.root.nodes() {
        let start = format!("n{}[", step.id);
        let mut lines = source.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(&start)).expect("a box");
        assert_eq!(line.matches('"').count(), 2, "{line}");
        let label = line.split('"').nth(1).unwrap_or_default();
        let decoded: String = label
            .split(';')
            .map(|piece| unescaped(piece, label))
            .collect();
        assert!(
            without_breaks(&decoded).contains(&without_breaks(&step.name)),
            "{decoded:?} {:?}",
            step.name
        );
        assert!(
            !label.replace("<br>", "").contains(['<', '>', '`', '*']),
            "{label}"
        );
    }
}

/// Replaces the number at the end of a piece by its character.
fn unescaped(piece: &str, label: &str) -> String {
    let number = piece
        .rsplit_once('#')
        .filter(|_| label.contains(&format!("{piece};")));
    let character = |(_, number): &(&str, &str)| char::from_u32(number.parse().ok()?);
    match number.as_ref().and_then(character) {
        Some(c) => format!("{}{c}", number.unwrap_or_default().0),
        None => piece.to_owned(),
    }
}

proptest! {
    #![proptest_config(crate::drawn::config(96))]

    #[test]
    fn every_phase_is_named_and_no_text_breaks_the_syntax(workflows in workflows(), depth in 0_usize..6) {
        let names: Vec<String> = workflows[0]
            .phases
            .iter()
            .filter_map(|entry| match entry {
                PhaseEntry::Phase(phase) => Some(shown(phase.name.trim())),
                PhaseEntry::Subworkflow(_) => None,
            })
            .collect();
        match graph_of(workflows, depth) {
            Err(error) => {
                // No workflow has too many phases by itself.
                let error = error.to_string();
                let (_, fitting) = error.split_once("`--depth ").unwrap();
                let (fitting, _) = fitting.split_once('`').unwrap();
                prop_assert!(fitting.parse::<usize>().unwrap() < depth);
            }
            Ok(graph) => {
                let nodes = graph.root.nodes();
                prop_assert!(nodes.len() <= MAX_NODES);
                for name in names {
                    prop_assert!(nodes.iter().any(|step| step.name == name));
                }
                check_svg(&graph);
                check_mermaid(&graph);
            }
        }
    }
}

/// Compares a committed diagram with the current one; `UPDATE=1` writes it.
fn check_file(path: &str, graph: &Graph) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    let drawn = svg(graph);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &drawn).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == drawn,
        "{}: UPDATE=1 draws it anew, look at it",
        path.display()
    );
}

#[test]
fn the_committed_diagrams_of_the_templates_are_up_to_date() {
    for template in templates().filter(|template| template.name != STARTER.name) {
        let loaded = template.load(Language::Yaml);
        let workflow = loaded.catalog.get(template.name).unwrap();
        let graph = Graph::of(&loaded.catalog, &loaded.settings, workflow, ALL).unwrap();
        check_file(&format!("docs/pictures/{}.svg", template.name), &graph);
    }
}

#[test]
fn a_workflow_shows_its_own_rules_its_inputs_and_who_cancels() {
    let release = templates().find(|template| template.name == "release");
    let loaded = release.unwrap().load(Language::Yaml);
    let workflow = loaded.catalog.get("release").unwrap();
    let graph = Graph::of(&loaded.catalog, &loaded.settings, workflow, ALL).unwrap();
    let marks: Vec<String> = graph.root.scopes()[1]
        .marks
        .iter()
        .map(|mark| mark.text.clone())
        .collect();
    let [rule] = &*marks else {
        panic!("{marks:?}");
    };
    assert!(rule.starts_with("all phases: block bash with a command like git push, npm publish, "));
    assert!(rule.ends_with('…'), "{rule}");
    for drawn in [mermaid(&graph, Direction::Down), svg(&graph)] {
        for text in [
            "inputs: version",
            "only you can cancel",
            "all phases: block bash",
        ] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
        assert!(!drawn.contains('`'), "{drawn}");
    }
}

#[test]
fn what_a_phase_opens_has_no_lock() {
    let graph = graph_of_phase("tools: read-only\ncommands: [make test]\nunknown: block\n");
    let expected = [
        NodeMark::new(MarkKind::Rule, "read-only"),
        NodeMark::new(MarkKind::Open, "may run make test"),
        NodeMark::new(MarkKind::Rule, "block unknown calls"),
    ];
    assert_eq!(graph.root.nodes()[0].marks, expected);
    let graph = graph_of_phase("tools: {rules: [{allow: bash}]}\n");
    let marks = &graph.root.nodes()[0].marks;
    assert_eq!(*marks, [NodeMark::new(MarkKind::Open, "allow bash")]);
    assert!(!svg(&graph).contains("class=\"wf-lock\""));
}

/// The graph of a workflow with one phase that has these keys.
fn graph_of_phase(keys: &str) -> Graph {
    const WORKFLOW: &str = "{name: W, commandName: w, initialMessage: Go, phases: [a.md]}";
    let phase = format!("---\nid: a\nname: A\nemoji: a\n{keys}---\nGo.\n");
    let files = MemoryFiles::new()
        .with(Tier::Project, "w/workflow.yaml", WORKFLOW)
        .with(Tier::Project, "w/a.md", phase);
    let loaded = load(&files);
    let workflow = loaded.catalog.get("w").expect("it is sound");
    Graph::of(&loaded.catalog, &loaded.settings, workflow, ALL).unwrap()
}

/// Long and wide names, other scripts, deep nesting, all marks.
#[test]
fn the_committed_diagram_of_a_difficult_workflow_is_up_to_date() {
    let files = MemoryFiles::new()
        .with(Tier::Project, "difficult/workflow.yaml", include_str!("difficult.yaml"))
        .with(
            Tier::Project,
            "inner/workflow.yaml",
            "{name: Inner, show: workflows, phases: [{subworkflow: innermost}, {id: b, name: Back, emoji: 🔙, instructions: B.}]}",
        )
        .with(
            Tier::Project,
            "innermost/workflow.yaml",
            "{name: Innermost, show: workflows, phases: [{id: a, name: Alone, emoji: 🧍, instructions: A.}]}",
        );
    let loaded = load(&files);
    let codes: Vec<&str> = loaded
        .diagnostics
        .iter()
        .map(|found| found.code.as_str())
        .collect();
    assert_eq!(codes, ["WF028"], "a name turns the text around");
    let workflow = loaded.catalog.get("difficult").unwrap();
    let graph = Graph::of(&loaded.catalog, &loaded.settings, workflow, ALL).unwrap();
    check_file("crates/workflow-sidecar/src/graph/difficult.svg", &graph);
}

const FLOW: &str = r"
name: Change
commandName: change
initialMessage: Go.
loopable: false
inputs: { hotfix: { type: flag, default: false } }
phases:
  - id: plan
    name: Plan
    emoji: p
    instructions: Plan.
    outputs: { plan: { about: The plan } }
    maxVisits: 3
    onLimit: publish
  - id: build
    name: Build
    emoji: b
    instructions: Build.
    gate: [{ run: [make], onFail: plan }]
    maxVisits: 3
  - id: review
    name: Review
    emoji: r
    instructions: Review.
    when: { inputs.hotfix: false }
    outcomes: { ok: next, changes: build, unclear: build, stop: done }
  - id: publish
    name: Publish
    emoji: p
    instructions: Publish.
    approve: { ask: Publish?, choices: { publish: next, revise: build, abort: cancel } }
";

fn flow() -> Graph {
    let files = MemoryFiles::new().with(Tier::Project, "change/workflow.yaml", FLOW);
    let loaded = load(&files);
    assert_eq!(loaded.diagnostics, []);
    let workflow = loaded.catalog.get("change").expect("it is sound");
    Graph::of(&loaded.catalog, &loaded.settings, workflow, ALL).unwrap()
}

/// The edges with a label that a format draws, by a pattern with the places FROM, LABEL and TO.
fn has_edge(drawn: &str, pattern: &str, from: &str, label: &str, to: &str) -> bool {
    let edge = pattern.replace("FROM", from).replace("LABEL", label);
    drawn.contains(&edge.replace("TO", to))
}

#[test]
fn every_format_draws_the_same_jumps_with_their_labels() {
    const EDGES: [(&str, &str, &str); 7] = [
        ("n2", "gate not passed", "n1"),
        ("n1", "instead of visit 4", "n4"),
        ("n3", "ok", "n4"),
        ("n3", "changes, unclear", "n2"),
        ("n3", "stop", "done"),
        ("n4", "revise", "n2"),
        ("n4", "abort", "cancelled"),
    ];
    let graph = flow();
    let in_mermaid = mermaid(&graph, Direction::Down);
    let in_svg = svg(&graph);
    for (from, label, to) in EDGES {
        let mermaid_edge = "FROM -->|\"LABEL\"| TO";
        assert!(
            has_edge(&in_mermaid, mermaid_edge, from, label, to),
            "{label}: {in_mermaid}"
        );
        assert!(in_svg.contains(&format!(">{label}<")), "{label}: {in_svg}");
    }
}

#[test]
fn a_phase_that_is_left_by_its_outcomes_has_no_other_edge() {
    let graph = flow();
    let in_mermaid = mermaid(&graph, Direction::Down);
    assert!(in_mermaid.contains("start --> n1 --> n2 --> n3 -->|\"ok\"| n4 -->|\"publish\"| done"));
    assert!(!in_mermaid.contains("n3 --> n4"), "{in_mermaid}");
}

#[test]
fn a_node_shows_its_condition_its_outputs_and_its_limits() {
    let graph = flow();
    // Mermaid reads a dot as part of a list.
    let in_mermaid = mermaid(&graph, Direction::Down).replace("#46;", ".");
    for drawn in [in_mermaid, svg(&graph)] {
        for mark in [
            "hands over plan",
            "only if inputs.hotfix is false",
            "at most 3 visits, then publish",
        ] {
            assert!(drawn.contains(mark), "{mark}: {drawn}");
        }
    }
}

#[test]
fn a_subworkflow_with_a_condition_is_drawn_with_it_open_and_collapsed() {
    const ROOT: &str = "\
name: Change
commandName: change
initialMessage: Go
inputs: { hotfix: { type: flag, default: false } }
phases:
  - { id: build, name: Build, emoji: b, instructions: Build. }
  - { subworkflow: checks, when: { inputs.hotfix: false } }
";
    const CHECKS: &str = "\
name: Checks
show: workflows
phases: [{ id: lint, name: Lint, emoji: l, instructions: Lint. }]
";
    let files = MemoryFiles::new()
        .with(Tier::Project, "change/workflow.yaml", ROOT)
        .with(Tier::Project, "checks/workflow.yaml", CHECKS);
    let loaded = load(&files);
    assert_eq!(loaded.diagnostics, []);
    let workflow = loaded.catalog.get("change").expect("it is sound");
    for depth in [ALL, 0] {
        let graph = Graph::of(&loaded.catalog, &loaded.settings, workflow, depth).unwrap();
        for drawn in [mermaid(&graph, Direction::Down), svg(&graph)] {
            // Mermaid reads a dot as part of a list.
            let text = drawn.replace("#46;", ".");
            assert!(text.contains("only if inputs.hotfix"), "{depth}: {drawn}");
        }
    }
}
