//! The resolved phase of a run: tools, instructions, breadcrumb, status.
//!
//! Made once per change of the run, so that an event only looks values up and never walks the path or the catalog.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::context::PhaseContext;
use super::phase_line;
use super::phase_texts::{self, Wording};
use crate::definition::{
    Approval, Catalog, Checkpoint, ContextMode, Gate, Guards, Phase, PhaseEntry, ResultRule, Rule,
    Settings, Tier, ToolAccess, Workflow,
};
use crate::effect::HostHints;
use crate::policy::results::Results;
use crate::policy::rules::{
    Call, Denial, Description, LevelRules, ReadOnly, RuleSource, Rules, reason,
};
use crate::reminders::ContinuePolicy;
use crate::run::{
    DefinitionMismatch, Path, Position, RunProgress, RunState, ScopeLevel, Terms, Texts,
    TransitionError, advance, down_to_phase, in_order, meaning, output_key,
};
use crate::{template, text};

/// The most items that a reason names: the context names all.
const MAX_ALLOWED_IN_REASON: usize = 50;

/// The phase of a run, with the settings of all levels.
#[derive(Debug, Clone)]
pub struct ResolvedPhase {
    /// The root workflow's name.
    pub workflow_name: String,
    /// The names from the root to the innermost scope.
    pub breadcrumb: Vec<Breadcrumb>,
    /// The key of the workflow that contains the phase.
    pub workflow_key: String,
    /// The phase; its instructions with their variables resolved (B05).
    pub phase: Phase,
    /// The position in the innermost scope, from 1, and the number of its entries.
    pub progress: (usize, usize),
    /// The phases of the run with what is done, unless it has one.
    pub(crate) checklist: Option<String>,
    /// The status line.
    pub status: String,
    /// The item that the innermost loop around it is at: `Task 3 of 7: Write the parser`.
    pub item: Option<String>,
    /// The rules on tool calls of all levels.
    pub(crate) rules: Rules,
    /// The rules on results of all levels.
    pub(crate) results: Results,
    /// The template of the reason for a call that a list blocks.
    block_reason: String,
    /// The line that follows it.
    block_reason_end: String,
    /// A description of the rules on tools, unless all are allowed or the texts are those of the npm package.
    pub(crate) allowed: Option<String>,
    /// The template of the text about the agent's role.
    pub(crate) role: String,
    /// The template of the sentence on how to advance.
    pub(crate) advance: String,
    /// The outcomes and where they lead, in one line; empty without outcomes.
    pub outcomes: String,
    /// The context message.
    pub(crate) context: PhaseContext,
    /// The rule by which the context message is sent in full.
    pub(crate) context_mode: ContextMode,
    /// The reminder for an agent that stopped early.
    pub(crate) reminder: Reminder,
    /// The settings for reminders.
    pub auto_continue: ContinuePolicy,
    /// The kind of checkpoint that is recorded at each turn.
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// The reminder for an agent that stopped early.
#[derive(Debug, Clone)]
pub(crate) struct Reminder {
    /// The text of the definition, or the default with the phase's instructions.
    in_full: String,
    /// Without the instructions, for a conversation that contains them.
    short: Option<String>,
    /// The text of the npm package, which a session that it began contains.
    of_package: Option<String>,
}

impl Reminder {
    /// The text to send, which depends on the instructions being in the conversation.
    pub(crate) fn text(&self, has_instructions: bool) -> &str {
        match &self.short {
            Some(short) if has_instructions => short,
            _ => &self.in_full,
        }
    }

    /// All texts that may have been sent.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let others = [&self.short, &self.of_package];
        let others = others.into_iter().filter_map(|text| text.as_deref());
        std::iter::once(&*self.in_full).chain(others)
    }
}

/// One scope of the path as people read it.
///
/// state-management: "Breadcrumb construction".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Breadcrumb {
    /// The workflow that this scope runs.
    pub workflow_key: String,
    /// That workflow's name.
    pub name: String,
    /// The current phase's name in the innermost scope, the workflow's name in the others.
    pub phase_name: String,
    /// The current phase's emoji in the innermost scope, else empty.
    pub emoji: String,
}

impl ResolvedPhase {
    /// Resolves the phase of a state, or says why the run does not fit its definitions.
    pub(crate) fn of(
        progress: &RunProgress,
        catalog: &Catalog,
        held: Option<&Terms>,
        settings: &Settings,
    ) -> Result<Self, DefinitionMismatch> {
        let state = &progress.state;
        let position = Position::of(state, catalog)?;
        let values = |path: &Path| progress.data.variables(path, catalog);
        Self::with_values(progress, &position, &values, held, settings)
    }

