//! The tests with the files at the start of the run, or the item of a loop: which ran there, and whether new ones fail there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::base_tree::{BaseTree, text_below};
use super::formats::{Outcome, TestRun, own_name};
use super::{Ran, TestCheck, list, test_module};
use crate::platform::gates::report::{Checked, NotPassed};
use crate::platform::git::{Git, GitOperation, PrivateDirectory};
use crate::platform::process::CheckError;

/// The name of the file that describes a package of Rust.
const MANIFEST: &str = "Cargo.toml";

/// The tests that were changed since the start of the run.
#[derive(Default)]
struct ChangedTests {
    /// The files that are put into the tree, with their texts where they are not those of the project.
    files: BTreeMap<String, Option<String>>,
    /// New source files whose modules no file of the base can take.
    impossible: Vec<String>,
}

impl TestCheck<'_> {
    /// Compares the tests of the project with those at the start of the run; returns what is said of it.
    pub(super) fn compare(&self, here: &TestRun) -> Result<String, NotPassed> {
        let skips = self.expected.no_new_skips;
        let proves = self.expected.fails_without_change;
        if !skips && !proves {
            return Ok(String::new());
        }
        let unknown = || {
            let reason = "the files at the start of the run are not known: make a git repository of the project, and start the run again";
            (CheckError::Missing, reason.to_owned())
        };
        let start = self.job.start.as_deref().ok_or_else(unknown)?;
        let git = Git {
            end: Some(self.end),
            ..Git::new(&self.job.cwd, self.monitor)
        };
        let agent_dir = self.job.agent_dir.as_deref();
        let directory = PrivateDirectory::allowed(GitOperation::Compare, git, agent_dir)?;
        let (changed, is_commit) = directory.changed_since(git, start)?;
        let tree = BaseTree::make(&directory, git)?;
        let tests = self.changed_tests(&tree, directory.root(), &changed);
        if proves && tests.files.is_empty() && tests.impossible.is_empty() {
            let reason = "no file of tests was changed since the start of the run, so nothing shows that the tests see the change";
            return Err(NotPassed::failed(reason));
        }
        let base = self.run(&tree.cwd, &tree.environment)?;
        let base = &sound(&base)?;
        if skips {
            compare_skips(here, base)?;
        }
        let (mut said, mut passing) = (String::new(), None);
        if proves {
            for (path, text) in &tests.files {
                match text {
                    Some(text) => tree.write(path, text)?,
                    None => tree.carry(directory.root(), path)?,
                }
            }
            let without = self.run(&tree.cwd, &tree.environment)?;
            said = proved(here, base, &without, &tests)?;
            let without = without.tests.unwrap_or_default();
            let compiling = without.compiling + base.compiling;
            passing = Some(without);
            if compiling > 0.0 {
                said = format!("{said} (compiling there took {compiling:.1} s)");
            }
        }
        if skips {
            compare_numbers(here, base, passing.as_ref())?;
        }
        if is_commit {
            said += "; what was changed before the run, and not committed, counts as changed in it";
        }
        Ok(said)
    }

    /// Finds the changed files of tests, and the modules of tests in other changed files.
    fn changed_tests(&self, tree: &BaseTree, root: &Path, changed: &[String]) -> ChangedTests {
        let is_test = self.expected.test_files();
        let project = self.job.cwd.canonicalize().unwrap_or_default();
        let below = project.strip_prefix(root).unwrap_or(Path::new(""));
        let mut tests = ChangedTests::default();
        for path in changed {
            let relative = Path::new(path).strip_prefix(below).ok();
            if relative.and_then(Path::to_str).is_some_and(&is_test) {
                tests.files.insert(path.clone(), None);
            } else if Path::new(path).extension() == Some(OsStr::new("rs"))
                && let Some(now) = text_below(root, path)
            {
                tests.add_modules(tree, root, path, &now);
            }
        }
        let manifests = changed.iter().filter(|path| path.ends_with(MANIFEST));
        manifests.for_each(|path| tests.add_package(tree, path));
        tests
    }
}

impl ChangedTests {
    /// Returns what tells whether a test of the start is in a file that was not changed. That is not known if the names do not
    /// begin with files, or if a file was changed that is of no test, such as one of data.
    fn unchanged(&self, here: &TestRun, base: &TestRun) -> impl Fn(&str) -> bool {
        let names = here.named.keys().chain(base.named.keys());
        let files: BTreeSet<&str> = names.map(|name| file_of(name)).collect();
        let is_of = |path: &str, file: &str| Path::new(path).ends_with(file);
        let changed = || self.files.keys();
        let is_known = changed().all(|path| files.iter().any(|file| is_of(path, file)));
        move |name| {
            let mut changed = changed();
            is_known && base.ran(name) && !changed.any(|path| is_of(path, file_of(name)))
        }
    }

