//! `tools: read-only` and tools that are not known to only read.

use serde_json::{Value, json};
use workflow_core::definition::{
    Guards, OpenedTools, Opening, Phase, PhaseEntry, Rule, RuleAction, ToolAccess,
};

use crate::world::{World, line, phase, workflow};
use Verdict::{Asked, Blocked, Runs};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Runs,
    Asked,
    Blocked,
}

/// A read-only phase in which these tools are open.
fn read_only(tools: &[&str]) -> Phase {
    let tool: Vec<String> = tools.iter().map(ToString::to_string).collect();
    let opened = (!tool.is_empty()).then_some(Opening::Tool(OpenedTools { tool }));
    Phase {
        tools: Some(ToolAccess::ReadOnly {
            source: "f:1".to_owned(),
        }),
        commands: opened.into_iter().collect(),
        ..phase("a")
    }
}

fn started(phase: Phase, user: Guards) -> World {
    let mut work = workflow("w", &[]);
    work.phases = vec![PhaseEntry::Phase(phase)];
    let mut world = World::new(vec![work]);
    world.settings.user = user;
    world.reload();
    world.command("w the task");
    world
}

fn verdict(world: &mut World, tool: &str, input: &Value) -> Verdict {
    verdict_on(world, tool, &input.to_string())
}

/// The verdict on a call with arguments as they are written.
fn verdict_on(world: &mut World, tool: &str, input: &str) -> Verdict {
    let said = world.call_written(tool, input);
    let starts = |start: &str| said.iter().any(|line| line.starts_with(start));
    if starts("ask ") {
        world.answer(false);
        Asked
    } else if starts("block") {
        Blocked
    } else {
        Runs
    }
}

/// The names that hosts give a tool of a server.
fn spelled(server: &str, tool: &str) -> [String; 5] {
    [
        format!("mcp__{server}__{tool}"),
        format!("mcp_{server}_{tool}"),
        format!("{server}-{tool}"),
        format!("{server}_{tool}"),
        format!("{server}.{tool}"),
    ]
}

fn assert_verdicts(rows: &[(&str, Value, Verdict)], names: impl Fn(&str) -> Vec<String>) {
    let mut world = started(read_only(&[]), Guards::default());
    for (tool, input, expected) in rows {
        for name in names(tool) {
            let found = verdict(&mut world, &name, input);
            assert_eq!(found, *expected, "{name} {input}");
        }
    }
}

fn of_server(tool: &str) -> Vec<String> {
    let (server, tool) = tool.split_once(' ').expect("a server and its tool");
    spelled(server, tool).to_vec()
}

fn own(tool: &str) -> Vec<String> {
    vec![tool.to_owned()]
}

#[test]
fn a_tool_of_a_server_that_is_not_known_to_only_read_is_unknown() {
    let none = json!({});
    let rows = [
        ("git git_commit", json!({"message": "x"}), Asked),
        ("git git_checkout", json!({"branch": "x"}), Asked),
        ("git git_reset", none.clone(), Asked),
        (
            "gh push_files",
            json!({"branch": "x", "message": "y"}),
            Asked,
        ),
        ("gh merge_pull_request", json!({"number": 1}), Asked),
        ("gh create_issue", json!({"title": "x"}), Asked),
        ("fs symlink", json!({"path": "a", "target": "b"}), Asked),
        ("fs chmod", json!({"path": "a", "mode": "777"}), Asked),
        ("fs format", json!({"path": "a"}), Asked),
        ("sql execute", json!({"sql": "drop table t"}), Asked),
        ("k8s apply", json!({"manifest": "x"}), Asked),
        ("x export", none.clone(), Asked),
        ("x screenshot", none.clone(), Asked),
        ("x generate_image", json!({"prompt": "x"}), Asked),
        ("x sync", none.clone(), Asked),
        ("x reapply", none.clone(), Asked),
        (
            "pw browser_evaluate",
            json!({"function": "() => f()"}),
            Asked,
        ),
        (
            "x do",
            json!({"op": "write", "path": "a", "content": "b"}),
            Asked,
        ),
        ("x do_search", none.clone(), Asked),
        // Words that change beside one that reads, and fields that do.
        ("x search_and_replace", json!({"text": "a"}), Asked),
        ("x find_replace", none.clone(), Asked),
        ("x get_or_create", none.clone(), Asked),
        ("x list_delete", none.clone(), Asked),
        ("x view_toggle", none.clone(), Asked),
        ("x fetch_commit", none.clone(), Asked),
        ("x get_rows", json!({"sql": "delete from t"}), Asked),
        (
            "x get_rows",
            json!({"sql": "select 1; drop table t"}),
            Asked,
        ),
        ("x find", json!({"script": "rm x"}), Blocked),
        ("x find", json!({"options": {"expression": "x"}}), Asked),
        (
            "x fetch",
            json!({"url": "http://a", "method": "POST"}),
            Asked,
        ),
        ("x fetch", json!({"url": "http://a", "body": "x"}), Asked),
        ("x fetch", json!({"url": "http://a", "output": "x"}), Asked),
        ("x get_report", json!({"save_to": "x"}), Asked),
        ("x read", json!({"op": "delete"}), Asked),
        // What certainly writes files is blocked, as ever.
        ("x generate_image", json!({"output_path": "a"}), Asked),
        ("fs write_file", json!({"path": "a"}), Blocked),
        (
            "fs move_file",
            json!({"source": "a", "destination": "b"}),
            Blocked,
        ),
        ("k8s apply", json!({"path": "a"}), Blocked),
    ];
    assert_verdicts(&rows, of_server);
}

