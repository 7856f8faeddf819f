//! The entries of the session's branch.
//!
//! Only the sidecar's entries are kept, in order, their data as text. The others are skipped one by one, so that a
//! branch of a hundred megabytes costs no memory beyond its line.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;
use workflow_core::Text;
use workflow_core::event::Entry;
use workflow_core::run::entry_type;

use crate::read::lenient;

/// Our entries on the session's branch, oldest first.
#[derive(Debug, Default)]
pub struct Branch<'a> {
    /// The custom entries of types that the engine knows.
    pub entries: Vec<Entry<'a>>,
    /// The number of elements that are no entries: not an object, or without a type.
    pub malformed: usize,
}

impl<'de: 'a, 'a> Deserialize<'de> for Branch<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut branch = Branch::default();
        for element in Vec::<&'de RawValue>::deserialize(deserializer)? {
            branch.add(element);
        }
        Ok(branch)
    }
}

/// The members of an entry that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "lenient::text")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    custom_type: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::raw")]
    data: Option<&'a RawValue>,
}

impl<'a> Branch<'a> {
    /// Adds an element of the branch if it is one of the sidecar's entries, and counts it if it is not an entry.
    fn add(&mut self, element: &'a RawValue) {
        let Some(Members {
            kind,
            custom_type,
            data,
        }) = lenient::object(element)
        else {
            self.malformed += 1;
            return;
        };
        let mut known = entry_type::ALL.into_iter().map(|(known, _)| known);
        let known = known.find(|known| Some(*known) == custom_type.as_deref());
        match (kind.as_deref(), known) {
            // A host that stores the action's members without pi's `type` means the same.
            (None | Some("custom"), Some(custom_type)) => {
                self.entries.push(Entry { custom_type, data });
            }
            (Some("custom"), None) if custom_type.is_some() => {}
            (None | Some("custom"), None) => self.malformed += 1,
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(branch: &str) -> Branch<'_> {
        serde_json::from_str(branch).expect("a branch")
    }

    #[test]
    fn our_entries_are_kept_in_order_with_their_data_as_text() {
        let branch = read(
            r#"[
                {"type":"message","id":"1","message":{"role":"user","content":"hi"}},
                {"type":"custom","customType":"workflow:state","data":{"active": true,"n":1e3},"id":"2"},
                {"data":[1],"customType":"workflow:run","type":"custom"},
                {"type":"custom","customType":"other:state","data":{}},
                {"type":"custom_message","customType":"workflow:context","content":"x"},
                {"type":"custom","customType":"work\u0066low:state","data":null},
                {"type":"custom","customType":"workflow:gate"},
                {"type":"custom","customType":"workflow:later"},
                {"customType":"workflow:run","data":7}
            ]"#,
        );
        let kept: Vec<_> = branch
            .entries
            .iter()
            .map(|e| (e.custom_type, e.data.map(RawValue::get)))
            .collect();
        let expected = [
            ("workflow:state", Some(r#"{"active": true,"n":1e3}"#)),
            ("workflow:run", Some("[1]")),
            ("workflow:state", Some("null")),
            ("workflow:gate", None),
            ("workflow:run", Some("7")),
        ];
        assert_eq!(kept, expected);
        assert_eq!(branch.malformed, 0);
    }

    #[test]
    fn elements_that_are_not_entries_are_skipped_and_counted() {
        let branch = read(
            r#"[null, 1, -1, 0.5, true, "workflow:state", ["custom"], {}, {"type":7}, {"type":"custom"},
                {"type":"custom","customType":["workflow:state"],"data":{}},
                {"type":"custom","customType":"workflow:state","data":{}}]"#,
        );
        assert_eq!(branch.entries.len(), 1);
        assert_eq!(branch.malformed, 11);
    }

    #[test]
    fn a_branch_that_is_not_an_array_is_refused() {
        for branch in ["{}", "7", r#""workflow:state""#] {
            assert!(
                serde_json::from_str::<Branch<'_>>(branch).is_err(),
                "{branch}"
            );
        }
    }
}