    /// Adds the modules of tests of a source file of Rust. Those of a new one, which come last, go into the file of the
    /// module around it; in a new package, into its root, which has nothing else.
    fn add_modules(&mut self, tree: &BaseTree, root: &Path, path: &str, now: &str) {
        if let Some(base) = tree.text(path) {
            let carried = test_module::carried(&base, now);
            let carried = carried.map(|text| (path.to_owned(), Some(text)));
            self.files.extend(carried);
            return;
        }
        let file = Path::new(path);
        let module = match file.parent() {
            Some(directory) if file.ends_with("mod.rs") => directory,
            _ => file,
        };
        let name = module.file_stem().and_then(OsStr::to_str);
        let Some(modules) = test_module::alone(name.unwrap_or_default(), now) else {
            return;
        };
        let around = module.ancestors().skip(1).flat_map(|directory| {
            let files = ["mod.rs", "lib.rs", "main.rs"].map(|name| directory.join(name));
            files.into_iter().chain([directory.with_extension("rs")])
        });
        let around: Vec<String> = around
            .filter_map(|path| path.to_str().map(str::to_owned))
            .collect();
        let of_base = around.iter().find(|path| self.text(tree, path).is_some());
        let is_new_root = |path: &&String| {
            let is_root = ["lib.rs", "main.rs"]
                .iter()
                .any(|name| Path::new(path).ends_with(name));
            is_root && root.join(path).is_file()
        };
        if let Some(taken) = of_base.or_else(|| around.iter().find(is_new_root)) {
            let text = self.text(tree, taken);
            let text = text.unwrap_or_else(|| "fn main() {}\n".to_owned());
            self.files
                .insert(taken.clone(), Some(format!("{text}\n{modules}")));
        } else {
            self.impossible.push(path.to_owned());
        }
    }

    /// Returns the text that a file has in the tree, or gets there.
    fn text(&self, tree: &BaseTree, path: &str) -> Option<String> {
        let carried = self.files.get(path).cloned().flatten();
        carried.or_else(|| tree.text(path))
    }

    /// Adds the manifest of a new package that has tests, and the package to the members that the workspace of the base lists.
    fn add_package(&mut self, tree: &BaseTree, manifest: &str) {
        let package = Path::new(manifest).parent().unwrap_or(Path::new(""));
        let mut carried = self.files.keys();
        let has_tests = carried.any(|path| Path::new(path).starts_with(package));
        if tree.text(manifest).is_some() || !has_tests {
            return;
        }
        self.files.insert(manifest.to_owned(), None);
        for directory in package.ancestors().skip(1) {
            let workspace = directory.join(MANIFEST).to_string_lossy().into_owned();
            if let Some(text) = self.text(tree, &workspace) {
                let member = package.strip_prefix(directory).unwrap_or(package).display();
                let text = with_member(&text, &member.to_string());
                self.files.insert(workspace, Some(text));
                return;
            }
        }
    }
}

/// Adds a member to the list of a workspace, if there is one.
fn with_member(manifest: &str, member: &str) -> String {
    static LIST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*(?:workspace\.)?members\s*=\s*\[").expect("it is valid")
    });
    let listed = |list: &Captures<'_>| format!("{}\"{member}\", ", &list[0]);
    LIST.replace(manifest, listed).into_owned()
}

/// The file that the name of a test begins with, where it does.
fn file_of(name: &str) -> &str {
    let file = name.split_once(" > ").map_or(name, |(file, _)| file);
    file.split_once("::").map_or(file, |(file, _)| file)
}

/// Returns the tests of the base, which must pass; that there are none yet, or no package, is no failure.
fn sound(base: &Ran) -> Result<TestRun, NotPassed> {
    let why = match (&base.tests, base.finished.status("it")?.code()) {
        (Ok(tests), code)
            if tests.broken == 0
                && (tests.executed() == 0 || code == Some(0) && tests.failed == 0) =>
        {
            return Ok(tests.clone());
        }
        (Err(_), _) if base.has_no_package() => return Ok(TestRun::default()),
        (Err(reason), Some(0)) => reason.clone(),
        (_, Some(code)) => format!("its tests fail, or it does not build (exit code {code})"),
        (_, None) => "its tests were ended by a signal".to_owned(),
    };
    let reason = format!("without any change of the run, with the files at its start: {why}");
    Err(base.shown((CheckError::Start, reason).into()))
}

