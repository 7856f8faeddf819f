//! `scripts/upgrade-transcripts`: recordings of version 1 as version 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::transcripts::replay;

const HEADER: &str = r#"{"transcript":1,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

fn upgrade(arguments: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/upgrade-transcripts");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(arguments);
    command.output().unwrap()
}

/// A file with these lines after a header of version 1.
fn file(directory: &Path, lines: &[&str]) -> PathBuf {
    let path = directory.join("r.jsonl");
    fs::write(&path, format!("{HEADER}\n{}\n", lines.join("\n"))).unwrap();
    path
}

#[test]
fn answers_of_the_machine_become_results_and_events() {
    let directory = tempfile::tempdir().unwrap();
    let call = r#"{"at":6,"in":{"jsonrpc":"2.0","id":1,"method":"tool/execute","params":{"sessionId":"s"}}}"#;
    let answer = r#"{"at":6,"in":{"jsonrpc":"2.0","id":"s1","result":"approve"}}"#;
    let report = r#"{"what":"a","verdict":"passed","durationMs":1}"#;
    let outcome = r#"{"came":"back","hasCommitsSince":false}"#;
    let rows = [
        (
            r#"{"world":{"baseline":{"é":1}}}"#,
            r#"{"result":{"baselineTaken":{"baseline":{"é":1}}}}"#,
        ),
        (
            r#"{"at":6,"world":{"trusted":false}}"#,
            r#"{"at":6,"result":{"gateNotTrusted":{"gate":1}}}"#,
        ),
        (r#"{"world":{"trusted":true}}"#, ""),
        (
            r#"{"world":{"word":"approve"}}"#,
            r#"{"result":{"approvalRead":{"decision":{"chosen":"approve"}}}}"#,
        ),
        (
            r#"{"world":{"changed":true}}"#,
            r#"{"result":{"approvalRead":{"decision":"outdated"}}}"#,
        ),
        (call, call),
        (
            r#"{"world":{"changed":true}}"#,
            r#"{"result":{"shownChanged":true}}"#,
        ),
        (answer, answer),
        (
            r#"{"world":{"noSnapshot":null}}"#,
            r#"{"result":{"checkpointFailed":{"error":"noRepository"}}}"#,
        ),
        (
            r#"{"world":{"excerpt":"a"}}"#,
            r#"{"result":{"excerpt":"a"}}"#,
        ),
        (
            &format!(r#"{{"gate":{{"session":"s","gate":2,"reports":[{report}]}}}}"#),
            &format!(
                r#"{{"event":{{"session":"s","gateFinished":{{"gate":2,"reports":[{report}]}}}}}}"#
            ),
        ),
        (
            r#"{"gate":{"gate":3,"progress":"git"}}"#,
            r#"{"event":{"restoreProgress":{"restore":3,"text":"git"}}}"#,
        ),
        (
            &format!(r#"{{"gate":{{"gate":3,"restored":{outcome}}}}}"#),
            &format!(r#"{{"event":{{"codeRestored":{{"restore":3,"outcome":{outcome}}}}}}}"#),
        ),
        (
            r#"{"trigger":{"text":"a"}}"#,
            r#"{"event":{"triggered":{"text":"a"}}}"#,
        ),
        (
            r#"{"trigger":{"problem":"a"}}"#,
            r#"{"event":{"triggersWatched":{"report":{"begun":[],"problems":["a"],"untrusted":false}}}}"#,
        ),
        (r#"{"out": {"id":1}}"#, r#"{"out": {"id":1}}"#),
    ];
    let (old, new): (Vec<&str>, Vec<&str>) = rows.into_iter().unzip();
    let path = file(directory.path(), &old);
    let name = path.display().to_string();
    assert!(upgrade(&[&name]).status.success());
    let text = fs::read_to_string(&path).unwrap();
    let expected: Vec<&str> = new.into_iter().filter(|line| !line.is_empty()).collect();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        HEADER.replace("\"transcript\":1", "\"transcript\":2")
    );
    assert_eq!(lines[1..], expected);
    let again = upgrade(&[&name]);
    assert!(again.status.success() && again.stdout.is_empty());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_recording_of_version_1_is_refused_with_the_name_of_the_script() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), &[]);
    let name = path.display().to_string();
    assert!(
        replay(&[&name])
            .unwrap_err()
            .contains("scripts/upgrade-transcripts")
    );
    assert!(upgrade(&[&name]).status.success());
    replay(&[&name]).unwrap();
}

#[test]
fn a_line_that_cannot_be_upgraded_leaves_the_file_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), &[r#"{"world":{"what":1}}"#]);
    let before = fs::read(&path).unwrap();
    let output = upgrade(&[&path.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 2"));
    assert_eq!(fs::read(&path).unwrap(), before);
    let help = upgrade(&["--help"]);
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("version 1")
    );
}
