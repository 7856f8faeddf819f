//! Schema and loader say the same of a file, as far as a schema can see.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::{Value, json};
use workflow_core::definition::{
    FilePath, FileProblem, Files, MemoryFiles, SETTINGS_FILE, SchemaFile as File, Section, Tier,
    TierEntry, ValueType, document, load,
};
use workflow_core::diagnostic::{Code, Diagnostic};

/// Whether a schema can see what a code is about: keys, and values by themselves.
fn is_seen_by_a_schema(code: Code) -> bool {
    match code {
        Code::UnknownKey
        | Code::UnknownGuardKey
        | Code::FutureGuard
        | Code::MissingKey
        | Code::WrongType
        | Code::InvalidValue
        | Code::NoValue
        | Code::UnquotedTemplate
        | Code::BothLists
        | Code::LimitTooHigh => true,
        Code::Unreadable
        | Code::MissingFile
        | Code::PathRefused
        | Code::FileTooLarge
        | Code::NotUtf8
        | Code::TwoDefinitions
        | Code::EntrySkipped
        | Code::MisnamedDefinition
        | Code::Syntax
        | Code::DuplicateKey
        | Code::UnknownVariable
        | Code::Frontmatter
        | Code::DuplicatePhaseId
        | Code::IdleRule
        | Code::NoInstructions
        | Code::Pattern
        | Code::FreeShell
        | Code::Cycle
        | Code::BrokenReference
        | Code::NestedTooDeep
        | Code::DuplicateCommandName
        | Code::OverrideLeftOut
        | Code::OverLimit
        | Code::MoreNotShown
        | Code::StoredDamaged
        | Code::StoredLater
        | Code::DefinitionGone
        | Code::DefinitionChanged
        | Code::DefinitionLost => false,
    }
}

/// Whether the loader did not look at all of a workflow's files.
fn stops_reading(code: Code) -> bool {
    matches!(
        code,
        Code::TwoDefinitions | Code::OverLimit | Code::MoreNotShown
    )
}

/// The schemas, ready to judge.
struct Schemas([Validator; 3]);

impl Schemas {
    fn new() -> Self {
        Self(File::ALL.map(|file| jsonschema::draft7::new(&file.schema()).unwrap()))
    }

    fn allow(&self, file: File, document: &Value) -> bool {
        self.0[file as usize].is_valid(document)
    }
}

/// Files that remember which of them were read.
struct Remembered {
    files: MemoryFiles,
    read: RefCell<Vec<(String, Vec<u8>)>>,
}

impl Files for Remembered {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        self.files.entries(tier)
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let bytes = self.files.read(path, max_bytes)?;
        let shown = self.files.shown(path);
        self.read.borrow_mut().push((shown, bytes.clone()));
        Ok(bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        self.files.shown(path)
    }
}

fn kind_of(path: &str) -> Option<File> {
    let (_, name) = path.rsplit_once('/')?;
    match name {
        "workflow.yaml" | "workflow.json5" => Some(File::Workflow),
        SETTINGS_FILE => Some(File::Settings),
        name => (name.rsplit_once('.')?.1 == "md").then_some(File::Phase),
    }
}

/// Compares what schema and loader say of every file that is read, and counts those that were compared.
fn compare(schemas: &Schemas, files: MemoryFiles, what: &str) -> usize {
    let remembered = Remembered {
        files,
        read: RefCell::default(),
    };
    let diagnostics = load(&remembered).diagnostics;
    let files = remembered.read.into_inner();
    let compared = files.iter().filter_map(|(path, bytes)| {
        let kind = kind_of(path)?;
        let of_file = |found: &&Diagnostic| {
            let place = found.place.as_ref();
            place.is_some_and(|place| *place.file == **path)
        };
        let found: Vec<&Diagnostic> = diagnostics.iter().filter(of_file).collect();
        let directory = path.rsplit_once('/').map(|(directory, _)| directory)?;
        let unread = diagnostics
            .iter()
            .filter(|found| stops_reading(found.code))
            .any(|found| {
                let about = found.workflow.as_deref();
                about.is_none_or(|key| directory.ends_with(key))
            });
        if unread {
            return None;
        }
        let document = document(path, bytes)?;
        let by_loader = !found.iter().any(|found| is_seen_by_a_schema(found.code));
        let by_schema = schemas.allow(kind, &document);
        assert!(
            by_loader == by_schema,
            "{what}, {path}: {} the schema, but the loader says {found:#?} of {document:#}",
            if by_schema { "right by" } else { "wrong by" }
        );
        Some(())
    });
    compared.count()
}

