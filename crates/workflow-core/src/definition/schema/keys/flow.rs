//! The keys of inputs, outputs and budgets.

#[allow(
    clippy::wildcard_imports,
    unused_imports,
    reason = "a section uses some of the table's types"
)]
use super::*;

/// The values of a parameter.
const TYPE_KEY: Key = Key::new(
    "type",
    ValueType::ParameterType,
    "The type of the value. `flag` is true or false, `list` a list of texts.",
)
.default(Default::Text("text"))
.example(r#""text""#)
.never_dropped();

const ONE_OF_KEY: Typed<Vec<String>> = Typed::choices("oneOf", "The allowed texts.")
    .default(Default::Described("any"))
    .example(r#"["minor", "major"]"#)
    .never_dropped();

const PATTERN_KEY: Typed<Text> =
    Typed::regex("pattern", "A regular expression that a text must match.")
        .default(Default::Described("any"))
        .example(r#""^.+$""#)
        .never_dropped();

const MIN_LENGTH_KEY: Typed<u32> = Typed::whole(
    "minLength",
    1,
    None,
    "The smallest number of characters of a text.",
)
.default(Default::Described("any"))
.example("40")
.never_dropped();

section! {
    /// An input.
    input {
        TYPE: Key = TYPE_KEY;
        ONE_OF: Typed<Vec<String>> = ONE_OF_KEY;
        PATTERN: Typed<Text> = PATTERN_KEY;
        MIN_LENGTH: Typed<u32> = MIN_LENGTH_KEY;
        ABOUT: Typed<Text> = Typed::text("about", "A description for the user.")
            .example(r#""The version to release""#)
            .never_dropped();
        REQUIRED: Typed<bool> = Typed::flag("required", "Whether a run needs it to start.")
            .default(Default::Described("true, unless there is a `default`"))
            .example("true")
            .never_dropped();
        DEFAULT: Key = Key::new("default", ValueType::Any, "The value of an input that is not given.")
            .example(r#""1.0.0""#)
            .never_dropped();
    }
}

section! {
    /// An output.
    output {
        TYPE: Key = TYPE_KEY;
        ONE_OF: Typed<Vec<String>> = ONE_OF_KEY;
        PATTERN: Typed<Text> = PATTERN_KEY;
        MIN_LENGTH: Typed<u32> = MIN_LENGTH_KEY;
        ABOUT: Typed<Text> = Typed::text("about", "A description for the agent.")
            .example(r#""What will be changed, and why""#)
            .never_dropped();
        REQUIRED: Typed<bool> = Typed::flag("required", "Whether `next` needs it.")
            .default(Default::Described("true"))
            .example("false")
            .never_dropped();
    }
}

section! {
    /// `budget`.
    budget {
        TURNS: Typed<u32> = Typed::whole("turns", 1, None, "Responses of the model.")
            .default(Default::Described("no limit"))
            .example("120")
            .never_dropped();
        TOOL_CALLS: Typed<u32> = Typed::whole("toolCalls", 1, None, "Tool calls.")
            .default(Default::Described("no limit"))
            .example("800")
            .never_dropped();
        MINUTES: Typed<u32> = Typed::whole("minutes", 1, None, "Minutes in which the agent works.")
            .default(Default::Described("no limit"))
            .example("180")
            .never_dropped();
        TOKENS: Typed<u32> = Typed::whole("tokens", 1, None, "Tokens, where the host reports them.")
            .default(Default::Described("no limit"))
            .example("2000000")
            .never_dropped();
        USD: Typed<u64> = Typed::cents("usd", "US dollars, where the host reports costs.")
            .default(Default::Described("no limit"))
            .example("2.50")
            .never_dropped();
    }
}
