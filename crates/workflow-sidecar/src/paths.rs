//! Where paths lead on this machine: what rules on paths compare.
//!
//! Owns how a tool of the host reads a path, and how links are followed. Must not know rules.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use workflow_core::policy::rules::{PathForm, Paths};

/// Links that are followed before a path is taken for one that leads nowhere.
const MOST_LINKS: usize = 40;

/// The paths of a session: from its working directory, and with this home.
#[derive(Debug)]
pub(crate) struct LocalPaths<'a> {
    cwd: &'a Path,
    agent_dir: &'a Path,
    project: OnceCell<Root>,
    home: OnceCell<Root>,
    answers: OnceCell<Root>,
    ignores_case: OnceCell<bool>,
}

/// Whether the file systems of this system take names that differ only in case for the same.
const USUALLY_IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));
/// Entries of a directory that are looked at for a name with a letter in it.
const MOST_ENTRIES: usize = 16;

/// A directory, with links followed, and as it is written.
type Root = [PathBuf; 2];

impl<'a> LocalPaths<'a> {
    /// Paths from a working directory. The disk is looked at when the first path is asked for.
    pub(crate) fn new(cwd: &'a Path, agent_dir: &'a Path) -> Self {
        Self {
            cwd,
            agent_dir,
            project: OnceCell::new(),
            home: OnceCell::new(),
            answers: OnceCell::new(),
            ignores_case: OnceCell::new(),
        }
    }

    fn project(&self) -> &Root {
        self.project.get_or_init(|| root(self.cwd))
    }

    fn home(&self) -> &Root {
        let home = || root(&crate::home::home_dir().unwrap_or_default());
        self.home.get_or_init(home)
    }

    /// Where the user's answers are kept.
    fn answers(&self) -> &Root {
        let answers = || root(&self.agent_dir.join("workflow-sidecar"));
        self.answers.get_or_init(answers)
    }

    /// The path as a tool of the host would open it (pi: a leading `@` is dropped, `~` is the home
    /// directory, Unicode's spaces are spaces).
    fn opened(&self, path: &str) -> PathBuf {
        let path = spelled(path);
        let [_, home] = self.home();
        let [_, project] = self.project();
        match path.strip_prefix('~') {
            Some("") => home.clone(),
            Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            Some(_) | None => project.join(path),
        }
    }

    fn form(&self, path: &Path) -> PathForm {
        let below = |roots: &Root| {
            let root = roots
                .iter()
                .find(|root| !root.as_os_str().is_empty() && path.starts_with(root))?;
            Some(with_slashes(path.strip_prefix(root).ok()?))
        };
        PathForm {
            absolute: with_slashes(path),
            in_project: below(self.project()),
            in_home: below(self.home()),
        }
    }
}

impl Paths for LocalPaths<'_> {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let opened = self.opened(path);
        let mut forms = vec![self.form(&plain(&opened))];
        let real = self.form(&real(&opened));
        if !forms.contains(&real) {
            forms.push(real);
        }
        forms
    }

    fn ignores_case(&self) -> bool {
        let ignores_case = || ignores_case(self.cwd).unwrap_or(USUALLY_IGNORES_CASE);
        *self.ignores_case.get_or_init(ignores_case)
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        let folded = |path: &str| {
            let path = if self.ignores_case() {
                path.to_lowercase()
            } else {
                path.to_owned()
            };
            PathBuf::from(path)
        };
        let path = folded(&form.absolute);
        let mut answers = self.answers().iter();
        answers.any(|answers| path.starts_with(folded(&with_slashes(answers))))
    }
}

/// Whether the file system of a directory takes names that differ only in case for the same: whether an entry is
/// found under its name in other letters. `None` if no entry says.
fn ignores_case(directory: &Path) -> Option<bool> {
    let entries = fs::read_dir(directory).ok()?.take(MOST_ENTRIES);
    entries.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let other = in_other_letters(&name)?;
        let Ok(found) = fs::symlink_metadata(directory.join(other)) else {
            return Some(false);
        };
        is_same(&entry.metadata().ok()?, &found)
    })
}

