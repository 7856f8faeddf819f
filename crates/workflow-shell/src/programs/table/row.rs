//! Rows: the arguments that are known, and the effect that they have.

use std::collections::HashMap;
use std::sync::Arc;

use crate::file_access::AccessKind;

/// The way in which a program runs its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// They are a command.
    Command,
    /// They are a command of the same shell.
    SameShell,
    /// They are a command in another directory, or in a container.
    Elsewhere,
    /// They are arguments of the same program in another directory.
    Again,
    /// They are a command in the environment of the project, which may be set up.
    Project,
    /// What is behind `--` is a command in a container.
    BehindDashes,
    /// Each is a script.
    Scripts,
    /// Together they are a script.
    Script,
}

/// Programs by their names.
pub(super) type Programs = HashMap<&'static str, Node>;

/// A program or a subcommand.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// By their names. `describe-*` is for those that start so and are not listed by name.
    pub(super) subcommands: HashMap<&'static str, Node>,
    /// The rows that apply to it; the first that knows all arguments counts.
    pub(super) rows: Vec<Arc<Row>>,
    /// The rows that say what it prints.
    pub(super) outputs: Vec<Arc<Row>>,
    /// The rows of the options that code asks for, and of what is accessed.
    pub(super) code: Vec<Arc<Row>>,
    /// The row of options that may precede a subcommand.
    pub(super) prefix: Option<Arc<Row>>,
}

/// A row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: RowKind,
    /// The options of this `[prefix]` row are also known after the subcommand.
    pub(super) is_global: bool,
    pub(super) arguments: ArgumentSet,
}

/// The effect of a command if all its arguments are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    Reads,
    Project,
    /// It writes with any arguments.
    Writes,
    /// So does it, to a server.
    Sends,
    /// It writes where it decides if all arguments are known.
    WritesSomewhere,
    WritesOperands,
    /// It writes the last operand, or the value of an option.
    WritesTarget,
    /// It writes below the directory that an option names, or the working directory.
    WritesBelow,
    Runs(RunKind),
    /// Code decides.
    Code,
    /// It says nothing about the effect, but what the command prints.
    Prints(Output),
}

/// What a command or a pipeline prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Before the first command of a pipeline.
    Nothing,
    Unknown,
    /// Names of files, commits, packages or containers. Names that start with a dash are not expected.
    Names,
    /// A number.
    Number,
    Numbers,
    /// Some of the lines of its input.
    Filter,
}

impl Node {
    /// Returns whether a row of it, or of a subcommand, runs code of the project.
    pub(super) fn runs_project(&self) -> bool {
        self.rows.iter().any(|row| row.kind == RowKind::Project)
            || self.subcommands.values().any(Self::runs_project)
    }
}

impl RowKind {
    /// Returns whether the arguments do not matter.
    pub(super) fn writes_in_any_case(self) -> bool {
        matches!(self, Self::Writes | Self::Sends)
    }
}

/// The arguments that are known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ArgumentSet {
    /// All options and operands are.
    pub(super) any: bool,
    /// `-5` is.
    pub(super) number: bool,
    pub(super) options: HashMap<String, KnownOption>,
    /// Starts of options: `-W*`.
    pub(super) starts: Vec<&'static str>,
    /// Options are whole words with one dash or two.
    pub(super) whole_words: bool,
    /// The first operand ends the options.
    pub(super) leading: bool,
    /// The options are known to take values or none, so that any word is the value of one.
    pub(super) exact: bool,
    /// The number of operands before those that it writes or runs.
    pub(super) skip: usize,
    /// What is accessed with everything below it.
    pub(super) trees: Vec<Tree>,
    /// The options that name the target of the operands, if the last one may be it.
    pub(super) target: Option<Vec<&'static str>>,
    /// At least one option of each list must be present.
    pub(super) needs: Vec<Vec<&'static str>>,
    pub(super) operands: KnownOperands,
    /// Those after `--`, of another program or any; without it, these are operands.
    pub(super) rest: Option<Box<ArgumentSet>>,
}

/// A part of the arguments that is accessed with everything below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) kind: AccessKind,
    pub(super) part: TreePart,
    /// The options of which it needs one; or those that name the directory.
    pub(super) options: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreePart {
    /// The operands without the target; the working directory if there are none.
    Operands,
    Target,
    WorkingDirectory,
    /// The directory that an option names, or the working directory.
    Directory,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct KnownOption {
    pub(super) value: OptionValue,
    /// The values that are known; `None` for all.
    pub(super) values: Option<Vec<&'static str>>,
    pub(super) writes: OptionWrites,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionValue {
    #[default]
    None,
    /// Joined to the option or the next word.
    Required,
    /// Only joined.
    Optional,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionWrites {
    #[default]
    Nothing,
    /// Where the program decides.
    Somewhere,
    Operands,
    /// The file that is its value.
    Value,
    /// The file that is its value, unless that is `-`.
    ValueUnlessDash,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownOperands {
    pub(super) min: usize,
    /// `None` for any number.
    pub(super) max: Option<usize>,
    /// The operands that are known (`+*`, `*:test`: all that start or end so); `None` for all.
    pub(super) values: Option<Vec<&'static str>>,
    /// No operand contains one of these.
    pub(super) without: Vec<&'static str>,
}
