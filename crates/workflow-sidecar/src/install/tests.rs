//! Tests of installing: what is not ours stays.

use std::fs;
use std::path::{Path, PathBuf};

use super::changes::apply;
use super::hosts::command;
use super::plan::{installed_parts, plan_removal};
use super::*;
use crate::hook_hosts::HookHost;
use crate::hook_hosts::{EventName, HOSTS};
use crate::platform::installation::{changes_since_installation, note_installation};

/// A home directory.
struct Home(tempfile::TempDir, Directories);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let directories = Directories::new(home.path(), |_| None);
        Self(home, directories)
    }

    fn target(&self) -> InstallTarget {
        InstallTarget {
            directories: self.1.clone(),
            project: None,
            program: "/opt/it's here/workflow-sidecar".into(),
            plugin: None,
            state: None,
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.0.path().join(name)).ok()
    }

    /// The files that are left.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut directories = vec![self.0.path().to_path_buf()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files
    }

    fn install(&self, host: &'static HookHost) {
        let changes = plan(Some(host), &self.target()).unwrap();
        for change in &changes {
            apply(change).unwrap();
        }
    }

    fn uninstall(&self, host: &'static HookHost) {
        let changes = plan_removal(Some(host), &self.target()).unwrap();
        for change in &changes {
            apply(change).unwrap();
        }
    }
}

/// The files of the hosts that hold JSON of others as well.
const SHARED: [&str; 6] = [
    ".codex/hooks.json",
    ".claude/settings.json",
    ".claude.json",
    ".copilot/mcp-config.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
];

/// Texts that such a file may have had before.
const TEXTS: [&str; 7] = [
    "{}\n",
    "{ }",
    r#"{"hooks":{},"mcpServers":{}}"#,
    "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"PreToolUse\": [ ],\n    \"BeforeTool\": []\n  }\n}\n",
    r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine hook codex"}]}],"Stop":[]},"z":1}"#,
    "{\"mcpServers\": {\"other\": {\"command\": \"x\"}},\r\n\t\"a\": [1, 2,   3]}",
    r#"{"hooks":{"Other":[{"hooks":[]}]},"text":"{\"hooks\": [}"}"#,
];

#[test]
fn removing_what_was_installed_gives_the_bytes_of_before() {
    for host in HOSTS {
        for text in TEXTS {
            let home = Home::new();
            for name in SHARED {
                home.write(name, text);
            }
            home.write(".codex/config.toml", "model = \"x\"\n[a]\nb = 1");
            home.install(host);
            let found = installed(host, &home.target()).unwrap();
            assert_eq!(found.commands.len(), host.events.len(), "{}", host.name);
            assert!(has_server(host, &home.target()), "{} {text}", host.name);
            // A second time changes nothing.
            let again = plan(Some(host), &home.target()).unwrap();
            assert!(
                again.iter().all(|change| change.before == change.after),
                "{} {text}",
                host.name
            );
            home.uninstall(host);
            for name in SHARED {
                assert_eq!(
                    home.text(name).as_deref(),
                    Some(text),
                    "{} {name}",
                    host.name
                );
            }
            let config = home.text(".codex/config.toml").unwrap();
            assert_eq!(config, "model = \"x\"\n[a]\nb = 1");
            assert!(installed(host, &home.target()).is_none());
        }
    }
}

#[test]
fn a_file_that_its_host_writes_in_another_form_has_what_was_installed() {
    for host in HOSTS {
        let home = Home::new();
        home.install(host);
        for name in SHARED {
            let Some(text) = home.text(name) else {
                continue;
            };
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            home.write(name, &format!("{json:#}"));
        }
        let changes = plan(Some(host), &home.target()).unwrap();
        assert!(changes.iter().all(FileChange::is_made), "{}", host.name);
        home.uninstall(host);
        assert!(installed(host, &home.target()).is_none());
    }
}

