//! The schemas on disk are what the rows say. `scripts/gen` runs this with `UPDATE=1`, which writes them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use workflow_core::definition::{
    Bound, Default, MemoryFiles, OnStop, SchemaFile, Section, Target, Tier, load_located,
};
use workflow_core::explain::{Explained, PhaseNode, everywhere, phase_tree};
use workflow_core::reminders::ContinuePolicy;

fn on_disk(file: SchemaFile) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file.path())
}

#[test]
fn generated_schemas_are_up_to_date() {
    for file in SchemaFile::ALL {
        let expected = format!("{:#}\n", file.schema());
        if env::var_os("UPDATE").is_some() {
            fs::write(on_disk(file), expected).unwrap();
            continue;
        }
        let found = fs::read_to_string(on_disk(file)).unwrap_or_default();
        assert!(found == expected, "{}: run scripts/gen", file.path());
    }
}

#[test]
fn schemas_are_draft_7() {
    for file in SchemaFile::ALL {
        jsonschema::draft7::meta::validate(&file.schema()).unwrap();
    }
}

#[test]
fn no_setting_takes_a_value_of_a_run() {
    let schema = jsonschema::draft7::new(&SchemaFile::Settings.schema()).unwrap();
    for key in ["turns", "usd"] {
        let budget = |value| serde_json::json!({ "defaults": { "budget": { key: value } } });
        assert!(schema.is_valid(&budget(serde_json::json!(2))));
        assert!(!schema.is_valid(&budget(serde_json::json!("{inputs.rounds}"))));
    }
}

#[test]
fn every_row_has_what_a_reader_needs() {
    for section in Section::ALL {
        for key in section.keys {
            assert!(key.summary.ends_with('.'), "{}", key.name);
            assert!(
                serde_json::from_str::<serde_json::Value>(key.example).is_ok(),
                "{}",
                key.name
            );
        }
    }
}

#[test]
fn every_key_is_in_a_schema_and_in_the_documents() {
    let schemas = SchemaFile::ALL.map(|file| file.schema().to_string());
    let schemas = schemas.concat();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/DEFINITIONS.md");
    let page = fs::read_to_string(page).unwrap();
    for section in Section::ALL {
        for key in section.keys {
            let (name, summary) = (key.name, key.summary);
            let quoted = serde_json::to_string(summary).unwrap();
            assert!(schemas.contains(quoted.trim_end_matches('"')), "{name}");
            assert!(schemas.contains(&format!("\"{name}\":")), "{name}");
            assert!(page.contains(&format!("| {summary} |")), "{name}");
        }
    }
}

/// The map that messages call this.
fn section(name: &str) -> &'static Section {
    let mut all = Section::ALL.iter();
    all.find(|section| section.name == name)
        .expect("there is such a map")
}

/// A workflow, a phase and settings in which every key has its example.
fn all_examples() -> MemoryFiles {
    let of = |name: &str, left_out: &[&str]| {
        let keys = section(name).keys.iter();
        let rows = keys.filter(|key| !left_out.contains(&key.name));
        let rows: Vec<String> = rows
            .map(|key| format!("{:?}: {}", key.name, key.example))
            .collect();
        format!("{{{}}}", rows.join(", "))
    };
    // A rule set that nothing uses is reported.
    let uses = "{id: 'u', name: 'U', emoji: 'u', instructions: 'Go.', tools: {use: ['no-network'], blacklist: ['x']}}";
    let phases = format!(
        "\"phases\": [{}, {uses}, {}]",
        of("a phase", &[]),
        of("a subworkflow reference", &["forEach", "with", "outcomes"])
    );
    // Default `show`: the example hides the workflow.
    let workflow = of("a workflow", &["phases", "show"]).replacen('{', &format!("{{{phases}, "), 1);
    let other = "{name: 'R', show: 'workflows', phases: ['read.md']}";
    let phase = of("a phase", &["instructions"]);
    MemoryFiles::new()
        // Some are settings of the user only.
        .with_settings(Tier::Project, of("the settings", &["store", "notify"]))
        .with(Tier::Project, "all/workflow.json5", workflow)
        .with(Tier::Project, "review/workflow.json5", other)
        .with(
            Tier::Project,
            "review/read.md",
            format!("---\n{phase}\n---\nRead."),
        )
}

#[test]
fn the_examples_of_the_rows_make_a_sound_workflow() {
    let loaded = load_located(&all_examples());
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.catalog.iter().count(), 2);
}

/// The keys whose value is explained by a row of another name.
const EXPLAINED_BY: &[(&str, &str)] = &[
    ("blockReasonTemplate", "blockReason"),
    ("commandName", "command"),
    ("context", "mode"),
    ("continue", "wait"),
    ("inputs", "input"),
    ("loopable", "loop"),
    ("notDoneReminder", "reminder"),
    ("onLimit", "maxVisits"),
    ("outcomes", "outcome"),
    ("outputs", "output"),
    ("phases", "next"),
    ("rulesets", "block"),
    ("sessionNameMaxLength", "sessionName"),
    ("sessionNamePrefix", "sessionName"),
    ("tools", "allowed"),
    ("triggers", "trigger"),
];

/// The keys that have no effect in a phase.
const NOT_EXPLAINED: [&str; 5] = ["$schema", "limits", "notify", "show", "store"];

#[test]
fn every_key_is_explained() {
    let files = all_examples();
    let loaded = load_located(&files);
    let workflow = loaded.catalog.get("all").unwrap();
    let tree = phase_tree(workflow, &loaded.catalog);
    let mut rows = everywhere(workflow, &loaded);
    for state in tree.phases().filter_map(PhaseNode::state) {
        rows.extend(Explained::of(&state, &loaded).unwrap().rows);
    }
    for name in ["a workflow", "a phase", "the settings", "`continue`"] {
        for key in section(name).keys {
            let named = EXPLAINED_BY.iter().find(|(of, _)| *of == key.name);
            let row = named.map_or(key.name, |(_, row)| row);
            let is_there = rows.iter().any(|found| found.key == row);
            assert!(is_there || NOT_EXPLAINED.contains(&row), "{row} of {name}");
        }
    }
}

#[test]
fn documented_defaults_are_those_of_the_engine() {
    let default = |name: &str| {
        let keys = section("`continue`").keys;
        let row = keys.iter().find(|key| key.name == name);
        row.unwrap().default
    };
    let standing = ContinuePolicy::of(std::iter::empty());
    let times = |bound| match bound {
        Bound::Times(times) => Default::Number(times),
        Bound::Unlimited => Default::Text("unlimited"),
    };
    let on_stop = |on_stop| match on_stop {
        OnStop::Pause => Default::Text("pause"),
        OnStop::Continue => Default::Text("continue"),
    };
    assert_eq!(default("max"), times(standing.max));
    assert_eq!(default("maxStale"), times(standing.max_stale));
    assert_eq!(default("onError"), on_stop(standing.on_error));
    assert_eq!(default("onQuestion"), on_stop(standing.on_question));
    assert_eq!(default("onLimit"), Default::Text("pause"));
    assert_eq!(standing.on_limit, Target::Pause);
    assert_eq!(default("countdown"), Default::Number(standing.countdown));
}
