//! The checks of a gate: commands, files, the repository.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::tests_check::TestsCheck;
use crate::definition::guard_text::{GuardText, command_finding, variable};
use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Section, Shape, Typed, Written, section,
};
use crate::definition::syntax::Kind;
use crate::definition::value::{
    Duration, FilledText, Flag, Map, NamedTexts, Texts, note_values, whole_number,
};
use crate::diagnostic::{Code, Finding, shown, visible};
use crate::pattern::ProjectGlob;
use crate::template;
use crate::text::{join, word_of_line};
use crate::white_space::trim;

pub(super) const ONE_OF: &str = "required: one of `run`, `tests`, `file`, `git`, `commit`";

/// The subject of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Check {
    /// A command is run.
    Run(RunCheck),
    /// Tests are run, and counted.
    Tests(TestsCheck),
    /// A file is looked at.
    File(FileCheck),
    /// The repository is looked at.
    Git(GitCheck),
}

section! {
    Section::guard("a command");
    /// A command and its expected result.
    #[derive(Default)]
    pub struct RunCheck {
        /// A program and its arguments, or with `shell: true` a shell line. It passes as `expect` says.
        #[key("run": CommandLine, default: Described(ONE_OF), example: r#"["cargo", "test", "--quiet"]"#)]
        const run;
        /// The program and its arguments; with `shell`, one line for the shell.
        pub command: Vec<String>,
        /// Whether `run` is a shell line.
        #[key("shell": Flag, default: Described("`false`"), example: "false")]
        #[serde(default)]
        pub shell: bool,
        /// The longest time that `run` may take, at most a day.
        #[key("timeout": Duration, default: Text("10m"), example: r#""10m""#, hint: Some("write `30s`, `10m` or `1h`"))]
        pub timeout: u32,
        /// The result of `run` that passes.
        #[key("expect": Map<Expect>, default: Described("`exit: 0`"), example: r#"{"exit": 0}"#)]
        const expect;
        /// The expected exit code.
        pub exit: ExpectedExit,
        /// A regular expression that its output must match.
        pub stdout?: Option<String>,
        /// The output that must match.
        pub stream?: OutputStream,
        /// The directory in which `run` runs, relative to the project and inside it.
        #[key("cwd"?: FilledText, check: Some(GuardText::Directory), default: Described("the project"), example: r#""packages/api""#)]
        pub cwd: Option<String>,
        /// Environment variables for `run`, in addition to those of the sidecar.
        #[key("env"?: NamedTexts, check: Some(GuardText::Variable), example: r#"{"CI": "true"}"#)]
        pub env: Vec<(String, String)>,
        /// The variables in it, each with the values that it may have: the user trusts them with the command.
        pub values?: Vec<(String, Vec<String>)>,
    }
}

/// An output of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
    /// Both, in the order in which they are written.
    Both,
}

impl OutputStream {
    /// Its name in messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Both => "its output",
        }
    }
}

impl RunCheck {
    /// The seconds that a command may take by default.
    const DEFAULT_TIMEOUT: u32 = 10 * 60;

    /// Reads the keys of a check whose command has this key. One that is required takes no line for the shell.
    pub(super) fn read(
        keys: &mut MapReader<'_, '_, '_>,
        command: &'static Typed<CommandLine>,
    ) -> Option<Self> {
        let mut run = Self {
            timeout: Self::DEFAULT_TIMEOUT,
            ..Self::default()
        };
        run.read_keys(keys);
        run.shell &= !command.key.is_required();
        let expect = keys.get(&Self::expect).unwrap_or_default();
        (run.exit, run.stream, run.stdout) = (expect.exit, expect.stream, expect.pattern);
        run.command = if run.shell {
            let line = keys.written(command)?;
            match line.kind() {
                Kind::Text(text) if variable(text).is_some() => {
                    let message = "no variable is replaced in a shell line";
                    let finding = Finding::error(Code::InvalidValue, line.span(), message);
                    let help = "write `run` as a list, with the variable as an argument";
                    return keys.reader.refuse(finding.help(help));
                }
                Kind::Text(text) if !trim(text).is_empty() => vec![text.to_string()],
                _ => return keys.reader.refuse(line.wrong_type("a line for the shell")),
            }
        } else {
            keys.get(command)?
        };
        Some(run)
    }

    /// The command as one would type it, in one line without control characters, however long it is: for whoever must know
    /// all of it.
    pub fn in_full(&self) -> String {
        let values = self.values.iter();
        let values = values.map(|(name, values)| format!(" {{{name}}}: {}", values.join(", ")));
        visible(&(self.typed() + &values.collect::<String>()))
    }

