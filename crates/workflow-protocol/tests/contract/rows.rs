//! The rows: every one is complete.

use std::collections::HashSet;

use workflow_protocol::{Method, method};

use crate::generate::Contract;
use crate::methods::{Direction, HOST_METHODS, METHODS, MethodKind};

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
    assert_eq!(unanswered, ["host/apply", "ui/dismiss", "host/cancel"]);
    assert!(
        HOST_METHODS
            .iter()
            .all(|row| row.direction == Direction::ToHost)
    );
}

#[test]
fn every_kind_of_error_has_a_meaning_and_a_code_that_is_free() {
    for (kind, _, meaning) in Contract::under("/$defs").kinds() {
        assert!(meaning.ends_with('.'), "{kind:?}");
        let of_the_specification = (-32768..=-32600).contains(&kind.code());
        assert!(
            of_the_specification || (-32099..=-32050).contains(&kind.code()),
            "{kind:?}"
        );
    }
}

macro_rules! readers {
    ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// Reads the parameters of a call, if it has a row.
        pub(crate) fn read(name: &str, params: &str) -> Option<Result<(), workflow_protocol::Error>> {
            match name {
                $($name => Some(method::$row::read(Some(params)).map(drop)),)*
                _ => None,
            }
        }
    };
}

workflow_protocol::for_each_method!(readers);