#[test]
fn a_reading_tool_with_a_field_that_may_change_something_is_unknown() {
    let rows = [
        // Statements, in values that are no text too.
        ("x get_rows", json!({"sql": ["drop table t"]}), Asked),
        (
            "x get_rows",
            json!({"sql": {"text": "drop table t"}}),
            Asked,
        ),
        ("x get_rows", json!({"sql_query": "drop table t"}), Asked),
        ("x get_rows", json!({"query": "drop table t"}), Asked),
        ("x get_rows", json!({"q": "select 1; drop table t"}), Asked),
        ("x read_query", json!({"query": "drop table t"}), Asked),
        ("x read_query", json!({"query": "vacuum"}), Asked),
        ("x read_query", json!({"input": "call f()"}), Asked),
        ("x get", json!({"query": "mutation { f }"}), Asked),
        ("x search", json!({"query": "index=a | delete"}), Asked),
        ("x get", json!({"operation": ["delete"]}), Asked),
        ("x get", json!({"operation": {"type": "delete"}}), Asked),
        ("x get", json!({"operations": ["delete"]}), Asked),
        (
            "x get",
            json!({"operations": [{"delete": {"id": 1}}]}),
            Asked,
        ),
        ("x get", json!({"mode": "overwrite"}), Asked),
        ("x get", json!({"options": "{\"method\": \"PUT\"}"}), Asked),
        (
            "x fetch",
            json!({"url": "a", "http_method": "DELETE"}),
            Asked,
        ),
        ("x fetch", json!({"url": "a", "request_body": "x"}), Asked),
        ("x fetch", json!({"url": "a", "data": {"x": 1}}), Asked),
        ("x get", json!({"write_path": "a"}), Asked),
        ("x get", json!({"savePath": "a"}), Asked),
        ("x get", json!({"saveto": "a"}), Asked),
        ("x get", json!({"download_file": "a"}), Asked),
        ("x get", json!({"save_as_file": "a"}), Asked),
        ("x get", json!({"responseFilePath": "a"}), Asked),
        ("x get", json!({"dirForAssetWrites": "a"}), Asked),
        ("x get", json!({"update": {"a": 1}}), Asked),
        ("x get", json!({"stages": [[{"$out": "t"}]]}), Asked),
        ("x get", json!({"mark_as_read": true}), Asked),
        ("x get", json!({"clear": "yes"}), Asked),
    ];
    assert_verdicts(&rows, of_server);
}

