//! Paths of tool calls in the forms that rules compare.
//!
//! Owns the interpretation of a path by the host's tools, and the resolution of links. Must not know rules.

use std::cell::LazyCell;
use std::ffi::OsString;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use workflow_core::policy::rules::{PathForm, Paths, definition_paths, normalized_path};

use super::installation::installed_files;
use crate::files::{STATE_DIRECTORY, absolute, home_dir};

/// Links that are followed before a path counts as circular.
const MAX_LINKS: usize = 40;

/// The paths of a session on this machine.
#[derive(Debug)]
pub(crate) struct LocalPaths<'a> {
    agent_dir: &'a Path,
    /// Files beside the definitions that are protected like them.
    files: Vec<String>,
    project: OnDemand<'a, Root>,
    home: OnDemand<'a, Root>,
    /// The directory of the user's answers.
    answers: OnDemand<'a, Root>,
    /// Those of another store.
    store: Vec<PathBuf>,
    ignores_case: OnDemand<'a, bool>,
}

/// The last answer of the disk to a question that each call asks, and whose answer only the user changes.
struct Recent<K, V>(Mutex<Option<(K, V, Instant)>>);

impl<K: PartialEq, V: Clone> Recent<K, V> {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the answer to this question, which is read again after a second.
    fn get(&self, question: K, read: impl FnOnce(&K) -> V) -> V {
        let mut last = self.0.lock();
        let known = last
            .take()
            .filter(|(asked, _, at)| *asked == question && at.elapsed() < Duration::from_secs(1));
        let (_, answer, _) = last.insert(known.unwrap_or_else(|| {
            let answer = read(&question);
            (question, answer, Instant::now())
        }));
        answer.clone()
    }
}

static PROTECTED: Recent<Vec<String>, Vec<String>> = Recent::new();
static IGNORES_CASE: Recent<PathBuf, bool> = Recent::new();

/// What the disk is read for when it is first needed.
type OnDemand<'a, T> = LazyCell<T, Box<dyn FnOnce() -> T + 'a>>;

/// The usual case sensitivity of file systems on this system.
const USUALLY_IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));
/// Entries of a directory that are searched for a name with a letter in it.
const MAX_ENTRIES: usize = 16;

/// A directory, by its real path and as it is written.
type Root = [PathBuf; 2];

impl<'a> LocalPaths<'a> {
    /// Paths relative to a working directory, of a session that is stored in a file. The disk is read with the first path.
    pub(crate) fn new(cwd: &'a Path, agent_dir: &'a Path, session_file: Option<&'a Path>) -> Self {
        Self {
            agent_dir,
            files: session_file.map(with_slashes).into_iter().collect(),
            project: LazyCell::new(Box::new(|| root(cwd))),
            // An empty path contains nothing.
            home: LazyCell::new(Box::new(|| root(&home_dir().unwrap_or_default()))),
            answers: LazyCell::new(Box::new(|| root(&agent_dir.join("workflow-sidecar")))),
            store: Vec::new(),
            ignores_case: LazyCell::new(Box::new(|| {
                let read = |cwd: &PathBuf| ignores_case(cwd).unwrap_or(USUALLY_IGNORES_CASE);
                IGNORES_CASE.get(cwd.to_owned(), read)
            })),
        }
    }

    /// The same, with these files protected like definitions.
    pub(crate) fn with_protected(mut self, files: impl IntoIterator<Item: AsRef<Path>>) -> Self {
        let files = files.into_iter().map(|file| with_slashes(file.as_ref()));
        self.files.extend(files);
        self
    }

    /// The same, with a store in this directory.
    pub(crate) fn with_store(mut self, directory: &Path) -> Self {
        self.store = root(directory).into();
        self.with_protected([directory])
    }

