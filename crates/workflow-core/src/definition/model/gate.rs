//! Gates: the checks that must pass before a phase is left. They are a guard: any mistake is an error.

use serde::{Deserialize, Serialize};
use serde_json::{Map as Object, Value, json};

use super::check::{Check, ExpectedExit, FileCheck, GitCheck, OutputStream, RunCheck};
use super::target::OnFail;
use crate::definition::guard_text::{GuardText, command_finding};
use crate::definition::schema::Default::{Number, Text};
use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Section, Shape, Typed, Written, listed, section,
};
use crate::definition::syntax::Kind;
use crate::definition::value::{
    Duration, FilledText, Flag, Map, NamedTexts, OneOf, Texts, or_report, whole_number, words,
};
use crate::diagnostic::{Code, Finding, shown};
use crate::white_space::trim;

const ONE_OF: &str = "required: one of `run`, `file`, `git`, `commit`";

section! {
    CHECK;
    /// One check of a phase's gate. `next` leaves the phase only when all have passed.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Gate {
        /// Its subject.
        pub check: Check,
        /// A program and its arguments, or with `shell: true` a shell line. It passes as `expect` says.
        #[key("run": CommandLine, otherwise(ONE_OF), example(r#"["cargo", "test", "--quiet"]"#))]
        const run;
        /// Whether `run` is a shell line.
        #[key("shell": Flag, otherwise("`false`"), example("false"))]
        const shell;
        /// The longest time that `run` may take, at most a day.
        #[key("timeout": Duration, default(Text("10m")), example(r#""10m""#), hint("write `30s`, `10m` or `1h`"))]
        const timeout;
        /// The result of `run` that passes.
        #[key("expect": Map<Expect>, otherwise("`exit: 0`"), example(r#"{"exit": 0}"#))]
        const expect;
        /// The directory in which `run` runs, relative to the project and inside it.
        #[key("cwd": FilledText, checked(GuardText::Directory), otherwise("the project"), example(r#""packages/api""#))]
        const cwd;
        /// Environment variables for `run`, in addition to those of the sidecar.
        #[key("env": NamedTexts, checked(GuardText::Variable), example(r#"{"CI": "true"}"#))]
        const env;
        /// A file of the project that must exist, or a glob (with `*`, `?` or `{`) that a file must match. A directory does not count.
        #[key("file": FilledText, checked(GuardText::Files), otherwise(ONE_OF), example(r#""docs/plan.md""#))]
        const file;
        /// `true`: the content of `file`, or of a file that its glob matches, must differ from when the phase was entered. `false`: it must be the same.
        #[key("changed": Flag, otherwise("either"), example("true"))]
        const changed;
        /// `clean`: every change is committed.
        #[key("git": OneOf<CleanRepository>, otherwise(ONE_OF), example(r#""clean""#))]
        const git;
        /// `new`: there is a commit that did not exist when the phase was entered.
        #[key("commit": OneOf<NewCommit>, otherwise(ONE_OF), example(r#""new""#))]
        const commit;
        /// The id of the same workflow to which the run goes when the check fails.
        #[key("onFail": OnFail, otherwise("it stays in the phase"), example(r#""reproduce""#))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub on_fail: Option<String>,
        /// Its location, as `file:line`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub source: String,
    }
}

const CHECK: Section = Section {
    companions: &[
        ("shell", "run"),
        ("timeout", "run"),
        ("expect", "run"),
        ("cwd", "run"),
        ("env", "run"),
        ("changed", "file"),
    ],
    more: command_schema,
    ..Section::guard("a check of `gate`").one_of(&["run", "file", "git", "commit"])
};

/// `run` is a list, and with `shell` a line.
fn command_schema(schema: &mut Object<String, Value>) {
    let mut add = |key: &str, value| schema.insert(key.to_owned(), value);
    add(
        "if",
        json!({"required": ["shell"], "properties": {"shell": {"const": true}}}),
    );
    add(
        "then",
        json!({"properties": {"run": {"type": "string", "pattern": "\\S"}}}),
    );
    let list = json!({"type": "array", "minItems": 1, "items": [{"pattern": "\\S"}]});
    add("else", json!({"properties": {"run": list}}));
}

