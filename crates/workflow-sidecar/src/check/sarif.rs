//! Diagnostics as a SARIF 2.1.0 log, which code scanning services read.

use serde_json::{Value, json};
use workflow_core::diagnostic::{Code, Diagnostic, Location};

use super::{absolute, in_repository};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns the log of one run.
pub(crate) fn log(diagnostics: &[Diagnostic]) -> Value {
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
    let results: Vec<Value> = diagnostics.iter().map(result).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "workflow-sidecar",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.as_str(),
        "name": code.name(),
        "shortDescription": {"text": code.summary()},
        "help": {"text": code.help()},
    })
}

fn result(found: &Diagnostic) -> Value {
    let message = match &found.help {
        Some(help) => format!("{} ({help})", found.message),
        None => found.message.clone(),
    };
    let index = Code::ALL.iter().position(|code| *code == found.code);
    let mut result = json!({
        "ruleId": found.code.as_str(),
        "ruleIndex": index,
        // The standard has another word for what is no more than a hint.
        "level": found.severity.as_str().replace("info", "note"),
        "message": {"text": message},
    });
    if let Some(location) = &found.location {
        result["locations"] = json!([{"physicalLocation": physical_location(location)}]);
    }
    if let Some(workflow) = &found.workflow {
        result["properties"] = json!({"workflow": workflow});
    }
    result
}

fn physical_location(found: &Location) -> Value {
    let artifact = match in_repository(&found.file) {
        Some(inside) => json!({"uri": encoded(&inside), "uriBaseId": "%SRCROOT%"}),
        None => json!({"uri": format!("file://{}", encoded(&absolute(&found.file)))}),
    };
    let mut location = json!({"artifactLocation": artifact});
    if let Some(region) = &found.region {
        location["region"] = json!({
            "startLine": region.line,
            "startColumn": region.column,
            "endLine": region.end_line,
            "endColumn": region.end_column,
        });
    }
    location
}

/// Encodes a path for a URI.
fn encoded(path: &str) -> String {
    path.bytes().fold(String::new(), |uri, byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            uri + &char::from(byte).to_string()
        }
        _ => uri + &format!("%{byte:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use workflow_core::diagnostic::Severity;

    /// The types are made from the standard's schema, and drop everything else.
    #[test]
    fn the_log_conforms_to_the_standard() {
        let found = [
            Diagnostic::new(Code::Syntax, Severity::Error, "not valid")
                .at(Location::file(".pi/workflows/w/workflow.yaml"))
                .about("w"),
            Diagnostic::new(Code::EntrySkipped, Severity::Warning, "skipped"),
        ];
        let log = log(&found);
        let read: serde_sarif::sarif::Sarif = serde_json::from_value(log.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), log);
    }

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(
            encoded(".pi/workflows/a b/ä.md"),
            ".pi/workflows/a%20b/%C3%A4.md"
        );
    }
}
