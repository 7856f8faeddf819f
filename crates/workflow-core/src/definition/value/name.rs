//! Names of inputs, outputs and outcomes.

use crate::definition::syntax::Span;
use crate::diagnostic::{Code, Finding, shown};

/// Reports a name that is not one, of an input for example.
pub(crate) fn not_a_name(what: &str, name: &str, span: Option<Span>) -> Finding {
    let message = format!("`{}` cannot be the name of {what}", shown(name));
    Finding::error(Code::InvalidValue, span, message)
        .help("only the letters a to z and A to Z, digits, `_` and `-`")
}