#[test]
fn files_that_were_created_are_removed() {
    for host in HOSTS {
        let home = Home::new();
        home.install(host);
        for change in plan(Some(host), &home.target()).unwrap() {
            assert_eq!(change.before, change.after, "a second time changes nothing");
            let text = change.before.unwrap();
            let is_json = change.path.extension().is_some_and(|end| end == "json");
            assert!(
                !is_json || serde_json::from_str::<serde_json::Value>(&text).is_ok(),
                "{text}"
            );
        }
        home.uninstall(host);
        for change in plan(Some(host), &home.target()).unwrap() {
            assert_eq!(change.before, None, "{}", change.path.display());
        }
    }
}

#[test]
fn every_event_of_a_host_is_registered_once() {
    for host in HOSTS {
        let home = Home::new();
        home.install(host);
        let files = plan(Some(host), &home.target()).unwrap();
        let hooks: serde_json::Value =
            serde_json::from_str(files[0].before.as_ref().unwrap()).unwrap();
        for (name, _) in host.events {
            assert_eq!(hooks["hooks"][name].as_array().unwrap().len(), 1, "{name}");
        }
    }
}

#[test]
fn an_event_that_an_older_installation_lacks_is_added() {
    for (host, name, hooks) in [
        (
            "copilot",
            "PreCompact",
            ".copilot/hooks/workflow-sidecar.json",
        ),
        ("gemini", "PreCompress", ".gemini/settings.json"),
    ] {
        let host = crate::hook_hosts::host(host).unwrap();
        let home = Home::new();
        home.install(host);
        let whole = home.text(hooks).unwrap();
        let mut older: serde_json::Value = serde_json::from_str(&whole).unwrap();
        older["hooks"]
            .as_object_mut()
            .unwrap()
            .remove(name)
            .unwrap();
        home.write(hooks, &older.to_string());
        home.install(host);
        let found = installed(host, &home.target()).unwrap();
        assert_eq!(found.commands.len(), host.events.len(), "{name}");
        assert!(home.text(hooks).unwrap().contains(name));
        home.uninstall(host);
        assert!(installed(host, &home.target()).is_none());
    }
}

#[test]
fn a_duplicate_name_or_a_text_that_is_not_json_is_refused() {
    let home = Home::new();
    let [codex, _, copilot, ..] = HOSTS;
    home.write(
        ".codex/config.toml",
        "[mcp_servers.workflow]\ncommand = \"x\"\n",
    );
    let error = plan(Some(codex), &home.target()).unwrap_err().to_string();
    assert!(error.contains("[mcp_servers.workflow]"), "{error}");
    home.write(".codex/config.toml", "");
    home.write(".codex/hooks.json", "{ // mine\n}");
    let error = plan(Some(codex), &home.target()).unwrap_err().to_string();
    assert!(
        error.contains("line 1") && error.contains("nothing was changed"),
        "{error}"
    );
    home.write(
        ".copilot/mcp-config.json",
        r#"{"mcpServers":{"workflow":{}}}"#,
    );
    let error = plan(Some(copilot), &home.target()).unwrap_err().to_string();
    assert!(error.contains("mcpServers.workflow"), "{error}");
}

#[test]
fn a_command_file_of_another_program_stays() {
    let home = Home::new();
    let claude = HOSTS[1];
    home.write(".claude/commands/workflow.md", "Do my workflow.\n");
    let error = plan(Some(claude), &home.target()).unwrap_err().to_string();
    assert!(error.contains("workflow.md: it is not ours"), "{error}");
    let removal = plan_removal(Some(claude), &home.target()).unwrap();
    assert!(removal.is_empty());
}

