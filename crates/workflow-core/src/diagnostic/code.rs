//! The codes of diagnostics: a closed list, stable across versions.

use std::fmt;

/// Declares the enum, its numbers and its summaries, a row a code.
macro_rules! codes {
    ($($(#[doc = $summary:literal])+ $name:ident = $number:literal;)+) => {
        /// What kind of mistake a diagnostic is about. A code keeps its number for good.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $summary])+ $name,)+
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as it is printed.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $number),+ }
            }

            /// What it means, in one line.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($summary),+).trim_ascii()),+ }
            }
        }
    };
}

codes! {
    /// A file or directory cannot be read.
    Unreadable = "WF001";
    /// A phase file does not exist.
    MissingFile = "WF002";
    /// A phase path is absolute, malformed or leaves the workflows directory.
    PathRefused = "WF003";
    /// A file is larger than the limit.
    FileTooLarge = "WF004";
    /// A file is not UTF-8: what could not be read is replaced.
    NotUtf8 = "WF005";
    /// A directory holds both `workflow.yaml` and `workflow.json5`.
    TwoDefinitions = "WF006";
    /// An entry of the workflows directory is skipped.
    EntrySkipped = "WF007";
    /// A directory's definition has a name that is not read.
    MisnamedDefinition = "WF008";
    /// The text is not YAML or not JSON5.
    Syntax = "WF009";
    /// A key stands twice in one map.
    DuplicateKey = "WF010";
    /// A key that nothing knows.
    UnknownKey = "WF011";
    /// An unknown key in or near a guard: a guard must not be dropped.
    UnknownGuardKey = "WF012";
    /// A guard this version cannot enforce.
    FutureGuard = "WF013";
    /// A required key is missing or empty.
    MissingKey = "WF014";
    /// A value has the wrong type.
    WrongType = "WF015";
    /// A value has the right type and no meaning.
    InvalidValue = "WF016";
    /// A key without a value: the default is used.
    NoValue = "WF017";
    /// A template without quotes, which YAML reads as a map.
    UnquotedTemplate = "WF018";
    /// A template names a variable that does not exist there.
    UnknownVariable = "WF019";
    /// A phase file has no frontmatter, or one that does not end.
    Frontmatter = "WF020";
    /// A phase has both a blacklist and a whitelist.
    BothLists = "WF021";
    /// Two phases of a workflow have the same id.
    DuplicatePhaseId = "WF022";
    /// A tool rule that has no effect.
    IdleRule = "WF023";
    /// A phase file has no instructions after its frontmatter.
    NoInstructions = "WF024";
    /// Workflows that contain themselves.
    Cycle = "WF030";
    /// A reference to a subworkflow that does not exist, or was left out.
    BrokenReference = "WF031";
    /// Subworkflows inside each other, deeper than the limit.
    NestedTooDeep = "WF032";
    /// Two workflows have the same command name.
    DuplicateCommandName = "WF033";
    /// A project's workflow is broken, so the global one of the same key is used.
    OverrideLeftOut = "WF034";
    /// A definition is over a limit.
    OverLimit = "WF040";
    /// A limit in the settings is above what it may be.
    LimitTooHigh = "WF041";
    /// More is wrong than is shown.
    MoreNotShown = "WF042";
    /// An entry of the session is damaged and was skipped.
    StoredDamaged = "WF101";
    /// An entry of the session comes from a later version and was skipped.
    StoredLater = "WF102";
    /// The definition of the run is gone: the stored one is used.
    DefinitionGone = "WF103";
    /// The definition of the run has changed: the new one is used.
    DefinitionChanged = "WF104";
    /// The run's definition is gone and none is stored: its rules do not hold.
    DefinitionLost = "WF105";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn numbers_are_unique_and_in_order() {
        assert!(
            Code::ALL
                .windows(2)
                .all(|pair| pair[0].as_str() < pair[1].as_str())
        );
    }
}