fn with_directory(
    mut files: MemoryFiles,
    tier: Tier,
    directory: &Path,
    prefix: &str,
) -> MemoryFiles {
    let Ok(entries) = fs::read_dir(directory) else {
        return files;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files = with_directory(files, tier, &entry.path(), &format!("{name}/"));
        } else {
            files = files.with(tier, &name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

fn files_of(case: &Path) -> MemoryFiles {
    let tiers = [
        (Tier::Global, case.join("agent")),
        (Tier::Project, case.join("project/.pi")),
    ];
    tiers
        .into_iter()
        .fold(MemoryFiles::new(), |mut files, (tier, root)| {
            if let Ok(settings) = fs::read(root.join(SETTINGS_FILE)) {
                files = files.with_settings(tier, settings);
            }
            with_directory(files, tier, &root.join("workflows"), "")
        })
}

#[test]
fn the_fixtures_are_right_by_the_schema_where_they_are_right_by_the_loader() {
    let schemas = Schemas::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/definitions");
    let mut compared = 0;
    for kind in ["valid", "invalid"] {
        let mut cases: Vec<PathBuf> = fs::read_dir(root.join(kind))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        cases.sort();
        for case in cases {
            compared += compare(&schemas, files_of(&case), &case.display().to_string());
        }
    }
    assert!(compared > 100, "only {compared} files were compared");
}

/// Values that a key may or may not take.
fn values() -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2.5),
        json!(3600),
        json!(3601),
        json!(1e10),
        json!(1e300),
        json!(""),
        json!(" \u{feff}\n"),
        json!("text"),
        json!("two words"),
        json!("line\nbreak"),
        json!(" edge"),
        json!([]),
        json!([""]),
        json!(["text"]),
        json!([" edge"]),
        json!(["a\nb"]),
        json!(["text", 1]),
        json!([null]),
        json!([[]]),
        json!([{}]),
        json!([{"subworkflow": "w"}]),
        json!([{"subworkflow": " "}]),
        json!([{"subworkflow": "w", "id": "p"}]),
        json!({}),
        json!({"text": null}),
        json!({"zzz": 1}),
        json!({"budget": 1}),
    ];
    for section in Section::ALL {
        for key in section.keys() {
            let example: Value = serde_json::from_str(key.example).unwrap();
            // One text is like another, and what is in a whole file is no value.
            if !example.is_string() && *section != Section::Workflow {
                values.push(json!({ key.name: example }));
                values.push(example);
            }
            if let ValueType::OneOf(words) = key.value {
                values.extend(words.iter().map(|(word, _)| json!(word)));
            }
        }
    }
    values.extend(
        [
            "wait",
            "unlimited",
            "nonzero",
            "10m",
            "0s",
            "86400s",
            "86401s",
            "1440m",
            "1441m",
            "24h",
            "25h",
            "1.5h",
            "[",
        ]
        .map(|word| json!(word)),
    );
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.to_string()));
    values
}

/// Places a map in files, at a section of the language.
type Place = fn(Value) -> MemoryFiles;

fn phase() -> Value {
    json!({"id": "p", "name": "P", "emoji": "p", "instructions": "Go."})
}

fn workflow() -> Value {
    json!({"name": "W", "commandName": "w", "initialMessage": "Go.", "phases": [phase()]})
}

fn in_workflow(workflow: &Value) -> MemoryFiles {
    MemoryFiles::new().with(Tier::Project, "w/workflow.json5", workflow.to_string())
}

fn in_phase_file(phase: &Value) -> MemoryFiles {
    let mut workflow = workflow();
    workflow["phases"] = json!(["p.md"]);
    in_workflow(&workflow).with(Tier::Project, "w/p.md", format!("---\n{phase}\n---\nGo."))
}

#[expect(clippy::needless_pass_by_value, reason = "as a place takes its map")]
fn in_phase(phase: Value) -> MemoryFiles {
    in_workflow(&with(workflow(), "phases", json!([phase])))
}

#[expect(clippy::needless_pass_by_value, reason = "as a place takes its map")]
fn in_gate(check: Value) -> MemoryFiles {
    in_phase(with(phase(), "gate", json!([check])))
}

