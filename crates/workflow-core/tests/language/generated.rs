//! The schemas on disk are what the rows say. `scripts/gen` runs this with `UPDATE=1`, which writes them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use workflow_core::definition::{
    Bound, Default, MemoryFiles, OnLimit, OnStop, SchemaFile, Section, Tier, load,
};
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
fn every_row_has_what_a_reader_needs() {
    for section in Section::ALL {
        for key in section.keys() {
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
fn the_examples_of_the_rows_make_a_sound_workflow() {
    let of = |section: Section, left_out: &[&str]| {
        let keys = section.keys().iter();
        let rows = keys.filter(|key| !left_out.contains(&key.name));
        let rows: Vec<String> = rows
            .map(|key| format!("{:?}: {}", key.name, key.example))
            .collect();
        format!("{{{}}}", rows.join(", "))
    };
    // A rule set that nothing uses is reported.
    let uses =
        "{id: 'u', name: 'U', emoji: 'u', instructions: 'Go.', tools: {use: ['no-network']}}";
    let phases = format!(
        "\"phases\": [{}, {uses}, {}]",
        of(Section::Phase, &[]),
        of(Section::Reference, &[])
    );
    // Default `show`: the example hides the workflow.
    let workflow =
        of(Section::Workflow, &["phases", "show"]).replacen('{', &format!("{{{phases}, "), 1);
    let other = "{name: 'R', show: 'workflows', phases: ['read.md']}";
    let phase = of(Section::Phase, &["instructions"]);
    let loaded = load(
        &MemoryFiles::new()
            // `store` is a setting of the user only.
            .with_settings(Tier::Project, of(Section::Settings, &["store"]))
            .with(Tier::Project, "all/workflow.json5", workflow)
            .with(Tier::Project, "review/workflow.json5", other)
            .with(
                Tier::Project,
                "review/read.md",
                format!("---\n{phase}\n---\nRead."),
            ),
    );
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.catalog.iter().count(), 2);
}

#[test]
fn documented_defaults_are_those_of_the_engine() {
    let default = |name: &str| {
        let row = Section::Continue.keys().iter().find(|key| key.name == name);
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
    let on_limit = match standing.on_limit {
        OnLimit::Pause => Default::Text("pause"),
        OnLimit::Cancel => Default::Text("cancel"),
    };
    assert_eq!(default("max"), times(standing.max));
    assert_eq!(default("maxStale"), times(standing.max_stale));
    assert_eq!(default("onError"), on_stop(standing.on_error));
    assert_eq!(default("onQuestion"), on_stop(standing.on_question));
    assert_eq!(default("onLimit"), on_limit);
    assert_eq!(default("countdown"), Default::Number(standing.countdown));
}