    /// Resolves the phase at a position. A function has the values of a scope for its texts.
    pub(crate) fn with_values(
        progress: &RunProgress,
        position: &Position<'_>,
        values: &dyn Fn(&Path) -> Texts,
        held: Option<&Terms>,
        settings: &Settings,
    ) -> Result<Self, DefinitionMismatch> {
        let state = &progress.state;
        let (root, own, phase) = (position.root(), position.own_workflow(), position.phase);
        let catalog = position.catalog;
        let next = next_name(progress, catalog)?;
        let path = down_to_phase(state.current_path.clone(), catalog);
        let values_of_root = values(&Path::root(&root.key, 0));
        let values = values(&path);
        let [variables, variables_of_root] = [&values, &values_of_root]
            .map(|values| phase_texts::variables(progress, position, &next, values));
        let resolve = |template: &str, is_of_root: bool| {
            let variables = if is_of_root {
                &variables_of_root
            } else {
                &variables
            };
            template::with_values(template, variables)
        };
        let item = progress.data.item(&path, catalog);
        let innermost = position.innermost();
        let context_mode = root.context.or(settings.context);
        let context_mode = context_mode.unwrap_or(ContextMode::ByChange);
        let held = held.and_then(|held| Some((Position::of(state, &held.catalog).ok()?, held)));
        let held = held.as_ref();
        let held = held.map(|(position, held)| (position, held.guards.both()));
        let own_levels: Vec<LevelRules<'_>> = levels(position, settings.guards()).collect();
        let held_levels = held.into_iter();
        let held_levels = held_levels.flat_map(|(position, guards)| levels(position, guards));
        let mut levels: Vec<LevelRules<'_>> = held_levels
            .filter(|level| !own_levels.iter().any(|own| own.restricts_as(level)))
            .collect();
        for level in &mut levels {
            level.name = format!("{} before the change", level.name).into();
        }
        levels.extend(own_levels);
        let description = Description(&levels);
        let wording = Wording::of(root, catalog, settings);
        let role = phase_texts::role(root, wording, &description);
        let gate = phase.gate.iter().map(|gate| Gate {
            check: gate.check.with_values(&values),
            ..gate.clone()
        });
        let gate: Vec<Gate> = gate.collect();
        let (mode, rules) = (context_mode, &description);
        let parts = phase_texts::parts(progress, position, &gate, mode, wording, rules, resolve);
        let context = PhaseContext::new(position, parts);
        let rules = Rules::new(levels.iter().cloned()).of_run();
        let allowed = description.text().filter(|_| wording.describes_rules);
        let block_reason = root.templates.block_reason_template.as_deref();
        // The phase comes first, then the scopes from the innermost to the root, then the settings.
        let scopes = || position.scopes().rev().map(|level| level.workflow);
        let auto_continue = std::iter::once(&phase.auto_continue)
            .chain(scopes().map(|scope| &scope.auto_continue))
            .chain([&settings.auto_continue]);
        let of_scopes = scopes().find_map(|scope| scope.checkpoint);
        Ok(Self {
            workflow_name: root.name.clone(),
            breadcrumb: breadcrumb(position),
            workflow_key: own.key.clone(),
            progress: (innermost.index + 1, innermost.workflow.phases.len()),
            checklist: phase_line::checklist(position, &progress.data),
            status: status(progress, position),
            item,
            rules,
            results: results(position, settings.guards(), held),
            block_reason: block_reason.unwrap_or(text::BLOCK_REASON).to_owned(),
            block_reason_end: block_reason_end(root, allowed.as_deref()),
            allowed,
            role: role.to_owned(),
            advance: phase_texts::advance_reminder(position, wording),
            outcomes: phase_texts::outcomes(position).unwrap_or_default(),
            context_mode,
            reminder: reminder(state, position, &values_of_root, context_mode),
            auto_continue: ContinuePolicy::of(auto_continue),
            checkpoint: phase.checkpoint.or(of_scopes).or(settings.checkpoint),
            phase: Phase {
                instructions: resolve(&phase.instructions, false),
                gate,
                approve: phase.approve.as_ref().map(|approve| Approval {
                    ask: resolve_ask(approve, &values),
                    show: (approve.show.as_ref()).map(|show| template::with_known(show, &values)),
                    ..approve.clone()
                }),
                ..phase.clone()
            },
            context,
        })
    }

