//! Limits on definitions: below and at one they load, above it the diagnostic names it with a hint.

use workflow_core::definition::{Loaded, MemoryFiles, Tier, load};
use workflow_core::diagnostic::Code;
use workflow_core::template::{MAX_RESOLVED, resolve};

/// A separate phase file.
fn phase(number: usize) -> String {
    format!("---\nid: a{number}\nname: A\nemoji: a\n---\nGo.")
}

/// A workflow with so many phase entries.
fn workflow(phases: usize) -> String {
    let entries: Vec<String> = (0..phases)
        .map(|number| format!("../a{number}.md"))
        .collect();
    format!(
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: [{}]\n",
        entries.join(", ")
    )
}

fn files(settings: &str, workflow: &str) -> MemoryFiles {
    let mut files = MemoryFiles::new()
        .with_settings(Tier::Project, settings)
        .with(Tier::Project, "w/workflow.yaml", workflow);
    for number in 0..=workflow.matches(".md").count() {
        files = files.with(Tier::Project, &format!("a{number}.md"), phase(number));
    }
    files
}

/// Returns whether the workflow loaded. One that did not has a reason and a hint.
fn loads(files: &MemoryFiles, code: Code) -> bool {
    let loaded: Loaded = load(files);
    if loaded.catalog.get("w").is_some() {
        let found = loaded.diagnostics.iter().any(|found| found.code == code);
        assert!(!found, "{:?}", loaded.diagnostics);
        return true;
    }
    let found = loaded.diagnostics.iter().find(|found| found.code == code);
    let found = found.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    assert!(found.help.as_ref().is_some_and(|help| !help.is_empty()));
    false
}

/// Below, at and above a limit.
fn around(limit: usize, code: Code, files: impl Fn(usize) -> MemoryFiles) {
    let found = [limit - 1, limit, limit + 1].map(|size| loads(&files(size), code));
    assert_eq!(found, [true, true, false]);
}

#[test]
fn a_file_has_a_length() {
    let filled = |size: usize| {
        let start = workflow(1) + "# ";
        format!("{start}{}", "x".repeat(size - start.len()))
    };
    around(2000, Code::FileTooLarge, |size| {
        files("{limits: {maxFileBytes: 2000}}", &filled(size))
    });
    around(1 << 20, Code::FileTooLarge, |size| {
        files("{}", &filled(size))
    });
}

#[test]
fn all_files_together_have_a_length() {
    let settings = "{limits: {maxTotalBytes: 5000}}";
    around(5000, Code::OverLimit, |size| {
        let start = workflow(1) + "# ";
        let rest = size - phase(0).len() - start.len();
        files(settings, &format!("{start}{}", "x".repeat(rest)))
    });
}

#[test]
fn a_workflow_has_so_many_phases() {
    around(5, Code::OverLimit, |size| {
        files("{limits: {maxPhases: 5}}", &workflow(size))
    });
    around(1000, Code::OverLimit, |size| files("{}", &workflow(size)));
}

#[test]
fn a_file_has_so_many_levels() {
    around(10, Code::OverLimit, |size| {
        // The map of the file is a level too.
        let (open, close) = ("[".repeat(size - 1), "]".repeat(size - 1));
        let deep = format!("{}deep: {open}{close}\n", workflow(1));
        files("{limits: {maxDepth: 10}}", &deep)
    });
}

#[test]
fn subworkflows_are_nested_so_often() {
    around(4, Code::NestedTooDeep, |levels| {
        let mut files = MemoryFiles::new()
            .with_settings(Tier::Project, "{limits: {maxNesting: 4}}")
            .with(Tier::Project, "a.md", phase(0));
        for level in 0..=levels {
            let key = if level == 0 {
                "w".to_owned()
            } else {
                format!("w{level}")
            };
            let entry = if level == levels {
                "../a.md".to_owned()
            } else {
                format!("{{subworkflow: w{}}}", level + 1)
            };
            let text =
                format!("name: W\ncommandName: {key}\ninitialMessage: Go\nphases: [{entry}]\n");
            files = files.with(Tier::Project, &format!("{key}/workflow.yaml"), text);
        }
        files
    });
}

#[test]
fn a_tier_has_so_many_directories() {
    around(3, Code::OverLimit, |count| {
        let mut files = files("{limits: {maxWorkflows: 3}}", &workflow(1));
        for at in 1..count {
            // Before `w`, so that `w` is the one too many.
            let text = workflow(1).replace("commandName: w", &format!("commandName: a{at}"));
            files = files.with(Tier::Project, &format!("a{at}/workflow.yaml"), text);
        }
        files
    });
}

#[test]
fn limits_can_be_raised_so_far() {
    let loaded = |bytes: u64| {
        load(&files(
            &format!("{{limits: {{maxFileBytes: {bytes}}}}}"),
            &workflow(1),
        ))
    };
    assert!(loaded(16 << 20).diagnostics.is_empty());
    let found = &loaded((16 << 20) + 1).diagnostics;
    assert_eq!(found[0].code, Code::LimitTooHigh);
}

#[test]
fn a_template_becomes_so_long() {
    for (size, is_cut) in [
        (MAX_RESOLVED - 1, false),
        (MAX_RESOLVED, false),
        (MAX_RESOLVED + 1, true),
    ] {
        let value = "y".repeat(size);
        let resolved = resolve("{a}", |_| Some(&value));
        assert_eq!(
            resolved.ends_with("[cut: this text is longer than 4 MiB]"),
            is_cut
        );
        assert_eq!(resolved.matches('y').count(), size.min(MAX_RESOLVED));
    }
}

#[test]
fn a_settings_file_has_so_many_triggers() {
    let watched = [31, 32, 33, 1000].map(|count| {
        let triggers = |number| format!("{{file: 'in-{number}', prompt: '{{content}}'}}");
        let triggers: Vec<String> = (0..count).map(triggers).collect();
        let settings = format!("{{triggers: [{}]}}", triggers.join(", "));
        let loaded = load(&files(&settings, &workflow(1)));
        let found = loaded.diagnostics.iter();
        let found: Vec<_> = found
            .filter(|found| found.code == Code::OverLimit)
            .collect();
        assert!(found.iter().all(|found| found.help.is_some()), "{found:?}");
        (loaded.settings.triggers.len(), found.len())
    });
    assert_eq!(watched, [(31, 0), (32, 0), (32, 1), (32, 1)]);
    let good = "{file: 'a', prompt: 'b'},".repeat(32);
    let settings = format!("{{triggers: [{{}}, {good}]}}");
    let loaded = load(&files(&settings, &workflow(1)));
    assert_eq!(
        loaded.settings.triggers.len(),
        31,
        "the last one is not read"
    );
}
