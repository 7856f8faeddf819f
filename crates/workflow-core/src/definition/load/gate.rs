//! Readers of `gate` and `approve`. Both are guards: any mistake is an error.

use super::flow::{JumpKind, PhaseSites, Site, targets_of};
use crate::definition::model::{
    Approval, Check, ExpectedExit, FileCheck, Gate, GitCheck, OutputStream, RunCheck, Target,
};
use crate::definition::schema::keys::{approve, expect, gate};
use crate::definition::schema::{
    Field, Key, MapReader, Section, command_finding, listed, read_choices as read_answers, texts,
    wrong_type,
};
use crate::definition::syntax::{Entry, Kind, Map, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::template::TemplateKind;
use crate::white_space::trim;

/// The seconds that a command may take by default.
const DEFAULT_TIMEOUT: u32 = 10 * 60;

/// Reads `gate`, and notes where its checks lead.
pub(super) fn read_gate(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    sites: &mut Vec<Site>,
) -> Vec<Gate> {
    let read = keys.list(key, read_check).all.into_iter();
    let checks = read.map(|(check, site)| {
        sites.extend(site);
        check
    });
    checks.collect()
}

fn read_check(
    reader: &mut Reader<'_>,
    map: Map<'_>,
    span: Option<Span>,
) -> Option<(Gate, Option<Site>)> {
    let mut keys = MapReader::new(reader, Section::Gate, map, span);
    let span = keys.start;
    let known = Section::Gate.alternatives();
    let mut kinds = known.iter().copied().filter(|kind| keys.has(kind));
    let (kind, more) = (kinds.next(), kinds.next());
    let Some(kind) = kind else {
        let message = format!(
            "a check of `gate` needs one of {}",
            listed(known.iter().copied())
        );
        let finding = Finding::error(Code::MissingKey, span, message);
        keys.report(finding.help(
            "write what is checked: `run: [cargo, test]`, `file: docs/plan.md` or `git: clean`",
        ));
        return None;
    };
    if let Some(more) = more {
        let message = format!("a check of `gate` cannot have both `{kind}` and `{more}`");
        let finding = Finding::error(Code::BothLists, span, message);
        keys.report(finding.help("write two checks"));
    }
    let run = read_run(&mut keys, kind == "run");
    let path = keys.get(&gate::FILE);
    let changed = keys.field(&gate::CHANGED);
    check_companion(&mut keys, "changed", &changed, kind == "file");
    let git = keys.get(&gate::GIT);
    let commit = keys.get(&gate::COMMIT);
    let on_fail = keys.get(&gate::ON_FAIL);
    let site = on_fail.as_ref().map(|text| Site {
        kind: JumpKind::OnFail,
        to: Target::Phase(text.value.clone()),
        span: text.span,
    });
    let check = match kind {
        "run" => Check::Run(run?),
        "file" => Check::File(FileCheck {
            path: path?.value,
            changed: changed.value(),
        }),
        "git" => Check::Git(GitCheck::from(git?)),
        _ => Check::Git(GitCheck::from(commit?)),
    };
    let gate = Gate {
        check,
        on_fail: on_fail.map(|text| text.value),
        source: keys.reader.file_and_line(span),
    };
    Some((gate, site))
}

fn read_run(keys: &mut MapReader<'_, '_, '_>, is_run: bool) -> Option<RunCheck> {
    let command = keys.entry(&gate::RUN);
    let shell = keys.field(&gate::SHELL);
    check_companion(keys, "shell", &shell, is_run);
    let timeout = keys.field(&gate::TIMEOUT);
    check_companion(keys, "timeout", &timeout, is_run);
    let timeout = match timeout {
        Field::Absent | Field::NoValue => Some(DEFAULT_TIMEOUT),
        timeout => timeout.value(),
    };
    let expected = keys.map(&gate::EXPECT);
    check_companion(keys, "expect", &expected, is_run);
    let (exit, output) = read_expect(keys.reader, expected);
    let cwd = keys.field(&gate::CWD);
    check_companion(keys, "cwd", &cwd, is_run);
    let cwd = read_directory(keys.reader, cwd);
    let env = keys.field(&gate::ENV);
    check_companion(keys, "env", &env, is_run);
    let env = env.value().map(|env| env.all).unwrap_or_default();
    check_names(keys.reader, keys.start, &env);
    let shell = shell.value().unwrap_or(false);
    Some(RunCheck {
        command: read_command(keys.reader, &command?, shell)?,
        shell,
        timeout: timeout?,
        exit,
        stream: output
            .as_ref()
            .map(|(stream, _)| *stream)
            .unwrap_or_default(),
        stdout: output.map(|(_, pattern)| pattern),
        cwd: cwd.ok()?,
        env,
    })
}

/// Returns the directory of a command; an error if it cannot be one, which is reported.
fn read_directory(
    reader: &mut Reader<'_>,
    field: Field<crate::definition::schema::Text>,
) -> Result<Option<String>, ()> {
    let text = match field {
        Field::Absent | Field::NoValue => return Ok(None),
        Field::Wrong { .. } => return Err(()),
        Field::Value { value, .. } => value,
    };
    let leaves = text.value.starts_with(['/', '~', '\\'])
        || text.value.contains('\0')
        || text.value.split(['/', '\\']).any(|part| part == "..");
    if leaves {
        let message = format!(
            "`cwd` must be a directory in the project, not `{}`",
            shown(&text.value)
        );
        let finding = Finding::error(Code::PathRefused, text.span, message);
        reader.report(finding.help("write it from the project's root: `cwd: packages/api`"));
        return Err(());
    }
    Ok(Some(text.value))
}

/// Reports names that no environment variable can have.
fn check_names(reader: &mut Reader<'_>, span: Option<Span>, env: &[(String, String)]) {
    for (name, _) in env {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            let message = format!("`{}` is not a valid name of a variable", shown(name));
            let finding = Finding::error(Code::InvalidValue, span, message);
            reader.report(finding.help("use letters, digits and `_`"));
        }
    }
}