    /// The texts in which variables are replaced.
    fn texts_with_values(&mut self) -> impl Iterator<Item = &mut String> {
        let arguments = self.command.iter_mut().skip(1);
        let env = self.env.iter_mut().map(|(_, value)| value);
        arguments.chain(&mut self.cwd).chain(env)
    }

    /// Notes the values that its variables may have.
    pub(crate) fn note_values(&mut self, known: &BTreeMap<String, Vec<String>>) {
        let text = join(self.texts_with_values(), " ");
        let known = known.iter();
        let known = known.filter(|(name, _)| text.contains(&format!("{{{name}}}")));
        self.values = known
            .map(|(name, values)| (name.clone(), values.clone()))
            .collect();
    }

    /// As one would type it at the project's root, with its variables and its directory.
    fn typed(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(cwd) = &self.cwd {
            parts.push(format!("cd {} &&", word_of_line(cwd)));
        }
        let variables = self.env.iter();
        parts.extend(variables.map(|(name, value)| format!("{name}={}", word_of_line(value))));
        if self.shell {
            parts.push(self.command.join(" "));
        } else {
            parts.extend(self.command.iter().map(|word| word_of_line(word)));
        }
        parts.join(" ")
    }
}

impl Check {
    /// The command that it runs.
    pub fn command(&self) -> Option<&RunCheck> {
        match self {
            Self::Run(run) => Some(run),
            Self::Tests(tests) => Some(&tests.command),
            Self::File(_) | Self::Git(_) => None,
        }
    }

    /// The command that it runs, to be changed.
    pub(crate) fn command_mut(&mut self) -> Option<&mut RunCheck> {
        match self {
            Self::Run(run) => Some(run),
            Self::Tests(tests) => Some(&mut tests.command),
            Self::File(_) | Self::Git(_) => None,
        }
    }

    /// Returns true if it needs the commit at the start of the run.
    pub fn compares_with_start(&self) -> bool {
        matches!(self, Self::Tests(tests) if tests.compares())
    }

    /// The check with the values of a run in place of its variables.
    pub(crate) fn with_values(&self, values: &BTreeMap<String, String>) -> Self {
        let mut check = self.clone();
        let replace = |text: &mut String| *text = template::with_known(text, values);
        if let Some(run) = check.command_mut().filter(|run| !run.values.is_empty()) {
            run.texts_with_values().for_each(replace);
            run.values.clear();
        }
        match &mut check {
            Self::Tests(tests) => tests
                .files
                .iter_mut()
                .chain(&mut tests.report)
                .for_each(replace),
            Self::File(file) => replace(&mut file.path),
            Self::Run(_) | Self::Git(_) => {}
        }
        check
    }

    /// The condition as a phrase; `fit` prepares the parts that come from its definition.
    pub fn requirement(&self, fit: impl Fn(&str) -> String) -> String {
        let Some(RunCheck {
            stdout: Some(pattern),
            stream,
            ..
        }) = self.command()
        else {
            return self.texts(&fit).1;
        };
        let stream = match stream {
            OutputStream::Stdout | OutputStream::Both => "",
            OutputStream::Stderr => " on standard error",
        };
        format!("{} and print {}{stream}", self.texts(&fit).1, fit(pattern))
    }

    /// The name of the check; `fit` prepares the parts that come from its definition.
    pub fn called(&self, fit: impl Fn(&str) -> String) -> String {
        self.texts(&fit).0
    }

    /// The name of the check, and its condition without what a command must print.
    fn texts(&self, fit: &impl Fn(&str) -> String) -> (String, String) {
        let (called, requirement) = match self {
            Self::Run(run) => {
                let (command, exit) = (fit(&run.typed()), run.exit.requirement());
                let requirement = format!("{command} {exit}");
                return match run.exit {
                    ExpectedExit::Code(0) => (command, requirement),
                    _ => (format!("{command} ({exit})"), requirement),
                };
            }
            Self::Tests(tests) => {
                let (called, requirement) = Self::Run(tests.command.clone()).texts(fit);
                return (
                    format!("tests: {called}"),
                    requirement + &tests.requirement(),
                );
            }
            Self::File(FileCheck { path, changed }) => {
                let path = fit(path);
                let (how, must) = match changed {
                    None => ("", "must exist"),
                    Some(true) => (" changed", "must have changed"),
                    Some(false) => (" unchanged", "must not have changed"),
                };
                return (format!("file {path}{how}"), format!("{path} {must}"));
            }
            Self::Git(GitCheck::Clean) => ("git clean", "git must be clean"),
            Self::Git(GitCheck::NewCommit) => ("git new commit", "git must have a new commit"),
        };
        (called.to_owned(), requirement.to_owned())
    }
}

