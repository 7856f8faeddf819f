//! Rules on single tool calls. Every level has the same: the user's settings, the project's, a workflow, a phase.
//!
//! They are guards: whatever is wrong is an error. A settings file applies despite its mistakes, so a mistake in it
//! forbids more: a rule that forbids is kept without its wrong condition, a rule that allows is dropped.

use super::dead_conditions;
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{Change, Declared, FromMap, MapReader, Section, section};
use crate::definition::value::{
    Flag, List, NamedTexts, OneOf, Template, TextOrTexts, ToolPatterns, words,
};
use crate::diagnostic::{Code, Finding};
use crate::pattern::names_match;
use crate::template::TemplateKind;

const ONE_OF: &str = "required: one of `allow`, `ask`, `block`";

section! {
    Section { alternatives: &["allow", "ask", "block"], ..Section::guard("a rule") };
    /// A rule on single tool calls: it matches a call that all of its conditions match.
    #[derive(Default)]
    pub struct Rule {
        /// Its effect on a matching call.
        pub action: RuleAction,
        /// The tools it is about: names, with `*` for any characters.
        pub tools: Vec<String>,
        /// Tools whose calls this level allows. `*` matches any characters.
        #[key("allow": ToolPatterns, check: Some(GuardText::ToolPattern), no_value: WrongType, default: Described(ONE_OF), example: r#""write""#)]
        const allow;
        /// Tools whose calls the user must confirm. They are blocked where the user cannot be asked.
        #[key("ask": ToolPatterns, check: Some(GuardText::ToolPattern), no_value: WrongType, default: Described(ONE_OF), example: r#""bash""#)]
        const ask;
        /// Tools whose calls are blocked.
        #[key("block": ToolPatterns, check: Some(GuardText::ToolPattern), no_value: WrongType, default: Described(ONE_OF), example: r#"["write", "edit"]"#)]
        const block;
        /// Globs of the files that the call is about. `docs/**` is in the project, `.env` is a name at any depth, `/etc/**` and `~/.ssh/**` are outside the project. A directory matches everything in it.
        #[key("path"?: TextOrTexts, check: Some(GuardText::Path), default: Described("any path"), example: r#"[".env", ".git/**"]"#)]
        pub path: Vec<String>,
        /// Patterns of commands. Each command of a shell line is compared by itself. `*` matches any characters.
        #[key("command"?: TextOrTexts, check: Some(GuardText::Command), default: Described("any command"), example: r#"["rm -rf *", "sudo *"]"#)]
        pub command: Vec<String>,
        /// `true`: calls that change files. `false`: calls that only read. A shell line is parsed; `unknown` decides on a command that is not known.
        #[key("writes"?: Flag, default: Described("either"), example: "true")]
        pub writes: Option<bool>,
        /// What `read-only` and rules with `writes: true` do with a shell command that is not known, and `read-only` with such a tool. A stricter value of an outer level wins.
        #[key("unknown"?: OneOf<RuleAction>, change: Some(Change::Guard), default: Described("that of the outer level, else `ask`"), example: r#""block""#)]
        pub unknown: Option<RuleAction>,
        /// Regular expressions for fields of the arguments. All of them must match.
        #[key("input"?: NamedTexts, check: Some(GuardText::Regex), default: Described("any arguments"), example: r#"{"url": "^http://"}"#)]
        pub input: Vec<(String, String)>,
        /// What happens when rules deny the same call for the third time in a row. The strictest of all levels applies.
        #[key("onRepeat"?: OneOf<OnRepeat>, change: Some(Change::Guard), default: Text("ask"), example: r#""block""#)]
        pub on_repeat: Option<OnRepeat>,
        /// Why, for the agent and the user. `{path}` is the path that matched, `{tool}` the tool, `{command}` the shell line.
        #[key("reason"?: Template, template: Some(TemplateKind::RuleReason), default: Described("a description of the rule"), example: r#""{path} is protected""#)]
        pub reason: Option<String>,
        /// Whether the user is notified of a call that the rule blocks.
        #[key("notify"?: Flag, default: Described("`false`"), example: "true")]
        pub notify: bool,
        /// The entries of its workflow in which it does not hold.
        pub except?: Vec<String>,
        /// Its location, as `file:line`.
        pub source?: String,
    }
}

