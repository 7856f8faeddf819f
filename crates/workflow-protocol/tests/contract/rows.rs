//! The rows: every one is complete, and can be handled by an answer of any kind.

use std::collections::HashSet;

use serde_json::json;
use workflow_protocol::{
    Direction, HOST_METHODS, Handlers, HostMethod, Kind, METHODS, Method, MethodKind, method,
};

#[test]
fn every_row_has_a_unique_name_and_a_summary() {
    let mut names = HashSet::new();
    for row in METHODS.iter().chain(HOST_METHODS) {
        assert!(names.insert(row.name), "`{}` is there twice", row.name);
        assert!(row.summary.ends_with('.'), "`{}` has no summary", row.name);
        assert_eq!(row.summary, row.summary.trim(), "{}", row.name);
    }
}

#[test]
fn both_tables_say_who_calls_and_what_is_answered() {
    for row in METHODS {
        assert_eq!(
            (row.direction, row.kind),
            (Direction::ToSidecar, MethodKind::Request),
            "{}",
            row.name
        );
    }
    let unanswered = HOST_METHODS
        .iter()
        .filter(|row| row.kind == MethodKind::Notification);
    let unanswered: Vec<_> = unanswered.map(|row| row.name).collect();
    assert_eq!(unanswered, ["host/apply", "$/log"]);
    assert!(
        HOST_METHODS
            .iter()
            .all(|row| row.direction == Direction::ToHost)
    );
    assert_eq!(method::UiConfirm::KIND, MethodKind::Request);
}

#[test]
fn every_kind_of_error_has_a_unique_code_and_name() {
    let codes: HashSet<_> = Kind::ALL.iter().map(|kind| kind.code()).collect();
    let names: HashSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(
        (codes.len(), names.len()),
        (Kind::ALL.len(), Kind::ALL.len())
    );
    for kind in Kind::ALL {
        assert_eq!(json!(kind), kind.name(), "the name on the wire");
        assert!(kind.meaning().ends_with('.'), "{kind:?}");
        let of_the_specification = (-32768..=-32600).contains(&kind.code());
        assert!(
            of_the_specification || (-32099..=-32050).contains(&kind.code()),
            "{kind:?}"
        );
    }
}

/// A handler whose answers may come later: it says what it was asked, and nothing more.
struct Asked(Vec<&'static str>);

/// An answer that has not been given.
struct Later;

macro_rules! later {
    ($($(#[$doc:meta])* $row:ident: $handler:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        impl Handlers for Asked {
            type Answer<R> = Later;

            $(fn $handler(&mut self, _: workflow_protocol::$params<'_>) -> Later {
                self.0.push($name);
                Later
            })*
        }

        /// Reads the parameters of a call, if it has a row.
        pub(crate) fn read(name: &str, params: &str) -> Option<Result<(), workflow_protocol::Error>> {
            match name {
                $($name => Some(method::$row::read(Some(params)).map(drop)),)*
                _ => None,
            }
        }
    };
}

workflow_protocol::for_each_method!(later);

#[test]
fn a_row_calls_its_handler_and_the_answer_may_come_later() {
    let mut asked = Asked(Vec::new());
    let params = method::CommandRun::read(Some(r#"{"name":"workflow"}"#)).expect("parameters");
    let Later = method::CommandRun::call(&mut asked, params);
    let Later = method::Shutdown::call(
        &mut asked,
        method::Shutdown::read(None).expect("none needed"),
    );
    assert_eq!(asked.0, ["command/run", "shutdown"]);
}