/// A name with small letters for capitals and capitals for small ones, if it has any.
fn in_other_letters(name: &str) -> Option<String> {
    let other = |c: char| {
        if c.is_ascii_lowercase() {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        }
    };
    let other: String = name.chars().map(other).collect();
    (other != name).then_some(other)
}

/// Whether both are one file, where that can be told.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    Some((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> Option<bool> {
    None
}

fn root(path: &Path) -> Root {
    if path.as_os_str().is_empty() {
        return Root::default();
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    [real(&path), plain(&path)]
}

/// Paths of which nothing is known but how they are written: nothing is a link, whatever the system.
#[derive(Debug)]
pub(crate) struct WrittenPaths {
    project: Vec<String>,
    home: Vec<String>,
    answers: Vec<String>,
}

impl WrittenPaths {
    /// Paths from a working directory, with a home.
    pub(crate) fn new(cwd: &str, agent_dir: &str, home: &str) -> Self {
        let parts = |path| written_parts(Vec::new(), path);
        Self {
            project: parts(cwd),
            home: parts(home),
            answers: parts(&format!("{agent_dir}/workflow-sidecar")),
        }
    }
}

impl Paths for WrittenPaths {
    fn forms(&self, path: &str) -> Vec<PathForm> {
        let path = spelled(path);
        let parts = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                written_parts(self.home.clone(), rest)
            }
            _ if path.starts_with('/') => written_parts(Vec::new(), &path),
            _ => written_parts(self.project.clone(), &path),
        };
        let below = |root: &[String]| {
            let inside = parts.strip_prefix(root).filter(|_| !root.is_empty());
            inside.map(|inside| inside.join("/"))
        };
        vec![PathForm {
            absolute: format!("/{}", parts.join("/")),
            in_project: below(&self.project),
            in_home: below(&self.home),
        }]
    }

    fn ignores_case(&self) -> bool {
        false
    }

    fn holds_answers(&self, form: &PathForm) -> bool {
        written_parts(Vec::new(), &form.absolute).starts_with(&self.answers)
    }
}

