//! What a redacted recording hides of what the sidecar says: the ends of what gates printed, files shown
//! with questions, what triggers had for the agent, and decisions that hang on what tools were given or gave back.
//!
//! Text is hidden where it stands, as it is in the lines that it comes from, so that the recording still
//! replays. What would come out otherwise where the text is not known becomes a line that is not compared.
//! Owns what is hidden from when on. Must not know the file.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use regex::Regex;
use workflow_core::session::NOT_DELIVERED as NOT_GIVEN;

use super::format::UNKNOWN;
use super::json_text::{member, quoted, string, strings, with_replaced};
use super::payload::REDACTED;
use super::recorder::{Cause, HostLine};
use super::world::Answer;
use crate::serve::{GateNews, TriggerNews};

/// How many texts are looked for: a report is told again when the run moves on, and not for ever.
const MOST: usize = 64;

/// What stands for the end of what a gate printed. Whoever quotes it chooses other fences if it has some.
pub(super) fn hidden(tail: &str) -> &'static str {
    if tail.is_empty() {
        ""
    } else if tail.contains("```") {
        "[redacted] ```"
    } else {
        REDACTED
    }
}

/// What is to be hidden.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    tails: VecDeque<String>,
    excerpts: VecDeque<String>,
    /// What triggers had for the agent.
    texts: VecDeque<String>,
    /// The ids of calls whose answers hang on what is left out.
    calls: HashSet<String>,
    /// Whether the line that is answered now is such a call.
    is_call: bool,
}

impl Secrets {
    /// Takes in what happened, before what followed is hidden.
    pub(super) fn learn(&mut self, cause: Cause<'_>, answers: &[Answer]) {
        for answer in answers {
            if let Answer::Excerpt(text) = answer
                && !text.trim().is_empty()
            {
                keep(&mut self.excerpts, text.trim());
            }
        }
        self.is_call = false;
        match cause {
            Cause::Gate(_, GateNews::Over(reports)) => {
                for report in reports.iter().filter(|report| !report.tail.is_empty()) {
                    keep(&mut self.tails, &report.tail);
                }
            }
            Cause::Trigger(_, TriggerNews::Text(text)) => keep(&mut self.texts, text),
            Cause::Host {
                line: HostLine::Line(line),
                hangs_on_payload: true,
            } => self.learn_call(&String::from_utf8_lossy(line)),
            Cause::Gate(_, GateNews::Progress(_) | GateNews::Restored(_))
            | Cause::Trigger(_, TriggerNews::Problem(_))
            | Cause::Host { .. }
            | Cause::Time => {}
        }
    }

    fn learn_call(&mut self, line: &str) {
        let method = member(line, "method").and_then(string).unwrap_or_default();
        if !matches!(&*method, "hook/tool_call" | "hook/tool_result") {
            return;
        }
        self.is_call = true;
        if let Some(id) = member(line, "id") {
            self.calls.insert(id.to_owned());
        }
    }

