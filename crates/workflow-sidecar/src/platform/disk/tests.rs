//! Tests with real directories.

use workflow_core::definition::load;

use super::*;

const LIMIT: u32 = 1 << 20;

/// A project in a temporary directory.
struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(project.workflows()).unwrap();
        project
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn workflows(&self) -> PathBuf {
        self.path().join("project/.pi/workflows")
    }

    fn with(self, path: &str, text: &str) -> Self {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn disk(&self) -> Disk {
        Disk::new(self.path().join("agent"), self.path().join("project"))
    }

    fn read(&self, entry: &str) -> Result<String, FileProblem> {
        let path = FilePath::in_workflow(Tier::Project, "w", entry).unwrap();
        let bytes = self.disk().read(&path, LIMIT)?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    fn entries(&self) -> Vec<TierEntry> {
        self.disk().entries(Root::Project).unwrap()
    }
}

fn directory(name: &str) -> TierEntry {
    TierEntry {
        name: name.to_owned(),
        problem: None,
    }
}

#[test]
fn the_agent_directory_follows_the_hosts_variable() {
    let home = Path::new("/home/me");
    let check = |variable: Option<&str>, expect: &str| {
        assert_eq!(agent_dir(variable.map(OsStr::new), home), Path::new(expect));
    };
    check(None, "/home/me/.pi/agent");
    check(Some(""), "/home/me/.pi/agent");
    check(Some("~"), "/home/me");
    check(Some("~/x"), "/home/me/x");
    check(Some("~other/x"), "~other/x");
    check(Some("/opt/agent"), "/opt/agent");
}

#[test]
fn both_tiers_load_from_their_directories() {
    let phase = "---\nid: p\nname: P\nemoji: p\n---\nDo it.";
    let project = Project::new()
        .with(
            "agent/workflows/g/workflow.yaml",
            "name: G\nshow: workflows\nphases: [p.md]",
        )
        .with("agent/workflows/g/p.md", phase)
        .with("agent/workflow-sidecar.json5", "{limits: {maxPhases: 9}}")
        .with(
            "project/.pi/workflows/w/workflow.yaml",
            "name: W\nshow: workflows\nphases: [p.md]",
        )
        .with("project/.pi/workflows/w/p.md", phase)
        .with(
            "project/.pi/workflow-sidecar.json5",
            "{context: 'every-turn'}",
        );
    let loaded = load(&project.disk());
    assert_eq!(loaded.diagnostics, []);
    let keys: Vec<&str> = loaded
        .catalog
        .iter()
        .map(|workflow| &*workflow.key)
        .collect();
    assert_eq!(keys, ["g", "w"]);
    assert_eq!(loaded.settings.limits.max_phases, 9);
    assert!(loaded.settings.context.is_some());
}

#[test]
fn missing_directories_are_an_empty_catalog_without_a_diagnostic() {
    let empty = tempfile::tempdir().unwrap();
    let loaded = load(&Disk::new(
        empty.path().join("no"),
        empty.path().join("where"),
    ));
    assert_eq!(loaded.catalog.iter().count(), 0);
    let nothing = workflow_core::definition::Loaded {
        // It has the built-in workflow.
        catalog: loaded.catalog.clone(),
        ..Default::default()
    };
    assert_eq!(loaded, nothing);
}

#[test]
fn directories_are_listed_in_byte_order_and_files_are_not() {
    let project = Project::new()
        .with("project/.pi/workflows/b/x", "")
        .with("project/.pi/workflows/Z/x", "")
        .with("project/.pi/workflows/10/x", "")
        .with("project/.pi/workflows/7/x", "")
        .with("project/.pi/workflows/README.md", "");
    let names = ["10", "7", "Z", "b"];
    assert_eq!(project.entries(), names.map(directory));
}

#[test]
fn a_file_instead_of_the_workflows_directory_is_reported() {
    let project = Project::new();
    fs::remove_dir(project.workflows()).unwrap();
    let project = project.with("project/.pi/workflows", "");
    assert!(matches!(
        project.disk().entries(Root::Project),
        Err(FileProblem::Unreadable(_))
    ));
}

#[test]
fn a_file_that_is_not_there_is_missing() {
    let project = Project::new().with("project/.pi/workflows/w/file", "");
    assert_eq!(project.read("no.md"), Err(FileProblem::Missing));
    assert_eq!(project.read("no/no.md"), Err(FileProblem::Missing));
    assert_eq!(project.read("file/no.md"), Err(FileProblem::Missing));
    assert_eq!(project.read("../nowhere/no.md"), Err(FileProblem::Missing));
}

#[test]
fn a_file_over_the_limit_is_not_read() {
    let project = Project::new().with("project/.pi/workflows/w/a.md", "12345");
    let path = FilePath::in_workflow(Tier::Project, "w", "a.md").unwrap();
    assert_eq!(project.disk().read(&path, 5).unwrap(), b"12345");
    let too_large = FileProblem::TooLarge { limit: 4 };
    assert_eq!(project.disk().read(&path, 4), Err(too_large));
}

#[test]
fn files_of_several_directories_are_read_in_any_order() {
    let project = Project::new()
        .with("project/.pi/workflows/w/a.md", "a")
        .with("project/.pi/workflows/w/sub/deep/b.md", "b")
        .with("project/.pi/workflows/_shared/c.md", "c")
        .with("project/.pi/workflows/d.md", "d");
    let disk = project.disk();
    let read = |entry: &str| {
        let path = FilePath::in_workflow(Tier::Project, "w", entry).unwrap();
        disk.read(&path, LIMIT)
    };
    let files = [
        ("a.md", "a"),
        ("sub/deep/b.md", "b"),
        ("../_shared/c.md", "c"),
        ("../d.md", "d"),
    ];
    for (entry, text) in files.iter().chain(files.iter().rev()) {
        assert_eq!(read(entry).unwrap(), text.as_bytes(), "{entry}");
        let missing = read(&entry.replace(".md", ".txt"));
        assert_eq!(missing, Err(FileProblem::Missing), "{entry}");
    }
}

#[test]
fn a_directory_is_not_a_file() {
    let project = Project::new().with("project/.pi/workflows/w/a.md/b", "");
    assert_eq!(project.read("a.md"), Err(FileProblem::NotAFile));
}

#[test]
fn paths_are_shown_relative_to_the_project() {
    let disk = Disk::new(PathBuf::from("/agent"), PathBuf::from("/project"));
    let shown = |tier| disk.shown(&FilePath::definition(tier, "w", "workflow.yaml"));
    assert_eq!(shown(Tier::Project), ".pi/workflows/w/workflow.yaml");
    assert_eq!(shown(Tier::Global), "/agent/workflows/w/workflow.yaml");
    let settings = disk.shown(&FilePath::settings(Tier::Project));
    assert_eq!(settings, ".pi/workflow-sidecar.json5");
}

#[cfg(unix)]
mod links {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_linked_workflow_directory_is_followed_and_may_use_its_own_files() {
        let project = Project::new().with("elsewhere/real/a.md", "text");
        symlink(
            project.path().join("elsewhere/real"),
            project.workflows().join("w"),
        )
        .unwrap();
        assert_eq!(project.entries(), [directory("w")]);
        assert_eq!(project.read("a.md").unwrap(), "text");
    }

    #[test]
    fn a_linked_workflow_does_not_open_files_beside_its_real_directory() {
        let project = Project::new()
            .with("elsewhere/real/a.md", "text")
            .with("elsewhere/secret.md", "secret")
            .with("project/.pi/workflows/secret.md", "ours");
        let elsewhere = project.path().join("elsewhere");
        symlink(elsewhere.join("real"), project.workflows().join("w")).unwrap();
        symlink(elsewhere.join("secret.md"), elsewhere.join("real/b.md")).unwrap();
        assert_eq!(project.read("b.md"), Err(FileProblem::Escapes));
        // `..` is resolved in the written path first, so this is the root's own file.
        assert_eq!(project.read("../secret.md").unwrap(), "ours");
    }

    #[test]
    fn a_linked_file_must_be_inside_of_the_root() {
        let project = Project::new()
            .with("secret.md", "secret")
            .with("project/.pi/workflows/_shared/a.md", "shared")
            .with("project/.pi/workflows/w/x", "");
        let own = project.workflows().join("w");
        symlink("../_shared/a.md", own.join("in.md")).unwrap();
        symlink(project.path().join("secret.md"), own.join("out.md")).unwrap();
        symlink(project.path(), own.join("up")).unwrap();
        symlink("nowhere.md", own.join("dangling.md")).unwrap();
        symlink("..", own.join("root")).unwrap();
        assert_eq!(project.read("in.md").unwrap(), "shared");
        assert_eq!(project.read("out.md"), Err(FileProblem::Escapes));
        assert_eq!(project.read("up/secret.md"), Err(FileProblem::Escapes));
        assert_eq!(
            project.read("dangling.md"),
            Err(FileProblem::Unreadable(
                "it is a link that leads nowhere".to_owned()
            ))
        );
        assert_eq!(project.read("root"), Err(FileProblem::Escapes));
    }

    #[test]
    fn a_linked_directory_is_followed_inside_of_the_root() {
        let project = Project::new()
            .with("project/.pi/workflows/_shared/a.md", "shared")
            .with("project/.pi/workflows/w/sub/b.md", "own");
        let own = project.workflows().join("w");
        symlink("../../_shared", own.join("sub/shared")).unwrap();
        symlink("sub", own.join("same")).unwrap();
        assert_eq!(project.read("sub/shared/a.md").unwrap(), "shared");
        assert_eq!(project.read("same/b.md").unwrap(), "own");
        assert_eq!(project.read("same/shared/a.md").unwrap(), "shared");
        assert_eq!(project.read("same/no.md"), Err(FileProblem::Missing));
    }

    #[test]
    fn a_linked_root_is_followed() {
        let project = Project::new().with("elsewhere/w/a.md", "text");
        fs::remove_dir(project.workflows()).unwrap();
        symlink(project.path().join("elsewhere"), project.workflows()).unwrap();
        assert_eq!(project.entries(), [directory("w")]);
        assert_eq!(project.read("a.md").unwrap(), "text");
        assert_eq!(project.read("no.md"), Err(FileProblem::Missing));
    }

    #[test]
    fn dangling_and_circular_links_are_skipped_with_a_reason() {
        let project = Project::new().with("project/.pi/workflows/real.md", "");
        symlink("nowhere", project.workflows().join("a")).unwrap();
        symlink("b", project.workflows().join("b")).unwrap();
        symlink("real.md", project.workflows().join("c")).unwrap();
        let entries = project.entries();
        assert_eq!(entries.len(), 2);
        assert!(matches!(
            &entries[0],
            TierEntry { name, problem: Some(FileProblem::Missing) } if name == "a"
        ));
        assert!(matches!(
            &entries[1],
            TierEntry { name, problem: Some(FileProblem::Unreadable(_)) } if name == "b"
        ));
    }

    #[test]
    fn a_dangling_link_as_a_definition_is_reported() {
        let project = Project::new().with("project/.pi/workflows/w/notes.md", "");
        symlink(
            "/nowhere/at/all",
            project.workflows().join("w/workflow.yaml"),
        )
        .unwrap();
        let loaded = load(&project.disk());
        let diagnostic = &loaded.diagnostics[0];
        assert!(diagnostic.message.contains("link"), "{diagnostic:?}");
    }

    #[test]
    fn a_directory_with_a_name_that_is_not_utf8_is_skipped_with_a_reason() {
        let project = Project::new();
        let name = OsStr::from_bytes(b"w\xff");
        fs::create_dir(project.workflows().join(name)).unwrap();
        let [TierEntry { problem, .. }] = &project.entries()[..] else {
            panic!("there is one entry");
        };
        assert_eq!(*problem, Some(FileProblem::NameNotUtf8));
    }

    #[test]
    fn a_pipe_is_not_a_file_and_is_not_waited_for() {
        let project = Project::new().with("project/.pi/workflows/w/x", "");
        let pipe = project.workflows().join("w/a.md");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(project.read("a.md"), Err(FileProblem::NotAFile));
    }

    #[test]
    fn a_device_is_not_a_file() {
        let project = Project::new().with("project/.pi/workflows/w/x", "");
        let settings = project.path().join("project/.pi").join(SETTINGS_FILE);
        symlink("/dev/zero", &settings).unwrap();
        let read = |tier| project.disk().read(&FilePath::settings(tier), LIMIT);
        assert_eq!(read(Tier::Project), Err(FileProblem::Escapes));
        fs::create_dir(project.path().join("agent")).unwrap();
        symlink(
            "/dev/zero",
            project.path().join("agent").join(SETTINGS_FILE),
        )
        .unwrap();
        assert_eq!(read(Tier::Global), Err(FileProblem::NotAFile));
    }

    #[test]
    fn only_the_users_settings_may_be_a_link_out_of_the_project() {
        let project = Project::new()
            .with("dotfiles/settings", "{}")
            .with("agent/x", "");
        let target = project.path().join("dotfiles/settings");
        symlink(&target, project.path().join("agent").join(SETTINGS_FILE)).unwrap();
        symlink(
            &target,
            project.path().join("project/.pi").join(SETTINGS_FILE),
        )
        .unwrap();
        let read = |tier| project.disk().read(&FilePath::settings(tier), LIMIT);
        assert_eq!(read(Tier::Global).unwrap(), b"{}");
        assert_eq!(read(Tier::Project), Err(FileProblem::Escapes));
    }
}

#[test]
fn workflows_of_a_project_are_also_found_where_other_hosts_look() {
    let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nphases: [../_shared/p.md]\n";
    let phase = "---\nid: p\nname: P\nemoji: p\n---\nGo.\n";
    let project = Project::new()
        .with("project/.agents/workflows/w/workflow.yaml", workflow)
        .with("project/.agents/workflows/_shared/p.md", phase);
    let loaded = load(&project.disk());
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.index[0].source, ".agents/workflows/w/workflow.yaml");
    assert!(loaded.catalog.get("w").is_some());
    // Its settings are those of the other directory.
    let project = project.with("project/.agents/workflow-sidecar.json5", "{tools: {");
    assert_eq!(load(&project.disk()).diagnostics, []);
}
