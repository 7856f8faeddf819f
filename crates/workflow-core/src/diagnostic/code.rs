//! The codes of diagnostics: a closed list, stable across versions.

use std::fmt;

use serde::Serialize;

/// Declares the enum, its numbers, summaries and help, a row a code.
macro_rules! codes {
    ($($(#[doc = $summary:literal])+ $name:ident = $number:literal, $help:literal;)+) => {
        /// The kind of a diagnostic. A code keeps its number forever.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Code {
            $($(#[doc = $summary])+ #[serde(rename = $number)] $name,)+
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as it is printed.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $number),+ }
            }

            /// Its meaning, in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($summary),+).trim_ascii()),+ }
            }

            /// The help for it, where nothing better is known.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => $help),+ }
            }
        }
    };
}

codes! {
    /// A file or directory cannot be read.
    Unreadable = "WF001", "make it readable, or remove it";
    /// A phase file does not exist.
    MissingFile = "WF002", "create the file, or correct its name";
    /// A phase path is absolute, malformed or leaves the workflows directory, or the file of a trigger is not where it may be.
    PathRefused = "WF003", "name a file of this workflow, or one beside it: `../_shared/review.md`";
    /// A file is larger than the limit.
    FileTooLarge = "WF004", "make it smaller, or raise `limits.maxFileBytes` in the settings";
    /// A file is not UTF-8: what could not be read is replaced.
    NotUtf8 = "WF005", "save it as UTF-8";
    /// A directory contains both `workflow.yaml` and `workflow.json5`.
    TwoDefinitions = "WF006", "keep one of them";
    /// An entry of the workflows directory is skipped.
    EntrySkipped = "WF007", "remove it, or replace it with a directory that has a UTF-8 name";
    /// A directory's definition has a name that is not read.
    MisnamedDefinition = "WF008", "name it `workflow.yaml` or `workflow.json5`";
    /// The text is not YAML or not JSON5.
    Syntax = "WF009", "look for a missing quote, comma, colon or bracket, here or just before";
    /// A map contains the same key twice.
    DuplicateKey = "WF010", "keep one of them";
    /// An unknown key.
    UnknownKey = "WF011", "correct its name, or remove it: it has no effect";
    /// An unknown key that may be a misspelled restriction.
    UnknownGuardKey = "WF012", "correct its name, or move it to the map that has this key";
    /// A required key is missing or empty.
    MissingKey = "WF014", "add it";
    /// A value has the wrong type.
    WrongType = "WF015", "use a value of the right type";
    /// A value has the right type and is not allowed.
    InvalidValue = "WF016", "use one of the allowed values";
    /// A key without a value: the default is used.
    NoValue = "WF017", "give it a value, or remove the key";
    /// A template without quotes, which YAML reads as a map.
    UnquotedTemplate = "WF018", "put the text in quotes";
    /// A template names a variable that does not exist there.
    UnknownVariable = "WF019", "use a variable that exists here";
    /// A phase file has no frontmatter, or one that does not end.
    Frontmatter = "WF020", "start the file with a `---` line, `id`, `name`, `emoji`, and a `---` line";
    /// A phase has both a blacklist and a whitelist.
    BothLists = "WF021", "keep one of them: a whitelist already blocks all other tools";
    /// Two phases of a workflow have the same id.
    DuplicatePhaseId = "WF022", "give one of them another id";
    /// A tool rule that has no effect.
    IdleRule = "WF023", "remove it";
    /// A phase file has no instructions after its frontmatter.
    NoInstructions = "WF024", "write the instructions for the agent below the second `---` line";
    /// An invalid glob or regular expression.
    Pattern = "WF025", "correct the pattern";
    /// A guard on files that other tools can bypass.
    FreeShell = "WF026", "write `tools: read-only`, with `writable` and `commands` for what may change, or add `rules: [{block: bash, writes: true}]`; `rules: [{allow: bash}]` states that it is intended";
    /// A text that people read contains control or invisible characters.
    HiddenCharacter = "WF028", "remove it: it is shown as an escape";
    /// Workflows that contain themselves.
    Cycle = "WF030", "remove one of the references";
    /// A reference to a subworkflow that does not exist or has errors.
    BrokenReference = "WF031", "correct the key, or add a workflow with that key";
    /// Subworkflows are nested deeper than the limit.
    NestedTooDeep = "WF032", "put the phases of some of them into one workflow, or raise `limits.maxNesting` in the settings";
    /// Two workflows have the same command name.
    DuplicateCommandName = "WF033", "give one of them another `commandName`";
    /// A project's workflow is broken, so the global one of the same key is used.
    OverrideLeftOut = "WF034", "correct the project's workflow";
    /// A definition exceeds a limit.
    OverLimit = "WF040", "make it smaller, or raise the limit in the settings";
    /// A limit in the settings is higher than its maximum.
    LimitTooHigh = "WF041", "lower it";
    /// There are more problems than are shown.
    MoreNotShown = "WF042", "correct these problems, then check again";
    /// A `command` pattern that matches no command.
    DeadCommandPattern = "WF050", "write the words of one command, with `*` for any characters: `git push *`";
    /// A condition of a rule that no call of its tools meets.
    DeadCondition = "WF051", "remove the condition, or name a tool that can meet it";
    /// A name that no tool has.
    NoToolName = "WF052", "write the name of a tool, with `*` for any characters: `mcp__*`; files belong under `path`";
    /// A path from the root of the file system that looks like one in the project.
    AbsolutePath = "WF053", "write it without the first `/`";
    /// A rule that allows what nothing blocks.
    IdleAllow = "WF054", "add a rule after it that blocks the other calls of the tool, or remove it";
    /// A rule that allows what an outer level blocks.
    OverruledAllow = "WF055", "move it to the level that blocks, before the rule there: an inner level cannot allow what an outer one blocks";
    /// An approval in a workflow that the agent may cancel.
    CancelByAgent = "WF056", "write `cancel: user`, or block what must not happen without the approval in the settings";
    /// A jump to a place that is not in the workflow.
    UnknownTarget = "WF058", "name an id of the same workflow, or `next`, `end` or `done`";
    /// A phase that no path leads to.
    UnreachablePhase = "WF059", "lead an outcome to it, or remove it";
    /// A loop in which no phase has its own bound.
    UnboundedLoop = "WF060", "give one of its phases `maxVisits: 3`, for example";
    /// A bound that can never act.
    IdleVisits = "WF061", "remove it, or let an outcome or a gate lead back to the phase";
    /// `onLimit` leads back to where it comes from.
    VisitsCycle = "WF062", "lead it to a phase without `maxVisits`, or write `pause`";
    /// A value of the wrong type.
    ValueOutsideType = "WF063", "write a value of the type, or change the type";
    /// `when` uses a value that does not exist or cannot be compared.
    UnknownSubject = "WF064", "write `inputs.<name>`, `outputs.<phase>.<name>`, `outcome.<phase>`, `answer.<phase>.choice`, `visits.<phase>` or `change.lines`";
    /// A reference to an output that has no value yet.
    UnsetOutput = "WF065", "read it after its phase, or say what to do where it has no value";
    /// A budget that only some hosts can enforce.
    HostReports = "WF066", "add `turns`, `toolCalls` or `minutes`, which are enforced everywhere";
    /// A phase id that is also the name of a built-in target.
    TargetWord = "WF067", "give the phase another id";
    /// `{answer.<phase>.comment}` of an approval that asks for no comment.
    NoComment = "WF068", "add `comment: true` to the approval that comes before";
    /// A rule set that is not defined, defined again, or not used.
    RuleSet = "WF069", "correct its name";
    /// An input of a subworkflow that the workflow around it does not provide.
    SubworkflowInput = "WF070", "declare the input in the workflow that has the reference";
    /// Something that a host that starts hooks cannot do.
    HostLimit = "WF071", "do not rely on it in this host";
    /// A path that matches no file.
    DeadPath = "WF072", "write a glob from the project's root, with `/` between directories: `docs/**`";
    /// A program, a directory or a git repository that is not here.
    NotHere = "WF073", "correct its name, or make it";
    /// A copied file that is not as its source has it.
    LockedFile = "WF074", "remove it, or the workflow from the lock file";
    /// An entry of the session is damaged and was skipped.
    StoredDamaged = "WF101", "start the workflow again with /workflow, or go back to an earlier point of the session";
    /// An entry of the session comes from a later version and was skipped.
    StoredLater = "WF102", "use the version that wrote it";
    /// The definition of the run is missing: the stored one is used.
    DefinitionGone = "WF103", "restore the files and reload, to use them again";
    /// Texts of the definition of the run have changed: the new ones are used.
    DefinitionChanged = "WF104", "start the workflow again if the new definition does not fit the run";
    /// The definition of the run is missing and none is stored: its rules are not in force.
    DefinitionLost = "WF105", "restore the definition and reload, or end the run with /cancel-workflow";
    /// Changed files have other guards or ways than the run, which hold until the user agrees.
    GuardsChanged = "WF106", "to use the changed files alone, end the run with /cancel-workflow and start it again";
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
