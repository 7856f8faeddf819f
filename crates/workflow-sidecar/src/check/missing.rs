//! What gates and conditions need and this project or machine does not have: programs, directories, a git repository.
//!
//! Nothing is run. What only the program knows, such as its targets, its end at the gate says.

use std::path::Path;

use workflow_core::definition::{
    Check, Condition, FileCheck, Gate, KeyLocations, Loaded, RunCheck, Subject, TestsCheck, Tier,
};
use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity, shown};

use crate::files::repository_root;
use crate::platform::missing_program;

/// Something that is missing, and what to do.
fn not_here(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NotHere, Severity::Warning, message).with_help(help)
}

/// Returns what the workflows of a project name and is not there. The user's own workflows are for any project.
pub(crate) fn missing(loaded: &Loaded, project: &Path) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for workflow in loaded.catalog.iter() {
        let origin = loaded.origins.workflows.get(&workflow.key);
        let Some(origin) = origin.filter(|origin| origin.tier == Tier::Project) else {
            continue;
        };
        let entries = workflow.phases.iter().zip(&origin.entries);
        for (entry, at) in entries.clone() {
            let conditions = entry.when().iter().flat_map(Condition::comparisons);
            let facts = conditions.filter_map(|one| fact_without_git(&one.subject, project));
            let location = at.keys.of(&["when"]).cloned();
            all.extend(facts.map(|found| found.at(location.clone()).about(&workflow.key)));
        }
        for (phase, at) in entries.filter_map(|(entry, at)| Some((entry.phase()?, at))) {
            for gate in &phase.gate {
                let location = gate_location(gate, &[&at.keys, &origin.keys]);
                let found = of_check(&gate.check, project);
                let found = found.map(|found| found.at(location).about(&workflow.key));
                // The gate of a workflow is that of each of its phases.
                let new = found.filter(|found| !all.contains(found));
                all.extend(new);
            }
        }
    }
    all
}

/// Reports each thing that is missing once, at the first place that needs it.
pub(crate) fn merged(all: impl Iterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut merged: Vec<Diagnostic> = Vec::new();
    for found in all {
        let what = |found: &Diagnostic| (found.code, found.message.clone());
        if !merged.iter().any(|other| what(other) == what(&found)) {
            merged.push(found);
        }
    }
    merged
}

/// The location of a check, which knows its file and line.
fn gate_location(gate: &Gate, levels: &[&KeyLocations; 2]) -> Option<Location> {
    let checks = levels.iter().flat_map(|level| level.items("gate"));
    let mut checks = checks.filter(|location| location.file_and_line() == gate.source);
    checks.next().cloned()
}

fn of_check(check: &Check, project: &Path) -> Option<Diagnostic> {
    match check {
        Check::Run(run) => of_run(run, project),
        Check::Tests(tests) => {
            of_run(&tests.command, project).or_else(|| without_git(tests, project))
        }
        Check::File(file) => of_file(file, project),
        Check::Git(_) => None,
    }
}

/// Tests that are compared with a commit, where there is no repository.
fn without_git(tests: &TestsCheck, project: &Path) -> Option<Diagnostic> {
    (tests.compares() && repository_root(project).is_none()).then(|| {
        let message = "`tests` compares with the files at the start of the run, and there is no git repository";
        not_here(message, "make one, or remove `failsWithoutChange` and `noNewSkips`")
    })
}

/// A fact of what was changed, where there is no repository.
fn fact_without_git(subject: &Subject, project: &Path) -> Option<Diagnostic> {
    (matches!(subject, Subject::Change(_)) && repository_root(project).is_none()).then(|| {
        let message = format!(
            "`{subject}` is measured by git, and there is no git repository: it always holds"
        );
        not_here(message, "make one, or remove the condition")
    })
}

fn of_run(run: &RunCheck, project: &Path) -> Option<Diagnostic> {
    let directory = match &run.cwd {
        Some(cwd) => project.join(cwd),
        None => project.to_path_buf(),
    };
    // Only a run knows the values.
    if !run.values.is_empty() {
        return None;
    }
    if !directory.is_dir() {
        let cwd = shown(run.cwd.as_deref().unwrap_or_default());
        return Some(not_here(
            format!("there is no directory `{cwd}`"),
            "correct `cwd`, which is relative to the project",
        ));
    }
    // What a line of a shell runs is for the shell to find.
    let program = run.command.first().filter(|_| !run.shell)?;
    let message = missing_program(program, &directory)?;
    Some(not_here(message, "correct `run`, or install the program"))
}

/// A file that is a directory. One that is not there may be what the agent writes.
fn of_file(check: &FileCheck, project: &Path) -> Option<Diagnostic> {
    project.join(&check.path).is_dir().then(|| {
        let path = shown(&check.path);
        let message = format!("`{path}` is a directory, which never passes as a file");
        let found = Diagnostic::new(Code::DeadPath, Severity::Error, message);
        found.with_help(format!(
            "name a file in it: `{path}/plan.md`, or any: `{path}/*`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = project.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    #[test]
    fn what_is_measured_by_git_misses_the_repository() {
        let project = tempfile::tempdir().unwrap();
        let subject = Subject::Change(workflow_core::definition::Fact::Lines);
        let visits = Subject::Visits("a".to_owned());
        let mut tests = TestsCheck::default();
        assert_eq!(without_git(&tests, project.path()), None);
        tests.no_new_skips = true;
        assert!(without_git(&tests, project.path()).is_some());
        assert!(fact_without_git(&subject, project.path()).is_some());
        assert_eq!(fact_without_git(&visits, project.path()), None);
        fs::create_dir(project.path().join(".git")).unwrap();
        assert_eq!(fact_without_git(&subject, project.path()), None);
        assert_eq!(without_git(&tests, project.path()), None);
    }

    #[test]
    fn a_program_or_a_directory_that_is_not_there_is_missing() {
        let project = project(&[("scripts/test", ""), ("api/x", "")]);
        let found = |program: &str, cwd: Option<&str>| {
            let run = RunCheck {
                command: vec![program.to_owned()],
                cwd: cwd.map(str::to_owned),
                ..RunCheck::default()
            };
            of_run(&run, project.path()).is_some()
        };
        assert!(!found("./scripts/test", None));
        assert!(found("./scripts/tests", None));
        assert!(found("no-such-program-at-all", None));
        assert!(found("sh", Some("web")) && !found("sh", Some("api")));
    }

    #[test]
    fn a_directory_in_the_place_of_a_file_is_reported_and_a_file_to_be_written_is_not() {
        let project = project(&[("docs/a.md", "")]);
        let found = |path: &str| {
            let path = path.to_owned();
            let check = FileCheck {
                path,
                changed: None,
            };
            of_file(&check, project.path()).map(|found| found.code)
        };
        assert_eq!(found("docs"), Some(Code::DeadPath));
        assert_eq!(found("docs/a.md"), None);
        assert_eq!(found("docs/plan.md"), None);
    }
}
