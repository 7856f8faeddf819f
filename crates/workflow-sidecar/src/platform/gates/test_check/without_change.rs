//! The tests at the commit at the start of the run: which were skipped there, and whether new ones fail there.

use std::fs;
use std::path::Path;

use super::base_tree::BaseTree;
use super::formats::{Outcome, TestRun};
use super::{Ran, TestCheck, names, number, test_module};
use crate::platform::gates::report::NotPassed;
use crate::platform::git::{ChangedFile, Configuration, Git, GitOperation, PrivateDirectory};
use crate::platform::process::CheckError;

/// The tests that were changed since the start of the run.
#[derive(Default)]
struct ChangedTests {
    files: Vec<ChangedFile>,
    /// Source files whose modules of tests are carried: their paths and texts.
    modules: Vec<(String, String)>,
    /// New source files, whose tests cannot run without them.
    impossible: Vec<String>,
}

impl TestCheck<'_> {
    /// Compares the tests of the project with those of the commit at the start of the run; returns what is said of it.
    pub(super) fn compare(&self, here: &TestRun) -> Result<String, NotPassed> {
        let fails_without_change = self.expected.fails_without_change;
        let compares_skips = self.expected.no_new_skips && here.skipped > 0;
        if !fails_without_change && !compares_skips {
            return Ok(String::new());
        }
        let Some(commit) = self.job.start.as_deref() else {
            let reason = "the commit at the start of the run is not known: the project needs a git repository with a commit when the run starts";
            return Err((CheckError::NoBaseline, reason.to_owned()).into());
        };
        let git = Git {
            end: Some(self.end),
            ..Git::new(&self.job.cwd, self.monitor)
        };
        let agent_dir = self.job.agent_dir.as_deref();
        let configuration = Configuration::read_allowed(GitOperation::Compare, git, agent_dir)?;
        let directory = PrivateDirectory::make(&configuration, GitOperation::Compare, &[])?;
        let changed = directory.changed_since(git, commit)?;
        let (files, others) = self.test_files(&directory, changed);
        let tree = BaseTree::make(&directory, git)?;
        let tests = find_modules(&tree, directory.root(), files, &others);
        if fails_without_change && tests.is_empty() {
            let reason = "no file of tests was changed since the start of the run, so nothing shows that the tests see the change";
            return Err(NotPassed::failed(reason));
        }
        let base = self.run(&tree.cwd, &tree.environment)?;
        let base = sound(&base)?;
        if compares_skips {
            compare_skips(here, base)?;
        }
        if !fails_without_change {
            return Ok(String::new());
        }
        tests.carry(&tree, directory.root())?;
        let without = self.run(&tree.cwd, &tree.environment)?;
        let time =
            match base.compiling + without.tests.as_ref().map_or(0.0, |tests| tests.compiling) {
                0.0 => String::new(),
                seconds => format!(" (compiling there took {seconds:.1} s)"),
            };
        Ok(format!("; {}{time}", proved(here, &without, &tests)?))
    }

    /// Divides changed files into those of tests and the others.
    fn test_files(
        &self,
        directory: &PrivateDirectory,
        changed: Vec<ChangedFile>,
    ) -> (Vec<ChangedFile>, Vec<ChangedFile>) {
        let is_test = self.expected.test_files();
        let project = self.job.cwd.canonicalize().unwrap_or_default();
        let below = project
            .strip_prefix(directory.root())
            .unwrap_or(Path::new(""));
        changed.into_iter().partition(|file| {
            let path = Path::new(&file.path).strip_prefix(below);
            path.ok().and_then(Path::to_str).is_some_and(&is_test)
        })
    }
}

/// Finds the modules of tests in the source files that are changed.
fn find_modules(
    tree: &BaseTree,
    project: &Path,
    files: Vec<ChangedFile>,
    others: &[ChangedFile],
) -> ChangedTests {
    let mut tests = ChangedTests {
        files,
        ..ChangedTests::default()
    };
    let sources = others.iter().filter(|file| {
        Path::new(&file.path)
            .extension()
            .is_some_and(|end| end == "rs")
            && !file.is_gone
    });
    for ChangedFile { path, .. } in sources {
        let Ok(now) = fs::read_to_string(project.join(path)) else {
            continue;
        };
        match tree.text(path) {
            Some(base) => {
                let carried = test_module::carried(&base, &now);
                tests
                    .modules
                    .extend(carried.map(|text| (path.clone(), text)));
            }
            None if test_module::has_one(&now) => tests.impossible.push(path.clone()),
            None => {}
        }
    }
    tests
}