    /// Settings that the phase asks the host to make; `None` if there are none.
    pub(crate) fn host_hints(&self) -> Option<HostHints> {
        let hints = &self.phase.hints;
        (!hints.is_empty()).then(|| HostHints {
            model: hints.model.clone(),
            thinking: hints.thinking,
            tools: hints.active_tools.then(|| self.rules.visible_tools()),
        })
    }

    /// The reason why a call may not run, or not without a person's consent.
    pub(crate) fn denies(&self, call: &Call<'_>) -> Option<String> {
        let (denial, _) = self.rules.decide(call).denial()?;
        Some(self.denial_reason(&denial, call.tool()))
    }

    /// The reason that the agent reads for a denied call. A list of the workflow uses the workflow's template.
    pub(crate) fn denial_reason(&self, denial: &Denial<'_>, tool: &str) -> String {
        if denial.rule.is_none() && denial.in_workflow {
            return self.list_reason(tool, &denial.allowed);
        }
        reason(denial, tool, Some(&self.phase.name))
    }

    /// The reason for a call that a list blocks (hook-lifecycle: "Block Reason Template").
    pub(crate) fn list_reason(&self, tool: &str, allowed: &str) -> String {
        let reason = template::resolve(&self.block_reason, |name| match name {
            "workflowName" => Some(&self.workflow_name),
            "phaseName" => Some(&self.phase.name),
            "toolName" => Some(tool),
            "allowedTools" => Some(allowed),
            _ => None,
        });
        reason + &self.block_reason_end
    }

    /// The names from the root to the innermost scope, in one text.
    pub(crate) fn breadcrumb_names(&self) -> String {
        text::join(self.breadcrumb.iter().map(|crumb| &crumb.name), " > ")
    }

    /// Returns true if a gate or an approval comes before it is left.
    pub(crate) fn is_left_later(&self) -> bool {
        !self.phase.gate.is_empty() || self.phase.approve.is_some()
    }

    /// The subagents that it names, if the answer that enters it says so: not where every turn does.
    pub(crate) fn profiles(&self) -> Option<&[String]> {
        let names = self.phase.available_profiles.as_deref();
        names.filter(|names| !names.is_empty() && self.context_mode == ContextMode::ByChange)
    }

    /// The key of what it hands over.
    pub(crate) fn output_key(&self) -> String {
        output_key(&self.workflow_key, &self.phase.id)
    }

    /// The phase, as people read it.
    pub(crate) fn label(&self) -> String {
        self.phase.label()
    }

    /// The workflow, the phase and its number, as people read them.
    pub(crate) fn location(&self) -> String {
        let (current, total) = self.progress;
        let (workflow, phase) = (self.breadcrumb_names(), self.label());
        format!("Workflow {workflow}, phase {phase} ({current} of {total})")
    }
}

/// The question for approval. Lines of a value are indented, so that they cannot pass for lines of the dialog.
fn resolve_ask(approval: &Approval, values: &Texts) -> String {
    let mut values = values.clone();
    for value in values.values_mut() {
        *value = value.replace('\n', "\n    ");
    }
    template::with_values(&approval.ask, &values)
}

/// The rules of the settings on tool calls, the user's first.
pub(crate) fn settings_levels([user, project]: [&Guards; 2]) -> [LevelRules<'_>; 2] {
    [
        ("the user's settings", Tier::Global, user),
        ("the project's settings", Tier::Project, project),
    ]
    .map(|(name, tier, guards)| LevelRules {
        name: name.into(),
        source: RuleSource::Settings(tier),
        tools: guards.tools.as_ref(),
        rules: Cow::Borrowed(&guards.rules),
        read_only: None,
        unknown: guards.unknown,
        on_repeat: guards.on_repeat,
    })
}

/// The beginning of the names of the levels of `withoutRun`.
const DOOR: &str = "`withoutRun` of ";

/// Returns true for a level of `withoutRun`, by its name.
pub(crate) fn is_of_door(level: &str) -> bool {
    level.starts_with(DOOR)
}

/// The rules of `withoutRun` in the settings, the user's first.
pub(crate) fn door_levels(guards: [&Guards; 2]) -> impl Iterator<Item = LevelRules<'_>> {
    let levels = guards.into_iter().zip(settings_levels(guards));
    levels.filter_map(|(guards, settings)| {
        let door = guards.without_run.as_deref()?;
        let source = door.tools.as_ref().and_then(ToolAccess::read_only);
        let open = |source| ReadOnly::new(source, &door.writable, &door.commands);
        Some(LevelRules {
            name: format!("{DOOR}{}", settings.name).into(),
            tools: door.tools.as_ref(),
            rules: Cow::Borrowed(&door.rules),
            read_only: source.map(open),
            unknown: settings.unknown.max(door.unknown),
            ..settings
        })
    })
}

