//! What the settings say of all workflows.

use super::auto_continue::{ContinueRule, WaitOrMap};
use super::budget::Budget;
use super::gate::Gate;
use super::level::DefaultTools;
use super::phase::Phase;
use super::rule_sets::RuleSets;
use super::tools::{Place, ReadOnlyOrTools, read_tools};
use super::workflow::{CancelBy, PhaseEntry, Workflow};
use crate::definition::schema::{Declared, MapReader, Reader, Section, Written, section};
use crate::definition::syntax::Kind;
use crate::definition::value::{ListOf, Map, OneOf};
use crate::diagnostic::{Code, Finding};

section! {
    Section::guard("`defaults`");
    /// What the settings say of all workflows.
    #[derive(Default)]
    #[serde(default)]
    pub struct Defaults {
        #[key(Phase: ReadOnlyOrTools)]
        const level_tools;
        /// As in a workflow.
        #[key(Workflow: WaitOrMap)]
        #[serde(rename = "continue")]
        pub auto_continue: ContinueRule,
        #[key(Phase: ListOf<Gate>, summary: "Checks of every phase of all workflows, before those of the workflow.")]
        const gate;
        /// Checks of every phase.
        pub gate?: Vec<Gate>,
        /// As in a workflow.
        #[key(Workflow?: Map<Budget>, summary: "How much a run of any workflow may use. Of this and the workflow's the stricter limit counts.")]
        pub budget: Budget,
        /// As in a workflow.
        #[key(Workflow?: OneOf<CancelBy>)]
        pub cancel: Option<CancelBy>,
        /// The tools and the rules of all phases.
        pub tools?: DefaultTools,
    }
}

impl Defaults {
    /// Reads the map of the settings; false if something that restricts cannot be read.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        written: Written<'_>,
        sets: &RuleSets,
    ) -> (Self, bool) {
        let span = written.entry.key_span;
        let Kind::Map(map) = written.kind() else {
            reader.report(written.wrong_type("a map"));
            return (Self::default(), false);
        };
        let tier = reader.tier;
        let mut keys = MapReader::new(reader, Self::SECTION, map, span);
        let mut read: Self = keys.read();
        let gate = keys.get(&Self::gate).unwrap_or_default();
        for site in std::mem::take(&mut keys.reader.sites.targets) {
            let (key, words) = site.kind.form();
            if !words.contains(&&*site.to) {
                let message =
                    format!("`{key}` names a phase, and `defaults` belong to all workflows");
                let finding = Finding::error(Code::InvalidValue, site.span, message);
                keys.report(finding.help("remove it, or write it in a workflow"));
            }
        }
        let level = read_tools(&mut keys, &Self::level_tools, sets, Place::Settings);
        let written = |name| {
            keys.entry(name).map_or(0, |entry| match &entry.value.kind {
                Kind::List(items) => items.len(),
                Kind::Map(map) => map.entries.len(),
                _ => 1,
            })
        };
        let limits = Budget::SECTION.keys.iter();
        let limits = limits.filter_map(|key| read.budget.value_of(key.name));
        let is_sound = level.status.is_loaded()
            && !keys.is_lost("tools")
            && !keys.is_lost("cancel")
            && written("gate") == gate.all.len()
            && written("budget") == limits.filter(|limit| !limit.is_null()).count()
            && keys.all_known();
        read.gate = gate.all;
        for gate in &mut read.gate {
            gate.default_of = Some(tier);
            for target in [&mut gate.on_fail, &mut gate.on_limit] {
                target.take_if(|target| target.phase().is_some());
            }
        }
        let (access, rules) = (level.tools, level.rules);
        read.tools = DefaultTools { access, rules };
        (read, is_sound)
    }

    /// Adds them to a workflow: a gate comes first, and the stricter budget and `cancel` count.
    pub(crate) fn apply(&self, workflow: &mut Workflow) {
        workflow.budget = workflow.budget.stricter(&self.budget);
        if self.cancel == Some(CancelBy::User) {
            workflow.cancel = self.cancel;
        }
        for entry in &mut workflow.phases {
            if let PhaseEntry::Phase(phase) = entry {
                phase.gate.splice(0..0, self.gate.iter().cloned());
            }
        }
    }
}
