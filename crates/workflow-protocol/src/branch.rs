//! The session's branch as the host ships it.
//!
//! Owns what is kept of it: our own entries, in order, their data still as text. Everything else is passed over in one
//! walk, so that a branch of a hundred megabytes costs no memory beyond its line. Must not know what the entries mean.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::Text;
use crate::lenient::{Lenient, MaybeText, Reader, described_as_array};

/// What the types of our own entries start with.
const OURS: &str = "workflow:";

/// Our entries on the session's branch, oldest first.
#[derive(Debug, Default)]
pub struct Branch<'a> {
    /// The custom entries whose type starts with `workflow:`.
    pub entries: Vec<BranchEntry<'a>>,
    /// How many entries were no entries at all: not an object, or without a type.
    pub malformed: usize,
}

/// One of our entries on the branch.
#[derive(Debug)]
pub struct BranchEntry<'a> {
    /// Which kind of entry it is, for example `workflow:state`.
    pub custom_type: Text<'a>,
    /// What was stored, as JSON text; `None` if the entry has no data.
    pub data: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Branch<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries)
    }
}

/// Walks the entries once.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Branch<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of session entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Branch<'de>, A::Error> {
        let mut branch = Branch::default();
        while let Some(entry) = array.next_element_seed(Lenient(Entry))? {
            match entry {
                Found::Ours(entry) => branch.entries.push(entry),
                Found::Foreign => {}
                Found::Malformed => branch.malformed += 1,
            }
        }
        Ok(branch)
    }
}

/// What one element of the branch turned out to be.
pub(crate) enum Found<'a> {
    Ours(BranchEntry<'a>),
    Foreign,
    Malformed,
}

/// Reads one element of the branch.
pub(crate) struct Entry;

/// The fields of an entry that matter here.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Type,
    CustomType,
    Data,
    #[serde(other)]
    Other,
}

impl<'de> Reader<'de> for Entry {
    type Value = Found<'de>;

    fn nothing(self) -> Found<'de> {
        Found::Malformed
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Found<'de>, A::Error> {
        let (mut kind, mut custom_type, mut data) = (None, None, None);
        while let Some(field) = object.next_key::<Field>()? {
            match field {
                Field::Type => kind = object.next_value::<MaybeText<'de>>()?.0,
                Field::CustomType => custom_type = object.next_value::<MaybeText<'de>>()?.0,
                Field::Data => data = Some(object.next_value::<&'de RawValue>()?),
                Field::Other => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(match (kind.as_deref(), custom_type) {
            // A host that stores what an action says, without pi's `type`, means the same.
            (None | Some("custom"), Some(custom_type)) if custom_type.starts_with(OURS) => {
                Found::Ours(BranchEntry { custom_type, data })
            }
            (None, _) | (Some("custom"), None) => Found::Malformed,
            (Some(_), _) => Found::Foreign,
        })
    }
}

described_as_array!(Branch);

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
                {"type":"custom","customType":"workflow:later"},
                {"customType":"workflow:run","data":7}
            ]"#,
        );
        let kept: Vec<_> = branch
            .entries
            .iter()
            .map(|e| (e.custom_type.as_str(), e.data.map(RawValue::get)))
            .collect();
        let expected = [
            ("workflow:state", Some(r#"{"active": true,"n":1e3}"#)),
            ("workflow:run", Some("[1]")),
            ("workflow:state", Some("null")),
            ("workflow:later", None),
            ("workflow:run", Some("7")),
        ];
        assert_eq!(kept, expected);
        assert_eq!(branch.malformed, 0);
    }

    #[test]
    fn what_is_no_entry_is_skipped_and_counted() {
        let branch = read(
            r#"[null, 1, -1, 0.5, true, "workflow:state", ["custom"], {}, {"type":7}, {"type":"custom"},
                {"type":"custom","customType":["workflow:state"],"data":{}},
                {"type":"custom","customType":"workflow:state","data":{}}]"#,
        );
        assert_eq!(branch.entries.len(), 1);
        assert_eq!(branch.malformed, 11);
    }

    #[test]
    fn a_branch_that_is_no_array_is_refused() {
        for branch in ["{}", "7", r#""workflow:state""#] {
            assert!(
                serde_json::from_str::<Branch<'_>>(branch).is_err(),
                "{branch}"
            );
        }
    }
}