    /// Returns the directory from which a tool of the host would open a path, and the path from there, which may be
    /// absolute (pi: `~` is the home directory).
    fn opened<'p>(&self, path: &'p str) -> (&Root, &'p Path) {
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                (&self.home, Path::new(rest.trim_start_matches('/')))
            }
            Some(_) | None => (&self.project, Path::new(path)),
        }
    }

    fn form(&self, path: &Path) -> PathForm {
        let roots = self.project.iter();
        let mut roots = roots.filter(|root| !root.as_os_str().is_empty());
        let inside = roots.find_map(|root| path.strip_prefix(root).ok());
        PathForm {
            absolute: with_slashes(path),
            in_project: inside.map(with_slashes),
        }
    }
}

impl Paths for LocalPaths<'_> {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let path = normalized_path(path);
        let ([real_root, root], path) = self.opened(&path);
        let mut forms = vec![self.form(&lexical(&root.join(path)))];
        let real = self.form(&real(real_root, path));
        if !forms.contains(&real) {
            forms.push(real);
        }
        forms
    }

    fn ignores_case(&self) -> bool {
        *self.ignores_case
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let folded = |path: &str| {
            if self.ignores_case() {
                PathBuf::from(path.to_lowercase())
            } else {
                PathBuf::from(path)
            }
        };
        let path = folded(&form.absolute);
        let [_, home] = &*self.home;
        let store = home.join(STATE_DIRECTORY);
        let mut answers = self.answers.iter().chain(&self.store).chain([&store]);
        answers.any(|answers| path.starts_with(folded(&with_slashes(answers))))
    }

    fn protected(&self) -> Vec<String> {
        let [_, project] = &*self.project;
        let mut paths = definition_paths(&with_slashes(project), &with_slashes(self.agent_dir));
        paths.extend(self.files.iter().cloned());
        PROTECTED.get(paths, |paths| {
            let installed = installed_files(self.agent_dir);
            let installed = installed.iter().map(|path| with_slashes(path));
            let all = paths.iter().cloned().chain(installed);
            let forms = all.flat_map(|path| self.forms(&path));
            forms.map(|form| form.absolute).collect()
        })
    }
}

/// Tests the file system of a directory: `true` if an entry is found under its name in the other case, `None` if no
/// entry has a name with letters.
fn ignores_case(directory: &Path) -> Option<bool> {
    let entries = fs::read_dir(directory).ok()?.take(MAX_ENTRIES);
    entries.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let other = in_other_case(&name)?;
        let Ok(found) = fs::symlink_metadata(directory.join(other)) else {
            return Some(false);
        };
        is_same(&entry.metadata().ok()?, &found)
    })
}

/// Returns a name in the other case, if it has ASCII letters.
fn in_other_case(name: &str) -> Option<String> {
    let cases = [name.to_ascii_uppercase(), name.to_ascii_lowercase()];
    cases.into_iter().find(|other| other != name)
}

/// Returns `true` if both are the same file; `None` if the system does not identify files.
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> Option<bool> {
    #[cfg(unix)]
    let id = |file: &fs::Metadata| Some((file.dev(), file.ino()));
    #[cfg(not(unix))]
    let id = |_: &fs::Metadata| None::<()>;
    Some(id(one)? == id(other)?)
}

fn root(path: &Path) -> Root {
    if path.as_os_str().is_empty() {
        return Root::default();
    }
    // Fails only without a working directory, where a relative path contains nothing.
    let path = absolute(path);
    [real(Path::new(""), &path), lexical(&path)]
}

pub(crate) fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

/// Returns the written path without `.` and `..`; links are not followed.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut lexical = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(lexical.pop()),
            part => lexical.push(part),
        }
    }
    lexical
}

/// Returns the path from a directory, which contains no links, with links resolved; its last parts may not exist yet.
fn real(directory: &Path, path: &Path) -> PathBuf {
    let mut real = directory.to_path_buf();
    let mut remaining: Vec<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = remaining.pop() {
        if part == "." {
            continue;
        }
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match fs::read_link(&next) {
            Ok(target) if links < MAX_LINKS => {
                links += 1;
                if target.is_absolute() {
                    real = PathBuf::new();
                }
                remaining.extend(parts(&target));
            }
            // Not a link, or one of a circle.
            Ok(_) | Err(_) => real = next,
        }
    }
    real
}

