//! The ready-made workflows as `init` writes them, which the transcripts `ready-made-*` go through.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::connection::Process;

/// The prefix of the transcripts' names.
const PREFIX: &str = "ready-made-";

fn transcripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts")
}

/// The templates of `init --template`, from `list --templates`.
fn names() -> Vec<String> {
    let output = Process::command()
        .args(["list", "--templates", "--format", "json"])
        .output()
        .unwrap();
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let name = |row: &serde_json::Value| row["name"].as_str().unwrap().to_owned();
    rows.iter().map(name).collect()
}

/// The inputs with which a template is started, before the description.
fn inputs(name: &str) -> &'static [&'static str] {
    match name {
        "release" => &["version=1.2.0", "the export"],
        _ => &[],
    }
}

/// The files below a directory, by their paths in it.
fn files(root: &Path, directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(root, &path));
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    found
}

/// A home directory that is a project with all ready-made workflows.
fn all_of_them() -> tempfile::TempDir {
    with_templates(&[])
}

/// The same in a project with these files.
fn with_templates(project: &[(&str, &str)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (path, text) in project {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for name in names() {
        let status = Process::command()
            .args(["init", "--no-run", "--template", &name, "--project"])
            .arg(home.path())
            .env("HOME", home.path())
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{name}");
    }
    home
}

#[test]
fn no_template_has_a_finding_in_a_project_of_any_language() {
    const PROJECTS: [(&str, &str); 5] = [
        ("Cargo.toml", "[package]"),
        ("package.json", r#"{"scripts":{"test":"node --test"}}"#),
        ("tests/test_a.py", "import unittest"),
        ("go.mod", "module m"),
        ("Makefile", "test:\n\ttrue\n"),
    ];
    // The programs of the gates are found, whatever this machine has.
    let programs = tempfile::tempdir().unwrap();
    for name in ["cargo", "npm", "node", "python3", "go", "make"] {
        let path = programs.path().join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    for (file, text) in PROJECTS {
        let home = with_templates(&[(file, text)]);
        let mut check = Process::command();
        check.arg("check").arg(home.path()).env("HOME", home.path());
        let output = check.env("PATH", programs.path()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(!said.contains("[WF"), "{file}: {said}");
        assert!(said.ends_with("can run, 0 errors, 0 warnings\n"), "{said}");
    }
}

/// Commands that publish, or may do so.
const PUBLISHING: [&str; 14] = [
    "git push --tags",
    "npx changeset publish",
    "npx semantic-release",
    "lerna publish",
    "cargo release",
    "cargo publish",
    "npx np",
    "npm run release",
    "gh workflow run release.yml",
    "docker buildx build --push .",
    "gh api -X POST repos/a/b/releases",
    "npm dist-tag add a@1.0.0 latest",
    "./scripts/release.sh",
    "make test publish",
];

#[test]
fn nothing_is_published_in_a_release_before_publish_without_a_question() {
    let home = with_templates(&[("Makefile", "test:\n\ttrue\n")]);
    let decisions = |line: &str| {
        let mut check = Process::command();
        let check = check.args(["check", "--explain-command", line, "."]);
        let output = check.current_dir(home.path()).env("HOME", home.path());
        let text = String::from_utf8(output.output().unwrap().stdout).unwrap();
        let decisions = text.lines().filter(|line| line.starts_with("release, "));
        decisions.map(str::to_owned).collect::<Vec<_>>()
    };
    let allowed = |line: &str| {
        let mut decisions = decisions(line);
        assert_eq!(decisions.len(), 5, "{line}: {decisions:?}");
        decisions.retain(|decision| decision.ends_with(": allowed"));
        decisions
    };
    for line in PUBLISHING {
        assert_eq!(allowed(line), ["release, publish: allowed"], "{line}");
    }
    for (line, phase) in [
        ("git add -A", "prepare"),
        ("git commit -m 1.2.0", "prepare"),
        ("cargo package", "confirm"),
    ] {
        let candidate = format!("release, release-candidate/{phase}: allowed");
        assert_eq!(allowed(line), [&candidate, "release, publish: allowed"]);
    }
}

/// Runs the script of each template to its end: `tests/ready-made/NAME.steps`.
#[test]
fn each_template_passes_its_script_to_the_end() {
    let home = all_of_them();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ready-made");
    for name in names() {
        let output = Process::command()
            .args(["simulate", &name])
            .args(inputs(&name))
            .arg("--project")
            .arg(home.path())
            .arg("--script")
            .arg(scripts.join(format!("{name}.steps")))
            .env("HOME", home.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
        // Of its two lists, a backlog goes through one.
        let end = match &*name {
            "backlog" => "3 of its 4 phases were entered",
            _ => "All phases complete",
        };
        assert!(said.contains(end), "{name}: {said}");
    }
}

/// The definitions of the transcripts are no copy that could grow old: `UPDATE=1` writes them anew.
#[test]
fn the_transcripts_go_through_what_init_writes() {
    let home = all_of_them();
    let written = home.path().join(".pi/workflows");
    let written = files(&written, &written);
    let kept = transcripts().join("definitions/ready-made/project/.pi/workflows");
    if std::env::var_os("UPDATE").is_some() {
        fs::remove_dir_all(&kept).ok();
        for (name, text) in &written {
            let path = kept.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    assert_eq!(files(&kept, &kept), written, "UPDATE=1 writes them anew");
}

#[test]
fn every_ready_made_workflow_is_gone_through_from_start_to_end() {
    let mut names = names();
    names.sort();
    let recorded: Vec<String> = fs::read_dir(transcripts())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            Some(
                name.strip_prefix(PREFIX)?
                    .strip_suffix(".jsonl")?
                    .to_owned(),
            )
        })
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    assert_eq!(recorded, names);
    for name in names {
        let path = transcripts().join(format!("{PREFIX}{name}.jsonl"));
        let transcript = fs::read_to_string(path).unwrap();
        let last = transcript.lines().last().unwrap();
        assert!(
            last.contains("workflow:complete"),
            "{name} is not completed"
        );
        assert!(!transcript.contains("\"diagnostics\""), "{name}");
        assert!(transcript.contains("\"block\""), "{name} blocks nothing");
    }
}
