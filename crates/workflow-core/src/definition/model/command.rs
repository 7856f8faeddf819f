//! Commands of checks, and their expected results.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::subworkflow::names_in;
use crate::definition::guard_text::{GuardText, command_finding, variable};
use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Section, Shape, Typed, Written, section,
};
use crate::definition::syntax::Kind;
use crate::definition::value::{
    Duration, FilledText, Flag, Map, NamedTexts, Texts, note_values, whole_number,
};
use crate::diagnostic::{Code, Finding, shown, visible};
use crate::text::{join, word_of_line};
use crate::white_space::trim;

pub(super) const ONE_OF: &str = "required: one of `run`, `tests`, `file`, `git`, `commit`";

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

    /// The name of a check with it, and its condition without what it must print; `fit` prepares the parts that come from its
    /// definition.
    pub(super) fn texts(&self, fit: impl Fn(&str) -> String) -> (String, String) {
        let (command, exit) = (fit(&self.typed()), self.exit.requirement());
        let requirement = format!("{command} {exit}");
        match self.exit {
            ExpectedExit::Code(0) => (command, requirement),
            _ => (format!("{command} ({exit})"), requirement),
        }
    }

    /// The texts in which variables are replaced.
    pub(super) fn texts_with_values(&mut self) -> impl Iterator<Item = &mut String> {
        let arguments = self.command.iter_mut().skip(1);
        let env = self.env.iter_mut().map(|(_, value)| value);
        arguments.chain(&mut self.cwd).chain(env)
    }

    /// The names of its variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        let env = self.env.iter().map(|(_, value)| value);
        let texts = self.command.iter().skip(1).chain(&self.cwd).chain(env);
        texts.flat_map(|text| names_in(text))
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

/// A program and its arguments. With `shell`, a line is read in place of it.
pub(crate) struct CommandLine;

impl KeyType for CommandLine {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": ["array", "string"], "items": {"type": "string"}}),
        "list of texts",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let span = written.span();
        let finding = match written.kind() {
            Kind::Text(line) => {
                let message = "`run` must be a list: the program and its arguments";
                let finding = Finding::error(Code::WrongType, span, message);
                let list = shown(&join(line.split_whitespace(), ", "));
                let required = written.key.is_required();
                let for_shell = if required {
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
        "0 to 255, `nonzero`",
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
