//! Gates: the checks that must pass before a phase is left. They are a guard: any mistake is an error.

use serde_json::{Value, json};

use super::budget::{Bounds, bound_in_words};
use super::check::{Check, FileCheck, GitCheck};
use super::command::{ONE_OF, RunCheck};
use super::target::{OnFail, OnLimit, Target};
use super::tests_check::TestsCheck;
use crate::definition::schema::{FromMap, MapReader, Section, Written, section};
use crate::definition::tier::Tier;
use crate::definition::value::{Map, OneOf, WholeOrValue, words};
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
        /// Where the run goes when the check fails: an id of the same workflow, `end`, `{end: name}` or `done`.
        #[key("onFail"?: OnFail, default: Described("it stays in the phase"), example: r#""reproduce""#)]
        pub on_fail: Option<Target>,
        /// How often the check may fail before the phase is left, or `onLimit` acts.
        #[key("tries"?: WholeOrValue, default: Described("no limit"), example: "3")]
        pub tries: Option<u32>,
        /// Their number, if it is a value of the run.
        pub bounds?: Bounds,
        /// What happens with the last of the `tries`: `pause`, `cancel`, `end`, `{end: name}`, `done`, or an id of the same workflow.
        #[key("onLimit"?: OnLimit, default: Text("pause"), example: r#""cancel""#)]
        pub on_limit: Option<Target>,
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
        ("onLimit", "tries"),
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
        check_companions(keys);
        let run = RunCheck::read(keys, &RunCheck::run);
        let tests = keys.get(&Self::tests);
        let file: FileCheck = keys.read();
        keys.get(&Self::git);
        keys.get(&Self::commit);
        let others = keys.reader.sites.bounds.len();
        let (on_fail, tries) = (keys.get(&Self::on_fail), keys.get(&Self::tries));
        let bounds = keys.reader.sites.bounds.split_off(others);
        let on_limit = keys.get(&Self::on_limit);
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
            tries,
            bounds,
            on_limit,
            default_of: None,
            source: keys.reader.file_and_line(keys.start),
        })
    }

    fn meant_in_list(finding: Finding, written: Written<'_>) -> Option<Finding> {
        let words = join(written.short_text()?.split_whitespace(), ", ");
        written.in_form(finding, &format!("[{{run: [{words}]}}]"))
    }
}

impl Gate {
    /// Where the run goes when the check fails, as the end of its condition; `name` makes the name of an id.
    pub fn otherwise(&self, name: impl Fn(&str) -> String) -> String {
        let told = |target: &Target| match target {
            Target::Phase(id) => format!("→ {}", name(id)),
            word => word.to_string(),
        };
        let fails = self.on_fail.as_ref();
        let fails = fails.map(|to| format!(", otherwise {}", told(to)));
        let limit = bound_in_words(self.tries, "tries", &self.bounds).map(|most| {
            let to = self.on_limit.as_ref().unwrap_or(&Target::Pause);
            let tries = if most == "1" { "try" } else { "tries" };
            format!(", at most {most} {tries}, then {}", told(to))
        });
        fails.unwrap_or_default() + &limit.unwrap_or_default()
    }
}

/// Reports keys that have a meaning only in a check of another kind.
fn check_companions(keys: &mut MapReader<'_, '_, '_>) {
    for (key, beside) in CHECK.companions {
        if let Some(entry) = keys.entry(key).filter(|_| !keys.has(beside)) {
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