#[test]
fn a_tool_of_a_host_that_is_not_known_to_only_read_is_unknown() {
    let none = json!({});
    let rows = [
        ("save_memory", json!({"fact": "x"}), Asked),
        ("store_memory", json!({"fact": "x"}), Asked),
        ("LSP", json!({"operation": "rename"}), Asked),
        ("screenshot", none.clone(), Asked),
        ("generate_image", json!({"output_path": "x"}), Asked),
        ("sql", json!({"query": "drop table t"}), Asked),
        ("toggle_status", none.clone(), Asked),
        ("delete_view", none.clone(), Asked),
        ("delete_mcp_server_list", none.clone(), Asked),
        ("x.delete.list", none.clone(), Asked),
        ("mcp_x_do_search", none.clone(), Asked),
        ("foo-mcp-do_search", none.clone(), Asked),
        ("lookup_and_run", none.clone(), Asked),
        ("mcp", json!({"tool": "x_do"}), Asked),
        ("workflow_stop", none.clone(), Asked),
        // The name of a server says nothing about its tools.
        ("search-mcp-server-frobnicate", none.clone(), Asked),
        ("db-inspect-mcp-server-query_and_go", none.clone(), Asked),
        ("brave-search-mcp-server-sendmail", none.clone(), Asked),
        ("status-page-server-incident", none.clone(), Asked),
        ("mcp_fetch_frobnicate", none.clone(), Asked),
        ("fetch.frobnicate", none.clone(), Asked),
        ("fetch/frobnicate", none.clone(), Asked),
        ("mcp__fetch__frobnicate", none.clone(), Asked),
        // Where nothing marks it, the first word may be a verb.
        ("frobnicate_status", none.clone(), Asked),
        ("stage_diff_hunks", none.clone(), Asked),
        ("save_command", json!({"command": "ls"}), Asked),
        ("edit", json!({"path": "a"}), Blocked),
        ("Write", json!({"file_path": "a"}), Blocked),
    ];
    assert_verdicts(&rows, own);
}

#[test]
fn fields_of_tools_that_run_programs_are_shell_lines() {
    let rows = [
        (
            "term run_process",
            json!({"program": "touch", "arguments": ["x"]}),
            Blocked,
        ),
        (
            "term run_process",
            json!({"program": "ls", "arguments": ["-l"]}),
            Runs,
        ),
        (
            "term run_process",
            json!({"program": "ls; touch x", "arguments": []}),
            Asked,
        ),
        (
            "term run_process",
            json!({"program": "CI=1", "arguments": ["ls"]}),
            Asked,
        ),
        ("term exec", json!({"argv": ["touch", "x"]}), Blocked),
        ("term exec", json!({"argv": ["git", "status"]}), Runs),
        (
            "term exec",
            json!({"argv": ["CI=1", "git", "status"]}),
            Asked,
        ),
        ("term exec", json!({"argv": ["ls", "; touch x"]}), Runs),
        (
            "term exec",
            json!({"command": ["bash", "-lc", "rm x"]}),
            Blocked,
        ),
        ("term exec", json!({"argv": "[\"touch\", \"x\"]"}), Blocked),
        ("term exec", json!({"session": 1}), Asked),
        // A tool of another name does more than its line.
        ("ci run_pipeline", json!({"command": "ls"}), Asked),
        ("x launch", json!({"program": "ls", "args": []}), Asked),
        ("x do", json!({"argv": ["touch", "x"]}), Blocked),
    ];
    assert_verdicts(&rows, of_server);
    let rows = [
        ("unified_exec", json!({"input": ["touch", "x"]}), Blocked),
        ("unified_exec", json!({"input": ["ls", "x"]}), Runs),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "touch x\n"}),
            Blocked,
        ),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "git log\n"}),
            Runs,
        ),
        ("write_stdin", json!({"session_id": 1, "chars": ""}), Runs),
        ("write_stdin", json!({"session_id": 1}), Runs),
        (
            "write_stdin",
            json!({"session_id": 1, "data": "rm x"}),
            Asked,
        ),
        (
            "write_bash",
            json!({"shellId": "1", "input": "rm x"}),
            Blocked,
        ),
        ("exec_command", json!({"cmd": "git status"}), Runs),
        ("exec_command", json!({"cmd": "mytool"}), Asked),
        ("local_shell", json!({"command": ["rm", "x"]}), Blocked),
        ("run_shell_command", json!({"command": "git status"}), Runs),
    ];
    assert_verdicts(&rows, own);
}