impl ChangedTests {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.modules.is_empty() && self.impossible.is_empty()
    }

    fn carry(&self, tree: &BaseTree, project: &Path) -> Result<(), NotPassed> {
        for file in &self.files {
            tree.carry(project, file)?;
        }
        for (path, text) in &self.modules {
            tree.write(path, text)?;
        }
        Ok(())
    }

    fn paths(&self) -> String {
        let modules = self.modules.iter().map(|(path, _)| &**path);
        names(self.files.iter().map(|file| &*file.path).chain(modules))
    }
}

/// Returns the tests of the base, which must pass; that there are none yet is no failure.
fn sound(base: &Ran) -> Result<&TestRun, NotPassed> {
    let code = base.finished.status("it")?.code();
    match &base.tests {
        Ok(tests) if code == Some(0) && tests.failed == 0 && tests.broken == 0 => Ok(tests),
        Ok(tests) if tests.executed() == 0 && tests.broken == 0 => Ok(tests),
        tests => {
            let why = match (tests, code) {
                (Err(reason), Some(0)) => reason.clone(),
                (_, Some(code)) => {
                    format!("its tests fail, or it does not build (exit code {code})")
                }
                (_, None) => "its tests were ended by a signal".to_owned(),
            };
            let reason =
                format!("without any change of the run, at the commit at its start: {why}");
            Err(NotPassed {
                shown: base.finished.tail.clone(),
                ..(CheckError::Start, reason).into()
            })
        }
    }
}

fn compare_skips(here: &TestRun, base: &TestRun) -> Result<(), NotPassed> {
    let is_new = |name: &&String| base.named.get(*name) != Some(&Outcome::Skipped);
    let skipped = with(here, Outcome::Skipped);
    let is_named = skipped.len() >= here.skipped;
    let new: Vec<&str> = skipped
        .iter()
        .filter(|name| is_new(name))
        .map(|name| &***name)
        .collect();
    let (count, list) = if is_named {
        (new.len(), format!(": {}", names(new.into_iter())))
    } else {
        (here.skipped.saturating_sub(base.skipped), String::new())
    };
    if count == 0 {
        return Ok(());
    }
    let are = if count == 1 { "test is" } else { "tests are" };
    let reason = format!("{count} {are} skipped now and not at the start of the run{list}");
    Err(NotPassed::failed(reason))
}

/// Says which tests fail without the change.
fn proved(here: &TestRun, without: &Ran, tests: &ChangedTests) -> Result<String, NotPassed> {
    let code = without.finished.status("it")?.code();
    let shown = |not_passed: NotPassed| NotPassed {
        shown: without.finished.tail.clone(),
        ..not_passed
    };
    let failed = without
        .tests
        .as_ref()
        .map(|run| (with(run, Outcome::Failed), run.failed, run.broken));
    let (failed, count, broken) = failed.unwrap_or_default();
    // A test that failed there must be one that ran here.
    let ran = |name: &&&String| {
        matches!(
            here.named.get(**name),
            Some(Outcome::Passed | Outcome::Failed)
        )
    };
    let proving: Vec<&str> = failed.iter().filter(ran).map(|name| &***name).collect();
    if !proving.is_empty() {
        let list = names(proving.iter().copied());
        return Ok(format!(
            "{} without the change: {list}",
            fail(proving.len())
        ));
    }
    if let [first, ..] = *failed
        && broken == 0
    {
        let reason = format!(
            "{} fails without the change, but it did not run with it",
            names([&**first].into_iter())
        );
        return Err(shown(NotPassed::failed(reason)));
    }
    if count > 0 {
        return Ok(format!("{} without the change", fail(count)));
    }
    if broken > 0 || (without.tests.is_err() && code != Some(0)) {
        return Ok("without the change, the changed tests cannot be loaded or compiled".to_owned());
    }
    if let [first, ..] = &*tests.impossible {
        let reason = format!(
            "{first} is new, and the tests in it cannot run at the commit at the start of the run: test it in a file of its own, in `tests/`"
        );
        return Err((CheckError::Start, reason).into());
    }
    let reason = format!(
        "no test fails without the change: with only {} changed, all pass at the commit at the start of the run",
        tests.paths()
    );
    Err(shown(NotPassed::failed(reason)))
}

fn fail(count: usize) -> String {
    format!(
        "{} {}",
        number(count, "test"),
        if count == 1 { "fails" } else { "fail" }
    )
}

fn with(run: &TestRun, outcome: Outcome) -> Vec<&String> {
    let named = run.named.iter().filter(|(_, of)| **of == outcome);
    named.map(|(name, _)| name).collect()
}
