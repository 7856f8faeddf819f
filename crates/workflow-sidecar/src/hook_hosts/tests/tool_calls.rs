//! Tool calls: denials, patches, tickets, sub-agents.

use serde_json::{Value, json};

use super::world::{World, call_of, is_denied, json_of, recorded, session_of, writing_call};
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::event::{EventName, EventPayload};
use crate::hook_hosts::{HOSTS, TICKET_ARGUMENT, host};
use crate::store::{SessionKey, Ticket};
use crate::time::wall_time;

#[test]
fn a_call_that_the_phase_forbids_is_denied_in_the_closed_form_of_the_host() {
    for host in HOSTS {
        let world = World::new(host);
        let call = writing_call(host);
        assert_eq!(
            world.send(&call),
            Printed::default(),
            "{}: no run",
            host.name
        );
        world.start();
        let denied = world.send(&call);
        let json = json_of(&denied);
        let (decision, code) = match host.name {
            "gemini" => (json["decision"].clone(), 0),
            "copilot" => (json["permissionDecision"].clone(), 2),
            name => {
                let code = if name == "claude" { 0 } else { 2 };
                (
                    json["hookSpecificOutput"]["permissionDecision"].clone(),
                    code,
                )
            }
        };
        assert_eq!(
            (decision, denied.code),
            (json!("deny"), code),
            "{}",
            host.name
        );
        assert!(denied.stdout.contains("blocked during the Analyze phase"));
        assert_eq!(denied.stderr.is_empty(), code == 0);
        let shell = call_of(host, "bash");
        assert_eq!(world.send(&shell), Printed::default(), "{}", host.name);
    }
}

#[test]
fn no_call_sends_or_schedules_a_command_during_a_run() {
    let world = World::new(host("claude").unwrap());
    let denied = |tool: &str, input: &Value| {
        let members = json!({ "tool_name": tool, "tool_input": input });
        let printed = world.send_with(EventName::ToolCall, &members);
        let says_why = printed.stdout.contains("only the user gives those");
        assert_eq!(is_denied(&printed), says_why, "{printed:?}");
        says_why
    };
    let calls = [
        (
            "CronCreate",
            json!({ "cron": "* * * * *", "prompt": "workflow trust" }),
            true,
        ),
        (
            "CronCreate",
            json!({ "prompt": " /workflow confirm trust" }),
            true,
        ),
        (
            "ScheduleWakeup",
            json!({ "prompt": "/workflow-sidecar:workflow skip" }),
            true,
        ),
        (
            "SendMessage",
            json!({ "message": { "text": "workflow skip" } }),
            true,
        ),
        (
            "CronCreate",
            json!({ "prompt": "look at the workflow" }),
            false,
        ),
        ("SendMessage", json!({ "message": "workflows run" }), false),
        (
            "Agent",
            json!({ "prompt": "workflow files are broken" }),
            false,
        ),
    ];
    for (tool, input, _) in &calls {
        assert!(!denied(tool, input), "{tool} {input}: no run");
    }
    world.start();
    for (tool, input, is_denied) in &calls {
        assert_eq!(denied(tool, input), *is_denied, "{tool} {input}");
    }
    world.prompt("workflow cancel");
    assert!(!denied(calls[0].0, &calls[0].1), "after the run");
}