#[test]
fn everyday_tools_of_servers_read() {
    let rows = [
        (
            "github get_issue",
            json!({"owner": "a", "repo": "b", "issue_number": 1}),
            Runs,
        ),
        (
            "github list_pull_requests",
            json!({"owner": "a", "state": "open"}),
            Runs,
        ),
        (
            "github get_file_contents",
            json!({"path": "README.md"}),
            Runs,
        ),
        (
            "github search_code",
            json!({"query": "x", "order": "asc"}),
            Runs,
        ),
        ("github get_commit", json!({"sha": "x"}), Runs),
        ("github list_commits", json!({"sha": "x"}), Runs),
        ("github issue_read", json!({"method": "get_comments"}), Runs),
        (
            "github pull_request_read",
            json!({"method": "get_diff"}),
            Runs,
        ),
        ("github get_me", json!({}), Runs),
        (
            "github actions_list",
            json!({"method": "list_workflow_runs"}),
            Runs,
        ),
        ("fs read_file", json!({"path": "a"}), Runs),
        ("fs list_directory", json!({"path": "a"}), Runs),
        ("fs directory_tree", json!({"path": "a"}), Runs),
        (
            "fs search_files",
            json!({"path": "a", "pattern": "x"}),
            Runs,
        ),
        ("fs get_file_info", json!({"path": "a"}), Runs),
        ("git git_status", json!({"repo_path": "."}), Runs),
        ("git git_diff_unstaged", json!({"repo_path": "."}), Runs),
        ("git git_log", json!({"max_count": 5}), Runs),
        ("git git_show", json!({"revision": "HEAD"}), Runs),
        ("context7 get-library-docs", json!({"topic": "x"}), Runs),
        ("linear search_issues", json!({"query": "x"}), Runs),
        ("linear linear_get_issue", json!({"id": "x"}), Runs),
        (
            "slack slack_get_channel_history",
            json!({"channel": "x"}),
            Runs,
        ),
        ("notion notion-search", json!({"query": "x"}), Runs),
        ("jira jira_get_issue", json!({"key": "x"}), Runs),
        ("sentry find_issues", json!({"query": "x"}), Runs),
        (
            "fetch fetch",
            json!({"url": "http://a", "method": "GET"}),
            Runs,
        ),
        ("memory read_graph", json!({}), Runs),
        ("time get_current_time", json!({"timezone": "x"}), Runs),
        ("db list_tables", json!({}), Runs),
        ("db describe_table", json!({"table": "t"}), Runs),
        (
            "db get_rows",
            json!({"sql": "select a from t where b = 1"}),
            Runs,
        ),
        ("ide getDiagnostics", json!({"uri": "file:///a"}), Runs),
        ("brave brave_web_search", json!({"query": "x"}), Runs),
    ];
    assert_verdicts(&rows, of_server);
    let of_copilot = [("github-mcp-server-get_issue", json!({}), Runs)];
    assert_verdicts(&of_copilot, own);
}

#[test]
fn of_the_tools_of_usual_servers_none_that_acts_runs_and_few_that_read_are_asked_about() {
    let mut world = started(read_only(&[]), Guards::default());
    let (mut run, mut asked, mut of) = (Vec::new(), Vec::new(), 0);
    let rows = include_str!("server_tools.txt").lines();
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let [kind, server, tool, input] = row.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let found = verdict_on(&mut world, &format!("mcp__{server}__{tool}"), input);
        if kind == "acts" {
            let names = spelled(server, tool).into_iter();
            run.extend(names.filter(|name| verdict_on(&mut world, name, input) == Runs));
        } else {
            of += 1;
            asked.extend((found != Runs).then_some(row));
        }
    }
    assert!(run.is_empty(), "{run:#?}");
    assert!(
        asked.len() * 100 <= of * 15,
        "{} of {of}: {asked:#?}",
        asked.len()
    );
}

#[test]
fn everyday_tools_of_hosts_run_in_a_read_only_phase() {
    let hosts = [
        // pi
        "read grep find ls",
        // Claude Code
        "Read Grep Glob LS NotebookRead WebFetch WebSearch TodoWrite TaskCreate TaskList AskUserQuestion ExitPlanMode EnterPlanMode Task Agent \
         Skill TaskOutput BashOutput KillShell ToolSearch ListMcpResourcesTool ReadMcpResourceTool",
        // Codex
        "view_image update_plan request_user_input web_search tool_search get_goal create_goal update_goal list_mcp_resources \
         list_mcp_resource_templates read_mcp_resource collaborationspawn_agent collaborationwait_agent spawn_agent wait_agent",
        // Copilot CLI
        "view glob report_intent ask_user task skill read_agent list_agents write_agent read_bash list_bash stop_bash web_fetch \
         fetch_copilot_cli_documentation update_todo",
        // Gemini CLI
        "read_file read_many_files list_directory glob grep_search search_file_content google_web_search write_todos enter_plan_mode exit_plan_mode \
         invoke_agent activate_skill update_topic list_background_processes read_background_output ask_user",
        // opencode
        "list todowrite todoread webfetch websearch codesearch question plan_enter plan_exit",
    ];
    let mut world = started(read_only(&[]), Guards::default());
    for tool in hosts.iter().flat_map(|names| names.split_whitespace()) {
        let input = json!({"path": "a", "prompt": "x", "todos": [{"content": "y"}]});
        assert_eq!(verdict(&mut world, tool, &input), Runs, "{tool}");
    }
}

