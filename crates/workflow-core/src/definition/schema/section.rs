//! The maps of the definition language.

/// A map of the definition language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// A definition as a whole.
    Workflow,
    /// A phase file's frontmatter, or a phase inside a definition.
    Phase,
    /// `{subworkflow: key}`.
    Reference,
    /// `tools`.
    Tools,
    /// A rule of `tools`.
    Rule,
    /// An entry of `results`.
    Result,
    /// A check of `gate`.
    Gate,
    /// The expected result of a `run`.
    Expect,
    /// `approve`.
    Approve,
    /// An entry of `triggers`.
    Trigger,
    /// The map under a trigger's `http`.
    Http,
    /// `continue`, where it is a map.
    Continue,
    /// A settings file as a whole.
    Settings,
    /// The settings' `limits`.
    Limits,
    /// An input.
    Input,
    /// An output.
    Output,
    /// `budget`.
    Budget,
}

impl Section {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Workflow,
        Self::Phase,
        Self::Reference,
        Self::Tools,
        Self::Rule,
        Self::Result,
        Self::Gate,
        Self::Expect,
        Self::Approve,
        Self::Trigger,
        Self::Http,
        Self::Continue,
        Self::Settings,
        Self::Limits,
        Self::Input,
        Self::Output,
        Self::Budget,
    ];

    /// Keys, exactly one of which is required.
    #[must_use]
    pub fn alternatives(self) -> &'static [&'static str] {
        match self {
            Self::Rule => &["allow", "ask", "block"],
            Self::Gate => &["run", "file", "git", "commit"],
            Self::Trigger => &["file", "http"],
            Self::Http => &["token", "tokenEnv"],
            _ => &[],
        }
    }

    /// Keys, at least one of which is required.
    #[must_use]
    pub fn effects(self) -> &'static [&'static str] {
        match self {
            Self::Result => &["redact", "maxChars", "append"],
            _ => &[],
        }
    }

    /// The keys that have a meaning only beside another, each with that other.
    #[must_use]
    pub fn companions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Gate => &[
                ("shell", "run"),
                ("timeout", "run"),
                ("expect", "run"),
                ("cwd", "run"),
                ("env", "run"),
                ("changed", "file"),
            ],
            _ => &[],
        }
    }

    /// Returns true if the whole map is a guard.
    #[must_use]
    pub fn is_guard(self) -> bool {
        match self {
            Self::Tools
            | Self::Rule
            | Self::Result
            | Self::Gate
            | Self::Expect
            | Self::Approve
            | Self::Trigger
            | Self::Http
            | Self::Continue
            | Self::Input
            | Self::Output
            | Self::Budget => true,
            Self::Workflow | Self::Phase | Self::Reference | Self::Settings | Self::Limits => false,
        }
    }

    /// Its description in a message.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Workflow => "a workflow",
            Self::Phase => "a phase",
            Self::Reference => "a subworkflow reference",
            Self::Tools => "`tools`",
            Self::Rule => "a rule",
            Self::Result => "an entry of `results`",
            Self::Gate => "a check of `gate`",
            Self::Expect => "`expect`",
            Self::Approve => "`approve`",
            Self::Trigger => "a trigger",
            Self::Http => "`http`",
            Self::Continue => "`continue`",
            Self::Settings => "the settings",
            Self::Limits => "`limits`",
            Self::Input => "an input",
            Self::Output => "an output",
            Self::Budget => "`budget`",
        }
    }

    /// The type of its map, as a message about another type names it.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Tools => "a map with `blacklist`, `whitelist` or `rules`",
            Self::Approve => "a map with `ask`",
            Self::Http => "a map with `port` and `token`",
            _ => "a map",
        }
    }
}