/// Reports a key that has a meaning only beside another.
fn check_companion<T>(
    keys: &mut MapReader<'_, '_, '_>,
    key: &str,
    field: &Field<T>,
    has_meaning: bool,
) {
    let (Field::Wrong { key_span, .. } | Field::Value { key_span, .. }) = *field else {
        return;
    };
    let companions = Section::Gate.companions().iter();
    let Some((_, beside)) = companions
        .filter(|_| !has_meaning)
        .find(|(name, _)| *name == key)
    else {
        return;
    };
    let message = format!("`{key}` has an effect only in a check with `{beside}`");
    let finding = Finding::error(Code::InvalidValue, key_span, message);
    keys.report(finding.help(format!("move it to a check with `{beside}`, or remove it")));
}

fn read_command(reader: &mut Reader<'_>, entry: &Entry<'_>, shell: bool) -> Option<Vec<String>> {
    let span = entry.value.span;
    match &entry.value.kind {
        Kind::Text(line) if shell && !trim(line).is_empty() => Some(vec![line.to_string()]),
        Kind::Text(line) if !shell => {
            let words: Vec<&str> = line.split_whitespace().collect();
            let message = "`run` must be a list: the program and its arguments";
            let finding = Finding::error(Code::WrongType, span, message);
            let list = shown(&words.join(", "));
            reader.report(finding.help(format!("write `run: [{list}]`, or add `shell: true`")));
            None
        }
        Kind::List(list) if !shell => {
            let words = texts(reader, &gate::RUN, &entry.value)?;
            if words.first().is_none_or(|program| trim(program).is_empty()) {
                let finding = Finding::error(Code::MissingKey, span, "`run` names no program");
                reader.report(finding.help("write `run: [cargo, test]`"));
                return None;
            }
            if let Some(finding) = command_finding(&words, list) {
                reader.report(finding);
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
            reader.report(wrong_type(&gate::RUN, expected, kind, span));
            None
        }
    }
}

fn read_expect(
    reader: &mut Reader<'_>,
    expected: Field<Map<'_>>,
) -> (ExpectedExit, Option<(OutputStream, String)>) {
    let success = ExpectedExit::Code(0);
    let Some(map) = expected.value() else {
        return (success, None);
    };
    let mut keys = MapReader::new(reader, Section::Expect, map, None);
    let exit = keys.get(&expect::EXIT).unwrap_or(success);
    let patterns = [
        (OutputStream::Stdout, &expect::STDOUT),
        (OutputStream::Stderr, &expect::STDERR),
        (OutputStream::Both, &expect::OUTPUT),
    ];
    let given = patterns.map(|(stream, key)| Some((stream, keys.get(key)?)));
    let mut given = given.into_iter().flatten();
    let first = given.next();
    if let Some((_, more)) = given.next() {
        let message = "`expect` can have only one of `stdout`, `stderr` and `output`";
        let finding = Finding::error(Code::BothLists, more.span, message);
        keys.report(finding.help("use `output` for both streams, or write two checks"));
    }
    (exit, first.map(|(stream, text)| (stream, text.value)))
}

/// Reads `approve`, and notes where its answers lead and what its question refers to.
pub(super) fn read_approval(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    sites: &mut PhaseSites,
) -> Option<Approval> {
    let Field::Value {
        key_span,
        span,
        value: map,
    } = keys.map(key)
    else {
        return None;
    };
    let mut keys = MapReader::new(keys.reader, Section::Approve, map, span);
    let ask = keys.get(&approve::ASK);
    if let Some(ask) = &ask {
        sites.refer(keys.reader, TemplateKind::Ask, ask);
    }
    let choices = read_choices(&mut keys, sites);
    let comment = keys.get(&approve::COMMENT).unwrap_or(false);
    let show = keys.get(&approve::SHOW).map(|text| text.value);
    let (choices, targets) = choices?;
    Some(Approval {
        ask: ask?.value,
        choices,
        targets,
        comment,
        show,
        source: keys.reader.file_and_line(key_span),
    })
}

/// Reads `choices`: answers, or answers with the place that each leads to.
fn read_choices(
    keys: &mut MapReader<'_, '_, '_>,
    sites: &mut PhaseSites,
) -> Option<(Vec<String>, Vec<Target>)> {
    let key = &approve::CHOICES;
    let Some(entry) = keys.entry(key) else {
        return Some((
            ["approve", "revise"].map(str::to_owned).to_vec(),
            Vec::new(),
        ));
    };
    if let Kind::Map(map) = &entry.value.kind {
        let span = entry.value.span;
        let targets = targets_of(
            keys.reader,
            key,
            JumpKind::Choice,
            map,
            span,
            &mut sites.targets,
        );
        return Some(targets.into_iter().unzip());
    }
    Some((read_answers(keys.reader, key, &entry.value)?, Vec::new()))
}
