//! The pages on the definition language say what is true: their examples load, the generated tables are those of the code.
//!
//! `UPDATE=1` writes the tables.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files, and the environment says if it writes them"
)]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use workflow_core::definition::{Default, Key, MemoryFiles, Section, Tier, load};
use workflow_core::diagnostic::render;
use workflow_core::template::TemplateKind;

/// The page of the keys.
const KEYS: &str = "DEFINITIONS.md";

fn path(page: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page)
}

fn text(page: &str) -> String {
    fs::read_to_string(path(page)).expect("the page is there")
}

/// All pages on the language. Their examples are files of one project.
fn pages() -> String {
    [KEYS, "TOOLS.md", "FLOW.md", "CHEATSHEET.md"]
        .map(text)
        .concat()
}

/// A fenced block: what follows its language, and its text.
struct Block {
    language: String,
    file: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let info = line.trim_start_matches('`');
        let fence = &line[..line.len() - info.len()];
        if fence.len() < 3 {
            continue;
        }
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        let (language, file) = info.split_once(' ').unwrap_or((info, ""));
        blocks.push(Block {
            language: language.to_owned(),
            file: file.to_owned(),
            text: text.join("\n") + "\n",
        });
    }
    blocks
}

#[test]
fn the_examples_load_without_diagnostics() {
    let mut files = MemoryFiles::new();
    for block in blocks(&pages()) {
        if block.file == "workflow-sidecar.json5" {
            files = files.with_settings(Tier::Project, block.text);
        } else if !block.file.is_empty() && !block.file.starts_with("wrong/") {
            files = files.with(Tier::Project, &block.file, block.text);
        }
    }
    let loaded = load(&files);
    assert_eq!(loaded.diagnostics, []);
    let keys: Vec<&str> = loaded
        .catalog
        .iter()
        .map(|workflow| &*workflow.key)
        .collect();
    assert_eq!(keys, ["bugfix", "change", "review"]);
    assert_eq!(loaded.settings.limits.max_phases, 200);
}

/// Keys without a file name: of a workflow in YAML, or a whole one; of the user's settings in JSON5.
#[test]
fn the_excerpts_load_without_diagnostics() {
    const REST: &str = "name: W\nshow: workflows\nroleInstruction: R\n\
        phases: [{id: a, name: A, emoji: a, instructions: I}]\n";
    let mut excerpts = 0;
    for block in blocks(&pages()) {
        let files = match (&*block.language, &*block.file) {
            ("yaml", "") => {
                let rest = if block.text.starts_with("name:") {
                    ""
                } else {
                    REST
                };
                MemoryFiles::new().with(Tier::Project, "w/workflow.yaml", block.text + rest)
            }
            ("json5", "") => MemoryFiles::new().with_settings(Tier::Global, block.text),
            _ => continue,
        };
        excerpts += 1;
        assert_eq!(load(&files).diagnostics, []);
    }
    assert!(excerpts >= 5, "{excerpts}");
}

#[test]
fn the_mistake_looks_as_shown() {
    let blocks = blocks(&pages());
    let wrong = blocks
        .iter()
        .find(|block| block.file.starts_with("wrong/"))
        .expect("there is a mistake");
    let shown = blocks
        .iter()
        .find(|block| block.language == "text")
        .expect("there is a diagnostic");
    let workflow = "name: W\nshow: workflows\nphases: [reproduce.md]\n";
    let loaded = load(
        &MemoryFiles::new()
            .with(Tier::Project, "wrong/workflow.yaml", workflow)
            .with(Tier::Project, &wrong.file, wrong.text.as_str()),
    );
    let [found] = &loaded.diagnostics[..] else {
        panic!("one mistake: {:?}", loaded.diagnostics);
    };
    assert_eq!(render(found, false) + "\n", shown.text);
}

fn variables() -> String {
    let places = [
        ("`initialMessage`", TemplateKind::InitialMessage),
        (
            "instructions, `roleInstruction`, `advanceReminder`",
            TemplateKind::Context,
        ),
        ("`blockReasonTemplate`", TemplateKind::BlockReason),
        (
            "`completionMessage`, `cancelledMessage`",
            TemplateKind::Completion,
        ),
        ("`notDoneReminder`", TemplateKind::NotDone),
        ("`prompt` of a trigger", TemplateKind::Trigger),
        ("`ask` of `approve`", TemplateKind::Ask),
    ];
    places
        .iter()
        .fold(String::new(), |mut rows, (name, place)| {
            let variables: Vec<String> = place
                .variables()
                .iter()
                .map(|variable| format!("`{{{variable}}}`"))
                .chain(
                    place
                        .families()
                        .iter()
                        .map(|family| format!("`{{{}}}`", family.form())),
                )
                .collect();
            writeln!(rows, "| {name} | {} |", variables.join(" "))
                .expect("a text can be written to");
            rows
        })
}

