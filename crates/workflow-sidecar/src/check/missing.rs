//! What gates and approvals need and this project or machine does not have: programs, targets, scripts, directories, files.
//!
//! Nothing is run. Where a text alone does not decide, nothing is reported.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workflow_core::definition::{
    Check, Condition, FileCheck, Gate, KeyLocations, Loaded, PhaseEntry, RunCheck, Subject,
    TestsCheck, Tier,
};
use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity, few, shown};

use crate::files::{repository_root, text};
use crate::platform::missing_program;

/// Something that is missing, and what to do.
fn not_here(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NotHere, Severity::Warning, message).with_help(help)
}

/// Returns what the workflows of a project name and is not there. The user's own workflows are for any project.
pub(crate) fn missing(loaded: &Loaded, project: &Path) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for workflow in loaded.catalog.iter() {
        let Some(origin) = loaded.origins.workflows.get(&workflow.key) else {
            continue;
        };
        if origin.tier != Tier::Project {
            continue;
        }
        for (entry, at) in workflow.phases.iter().zip(&origin.entries) {
            let conditions = entry.when().iter().flat_map(Condition::comparisons);
            for fact in conditions.filter_map(|one| fact_without_git(&one.subject, project)) {
                let location = at.keys.of(&["when"]).cloned();
                all.push(fact.at(location).about(&workflow.key));
            }
            let PhaseEntry::Phase(phase) = entry else {
                continue;
            };
            let levels = [&at.keys, &origin.keys];
            let of_gate = phase.gate.iter().filter_map(|gate| {
                let found = of_check(&gate.check, project)?;
                Some((found, gate_location(gate, &levels)))
            });
            let of_approval = phase.approve.iter().filter_map(|approve| {
                let found = other_case(approve.show.as_deref()?, project)?;
                let keys = ["approve", "show"];
                let location = levels.iter().find_map(|level| level.of(&keys).cloned());
                Some((found, location))
            });
            for (found, location) in of_gate.chain(of_approval) {
                let found = found.at(location).about(&workflow.key);
                // The gate of a workflow is that of each of its phases.
                if !all.contains(&found) {
                    all.push(found);
                }
            }
        }
    }
    all
}

/// Reports each thing that is missing once, at the first place that needs it.
pub(crate) fn merged(all: impl Iterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut merged: Vec<(Diagnostic, Vec<String>)> = Vec::new();
    for found in all {
        let is_same =
            |other: &Diagnostic| other.code == found.code && other.message == found.message;
        let place = found.location.as_ref().map(Location::file_and_line);
        match merged.iter_mut().find(|(other, _)| is_same(other)) {
            Some((_, places)) => places.extend(place),
            None => merged.push((found, Vec::new())),
        }
    }
    let with_places = |(found, places): (Diagnostic, Vec<String>)| match &found.help {
        Some(help) if !places.is_empty() => {
            let help = format!("{help}; also at {}", few(&places, 2));
            found.with_help(help)
        }
        _ => found,
    };
    merged.into_iter().map(with_places).collect()
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
    if run.shell {
        return None;
    }
    of_command(&run.command, &directory, project)
}

/// Returns why a command cannot do its work in a directory of a project.
fn of_command(command: &[String], directory: &Path, project: &Path) -> Option<Diagnostic> {
    let (program, arguments) = command.split_first()?;
    if let Some(message) = missing_program(program, directory) {
        return Some(not_here(message, "correct `run`, or install the program"));
    }
    match program.as_str() {
        "make" | "gmake" => of_make(arguments, directory),
        "npm" | "pnpm" | "yarn" => of_script(program, arguments, directory, project),
        _ => None,
    }
}

/// A target that a simple makefile does not have.
fn of_make(arguments: &[String], directory: &Path) -> Option<Diagnostic> {
    let (options, words): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|word| word.starts_with('-'));
    let known = ["-s", "-k", "--silent"];
    let mut options = options.into_iter();
    if !options.all(|option| known.contains(&&**option) || option.starts_with("-j")) {
        return None;
    }
    let mut targets = words.into_iter().filter(|word| !word.contains('='));
    let makefiles = ["GNUmakefile", "makefile", "Makefile"];
    let mut texts = makefiles
        .iter()
        .filter_map(|name| text(&directory.join(name)).transpose());
    let Some(text) = texts.next() else {
        return Some(not_here(
            format!("there is no Makefile in `{}`", name_of(directory)),
            "correct `run`, or write the Makefile",
        ));
    };
    let text = text.ok()?;
    let known = makefile_targets(&text)?;
    let missing = targets.find(|target| !known.contains(&target.as_str()))?;
    Some(not_here(
        format!("the Makefile has no target `{}`", shown(missing)),
        "correct `run`, or write the target",
    ))
}