/// A test may be skipped only if it was skipped at the start, perhaps in another file or group.
fn compare_skips(here: &TestRun, base: &TestRun) -> Checked {
    let skipped: Vec<&str> = here.with(Outcome::Skipped).collect();
    let is_named = skipped.len() >= here.skipped;
    let before: Vec<&str> = base.with(Outcome::Skipped).collect();
    let new = only_in(&skipped, &before);
    let by_number = here.skipped.saturating_sub(base.skipped);
    let count = if is_named { new.len() } else { by_number };
    if count == 0 {
        return Ok(());
    }
    let list = list(&new, count);
    let reason =
        format!("skipped or expected to fail now, and not at the start of the run: {list}");
    Err(NotPassed::failed(reason))
}

/// As many tests must run as at the start. Where the changed tests have run without the change, a new one that did not
/// pass there stands for no other: that it could not be loaded shows nothing of it.
fn compare_numbers(here: &TestRun, base: &TestRun, without: Option<&TestRun>) -> Checked {
    let (before, new) = (base.ran_without(here), here.ran_without(base));
    let gone = only_in(&before, &new);
    let mut alone = only_in(&new, &before);
    alone.retain(|name| without.is_some_and(|run| run.named.get(*name) != Some(&Outcome::Passed)));
    let count = (base.executed() + alone.len()).saturating_sub(here.executed());
    if count == 0 {
        return Ok(());
    }
    let list = list(&gone, count);
    let reason = format!(
        "fewer tests run than at the start of the run, where a new one that does not pass without the change stands for no other; gone: {list}"
    );
    Err(NotPassed::failed(reason))
}

/// Returns the names that others do not have, perhaps in another file or group.
fn only_in<'a>(names: &[&'a str], others: &[&str]) -> Vec<&'a str> {
    let mut left = BTreeMap::<&str, usize>::new();
    for other in others {
        *left.entry(own_name(other)).or_default() += 1;
    }
    let mut names = names.to_vec();
    names.retain(|name| match left.get_mut(own_name(name)) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    });
    names
}

/// Says which tests fail without the change.
fn proved(
    here: &TestRun,
    base: &TestRun,
    without: &Ran,
    tests: &ChangedTests,
) -> Result<String, NotPassed> {
    let Some(code) = without.finished.status("it")?.code() else {
        let reason = "without the change, the tests were ended by a signal".to_owned();
        return Err(without.shown((CheckError::Start, reason).into()));
    };
    let run = without.tests.as_ref();
    let (failed, broken) = run.map_or((0, 0), |run| (run.failed, run.broken));
    let named = run.into_iter().flat_map(|run| run.with(Outcome::Failed));
    // A test that failed there must be one that ran here, and is new or changed.
    let is_unchanged = tests.unchanged(here, base);
    let counts = |name: &&str| here.ran(name) && !is_unchanged(name);
    let (proving, others): (Vec<&str>, Vec<&str>) = named.partition(counts);
    if proving.is_empty() && broken == 0 && !others.is_empty() {
        let others = list(&others, 0);
        let reason = format!(
            "without the change, these fail, but they did not run with it, or are as they were: {others}"
        );
        return Err(without.shown(NotPassed::failed(reason)));
    }
    if !proving.is_empty() || (others.is_empty() && failed > 0) {
        let proving = list(&proving, failed);
        return Ok(format!("; fails without the change: {proving}"));
    }
    if broken > 0 || (without.tests.is_err() && code != 0 && !without.has_no_package()) {
        let said = "; without the change, the changed tests cannot be loaded or compiled: they use what is not there, and that is all this shows";
        return Ok(said.to_owned());
    }
    if let [first, ..] = &*tests.impossible {
        let reason = format!(
            "{first} is new, and the tests in it cannot run with the files at the start of the run: test it in a file of its own, in `tests/`"
        );
        return Err((CheckError::Start, reason).into());
    }
    let changed: Vec<&str> = tests.files.keys().map(String::as_str).collect();
    let reason = format!(
        "no test fails without the change: with only {} changed since the start of the run, all pass",
        list(&changed, 0)
    );
    Err(without.shown(NotPassed::failed(reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_package_becomes_a_member_of_the_workspace_and_no_default() {
        let manifest =
            "# members = []\n[workspace]\ndefault-members = [\"a\"]\nmembers = [\n  \"a\"\n]\n";
        let expected = manifest.replace("\nmembers = [", "\nmembers = [\"b\", ");
        assert_eq!(with_member(manifest, "b"), expected);
        assert_eq!(with_member("[package]\n", "b"), "[package]\n");
    }
}