/// The page with the rows of the table after a marker replaced; its two header lines stay.
fn with_table(page: &str, marker: &str, rows: &str) -> String {
    let marker = format!("<!-- {marker} -->\n\n");
    let (before, rest) = page.split_once(&marker).expect("the marker is there");
    let lines: Vec<&str> = rest.split_inclusive('\n').collect();
    let header = lines[..2].concat();
    let after: String = lines[2..]
        .iter()
        .skip_while(|line| line.starts_with('|'))
        .copied()
        .collect();
    format!("{before}{marker}{header}{rows}{after}")
}

fn describe_default(default: Default) -> String {
    match default {
        Default::Required | Default::RequiredToStart => "required".to_owned(),
        Default::Text(text) if text.contains(' ') => format!("`{text:?}`"),
        Default::Text(text) => format!("`{text}`"),
        Default::Number(number) => number.to_string(),
        Default::True => "true".to_owned(),
        Default::Described(words) => words.to_owned(),
    }
}

/// The row of a key: its name, and type, default, example and description.
fn row(key: &Key) -> (&'static str, String) {
    // A vertical bar would end the cell.
    let example = key.example.replace('|', "\\|");
    let (value, default) = (key.described_type(), describe_default(key.default));
    (
        key.name,
        format!("{value} | {default} | `{example}` | {} |\n", key.summary),
    )
}

/// The maps whose keys overlap, and their names in the table of shared keys.
const LEVELS: [(&str, &str); 5] = [
    ("a workflow", "workflow"),
    ("a phase", "phase"),
    ("the settings", "settings"),
    ("`defaults`", "`defaults`"),
    ("`withoutRun`", "`withoutRun`"),
];

/// The map that messages call this.
fn section(name: &str) -> &'static Section {
    let mut all = Section::ALL.iter();
    all.find(|of| of.name == name).expect("there is such a map")
}

/// The names of the levels that have a row.
fn levels_with(row_of_level: &(&'static str, String)) -> Vec<&'static str> {
    let has = |name: &str| {
        let mut keys = section(name).keys.iter();
        keys.any(|key| row(key) == *row_of_level)
    };
    let levels = LEVELS.iter().filter(|(section, _)| has(section));
    levels.map(|(_, name)| *name).collect()
}

/// The rows of the keys that are the same in several levels: name, levels, type, default, example, description.
fn shared_table() -> String {
    let mut rows: Vec<_> = LEVELS
        .iter()
        .flat_map(|(name, _)| section(name).keys.iter().map(row))
        .collect();
    let mut printed = BTreeSet::new();
    rows.retain(|row| levels_with(row).len() > 1 && printed.insert(row.0));
    let rows = rows.iter().map(|row| {
        let levels = levels_with(row).join(", ");
        format!("| `{}` | {levels} | {}", row.0, row.1)
    });
    rows.collect()
}

/// The rows of the table that documents the keys of a section, without those of [`shared_table`]: name, type, default,
/// example, description.
fn table(name: &str) -> String {
    let is_level = LEVELS.iter().any(|(level, _)| *level == name);
    let own = section(name).keys.iter().map(row);
    let own = own.filter(|row| !is_level || levels_with(row).len() < 2);
    let rows = own.map(|(name, rest)| format!("| `{name}` | {rest}"));
    rows.collect()
}

#[test]
fn the_tables_are_those_of_the_code() {
    let page = text(KEYS);
    let mut expected = page.clone();
    for (marker, rows) in [
        ("variables", variables()),
        ("keys of a workflow", table("a workflow")),
        ("keys of a reference", table("a subworkflow reference")),
        ("keys of a phase", table("a phase")),
        ("keys of several maps", shared_table()),
        ("keys of tools", table("`tools`")),
        ("keys of a used set", table("an entry of `use`")),
        ("keys of an opening", table("an entry of `commands`")),
        ("keys of a rule", table("a rule")),
        ("keys of a result", table("an entry of `results`")),
        ("keys of a gate", table("a check of `gate`")),
        ("keys of tests", table("`tests`")),
        ("keys of expect", table("`expect`")),
        ("keys of approve", table("`approve`")),
        ("keys of a trigger", table("a trigger")),
        ("keys of http", table("`http`")),
        ("keys of continue", table("`continue`")),
        ("keys of settings", table("the settings")),
        ("keys of defaults", table("`defaults`")),
        ("keys of withoutRun", table("`withoutRun`")),
        ("keys of start", table("`start`")),
        ("keys of limits", table("`limits` of the settings")),
        ("keys of an input", table("an input")),
        ("keys of an output", table("an output")),
        ("keys of a budget", table("`budget`")),
    ] {
        expected = with_table(&expected, marker, &rows);
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(path(KEYS), expected).expect("the page can be written");
        return;
    }
    assert!(page == expected, "run with UPDATE=1");
}
