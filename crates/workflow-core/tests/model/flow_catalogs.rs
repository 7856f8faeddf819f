//! Small catalogs with flow: each phase is of one kind, in every shape of two phases, and of three.

use serde_json::json;
use workflow_core::definition::{Phase, PhaseEntry, Settings, Show, Subworkflow, Workflow};

/// The number of kinds of phases.
const KINDS: usize = 26;

/// A phase of a kind. `first` and `final_id` are the ids of the first and the last entry of its scope.
fn phase(id: &str, kind: usize, first: &str, final_id: &str) -> PhaseEntry {
    let target = |word: &str| match word {
        "pause" | "next" | "end" | "done" | "cancel" => json!(word),
        id => json!({ "phase": id }),
    };
    let outcomes = |list: &[(&str, &str)]| {
        let named = list.iter();
        let named = named.map(|(name, to)| json!({ "name": name, "to": target(to) }));
        json!(named.collect::<Vec<_>>())
    };
    let check = json!({ "run": { "command": ["true"], "timeout": 1, "exit": { "code": 0 } } });
    let gate = |on_fail: Option<&str>| json!([{ "check": check, "onFail": on_fail.map(target) }]);
    let tries = |most: u32, on_fail: Option<&str>, limit: &str| {
        let (fail, limit) = (on_fail.map(target), target(limit));
        json!([{ "check": check, "tries": most, "onFail": fail, "onLimit": limit }])
    };
    let approve = |choices: &[&str], targets: &[&str]| {
        let targets: Vec<_> = targets.iter().map(|word| target(word)).collect();
        json!({ "ask": "OK?", "choices": choices, "targets": targets })
    };
    let visits = |values: &[u32], negated: bool| json!([{ "subject": { "visits": id }, "values": values, "negated": negated }]);
    let output = |value: bool| {
        let subject = json!({ "output": { "phase": "a", "name": "f" } });
        json!([{ "subject": subject, "values": [value] }])
    };
    let flag = json!([{ "name": "f", "kind": "flag", "required": true }]);
    let to = |id: &str| json!({ "phase": id });
    let keys = match kind {
        0 => json!({}),
        1 => json!({ "outcomes": outcomes(&[("ok", "next"), ("back", first)]) }),
        2 => json!({ "outcomes": outcomes(&[("fin", "end"), ("all", "done"), ("fwd", final_id)]) }),
        3 => json!({ "when": visits(&[0], false) }),
        4 => json!({ "when": output(true) }),
        5 => {
            json!({ "outputs": flag, "outcomes": outcomes(&[("ok", "next"), ("back", first)]) })
        }
        6 => json!({ "maxVisits": 1 }),
        7 => json!({ "maxVisits": 1, "onLimit": "cancel" }),
        8 => json!({ "maxVisits": 1, "onLimit": to(final_id) }),
        9 => json!({ "maxVisits": 2, "onLimit": to(first) }),
        10 => json!({ "gate": gate(Some(first)) }),
        11 => json!({ "gate": gate(None), "maxVisits": 1, "onLimit": to(final_id) }),
        12 => json!({ "approve": approve(&["yes", "redo", "stop"], &["next", first, "cancel"]) }),
        13 => json!({
            "approve": approve(&["yes", "no"], &[]),
            "outcomes": outcomes(&[("ok", "next"), ("back", first)]),
        }),
        14 => json!({
            "gate": gate(Some(final_id)),
            "approve": approve(&["yes", "on"], &["end", final_id]),
        }),
        15 => json!({ "gate": gate(Some(first)), "when": visits(&[1], true) }),
        16 => json!({ "gate": gate(Some(first)), "outputs": flag }),
        17 => json!({ "maxVisits": 1, "onLimit": "next" }),
        18 => json!({ "maxVisits": 1, "onLimit": "end", "when": visits(&[3], true) }),
        19 => json!({ "maxVisits": 1, "onLimit": "done" }),
        20 => json!({ "gate": tries(2, None, "pause") }),
        21 => json!({ "gate": tries(2, Some(first), final_id) }),
        22 => json!({ "gate": tries(1, None, "end"), "outputs": flag }),
        23 => json!({ "gate": tries(2, Some(first), "cancel"), "maxVisits": 2, "onLimit": "next" }),
        24 => json!({ "gate": tries(2, Some("end"), "done") }),
        _ => json!({ "when": output(false), "outcomes": outcomes(&[("back", first)]) }),
    };
    let mut phase = json!({
        "id": id, "name": id.to_uppercase(), "emoji": "🔹", "instructions": "Do it.",
        "tools": null, "availableProfiles": null,
    });
    for (key, value) in keys.as_object().expect("it is an object") {
        phase[key] = value.clone();
    }
    let phase: Phase = serde_json::from_value(phase).expect("it is a phase");
    PhaseEntry::Phase(phase)
}

