//! The keys of `tools` and `results`.

#[allow(
    clippy::wildcard_imports,
    unused_imports,
    reason = "a section uses some of the table's types"
)]
use super::*;

section! {
    /// `tools`.
    tools {
        BLACKLIST: Typed<Vec<String>> = Typed::tool_names("blacklist", "These tools are blocked.")
            .example(r#"["edit", "write"]"#)
            .strict()
            .never_empty()
            .guard();
        WHITELIST: Typed<Vec<String>> =
            Typed::tool_names("whitelist", "All other tools are blocked. An empty list blocks all.")
                .example(r#"["read", "grep"]"#)
                .strict()
                .never_empty()
                .guard();
        RULES: Key = Key::new(
            "rules",
            ValueType::ListOf(Section::Rule),
            "Rules on single calls. The first that matches decides.",
        )
        .example(r#"[{"block": "bash", "writes": true}]"#)
        .never_dropped()
        .guard();
        USE: Typed<Vec<String>> = Typed::texts("use", "Names of `rulesets`, whose rules follow the rules here.")
            .example(r#"["no-network"]"#)
            .never_dropped()
            .guard();
    }
}

section! {
    /// A rule of `tools`.
    rule {
        ALLOW: Typed<Partial<String>> = Typed::tool_patterns(
            "allow",
            "The tools whose calls may run, as far as this level is concerned. `*` stands for any characters.",
        )
        .default(Default::Described("one of the three"))
        .example(r#""write""#)
        .strict()
        .never_empty();
        ASK: Typed<Partial<String>> = Typed::tool_patterns(
            "ask",
            "The tools about whose calls a person is asked. Where nobody can be asked, they are blocked.",
        )
        .default(Default::Described("one of the three"))
        .example(r#""bash""#)
        .strict()
        .never_empty();
        BLOCK: Typed<Partial<String>> = Typed::tool_patterns("block", "The tools whose calls are blocked.")
            .default(Default::Described("one of the three"))
            .example(r#"["write", "edit"]"#)
            .strict()
            .never_empty();
        PATH: Typed<Vec<String>> = Typed::globs(
            "path",
            "Globs: `docs/**` is in the project, `.env` a name at any depth, `/etc/**` and `~/.ssh/**` are elsewhere. A directory stands for all in it.",
        )
        .default(Default::Described("any path"))
        .example(r#"[".env", ".git/**"]"#)
        .never_dropped();
        COMMAND: Typed<Vec<String>> = Typed::commands(
            "command",
            "Patterns of commands in a shell line, each command by itself. `*` stands for any characters.",
        )
        .default(Default::Described("any command"))
        .example(r#"["rm -rf *", "sudo *"]"#)
        .never_dropped();
        WRITES: Typed<bool> = Typed::flag(
            "writes",
            "Whether the call must change files, or must not. Read from the parsed shell line; what is not known to read counts as writing, as `unknown` says.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        INPUT: Typed<Partial<(String, String)>> =
            Typed::fields("input", "Regular expressions that fields of the call's arguments must match.")
                .default(Default::Described("any arguments"))
                .example(r#"{"url": "^http://"}"#)
                .never_dropped();
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        REASON: Typed<Text> = Typed::text("reason", "Why, as the agent and people read it.")
            .default(Default::Described("the rule in words"))
            .example(r#""protected""#)
            .never_dropped();
    }
}

section! {
    /// An entry of `results`.
    result {
        TOOL: Typed<Partial<String>> = Typed::tool_patterns("tool", "The tools it is about.")
            .default(Default::Text("*"))
            .example(r#""bash""#)
            .never_dropped();
        ON: Typed<ResultKind> = Typed::one_of("on", "Which results it is about.")
            .default(Default::Described("both"))
            .example(r#""error""#)
            .never_dropped();
        REDACT: Typed<Vec<String>> = Typed::regexes("redact", "Regular expressions: what they match is replaced.")
            .example(r#"["sk-[A-Za-z0-9]{20,}"]"#)
            .never_dropped();
        WITH: Typed<Text> = Typed::text("with", "What stands in its place.")
            .default(Default::Text("[redacted]"))
            .example(r#""[key]""#)
            .never_dropped();
        MAX_CHARS: Typed<u32> =
            Typed::whole("maxChars", 1, None, "Characters that are kept of a text: its beginning and its end.")
                .default(Default::Described("all"))
                .example("20000")
                .hint(Hint::OfCode)
                .never_dropped();
        APPEND: Typed<Text> = Typed::text("append", "What is put behind the text.")
            .default(Default::Described("nothing"))
            .example(r#""Read the error before you try again.""#)
            .never_dropped();
    }
}
