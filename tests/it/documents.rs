//! The examples of the documents.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::connection::{Connection, Process};
use crate::console_pages::Page;

/// The marks around the session in the protocol's page.
const SESSION: [&str; 2] = ["<!-- session -->\n", "<!-- /session -->"];
/// The tests of a project that the documents are read in.
const MAKEFILE: &str = "test:\n\ttrue\n";
const PACKAGE: &str = r#"{"scripts": {"test": "true"}}"#;
/// Longer lines are cut in the page.
const LONGEST: usize = 320;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_protocols_page_shows_a_session_that_is_replayed() {
    let path = repository().join("protocol/README.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(SESSION[0]).expect("the page has a session");
    let (shown, after) = rest.split_once(SESSION[1]).expect("the session has an end");
    let session = repository().join("tests/transcripts/a-whole-session.jsonl");
    let expected = session_as_shown(&fs::read_to_string(session).unwrap());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(
            &path,
            [before, SESSION[0], &expected, SESSION[1], after].concat(),
        )
        .unwrap();
        return;
    }
    assert_eq!(shown, expected, "UPDATE=1 writes the session down");
}

/// The lines of a transcript with arrows for who says them.
fn session_as_shown(transcript: &str) -> String {
    let line = |line: &str| {
        let body = |prefix: &str| line.strip_prefix(prefix)?.strip_suffix('}');
        let said = body("{\"in\":").map(|said| format!("→ {said}\n"));
        let received = || body("{\"out\":").map(|line| format!("← {}\n", cut(line)));
        said.or_else(received)
    };
    format!(
        "```text\n{}```\n",
        transcript.lines().filter_map(line).collect::<String>()
    )
}

fn cut(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST - 2).chain(" …".chars()).collect()
}

#[test]
fn the_guide_prints_what_it_shows() {
    let guide = Page::read(&repository().join("docs/GUIDE.md")).with_file("Makefile", MAKEFILE);
    guide
        .play()
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn the_page_on_blocked_calls_prints_what_it_shows() {
    let page = Page::read(&repository().join("docs/BLOCKED.md"));
    page.play()
        .unwrap_or_else(|difference| panic!("{difference}"));
}

/// The recipes pass `check --strict`, and do what their scripts say.
#[test]
fn the_recipes_print_what_they_show() {
    let path = repository().join("docs/RECIPES.md");
    Page::read(&path)
        .with_file("package.json", PACKAGE)
        .with_file("packages/api/package.json", PACKAGE)
        .with_file("packages/web/package.json", PACKAGE)
        .play()
        .unwrap_or_else(|difference| panic!("{difference}"));
    let page = fs::read_to_string(path).unwrap();
    let recipes = page.matches("\n## ").count();
    let checked = page.matches("\n$ workflow-sidecar check --strict").count();
    let passed = page.matches(" 0 errors, 0 warnings\n").count();
    assert!(recipes >= 7, "{recipes}");
    assert_eq!((checked, passed), (recipes, recipes));
    assert!(!page.contains("[exit "));
}

/// The workflow of the README passes `check --strict`.
#[test]
fn the_readmes_workflow_has_no_mistakes() {
    let page = Page::read(&repository().join("README.md")).with_file("Makefile", MAKEFILE);
    page.write_files();
    let project = page.project();
    let mut check = Process::command();
    check.args(["check", "--strict"]).arg(&project);
    let output = check.env("HOME", &project).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
}

#[test]
fn the_readmes_session_blocks_the_edit() {
    let path = repository().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let page = Page::read(&path);
    page.write_files();
    let project = page.project();
    let lines = readme
        .split("```json\n")
        .nth(1)
        .expect("the page shows what to type");
    let lines = lines.split("```").next().unwrap_or_default();
    let mut command = Process::command();
    command
        .arg("serve")
        .current_dir(&project)
        .env("HOME", &project);
    let mut sidecar = Process::spawn(&mut command);
    let answers: Vec<Value> = lines
        .lines()
        .map(|line| {
            sidecar.send(format!("{line}\n").as_bytes());
            serde_json::from_str(&sidecar.receive()).unwrap()
        })
        .collect();
    assert!(
        answers
            .iter()
            .all(|answer| answer["result"]["diagnostics"].is_null()),
        "{answers:#?}"
    );
    assert_eq!(answers[3]["result"]["block"]["kind"], "policy");
    assert!(sidecar.finish().is_empty());
}

/// The documents in these directories.
fn documents(directories: &[&str]) -> Vec<PathBuf> {
    let entries = directories.iter().flat_map(|directory| {
        let entries = fs::read_dir(repository().join(directory)).unwrap();
        entries.map(|entry| entry.unwrap().path())
    });
    entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect()
}

/// The anchor of a heading, as the forges make it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |character: &char| character.is_alphanumeric() || " -_".contains(*character);
    heading
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

/// A page over 8,000 words, or documents over 43,500, are not read.
#[test]
fn the_documents_are_short() {
    let mut pages = documents(&["docs", "docs/decisions"]);
    pages.push(repository().join("README.md"));
    let mut all = 0;
    for page in pages {
        let words = fs::read_to_string(&page)
            .unwrap()
            .split_whitespace()
            .count();
        assert!(words <= 8000, "{}: {words}", page.display());
        all += words;
    }
    assert!(all <= 43_500, "{all}");
}

#[test]
fn links_between_documents_lead_to_a_heading() {
    let directories = [
        ".",
        "docs",
        "docs/decisions",
        "protocol",
        "protocol/typescript",
        "tests/differential",
        "tests/hosts",
    ];
    for page in documents(&directories) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            if link.starts_with("https:") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                _ => page.with_file_name(file),
            };
            assert!(target.exists(), "{}: {link}", page.display());
            if !heading.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                let mut headings = target.lines().filter(|line| line.starts_with('#'));
                assert!(
                    headings.any(|line| anchor(line) == heading),
                    "{}: {link}",
                    page.display()
                );
            }
        }
    }
}

