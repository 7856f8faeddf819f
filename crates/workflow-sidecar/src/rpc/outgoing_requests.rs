//! Requests to the host that it has not answered yet.

use std::collections::HashMap;

use jsonrpsee::types::Id;

/// The open requests, each with what it is about.
pub(crate) struct OutgoingRequests<T> {
    last: u64,
    open: HashMap<u64, T>,
}

impl<T> OutgoingRequests<T> {
    /// Adds a request and gives its id: `s1`, `s2`, and so on.
    pub(crate) fn add(&mut self, subject: T) -> Id<'static> {
        self.last += 1;
        self.open.insert(self.last, subject);
        Id::Str(format!("s{}", self.last).into())
    }

    /// Takes the request with this id. A second, late or unknown response belongs to no request.
    pub(crate) fn take(&mut self, id: &Id<'_>) -> Option<T> {
        self.open.remove(&number(id)?)
    }

    /// Finds the id of an open request by its subject.
    pub(crate) fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<String> {
        let mut open = self.open.iter();
        let (number, _) = open.find(|(_, subject)| is_it(subject))?;
        Some(format!("s{number}"))
    }

    /// Takes a request by its subject, and gives its id.
    pub(crate) fn take_where(&mut self, is_it: impl Fn(&T) -> bool) -> Option<String> {
        let id = self.find(is_it)?;
        self.take(&Id::Str(id.as_str().into()));
        Some(id)
    }

    /// Removes every other request: its response will be ignored.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.open.retain(|_, subject| keep(subject));
    }
}

impl<T> Default for OutgoingRequests<T> {
    fn default() -> Self {
        Self {
            last: 0,
            open: HashMap::new(),
        }
    }
}

/// Tells whether an id looks like one of the sidecar's requests.
pub(super) fn is_outgoing(id: &Id<'_>) -> bool {
    number(id).is_some()
}

fn number(id: &Id<'_>) -> Option<u64> {
    let digits = id.as_str()?.strip_prefix('s')?;
    let is_canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    is_canonical.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id<'_> {
        Id::Str(text.into())
    }

    #[test]
    fn a_request_is_answered_once() {
        let mut requests = OutgoingRequests::default();
        assert_eq!(requests.add("a"), id("s1"));
        assert_eq!(requests.add("b"), id("s2"));
        assert_eq!(requests.take(&id("s2")), Some("b"));
        assert_eq!(requests.take(&id("s2")), None);
        for unknown in [id("s3"), id("s01"), id("s+1"), id("s"), Id::Number(1)] {
            assert_eq!(requests.take(&unknown), None);
        }
        assert_eq!(requests.take(&id("s1")), Some("a"));
    }

    #[test]
    fn a_request_that_is_not_retained_has_no_response() {
        let mut requests = OutgoingRequests::default();
        let (first, second) = (requests.add("a"), requests.add("b"));
        requests.retain(|subject| *subject != "a");
        assert_eq!(requests.take(&first), None);
        assert_eq!(requests.take(&second), Some("b"));
    }
}
