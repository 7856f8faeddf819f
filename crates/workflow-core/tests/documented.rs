//! docs/DEFINITIONS.md says what is true: its examples load, its generated tables are those of the code.
//!
//! `UPDATE=1` writes the tables.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use workflow_core::definition::{Level, MemoryFiles, Takes, Tier, Without, load};
use workflow_core::diagnostic::{Code, render};
use workflow_core::template::Place;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/DEFINITIONS.md")
}

fn page() -> String {
    fs::read_to_string(path()).expect("the page is there")
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
fn the_examples_load_without_a_word() {
    let mut files = MemoryFiles::new();
    for block in blocks(&page()) {
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
    assert_eq!(keys, ["bugfix", "review"]);
    assert_eq!(loaded.settings.limits.max_phases, 200);
}

#[test]
fn the_mistake_looks_as_shown() {
    let blocks = blocks(&page());
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

fn codes() -> String {
    Code::ALL.iter().fold(String::new(), |mut rows, code| {
        writeln!(rows, "| {code} | {} | {} |", code.summary(), code.cure())
            .expect("a text can be written to");
        rows
    })
}

fn variables() -> String {
    let places = [
        ("`initialMessage`", Place::InitialMessage),
        (
            "instructions, `roleInstruction`, `advanceReminder`",
            Place::Context,
        ),
        ("`blockReasonTemplate`", Place::BlockReason),
        ("`completionMessage`, `cancelledMessage`", Place::Completion),
        ("`notDoneReminder`", Place::NotDone),
        ("`prompt` of a trigger", Place::Trigger),
    ];
    places
        .iter()
        .fold(String::new(), |mut rows, (name, place)| {
            let variables: Vec<String> = place
                .variables()
                .iter()
                .map(|variable| format!("`{{{variable}}}`"))
                .collect();
            writeln!(rows, "| {name} | {} |", variables.join(" "))
                .expect("a text can be written to");
            rows
        })
}

/// What a key takes, in words.
fn taken(takes: Takes) -> String {
    match takes {
        Takes::Text | Takes::Filled => "text".to_owned(),
        Takes::CommandName => "`a-z A-Z 0-9 _ -`".to_owned(),
        Takes::Template(_) => "template".to_owned(),
        Takes::Flag => "true or false".to_owned(),
        Takes::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            words.join(", ")
        }
        Takes::Whole(from, None) => format!("whole number from {from}"),
        Takes::Whole(from, Some(to)) => format!("whole number, {from} to {to}"),
        Takes::Bound => "whole number, `unlimited`".to_owned(),
        Takes::Texts | Takes::ToolNames => "list of texts".to_owned(),
        Takes::Phases => "list".to_owned(),
        Takes::Map(_) => "map".to_owned(),
        Takes::Tools => "map".to_owned(),
        Takes::ListOf(_) => "list of maps".to_owned(),
        Takes::ToolPatterns => "tool, or list of tools".to_owned(),
        Takes::Patterns => "text, or list of texts".to_owned(),
        Takes::Fields => "map of texts".to_owned(),
        Takes::CommandLine => "list of texts, or text".to_owned(),
        Takes::Duration => "seconds, `30s`, `10m`, `1h`".to_owned(),
        Takes::ExitCode => "0 to 255, `nonzero`".to_owned(),
        Takes::Choices => "list of texts".to_owned(),
        Takes::WaitOr(_) => "`wait`, or a map".to_owned(),
    }
}

fn default(without: Without) -> String {
    match without {
        Without::Required | Without::RequiredToStart => "required".to_owned(),
        Without::Text(text) if text.contains(' ') => format!("`{text:?}`"),
        Without::Text(text) => format!("`{text}`"),
        Without::Number(number) => number.to_string(),
        Without::True => "true".to_owned(),
        Without::Said(words) => words.to_owned(),
    }
}

fn keys(level: Level) -> String {
    level.keys().iter().fold(String::new(), |mut rows, key| {
        let (name, takes, without) = (key.name, taken(key.takes), default(key.without));
        writeln!(rows, "| `{name}` | {takes} | {without} | {} |", key.about)
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

#[test]
fn the_tables_are_those_of_the_code() {
    let page = page();
    let mut expected = page.clone();
    for (marker, rows) in [
        ("codes", codes()),
        ("variables", variables()),
        ("keys of a workflow", keys(Level::Workflow)),
        ("keys of a phase", keys(Level::Phase)),
        ("keys of tools", keys(Level::Tools)),
        ("keys of a rule", keys(Level::Rule)),
        ("keys of a result", keys(Level::Result)),
        ("keys of a gate", keys(Level::Gate)),
        ("keys of expect", keys(Level::Expect)),
        ("keys of approve", keys(Level::Approve)),
        ("keys of a trigger", keys(Level::Trigger)),
        ("keys of http", keys(Level::Http)),
        ("keys of continue", keys(Level::Continue)),
        ("keys of settings", keys(Level::Settings)),
        ("keys of limits", keys(Level::Limits)),
    ] {
        expected = with_table(&expected, marker, &rows);
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(path(), expected).expect("the page can be written");
        return;
    }
    assert!(page == expected, "run with UPDATE=1");
}
