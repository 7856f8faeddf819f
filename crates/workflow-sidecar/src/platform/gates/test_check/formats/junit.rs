//! XML as `JUnit` has it, of whoever writes it.

use roxmltree::{Document, Node};

use super::{Outcome, TestRun};

/// Reads a report. A document type, and thus every entity of its own, is refused, and so is what ends too early.
pub(in super::super) fn read(text: &str) -> Result<TestRun, String> {
    let document = Document::parse(text).map_err(|error| match error {
        roxmltree::Error::DtdDetected => {
            "it has a document type (DOCTYPE), which may declare entities".to_owned()
        }
        error => format!("it is no whole XML document: {error}"),
    })?;
    let root = document.root_element();
    if !["testsuites", "testsuite"].contains(&root.tag_name().name()) {
        return Err("its root is neither `testsuites` nor `testsuite`".to_owned());
    }
    let mut run = TestRun::default();
    for case in root
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
    {
        let child = |name: &str| case.children().find(|child| child.has_tag_name(name));
        let suites = case
            .ancestors()
            .filter(|node| node.has_tag_name("testsuite"));
        let mut around: Vec<&str> = suites.map(|suite| attribute(suite, "name")).collect();
        around.reverse();
        let (class, own) = (attribute(case, "classname"), attribute(case, "name"));
        around.push(class);
        around.retain(|part| !part.is_empty());
        // What pytest cannot load is an error, and what vitest cannot load has the name of its file.
        let (error, failure) = (child("error"), child("failure"));
        let is_unloaded = |error| attribute(error, "message") == "collection failure";
        let is_skipped = ["notrun", "skipped", "disabled"].contains(&attribute(case, "status"));
        let outcome = if error.is_some_and(is_unloaded) || (failure.is_some() && class == own) {
            run.broken += 1;
            continue;
        } else if error.or(failure).is_some() {
            Outcome::Failed
        } else if is_skipped || child("skipped").is_some() {
            Outcome::Skipped
        } else {
            Outcome::Passed
        };
        around.push(own);
        run.add(around.join(" > "), outcome);
    }
    Ok(run)
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    node.attribute(name).unwrap_or_default()
}