#[test]
fn a_plugin_of_claude_code_has_what_an_installation_writes_and_leaves_the_configuration_alone() {
    let home = Home::new();
    let claude = HOSTS[1];
    let plugin = home.0.path().join("plugin");
    let target = InstallTarget {
        plugin: Some(plugin.clone()),
        ..home.target()
    };
    for change in plan(Some(claude), &target).unwrap() {
        apply(&change).unwrap();
    }
    assert!(home.files().iter().all(|file| file.starts_with(&plugin)));
    home.install(claude);
    let json = |file: &str| -> serde_json::Value {
        serde_json::from_str(&home.text(file).unwrap()).unwrap()
    };
    assert_eq!(
        json("plugin/.claude-plugin/plugin.json")["name"],
        "workflow-sidecar"
    );
    let mut settings = json(".claude/settings.json");
    settings.as_object_mut().unwrap().remove("statusLine");
    assert_eq!(json("plugin/hooks/hooks.json"), settings);
    assert_eq!(json("plugin/.mcp.json"), json(".claude.json"));
    let command = "commands/workflow.md";
    assert_eq!(
        home.text(&format!("plugin/{command}")),
        home.text(&format!(".claude/{command}"))
    );
    home.uninstall(claude);
    for change in plan_removal(Some(claude), &target).unwrap() {
        apply(&change).unwrap();
    }
    assert_eq!(home.files(), Vec::<PathBuf>::new());
}

#[test]
fn claude_code_has_our_status_line_only_where_the_user_has_none() {
    const SETTINGS: &str = ".claude/settings.json";
    let claude = HOSTS[1];
    let home = Home::new();
    let command = |home: &Home| {
        let settings: serde_json::Value =
            serde_json::from_str(&home.text(SETTINGS).unwrap()).unwrap();
        settings["statusLine"]["command"].clone()
    };
    home.install(claude);
    assert_eq!(
        command(&home),
        r"'/opt/it'\''s here/workflow-sidecar' status --line"
    );
    // Of an earlier version, ours is added.
    let text = home.text(SETTINGS).unwrap();
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    older.as_object_mut().unwrap().remove("statusLine");
    home.write(SETTINGS, &older.to_string());
    home.install(claude);
    assert!(command(&home).is_string());
    // That of the user takes its place, and is nothing that differs.
    let text = home.text(SETTINGS).unwrap();
    let mut theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
    theirs["statusLine"] = serde_json::json!({ "type": "command", "command": "mine" });
    home.write(SETTINGS, &theirs.to_string());
    let changes = plan(Some(claude), &home.target()).unwrap();
    assert!(changes.iter().all(FileChange::is_made));
    home.uninstall(claude);
    assert_eq!(command(&home), "mine");
    home.install(claude);
    assert_eq!(command(&home), "mine");

    // In a project it would hide the user's own.
    let project = InstallTarget {
        project: Some(home.0.path().join("project")),
        ..home.target()
    };
    for change in plan(Some(claude), &project).unwrap() {
        assert!(!change.after.unwrap().contains("statusLine"));
    }
}

#[cfg(unix)]
#[test]
fn a_missing_program_blocks_a_tool_call_only_while_a_run_is_active() {
    for host in HOSTS {
        assert_blocked_while_active(host, None);
    }
}

/// Programs that do not answer.
#[cfg(unix)]
const BROKEN: [&str; 7] = [
    "kill -9 $$",
    "exit 1",
    "kill -SEGV $$",
    "exit 101",
    "echo hello",
    "echo '{\"decision\": \"bl'",
    "echo '{}'; exit 1",
];

#[cfg(unix)]
#[test]
fn a_program_that_fails_or_prints_no_answer_blocks_a_tool_call_only_while_a_run_is_active() {
    for script in BROKEN {
        assert_blocked_while_active(HOSTS[0], Some(script));
    }
}