impl Rule {
    /// Creates a rule without conditions.
    pub fn new(action: RuleAction, tool: &str) -> Self {
        Self {
            action,
            tools: vec![tool.to_owned()],
            ..Self::default()
        }
    }

    /// Returns true if it is about a tool.
    pub fn names(&self, tool: &str) -> bool {
        names_match(&self.tools, tool)
    }

    /// Returns true if it matches every call of its tools.
    pub fn is_unconditional(&self) -> bool {
        self.path.is_empty()
            && self.command.is_empty()
            && self.writes.is_none()
            && self.input.is_empty()
    }

    /// Reports keys that have no effect beside the others.
    fn check_companions(&self, keys: &mut MapReader<'_, '_, '_>) {
        let forbids = self.action != RuleAction::Allow;
        if self.notify && !forbids {
            let message = "`notify` has no effect in a rule that allows";
            let finding = Finding::warning(Code::IdleRule, keys.key_of(&Self::notify), message);
            keys.report(finding.help("remove it: only a blocked call is reported"));
        }
        let about_writes = self.writes == Some(true) || keys.is_unreadable(&Self::writes);
        if self.unknown.is_some() && !(forbids && about_writes) {
            let message = "`unknown` has no effect without `block` or `ask` and `writes: true`";
            let finding = Finding::warning(Code::IdleRule, keys.key_of(&Self::unknown), message);
            keys.report(finding.help("add `writes: true`, or remove it"));
        }
    }
}

impl FromMap for Rule {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        dead_conditions::report(keys);
        let head = read_action(keys);
        let mut rule = Self::new(RuleAction::Block, "*");
        rule.read_keys(keys);
        // A condition that is misspelled is one that is missing.
        let mut conditions = ["path", "command", "writes", "input"].iter();
        let is_sound = keys.all_known() && !conditions.any(|name| keys.is_lost(name));
        (rule.action, rule.tools) = head?;
        if !is_sound && rule.action == RuleAction::Allow {
            return None;
        }
        rule.check_companions(keys);
        if keys.is_unreadable(&Self::unknown) {
            rule.unknown = Some(RuleAction::Block);
        }
        rule.source = keys.reader.file_and_line(keys.start);
        Some(rule)
    }
}

/// Reads `allow`, `ask` or `block`, and the tools it is about; `None` is one that allows and cannot be read.
///
/// If the tools or the effect are not known, every tool is forbidden.
fn read_action(keys: &mut MapReader<'_, '_, '_>) -> Option<(RuleAction, Vec<String>)> {
    let known = keys.section.alternatives;
    let help = "write the action and its tools: `block: [edit, write]`";
    keys.first_of(known, help);
    keys.has_several(known, "write a rule for each");
    let [block, ask, allow] = [&Rule::block, &Rule::ask, &Rule::allow].map(|key| {
        let is_there = keys.has(key.key.name);
        is_there.then(|| keys.get(key))
    });
    // The strictest decides.
    let action = match (&block, &ask, allow) {
        (None, None, Some(allowed)) => {
            let tools = allowed.and_then(List::whole)?;
            return Some((RuleAction::Allow, tools));
        }
        (None, Some(_), _) => RuleAction::Ask,
        _ => RuleAction::Block,
    };
    let forbidden = [block, ask].into_iter().flatten().flatten();
    let mut tools: Vec<String> = forbidden.flat_map(|read| read.all).collect();
    if tools.is_empty() {
        tools.push("*".to_owned());
    }
    Some((action, tools))
}

words! {
    /// The reaction to a call that is denied for the third time in a row. The stricter one is greater.
    #[derive(PartialOrd, Ord)]
    pub enum OnRepeat {
        /// The user may allow this one call.
        "ask" => Ask,
        /// It stays blocked.
        "block" => Block,
    }
}

words! {
    /// The effect of a rule on a matching call, and the decision on an unknown shell command or tool where a rule or `read-only`
    /// forbids to write: what is said of each is about that. The stricter one is greater.
    #[derive(Default, PartialOrd, Ord)]
    pub enum RuleAction {
        /// It counts as a command that writes nothing.
        "allow" => Allow,
        /// The user decides. It is blocked where the user cannot be asked.
        "ask" => Ask,
        /// It counts as a command that writes.
        "block" default => Block,
    }
}
