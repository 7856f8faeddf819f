//! The keys of a settings file, and of `continue`.

#[allow(
    clippy::wildcard_imports,
    unused_imports,
    reason = "a section uses some of the table's types"
)]
use super::*;

section! {
    /// A settings file.
    settings {
        CONTINUE: Key = Key {
            default: Default::Described("see `continue`"),
            ..CONTINUE_KEY
        };
        CONTEXT: Typed<ContextMode> = CONTEXT_KEY;
        TOOLS: Key = TOOLS_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        CHECKPOINT: Typed<Checkpoint> = CHECKPOINT_KEY;
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        RULESETS: Key = Key {
            example: r#"{"no-publish": [{"block": "bash", "command": ["npm publish *", "cargo publish *"]}]}"#,
            ..RULESETS_KEY
        };
        QUESTION_TIMEOUT: Typed<u32> = Typed::seconds(
            "questionTimeout",
            MAX_QUESTION_TIMEOUT,
            "Seconds that the user has for the answer in a dialog. Without an answer nothing is allowed. 0: no limit.",
        )
        .default(Default::Number(1800))
        .example("3600")
        .never_empty();
        TRIGGERS: Key = Key::new(
            "triggers",
            ValueType::ListOf(Section::Trigger),
            "Events from outside that send the agent a message: a written file, or a web request.",
        )
        .example(r#"[{"file": "notes/trigger.txt", "prompt": "Somebody says: {content}"}]"#)
        .never_dropped()
        .guard();
        LIMITS: Key = Key::new("limits", ValueType::Map(Section::Limits), "Limits on the size of definitions, and on jumps into one phase.")
            .default(Default::Described("see `limits`"))
            .example(r#"{"maxPhases": 200}"#)
            .strict();
        STORE: Typed<Text> = Typed::filled(
            "store",
            "The PostgreSQL server with the runs, requests and answers of several machines. Only in the user's settings.",
        )
        .default(Default::Described("a database in the home directory"))
        .example(r#""postgres://laptop@db.example.org/workflows""#);
        SCHEMA: Typed<Text> = SCHEMA_KEY;
    }
}

section! {
    /// The settings' `limits`.
    limits {
        MAX_FILE_BYTES: Typed<u32> = Typed::limit(
            "maxFileBytes",
            "Bytes of one file.",
            Limits::DEFAULT.max_file_bytes,
            Limits::HIGHEST.max_file_bytes,
        );
        MAX_TOTAL_BYTES: Typed<u32> = Typed::limit(
            "maxTotalBytes",
            "Bytes of all files. A file counts as often as it is named.",
            Limits::DEFAULT.max_total_bytes,
            Limits::HIGHEST.max_total_bytes,
        );
        MAX_DEPTH: Typed<u32> = Typed::limit(
            "maxDepth",
            "Nested maps and lists in one file.",
            Limits::DEFAULT.max_depth,
            Limits::HIGHEST.max_depth,
        );
        MAX_PHASES: Typed<u32> = Typed::limit(
            "maxPhases",
            "Phases of one workflow, subworkflows counted as one.",
            Limits::DEFAULT.max_phases,
            Limits::HIGHEST.max_phases,
        );
        MAX_WORKFLOWS: Typed<u32> = Typed::limit(
            "maxWorkflows",
            "Workflow directories of the project, or of your own.",
            Limits::DEFAULT.max_workflows,
            Limits::HIGHEST.max_workflows,
        );
        MAX_NESTING: Typed<u32> = Typed::limit(
            "maxNesting",
            "Nested subworkflows.",
            Limits::DEFAULT.max_nesting,
            Limits::HIGHEST.max_nesting,
        );
        MAX_VISITS: Typed<u32> = Typed::limit(
            "maxVisits",
            "Times that outcomes, gates and answers may lead into one phase without `maxVisits`.",
            Limits::DEFAULT.jumps,
            Limits::HIGHEST.jumps,
        );
    }
}

section! {
    /// `continue`, where it is a map.
    auto_continue {
        MAX: Typed<Bound> = Typed::bound("max", "Reminders in a row without a phase change.")
            .default(Default::Number(8))
            .example("5")
            .strict()
            .never_empty();
        MAX_STALE: Typed<Bound> = Typed::bound("maxStale", "Reminders in a row after which the agent called no tool.")
            .default(Default::Number(3))
            .example("1")
            .strict()
            .never_empty();
        ON_ERROR: Typed<OnStop> = Typed::one_of("onError", "What happens after an error of the model provider, or when the answer is cut at its maximum length.")
            .default(Default::Text("pause"))
            .example(r#""continue""#)
            .strict()
            .never_empty();
        ON_QUESTION: Typed<OnStop> = Typed::one_of("onQuestion", "What happens when the agent stops with a question to the user.")
            .default(Default::Text("pause"))
            .example(r#""continue""#)
            .strict()
            .never_empty();
        ON_LIMIT: Typed<OnLimit> = Typed::one_of("onLimit", "What happens at a limit: `pause` pauses the run, `cancel` cancels it.")
            .default(Default::Text("pause"))
            .example(r#""cancel""#)
            .strict()
            .never_empty();
        COUNTDOWN: Typed<u32> =
            Typed::seconds("countdown", MAX_COUNTDOWN, "Seconds from the stop to the reminder.")
                .default(Default::Number(3))
                .example("0")
                .strict()
                .never_empty();
    }
}
