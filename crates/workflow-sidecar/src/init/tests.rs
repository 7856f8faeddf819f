use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use workflow_core::definition::{Check, FileCheck, PhaseEntry, ToolAccess, Workflow};

use super::*;

/// The files below a directory, by their paths in it.
fn on_disk(root: &Path, directory: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            on_disk(root, &path, found);
        } else {
            found.insert(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
}

#[test]
fn every_file_of_the_templates_is_in_the_binary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut expected = BTreeSet::new();
    on_disk(&root, &root, &mut expected);
    let embedded = templates().flat_map(|template| {
        let files = template.files.iter();
        files.map(|(path, _)| format!("{}/{path}", template.name))
    });
    assert_eq!(embedded.collect::<BTreeSet<String>>(), expected);
}

/// Returns the loaded workflows without the locations of rules, which differ between languages.
fn without_locations(loaded: &workflow_core::definition::Loaded) -> Vec<Workflow> {
    let mut workflows: Vec<Workflow> = loaded.catalog.iter().cloned().collect();
    for workflow in &mut workflows {
        workflow
            .rules
            .iter_mut()
            .for_each(|rule| rule.source.clear());
        if let Some(ToolAccess::ReadOnly { source }) = &mut workflow.tools {
            source.clear();
        }
    }
    workflows
}

#[test]
fn both_languages_load_to_the_same_workflows_without_diagnostics() {
    for template in templates() {
        let yaml = template.load(Language::Yaml);
        let json5 = template.load(Language::Json5);
        assert_eq!(yaml.diagnostics, [], "{}", template.name);
        assert_eq!(json5.diagnostics, [], "{}", template.name);
        assert_eq!(
            without_locations(&yaml),
            without_locations(&json5),
            "{}",
            template.name
        );
        let keys: Vec<&str> = yaml.catalog.iter().map(|workflow| &*workflow.key).collect();
        assert_eq!(keys, template.keys(template.name));
    }
}

#[test]
fn a_template_loads_under_every_valid_name() {
    const NAMES: [&str; 8] = ["a_B-1", "1e5", "007", "true", "Null", "-", "--", "_"];
    for (template, name) in templates().flat_map(|template| NAMES.map(|name| (template, name))) {
        for language in [Language::Yaml, Language::Json5] {
            let project = tempfile::tempdir().unwrap();
            let written = write(project.path(), template, name, language, "{}").unwrap();
            let agent_dir = project.path().join("agent");
            let disk = crate::platform::disk::Disk::new(agent_dir, project.path().to_path_buf());
            let loaded = workflow_core::definition::load(&disk);
            assert_eq!(loaded.diagnostics, [], "{} as {name}", template.name);
            let keys: BTreeSet<String> = loaded
                .catalog
                .iter()
                .map(|workflow| workflow.key.clone())
                .collect();
            assert_eq!(keys, written.keys.into_iter().collect());
            let started: Vec<&Workflow> = loaded.catalog.startable().collect();
            assert_eq!(started.len(), 1);
            assert_eq!(started[0].command_name, name);
            assert_ne!(started[0].name, "");
        }
    }
}

#[test]
fn tests_are_where_the_language_of_the_project_has_them() {
    let tdd = templates().find(|template| template.name == "tdd");
    for (mark, test, others) in [
        (
            "Cargo.toml",
            "tests/a.rs",
            ["src/latest.rs", "src/inspector.rs"],
        ),
        ("go.mod", "a/b_test.go", ["a/latest.go", "a/contest.go"]),
        (
            "package.json",
            "src/a.test.ts",
            ["src/latest.js", "src/inspector.js"],
        ),
        ("pyproject.toml", "a/test_b.py", ["contest.py", "tests.py"]),
        ("README", "spec/a.rb", ["src/latest.js", "contest.py"]),
    ] {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join(mark), "").unwrap();
        write(project.path(), tdd.unwrap(), "tdd", Language::Yaml, "{}").unwrap();
        let agent_dir = project.path().join("agent");
        let disk = crate::platform::disk::Disk::new(agent_dir, project.path().to_path_buf());
        let loaded = workflow_core::definition::load(&disk);
        let PhaseEntry::Phase(red) = &loaded.catalog.get("tdd-cycle").unwrap().phases[0] else {
            panic!("a phase is the first");
        };
        let is_open = |file: &str| {
            let mut globs = red.rules[0].path.iter().map(|path| FileCheck {
                path: path.clone(),
                changed: None,
            });
            globs.any(|check| check.glob().unwrap().matches(file))
        };
        assert!(is_open(test), "{mark}: {test}");
        assert!(!others.into_iter().any(is_open), "{mark}: {others:?}");
        let Check::File(changed) = &red.gate[0].check else {
            panic!("{mark}: a file is the first check");
        };
        assert!(changed.glob().unwrap().matches(test), "{mark}");
    }
}

