//! The rows of the method tables with the schemas of their types, for what is generated and checked.

use schemars::{Schema, SchemaGenerator};
use workflow_protocol::*;

/// The two kinds of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// It has an id and is answered exactly once.
    Request,
    /// It has no id and is never answered.
    Notification,
}

/// The caller of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The host calls the sidecar.
    ToSidecar,
    /// The sidecar calls the host.
    ToHost,
}

/// A row of a method table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodInfo {
    /// The method's name on the wire.
    pub(crate) name: &'static str,
    /// Its purpose, in one or two sentences.
    pub(crate) summary: &'static str,
    /// Its caller.
    pub(crate) direction: Direction,
    /// Request or notification.
    pub(crate) kind: MethodKind,
    /// Its parameters.
    pub(crate) params: TypeSchema,
    /// Its result; `()` for a notification.
    pub(crate) result: TypeSchema,
}

/// The JSON Schema of a type, as a reference into the generator's definitions.
pub(crate) type TypeSchema = fn(&mut SchemaGenerator) -> Schema;

macro_rules! to_sidecar {
    ($($(#[doc = $summary:literal])+ $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// The methods that the host calls.
        pub(crate) const METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: $name,
            summary: concat!($($summary,)+).trim_ascii(),
            direction: Direction::ToSidecar,
            kind: MethodKind::Request,
            params: SchemaGenerator::subschema_for::<$params<'static>>,
            result: SchemaGenerator::subschema_for::<$result>,
        },)*];
    };
}

for_each_method!(to_sidecar);

macro_rules! to_host {
    ($($(#[doc = $summary:literal])+ $row:ident: $kind:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// The methods that the sidecar calls.
        pub(crate) const HOST_METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: $name,
            summary: concat!($($summary,)+).trim_ascii(),
            direction: Direction::ToHost,
            kind: MethodKind::$kind,
            params: SchemaGenerator::subschema_for::<$params>,
            result: SchemaGenerator::subschema_for::<$result>,
        },)*];
    };
}

for_each_host_method!(to_host);