    /// A line of the host, which tells what the agent was told, without what triggers had.
    pub(super) fn without_texts<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let Ok(text) = std::str::from_utf8(line) else {
            return Cow::Borrowed(line);
        };
        let is_told = |literal: &&str| string(literal).is_some_and(|text| self.is_text(&text));
        let told: Vec<_> = if self.texts.is_empty() {
            Vec::new()
        } else {
            strings(text).into_iter().filter(is_told).collect()
        };
        if told.is_empty() {
            return Cow::Borrowed(line);
        }
        let hidden = told.into_iter().map(|literal| (literal, quoted(REDACTED)));
        Cow::Owned(with_replaced(text, hidden.collect()).into_bytes())
    }

    fn is_text(&self, text: &str) -> bool {
        self.texts.iter().any(|told| told == text)
    }

    /// A line of the sidecar as it is recorded.
    pub(super) fn hidden_in<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        let is_request = member(line, "method").is_some();
        let is_answer = !is_request && member(line, "id").is_some_and(|id| self.calls.remove(id));
        let is_question = is_request && self.is_call && member(line, "id").is_some();
        if is_answer || is_question {
            return Cow::Borrowed(UNKNOWN);
        }
        if self.tails.is_empty() && self.excerpts.is_empty() && self.texts.is_empty() {
            return Cow::Borrowed(line);
        }
        let replaced = strings(line).into_iter();
        let replaced = replaced.filter_map(|literal| {
            let before = &line[..literal.as_ptr().addr() - line.as_ptr().addr()];
            let text = string(literal)?;
            let safe = self.without(&text, before);
            (safe != text).then(|| (literal, quoted(&safe)))
        });
        Cow::Owned(with_replaced(line, replaced.collect()))
    }

    /// A text that stands behind this, without what is to be hidden.
    fn without(&self, text: &str, before: &str) -> String {
        if before.ends_with("\"tail\":") && self.tails.iter().any(|tail| tail == text) {
            return hidden(text).to_owned();
        }
        if before.ends_with("\"content\":") && self.is_text(text) {
            return REDACTED.to_owned();
        }
        if text.starts_with(NOT_GIVEN) {
            return format!("{NOT_GIVEN}{REDACTED}");
        }
        let is_question = ["\"message\":", "\"title\":"]
            .iter()
            .any(|name| before.ends_with(name));
        if is_question
            && let Some(rest) = self
                .excerpts
                .iter()
                .find_map(|excerpt| text.strip_suffix(&**excerpt))
        {
            return format!("{rest}{REDACTED}");
        }
        let mut safe = text.to_owned();
        for tail in &self.tails {
            for fence in ["```", "~~~~"] {
                let fenced = |text: &str| format!("\n{fence}\n{text}\n{fence}");
                safe = safe.replace(&fenced(tail.trim_end()), &fenced(hidden(tail)));
            }
        }
        safe
    }
}

/// The text of a settings file without what requests to triggers must show. It may be no settings at all.
pub(super) fn without_tokens(text: &str) -> Cow<'_, str> {
    const GAP: &str = r"(?:\s|/\*.*?\*/|//[^\n]*\n)*";
    const TEXT: &str = r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"#;
    let pattern = format!(r#"(?s)(\btoken["']?{GAP}:{GAP})(?:{TEXT})"#);
    let pattern = Regex::new(&pattern).expect("it is a regular expression");
    pattern.replace_all(text, format!("${{1}}\"{REDACTED}\""))
}

fn keep(texts: &mut VecDeque<String>, text: &str) {
    if texts.iter().any(|kept| kept == text) {
        return;
    }
    if texts.len() == MOST {
        texts.pop_front();
    }
    texts.push_back(text.to_owned());
}

#[cfg(test)]
mod tests {
    use workflow_core::policy::gate::{CheckVerdict, Report};
    use workflow_core::types::GateRunId;

    use super::*;
    use crate::serve::{GateName, TriggerName};

    fn hear_of_gate(secrets: &mut Secrets, tail: &str) {
        let name = GateName {
            session: String::new(),
            gate: GateRunId(1),
        };
        let report = Report {
            what: "test".to_owned(),
            source: String::new(),
            verdict: CheckVerdict::Failed,
            reason: String::new(),
            exit: Some(1),
            signal: None,
            duration_ms: 0,
            tail: tail.to_owned(),
        };
        secrets.learn(Cause::Gate(&name, &GateNews::Over(vec![report])), &[]);
    }

    fn say(secrets: &mut Secrets, line: &str, hangs_on_payload: bool) {
        let line = HostLine::Line(line.as_bytes());
        let cause = Cause::Host {
            line,
            hangs_on_payload,
        };
        secrets.learn(cause, &[]);
    }