/// Returns the parts of a path in reverse order.
fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn in_project(project: &Path, path: &str) -> Vec<Option<String>> {
        let forms = LocalPaths::new(project, Path::new("/agent"), None).forms(path);
        forms.into_iter().map(|form| form.in_project).collect()
    }

    #[expect(clippy::unnecessary_wraps, reason = "the type of the field")]
    fn below(path: &str) -> Option<String> {
        Some(path.to_owned())
    }

    #[test]
    fn a_path_is_read_as_the_hosts_tools_read_it() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        assert_eq!(in_project(project, "a/./b/../c"), [below("a/c")]);
        assert_eq!(in_project(project, "@a b"), [below("a b")]);
        assert_eq!(in_project(project, "a\u{a0}b"), [below("a b")]);
        assert_eq!(in_project(project, "../x"), [None]);
        let absolute = project.join("x/y").display().to_string();
        assert_eq!(in_project(project, &absolute), [below("x/y")]);
        let home = LocalPaths::new(project, Path::new("/agent"), None).forms("~/.ssh/id");
        let key = home_dir().unwrap().join(".ssh/id");
        assert_eq!(home[0].absolute, with_slashes(&key));
    }

    #[test]
    fn links_to_missing_files_are_resolved() {
        let project = tempfile::tempdir().unwrap();
        let project = &project.path().canonicalize().unwrap();
        fs::create_dir_all(project.join("real")).unwrap();
        symlink("real", project.join("link")).unwrap();
        symlink(".env", project.join("innocent")).unwrap();
        symlink("/elsewhere", project.join("out")).unwrap();
        assert_eq!(
            in_project(project, "link/new"),
            [below("link/new"), below("real/new")]
        );
        assert_eq!(
            in_project(project, "innocent"),
            [below("innocent"), below(".env")]
        );
        assert_eq!(in_project(project, "out/x"), [below("out/x"), None]);
    }

    #[test]
    fn a_pattern_through_a_link_protects_its_target() {
        use workflow_core::definition::Rule;
        use workflow_core::policy::rules::{Call, CallDecision, LevelRules, RuleSource, Rules};

        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir_all(project.join("real")).unwrap();
        fs::create_dir_all(root.path().join("beside")).unwrap();
        symlink("real", project.join("link")).unwrap();
        let is_blocked = |pattern: &str, path: &str| {
            let rule: Rule = serde_json::from_value(serde_json::json!({
                "action":"block", "tools": ["*"], "path": [pattern], "source": "f:1",
            }))
            .unwrap();
            let rules = Rules::new([LevelRules {
                name: "a level".into(),
                source: RuleSource::Phase,
                tools: None,
                rules: std::slice::from_ref(&rule).into(),
                read_only: None,
                unknown: None,
                on_repeat: None,
            }]);
            let input = serde_json::json!({ "path": path });
            let input = serde_json::value::to_raw_value(&input).unwrap();
            let paths = LocalPaths::new(&project, Path::new("/agent"), None);
            let decision = rules.decide(&Call::new("read", Some(&input), &paths));
            matches!(decision, CallDecision::Block(_))
        };
        assert!(is_blocked("link/**", "link/x"));
        assert!(is_blocked("link/**", "real/x"));
        assert!(is_blocked("real/**", "link/x"));
        assert!(is_blocked("link/../real/*.rs", "real/x.rs"));
        assert!(is_blocked("../beside/**", "../beside/x"));
        let absolute = root.path().join("beside/x").display().to_string();
        assert!(is_blocked("../beside/**", &absolute));
        assert!(!is_blocked("link/**", "other/x"));
        assert!(!is_blocked("../beside/**", "beside/x"));
    }

    #[test]
    fn a_line_with_many_directories_is_compared_with_the_protected_files_in_time() {
        use workflow_core::definition::ToolAccess;
        use workflow_core::policy::rules::{Call, CallDecision, LevelRules, RuleSource, Rules};

        let project = tempfile::tempdir().unwrap();
        let paths = LocalPaths::new(project.path(), Path::new("/agent"), None);
        let rules = Rules::new([LevelRules {
            name: "a level".into(),
            source: RuleSource::Phase,
            tools: Some(&ToolAccess::Blacklist(Vec::new())),
            rules: (&[]).into(),
            read_only: None,
            unknown: None,
            on_repeat: None,
        }]);
        let is_allowed = |shape: &str, number: usize| {
            let line: String = (0..number)
                .map(|number| shape.replace('N', &number.to_string()))
                .collect();
            let input = serde_json::json!({ "command": line });
            let input = serde_json::value::to_raw_value(&input).unwrap();
            let decision = rules.decide(&Call::new("bash", Some(&input), &paths));
            matches!(decision, CallDecision::Allow)
        };
        let start = Instant::now();
        assert!(is_allowed("cd dN; echo > xN; ", 10));
        for number in [200, 900] {
            assert!(!is_allowed("cd dN; echo > xN; ", number), "{number}");
            is_allowed("cd d; echo > xN; cd ..; ", number);
            is_allowed("cd dN; echo > xN; cd ..; ", number);
        }
        // A debug build beside other tests: alone it takes about a second of the processor.
        assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
    }

    #[test]
    fn the_users_answers_are_recognised_through_links() {
        let root = tempfile::tempdir().unwrap();
        let agent = root.path().join("agent");
        fs::create_dir_all(agent.join("workflow-sidecar")).unwrap();
        symlink("agent", root.path().join("link")).unwrap();
        let paths =
            LocalPaths::new(root.path(), &agent, None).with_store(&root.path().join("other"));
        let holds = |path: &str| {
            let forms = paths.forms(path);
            forms.iter().any(|form| paths.holds_answers(form))
        };
        assert!(holds("agent/workflow-sidecar/store.sqlite3"));
        assert!(holds("agent/workflow-sidecar"));
        assert!(holds("x/../link/workflow-sidecar/queue/database"));
        assert!(holds("other/workflow-sidecar.db"));
        assert!(!holds("agent/workflow-sidecar.json5"));
        assert!(!holds("crates/workflow-sidecar/src/lib.rs"));
    }

    /// Tests the file system of temporary directories.
    fn ignores_case_of_names(directory: &Path) -> bool {
        let written = fs::write(directory.join("aBc"), "");
        written.expect("a temporary directory is there");
        let same = directory.join("AbC").exists();
        let removed = fs::remove_file(directory.join("aBc"));
        removed.expect("it was written just now");
        same
    }

    #[test]
    fn case_sensitivity_is_that_of_the_file_system() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        let expected = ignores_case_of_names(project);
        let ignores_case = || LocalPaths::new(project, Path::new("/agent"), None).ignores_case();
        assert_eq!(
            ignores_case(),
            USUALLY_IGNORES_CASE,
            "an empty directory does not show it"
        );
        fs::write(project.join("12"), "").unwrap();
        assert_eq!(
            ignores_case(),
            USUALLY_IGNORES_CASE,
            "nor does a name without letters"
        );
        fs::write(project.join("name"), "").unwrap();
        assert_eq!(ignores_case(), expected);
        fs::write(project.join("NAME"), "").unwrap();
        assert_eq!(ignores_case(), expected, "two names of two files differ");
    }

    #[test]
    fn circular_links_end() {
        let project = tempfile::tempdir().unwrap();
        symlink("a", project.path().join("b")).unwrap();
        symlink("b", project.path().join("a")).unwrap();
        assert!(!in_project(project.path(), "a/x").is_empty());
    }

    #[test]
    fn a_linked_project_is_the_same_project() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("real")).unwrap();
        symlink("real", root.path().join("link")).unwrap();
        let real = root.path().canonicalize().unwrap().join("real/x");
        let found = in_project(&root.path().join("link"), &real.display().to_string());
        assert_eq!(found, [below("x")]);
    }
}
