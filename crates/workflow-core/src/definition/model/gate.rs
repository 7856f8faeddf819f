//! Gates: the checks that must pass before a phase is left. They are a guard: any mistake is an error.

use serde_json::{Value, json};

use super::check::{Check, FileCheck, GitCheck, ONE_OF, RunCheck};
use super::target::OnFail;
use super::tests_check::TestsCheck;
use crate::definition::schema::{FromMap, MapReader, Section, Written, section};
use crate::definition::tier::Tier;
use crate::definition::value::{Map, OneOf, words};
use crate::diagnostic::{Code, Finding};
use crate::text::join;

section! {
    CHECK;
    /// One check of a phase's gate. `next` leaves the phase only when all have passed.
    pub struct Gate {
        /// Its subject.
        pub check: Check,
        #[keys(RunCheck)]
        /// Tests that must pass, and what must hold for them.
        #[key("tests": Map<TestsCheck>, default: Described(ONE_OF), example: r#"{"run": ["cargo", "test"], "failsWithoutChange": true}"#)]
        const tests;
        #[keys(FileCheck)]
        /// `clean`: every change is committed.
        #[key("git": OneOf<CleanRepository>, default: Described(ONE_OF), example: r#""clean""#)]
        const git;
        /// `new`: there is a commit that did not exist when the phase was entered.
        #[key("commit": OneOf<NewCommit>, default: Described(ONE_OF), example: r#""new""#)]
        const commit;
        /// The id of the same workflow to which the run goes when the check fails.
        #[key("onFail"?: OnFail, default: Described("it stays in the phase"), example: r#""reproduce""#)]
        pub on_fail: Option<String>,
        /// The settings that give it to all workflows.
        pub default_of?: Option<Tier>,
        /// Its location, as `file:line`.
        pub source?: String,
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
    alternatives: &["run", "tests", "file", "git", "commit"],
    more: command_schema,
    ..Section::guard("a check of `gate`")
};

/// `run` is a list, and with `shell` a line.
fn command_schema(schema: &mut Value) {
    schema["if"] = json!({"required": ["shell"], "properties": {"shell": {"const": true}}});
    schema["then"] = json!({"properties": {"run": {"type": "string", "pattern": "\\S"}}});
    let list = json!({"type": "array", "minItems": 1, "items": [{"pattern": "\\S"}]});
    schema["else"] = json!({"properties": {"run": list}});
}

impl FromMap for Gate {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let help =
            "write what is checked: `run: [cargo, test]`, `file: docs/plan.md` or `git: clean`";
        let kind = keys.first_of(CHECK.alternatives, help)?;
        keys.has_several(CHECK.alternatives, "write two checks");
        check_companions(keys, kind);
        let run = RunCheck::read(keys, &RunCheck::run);
        let tests = keys.get(&Self::tests);
        let file: FileCheck = keys.read();
        keys.get(&Self::git);
        keys.get(&Self::commit);
        let on_fail = keys.get(&Self::on_fail);
        if keys.is_lost(kind) {
            return None;
        }
        if file.changed.is_some() && file.path.contains("{outputs.") {
            let message =
                "`changed` compares with the start of the phase, where its outputs have no value";
            let finding = Finding::error(Code::InvalidValue, keys.start, message);
            keys.report(finding.help("name the file itself, or by an input"));
        }
        let check = match kind {
            "run" => Check::Run(run?),
            "tests" => Check::Tests(tests?),
            "file" => Check::File(file),
            "git" => Check::Git(GitCheck::Clean),
            _ => Check::Git(GitCheck::NewCommit),
        };
        Some(Self {
            check,
            on_fail,
            default_of: None,
            source: keys.reader.file_and_line(keys.start),
        })
    }

    fn meant_in_list(finding: Finding, written: Written<'_>) -> Option<Finding> {
        let words = join(written.short_text()?.split_whitespace(), ", ");
        written.in_form(finding, &format!("[{{run: [{words}]}}]"))
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

words! {
    /// The value of `git`.
    pub(crate) enum CleanRepository {
        /// No changed or new file is uncommitted.
        "clean" => It,
    }
}

words! {
    /// The value of `commit`.
    pub(crate) enum NewCommit {
        /// There is a commit that did not exist when the phase was entered.
        "new" => It,
    }
}
