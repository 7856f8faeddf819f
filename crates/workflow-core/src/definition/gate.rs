//! Reads `gate` and `approve`: the way out of a phase. Both are guards: whatever is wrong is an error.

use super::findings::{Finding, Reader};
use super::gates::{Approval, Check, ExpectedExit, FileCheck, Gate, GitCheck, RunCheck};
use super::keys::{self, listed};
use super::language::Level;
use super::node::{Entry, Kind, Map};
use super::source::Span;
use super::tool_rules::{check_regex, invalid, read_list};
use super::values::{
    choice, filled_text, flag, given, place_of, required_text, texts, whole_number, wrong_type,
};
use crate::diagnostic::{Code, Severity, shown};
use crate::white_space::trim;

/// The longest a command of a gate may take, in seconds.
const LONGEST: u32 = 24 * 60 * 60;
/// How long it may take if nothing is said.
const USUAL: u32 = 10 * 60;

/// What a phase says under `gate`.
pub(super) fn read_gate(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Vec<Gate> {
    read_list(reader, map, "gate", read_check).all
}

fn read_check(reader: &mut Reader<'_>, mut map: Map<'_>, span: Option<Span>) -> Option<Gate> {
    const KINDS: [&str; 4] = ["run", "file", "git", "commit"];
    keys::check(reader, Level::Gate, &map);
    let span = map.first_key().or(span);
    let mut kinds = KINDS
        .iter()
        .filter(|kind| map.entries.iter().any(|entry| entry.key == **kind));
    let (kind, more) = (kinds.next().copied(), kinds.next().copied());
    let Some(kind) = kind else {
        let message = format!("a check of `gate` needs one of {}", listed(KINDS));
        reader
            .report(Finding::error(Code::MissingKey, span, message).help("say what is looked at"));
        return None;
    };
    if let Some(more) = more {
        let message = format!("a check of `gate` has only one of `{kind}` and `{more}`");
        reader.report(Finding::error(Code::BothLists, span, message).help("make a check of each"));
    }
    let run = read_run(reader, &mut map, kind == "run");
    let file = read_file(reader, &mut map, kind == "file");
    let git = given(reader, &mut map, "git").and_then(|entry| {
        choice(
            reader,
            Severity::Error,
            &entry,
            &[("clean", GitCheck::Clean)],
        )
    });
    let commit = given(reader, &mut map, "commit").and_then(|entry| {
        choice(
            reader,
            Severity::Error,
            &entry,
            &[("new", GitCheck::NewCommit)],
        )
    });
    let check = match kind {
        "run" => Check::Run(run?),
        "file" => Check::File(file?),
        "git" => Check::Git(git?),
        _ => Check::Git(commit?),
    };
    Some(Gate {
        check,
        source: place_of(reader, span),
    })
}

fn read_run(reader: &mut Reader<'_>, map: &mut Map<'_>, is_run: bool) -> Option<RunCheck> {
    let entry = given(reader, map, "run");
    let shell =
        belonging(reader, map, "shell", "run", is_run).and_then(|entry| flag(reader, &entry));
    let timeout = belonging(reader, map, "timeout", "run", is_run)
        .map_or(Some(USUAL), |entry| duration(reader, &entry));
    let expect = belonging(reader, map, "expect", "run", is_run);
    let (exit, stdout) = expect.map_or((ExpectedExit::Code(0), None), |entry| {
        read_expect(reader, entry)
    });
    let shell = shell.unwrap_or(false);
    Some(RunCheck {
        command: command(reader, entry?, shell)?,
        shell,
        timeout: timeout?,
        exit,
        stdout,
    })
}

/// The entry of a key that has a meaning only beside another.
fn belonging<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
    beside: &str,
    is_there: bool,
) -> Option<Entry<'s>> {
    let entry = given(reader, map, key)?;
    if !is_there {
        let message = format!("`{key}` belongs to a check with `{beside}`");
        let finding = Finding::error(Code::InvalidValue, entry.key_span, message);
        reader.report(finding.help(format!("put it beside `{beside}`, or remove it")));
    }
    Some(entry)
}

fn command(reader: &mut Reader<'_>, entry: Entry<'_>, shell: bool) -> Option<Vec<String>> {
    let span = entry.value.span;
    match entry.value.kind {
        Kind::Text(line) if shell && !trim(&line).is_empty() => Some(vec![line.into_owned()]),
        Kind::Text(line) if !shell => {
            let words: Vec<&str> = line.split_whitespace().collect();
            let message = "`run` must be a list: the program and its arguments";
            let finding = Finding::error(Code::WrongType, span, message);
            let list = shown(&words.join(", "));
            reader.report(finding.help(format!("write `run: [{list}]`, or add `shell: true`")));
            None
        }
        Kind::List(items) if !shell => {
            let node = super::node::Node {
                kind: Kind::List(items),
                span,
            };
            let words = texts(reader, Severity::Error, "run", node)?;
            if words.first().is_none_or(|program| trim(program).is_empty()) {
                let message = "`run` names no program";
                reader.report(
                    Finding::error(Code::MissingKey, span, message)
                        .help("write `run: [cargo, test]`"),
                );
                return None;
            }
            Some(words)
        }
        kind => {
            let expected = if shell {
                "a line for the shell"
            } else {
                "a list of texts"
            };
            reader.report(wrong_type(Severity::Error, "run", expected, &kind, span));
            None
        }
    }
}

