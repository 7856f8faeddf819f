//! Names that resemble each other.

use crate::definition::syntax::TYPOGRAPHIC_QUOTES;
use crate::text::join;

/// The edit distance of two names, if it is not more than allowed. Lengths alone rule out most.
pub(super) fn distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|&distance| distance <= allowed)
}

/// A key without the differences of spellings: `white-list`, `white_list` and `whiteList` are one.
pub(super) fn plain(key: &str) -> String {
    key.trim_matches(TYPOGRAPHIC_QUOTES)
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Longer names are not misspellings of ours, and comparing them takes time.
pub(super) const MAX_COMPARED_LENGTH: usize = 40;

/// The known name that an unknown one most likely means.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > MAX_COMPARED_LENGTH {
        return None;
    }
    let plain_name = plain(name);
    let near = known.into_iter().filter_map(|known| {
        let plain_known = plain(known);
        let longer = plain_known.len().max(plain_name.len());
        // Of one or two letters, one that is another makes another name.
        let allowed = (known.len() / 3).max(usize::from(longer > 2));
        let distance = distance(&plain_name, &plain_known, allowed)?;
        Some((distance, known))
    });
    Some(near.min_by_key(|&(distance, _)| distance)?.1)
}

/// The help for an unknown name: the known one that it most likely means, or all of them, or `nothing` where there are none.
pub(crate) fn meant_or<'k>(
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
    nothing: &str,
) -> String {
    let mut is_known = known.clone();
    match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_known.next().is_none() => nothing.to_owned(),
        None => format!("known here: {}", listed(known)),
    }
}

/// Names as a list for a message.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    join(names.into_iter().map(|name| format!("`{name}`")), ", ")
}