#[cfg(unix)]
#[test]
fn a_missing_or_broken_program_lets_every_other_event_pass() {
    let home = Home::new();
    home.write(".local/state/workflow-sidecar/running/.active", "");
    for host in HOSTS {
        for (_, event) in host.events {
            for script in BROKEN.map(Some).into_iter().chain([None]) {
                if *event == EventName::ToolCall {
                    continue;
                }
                let (code, ..) = run_hook(&home, host, script, *event);
                assert_eq!(code, Some(0), "{} {script:?}", host.name);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn an_answer_is_passed_on_as_it_is() {
    let home = Home::new();
    for (script, stdout) in [
        ("true", ""),
        (
            r#"printf '%s\n' '{"a": "\\n * $HOME"}'"#,
            "{\"a\": \"\\\\n * $HOME\"}\n",
        ),
    ] {
        for event in [EventName::ToolCall, EventName::Prompt] {
            let (code, printed, _) = run_hook(&home, HOSTS[0], Some(script), event);
            assert_eq!((code, &*printed), (Some(0), stdout), "{script}");
        }
    }
    let denial = Some("echo '{}'; echo no >&2; exit 2");
    let denied = run_hook(&home, HOSTS[0], denial, EventName::ToolCall);
    assert_eq!(denied, (Some(2), "{}\n".to_owned(), "no\n".to_owned()));
}

#[cfg(unix)]
#[test]
fn where_the_directory_or_the_home_of_a_hook_is_not_known_an_active_run_still_blocks_a_call() {
    for host in HOSTS {
        let home = Home::new();
        let gone = "rmdir \"$PWD\"; cd -P . 2>/dev/null";
        let run = |before: &str| run_hook_after(&home, host, None, EventName::ToolCall, before).0;
        assert_eq!([run(gone), run("HOME=")], [Some(0); 2], "{}", host.name);
        home.write(".local/state/workflow-sidecar/active", "");
        assert_eq!([run(gone), run("HOME=")], [Some(2), Some(0)]);
        home.write(".local/state/workflow-sidecar/running/.active", "");
        assert_eq!([run(gone), run("unset HOME")], [Some(2); 2]);
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf_8_is_not_written() {
    use std::os::unix::ffi::OsStringExt;
    let odd = PathBuf::from(std::ffi::OsString::from_vec(b"/opt/\xff".to_vec()));
    let home = Home::new();
    let program = InstallTarget {
        program: odd.clone(),
        ..home.target()
    };
    let state = InstallTarget {
        state: Some(odd),
        ..home.target()
    };
    for target in [program, state] {
        for host in HOSTS.into_iter().map(Some).chain([None]) {
            let refused = plan(host, &target).unwrap_err().to_string();
            assert!(refused.contains("is not UTF-8"), "{refused}");
            assert!(plan_removal(host, &target).is_ok());
        }
    }
}

/// Runs the installed command of a tool call with a program that is missing, or is this script.
#[cfg(unix)]
fn assert_blocked_while_active(host: &HookHost, script: Option<&str>) {
    let home = Home::new();
    let run = || run_hook(&home, host, script, EventName::ToolCall);
    // Where the command runs, and a run of another project.
    let cwd = home.0.path().canonicalize().unwrap().join("it's $x *");
    let marker = |project: &Path| {
        let below = project.strip_prefix("/").unwrap().to_str().unwrap();
        format!(".local/state/workflow-sidecar/running/{below}/.active")
    };
    home.write(&marker(&cwd.join("inner")), "");
    home.write(&marker(Path::new("/other")), "");
    home.write(".local/state/workflow-sidecar/active", "");
    assert_eq!(run().0, Some(0), "{} {script:?}", host.name);
    home.write(&marker(cwd.parent().unwrap()), "");
    let (code, stdout, stderr) = run();
    assert_eq!(code, Some(2), "{} {script:?}", host.name);
    assert!(
        stdout.is_empty() && stderr.contains("so it is blocked"),
        "{stdout}{stderr}"
    );
}

/// Runs the installed command of an event, and gives the exit code and the output.
#[cfg(unix)]
fn run_hook(
    home: &Home,
    host: &HookHost,
    script: Option<&str>,
    event: EventName,
) -> (Option<i32>, String, String) {
    run_hook_after(home, host, script, event, ":")
}

/// The same after a line of a shell.
#[cfg(unix)]
fn run_hook_after(
    home: &Home,
    host: &HookHost,
    script: Option<&str>,
    event: EventName,
    before: &str,
) -> (Option<i32>, String, String) {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    let program = home.0.path().join("workflow-sidecar");
    let _ = fs::remove_file(&program);
    if let Some(script) = script {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let target = InstallTarget {
        program,
        ..home.target()
    };
    let command = format!("{before}\n{}", command(host, &target, event));
    let mut shell = Command::new("/bin/sh");
    let cwd = home.0.path().join("it's $x *");
    fs::create_dir_all(&cwd).unwrap();
    shell.args(["-c", &command]).env("HOME", home.0.path());
    shell.current_dir(cwd);
    let output = shell.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_hook_that_the_user_adds_to_a_file_of_ours_stays() {
    let home = Home::new();
    let copilot = crate::hook_hosts::host("copilot").unwrap();
    home.install(copilot);
    let hooks = ".copilot/hooks/workflow-sidecar.json";
    let ours = home.text(hooks).unwrap();
    home.write(
        hooks,
        &ours.replace("\"Stop\": [", "\"Stop\": [{\"bash\": \"mine\"}, "),
    );
    assert_ne!(home.text(hooks).unwrap(), ours);
    let mut again = plan(Some(copilot), &home.target()).unwrap().into_iter();
    assert!(again.all(|change| change.is_made()));
}

#[test]
fn a_file_of_ours_with_a_hook_of_the_user_is_updated_and_left_to_the_user() {
    let home = Home::new();
    let copilot = crate::hook_hosts::host("copilot").unwrap();
    home.install(copilot);
    let hooks = ".copilot/hooks/workflow-sidecar.json";
    let outdated = home.text(hooks).unwrap().replace(":30", ":29");
    let mine = "\"Stop\": [{\"bash\": \"mine\"}, ";
    home.write(hooks, &outdated.replace("\"Stop\": [", mine));
    home.install(copilot);
    let updated = home.text(hooks).unwrap();
    assert!(
        !updated.contains(":29") && updated.contains("\"mine\""),
        "{updated}"
    );
    home.uninstall(copilot);
    let left = home.text(hooks).unwrap();
    assert!(
        left.contains("\"mine\"") && !left.contains("hook copilot"),
        "{left}"
    );
}

#[test]
fn a_file_with_a_name_twice_is_refused() {
    let home = Home::new();
    for text in [
        r#"{"hooks": {"Stop": []}, "hooks": {}}"#,
        r#" { "hooks": {}, "a": 1, "a": {"hooks": 1} }"#,
        r#"{"hooks": {"Stop": [], "Stop": [{"hooks": []}]}}"#,
    ] {
        home.write(".codex/hooks.json", text);
        let error = plan(Some(HOSTS[0]), &home.target()).unwrap_err();
        assert!(error.to_string().contains("` twice: remove one"), "{error}");
    }
}

#[test]
fn a_directory_that_the_hosts_own_variable_names_is_used() {
    for (host, variable, files) in [
        ("codex", "CODEX_HOME", &["hooks.json", "config.toml"][..]),
        (
            "claude",
            "CLAUDE_CONFIG_DIR",
            &["settings.json", ".claude.json", "commands/workflow.md"],
        ),
        (
            "copilot",
            "COPILOT_HOME",
            &["hooks/workflow-sidecar.json", "mcp-config.json"],
        ),
        ("gemini", "GEMINI_CLI_HOME", &[".gemini/settings.json"]),
        (
            "qwen",
            "QWEN_HOME",
            &["settings.json", "commands/workflow.md"],
        ),
    ] {
        let host = crate::hook_hosts::host(host).unwrap();
        let (home, named) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let value = |name: &str| (name == variable).then(|| named.path().to_path_buf());
        let home = Home(
            tempfile::tempdir().unwrap(),
            Directories::new(home.path(), value),
        );
        home.install(host);
        for file in files {
            assert!(named.path().join(file).exists(), "{variable} {file}");
        }
        assert!(installed(host, &home.target()).is_some());
        home.uninstall(host);
        let left = files.iter().filter(|file| named.path().join(file).exists());
        assert_eq!(left.count(), 0, "{variable}");
        let in_project = InstallTarget {
            project: Some(home.0.path().to_path_buf()),
            ..home.target()
        };
        if let Ok(changes) = plan(Some(host), &in_project) {
            let mut paths = changes.iter().map(|change| &change.path);
            assert!(
                paths.all(|path| path.starts_with(home.0.path())),
                "{variable}"
            );
        }
    }
}

#[test]
fn what_a_program_of_another_name_installed_is_found_and_removed() {
    for host in HOSTS {
        let home = Home::new();
        let target = InstallTarget {
            program: "/opt/it's here/wf".into(),
            state: Some("/srv/a store".into()),
            ..home.target()
        };
        for change in plan(Some(host), &target).unwrap() {
            apply(&change).unwrap();
        }
        let found = installed(host, &home.target()).unwrap();
        assert_eq!(found.commands.len(), host.events.len(), "{}", host.name);
        assert!(has_server(host, &target), "{}", host.name);
        home.uninstall(host);
        assert_eq!(home.files(), Vec::<PathBuf>::new(), "{}", host.name);
        for change in plan(Some(host), &target).unwrap() {
            apply(&change).unwrap();
        }
        home.install(host);
        let found = installed(host, &home.target()).unwrap();
        let all = found.commands.iter();
        let mut new = all.filter(|(_, command)| command.contains("/workflow-sidecar"));
        assert!(new.next().is_some(), "{}", host.name);
        home.uninstall(host);
        assert!(installed(host, &home.target()).is_none(), "{}", host.name);
    }
}

/// Installs or removes, and notes it.
fn change(host: Option<&'static HookHost>, target: &InstallTarget, installs: bool) {
    let changes = if installs {
        plan(host, target)
    } else {
        plan_removal(host, target)
    };
    for change in changes.unwrap() {
        apply(&change).unwrap();
    }
    let parts = || installed_parts(host, target).unwrap();
    let (home, project) = (&target.directories.home, target.project.as_deref());
    let name = host.map_or(opencode::NAME, |host| host.name);
    let (program, parts) = (&target.program, installs.then(parts));
    note_installation(home, (name, "", project), program, parts, Vec::new()).unwrap();
}

/// A home directory with a program, and the target for it.
fn home_with_program() -> (Home, InstallTarget) {
    let home = Home::new();
    home.write("bin/workflow-sidecar", "one");
    let target = InstallTarget {
        program: home.0.path().join("bin/workflow-sidecar"),
        ..home.target()
    };
    (home, target)
}

/// What has changed since the installations.
fn changed(home: &Home) -> String {
    let changes = changes_since_installation(home.0.path()).into_iter();
    changes.map(|(text, _)| text).collect()
}

#[test]
fn what_changes_after_an_installation_is_noticed_until_it_is_accepted() {
    for host in HOSTS.map(Some).into_iter().chain([None]) {
        let (home, target) = home_with_program();
        change(host, &target, true);
        assert_eq!(changed(&home), "");
        // A copy of the same program is no other program.
        home.write("bin/new", "one");
        fs::rename(home.0.path().join("bin/new"), &target.program).unwrap();
        assert_eq!(changed(&home), "");
        home.write("bin/workflow-sidecar", "two");
        assert!(changed(&home).ends_with("is not the program that was installed"));
        change(host, &target, true);
        assert_eq!(changed(&home), "");
        fs::remove_file(&target.program).unwrap();
        assert!(changed(&home).ends_with("is not the program that was installed"));
        home.write("bin/workflow-sidecar", "two");
        change(host, &target, false);
        assert_eq!(changed(&home), "");
    }
}

#[test]
fn a_hook_or_a_source_of_the_plugin_that_is_removed_or_replaced_is_noticed() {
    for host in HOSTS.map(Some).into_iter().chain([None]) {
        let (home, target) = home_with_program();
        change(host, &target, true);
        for file in installed_parts(host, &target).unwrap().into_keys() {
            let text = fs::read_to_string(&file).unwrap();
            let name = host.map_or("import", |host| host.name);
            let replaced = |with: &str| text.replace("bin/workflow-sidecar' hook", with);
            let changes = ["", "{}", &text.replacen(name, "x", 1)].map(str::to_owned);
            let replaced = ["bin/true' hook", "bin/workflow-sidecar' hook x"].map(replaced);
            for other in changes.into_iter().chain(replaced) {
                fs::write(&file, &other).unwrap();
                let is_same = other == text;
                assert_eq!(changed(&home).is_empty(), is_same, "{name} {other}");
            }
            fs::write(&file, format!("{text}\n")).unwrap();
            assert_eq!(changed(&home).is_empty(), host.is_some(), "{name}");
            fs::write(&file, text).unwrap();
            assert_eq!(changed(&home), "");
        }
    }
}

#[test]
fn a_hook_in_another_form_of_the_same_json_is_no_change() {
    for host in HOSTS {
        let (home, target) = home_with_program();
        change(Some(host), &target, true);
        let hooks = installed(host, &target).unwrap().hooks;
        let json: serde_json::Value = serde_json::from_slice(&fs::read(&hooks).unwrap()).unwrap();
        fs::write(&hooks, serde_json::to_string_pretty(&json).unwrap()).unwrap();
        assert_eq!(changed(&home), "", "{}", host.name);
    }
}

#[test]
fn a_project_that_is_gone_is_no_change() {
    let (home, target) = home_with_program();
    let target = InstallTarget {
        project: Some(home.0.path().join("project")),
        ..target
    };
    let gemini = crate::hook_hosts::host("gemini");
    change(gemini, &target, true);
    home.write("bin/workflow-sidecar", "two");
    let changes = changes_since_installation(home.0.path());
    assert!(
        changes[0]
            .1
            .ends_with("workflow-sidecar install gemini --project")
    );
    fs::remove_dir_all(home.0.path().join("project")).unwrap();
    assert_eq!(changed(&home), "");
}

#[test]
fn a_note_of_installations_that_cannot_be_read_is_a_change_and_is_not_overwritten() {
    const NOTE: &str = ".local/state/workflow-sidecar/installed.json";
    let (home, target) = home_with_program();
    change(Some(HOSTS[0]), &target, true);
    for damaged in ["", "[{", "{}"] {
        home.write(NOTE, damaged);
        assert!(changed(&home).contains("installed.json, which says what was installed"));
        let noted = note_installation(
            home.0.path(),
            ("codex", "", None),
            &target.program,
            None,
            Vec::new(),
        );
        let error = noted.unwrap_err().to_string();
        assert!(error.contains("remove it, then run"), "{error}");
        assert_eq!(home.text(NOTE).as_deref(), Some(damaged));
    }
}

#[test]
fn an_administrator_installs_the_hooks_of_a_user_for_all_and_removes_them_byte_for_byte() {
    for host in HOSTS {
        let home = Home::new();
        let root = home.0.path().join("root");
        let managed = InstallTarget {
            directories: Directories::managed(&root),
            ..home.target()
        };
        if host.name == "copilot" {
            let refused = plan(Some(host), &managed).unwrap_err().to_string();
            assert!(
                refused.contains("no hooks from an administrator"),
                "{refused}"
            );
            continue;
        }
        let others = "{\"hooks\": {}, \"mine\": 1}";
        for change in plan(Some(host), &managed).unwrap() {
            assert!(change.path.starts_with(&root), "{}", change.path.display());
            fs::create_dir_all(change.path.parent().unwrap()).unwrap();
            let is_json = change.path.extension().is_some_and(|it| it == "json");
            fs::write(&change.path, if is_json { others } else { "[a]\nb = 1\n" }).unwrap();
        }
        let before: Vec<_> = plan(Some(host), &managed).unwrap();
        for change in &before {
            apply(change).unwrap();
        }
        home.install(host);
        let [of_all, of_user] =
            [&managed, &home.target()].map(|target| installed(host, target).unwrap());
        let events = |of: &Installed| of.commands.iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(events(&of_all), events(&of_user), "{}", host.name);
        // The home directory is that of each user.
        assert!(!format!("{:?}", of_all.commands).contains("HOME:-"));
        assert_ne!(of_all.hooks, of_user.hooks);
        // Claude Code locks users out of their own servers where an administrator names one.
        assert_eq!(has_server(host, &managed), host.name != "claude");
        for change in plan_removal(Some(host), &managed).unwrap() {
            apply(&change).unwrap();
        }
        for change in before {
            assert_eq!(fs::read_to_string(&change.path).ok(), change.before);
        }
    }
}