fn duration(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<u32> {
    let seconds = match &entry.value.kind {
        Kind::Text(text) => spelled(text),
        _ => whole_number(&entry.value),
    };
    let seconds = seconds.filter(|seconds| (1..=LONGEST).contains(seconds));
    if seconds.is_none() {
        let message =
            "`timeout` must be whole seconds, or a number with `s`, `m` or `h`, and at most a day";
        let finding = Finding::error(Code::InvalidValue, entry.value.span, message);
        reader.report(finding.help("write `30s`, `10m` or `1h`"));
    }
    seconds
}

/// `30s`, `10m`, `1h` in seconds.
fn spelled(text: &str) -> Option<u32> {
    let (number, unit) = [("s", 1), ("m", 60), ("h", 60 * 60)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let is_number =
        !number.is_empty() && number.len() <= 6 && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse::<u32>().ok()?.checked_mul(unit))?
}

fn read_expect(reader: &mut Reader<'_>, entry: Entry<'_>) -> (ExpectedExit, Option<String>) {
    let success = ExpectedExit::Code(0);
    let span = entry.value.span;
    let Kind::Map(mut map) = entry.value.kind else {
        let kind = &entry.value.kind;
        reader.report(wrong_type(Severity::Error, "expect", "a map", kind, span));
        return (success, None);
    };
    keys::check(reader, Level::Expect, &map);
    let exit = given(reader, &mut map, "exit").and_then(|entry| exit_code(reader, &entry));
    let stdout = filled_text(reader, &mut map, "stdout").and_then(|text| {
        if let Some(finding) = invalid(&text.value, text.span, check_regex) {
            reader.report(finding);
            return None;
        }
        Some(text.value.into_owned())
    });
    (exit.unwrap_or(success), stdout)
}

fn exit_code(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<ExpectedExit> {
    if matches!(&entry.value.kind, Kind::Text(text) if text == "nonzero") {
        return Some(ExpectedExit::Nonzero);
    }
    let code = whole_number(&entry.value).filter(|&code| code <= 255);
    if code.is_none() {
        let message = "`exit` must be a whole number from 0 to 255, or `nonzero`";
        reader.report(Finding::error(
            Code::InvalidValue,
            entry.value.span,
            message,
        ));
    }
    code.and_then(|code| i32::try_from(code).ok())
        .map(ExpectedExit::Code)
}

fn read_file(reader: &mut Reader<'_>, map: &mut Map<'_>, is_file: bool) -> Option<FileCheck> {
    let path = filled_text(reader, map, "file");
    let changed =
        belonging(reader, map, "changed", "file", is_file).and_then(|entry| flag(reader, &entry));
    Some(FileCheck {
        path: path?.value.into_owned(),
        changed,
    })
}

/// What a phase says under `approve`.
pub(super) fn read_approval(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<Approval> {
    let entry = given(reader, map, "approve")?;
    let span = entry.value.span;
    let Kind::Map(mut map) = entry.value.kind else {
        let kind = &entry.value.kind;
        let finding = wrong_type(Severity::Error, "approve", "a map with `ask`", kind, span);
        reader.report(finding.help("write `approve: { ask: \"Is the plan right?\" }`"));
        return None;
    };
    keys::check(reader, Level::Approve, &map);
    let start = map.first_key().or(span);
    let ask = required_text(reader, &mut map, Level::Approve, "ask", start);
    let choices = match given(reader, &mut map, "choices") {
        None => Some(["approve", "revise"].map(str::to_owned).to_vec()),
        Some(entry) => read_choices(reader, entry),
    };
    let show = filled_text(reader, &mut map, "show").map(|text| text.value.into_owned());
    Some(Approval {
        ask: ask?.value.into_owned(),
        choices: choices?,
        show,
        source: place_of(reader, entry.key_span),
    })
}

fn read_choices(reader: &mut Reader<'_>, entry: Entry<'_>) -> Option<Vec<String>> {
    let span = entry.value.span;
    let choices = texts(reader, Severity::Error, "choices", entry.value)?;
    if choices.is_empty() || choices.iter().any(|choice| trim(choice).is_empty()) {
        let message = "`choices` needs at least one answer, and none that is empty";
        let finding = Finding::error(Code::MissingKey, span, message);
        reader.report(finding.help("the first one approves: `choices: [approve, revise]`"));
        return None;
    }
    Some(choices)
}
