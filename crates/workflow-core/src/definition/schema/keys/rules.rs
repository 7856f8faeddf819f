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
        BLACKLIST: Typed<Vec<String>> = Typed::tool_names("blacklist", "The tools that are blocked.")
            .example(r#"["edit", "write"]"#)
            .strict()
            .never_empty()
            .guard();
        WHITELIST: Typed<Vec<String>> =
            Typed::tool_names("whitelist", "The only tools that are allowed. An empty list blocks all.")
                .example(r#"["read", "grep"]"#)
                .strict()
                .never_empty()
                .guard();
        RULES: Key = Key::new(
            "rules",
            ValueType::ListOf(Section::Rule),
            "Rules on single calls. The first rule that matches decides.",
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
            "Tools whose calls this level allows. `*` matches any characters.",
        )
        .default(Default::Described("required: one of `allow`, `ask`, `block`"))
        .example(r#""write""#)
        .strict()
        .never_empty();
        ASK: Typed<Partial<String>> = Typed::tool_patterns(
            "ask",
            "Tools whose calls the user must confirm. They are blocked where the user cannot be asked.",
        )
        .default(Default::Described("required: one of `allow`, `ask`, `block`"))
        .example(r#""bash""#)
        .strict()
        .never_empty();
        BLOCK: Typed<Partial<String>> = Typed::tool_patterns("block", "Tools whose calls are blocked.")
            .default(Default::Described("required: one of `allow`, `ask`, `block`"))
            .example(r#"["write", "edit"]"#)
            .strict()
            .never_empty();
        PATH: Typed<Vec<String>> = Typed::globs(
            "path",
            "Globs of the files that the call is about. `docs/**` is in the project, `.env` is a name at any depth, `/etc/**` and `~/.ssh/**` are outside the project. A directory matches everything in it.",
        )
        .default(Default::Described("any path"))
        .example(r#"[".env", ".git/**"]"#)
        .never_dropped();
        COMMAND: Typed<Vec<String>> = Typed::commands(
            "command",
            "Patterns of commands. Each command of a shell line is compared by itself. `*` matches any characters.",
        )
        .default(Default::Described("any command"))
        .example(r#"["rm -rf *", "sudo *"]"#)
        .never_dropped();
        WRITES: Typed<bool> = Typed::flag(
            "writes",
            "`true`: calls that change files. `false`: calls that only read. A shell line is parsed; `unknown` decides on a command that is not known.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        INPUT: Typed<Partial<(String, String)>> =
            Typed::fields("input", "Regular expressions for fields of the arguments. All of them must match.")
                .default(Default::Described("any arguments"))
                .example(r#"{"url": "^http://"}"#)
                .never_dropped();
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        REASON: Typed<Text> = Typed::template(
            "reason",
            TemplateKind::RuleReason,
            "Why, for the agent and the user. `{path}` is the path that matched, `{tool}` the tool, `{command}` the shell line.",
        )
        .default(Default::Described("a description of the rule"))
        .example(r#""{path} is protected""#)
        .never_dropped();
        NOTIFY: Typed<bool> = Typed::flag("notify", "Whether the user is notified of a call that the rule blocks.")
            .default(Default::Described("`false`"))
            .example("true")
            .never_dropped();
    }
}

section! {
    /// An entry of `results`.
    result {
        TOOL: Typed<Partial<String>> = Typed::tool_patterns("tool", "The tools whose results are changed.")
            .default(Default::Text("*"))
            .example(r#""bash""#)
            .never_dropped();
        ON: Typed<ResultKind> = Typed::one_of("on", "Whether results of failed or of successful calls are changed.")
            .default(Default::Described("both"))
            .example(r#""error""#)
            .never_dropped();
        REDACT: Typed<Vec<String>> = Typed::regexes("redact", "Regular expressions. The text that they match is replaced.")
            .example(r#"["sk-[A-Za-z0-9]{20,}"]"#)
            .never_dropped();
        WITH: Typed<Text> = Typed::text("with", "The replacement for `redact`.")
            .default(Default::Text("[redacted]"))
            .example(r#""[key]""#)
            .never_dropped();
        MAX_CHARS: Typed<u32> =
            Typed::whole("maxChars", 1, None, "The number of characters that are kept of a text: its beginning and its end.")
                .default(Default::Described("all"))
                .example("20000")
                .hint(Hint::OfCode)
                .never_dropped();
        APPEND: Typed<Text> = Typed::text("append", "A text to add at the end.")
            .default(Default::Described("nothing"))
            .example(r#""Read the error before you try again.""#)
            .never_dropped();
    }
}