impl FromMap for Gate {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let span = keys.start;
        let known = CHECK.alternatives.iter();
        let mut kinds = known.copied().filter(|kind| keys.has(kind));
        let (kind, more) = (kinds.next(), kinds.next());
        let Some(kind) = kind else {
            let known = listed(CHECK.alternatives.iter().copied());
            let message = format!("a check of `gate` needs one of {known}");
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
        check_companions(keys, kind);
        let run = read_run(keys);
        let path = keys.get(&Self::file);
        let changed = keys.get(&Self::changed);
        let git = keys.get(&Self::git);
        let commit = keys.get(&Self::commit);
        let on_fail = keys.get(&Self::on_fail);
        let check = match kind {
            "run" => Check::Run(run?),
            "file" => Check::File(FileCheck {
                path: path?,
                changed,
            }),
            "git" => Check::Git(git.map(|_| GitCheck::Clean)?),
            _ => Check::Git(commit.map(|_| GitCheck::NewCommit)?),
        };
        Some(Self {
            check,
            on_fail,
            source: keys.reader.file_and_line(span),
        })
    }

    fn meant_in_list(finding: Finding, written: Written<'_>) -> Option<Finding> {
        let words: Vec<&str> = written.short_text()?.split_whitespace().collect();
        written.in_form(finding, &format!("[{{run: [{}]}}]", words.join(", ")))
    }
}

/// Reports keys that have a meaning only in a check of another kind.
fn check_companions(keys: &mut MapReader<'_, '_, '_>, kind: &str) {
    for (key, beside) in CHECK.companions {
        if let Some(entry) = keys.entry(key).filter(|_| kind != *beside) {
            let message = format!("`{key}` has an effect only in a check with `{beside}`");
            let finding = Finding::error(Code::InvalidValue, entry.key_span, message);
            let help = format!("move it to a check with `{beside}`, or remove it");
            keys.report(finding.help(help));
        }
    }
}

fn read_run(keys: &mut MapReader<'_, '_, '_>) -> Option<RunCheck> {
    let shell = keys.get(&Gate::shell).unwrap_or(false);
    let command = if shell {
        let line = keys.written(&Gate::run);
        line.and_then(|line| read_line(keys.reader, line))
    } else {
        keys.get(&Gate::run)
    };
    let timeout = keys.get(&Gate::timeout);
    let expect = keys.get(&Gate::expect).unwrap_or_default();
    let cwd = keys.get(&Gate::cwd);
    let env = keys.get(&Gate::env).unwrap_or_default();
    Some(RunCheck {
        command: command?,
        shell,
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        exit: expect.exit,
        stream: expect.stream,
        stdout: expect.pattern,
        cwd,
        env,
    })
}

/// The seconds that a command may take by default.
const DEFAULT_TIMEOUT: u32 = 10 * 60;

/// A program and its arguments. With `shell`, a line is read in place of it.
pub(crate) struct CommandLine;

impl KeyType for CommandLine {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": ["array", "string"], "items": {"type": "string"}}),
        || "list of texts, or text".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let span = written.span();
        let finding = match written.kind() {
            Kind::Text(line) => {
                let words: Vec<&str> = line.split_whitespace().collect();
                let message = "`run` must be a list: the program and its arguments";
                let finding = Finding::error(Code::WrongType, span, message);
                let list = shown(&words.join(", "));
                finding.help(format!("write `run: [{list}]`, or add `shell: true`"))
            }
            Kind::List(list) => {
                let words = Texts::read(reader, written)?;
                if words.first().is_none_or(|program| trim(program).is_empty()) {
                    let finding = Finding::error(Code::MissingKey, span, "`run` names no program");
                    finding.help("write `run: [cargo, test]`")
                } else if let Some(finding) = command_finding(&words, list) {
                    finding
                } else {
                    return Some(words);
                }
            }
            _ => written.wrong_type("a list of texts"),
        };
        reader.report(finding);
        None
    }
}

