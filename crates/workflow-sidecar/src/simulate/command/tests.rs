use super::*;

fn read(line: &str) -> ScriptLine {
    ScriptLine::read(line).unwrap().unwrap()
}

fn unknown(line: &str) -> String {
    ScriptLine::read(line).unwrap_err().to_string()
}

#[test]
fn a_line_is_a_command_and_what_must_come_of_it() {
    let step = read("  tool edit {\"path\": \"a\"}  =>  blocked ");
    let input = json!({ "path": "a" });
    assert_eq!(
        step.command,
        ScriptCommand::Tool {
            name: "edit".to_owned(),
            input
        }
    );
    assert_eq!(step.expected.as_deref(), Some("blocked"));
    assert_eq!(read("next => Fix it").expected.as_deref(), Some("Fix it"));
    assert_eq!(
        read("say a b").command,
        ScriptCommand::Say("a b".to_owned())
    );
    let (reason, says) = ("stop", "That is all.");
    assert_eq!(read("stop").command, ScriptCommand::Stop { reason, says });
    assert_eq!(read("wait 3").command, ScriptCommand::Wait(3));
    let chosen = json!("do it");
    assert_eq!(read("choose do it").command, ScriptCommand::Answer(chosen));
    assert_eq!(
        read("fail 2 tests failed => refused").command,
        ScriptCommand::Gate(CheckVerdict::Failed, "2 tests failed".to_owned())
    );
    assert_eq!(
        read("pass => Fix").command,
        ScriptCommand::Gate(CheckVerdict::Passed, String::new())
    );
    assert_eq!(
        read("error bash no such file").command,
        ScriptCommand::Result {
            tool: "bash".to_owned(),
            text: "no such file".to_owned(),
            is_error: true
        }
    );
    assert_eq!(
        read("trigger 3333 red build => woken").command,
        ScriptCommand::Trigger {
            name: "3333".to_owned(),
            text: "red build".to_owned()
        }
    );
    let paths = vec!["a.rs".to_owned(), "b".to_owned()];
    assert_eq!(
        read("change 12 a.rs b").command,
        ScriptCommand::Change(12, paths)
    );
    assert_eq!(read("back 2").command, ScriptCommand::Back(2));
    assert_eq!(
        read("/workflow fix the total").command,
        ScriptCommand::run("workflow", "fix the total")
    );
}

#[test]
fn next_takes_an_outcome_and_outputs() {
    let read = |line: &str| match read(line).command {
        ScriptCommand::Tool { name, input } if name == STEP_TOOL => input,
        command => panic!("{command:?}"),
    };
    let next = |mut more: Value| {
        more["action"] = "next".into();
        more
    };
    let (outcome, outputs) = ("ok", json!({ "a": 1 }));
    assert_eq!(read("next"), next(json!({})));
    assert_eq!(
        read("next ok => Release"),
        next(json!({ "outcome": outcome }))
    );
    assert_eq!(read("next {\"a\": 1}"), next(json!({ "outputs": outputs })));
    assert_eq!(
        read("next ok {\"a\": 1} => Release"),
        next(json!({ "outcome": outcome, "outputs": outputs }))
    );
}

#[test]
fn every_command_of_a_person_can_be_played() {
    let played = read("/workflow-resume +20 turns").command;
    let resume = ScriptCommand::run("workflow-resume", "+20 turns");
    assert_eq!(played, resume);
    let names: Vec<&str> = commands().iter().map(|command| command.name).collect();
    assert!(names.contains(&"workflow-quick") && names.contains(&"workflow-off"));
    for name in names {
        assert!(ScriptLine::read(&format!("/{name}")).is_ok());
    }
}

#[test]
fn nothing_is_read_from_empty_lines_and_comments() {
    for line in ["", "   ", "# tool edit", "  # x"] {
        assert!(ScriptLine::read(line).unwrap().is_none());
    }
}

#[test]
fn what_means_nothing_says_what_would() {
    assert_eq!(
        unknown("nxt"),
        "there is no command `nxt`: did you mean `next`?"
    );
    assert_eq!(
        unknown("xyzzy"),
        "there is no command `xyzzy`: `help` lists the commands"
    );
    assert_eq!(
        unknown("tool"),
        "`tool` wants a name: tool edit {\"path\": \"a.rs\"}"
    );
    assert_eq!(
        unknown("/cancel-workflw"),
        "there is no command `/cancel-workflw`: did you mean `/cancel-workflow`?"
    );
    assert!(unknown("/").contains("`help` lists"));
    assert!(unknown("tool edit {path}").starts_with("the input of a tool is not JSON"));
    assert!(unknown("wait a").contains("whole seconds"));
    assert!(unknown("wait").contains("whole seconds"));
    assert!(unknown("stop why").contains("stop question"));
    assert!(unknown("next =>").contains("the expected outcome"));
    assert!(unknown("loop now").contains("there is no command `loop now`"));
    assert!(unknown("next ok now").contains("`next` wants an outcome"));
    assert!(unknown("next {plan}").starts_with("the outputs of `next` are not JSON"));
    assert!(unknown("say").contains("a text"));
    assert!(unknown("choose").contains("choose approve"));
    assert!(unknown("trigger").contains("a file or a port"));
    assert!(unknown("back then").contains("back 1"));
    assert!(unknown("result").contains("a tool and a text"));
}
