//! Changes to the results of tools before the model reads them.

use crate::definition::guard_text::GuardText;
use crate::definition::schema::{FromMap, MapReader, Section, section};
use crate::definition::value::{List, OneOf, Text, TextOrTexts, ToolPatterns, Whole, words};
use crate::diagnostic::{Code, Finding};

const EFFECTS: &[&str] = &["redact", "maxChars", "append"];

section! {
    Section { effects: EFFECTS, ..Section::guard("an entry of `results`") };
    /// A change of tool results before the model reads them.
    #[derive(Default)]
    pub struct ResultRule {
        /// The tools whose results are changed.
        #[key("tool": ToolPatterns, check: Some(GuardText::ToolPattern), default: Text("*"), example: r#""bash""#)]
        const tool;
        /// The tools it is about: names, with `*` for any characters.
        pub tools: Vec<String>,
        /// Whether results of failed or of successful calls are changed.
        #[key("on"?: OneOf<ResultKind>, default: Described("both"), example: r#""error""#)]
        pub on: Option<ResultKind>,
        /// Regular expressions, or `secrets`: known shapes of keys, tokens and passwords. The text that they match is replaced.
        #[key("redact"?: TextOrTexts, check: Some(GuardText::Regex), example: r#"["secrets", "hunter[0-9]+"]"#)]
        pub redact: Vec<String>,
        /// The replacement for `redact`.
        #[key("with"?: Text, default: Text("[redacted]"), example: r#""[key]""#)]
        pub with: Option<String>,
        /// The number of characters that are kept of a text: its beginning and its end.
        #[key("maxChars"?: Whole<1>, default: Described("all"), example: "20000", hint: Some(Code::InvalidValue.help()))]
        pub max_chars: Option<u32>,
        /// A text to add at the end.
        #[key("append"?: Text, default: Described("nothing"), example: r#""Read the error before you try again.""#)]
        pub append: Option<String>,
        /// True if `redact` cannot be read: then all text is withheld.
        pub unread?: bool,
        /// Its location, as `file:line`.
        pub source?: String,
    }
}

impl FromMap for ResultRule {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let help = "write what is done with the results, for example `maxChars: 20000`";
        keys.first_of(EFFECTS, help);
        let mut rule: Self = keys.read();
        let tools = keys.get(&Self::tool).and_then(List::whole);
        // An entry about tools that cannot be read is about all of them.
        rule.tools = tools.unwrap_or_else(|| vec!["*".to_owned()]);
        // A wrong pattern, or an unknown key that may be a misspelled one.
        let has_redact = keys.has("redact");
        rule.unread = rule.redact.is_empty() && (has_redact || !keys.all_known());
        let is_idle = rule.with.is_some() && !has_redact;
        if let Some(span) = keys.span_of(&Self::with).filter(|_| is_idle) {
            let message = "`with` has no effect without `redact`";
            keys.report(Finding::warning(Code::IdleRule, Some(span), message));
        }
        rule.source = keys.reader.file_and_line(keys.start);
        Some(rule)
    }
}

impl ResultRule {
    /// Returns true if it hides something.
    pub(crate) fn redacts(&self) -> bool {
        self.unread || !self.redact.is_empty()
    }

    /// Its effect, as people read it.
    pub fn describe(&self) -> String {
        let mut does = Vec::new();
        if self.unread {
            does.push("withhold, because the pattern to redact cannot be read".to_owned());
        } else if !self.redact.is_empty() {
            does.push(format!("redact `{}`", self.redact.join("`, `")));
        }
        if let Some(most) = self.max_chars {
            does.push(format!("keep {most} characters"));
        }
        if let Some(text) = &self.append {
            does.push(format!("append \"{text}\""));
        }
        let on = match self.on {
            None => "",
            Some(ResultKind::Error) => " that failed",
            Some(ResultKind::Ok) => " that succeeded",
        };
        format!("`{}`{on}: {}", self.tools.join("`, `"), does.join(", "))
    }
}

words! {
    /// A kind of result.
    pub enum ResultKind {
        /// Results of calls that failed.
        "error" => Error,
        /// Results of calls that succeeded.
        "ok" => Ok,
    }
}