/// Returns the targets of a makefile; `None` if it may have others.
fn makefile_targets(text: &str) -> Option<Vec<&str>> {
    let mut targets = Vec::new();
    for line in text.lines() {
        let directive = line.split_whitespace().next().unwrap_or_default();
        if ["include", "-include", "sinclude", "define"].contains(&directive) {
            return None;
        }
        // What it continues with is a part of it.
        if line.ends_with('\\') && !line.starts_with('\t') {
            return None;
        }
        let Some((head, rest)) = line.split_once(':') else {
            continue;
        };
        if line.starts_with(['\t', '#']) || rest.starts_with('=') || rest.starts_with(":=") {
            continue;
        }
        // Patterns and variables are targets that only make knows.
        if head.contains(['%', '$']) || head.starts_with(".DEFAULT") {
            return None;
        }
        targets.extend(head.split_whitespace());
    }
    Some(targets)
}

/// A script that the `package.json` of a directory, or of one around it in the project, does not have.
fn of_script(
    program: &str,
    arguments: &[String],
    directory: &Path,
    project: &Path,
) -> Option<Diagnostic> {
    // What follows is for the script.
    let words = arguments.iter().map(String::as_str);
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let script = match *words {
        // An option may name another package.
        _ if words.iter().any(|word| word.starts_with('-')) => return None,
        ["test" | "t", ..] => "test",
        // Yarn also runs the programs of packages.
        ["run" | "run-script", script, ..] if program != "yarn" => script,
        _ => return None,
    };
    let around = directory
        .ancestors()
        .take_while(|around| around.starts_with(project));
    let mut texts = around.filter_map(|around| text(&around.join("package.json")).transpose());
    let Some(text) = texts.next() else {
        return Some(not_here(
            format!("there is no package.json in `{}`", name_of(directory)),
            "correct `run`, or write the package.json",
        ));
    };
    let package: Value = serde_json::from_str(&text.ok()?).ok()?;
    let name = shown(script);
    match package.pointer("/scripts").and_then(|all| all.get(script)) {
        None => Some(not_here(
            format!("the package.json has no script `{name}`"),
            format!("correct `run`, or add the script for `{program} run {name}`"),
        )),
        // What `npm init` writes.
        Some(Value::String(line)) if line.contains("no test specified") => Some(not_here(
            format!("the script `{name}` of the package.json only says that there are no tests"),
            "write the command that runs the tests into the package.json",
        )),
        Some(_) => None,
    }
}

/// A file that is a directory, or that has another case.
fn of_file(check: &FileCheck, project: &Path) -> Option<Diagnostic> {
    if project.join(&check.path).is_dir() {
        let path = shown(&check.path);
        let message = format!("`{path}` is a directory, which never passes as a file");
        let found = Diagnostic::new(Code::DeadPath, Severity::Error, message);
        return Some(found.with_help(format!(
            "name a file in it: `{path}/plan.md`, or any: `{path}/*`"
        )));
    }
    other_case(&check.path, project)
}

/// A file that is there in another case only. One that is not there at all may be what the agent writes.
fn other_case(path: &str, project: &Path) -> Option<Diagnostic> {
    let full: PathBuf = project.join(path);
    if full.exists() {
        return None;
    }
    let name = full.file_name()?.to_str()?.to_lowercase();
    let entries = fs::read_dir(full.parent()?).ok()?;
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let near = names.find(|near| near.to_lowercase() == name)?;
    Some(not_here(
        format!(
            "there is no `{}`: the file is named `{}`",
            shown(path),
            shown(&near)
        ),
        "write the name as the file has it",
    ))
}

fn name_of(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or(directory.as_os_str());
    shown(&name.to_string_lossy())
}

#[cfg(test)]
mod tests {
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

    /// What is missing for the words of a command. Its program is taken to be there.
    fn message(files: &[(&str, &str)], line: &str) -> Option<String> {
        let project = project(files);
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found = match &*words[0] {
            "make" => of_make(&words[1..], project.path()),
            program => of_script(program, &words[1..], project.path(), project.path()),
        };
        found.map(|found| found.message)
    }