fn workflow(key: &str, loopable: bool, phases: Vec<PhaseEntry>) -> Workflow {
    Workflow {
        key: key.to_owned(),
        name: key.to_uppercase(),
        command_name: key.to_owned(),
        initial_message: "Go".to_owned(),
        show: if key == "w0" {
            Show::User
        } else {
            Show::Workflows
        },
        loopable,
        phases,
        ..Workflow::default()
    }
}

/// The phases of a root, and of the subworkflow at one of its entries: `w1`, and `w1?` where it has conditions.
#[derive(Clone, Copy)]
struct Shape {
    root: &'static [&'static str],
    part: &'static [&'static str],
    when: Option<&'static str>,
}

const PLAIN: Shape = Shape {
    root: &[],
    part: &[],
    when: None,
};

const OF_TWO: &[Shape] = &[
    Shape {
        root: &["a", "b"],
        part: &[],
        ..PLAIN
    },
    Shape {
        root: &["a", "w1"],
        part: &["b"],
        ..PLAIN
    },
    Shape {
        root: &["w1", "b"],
        part: &["a"],
        ..PLAIN
    },
    Shape {
        root: &["w1"],
        part: &["a", "b"],
        ..PLAIN
    },
    Shape {
        root: &["a", "w1?"],
        part: &["b"],
        when: Some(r#"[{"subject": {"visits": "a"}, "values": [2], "negated": true}]"#),
    },
    Shape {
        root: &["w1?", "b"],
        part: &["a"],
        when: Some(r#"[{"subject": {"visits": "b"}, "values": [0]}]"#),
    },
];

const OF_THREE: &[Shape] = &[
    Shape {
        root: &["a", "b", "c"],
        part: &[],
        ..PLAIN
    },
    Shape {
        root: &["a", "w1"],
        part: &["b", "c"],
        ..PLAIN
    },
    Shape {
        root: &["w1", "c"],
        part: &["a", "b"],
        ..PLAIN
    },
    Shape {
        root: &["a", "w1", "c"],
        part: &["b"],
        ..PLAIN
    },
    Shape {
        root: &["a", "w1", "w1"],
        part: &["c"],
        ..PLAIN
    },
    Shape {
        root: &["a", "w1?", "c"],
        part: &["b"],
        when: Some(r#"[{"subject": {"output": {"phase": "a", "name": "f"}}, "values": [true]}]"#),
    },
];

fn catalogs(shapes: &[Shape], phases: u32) -> Vec<Vec<Workflow>> {
    let mut all = Vec::new();
    for number in 0..KINDS.pow(phases) {
        for shape in shapes {
            let mut digits = number;
            let mut entries = |key: &'static str, ids: &[&'static str]| {
                let id_of = |id: &'static str| id.trim_end_matches('?');
                let (first, last) = (id_of(ids[0]), id_of(ids[ids.len() - 1]));
                let entry = |id: &&'static str| {
                    if *id == "w1" {
                        return PhaseEntry::Subworkflow("w1".into());
                    }
                    if let Some(conditions) = shape.when.filter(|_| *id == "w1?") {
                        let when = serde_json::from_str(conditions).expect("they are conditions");
                        return PhaseEntry::Subworkflow(Subworkflow {
                            when,
                            ..Subworkflow::from("w1")
                        });
                    }
                    let kind = digits % KINDS;
                    digits /= KINDS;
                    phase(id, kind, first, last)
                };
                let phases = ids.iter().map(entry).collect();
                workflow(key, !all.len().is_multiple_of(3), phases)
            };
            let mut workflows = vec![entries("w0", shape.root)];
            if !shape.part.is_empty() {
                workflows.push(entries("w1", shape.part));
            }
            all.push(workflows);
        }
    }
    all
}

/// The catalogs of two phases.
pub(crate) fn of_two() -> Vec<Vec<Workflow>> {
    catalogs(OF_TWO, 2)
}

/// The catalogs of three phases.
pub(crate) fn of_three() -> Vec<Vec<Workflow>> {
    catalogs(OF_THREE, 3)
}

/// The number of jumps into what has no limit of its own.
pub(crate) const JUMPS: u32 = 2;

pub(crate) fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.limits.jumps = JUMPS;
    settings
}
