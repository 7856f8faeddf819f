//! XML as `JUnit` has it, of whoever writes it.

use std::rc::Rc;

use roxmltree::{Document, Node};

use super::{Outcome, TestRun, full_name};

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
    let mut open: Vec<(Node<'_, '_>, Rc<str>)> = vec![(root, "".into())];
    while let Some((suite, around)) = open.pop() {
        let name = Some(attribute(suite, "name")).filter(|_| suite.has_tag_name("testsuite"));
        let around: Rc<str> = name_of([&*around, name.unwrap_or_default()]).into();
        for child in suite.children().filter(Node::is_element) {
            if child.has_tag_name("testcase") {
                add_case(&mut run, child, &around);
            } else {
                open.push((child, Rc::clone(&around)));
            }
        }
    }
    let why = "the names of its tests are longer than 32 MiB";
    run.has_all_names().then_some(run).ok_or(why.to_owned())
}

/// Adds a test, with the names of the suites around it.
fn add_case(run: &mut TestRun, case: Node<'_, '_>, around: &str) {
    let child = |name: &str| case.children().find(|child| child.has_tag_name(name));
    let (class, own) = (attribute(case, "classname"), attribute(case, "name"));
    // What pytest cannot load is an error, and what vitest cannot load has the name of its file.
    let (error, failure) = (child("error"), child("failure"));
    let is_unloaded = |error| attribute(error, "message") == "collection failure";
    let is_skipped = ["notrun", "skipped", "disabled"].contains(&attribute(case, "status"));
    let outcome = if error.is_some_and(is_unloaded) || (failure.is_some() && class == own) {
        run.broken += 1;
        return;
    } else if error.or(failure).is_some() {
        Outcome::Failed
    } else if is_skipped || child("skipped").is_some() {
        Outcome::Skipped
    } else {
        Outcome::Passed
    };
    run.add(name_of([around, class, own]), outcome);
}

fn name_of<const N: usize>(parts: [&str; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    full_name(parts, " > ")
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    node.attribute(name).unwrap_or_default()
}
