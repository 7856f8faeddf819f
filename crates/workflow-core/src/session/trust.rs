//! Commands of a project that need trust, and the question about them at the start of a run.
//!
//! A workflow of the user needs none. The platform knows which commands are trusted already.

use crate::definition::{Catalog, Listing, LoadOutcome, RunCheck, Tier, Workflow};
use crate::diagnostic::visible;
use crate::effect::Question;
use crate::text;

/// The workflows of a run with commands that are not the user's own, and these commands.
#[derive(Debug, Clone)]
pub(crate) struct ProjectCommands {
    /// The workflows' keys.
    workflows: Vec<String>,
    /// The commands of their gates.
    commands: Vec<RunCheck>,
    /// The commands as a person reads them, each once, with the locations that run it.
    listed: Vec<String>,
}

impl ProjectCommands {
    /// Collects them for a run of this root. Without an index, as of a stored definition, nothing says who wrote it.
    pub(crate) fn of(root: &str, catalog: &Catalog, index: Option<&[Listing]>) -> Self {
        let mut workflows = catalog.reachable_from(root);
        workflows.retain(|workflow| commands_of(workflow, index).next().is_some());
        let all = workflows.iter();
        let commands = all.flat_map(|workflow| commands_of(workflow, index));
        let commands: Vec<_> = commands.collect();
        let keys = workflows.iter().map(|workflow| workflow.key.clone());
        Self {
            workflows: keys.collect(),
            listed: listed(&commands),
            commands: commands.into_iter().map(|(run, _)| run.clone()).collect(),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[RunCheck] {
        &self.commands
    }

    /// The question for trust in them, with what is about to run them and what each answer does.
    pub(crate) fn question(&self, about: &str, answers: &str) -> Question {
        let about = format!(
            "{about} You are asked because a project can change its commands. The workflow runs:"
        );
        let listed = self.listed.iter().cloned();
        let mut question = Question::trust("Run commands of this project?", &about, listed);
        question.message = format!("{}\n\n{answers}", question.message);
        question
    }

    /// The question at the start of a run; the notice where it cannot be asked says how to give trust.
    pub(crate) fn start_question(
        &self,
        project_trusted: bool,
        can_ask: bool,
    ) -> Result<Question, String> {
        if !project_trusted {
            return Err(not_trusted("trust the project in this host"));
        }
        if !can_ask {
            let lines = text::join(self.listed.iter().map(|line| format!("  {line}")), "\n");
            return Err(format!("{}\n{lines}", not_trusted(TRUST_COMMAND)));
        }
        Ok(self.question(
            "The gates of this workflow run commands of this project.",
            "Yes: they run at their gates, until one of them changes.\nNo: nothing runs now, and you are asked again at the first gate \
             that runs one of them.",
        ))
    }

    /// The commands that must be trusted before a gate of this workflow runs; none for a workflow of the user.
    pub(crate) fn needed_for(&self, workflow: &str) -> &[RunCheck] {
        let is_of_project = self.workflows.iter().any(|key| key == workflow);
        if is_of_project { &self.commands } else { &[] }
    }
}

/// The way to trust commands outside of the host.
const TRUST_COMMAND: &str =
    "close this session and trust them with `workflow-sidecar trust` in a terminal";

/// The notice about commands that do not run.
fn not_trusted(how: &str) -> String {
    format!(
        "[workflow] The gates of this workflow run commands of this project that you have not trusted. Such a gate does not pass until \
         you {how}."
    )
}

fn listed(commands: &[(&RunCheck, &str)]) -> Vec<String> {
    let mut listed: Vec<(String, Vec<&str>)> = Vec::new();
    for (run, source) in commands {
        let text = run.in_full();
        match listed.iter_mut().find(|(known, _)| *known == text) {
            Some((_, sources)) => sources.push(source),
            None => listed.push((text, vec![source])),
        }
    }
    let lines = listed.into_iter().map(|(text, sources)| {
        let sources = sources.into_iter().filter(|source| !source.is_empty());
        let mut sources: Vec<String> = sources.map(visible).collect();
        sources.dedup();
        if sources.is_empty() {
            text
        } else {
            format!("{text}  ({})", sources.join(", "))
        }
    });
    lines.collect()
}

/// The commands of a run that run only if the user trusts them, each with its location: those that a workflow of the
/// project has, and those that the settings of the project give all workflows. Only a run of this key and what it refers to counts.
pub fn project_gate_commands<'c>(
    root: &str,
    catalog: &'c Catalog,
    index: &[Listing],
) -> impl Iterator<Item = (&'c RunCheck, &'c str)> {
    let workflows = catalog.reachable_from(root).into_iter();
    workflows.flat_map(move |workflow| commands_of(workflow, Some(index)))
}

/// The commands of a workflow that need trust.
fn commands_of<'c>(
    workflow: &'c Workflow,
    index: Option<&[Listing]>,
) -> impl Iterator<Item = (&'c RunCheck, &'c str)> + use<'c> {
    let is_own = index.into_iter().flatten().any(|listing| {
        let is_user = listing.tier == Tier::Global && listing.outcome == LoadOutcome::Loaded;
        is_user && listing.key == workflow.key
    });
    let is_known = index.is_some();
    let gates = workflow.own_phases().flat_map(|phase| &phase.gate);
    let gates = gates.filter(move |gate| match gate.default_of {
        Some(tier) if is_known => tier == Tier::Project,
        _ => !is_own,
    });
    gates.filter_map(|gate| Some((gate.check.command()?, &*gate.source)))
}