/// The rules of all levels on tool calls, outer first.
pub(crate) fn levels<'a>(
    position: &Position<'a>,
    guards: [&'a Guards; 2],
) -> impl Iterator<Item = LevelRules<'a>> {
    let (own, place) = (position.own_workflow(), position.phase);
    let workflows = position.levels.iter().map(|level| {
        let workflow = level.workflow;
        // The phases of subworkflows neither lift it nor open anything.
        let inside = (workflow.key == own.key).then_some(place);
        let read_only = workflow.read_only_of(inside);
        let read_only = read_only.map(|source| open_in(source, workflow, inside));
        LevelRules {
            name: format!("the {} workflow", workflow.name).into(),
            source: RuleSource::Workflow(&workflow.key),
            tools: workflow.tools.as_ref(),
            rules: rules_in(level),
            read_only,
            unknown: workflow.unknown,
            on_repeat: workflow.on_repeat,
        }
    });
    let open_here = |source| open_in(source, own, Some(place));
    let read_only = place.tools.as_ref().and_then(ToolAccess::read_only);
    let phase = LevelRules {
        name: format!("the {} phase", place.name).into(),
        source: RuleSource::Phase,
        tools: place.tools.as_ref(),
        rules: Cow::Borrowed(&place.rules),
        read_only: read_only.map(open_here),
        unknown: place.unknown,
        on_repeat: None,
    };
    let settings = settings_levels(guards);
    let defaults = guards.into_iter().zip(settings.clone());
    let defaults = defaults.map(|(guards, settings)| {
        let access = guards.defaults.access.as_ref();
        let read_only = access.and_then(ToolAccess::read_only);
        let read_only = read_only.filter(|_| !place.lifts());
        LevelRules {
            name: format!("`defaults` of {}", settings.name).into(),
            tools: access,
            rules: Cow::Borrowed(&guards.defaults.rules),
            read_only: read_only.map(open_here),
            unknown: None,
            on_repeat: None,
            ..settings
        }
    });
    let restricts = |level: &LevelRules<'_>| level.tools.is_some() || !level.rules.is_empty();
    let defaults = defaults.filter(restricts);
    let inner: Vec<_> = defaults.chain(workflows).chain([phase]).collect();
    settings.into_iter().chain(inner)
}

/// The rules of a workflow that hold in the entry of a run.
fn rules_in<'a>(level: &ScopeLevel<'a>) -> Cow<'a, [Rule]> {
    let rules = &level.workflow.rules;
    let entry = level.workflow.phases.get(level.index);
    let id = entry.map_or("", PhaseEntry::id);
    let holds = |rule: &&Rule| !rule.except.iter().any(|except| except == id);
    if rules.iter().all(|rule| holds(&rule)) {
        Cow::Borrowed(rules)
    } else {
        rules.iter().filter(holds).cloned().collect()
    }
}

/// What `writable` and `commands` of a workflow open in its phases, and of a phase in that phase.
fn open_in<'a>(source: &'a str, workflow: &'a Workflow, phase: Option<&'a Phase>) -> ReadOnly<'a> {
    let writable = phase.into_iter().flat_map(|phase| &phase.writable);
    let commands = phase.into_iter().flat_map(|phase| &phase.commands);
    ReadOnly::new(
        source,
        workflow.writable.iter().chain(writable),
        workflow.commands.iter().chain(commands),
    )
}

/// The rules of all levels on results, outer first; without a run, those of the settings.
pub fn result_levels<'a>(
    position: Option<&Position<'a>>,
    guards: [&'a Guards; 2],
) -> impl Iterator<Item = &'a Vec<ResultRule>> {
    let levels = position.into_iter().flat_map(|position| &position.levels);
    let workflows = levels.map(|level| &level.workflow.results);
    let phase = position.map(|position| &position.phase.results);
    let settings = guards.into_iter().map(|guards| &guards.results);
    settings.chain(workflows).chain(phase)
}

