//! The recognition of our entries in the files of others: by the shape of the command, since the program may have any name.

use std::path::Path;

use serde_json::Value;

/// Our name, which is in the commands of tool calls and in most paths of the program.
const NAME: &str = "workflow-sidecar";
/// The options that our commands may have, each with a value.
const OPTIONS: [&str; 2] = ["--state", "--otlp"];

/// Returns true if this is a command of ours for a host's hook.
pub(super) fn is_hook_command(command: &str, host: &str) -> bool {
    let mark = format!("hook {host}");
    command.contains(NAME) && command.contains(&mark) || has_shape(command, ["hook", host])
}

/// Returns true if this is our status line, as JSON. One of the user may run our program, too.
pub(super) fn is_status_line(entry: &str) -> bool {
    let entry: Value = serde_json::from_str(entry).unwrap_or_default();
    let command = entry["command"].as_str().unwrap_or_default();
    has_shape(command, ["status", "--line"])
}

/// `'/path/to/program' hook HOST`, as it is installed. Others name their programs without quotes: `tool hook claude`.
fn has_shape(command: &str, subcommand: [&str; 2]) -> bool {
    let words = shlex::split(command).unwrap_or_default();
    let [_, first, second, options @ ..] = words.as_slice() else {
        return false;
    };
    command.starts_with("'/") && [first, second] == subcommand && are_options(options)
}

/// Returns true if this is our entry of an MCP server, as JSON.
pub(super) fn is_server(entry: &str) -> bool {
    if entry.contains(NAME) && entry.contains("mcp") {
        return true;
    }
    let entry: Value = serde_json::from_str(entry).unwrap_or_default();
    let program = entry["command"].as_str().unwrap_or_default();
    let arguments = serde_json::from_value(entry["args"].clone());
    let arguments: Vec<String> = arguments.unwrap_or_default();
    Path::new(program).is_absolute()
        && arguments
            .split_first()
            .is_some_and(|(first, options)| first == "mcp" && are_options(options))
}

fn are_options(words: &[String]) -> bool {
    let mut options = words.chunks(2);
    options.all(|option| option.len() == 2 && OPTIONS.contains(&option[0].as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_recognised_by_its_shape_whatever_the_program_is_called() {
        for command in [
            "'/opt/wf' hook codex",
            "'/opt/it'\\''s here/wf' hook codex --state '/srv/a b'",
            "'/opt/wf' hook codex --otlp http://localhost:4318",
            "/opt/workflow-sidecar hook codex",
        ] {
            assert!(is_hook_command(command, "codex"), "{command}");
            assert!(!is_hook_command(command, "claude"), "{command}");
        }
        for command in [
            "tool hook codex",
            "/opt/tool hook codex",
            "'/opt/tool' hook codex --verbose",
            "'/opt/tool' hook codex; rm x",
            "'/opt/tool' run hook codex",
            "'/opt/tool hook codex",
        ] {
            assert!(!is_hook_command(command, "codex"), "{command}");
        }
    }

    #[test]
    fn a_status_line_that_a_user_makes_of_ours_is_the_users() {
        let line = |command: &str| serde_json::json!({ "command": command }).to_string();
        for command in [
            "'/opt/wf' status --line",
            "'/opt/wf' status --line --state '/srv/a b'",
        ] {
            assert!(is_status_line(&line(command)), "{command}");
        }
        for command in [
            "workflow-sidecar status --line",
            "'/opt/workflow-sidecar' status --line | cut -c 1-20",
            "'/opt/wf' hook claude",
        ] {
            assert!(!is_status_line(&line(command)), "{command}");
        }
    }

    #[test]
    fn a_server_is_recognised_by_its_shape_whatever_the_program_is_called() {
        assert!(is_server(r#"{"command": "/opt/wf", "args": ["mcp"]}"#));
        let with_store = r#"{"args": ["mcp", "--state", "/srv"], "command": "/opt/wf"}"#;
        assert!(is_server(with_store));
        assert!(!is_server(r#"{"command": "tool", "args": ["mcp"]}"#));
        assert!(!is_server(
            r#"{"command": "/opt/tool", "args": ["mcp", "x"]}"#
        ));
        assert!(!is_server(r#"{"command": "/opt/tool", "args": []}"#));
        assert!(!is_server("{"));
    }
}