    #[test]
    fn the_end_of_what_a_gate_printed_is_hidden_wherever_it_is_told() {
        let mut secrets = Secrets::default();
        hear_of_gate(&mut secrets, "S\n");
        let line = r#"{"a":[{"tail":"S\n"}],"text":"✗ test\n```\nS\n```\n\nS"}"#;
        let expected =
            r#"{"a":[{"tail":"[redacted]"}],"text":"✗ test\n```\n[redacted]\n```\n\nS"}"#;
        assert_eq!(secrets.hidden_in(line), expected);
        hear_of_gate(&mut secrets, "```");
        let line = r#"{"tail":"```","text":"\n~~~~\n```\n~~~~"}"#;
        let expected = r#"{"tail":"[redacted] ```","text":"\n~~~~\n[redacted] ```\n~~~~"}"#;
        assert_eq!(secrets.hidden_in(line), expected);
    }

    #[test]
    fn what_hangs_on_arguments_becomes_a_line_that_is_not_compared() {
        let mut secrets = Secrets::default();
        let call = r#"{"id":7,"method":"hook/tool_call","params":{}}"#;
        say(&mut secrets, call, false);
        assert_eq!(
            secrets.hidden_in(r#"{"id":7,"result":{}}"#),
            r#"{"id":7,"result":{}}"#
        );
        say(&mut secrets, call, true);
        assert_eq!(
            secrets.hidden_in(r#"{"id":"s1","method":"ui/confirm"}"#),
            UNKNOWN
        );
        say(&mut secrets, r#"{"id":"s1","result":true}"#, true);
        assert_eq!(
            secrets.hidden_in(r#"{"method":"host/apply"}"#),
            r#"{"method":"host/apply"}"#
        );
        assert_eq!(secrets.hidden_in(r#"{"id":7,"result":{}}"#), UNKNOWN);
        assert_eq!(
            secrets.hidden_in(r#"{"id":7,"result":{}}"#),
            r#"{"id":7,"result":{}}"#
        );
    }

    #[test]
    fn what_a_trigger_had_is_hidden_where_the_agent_is_told() {
        let mut secrets = Secrets::default();
        let name = TriggerName {
            session: String::new(),
            number: 1,
        };
        let news = TriggerNews::Text("It says: S".to_owned());
        secrets.learn(Cause::Trigger(&name, &news), &[]);
        let line = r#"{"content":"It says: S","x":"It says: S"}"#;
        let expected = r#"{"content":"[redacted]","x":"It says: S"}"#;
        assert_eq!(secrets.hidden_in(line), expected);
        let line = format!(r#"{{"message":"{NOT_GIVEN}It says"}}"#);
        let expected = format!(r#"{{"message":"{NOT_GIVEN}[redacted]"}}"#);
        assert_eq!(secrets.hidden_in(&line), expected);
    }

    #[test]
    fn a_token_of_a_trigger_is_left_out_however_it_is_written() {
        for (text, expected) in [
            (
                "{token: 'S', tokenEnv: 'E'}",
                r#"{token: "[redacted]", tokenEnv: 'E'}"#,
            ),
            (r#"{"token" : "a\"S"}"#, r#"{"token" : "[redacted]"}"#),
            (
                "{'token': /* S */ // S\n'S\\\nS'}",
                "{'token': /* S */ // S\n\"[redacted]\"}",
            ),
            ("{ broken token: 'S'", "{ broken token: \"[redacted]\""),
            ("{maxTokens: 1}", "{maxTokens: 1}"),
        ] {
            assert_eq!(without_tokens(text), expected);
        }
    }

    #[test]
    fn a_file_that_is_shown_is_hidden_in_the_question() {
        let mut secrets = Secrets::default();
        secrets.learn(Cause::Time, &[Answer::Excerpt(" S\n".to_owned())]);
        let line = r#"{"title":"OK?\n\nS","message":"S","options":["S"]}"#;
        let expected = r#"{"title":"OK?\n\n[redacted]","message":"[redacted]","options":["S"]}"#;
        assert_eq!(secrets.hidden_in(line), expected);
    }
}