/// An expected exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedExit {
    /// This one.
    Code(i32),
    /// Any but 0.
    Nonzero,
}

impl Default for ExpectedExit {
    fn default() -> Self {
        Self::Code(0)
    }
}

impl ExpectedExit {
    fn requirement(self) -> String {
        match self {
            Self::Code(0) => "must pass".to_owned(),
            Self::Code(code) => format!("must exit with {code}"),
            Self::Nonzero => "must fail".to_owned(),
        }
    }
}

section! {
    Section::guard("a file");
    /// A file that must be there, or one of several.
    #[derive(Default)]
    pub struct FileCheck {
        /// A file of the project that must exist, or a glob (with `*`, `?` or `{`) that a file must match. A directory does not count.
        #[key("file": FilledText, check: Some(GuardText::Files), default: Described(ONE_OF), example: r#""docs/plan.md""#)]
        pub path: String,
        /// `true`: the content of `file`, or of a file that its glob matches, must differ from when the phase was entered. `false`: it must be the same.
        #[key("changed"?: Flag, default: Described("either"), example: "true")]
        pub changed: Option<bool>,
    }
}

impl FileCheck {
    /// Returns its glob; `None` if it names one file, or the glob is invalid and thus the name of none.
    pub fn glob(&self) -> Option<ProjectGlob> {
        ProjectGlob::read(&self.path)?.ok()
    }
}

/// The expected state of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GitCheck {
    /// Nothing is changed that is not committed.
    Clean,
    /// There is a commit that was not there when the phase was entered.
    NewCommit,
}

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
                let message = "`run` must be a list: the program and its arguments";
                let finding = Finding::error(Code::WrongType, span, message);
                let list = shown(&join(line.split_whitespace(), ", "));
                let for_shell = if written.key.is_required() {
                    ""
                } else {
                    ", or add `shell: true`"
                };
                finding.help(format!("write `run: [{list}]`{for_shell}"))
            }
            Kind::List(list) => {
                let words = Texts::read(reader, written)?;
                if words.first().is_none_or(|program| trim(program).is_empty()) {
                    let finding = Finding::error(Code::MissingKey, span, "`run` names no program");
                    finding.help("write `run: [cargo, test]`")
                } else if let Some(finding) = command_finding(&words, list) {
                    finding
                } else {
                    for (word, node) in words.iter().zip(list).skip(1) {
                        note_values(reader, Some(GuardText::Argument), word, node.span);
                    }
                    return Some(words);
                }
            }
            _ => written.wrong_type("a list of texts"),
        };
        reader.refuse(finding)
    }
}

section! {
    Section::guard("`expect`");
    /// The expected result of a `run`.
    #[derive(Default)]
    pub(crate) struct Expect {
        /// The exit code, or `nonzero` for any code but 0.
        #[key("exit": ExitCode, default: Number(0), example: r#""nonzero""#, hint: Some(Code::InvalidValue.help()))]
        pub exit: ExpectedExit,
        /// A regular expression that standard output must match.
        #[key("stdout": FilledText, check: Some(GuardText::Regex), default: Described("any"), example: r#""0 failed""#)]
        const stdout;
        /// A regular expression that standard error must match. Give only one of `stdout`, `stderr`, `output`.
        #[key("stderr": FilledText, check: Some(GuardText::Regex), default: Described("any"), example: r#""0 warnings""#)]
        const stderr;
        /// A regular expression that both streams together must match, in the order in which they are written.
        #[key("output": FilledText, check: Some(GuardText::Regex), default: Described("any"), example: r#""0 failed""#)]
        const output;
        /// The stream of the pattern.
        pub stream: OutputStream,
        /// What it must match.
        pub pattern: Option<String>,
    }
}

impl FromMap for Expect {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let mut expect: Self = keys.read();
        let patterns = [
            (OutputStream::Stdout, &Self::stdout),
            (OutputStream::Stderr, &Self::stderr),
            (OutputStream::Both, &Self::output),
        ];
        let given = patterns.map(|(stream, key)| Some((stream, keys.get(key)?)));
        if let Some((stream, pattern)) = given.into_iter().flatten().next() {
            (expect.stream, expect.pattern) = (stream, Some(pattern));
        }
        let help = "use `output` for both streams, or write two checks";
        keys.has_several(&["stdout", "stderr", "output"], help);
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
            _ => whole_number(&written.entry.value)
                .and_then(|code| u8::try_from(code).ok())
                .map(|code| ExpectedExit::Code(code.into())),
        };
        let expected = "a whole number from 0 to 255, or `nonzero`";
        exit.or_else(|| reader.refuse(written.out_of_range(expected)))
    }
}