/// The rows of the tables of a page with two columns, without their headers.
fn rows(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        // Behind the last bar there is an empty cell.
        let [first, second, ""] = cells[..] else {
            panic!("a row of other columns: {line}");
        };
        Some((first, second))
    });
    let rows: Vec<_> = rows.collect();
    let is_header =
        |index: usize| rows[index].0 == "---" || rows.get(index + 1) == Some(&("---", "---"));
    (0..rows.len())
        .filter(|index| !is_header(*index))
        .map(|index| rows[index])
        .collect()
}

/// The text of all files with this ending below a directory.
fn sources(directory: &Path, ending: &str, text: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "node_modules" && name != "target" {
            sources(&path, ending, text);
        } else if name.ends_with(ending) {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn each_claim_of_the_threat_model_has_tests() {
    let page = fs::read_to_string(repository().join("docs/THREAT-MODEL.md")).unwrap();
    let tests = fs::read_to_string(repository().join("tests/it/threat_model.md")).unwrap();
    let (mut rust, mut script) = (String::new(), String::new());
    for directory in ["crates", "tests/it"] {
        sources(&repository().join(directory), ".rs", &mut rust);
    }
    sources(
        &repository().join("protocol/typescript/test"),
        ".ts",
        &mut script,
    );
    let is_there = |name: &str| {
        if name.contains(' ') {
            script.contains(&format!("test(\"{name}\""))
        } else if name.contains('/') {
            repository().join(name).exists()
        } else {
            rust.contains(&format!("fn {name}("))
        }
    };
    let tests = rows(&tests);
    let claims: Vec<&str> = rows(&page).iter().map(|row| row.0).collect();
    assert!(claims.len() > 20, "{}", claims.len());
    let tested: Vec<&str> = tests.iter().map(|row| row.0).collect();
    assert_eq!(tested, claims);
    for (attack, tests) in tests {
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {attack}");
        for name in names {
            assert!(is_there(name), "there is no test {name} for: {attack}");
        }
    }
}

/// The rows of the page on behaviour: id, and the names of the tests in the last column.
fn differences(page: &str) -> Vec<(String, Vec<String>)> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let (id, test) = (cells[0], cells[cells.len() - 2]);
        let is_id = id.len() == 3 && id[1..].bytes().all(|byte| byte.is_ascii_digit());
        is_id.then(|| (id.to_owned(), test.to_owned()))
    });
    rows.map(|(id, test)| {
        let names = test.split('`').skip(1).step_by(2).map(str::to_owned);
        let in_words = test.split('`').next().filter(|text| !text.is_empty());
        (
            id,
            in_words
                .map(str::to_owned)
                .into_iter()
                .chain(names)
                .collect(),
        )
    })
    .collect()
}

/// The ids (a capital letter and two digits) that a text cites.
fn cited_ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| {
            word.len() == 3
                && matches!(word.as_bytes()[0], b'A' | b'B' | b'D')
                && word[1..].bytes().all(|byte| byte.is_ascii_digit())
        })
}

#[test]
fn each_decided_difference_names_tests_that_exist_and_each_cited_id_is_defined() {
    let page = fs::read_to_string(repository().join("tests/differential/BEHAVIOUR.md")).unwrap();
    let differences = differences(&page);
    assert!(differences.len() > 80, "{}", differences.len());
    let (mut rust, mut script, mut comparison) = (String::new(), String::new(), String::new());
    for directory in ["crates", "tests/it"] {
        sources(&repository().join(directory), ".rs", &mut rust);
    }
    sources(
        &repository().join("protocol/typescript"),
        ".ts",
        &mut script,
    );
    sources(
        &repository().join("tests/differential"),
        ".mjs",
        &mut comparison,
    );
    for (id, tests) in &differences {
        assert!(!tests.is_empty(), "{id} names no test");
        for name in tests {
            let exists = if name == "differential" || name == "differential, " {
                comparison.contains(&format!("\"{id}\""))
            } else if name.starts_with("differential (as ") {
                true
            } else if name.contains('/') {
                repository().join(name).exists()
            } else if name.contains(' ') {
                script.contains(&format!("(\"{name}\""))
            } else {
                rust.contains(&format!("fn {name}("))
            };
            assert!(exists, "{id} names a test that does not exist: {name}");
        }
    }
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    for line in rust.lines().chain(script.lines()).filter(is_comment) {
        for cited in cited_ids(line) {
            assert!(
                differences.iter().any(|(id, _)| id == cited),
                "tests/differential/BEHAVIOUR.md does not define {cited}: {line}"
            );
        }
    }
}