/// The tools that hosts offer to the model, as the recorded sessions have them: those that run in a read-only phase, and others.
const OFFERED: [(&str, &str, &str); 5] = [
    (
        "codex",
        "list_mcp_resources list_mcp_resource_templates read_mcp_resource request_user_input view_image get_goal create_goal update_goal \
         tool_search web_search update_plan collaborationspawn_agent collaborationwait_agent mcp__github__get_issue",
        "apply_patch write_stdin mcp__github__create_issue mcp__x__do",
    ),
    (
        "copilot",
        "Read Grep Glob Agent read_bash stop_bash list_bash view fetch_copilot_cli_documentation skill read_agent list_agents write_agent grep \
         glob task github-mcp-server-get_issue",
        "Write Edit create edit sql session_store_sql github-mcp-server-create_issue x-do search-mcp-server-frobnicate \
         brave-search-mcp-server-sendmail status-page-server-incident",
    ),
    (
        "gemini",
        "update_topic list_directory read_file read_many_files grep_search glob web_fetch list_background_processes read_background_output \
         google_web_search write_todos enter_plan_mode invoke_agent activate_skill mcp_github_get_issue",
        "replace write_file save_memory mcp_github_create_issue mcp_x_do mcp_fetch_frobnicate fetch.frobnicate fetch/frobnicate",
    ),
    (
        "claude",
        "Read Grep Glob LS WebFetch WebSearch TodoWrite AskUserQuestion ExitPlanMode Task Skill BashOutput mcp__github__get_issue \
         ToolSearch SubagentHandback ReportFindings CronList",
        "Write Edit NotebookEdit LSP EnterWorktree ExitWorktree CronCreate SendMessage Workflow mcp__github__create_issue mcp__x__do",
    ),
    (
        "qwen",
        "read_file grep_search glob list_directory agent list_agents skill get_goal update_goal tool_search todo_write web_fetch \
         ask_user_question mcp__github__get_issue",
        "edit write_file notebook_edit exec workflow create_sub_session mcp__github__create_issue mcp__x__do",
    ),
];

#[test]
fn in_a_read_only_phase_the_tools_of_a_host_that_read_run_and_unknown_ones_are_blocked() {
    for (name, open, closed) in OFFERED {
        let world = World::new(host(name).unwrap());
        world.make_read_only();
        world.start();
        for (tools, blocked) in [(open, false), (closed, true)] {
            for tool in tools.split_whitespace() {
                let input =
                    json!({ "tool_name": tool, "tool_input": { "path": "a", "number": 1 } });
                let printed = world.send_with(EventName::ToolCall, &input);
                assert_eq!(printed != Printed::default(), blocked, "{name}: {tool}");
            }
        }
        // A host without dialogs has no question.
        let input = json!({ "tool_name": "mcp__x__do", "tool_input": {} });
        let denied = world.send_with(EventName::ToolCall, &input);
        let why = "is not a tool that is known to only read";
        assert!(denied.stdout.contains(why), "{denied:?}");
    }
}

#[test]
fn a_patch_in_a_shell_line_is_judged_as_a_patch() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let patches = session_of(world.host).into_iter().filter(|stdin| {
        stdin["hook_event_name"] == "PreToolUse"
            && stdin["tool_name"] == "Bash"
            && stdin.to_string().contains("Begin Patch")
    });
    let patches: Vec<Value> = patches.collect();
    assert!(!patches.is_empty());
    assert!(patches.iter().all(|call| world.send(call).code == 2));
}

#[test]
fn the_step_tool_gets_a_ticket_and_a_sub_agent_gets_none() {
    for host in HOSTS {
        let world = World::new(host);
        let call = call_of(host, "workflow_step");
        let mut printed = world.send(&call);
        if world.process.is_some() {
            // The second ticket takes the place of the first.
            printed = world.send(&call);
        }
        let printed = serde_json::from_str(&printed.stdout).unwrap_or(Value::Null);
        let session = call["session_id"].as_str().unwrap();
        let input = printed
            .pointer("/hookSpecificOutput/updatedInput")
            .or_else(|| printed.pointer("/hookSpecificOutput/tool_input"))
            .or_else(|| printed.get("modifiedArgs"));
        let ticket = match (&world.process, input) {
            (Some(process), None) => process,
            (None, Some(input)) => {
                assert_eq!(input["action"], "next");
                input[TICKET_ARGUMENT].as_str().unwrap()
            }
            _ => panic!("{}: {printed}", host.name),
        };
        let taken = world.store.take(ticket, wall_time()).unwrap().unwrap();
        assert_eq!(taken.key.session, session);
        let mut of_subagent = call.clone();
        of_subagent["agent_id"] = json!("a1");
        let denied = world.send(&of_subagent);
        assert!(
            denied.stdout.contains("Only the main agent"),
            "{}",
            host.name
        );
    }
}