/// The parts of a path from a directory, without `.` and `..`.
fn written_parts(mut parts: Vec<String>, path: &str) -> Vec<String> {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

/// A path as tools of the hosts read it.
fn spelled(path: &str) -> String {
    let path = path.strip_prefix('@').unwrap_or(path);
    let is_space = |c: char| {
        matches!(
            c,
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
    };
    path.chars()
        .map(|c| if is_space(c) { ' ' } else { c })
        .collect()
}

fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

/// The path without `.` and `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The path with links followed, also where the last parts do not exist yet.
fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    let mut left: Vec<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == "." {
            continue;
        }
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match fs::read_link(&next) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    real = PathBuf::new();
                }
                left.extend(parts(&target));
            }
            Ok(_) | Err(_) => real = next,
        }
    }
    real
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn in_project(project: &Path, path: &str) -> Vec<Option<String>> {
        let forms = LocalPaths::new(project, Path::new("/agent")).forms(path);
        forms.into_iter().map(|form| form.in_project).collect()
    }

    #[expect(clippy::unnecessary_wraps, reason = "as a form has it")]
    fn said(path: &str) -> Option<String> {
        Some(path.to_owned())
    }

    #[test]
    fn a_path_is_read_as_the_hosts_tools_read_it() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        assert_eq!(in_project(project, "a/./b/../c"), [said("a/c")]);
        assert_eq!(in_project(project, "@a b"), [said("a b")]);
        assert_eq!(in_project(project, "a\u{a0}b"), [said("a b")]);
        assert_eq!(in_project(project, "../x"), [None]);
        let absolute = project.join("x/y").display().to_string();
        assert_eq!(in_project(project, &absolute), [said("x/y")]);
        let home = LocalPaths::new(project, Path::new("/agent")).forms("~/.ssh/id");
        assert_eq!(home[0].in_home, said(".ssh/id"));
    }

    #[test]
    fn links_are_followed_also_to_what_does_not_exist_yet() {
        let project = tempfile::tempdir().unwrap();
        let project = &project.path().canonicalize().unwrap();
        fs::create_dir_all(project.join("real")).unwrap();
        symlink("real", project.join("link")).unwrap();
        symlink(".env", project.join("innocent")).unwrap();
        symlink("/elsewhere", project.join("out")).unwrap();
        assert_eq!(
            in_project(project, "link/new"),
            [said("link/new"), said("real/new")]
        );
        assert_eq!(
            in_project(project, "innocent"),
            [said("innocent"), said(".env")]
        );
        assert_eq!(in_project(project, "out/x"), [said("out/x"), None]);
    }

    #[test]
    fn a_pattern_that_leads_through_a_link_protects_where_it_leads() {
        use workflow_core::definition::Rule;
        use workflow_core::policy::rules::{Call, Decision, LevelRules, RuleSource, Rules};

        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir_all(project.join("real")).unwrap();
        fs::create_dir_all(root.path().join("beside")).unwrap();
        symlink("real", project.join("link")).unwrap();
        let is_blocked = |pattern: &str, path: &str| {
            let rule: Rule = serde_json::from_value(serde_json::json!({
                "verdict": "block", "tools": ["*"], "path": [pattern], "source": "f:1",
            }))
            .unwrap();
            let rules = Rules::new([LevelRules {
                name: "a level",
                source: RuleSource::Phase,
                tools: None,
                rules: std::slice::from_ref(&rule),
            }]);
            let input = serde_json::json!({ "path": path });
            let input = serde_json::value::to_raw_value(&input).unwrap();
            let paths = LocalPaths::new(&project, Path::new("/agent"));
            let decision = rules.decide(&Call::new("read", Some(&input), &paths));
            matches!(decision, Decision::Block(_))
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
    fn the_users_answers_are_known_by_any_way_that_leads_there() {
        let root = tempfile::tempdir().unwrap();
        let agent = root.path().join("agent");
        fs::create_dir_all(agent.join("workflow-sidecar")).unwrap();
        symlink("agent", root.path().join("link")).unwrap();
        let paths = LocalPaths::new(root.path(), &agent);
        let holds = |path: &str| {
            let forms = paths.forms(path);
            forms.iter().any(|form| paths.holds_answers(form))
        };
        assert!(holds("agent/workflow-sidecar/trust.json"));
        assert!(holds("agent/workflow-sidecar"));
        assert!(holds("x/../link/workflow-sidecar/approvals/wf-1.json"));
        assert!(!holds("agent/workflow-sidecar.json5"));
        assert!(!holds("crates/workflow-sidecar/src/lib.rs"));
    }

    /// Of the file system of temporary directories, whichever that is.
    fn takes_names_for_the_same(directory: &Path) -> bool {
        let written = fs::write(directory.join("aBc"), "");
        written.expect("a temporary directory is there");
        let same = directory.join("AbC").exists();
        let removed = fs::remove_file(directory.join("aBc"));
        removed.expect("it was written just now");
        same
    }

    #[test]
    fn whether_names_differ_by_case_is_what_the_file_system_says() {
        let project = tempfile::tempdir().unwrap();
        let project = project.path();
        let expected = takes_names_for_the_same(project);
        let ignores_case = || LocalPaths::new(project, Path::new("/agent")).ignores_case();
        assert_eq!(
            ignores_case(),
            USUALLY_IGNORES_CASE,
            "an empty one says nothing"
        );
        fs::write(project.join("12"), "").unwrap();
        assert_eq!(
            ignores_case(),
            USUALLY_IGNORES_CASE,
            "a name without letters neither"
        );
        fs::write(project.join("name"), "").unwrap();
        assert_eq!(ignores_case(), expected);
        fs::write(project.join("NAME"), "").unwrap();
        assert_eq!(ignores_case(), expected, "two files of two names are two");
    }

    #[test]
    fn links_that_lead_in_a_circle_lead_nowhere() {
        let project = tempfile::tempdir().unwrap();
        symlink("a", project.path().join("b")).unwrap();
        symlink("b", project.path().join("a")).unwrap();
        assert!(!in_project(project.path(), "a/x").is_empty());
    }

    #[test]
    fn a_project_that_is_reached_by_a_link_is_the_same_project() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("real")).unwrap();
        symlink("real", root.path().join("link")).unwrap();
        let real = root.path().canonicalize().unwrap().join("real/x");
        let found = in_project(&root.path().join("link"), &real.display().to_string());
        assert_eq!(found, [said("x")]);
    }
}