/// The rules on results, outer levels first: those that redact, which hold although they were changed, precede them.
fn results(
    position: &Position<'_>,
    guards: [&Guards; 2],
    held: Option<(&Position<'_>, [&Guards; 2])>,
) -> Results {
    let own: Vec<&ResultRule> = result_levels(Some(position), guards).flatten().collect();
    let is_own = |rule: &ResultRule| own.iter().any(|own| meaning(own) == meaning(rule));
    let is_held = |rule: &&ResultRule| rule.redacts() && !is_own(rule);
    let held = held.into_iter();
    let held = held.flat_map(|(held, guards)| result_levels(Some(held), guards).flatten());
    Results::new(held.filter(is_held).chain(own.iter().copied()))
}

/// hook-lifecycle: "Status Format". A reference at the end is followed to its phase (A10).
fn status(progress: &RunProgress, position: &Position<'_>) -> String {
    let path = down_to_phase(progress.state.current_path.clone(), position.catalog);
    let levels = position.scopes().zip(1..).map(|(level, depth)| {
        let inside = (depth < path.depth()).then(|| path.up_to(depth + 1));
        let item = inside.and_then(|inside| progress.data.item_of(&inside));
        level.progress(item, position.catalog)
    });
    let parts = std::iter::once(position.root().name.clone()).chain(levels);
    text::shortened(&text::join(parts, " > "), text::STATUS_MAX_LENGTH)
}

/// state-management: "Breadcrumb construction".
fn breadcrumb(position: &Position<'_>) -> Vec<Breadcrumb> {
    let crumb = |level: &ScopeLevel<'_>| Breadcrumb {
        workflow_key: level.workflow.key.clone(),
        name: level.workflow.name.clone(),
        phase_name: level.workflow.name.clone(),
        emoji: String::new(),
    };
    let mut crumbs: Vec<Breadcrumb> = position.levels.iter().map(crumb).collect();
    if let Some(innermost) = crumbs.last_mut() {
        innermost.phase_name.clone_from(&position.phase.name);
        innermost.emoji.clone_from(&position.phase.emoji);
    }
    crumbs
}

/// The phase that `next` really enters; `DONE` only when it completes the run (B04).
fn next_name(progress: &RunProgress, catalog: &Catalog) -> Result<String, DefinitionMismatch> {
    let path = match advance(progress, catalog) {
        Ok(next) => next.state.active.then_some(next.state.current_path),
        Err(TransitionError::DefinitionMismatch(mismatch)) => return Err(mismatch),
        // What follows cannot begin yet with the values that there are.
        Err(_) => in_order(&progress.state, catalog),
    };
    let Some(current_path) = path else {
        return Ok("DONE".to_owned());
    };
    let state = progress.state.clone();
    let next = RunState {
        current_path,
        ..state
    };
    Ok(Position::of(&next, catalog)?.phase.name.clone())
}

/// Names what is allowed after the default reason. A template of the definition says what it says.
fn block_reason_end(root: &Workflow, allowed: Option<&str>) -> String {
    let (None, Some(allowed)) = (&root.templates.block_reason_template, allowed) else {
        return String::new();
    };
    let mut ends = allowed.match_indices(", ").map(|(end, _)| end);
    let shown = match ends.nth(MAX_ALLOWED_IN_REASON - 1) {
        Some(end) => format!("{}, and more.", &allowed[..end]),
        None => format!("{allowed}."),
    };
    format!("{}{shown}", text::ALLOWED_IN_PHASE)
}

/// hook-lifecycle: Case B, step 3. It contains the instructions as they are written.
fn reminder(state: &RunState, at: &Position<'_>, values: &Texts, mode: ContextMode) -> Reminder {
    let root = at.root();
    let own = root.templates.not_done_reminder.as_ref();
    let resolve = |template| {
        template::resolve(template, |name| match name {
            "workflowName" => Some(&root.name),
            "phaseName" => Some(&at.phase.name),
            "phaseEmoji" => Some(&at.phase.emoji),
            "phaseInstructions" => Some(&at.phase.instructions),
            "taskDescription" => Some(&state.task_description),
            "taskId" => Some(&state.task_id),
            "workflowKey" => Some(&state.workflow_key),
            name => values.get(name).map(String::as_str),
        })
    };
    let (in_full, short) = match (own, mode) {
        (Some(own), _) => (own.as_str(), None),
        (None, ContextMode::EveryTurn) => (text::NOT_DONE, None),
        (None, ContextMode::ByChange) => (
            text::STILL_ACTIVE_WITH_INSTRUCTIONS,
            Some(text::STILL_ACTIVE),
        ),
    };
    Reminder {
        in_full: resolve(in_full),
        of_package: short.is_some().then(|| resolve(text::NOT_DONE)),
        short: short.map(resolve),
    }
}