#[test]
fn a_ticket_that_expired_or_was_never_issued_is_not_taken() {
    let world = World::new(host("codex").unwrap());
    let ticket = Ticket {
        key: SessionKey {
            host: "codex".to_owned(),
            session: "s".to_owned(),
        },
        cwd: world.root.path().to_path_buf(),
        expires: 100,
    };
    for (id, now, is_taken) in [("a", 100, true), ("b", 101, false)] {
        world.store.issue(id, &ticket, 50).unwrap();
        assert_eq!(
            world.store.take(id, now).unwrap().is_some(),
            is_taken,
            "{id}"
        );
        assert_eq!(world.store.take(id, now).unwrap(), None, "{id} is used");
    }
    assert_eq!(world.store.take("never", 60).unwrap(), None);
}

#[test]
fn a_sub_agent_works_under_the_rules_of_the_session_that_started_it() {
    for name in ["codex", "copilot", "claude", "qwen"] {
        let world = World::new(host(name).unwrap());
        world.start();
        let mut call = writing_call(world.host);
        call["agent_id"] = json!("a1");
        if name == "copilot" {
            call["parent_agent_id"] = call["session_id"].clone();
            call["session_id"] = json!("of-the-sub-agent");
        }
        assert!(is_denied(&world.send(&call)), "{name}");
        let mut stop = recorded(world.host, EventName::Stop);
        stop["agent_id"] = json!("a1");
        stop["parent_agent_id"] = stop["session_id"].clone();
        assert_eq!(world.send(&stop), Printed::default(), "{name}");
    }
}

#[test]
fn a_call_in_another_directory_is_judged_by_the_rules_of_the_sessions_project() {
    let world = World::new(host("claude").unwrap());
    let project = world.root.path().join("project");
    std::fs::create_dir_all(project.join("lib/deep")).unwrap();
    let rules = json!({ "tools": { "rules": [{ "block": ["write", "bash"], "path": "lib/*.rs", "writes": true }] } });
    std::fs::write(
        project.join(".pi/workflow-sidecar.json5"),
        rules.to_string(),
    )
    .unwrap();
    world.send_with(EventName::SessionStart, &json!({}));
    let call = |cwd: &str, tool: &str, input: &Value| {
        let members = json!({ "cwd": cwd, "tool_name": tool, "tool_input": input });
        is_denied(&world.send_with(EventName::ToolCall, &members))
    };
    for cwd in ["$ROOT/project", "$ROOT/project/lib/deep", "$ROOT"] {
        let path = json!({ "file_path": "$ROOT/project/lib/a.rs" });
        assert!(call(cwd, "Write", &path), "{cwd}");
    }
    // What a call names from its own directory is there.
    let deep = "$ROOT/project/lib/deep";
    for (tool, input, blocked) in [
        ("Write", json!({ "file_path": "../a.rs" }), true),
        ("Bash", json!({ "command": "echo x > ../a.rs" }), true),
        ("Write", json!({ "file_path": "lib/a.rs" }), false),
        ("Bash", json!({ "command": "echo x > lib/a.rs" }), false),
    ] {
        assert_eq!(call(deep, tool, &input), blocked, "{input}");
    }
    // Neither a name that starts like the home directory nor a directory that starts like a reference is one.
    std::fs::create_dir_all(project.join("lib/~x")).unwrap();
    let in_lib = "$ROOT/project/lib";
    for path in ["~x/../a.rs", "~a.rs", "a.rs"] {
        let input = json!({ "file_path": path });
        assert!(call(in_lib, "Write", &input), "{path}");
    }
    let rules = json!({ "tools": { "rules": [{ "block": "write", "path": "@scope/**" }] } });
    std::fs::write(
        project.join(".pi/workflow-sidecar.json5"),
        rules.to_string(),
    )
    .unwrap();
    std::fs::create_dir_all(project.join("@scope")).unwrap();
    let input = json!({ "file_path": "a.rs" });
    assert!(call("$ROOT/project/@scope", "Write", &input));
}

