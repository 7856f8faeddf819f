//! Approvals: the question that the user must answer before a phase is left. They are a guard: any mistake is an error.

use super::target::{Answers, Target};
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{Declared, FromMap, MapReader, Section, Written, section};
use crate::definition::value::{FilledText, Flag, Template};
use crate::diagnostic::{Finding, shown};
use crate::template::TemplateKind;
use crate::text::join;

section! {
    Section { expected: "a map with `ask`", ..Section::guard("`approve`") };
    /// The approval of a person that `next` needs after the gate has passed.
    #[derive(Default)]
    pub struct Approval {
        /// The question.
        #[key("ask": Template, template: Some(TemplateKind::Ask), default: Required, example: r#""Is the plan right?""#)]
        pub ask: String,
        /// The possible answers. In a list the first one approves; with any other one the run stays in the phase. A map names the target of each answer: an id of the same workflow, `next`, `end`, `done` or `cancel`.
        #[key("choices": Answers, default: Described("`[approve, revise]`"), example: r#"["approve", "revise"]"#)]
        const answers;
        /// The possible answers; the first one approves unless `targets` says where each leads.
        pub choices: Vec<String>,
        /// The place that each answer leads to, if given.
        pub targets?: Vec<Target>,
        /// Whether the user is asked for a comment, which the agent reads: `{answer.<phase>.comment}`.
        #[key("comment"?: Flag, default: Described("`false`"), example: "true")]
        pub comment: bool,
        /// A file of the project that is shown with the question.
        #[key("show"?: FilledText, check: Some(GuardText::File), example: r#""docs/plan.md""#)]
        pub show: Option<String>,
        /// Its location, as `file:line`.
        pub source?: String,
    }
}

impl FromMap for Approval {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let mut approval = Self {
            choices: ["approve", "revise"].map(str::to_owned).to_vec(),
            source: (keys.reader).file_and_line(keys.of.and_then(|of| of.entry.key_span)),
            ..Self::default()
        };
        approval.read_keys(keys);
        if let Some((choices, targets)) = keys.get(&Self::answers) {
            (approval.choices, approval.targets) = (choices, targets);
        }
        (keys.is_complete && !keys.is_unreadable(&Self::answers)).then_some(approval)
    }

    fn meant(finding: Finding, written: Written<'_>) -> Option<Finding> {
        let (name, text) = (written.key.name, shown(written.short_text()?));
        Some(finding.help(format!("write `{name}: {{ask: \"{text}\"}}`")))
    }
}

impl Approval {
    /// The question and its answers, with the place that each leads to, on one line.
    pub fn describe(&self) -> String {
        let choices = self.choices.iter().enumerate();
        let choices = choices.map(|(index, choice)| match self.targets.get(index) {
            Some(target) => format!("{choice} → {target}"),
            None => choice.clone(),
        });
        let comment = if self.comment { "; with a comment" } else { "" };
        format!("{} ({}{comment})", self.ask, join(choices, ", "))
    }

    /// The place that an answer leads to, by its index; `None` if the run stays in the phase.
    pub(crate) fn target(&self, choice: usize) -> Option<Target> {
        match self.targets.get(choice) {
            Some(target) => Some(target.clone()),
            None => (choice == 0).then_some(Target::Next),
        }
    }
}
