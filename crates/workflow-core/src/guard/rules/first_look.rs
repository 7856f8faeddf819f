//! A first look at a call's arguments: whether there is anything in them for the rule of our own.
//!
//! That rule holds for every call, and most calls have nothing for it: no line with a word of the names in it, no
//! path with the name. Owns telling those by passing over the JSON once, without reading texts or keeping anything.
//! It may take too much for something, never too little; tests hold it against the rule.

use memchr::{memchr, memmem};
use serde_json::value::RawValue;

use super::fields::{DIRECTORIES, plain};
use super::lines::{ARGUMENTS, LINES, PACKED, SCRIPTS};
use super::own::{HIDING, LONGEST_PATH, WORDS, holds_name};

/// Under this name serde reads the text of a map's only field as JSON of its own.
const RAW: &str = "$serde_json::private::RawValue";
/// Bytes of JSON that a byte of a text may take: `\u002d`.
const LONGEST_ESCAPE: usize = 6;
/// Maps and lists inside each other that are looked into. A reader takes more than these.
const DEEPEST: usize = 64;
/// Bytes of a number that every reader takes.
const LONGEST_NUMBER: usize = 16;

/// Whether the rule could find something in these arguments. What some reader may refuse could hold anything.
pub(super) fn is_worth_reading(arguments: &RawValue) -> bool {
    let mut look = Look {
        json: arguments.get(),
        at: 0,
    };
    look.value(Holds::Fields, 0).is_none()
}

/// What a value stands for, as the field tells in which it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The arguments themselves.
    Fields,
    /// A line, its arguments, or its directory.
    Line,
    /// One of a list of these.
    Word,
    /// Maybe arguments again, as a text that is JSON.
    Packed,
    /// Nothing that is known.
    Other,
}

impl Holds {
    /// What stands in a field; `None` where more than a look is needed to tell.
    fn of(field: &str) -> Option<Self> {
        let name = &*plain(field);
        let is_in = |names: &[&str]| names.contains(&name);
        if field.contains('\\') || field == RAW || is_in(SCRIPTS) {
            None
        } else if is_in(LINES) || is_in(ARGUMENTS) || is_in(DIRECTORIES) {
            Some(Self::Line)
        } else if is_in(PACKED) {
            Some(Self::Packed)
        } else {
            Some(Self::Other)
        }
    }

    /// Whether a text may hold something, as it stands in JSON.
    fn may_be_found(self, text: &str) -> bool {
        let is_found = match self {
            Self::Fields => true,
            Self::Line | Self::Word => may_be_packed(text) || may_be_marked(text),
            Self::Packed => may_be_packed(text),
            Self::Other => false,
        };
        is_found || has_telling_escape(text) || may_name_it(text)
    }
}

/// Whether a text may be JSON itself.
fn may_be_packed(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '\\'])
}

/// Whether a text may be a path with the name in it.
fn may_name_it(text: &str) -> bool {
    text.len() <= LONGEST_PATH * LONGEST_ESCAPE && holds_name(text)
}

/// Whether a character is escaped that could stand there as it is, or half of one that takes two, which a reader
/// may refuse. No letter of the name has another escape.
fn has_telling_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Most texts have no escape at all, and to look for two bytes takes more to begin with.
    memchr(b'\\', bytes).is_some()
        && memmem::find_iter(bytes, br"\u").any(|at| {
            matches!(
                bytes[at + 2..],
                [b'0', b'0', b'2'..=b'7', ..] | [b'd' | b'D', ..]
            )
        })
}

/// Whether a text may hold a mark of the names for a shell, alone or with the texts around it.
fn may_be_marked(text: &str) -> bool {
    // The letters met last, the last one lowest.
    let mut met: u64 = 0;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let letter = match byte {
            b'\'' => continue,
            b'\\' => match bytes.next() {
                Some(b'"') => continue,
                Some(b'\\') => {
                    // For the shell a backslash, and it hides a line's end.
                    let mut behind = bytes.clone();
                    match (behind.next(), behind.next()) {
                        // The line may go on in the next text.
                        (None, _) => return true,
                        (Some(b'\\'), Some(b'n')) => bytes = behind,
                        _ => {}
                    }
                    continue;
                }
                Some(b'n' | b't' | b'r' | b'b' | b'f' | b'/') => b' ',
                _ => return true,
            },
            // Some of these are our letters as capitals.
            0x80.. => return true,
            _ => byte.to_ascii_lowercase(),
        };
        met = met << 8 | u64::from(letter);
        let is_hiding = HIDING.iter().any(|mark| mark.as_bytes()[0] == letter);
        let ends_word = || ENDINGS.iter().any(|end| met & end.mask == end.letters);
        if is_hiding || ends_word() {
            return true;
        }
    }
    false
}

/// A word, as the letters that are met last where it ends.
#[derive(Clone, Copy)]
struct Ending {
    letters: u64,
    mask: u64,
}

