//! The definitions lines of a transcript that gets other definitions.
//!
//! Must not know how a file is written.

use std::collections::BTreeMap;

use super::definitions::{DefinitionsLine, RecordedDirectory};
use super::format::{Transcript, TranscriptEntry, TranscriptLine};

/// The definitions of a transcript with other definitions, by the names of their directories, each with the definitions line that it
/// replaces. The first of a recording has all of them, and precedes the host's first line if there was none.
pub(super) fn redefined<'a>(
    transcript: &'a Transcript,
    given: &BTreeMap<String, RecordedDirectory>,
) -> Vec<(&'a TranscriptLine, DefinitionsLine)> {
    let mut found = Vec::new();
    let lines = &transcript.lines;
    for lines in lines.chunk_by(|_, next| !matches!(next.entry, TranscriptEntry::Header(_))) {
        let is_defined = lines.iter().any(TranscriptLine::is_definitions);
        let mut is_first = true;
        for line in lines {
            let before = match &line.entry {
                // Definitions that cannot be read have ended the replay before.
                TranscriptEntry::Definitions(definitions) => {
                    definitions.directories(&transcript.path)
                }
                TranscriptEntry::In(_) if is_first && !is_defined => Ok(BTreeMap::new()),
                _ => continue,
            };
            let before = before.unwrap_or_default();
            let mut after = before.clone();
            let known = given.iter();
            let known = known.filter(|(name, _)| is_first || before.contains_key(*name));
            after.extend(known.map(|(name, directory)| (name.clone(), directory.clone())));
            is_first = false;
            if after != before {
                found.push((line, DefinitionsLine::Embedded(after)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const HEADER: &str = r#"{"transcript":3,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

    fn lines(text: &[&str]) -> Vec<(usize, bool, String)> {
        let transcript = Transcript::parse(Path::new("t"), text.join("\n").as_bytes()).unwrap();
        let given = serde_json::from_str(r#"{"/p/.pi":{"workflows/w/a.md":"new"}}"#).unwrap();
        let found = redefined(&transcript, &given).into_iter();
        let json = |definitions: &DefinitionsLine| serde_json::to_string(definitions).unwrap();
        found
            .map(|(line, new)| (line.number, !line.is_definitions(), json(&new)))
            .collect()
    }

    #[test]
    fn each_recording_gets_the_given_definitions() {
        let old =
            r#"{"definitions":{"/a":{"workflows/b/":null},"/p/.pi":{"workflows/w/a.md":"old"}}}"#;
        let agents = r#"{"definitions":{"/a":{"workflows/c/":null}}}"#;
        let new = r#"{"/p/.pi":{"workflows/w/a.md":"new"}}"#;
        let both = r#"{"/a":{"workflows/b/":null},"/p/.pi":{"workflows/w/a.md":"new"}}"#;
        assert_eq!(
            lines(&[
                HEADER,
                old,
                r#"{"in":1}"#,
                agents,
                old,
                HEADER,
                r#"{"in":1}"#
            ]),
            [
                (2, false, both.to_owned()),
                (5, false, both.to_owned()),
                (7, true, new.to_owned())
            ]
        );
    }

    #[test]
    fn a_line_with_the_same_definitions_stays() {
        let same = r#"{"definitions":{"/p/.pi":{"workflows/w/a.md":"new"}}}"#;
        assert!(lines(&[same, r#"{"in":1}"#]).is_empty());
    }
}