#[test]
fn gates_count_tests_where_the_runner_is_read_and_compare_them_in_a_repository() {
    for (mark, has_git, counts, compares) in [
        ("Cargo.toml", true, true, true),
        ("Cargo.toml", false, true, false),
        ("pom.xml", true, false, false),
    ] {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join(mark), "").unwrap();
        if has_git {
            fs::create_dir(project.path().join(".git")).unwrap();
        }
        let bugfix = templates().find(|template| template.name == "bugfix");
        write(
            project.path(),
            bugfix.unwrap(),
            "bugfix",
            Language::Yaml,
            "{}",
        )
        .unwrap();
        let gate = |phase: &str| {
            let path = format!("{WORKFLOWS}/bugfix/{phase}.md");
            let text = fs::read_to_string(project.path().join(path)).unwrap();
            let gate = text.lines().skip_while(|line| *line != "gate:").nth(1);
            gate.unwrap().to_owned()
        };
        let (fix, verify) = (gate("fix"), gate("verify"));
        assert_eq!(verify.contains("tests: {"), counts, "{mark}: {verify}");
        assert_eq!(
            fix.contains("failsWithoutChange: true"),
            compares,
            "{mark}: {fix}"
        );
        assert_eq!(
            verify.contains("noNewSkips: true"),
            compares,
            "{mark}: {verify}"
        );
        assert!(!fix.contains('#'), "{mark}: {fix}");
    }
}

#[test]
fn no_gate_of_a_template_accepts_fewer_tests_than_at_the_start() {
    let repository = tempfile::tempdir().unwrap();
    fs::create_dir(repository.path().join(".git")).unwrap();
    let project = repository.path().join("part");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("Cargo.toml"), "").unwrap();
    for template in templates() {
        write(&project, template, template.name, Language::Yaml, "{}").unwrap();
    }
    let disk = crate::platform::disk::Disk::new(project.join("agent"), project);
    let loaded = workflow_core::definition::load(&disk);
    let phases = loaded.catalog.iter().flat_map(|workflow| &workflow.phases);
    let gates = phases.filter_map(|entry| match entry {
        PhaseEntry::Phase(phase) => Some(&phase.gate),
        PhaseEntry::Subworkflow(_) => None,
    });
    let tests: Vec<_> = gates
        .flatten()
        .filter_map(|gate| match &gate.check {
            Check::Tests(tests) => Some(tests),
            Check::Run(_) | Check::File(_) | Check::Git(_) => None,
        })
        .collect();
    assert!(tests.len() > 10 && tests.iter().all(|tests| tests.no_new_skips));
}

#[test]
fn a_failed_write_leaves_no_partial_workflow() {
    let project = tempfile::tempdir().unwrap();
    let workflows = project.path().join(WORKFLOWS);
    fs::create_dir_all(&workflows).unwrap();
    // These block the schema and a subworkflow.
    for in_the_way in [".pi/schemas", ".pi/workflows/w-cycle"] {
        let path = project.path().join(in_the_way);
        fs::write(&path, "mine").unwrap();
        let tdd = templates().find(|template| template.name == "tdd");
        let written = write(project.path(), tdd.unwrap(), "w", Language::Yaml, "{}");
        assert!(written.is_err(), "{in_the_way}");
        assert!(!workflows.join("w").exists(), "{in_the_way}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}

#[test]
fn invalid_names_are_refused() {
    for name in ["", "a b", "..", "a/b", "ä", &"x".repeat(65)] {
        assert!(!is_valid_name(name), "{name}");
    }
    assert!(is_valid_name(&"x".repeat(64)));
}

/// The tools that pi has; of these, `read`, `bash`, `edit` and `write` are on unless the user says otherwise.
const TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

#[test]
fn only_tools_that_pi_has_are_named_and_a_reading_phase_can_read() {
    for template in templates() {
        for workflow in template.load(Language::Yaml).catalog.iter() {
            for entry in &workflow.phases {
                let PhaseEntry::Phase(phase) = entry else {
                    continue;
                };
                let (named, reading) = match &phase.tools {
                    None | Some(ToolAccess::ReadOnly { .. } | ToolAccess::All { .. }) => continue,
                    Some(ToolAccess::Blacklist(tools)) => (tools, false),
                    Some(ToolAccess::Whitelist(tools)) => (tools, true),
                };
                let name = &phase.name;
                assert!(named.iter().all(|tool| TOOLS.contains(&&**tool)), "{name}");
                // grep and find are off by default, so bash is needed.
                let can_read = ["read", "bash"]
                    .iter()
                    .all(|tool| named.iter().any(|named| named == tool));
                assert!(can_read || !reading, "{name}");
            }
        }
    }
}

#[test]
fn every_phase_says_how_to_leave_it_and_none_requires_subagents() {
    for template in templates() {
        let loaded = template.load(Language::Yaml);
        let started: Vec<&Workflow> = loaded.catalog.startable().collect();
        assert!(
            started[0].templates.role_instruction.is_some(),
            "{}",
            template.name
        );
        for (path, text) in template.files {
            let text = text.to_lowercase();
            assert!(
                !text.contains("subagent") && !text.contains("delegate"),
                "{path}"
            );
            if Path::new(path).extension() == Some("md".as_ref()) {
                assert!(text.contains("action \"next\""), "{}/{path}", template.name);
            }
        }
        for workflow in loaded.catalog.iter().filter(|workflow| !workflow.loopable) {
            let looping = workflow.phases.iter().any(|entry| match entry {
                PhaseEntry::Phase(phase) => phase.instructions.contains("\"loop\""),
                PhaseEntry::Subworkflow(_) => false,
            });
            assert!(!looping, "{} asks for a loop that it forbids", workflow.key);
        }
    }
}

#[test]
fn the_purpose_of_a_template_is_a_sentence() {
    for template in templates() {
        let about = template.about();
        assert!(about.ends_with('.') && about.len() < 100, "{about}");
        let definitions = template
            .files
            .iter()
            .filter(|(path, _)| path.starts_with("workflow."));
        for (path, text) in definitions {
            assert!(text.lines().next().unwrap().ends_with(about), "{path}");
        }
    }
}