/// Reads `run` as a line for the shell.
fn read_line(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
    let line = match written.kind() {
        Kind::Text(line) if !trim(line).is_empty() => Some(vec![line.to_string()]),
        _ => None,
    };
    or_report(reader, line, || written.wrong_type("a line for the shell"))
}

words! {
    /// The value of `git`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) enum CleanRepository {
        /// No changed or new file is uncommitted.
        "clean" => It,
    }
}

words! {
    /// The value of `commit`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) enum NewCommit {
        /// There is a commit that did not exist when the phase was entered.
        "new" => It,
    }
}

section! {
    Section::guard("`expect`");
    /// The expected result of a `run`.
    #[derive(Debug)]
    pub(crate) struct Expect {
        /// The exit code, or `nonzero` for any code but 0.
        #[key("exit": ExitCode, default(Number(0)), example(r#""nonzero""#), usual_hint)]
        pub exit: ExpectedExit,
        /// A regular expression that standard output must match.
        #[key("stdout": FilledText, checked(GuardText::Regex), otherwise("any"), example(r#""0 failed""#))]
        const stdout;
        /// A regular expression that standard error must match. Give only one of `stdout`, `stderr`, `output`.
        #[key("stderr": FilledText, checked(GuardText::Regex), otherwise("any"), example(r#""0 warnings""#))]
        const stderr;
        /// A regular expression that both streams together must match, in the order in which they are written.
        #[key("output": FilledText, checked(GuardText::Regex), otherwise("any"), example(r#""0 failed""#))]
        const output;
        /// The stream of the pattern.
        pub stream: OutputStream,
        /// What it must match.
        pub pattern: Option<String>,
    }
}

impl Default for Expect {
    fn default() -> Self {
        Self {
            exit: ExpectedExit::Code(0),
            stream: OutputStream::default(),
            pattern: None,
        }
    }
}

impl FromMap for Expect {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let mut expect = Self::default();
        expect.read_keys(keys);
        let patterns: [(OutputStream, &Typed<FilledText>); 3] = [
            (OutputStream::Stdout, &Self::stdout),
            (OutputStream::Stderr, &Self::stderr),
            (OutputStream::Both, &Self::output),
        ];
        let given = patterns.map(|(stream, key)| Some((stream, keys.get(key)?, keys.span_of(key))));
        let mut given = given.into_iter().flatten();
        if let Some((stream, pattern, _)) = given.next() {
            expect = Self {
                stream,
                pattern: Some(pattern),
                ..expect
            };
        }
        if let Some((_, _, span)) = given.next() {
            let message = "`expect` can have only one of `stdout`, `stderr` and `output`";
            let finding = Finding::error(Code::BothLists, span, message);
            keys.report(finding.help("use `output` for both streams, or write two checks"));
        }
        Some(expect)
    }

    fn meant(finding: Finding, written: Written<'_>) -> Option<Finding> {
        match written.kind() {
            Kind::Number(number) => {
                let name = written.key.name;
                Some(finding.help(format!("write `{name}: {{exit: {number}}}`")))
            }
            Kind::Text(text) if text == "nonzero" => written.in_form(finding, "{exit: nonzero}"),
            _ => None,
        }
    }
}

/// An exit code, or `nonzero`.
pub(crate) struct ExitCode;

impl KeyType for ExitCode {
    type Value = ExpectedExit;
    const SHAPE: Shape = Shape::new(
        || {
            json!({"anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 255},
                {"const": "nonzero"},
            ]})
        },
        || "0 to 255, `nonzero`".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<ExpectedExit> {
        let exit = match written.kind() {
            Kind::Text(text) if text == "nonzero" => Some(ExpectedExit::Nonzero),
            _ => whole_number(written.node)
                .and_then(|code| u8::try_from(code).ok())
                .map(|code| ExpectedExit::Code(code.into())),
        };
        or_report(reader, exit, || {
            written.out_of_range("a whole number from 0 to 255, or `nonzero`")
        })
    }
}