const ENDINGS: [Ending; WORDS.len()] = {
    let mut endings = [Ending {
        letters: 0,
        mask: 0,
    }; WORDS.len()];
    let mut at = 0;
    while at < WORDS.len() {
        let word = WORDS[at].as_bytes();
        assert!(word.len() <= 8, "it fits");
        let mut letter = 0;
        while letter < word.len() {
            endings[at].letters = endings[at].letters << 8 | word[letter] as u64;
            endings[at].mask = endings[at].mask << 8 | 0xff;
            letter += 1;
        }
        at += 1;
    }
    endings
};

/// The way through JSON that has been read as JSON before. `None` ends it: the arguments are to be read.
struct Look<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Look<'a> {
    /// The next byte that is no white space, without passing it.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.json.as_bytes().get(self.at..)?;
        let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        self.at += space.count();
        self.json.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn value(&mut self, holds: Holds, depth: usize) -> Option<()> {
        match self.next()? {
            b'"' => {
                let text = self.text()?;
                (!holds.may_be_found(text)).then_some(())
            }
            _ if depth == DEEPEST => None,
            b'{' => match holds {
                Holds::Line | Holds::Word => None,
                Holds::Fields | Holds::Packed | Holds::Other => self.fields(depth + 1),
            },
            b'[' => match holds {
                Holds::Fields | Holds::Word => None,
                Holds::Line => self.items(Holds::Word, depth + 1),
                Holds::Packed | Holds::Other => self.items(Holds::Other, depth + 1),
            },
            first => match holds {
                // Where a text is expected, nobody knows what becomes of this.
                Holds::Fields | Holds::Line | Holds::Word => None,
                Holds::Packed | Holds::Other => self.word_or_number(first),
            },
        }
    }

    fn fields(&mut self, depth: usize) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => {
                    let holds = Holds::of(self.text()?)?;
                    (self.next()? == b':').then_some(())?;
                    self.value(holds, depth)?;
                }
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn items(&mut self, holds: Holds, depth: usize) -> Option<()> {
        loop {
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.value(holds, depth)?,
            }
        }
    }

    /// A text that has begun, as it stands there.
    fn text(&mut self) -> Option<&'a str> {
        let rest = &self.json[self.at..];
        let bytes = rest.as_bytes();
        let mut end = memchr(b'"', bytes)?;
        let is_escaped = |end: usize| {
            let before = bytes[..end].iter().rev();
            before.take_while(|byte| **byte == b'\\').count() % 2 == 1
        };
        while is_escaped(end) {
            end += 1 + memchr(b'"', &bytes[end + 1..])?;
        }
        self.at += end + 1;
        Some(&rest[..end])
    }

    /// The rest of `null`, `true`, `false`, or of a number that is not out of any reader's range.
    fn word_or_number(&mut self, first: u8) -> Option<()> {
        let rest = self.json.as_bytes().get(self.at..)?;
        let is_in_it = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let rest = &rest[..rest.iter().take_while(is_in_it).count()];
        self.at += rest.len();
        let is_word = first.is_ascii_lowercase();
        let is_small =
            rest.len() <= LONGEST_NUMBER && !rest.contains(&b'e') && !rest.contains(&b'E');
        (is_word || is_small).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::super::PlainPaths;
    use super::super::call::Call;
    use super::super::own::answers_as_read;
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect(json)
    }

    /// Whether the rule finds something; what it finds, the look must not have missed.
    fn rule_finds(arguments: &RawValue) -> Result<bool, TestCaseError> {
        let mut finds = false;
        for tool in ["bash", "write", "mcp__x__call"] {
            let found = answers_as_read(&Call::new(tool, Some(arguments), &PlainPaths));
            prop_assert!(!found || is_worth_reading(arguments), "{tool} {arguments}");
            finds |= found;
        }
        Ok(finds)
    }

    /// A character of a line, as some shell and some writer of JSON have it.
    fn written(c: char, how: u8) -> String {
        match how {
            0 => format!("'{c}'"),
            1 => format!("\\\"{c}\\\""),
            2 => format!("\\\\{c}"),
            3 => format!("\\\\\\n{c}"),
            4 => format!("\\u{:04x}", u32::from(c)),
            5 => format!("\\u{:04X}", u32::from(c)),
            6 => c.to_ascii_uppercase().to_string(),
            7 if c == 'k' => "\u{212a}".to_owned(),
            8 if c == 'k' => "\\u212A".to_owned(),
            9 => format!("\\\\\",\"{c}"),
            10 => format!("\\\\\\\\\\\"{c}"),
            11 => format!("\\\\u{:04x}", u32::from(c)),
            _ => c.to_string(),
        }
    }

    const LINES_THAT_ANSWER: [&str; 12] = [
        "workflow-sidecar approve",
        "npx workflow-sidecar trust .",
        "w=workflow-sidecar; x approve",
        "echo x > ~/.pi/agent/workflow-sidecar/trust.json",
        "tee ~/.pi/agent/w*r/appr*/a",
        "~/.pi/agent/workflow-sidecar/trust.json",
        "cp /tmp/x approvals/a",
        "* approve",
        "$x approve",
        "cargo test",
        "trust",
        "",
    ];
    const FIELDS: [&str; 16] = [
        "command",
        "CMD",
        "com_mands",
        "args",
        "arguments",
        "cwd",
        "work-dir",
        "input",
        "params",
        "script",
        "code",
        "language",
        "path",
        "text",
        "$serde_json::private::RawValue",
        "comm\\u0061nd",
    ];

    /// A text of JSON in which each character is written in some way, most of them plainly.
    fn any_text() -> impl Strategy<Value = String> {
        let how = prop::collection::vec(prop_oneof![12 => Just(u8::MAX), 1 => 0..12_u8], 1..30);
        (prop::sample::select(LINES_THAT_ANSWER.to_vec()), how).prop_map(|(line, how)| {
            let how = how.iter().copied().cycle();
            let text: String = line
                .chars()
                .zip(how)
                .map(|(c, how)| written(c, how))
                .collect();
            format!("\"{text}\"")
        })
    }

    fn any_json() -> impl Strategy<Value = String> {
        let others = [
            "null",
            "true",
            "7",
            "-1.5",
            "1e999",
            "123456789012345678901234567890",
            "\"\\ud83d\"",
        ];
        let leaf = prop_oneof![8 => any_text(), 1 => prop::sample::select(others.to_vec()).prop_map(str::to_owned)];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let field = (prop::sample::select(FIELDS.to_vec()), inner.clone());
            prop_oneof![
                1 => prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
                3 => prop::collection::vec(field, 1..4).prop_map(|fields| {
                    let fields = fields.iter().map(|(name, value)| format!("\"{name}\" : {value}"));
                    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
                }),
                1 => inner.prop_map(|json| serde_json::to_string(&json).expect("a text is JSON")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn what_the_rule_finds_is_never_passed_over(json in any_json()) {
            // Some of what is put together here is no JSON, and never comes this far.
            if let Ok(arguments) = RawValue::from_string(json) {
                rule_finds(&arguments)?;
            }
        }
    }

    #[derive(Deserialize)]
    struct Entry {
        line: String,
    }

    #[test]
    fn of_the_lines_that_agents_run_none_is_passed_over_that_the_rule_finds() {
        let corpus = include_str!("../../../../../tests/shell/commands.jsonl");
        let lines: Vec<Entry> = corpus
            .lines()
            .map(|entry| serde_json::from_str(entry).expect(entry))
            .collect();
        let words = [
            "workflow-sidecar approve",
            "work''flow-sidecar trust",
            "w*r",
        ];
        let mut found = 0;
        for Entry { line } in &lines {
            for more in [String::new()]
                .into_iter()
                .chain(words.map(|word| format!("; {word}")))
            {
                for arguments in [
                    json!({ "command": format!("{line}{more}") }),
                    json!({ "command": [line, more] }),
                    json!({ "command": line, "args": [more] }),
                    json!({ "input": json!({ "cmd": format!("{line}{more}") }).to_string() }),
                ] {
                    let arguments = to_raw_value(&arguments).expect("a value is JSON");
                    found += usize::from(rule_finds(&arguments).expect("the look is right"));
                }
            }
        }
        assert!(found > lines.len(), "the rule finds {found}");
    }

    #[test]
    fn what_has_nothing_for_the_rule_is_passed_over() {
        for json in [
            r#"{"path":"src/main.rs"}"#,
            r#"{"path":"src/main.rs","content":"fn main() {\n\tlet a = b[0]; // don't \"ask\" *me*\n}\n"}"#,
            r#"{"content":"trust me: the workflow is approved"}"#,
            r#"{"command":"cargo test -p core 2>&1 | tail -n 20","timeout":120}"#,
            r#"{"command":"git commit -m \"one\ntwo\"","cwd":"/tmp"}"#,
            r#"{ "edits" : [ { "old_text" : "a" , "new" : null } , [ ] ], "all" : false, "n": -0.5 }"#,
            r#"{"content":"\u001b[1m \u00e9"}"#,
            "{}",
        ] {
            assert!(!is_worth_reading(&raw(json)), "{json}");
        }
    }

    #[test]
    fn what_a_look_cannot_tell_is_worth_reading() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(70), "]".repeat(70));
        for json in [
            r#""a""#,
            "[]",
            "null",
            "7",
            r#"{"command":"a","n":1e999}"#,
            r#"{"a":"\ud83d"}"#,
            r#"{"command":7}"#,
            r#"{"command":{"program":"a"}}"#,
            r#"{"command":[["a"]]}"#,
            r#"{"command":"a\\"}"#,
            r#"{"arguments":" {}"}"#,
            r#"{"input":"\n[]"}"#,
            r#"{"script":"a"}"#,
            r#"{"a":{"$serde_json::private::RawValue":"{}"}}"#,
            r#"{"p\u0061th":"a"}"#,
            r#"{"path":"WORKFLOW-sidecar"}"#,
            r#"{"path":"workflow\u002dsidecar"}"#,
            r#"{"command":"ls *"}"#,
            r#"{"cwd":"Trust"}"#,
            &deep,
        ] {
            assert!(is_worth_reading(&raw(json)), "{json}");
        }
    }
}
