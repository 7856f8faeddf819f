//! The keys of a definition: workflows, phases, references.

#[allow(
    clippy::wildcard_imports,
    unused_imports,
    reason = "a section uses some of the table's types"
)]
use super::*;

section! {
    /// A workflow.
    workflow {
        NAME: Typed<Text> = Typed::text("name", "The displayed name.").required().example(r#""Bug fix""#);
        COMMAND_NAME: Typed<Text> =
            Typed::command_name("commandName", "`/workflow <commandName> <description>` starts it.")
                .default(Default::RequiredToStart)
                .example(r#""bugfix""#);
        INITIAL_MESSAGE: Typed<Text> =
            Typed::template("initialMessage", TemplateKind::InitialMessage, "Sent to the agent at the start.")
                .default(Default::RequiredToStart)
                .example(r#""Fix this bug: {description}. Begin with {firstPhaseName}.""#);
        PHASES: Key = Key::new(
            "phases",
            ValueType::Phases,
            "The phases in order, at least one. Each is a file name, `{subworkflow: key}`, or a map with the keys of a phase.",
        )
        .required()
        .never_empty()
        .example(r#"["reproduce.md", {"subworkflow": "review"}, "../_shared/release.md"]"#);
        SHOW: Typed<Show> = Typed::one_of(
            "show",
            "`user`: the user can start it. `workflows`: it is only a part of other workflows, and needs neither `commandName` nor `initialMessage`.",
        )
        .default(Default::Text("user"))
        .example(r#""workflows""#)
        .strict();
        LOOPABLE: Typed<bool> = Typed::flag("loopable", "Whether the agent may restart it with `loop`.")
            .default(Default::True)
            .example("false")
            .strict();
        SESSION_NAME_PREFIX_KEY: Typed<Text> =
            Typed::text("sessionNamePrefix", "The beginning of the session's name; the description follows.")
                .default(Default::Text(SESSION_NAME_PREFIX))
                .example(r#""Bug: ""#);
        SESSION_NAME_MAX_LENGTH_KEY: Typed<u32> =
            Typed::whole("sessionNameMaxLength", 0, None, "The number of characters (UTF-16 units) of the description in the session's name.")
                .default(Default::Number(SESSION_NAME_MAX_LENGTH))
                .example("30");
        ROLE_INSTRUCTION: Typed<Text> =
            Typed::template("roleInstruction", TemplateKind::Context, "The agent's role: the beginning of the context message.")
                .default(Default::Described("built in"))
                .example(r#""Work in phases, and stay inside the current one.""#);
        ADVANCE_REMINDER: Typed<Text> =
            Typed::template("advanceReminder", TemplateKind::Context, "How to leave the phase: the end of the context message.")
                .default(Default::Described("built in"))
                .example(r#""When it is done, call {toolName} with action='next'.""#);
        BLOCK_REASON_TEMPLATE: Typed<Text> =
            Typed::template("blockReasonTemplate", TemplateKind::BlockReason, "The reason that the agent reads when a list blocks a call.")
                .default(Default::Described("built in"))
                .example(r#""{toolName} is not for {phaseName}. Allowed: {allowedTools}""#);
        COMPLETION_MESSAGE: Typed<Text> =
            Typed::template("completionMessage", TemplateKind::Completion, "The message when a run is completed.")
                .default(Default::Described("built in"))
                .example(r#""Done: {taskDescription}""#);
        CANCELLED_MESSAGE: Typed<Text> =
            Typed::template("cancelledMessage", TemplateKind::Completion, "The message when the run is cancelled. Without it, a `completionMessage` is used when the agent cancels.")
                .default(Default::Described("built in"))
                .example(r#""Stopped: {taskDescription}""#);
        NOT_DONE_REMINDER: Typed<Text> =
            Typed::template("notDoneReminder", TemplateKind::NotDone, "The reminder to an agent that stopped before the phase is done.")
                .default(Default::Described("built in"))
                .example(r#""{phaseEmoji} {phaseName} is not done: {phaseInstructions}""#);
        CONTINUE: Key = CONTINUE_KEY.default(Default::Described("see `continue`"));
        CONTEXT: Typed<ContextMode> = CONTEXT_KEY;
        TOOLS: Key = SHORT_TOOLS_KEY;
        WRITABLE: Typed<Vec<String>> = WRITABLE_KEY;
        RUN: Typed<Vec<String>> = RUN_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        GATE: Key = Key {
            summary: "Checks of every phase of this workflow, before those of the phase. They do not apply to phases of its subworkflows.",
            ..GATE_KEY
        };
        APPROVE: Key = Key {
            summary: "The approval of every phase of this workflow that has none. It does not apply to phases of its subworkflows.",
            ..APPROVE_KEY
        };
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        CHECKPOINT: Typed<Checkpoint> = CHECKPOINT_KEY;
        INPUTS: Key = Key::new(
            "inputs",
            ValueType::Named(Section::Input),
            "Values that a run is given at its start, by name: `{inputs.<name>}`.",
        )
        .example(r#"{"version": {"type": "text", "pattern": "^[0-9.]+$", "about": "The version to release"}}"#)
        .never_dropped()
        .guard();
        BUDGET: Key = BUDGET_KEY;
        CANCEL: Typed<CancelBy> = Typed::one_of("cancel", "Who may cancel a run.")
            .default(Default::Text("anyone"))
            .example(r#""person""#)
            .never_dropped()
            .guard();
        RULESETS: Key = RULESETS_KEY;
        SCHEMA: Typed<Text> = SCHEMA_KEY;
    }
}

section! {
    /// A phase.
    phase {
        ID: Typed<Text> = Typed::text("id", "The id of the phase, unique in its workflow.").required().example(r#""reproduce""#);
        NAME: Typed<Text> = Typed::text("name", "The displayed name.").required().example(r#""Reproduce""#);
        EMOJI: Typed<Text> = Typed::text("emoji", "The emoji before the name.").required().example(r#""🐛""#);
        INSTRUCTIONS: Typed<Text> = Typed::template(
            "instructions",
            TemplateKind::Context,
            "What the agent is to do. In a file it is the text after the frontmatter, without white space around it.",
        )
        .required()
        .example(r#""Write down the steps that show the bug.""#);
        TOOLS: Key = SHORT_TOOLS_KEY;
        WRITABLE: Typed<Vec<String>> = WRITABLE_KEY;
        RUN: Typed<Vec<String>> = RUN_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        GATE: Key = GATE_KEY;
        APPROVE: Key = APPROVE_KEY;
        CHECKPOINT: Typed<Checkpoint> = CHECKPOINT_KEY;
        AVAILABLE_PROFILES: Typed<Vec<String>> =
            Typed::texts("availableProfiles", "Names of subagent profiles, which the context message lists.")
                .example(r#"["bug-reproducer"]"#);
        CONTINUE: Key = Key::new(
            "continue",
            ValueType::WaitOr(Section::Continue),
            "Reminders to an agent that stops before this phase is done.",
        )
        .default(Default::Described("the workflow's"))
        .example(r#""wait""#)
        .strict()
        .guard();
        OUTPUTS: Key = Key::new(
            "outputs",
            ValueType::Named(Section::Output),
            "Values that the agent hands over with `next`, by name: `{outputs.<phase>.<name>}`.",
        )
        .example(r#"{"plan": {"type": "text", "minLength": 40, "about": "What will be changed, and why"}}"#)
        .never_dropped()
        .guard();
        OUTCOMES: Key = Key::new(
            "outcomes",
            ValueType::Targets,
            "The possible results of the phase, each with its target: an id of the same workflow, `next`, `end` or `done`. The agent names one of them with `next`.",
        )
        .example(r#"{"ok": "next", "again": "reproduce"}"#)
        .never_dropped()
        .guard();
        WHEN: Key = Key::new(
            "when",
            ValueType::Conditions,
            "The values with which the phase is entered; with others it is skipped: `inputs.<name>`, `outputs.<phase>.<name>`, `visits.<phase>`.",
        )
        .default(Default::Described("always"))
        .example(r#"{"visits.reproduce": {"not": [7, 8]}}"#)
        .never_dropped()
        .guard();
        MAX_VISITS: Typed<u32> = Typed::whole("maxVisits", 1, None, "How often the phase may be entered in one run of its workflow.")
            .default(Default::Described("no limit, but for `limits.maxVisits`"))
            .example("3")
            .never_dropped()
            .guard();
        ON_MAX_VISITS: Typed<Text> = Typed::filled(
            "onMaxVisits",
            "What happens instead of one more visit: `pause`, `cancel`, or an id of the same workflow.",
        )
        .default(Default::Text("pause"))
        .example(r#""cancel""#)
        .never_dropped()
        .guard();
        BUDGET: Key = Key {
            summary: "How much the phase may use each time it is entered. At a limit the run pauses.",
            ..BUDGET_KEY
        };
        MODEL: Typed<Text> = Typed::filled("model", "The model, as the host names it, where the host can set it.")
            .default(Default::Described("the user's"))
            .example(r#""provider/model""#)
            .never_dropped();
        THINKING: Typed<Thinking> = Typed::one_of("thinking", "How long the model thinks, where the host can set it.")
            .default(Default::Described("the user's"))
            .example(r#""high""#)
            .never_dropped();
        ACTIVE_TOOLS: Typed<bool> = Typed::flag("activeTools", "Whether blocked tools are hidden from the model, where the host can.")
            .default(Default::Described("`false`"))
            .example("true")
            .never_dropped();
    }
}

section! {
    /// A reference to a workflow.
    reference {
        SUBWORKFLOW: Typed<Text> =
            Typed::text("subworkflow", "The key of the workflow that runs here: the name of its directory.")
                .required()
                .example(r#""review""#);
        WHEN: Key = Key::new(
            "when",
            ValueType::Conditions,
            "Values that must be as they are here, or the whole subworkflow is skipped: `inputs.<name>`, `outputs.<phase>.<name>`, `visits.<phase>` of the workflow that has the reference.",
        )
        .default(Default::Described("always"))
        .example(r#"{"visits.reproduce": {"not": 9}}"#)
        .never_dropped()
        .guard();
    }
}