#[test]
fn a_call_that_names_no_tool_cannot_be_judged() {
    for host in HOSTS {
        let mut stdin = recorded(host, EventName::ToolCall);
        for name in [Value::Null, json!("")] {
            stdin["tool_name"] = name;
            let text = stdin.to_string().replace("$ROOT", "/somewhere");
            let payload = EventPayload::parse(text.as_bytes()).unwrap();
            let name = payload.name(host.events);
            let event = payload.event(name);
            assert!(event.is_err(), "{}", host.name);
        }
    }
}

#[test]
fn the_files_that_say_which_hooks_run_are_not_written_during_a_run() {
    for (name, file) in [
        ("codex", ".codex/hooks.json"),
        ("codex", ".codex/config.toml"),
        ("claude", ".claude/settings.json"),
        ("claude", ".claude/settings.local.json"),
        ("claude", ".claude/skills/deploy/SKILL.md"),
        ("claude", ".claude/agents/reviewer.md"),
        ("claude", ".claude/commands/deploy.md"),
        ("claude", ".claude/plugins/x/hooks/hooks.json"),
        ("claude", ".claude/hooks/check.sh"),
        ("claude", ".claude/scheduled_tasks.json"),
        ("claude", ".mcp.json"),
        ("codex", ".codex/agents/reviewer.toml"),
        ("codex", ".codex/plugins/x/hooks/hooks.json"),
        ("codex", ".agents/plugins/marketplace.json"),
        ("copilot", ".copilot/hooks/workflow-sidecar.json"),
        ("copilot", ".github/hooks/x.json"),
        ("copilot", ".github/copilot/settings.json"),
        ("copilot", ".github/copilot/settings.local.json"),
        ("copilot", ".claude/settings.json"),
        ("copilot", ".claude/settings.local.json"),
        ("gemini", ".gemini/settings.json"),
        ("gemini", ".gemini/extensions/x/hooks/hooks.json"),
        ("gemini", ".gemini/commands/x.toml"),
        ("gemini", ".gemini/.env"),
        ("gemini", ".env"),
        ("qwen", ".qwen/settings.json"),
        ("qwen", ".qwen/skills/deploy/SKILL.md"),
        ("qwen", ".qwen/agents/reviewer.md"),
        ("qwen", ".qwen/extensions/x/qwen-extension.json"),
        ("qwen", ".qwen/commands/x.toml"),
        ("qwen", ".qwen/.env"),
        ("qwen", ".env"),
    ] {
        let world = World::new(host(name).unwrap());
        let shell = call_of(world.host, "bash");
        let code = |world: &World, line: String| {
            let printed = world.send_with(
                EventName::ToolCall,
                &json!({ "tool_name": shell["tool_name"], "tool_input": { "command": line } }),
            );
            printed.stdout.contains("decide which rules are in force")
        };
        let write = |path: &str| format!("echo '{{}}' > {path}");
        assert!(!code(&world, write(file)), "{name}: no run");
        world.start();
        let is_of_project =
            file == ".mcp.json" || name == "copilot" && !file.starts_with(".copilot/");
        let roots = ["", "$ROOT/project/", "$ROOT/", "~/"].into_iter();
        for root in roots.filter(|root| !(is_of_project && *root == "~/")) {
            let path = format!("{root}{file}");
            assert!(code(&world, write(&path)), "{name}: {path}");
        }
        let program = std::env::current_exe().unwrap().display().to_string();
        for line in [
            "rm -rf ~/.local/state",
            "mv ~/.local /tmp/x",
            "rm -rf ~",
            "rm -rf $ROOT/state",
            &format!("chmod -x '{program}'"),
            &format!("cp /bin/true '{program}'"),
        ] {
            assert!(code(&world, line.to_owned()), "{name}: {line}");
        }
        if let Some((directory, rest)) = file.split_once('/')
            && !is_of_project
        {
            let line = format!("cd ~/{directory}; echo '{{}}' > {rest}");
            assert!(code(&world, line), "{name}: it is not certain");
        }
        assert!(!code(&world, format!("cat {file}")), "{name}: reading");
        assert!(!code(
            &world,
            format!("grep -r x {}", file.split('/').next().unwrap())
        ));
        assert!(!code(&world, write("notes.md")), "{name}: another file");
    }
}
