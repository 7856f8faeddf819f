//! Diagnostics as workflow commands of GitHub Actions, which shows them beside the line.

use workflow_core::diagnostic::{Diagnostic, visible};

use super::in_repository;

/// Returns the line that makes the annotation.
pub(crate) fn annotation(found: &Diagnostic) -> String {
    let command = found.severity.as_str().replace("info", "notice");
    let mut properties = Vec::new();
    if let Some(location) = &found.location {
        let file = in_repository(&location.file).unwrap_or_else(|| location.file.to_string());
        properties.push(format!("file={}", property(&visible(&file))));
        properties.extend(location.region.as_ref().map(|region| {
            format!(
                "line={},endLine={},col={},endColumn={}",
                region.line, region.end_line, region.column, region.end_column
            )
        }));
    }
    properties.push(format!("title={}", property(found.code.as_str())));
    let message = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let properties = properties.join(",");
    format!("::{command} {properties}::{}", data(&message))
}

/// Escapes the text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use workflow_core::diagnostic::{Code, Location, Severity};

    use super::*;

    #[test]
    fn separators_and_line_breaks_are_escaped() {
        let found = Diagnostic::new(Code::Syntax, Severity::Error, "100%: a, b")
            .with_help("look\r\nhere")
            .at(Location::file("/a,b:c%/workflow.yaml"));
        assert_eq!(
            annotation(&found),
            "::error file=/a%2Cb%3Ac%25/workflow.yaml,title=WF009::100%25: a, b%0Alook%0D%0Ahere"
        );
        let found = found.at(Location::file("/\u{9b}2J\u{202e}"));
        assert!(annotation(&found).starts_with("::error file=/\\u{9b}2J\\u{202e},"));
    }
}