    #[test]
    fn a_target_that_a_plain_makefile_does_not_have_is_missing() {
        let makefile = [(
            "Makefile",
            "X := 1\n.PHONY: all\nall check: x\n\techo a:b\ntest:\n\ttrue\n",
        )];
        assert_eq!(message(&makefile, "make test"), None);
        assert_eq!(message(&makefile, "make -s check X=2"), None);
        assert_eq!(message(&makefile, "make"), None);
        assert_eq!(
            message(&makefile, "make tests").as_deref(),
            Some("the Makefile has no target `tests`")
        );
        assert!(
            message(&[], "make test")
                .unwrap()
                .starts_with("there is no Makefile")
        );
        for unclear in [
            "include x.mk\n",
            "%.o: %.c\n",
            "$(ALL): x\n",
            ".DEFAULT:\n\ttrue\n",
            "a \\\n  test: x\n",
        ] {
            assert_eq!(
                message(&[("Makefile", unclear)], "make test"),
                None,
                "{unclear}"
            );
        }
        assert_eq!(message(&[], "make -C sub test"), None);
        let latin = project(&[]);
        fs::write(latin.path().join("Makefile"), b"# \xe9\n").unwrap();
        assert!(of_make(&["test".to_owned()], latin.path()).is_none());
    }

    #[test]
    fn a_script_that_the_package_does_not_have_is_missing() {
        let package = [(
            "package.json",
            r#"{"scripts": {"lint": "x", "test": "vitest"}}"#,
        )];
        assert_eq!(message(&package, "npm test"), None);
        assert_eq!(message(&package, "pnpm run lint"), None);
        assert_eq!(message(&package, "npm run nothing --if-present"), None);
        for elsewhere in [
            "npm --prefix x test",
            "npm t --prefix x",
            "npm test -w api",
            "npm run build --workspace=web",
            "yarn run tsc",
        ] {
            assert_eq!(message(&[], elsewhere), None, "{elsewhere}");
        }
        assert_eq!(
            message(&package, "npm run build").as_deref(),
            Some("the package.json has no script `build`")
        );
        let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert!(message(&[("package.json", placeholder)], "npm test").is_some());
        assert!(message(&[], "npm test -- -w api").is_some());
    }

    #[test]
    fn a_fact_of_the_change_misses_the_repository() {
        let project = tempfile::tempdir().unwrap();
        let subject = Subject::Change(workflow_core::definition::Fact::Lines);
        assert!(fact_without_git(&subject, project.path()).is_some());
        let visits = Subject::Visits("a".to_owned());
        assert_eq!(fact_without_git(&visits, project.path()), None);
        fs::create_dir(project.path().join(".git")).unwrap();
        assert_eq!(fact_without_git(&subject, project.path()), None);
    }

    #[test]
    fn tests_that_compare_with_a_commit_miss_the_repository() {
        let project = tempfile::tempdir().unwrap();
        let mut tests = TestsCheck::default();
        assert_eq!(without_git(&tests, project.path()), None);
        tests.no_new_skips = true;
        assert!(without_git(&tests, project.path()).is_some());
        fs::create_dir(project.path().join(".git")).unwrap();
        assert_eq!(without_git(&tests, project.path()), None);
    }

    #[test]
    fn a_program_or_a_directory_that_is_not_there_is_missing() {
        let project = project(&[("scripts/test", ""), ("api/x", "")]);
        let found = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            of_command(&words, project.path(), project.path()).is_some()
        };
        assert!(!found(&["./scripts/test"]));
        assert!(found(&["./scripts/tests"]));
        assert!(found(&["no-such-program-at-all", "x"]));
    }

    #[test]
    fn a_file_in_another_case_and_a_directory_are_reported_and_one_to_be_written_is_not() {
        let project = project(&[("CHANGELOG.md", ""), ("docs/a.md", "")]);
        let found = |path: &str| {
            let path = path.to_owned();
            let check = FileCheck {
                path,
                changed: None,
            };
            of_file(&check, project.path()).map(|found| found.code == Code::DeadPath)
        };
        assert_eq!(found("docs"), Some(true));
        assert_eq!(found("changelog.md"), Some(false));
        assert_eq!(found("CHANGELOG.md"), None);
        assert_eq!(found("docs/plan.md"), None);
    }
}