#[expect(clippy::needless_pass_by_value, reason = "as a place takes its map")]
fn in_triggers(trigger: Value) -> MemoryFiles {
    in_settings(&json!({"triggers": [trigger]}))
}

#[expect(clippy::needless_pass_by_value, reason = "as a place takes its map")]
fn in_http(http: Value) -> MemoryFiles {
    in_triggers(json!({"http": http, "prompt": "Go."}))
}

fn with(mut map: Value, key: &str, value: Value) -> Value {
    map[key] = value;
    map
}

fn without(mut map: Value, key: &str) -> Value {
    map.as_object_mut().unwrap().remove(key);
    map
}

fn in_settings(settings: &Value) -> MemoryFiles {
    MemoryFiles::new().with_settings(Tier::Project, settings.to_string())
}

#[test]
fn every_key_takes_what_its_row_says() {
    let header = without(phase(), "instructions");
    let places: [(Section, Value, Place); 24] = [
        (Section::Workflow, workflow(), |map| in_workflow(&map)),
        (
            Section::Workflow,
            with(workflow(), "show", json!("workflows")),
            |map| in_workflow(&map),
        ),
        (Section::Phase, phase(), |map| {
            in_workflow(&with(workflow(), "phases", json!([map])))
        }),
        (Section::Phase, header, |map| in_phase_file(&map)),
        (Section::Reference, json!({"subworkflow": "v"}), |map| {
            in_workflow(&with(workflow(), "phases", json!([map])))
        }),
        (Section::Tools, json!({}), |map| {
            in_workflow(&with(
                workflow(),
                "phases",
                json!([with(phase(), "tools", map)]),
            ))
        }),
        (Section::Tools, json!({"whitelist": []}), |map| {
            in_phase_file(&with(without(phase(), "instructions"), "tools", map))
        }),
        (Section::Tools, json!({}), |map| {
            in_settings(&json!({"tools": map}))
        }),
        (Section::Rule, json!({"block": "bash"}), |map| {
            in_workflow(&with(workflow(), "tools", json!({"rules": [map]})))
        }),
        (Section::Result, json!({"append": "Done."}), |map| {
            in_settings(&json!({"results": [map]}))
        }),
        (Section::Gate, json!({"run": ["make"]}), in_gate),
        (
            Section::Gate,
            json!({"run": "make", "shell": true}),
            in_gate,
        ),
        (Section::Gate, json!({"file": "f"}), in_gate),
        (Section::Expect, json!({}), |map| {
            in_gate(json!({"run": ["make"], "expect": map}))
        }),
        (Section::Approve, json!({"ask": "Good?"}), |map| {
            in_phase(with(phase(), "approve", map))
        }),
        (
            Section::Trigger,
            json!({"file": "f", "prompt": "Go."}),
            in_triggers,
        ),
        (
            Section::Trigger,
            json!({"http": {"port": 1, "token": "t"}, "prompt": "Go."}),
            in_triggers,
        ),
        (Section::Trigger, json!({"prompt": "Go."}), in_triggers),
        (Section::Http, json!({"port": 1, "token": "t"}), in_http),
        (Section::Http, json!({"port": 1, "tokenEnv": "T"}), in_http),
        (Section::Continue, json!({}), |map| {
            in_workflow(&with(workflow(), "continue", map))
        }),
        (Section::Continue, json!({}), |map| {
            in_settings(&json!({"continue": map}))
        }),
        (Section::Settings, json!({}), |map| in_settings(&map)),
        (Section::Limits, json!({}), |map| {
            in_settings(&json!({"limits": map}))
        }),
    ];
    for section in Section::ALL {
        let is_tried = places.iter().any(|(tried, ..)| tried == section);
        assert!(is_tried, "{section:?} is not tried");
    }
    let (schemas, values) = (Schemas::new(), values());
    for (section, map, place) in places {
        let known = section.keys().iter().map(|key| key.name);
        for key in known.chain([
            "zzz",
            "budget",
            "checkpoint",
            "triggers",
            "gate",
            "tools",
            "instructions",
            "subworkflow",
            "<<",
        ]) {
            let what = format!("{section:?} without `{key}`");
            compare(&schemas, place(without(map.clone(), key)), &what);
            for value in &values {
                let what = format!("{section:?} with `{key}: {value}`");
                compare(
                    &schemas,
                    place(with(map.clone(), key, value.clone())),
                    &what,
                );
            }
        }
    }
}
