//! Regular expressions in the notation of other languages.

use super::corrected;
use crate::diagnostic::Finding;

/// `/x/g`, as JavaScript and sed write it: the slashes and the flags would be characters to match.
pub(super) fn pattern(pattern: &str) -> Option<Finding> {
    let (body, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    let is_one = !body.is_empty() && !body.replace("\\/", "").contains('/');
    let are_flags =
        (1..=4).contains(&flags.len()) && flags.chars().all(|flag| "dgimsuvy".contains(flag));
    // Nothing comes before the start of a text, or after its end.
    let is_anchored = flags.is_empty() && (body.starts_with('^') || body.ends_with('$'));
    if !is_one || !are_flags && !is_anchored {
        return None;
    }
    let ignores_case = if flags.contains('i') { "(?i)" } else { "" };
    let to = format!("{ignores_case}{}", body.replace("\\/", "/"));
    let why = "the slashes around it are characters to match";
    Some(corrected(why, pattern, &to))
}
