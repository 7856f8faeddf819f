//! The reader of `triggers`. It is a guard: any mistake is an error. A trigger with a mistake is left out; the others of the
//! file stay.

use std::cell::Cell;

use crate::definition::model::{Tier, Token, Trigger, TriggerOn};
use crate::definition::schema::keys::{http, settings, trigger};
use crate::definition::schema::{Field, MapReader, Section, Text, listed};
use crate::definition::syntax::{Map, Reader, Span};
use crate::diagnostic::{Code, Finding};

/// Triggers of a settings file. Each takes a thread or a port as long as a session is open.
const MAX_TRIGGERS: usize = 32;

/// Reads the `triggers` of a settings file.
pub(super) fn read_triggers(keys: &mut MapReader<'_, '_, '_>, tier: Tier) -> Vec<Trigger> {
    let count = Cell::new(0_usize);
    let read = |reader: &mut Reader<'_>, map: Map<'_>, span: Option<Span>| {
        let before = count.replace(count.get() + 1);
        if before < MAX_TRIGGERS {
            return read_trigger(reader, map, span, tier);
        }
        if before == MAX_TRIGGERS {
            let keys = MapReader::new(reader, Section::Trigger, map, span);
            let message = format!(
                "more than {MAX_TRIGGERS} triggers: this one and those below are not watched"
            );
            let help =
                "combine triggers: several senders can write to one file or send to one port";
            let finding = Finding::error(Code::OverLimit, keys.start, message);
            keys.reader.report(finding.help(help));
        }
        None
    };
    keys.list(&settings::TRIGGERS, read).all
}

fn read_trigger(
    reader: &mut Reader<'_>,
    map: Map<'_>,
    span: Option<Span>,
    tier: Tier,
) -> Option<Trigger> {
    let mut keys = MapReader::new(reader, Section::Trigger, map, span);
    let has_one = check_alternatives(&mut keys, Section::Trigger);
    let file = keys.get(&trigger::FILE);
    let file = file.and_then(|file| check_file(keys.reader, file, tier));
    let http = keys.map(&trigger::HTTP);
    let http = read_http(keys.reader, http);
    let prompt = keys.get(&trigger::PROMPT);
    let on = file.map(TriggerOn::File).or(http).filter(|_| has_one)?;
    Some(Trigger {
        on,
        prompt: prompt?.value,
        tier,
        source: keys.reader.file_and_line(keys.start),
    })
}

/// Checks the path of a file. The user's settings apply in every project, where a path from the working directory would
/// let each of them wake the agent; those of a project may name a file of the project only.
fn check_file(reader: &mut Reader<'_>, text: Text, tier: Tier) -> Option<String> {
    let (message, help) = match tier {
        Tier::Global if !is_rooted(&text.value) => (
            "`file` is a relative path, which would be another file in each project",
            "write an absolute path or `~/…`, or move the trigger to the `.pi/workflow-sidecar.json5` of a project",
        ),
        Tier::Project if is_rooted(&text.value) || leads_out(&text.value) => (
            "`file` is not in this project",
            "name a file of the project, or move the trigger to your own settings",
        ),
        Tier::Global | Tier::Project => return Some(text.value),
    };
    reader.report(Finding::error(Code::PathRefused, text.span, message).help(help));
    None
}

/// Returns true if a path starts at the root of a file system, or at the user's home.
fn is_rooted(path: &str) -> bool {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\']) || path.starts_with("~/") || has_drive
}

/// Returns true if a path goes up further than it went down.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_usize;
    path.split(['/', '\\']).any(|part| match part {
        "" | "." => false,
        ".." => match depth.checked_sub(1) {
            Some(up) => {
                depth = up;
                false
            }
            None => true,
        },
        _ => {
            depth += 1;
            false
        }
    })
}

fn read_http(reader: &mut Reader<'_>, http: Field<Map<'_>>) -> Option<TriggerOn> {
    let Field::Value {
        span, value: map, ..
    } = http
    else {
        return None;
    };
    let mut keys = MapReader::new(reader, Section::Http, map, span);
    let has_one = check_alternatives(&mut keys, Section::Http);
    let port = keys.get(&http::PORT);
    let token = keys.get(&http::TOKEN).map(|text| Token::Text(text.value));
    let name = keys
        .get(&http::TOKEN_ENV)
        .map(|text| Token::Environment(text.value));
    let (port, token) = (port?, token.or(name).filter(|_| has_one)?);
    Some(TriggerOn::Http {
        port: u16::try_from(port).expect("its range is that of a port"),
        token,
    })
}

/// Reports a map that does not have exactly one of its alternatives.
fn check_alternatives(keys: &mut MapReader<'_, '_, '_>, section: Section) -> bool {
    let known = section.alternatives();
    let (what, names) = (section.describe(), listed(known.iter().copied()));
    let (code, message) = match known.iter().filter(|key| keys.has(key)).count() {
        0 => (Code::MissingKey, format!("{what} needs one of {names}")),
        1 => return true,
        _ => (
            Code::BothLists,
            format!("{what} can have only one of {names}"),
        ),
    };
    let help = format!("write either `{}`", known.join("` or `"));
    let finding = Finding::error(code, keys.start, message);
    keys.report(finding.help(help));
    false
}