#[test]
fn the_agent_and_the_user_read_why_a_tool_is_unknown_and_how_it_is_opened() {
    let mut world = started(read_only(&[]), Guards::default());
    let asked = world.call("mcp__x__do", &json!({"a": 1}));
    let asked = line(&asked, "ask Allow mcp__x__do?");
    assert!(
        asked.contains("`mcp__x__do` is unknown: it is not a tool that is known to only read."),
        "{asked}"
    );
    let said = world.answer(false);
    let said = line(&said, "settled");
    let open = "To allow this, the user can add `commands: [{tool: \"mcp__x__do\"}]`.";
    assert!(said.contains(open), "{said}");
    assert!(
        said.contains(
            "Use another approach, or call workflow_step with action='next' if the phase is done."
        ),
        "{said}"
    );
    let asked = world.call("mcp__docker__run", &json!({"image": "x"}));
    let why = "`mcp__docker__run` is unknown: no argument is the command line that it runs.";
    assert!(line(&asked, "ask").contains(why), "{asked:?}");
    let asked = world.call("mcp__x__get", &json!({"sql": "drop table t"}));
    let why = "`mcp__x__get` is unknown: its argument `sql` may change something.";
    assert!(line(&asked, "ask").contains(why), "{asked:?}");
}

#[test]
fn arguments_that_cannot_be_read_are_blocked_where_rules_hold() {
    let deep = format!(
        "{{\"path\": \"a\", \"n\": {}{}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let calls = [
        ("mcp__x__get", r#"{"id": "\ud800"}"#),
        ("mcp__x__get", r#"{"sql": "drop table t", "n": 1e999}"#),
        ("mcp__x__get", r#"["rm x"]"#),
        ("mcp__x__get", &*deep),
        ("bash", r#"{"command": "ls # \ud800"}"#),
        ("bash", r#""ls""#),
        ("write", r#"{"path": "docs/a", "content": "\ud800"}"#),
    ];
    let allow = json!({"action": "allow", "tools": ["*", "bash", "mcp__x__*"]});
    let user = Guards {
        rules: vec![serde_json::from_value(allow).expect("it is a rule")],
        ..Guards::default()
    };
    let open = read_only(&["mcp__x__*"]);
    for (phase, user) in [(open, user), (phase("a"), Guards::default())] {
        let mut world = started(phase, user);
        for (tool, input) in calls {
            let said = world.call_written(tool, input);
            let block = line(&said, "block");
            assert!(block.contains("They are not valid: "), "{input} {block}");
        }
        // What only reads does so with any arguments.
        let read = r#"{"path": "a", "n": "\ud800"}"#;
        assert_eq!(verdict_on(&mut world, "read", read), Runs);
    }
}

#[test]
fn writable_opens_no_tool_that_acts_elsewhere() {
    let phase = Phase {
        writable: vec!["docs/**".to_owned()],
        ..read_only(&[])
    };
    let mut world = started(phase, Guards::default());
    let path = json!({"path": "docs/a"});
    for (tool, input, expected) in [
        (
            "mcp__fs__write_file",
            json!({"path": "docs/a", "content": "x"}),
            Runs,
        ),
        (
            "mcp__fs__edit_file",
            json!({"path": "docs/a", "edits": [], "dryRun": false}),
            Runs,
        ),
        (
            "mcp__fs__move_file",
            json!({"source": "docs/a", "destination": "docs/b"}),
            Runs,
        ),
        ("mcp__fs__create_directory", path.clone(), Runs),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Add File: docs/a\n+x"}),
            Runs,
        ),
        ("create", json!({"path": "docs/a", "file_text": "x"}), Runs),
        (
            "replace",
            json!({"file_path": "docs/a", "old_string": "x", "instruction": "y"}),
            Runs,
        ),
        (
            "mcp__github__create_or_update_file",
            json!({"path": "docs/a", "branch": "b"}),
            Asked,
        ),
        (
            "mcp__gh__delete_file",
            json!({"path": "docs/a", "owner": "a", "repo": "b"}),
            Asked,
        ),
        ("mcp__k8s__apply", json!({"file": "docs/a"}), Asked),
        ("mcp__k8s__patch", json!({"file": "docs/a"}), Asked),
        ("k8s_patch", json!({"file": "docs/a"}), Asked),
        ("delete", json!({"path": "docs/a"}), Runs),
        ("delete", json!({"path": "docs/a", "bucket": "b"}), Asked),
        ("mcp__x__upload_file", path.clone(), Asked),
        (
            "mcp__x__download_file",
            json!({"url": "a", "path": "docs/a"}),
            Asked,
        ),
        ("mcp__gh__create_issue", path.clone(), Asked),
        ("mcp__vault__write", path, Asked),
        ("mcp__k8s__apply", json!({"file": "src/a"}), Blocked),
    ] {
        assert_eq!(verdict(&mut world, tool, &input), expected, "{tool}");
    }
}

#[test]
fn commands_opens_tools_by_their_names_but_no_line_of_a_shell() {
    let phase = read_only(&[
        "mcp__gh__*",
        "mcp__fs__write_file",
        "mcp__docker__run",
        "mcp__term__*",
        "bash",
        "*shell",
        "exec_*",
    ]);
    let mut world = started(phase, Guards::default());
    for (tool, input, expected) in [
        ("mcp__gh__create_issue", json!({"title": "x"}), Runs),
        ("mcp__fs__write_file", json!({"path": "a"}), Runs),
        ("mcp__docker__run", json!({"image": "x"}), Runs),
        (
            "mcp__docker__run",
            json!({"image": "x", "command": "rm x"}),
            Runs,
        ),
        ("mcp__term__run", json!({"command": "rm x"}), Blocked),
        ("mcp__term__read", json!({"path": "x"}), Runs),
        ("powershell", json!({"command": "rm x"}), Blocked),
        ("exec_command", json!({"cmd": "rm x"}), Blocked),
        ("mcp__x__run", json!({"image": "x"}), Asked),
        ("mcp__x__create_issue", json!({"title": "x"}), Asked),
        ("write", json!({"path": "a"}), Blocked),
        ("bash", json!({"command": "rm a"}), Blocked),
        ("bash", json!({"command": "mytool"}), Asked),
    ] {
        assert_eq!(verdict(&mut world, tool, &input), expected, "{tool}");
    }
}

#[test]
fn a_rule_of_the_users_settings_makes_a_tool_known_by_its_name() {
    let rule = |value: Value| serde_json::from_value::<Rule>(value).expect("it is a rule");
    let allow = |tool: &str| Guards {
        rules: vec![rule(json!({"action": "allow", "tools": [tool]}))],
        unknown: Some(RuleAction::Block),
        ..Guards::default()
    };
    let create = json!({"title": "x"});
    for (tool, expected) in [("mcp__gh__*", Runs), ("*", Blocked), ("mcp__x__*", Blocked)] {
        let mut world = started(read_only(&[]), allow(tool));
        let run = verdict(&mut world, "mcp__gh__run", &json!({"id": 1}));
        assert_eq!(run, expected, "{tool}");
        let line = json!({"command": "mytool"});
        assert_eq!(
            verdict(&mut world, "mcp__gh__run", &line),
            Blocked,
            "{tool}"
        );
        assert_eq!(
            verdict(&mut world, "mcp__gh__create_issue", &create),
            expected,
            "{tool}"
        );
        // What certainly writes stays blocked.
        let write = json!({"path": "a"});
        assert_eq!(
            verdict(&mut world, "mcp__gh__write_file", &write),
            Blocked,
            "{tool}"
        );
    }
    let mut world = started(read_only(&[]), allow("bash"));
    assert_eq!(
        verdict(&mut world, "bash", &json!({"command": "mytool"})),
        Blocked
    );
    // The project does not say what the user knows.
    let mut world = started(read_only(&[]), Guards::default());
    world.settings.project = Guards {
        unknown: None,
        ..allow("mcp__gh__*")
    };
    world.reload();
    assert_eq!(verdict(&mut world, "mcp__gh__create_issue", &create), Asked);
}

#[test]
fn the_settings_decide_on_unknown_tools() {
    for (unknown, expected) in [
        (RuleAction::Allow, Runs),
        (RuleAction::Ask, Asked),
        (RuleAction::Block, Blocked),
    ] {
        let guards = Guards {
            unknown: Some(unknown),
            ..Guards::default()
        };
        let mut world = started(read_only(&[]), guards);
        assert_eq!(verdict(&mut world, "mcp__x__do", &json!({})), expected);
    }
}

#[test]
fn a_yes_for_the_run_is_about_the_tool_or_exactly_the_line_and_survives_a_restart() {
    let mut world = started(read_only(&[]), Guards::default());
    let line = |line: &str| json!({ "command": line });
    let asked = world.call("mcp__x__do", &json!({"a": 1}));
    let options = "Yes, for this run: exactly this command line, or without one this tool, runs without a question until the run ends.";
    assert!(asked.iter().any(|line| line.contains(options)), "{asked:?}");
    world.choose(Some("Yes, for this run"));
    world.call("bash", &line("mytool a"));
    world.choose(Some("Yes, for this run"));
    let check = |world: &mut World| {
        for (tool, input, expected) in [
            ("mcp__x__do", json!({"a": 2}), Runs),
            ("mcp__x__other", json!({"a": 1}), Asked),
            ("bash", line("mytool a"), Runs),
            ("bash", line("mytool a b"), Asked),
            ("bash", json!({"command": "mytool a", "cwd": "b"}), Asked),
            ("bash", line("mytool a; rm x"), Blocked),
            ("mcp__term__exec", line("mytool a"), Asked),
        ] {
            assert_eq!(verdict(world, tool, &input), expected, "{tool} {input}");
        }
    };
    check(&mut world);
    world.restart();
    check(&mut world);
    // The next run begins without it.
    world.cancel_command();
    world.command("w the task");
    assert_eq!(verdict(&mut world, "mcp__x__do", &json!({})), Asked);
}

#[test]
fn a_tool_of_a_host_that_starts_other_work_is_blocked_until_it_is_opened() {
    let tools = ["CronCreate", "SendMessage", "EnterWorktree", "Workflow"];
    for (open, expected) in [(&[][..], Blocked), (&tools[..], Runs)] {
        let mut world = started(read_only(open), Guards::default());
        for tool in tools {
            assert_eq!(
                verdict(&mut world, tool, &json!({"prompt": "x"})),
                expected,
                "{tool}"
            );
        }
    }
    let mut world = started(read_only(&[]), Guards::default());
    let said = world.call("CronCreate", &json!({})).concat();
    let way = "`CronCreate` changes something else than files.\nTo allow this, the user can add `commands: [{tool: \"CronCreate\"}]`.";
    assert!(said.contains(way), "{said}");
}

#[test]
fn a_yes_without_the_run_is_about_one_call() {
    let mut world = started(read_only(&[]), Guards::default());
    world.call("mcp__x__do", &json!({}));
    world.choose(Some("Yes"));
    assert_eq!(verdict(&mut world, "mcp__x__do", &json!({})), Asked);
}

#[test]
fn a_yes_for_the_run_is_not_offered_where_a_rule_asks_or_no_run_is_active() {
    let ask = json!({"action": "ask", "tools": ["*"], "source": "f:1"});
    let user = Guards {
        rules: vec![serde_json::from_value(ask).expect("it is a rule")],
        ..Guards::default()
    };
    let mut world = started(read_only(&[]), user);
    let asked = world.call("mcp__x__do", &json!({}));
    assert!(
        !asked.iter().any(|line| line.contains("for this run")),
        "{asked:?}"
    );
    let unknown = json!({"action": "block", "tools": ["bash"], "writes": true, "source": "f:1"});
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.settings.user.rules = vec![serde_json::from_value(unknown).expect("it is a rule")];
    world.reload();
    let asked = world.call("bash", &json!({"command": "mytool"}));
    line(&asked, "ask Allow bash?");
    assert!(
        !asked.iter().any(|line| line.contains("for this run")),
        "{asked:?}"
    );
}
