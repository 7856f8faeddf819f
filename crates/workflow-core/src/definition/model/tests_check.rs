//! A check that runs tests and reads which of them ran.

use super::command::{CommandLine, Expect, OutputStream, RunCheck};
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{Declared, FromMap, MapReader, Section, section};
use crate::definition::value::{Duration, FilledText, Flag, Map, NamedTexts, TextOrTexts, Whole};
use crate::diagnostic::{Code, Finding, shown};
use crate::pattern::ProjectGlob;

/// Where tests are by the habit of each language, with what belongs to them.
const TEST_FILES: &[&str] = &[
    "**/{tests,test,__tests__,spec,testdata,__snapshots__}/**",
    "**/*.{test,spec}.*",
    "**/{*_test,*_spec,test_*}.*",
    "**/{tests.rs,tests.py,conftest.py}",
    "**/*{Test,Tests}.{java,kt,cs}",
];

section! {
    Section::guard("`tests`");
    /// A command that runs tests, and what must hold for them.
    #[derive(Default)]
    pub struct TestsCheck {
        /// The program that runs the tests, and its arguments.
        #[key("run": CommandLine, default: Required, example: r#"["cargo", "test"]"#)]
        const run;
        /// The files of tests: globs, relative to the project.
        #[key("files"?: TextOrTexts, check: Some(GuardText::Files), default: Described("the habit of each language"), example: r#"["tests/**", "**/*_test.rs"]"#)]
        pub files: Vec<String>,
        /// The smallest number of tests that must run.
        #[key("min": Whole<1>, default: Number(1), example: "10")]
        pub min: u32,
        /// Whether as many tests must run as at the start of the run or the item of a loop, with none skipped that was not skipped there.
        #[key("noNewSkips"?: Flag, default: Described("`false`"), example: "true")]
        pub no_new_skips: bool,
        /// Whether a new or changed test must fail with all other files as they were at that start.
        #[key("failsWithoutChange"?: Flag, default: Described("`false`"), example: "true")]
        pub fails_without_change: bool,
        /// The `JUnit` file that the command writes, relative to the project.
        #[key("report"?: FilledText, check: Some(GuardText::File), default: Described("its output is read"), example: r#""build/junit.xml""#)]
        pub report: Option<String>,
        /// The result of `run` that passes: `exit` and `output`. Also with `exit: nonzero` a test must have run.
        #[key("expect": Map<Expect>, default: Described("`exit: 0`"), example: r#"{"exit": "nonzero"}"#)]
        const expect;
        /// The longest time of the whole check, at most a day.
        #[key("timeout": Duration, default: Text("10m"), example: r#""10m""#)]
        const timeout;
        #[key(RunCheck: FilledText)]
        const cwd;
        #[key(RunCheck: NamedTexts)]
        const env;
        /// The command, its limits and its expected result.
        pub command: RunCheck,
    }
}

impl TestsCheck {
    /// Returns true if it needs the files at the start of the run.
    pub fn compares(&self) -> bool {
        self.no_new_skips || self.fails_without_change
    }

    /// Returns what tells whether a path, relative to the project, is that of a file of tests.
    pub fn test_files(&self) -> impl Fn(&str) -> bool {
        let defaults = TEST_FILES.iter().map(|glob| (*glob).to_owned());
        let paths: Vec<String> = match &*self.files {
            [] => defaults.collect(),
            files => files.to_vec(),
        };
        ProjectGlob::any_of(paths)
    }

    /// What must hold for the tests, as the end of a sentence about the command.
    pub(super) fn requirement(&self) -> String {
        let tests = if self.min == 1 { "test" } else { "tests" };
        let mut text = format!(", run at least {} {tests}", self.min);
        if self.no_new_skips {
            text +=
                ", run as many as at the start of the run, skip none that was not skipped there";
        }
        if self.fails_without_change {
            text += ", and a new or changed test must fail without the other changes of the run";
        }
        text
    }
}

impl FromMap for TestsCheck {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let mut check = Self {
            min: 1,
            ..Self::default()
        };
        check.read_keys(keys);
        let command = RunCheck::read(keys, &Self::run);
        if let Some(entry) = keys.entry(Self::expect.key.name)
            && matches!(&command, Some(run) if run.stdout.is_some() && run.stream != OutputStream::Both)
        {
            let message = "`tests` reads both outputs of its command together";
            let finding = Finding::error(Code::InvalidValue, entry.key_span, message);
            keys.report(finding.help("write `output` in `expect`"));
        }
        if let Some(entry) = keys.entry("report")
            && let Some(report) = &check.report
            && report.split(['/', '\\']).any(|part| part == "..")
        {
            let message = format!(
                "`report` must be a file in the project, not `{}`",
                shown(report)
            );
            let finding = Finding::error(Code::PathRefused, entry.value.span, message);
            keys.report(
                finding.help("write it from the project's root: `report: build/junit.xml`"),
            );
        }
        check.command = RunCheck {
            stream: OutputStream::Both,
            ..command?
        };
        Some(check)
    }
}
