//! The checks of a gate: commands, files, the repository.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::command::{ONE_OF, OutputStream, RunCheck};
use super::tests_check::TestsCheck;
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{Section, section};
use crate::definition::value::{FilledText, Flag};
use crate::pattern::ProjectGlob;
use crate::template;

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

    /// Returns true if it needs the files at the start of the run.
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
            Self::Tests(TestsCheck { files, report, .. }) => {
                files.iter_mut().chain(report).for_each(replace);
            }
            Self::File(file) => replace(&mut file.path),
            Self::Run(_) | Self::Git(_) => {}
        }
        check
    }

    /// The condition as a phrase; `fit` prepares the parts that come from its definition.
    pub fn requirement(&self, fit: impl Fn(&str) -> String) -> String {
        let requirement = self.texts(&fit).1;
        let Some((run, pattern)) = self
            .command()
            .and_then(|run| Some((run, run.stdout.as_ref()?)))
        else {
            return requirement;
        };
        let stream = match run.stream {
            OutputStream::Stdout | OutputStream::Both => "",
            OutputStream::Stderr => " on standard error",
        };
        format!("{requirement} and print {}{stream}", fit(pattern))
    }

    /// The name of the check; `fit` prepares the parts that come from its definition.
    pub fn called(&self, fit: impl Fn(&str) -> String) -> String {
        self.texts(&fit).0
    }

    /// The name of the check, and its condition without what a command must print.
    fn texts(&self, fit: &impl Fn(&str) -> String) -> (String, String) {
        match self {
            Self::Run(run) => run.texts(fit),
            Self::Tests(tests) => {
                let (called, requirement) = tests.command.texts(fit);
                let called = format!("tests: {called}");
                (called, requirement + &tests.requirement())
            }
            Self::File(FileCheck { path, changed }) => {
                let path = fit(path);
                let (how, must) = match changed {
                    None => ("", "must exist"),
                    Some(true) => (" changed", "must have changed"),
                    Some(false) => (" unchanged", "must not have changed"),
                };
                (format!("file {path}{how}"), format!("{path} {must}"))
            }
            Self::Git(GitCheck::Clean) => ("git clean".into(), "git must be clean".into()),
            Self::Git(GitCheck::NewCommit) => {
                ("git new commit".into(), "git must have a new commit".into())
            }
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
