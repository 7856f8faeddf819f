//! Values and operands that rows list: texts, starts and ends of texts, and classes.

use super::lists::{is_like, is_listed};
use super::variables::is_harmless_variable;
use crate::programs::checks::{is_check, may_change};
use crate::programs::names::known_name;
use crate::word::Word;

/// Returns whether a value or an operand is the listed one. `+*` and `*:test` stand for all that start or end so; a blank is `~`.
pub(super) fn fits(listed: &str, word: &Word) -> bool {
    let shape = word.shape();
    match listed {
        "<any>" => true,
        "<address>" => is_web_address(shape),
        "<encoded>" => !shape.split('=').next().unwrap_or_default().contains('@'),
        "<name>" => !shape.contains(['.', '/', '\0']),
        "<target>" => !matches!(shape, "fix" | "write" | "update"),
        "<no-file>" => !shape.starts_with('@'),
        // Behind an option that is switched off, `set` reads more of them.
        "<no-plus>" => !shape.starts_with('+'),
        "<local>" => !shape.contains(':'),
        // A file, not an address of another kind. Behind a slash, a colon belongs to a name.
        "<no-scheme>" if word.is_process => true,
        "<no-scheme>" => match shape.find([':', '/', '\0']) {
            Some(at) => shape[at..].starts_with('/'),
            None => true,
        },
        // `curl` puts a part of the address in the place of `#1`.
        "<no-counter>" => !shape.contains('#'),
        "<write-out>" => {
            !shape.contains("%output") && !shape.starts_with('@') && !shape.contains('\0')
        }
        // `strace -e inject=…`
        "<filter>" => ["inject", "fault", "\0"]
            .iter()
            .all(|part| !shape.contains(part)),
        "<variable>" => {
            let (name, value) = shape.split_once('=').unwrap_or((shape, ""));
            is_harmless_variable(name, Some(value).filter(|value| !value.contains('\0')))
        }
        "<read-only>" => is_read_only_mount(shape),
        "<field>" => is_field_of_query(word),
        _ => word.text().is_some_and(|text| fits_text(listed, text)),
    }
}

fn fits_text(listed: &str, text: &str) -> bool {
    // The program may take a part for more commands: `sbt 'test;…'`.
    let is_one = |text: &str| {
        let is_plain = |c: char| c.is_alphanumeric() || " -_.,:/*?#@=+[]~^%".contains(c);
        text.chars().all(is_plain)
    };
    match listed {
        "<script>" => is_check(text),
        "<goal>" => is_goal(text),
        "<package-tool>" => is_listed("package_tools", known_name(text)),
        "<number>" => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
        "<version>" => text.split('.').all(|part| fits_text("<number>", part)),
        // It starts with a part of the time, and has no blank.
        "+<time>" => text.strip_prefix("+%").is_some_and(|rest| {
            rest.starts_with(|c| "YFsHdmTDyjMSIekl".contains(c))
                && !rest.contains(char::is_whitespace)
        }),
        "<path>" => is_inner_path(text),
        // A modifier that expands the result once more.
        "<format>" => {
            let starts = ["#(", "{E:", "{E;", "{T:", "{T;", ";E:", ";E;", ";T:", ";T;"];
            !starts.iter().any(|start| text.contains(start)) && !text.ends_with(';')
        }
        "<check>" => !may_change(text),
        "<setting>" => !text.contains("emit_mode"),
        "+*" => text.starts_with('+'),
        _ => {
            text.replace(' ', "~") == listed
                || is_one(text)
                    && is_like(listed, &text.replace(' ', "~"))
                    && (listed.ends_with('*') || !text.contains(' '))
        }
    }
}

/// Returns whether a value is a path below the working directory, not a setting: `--config fix=true`.
fn is_inner_path(text: &str) -> bool {
    !text.starts_with(['/', '~', '-', '{', '['])
        && !text.contains("..")
        && !text.contains([':', '='])
}

/// Returns whether an address is one of HTTP, FTP or a file. `gopher`, `dict`, `telnet`, mail and others send the address, or the
/// input, as commands.
fn is_web_address(url: &str) -> bool {
    // The name of the host decides without a scheme.
    const HOSTS: &[&str] = &["dict.", "ldap.", "imap.", "smtp.", "pop3."];
    let url = url.to_ascii_lowercase();
    match url.split_once("://") {
        Some((scheme, _)) => is_listed("asking_schemes", scheme),
        None => !HOSTS.iter().any(|host| url.starts_with(host)),
    }
}

/// Returns whether a field of a query of GraphQL is known, and its document, if it is one, has no mutation.
fn is_field_of_query(word: &Word) -> bool {
    let (name, value) = word.shape().split_once('=').unwrap_or_default();
    let document = value.trim_start();
    let only_asks = word.text().is_some()
        && (document.starts_with('{') || document.starts_with("query"))
        && !["mutation", "subscription"]
            .iter()
            .any(|word| document.contains(word));
    // The name, and the file of a value, must be known.
    !name.is_empty()
        && !name.contains('\0')
        && !value.starts_with(['@', '\0'])
        && (name != "query" || only_asks)
}

/// Returns whether a mount certainly changes nothing on the host. Of a field that occurs twice, the last one counts.
fn is_read_only_mount(mount: &str) -> bool {
    // A field in quotes, and a source that is a socket or may contain one.
    const UNKNOWN: &[&str] = &[
        "\"", "..", "//", ".sock", "c=/,", "e=/,", "c=/run", "e=/run", "c=/var", "e=/var",
    ];
    let lower = mount.to_lowercase() + ",";
    if UNKNOWN.iter().any(|part| lower.contains(part)) {
        return false;
    }
    let fields: Vec<&str> = lower.split(',').map(str::trim).collect();
    let has_one = |field: &str, start: &str| {
        let mut alike = fields.iter().filter(|field| field.starts_with(start));
        alike.next() == Some(&field) && alike.next().is_none()
    };
    has_one("readonly", "r") || has_one("ro", "r") || has_one("type=tmpfs", "t")
}

/// Returns whether a goal of `make` tests or builds, or a setting is known.
fn is_goal(text: &str) -> bool {
    match text.split_once('=') {
        Some((name, value)) => is_number_of_make(name, value),
        None => is_check(text) || text.strip_suffix(".o").is_some(),
    }
}

/// Returns whether a setting of `make` is a number or a switch, which no rule runs or writes to: `JOBS=80`, `COVERAGE=true`.
fn is_number_of_make(name: &str, value: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let parts = [
        "SHELL", "MAKE", "FLAGS", "FILE", "OUT", "DIR", "PREFIX", "UPDATE", "FIX", "WRITE",
    ];
    let is_switch = matches!(value, "true" | "false" | "yes" | "no" | "on" | "off");
    name.bytes().all(is_upper)
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && !parts.iter().any(|part| name.contains(part))
        && (!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
            || is_switch && name.len() > 3)
}
