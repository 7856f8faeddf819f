//! Files of the language as plain JSON, as a schema sees them.

use serde_json::{Map, Value};

use crate::definition::model::Limits;
use crate::definition::syntax::{Kind, Source, TreeLimits, frontmatter, json5, yaml};

/// The content of a file as JSON: of a Markdown file its frontmatter, of a duplicate key
/// the first. `None` is a text with a syntax error.
pub fn document(file_name: &str, bytes: &[u8]) -> Option<Value> {
    let source = Source::new(file_name, bytes.to_vec());
    let limits = TreeLimits::from(&Limits::default());
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension);
    let node = match extension {
        Some("yaml") => yaml::parse(source.text(), 0, limits).ok()?,
        Some("json5") => json5::parse(source.text(), limits).ok()?,
        _ => {
            let parts = frontmatter::split(source.text()).ok()?;
            let node = yaml::parse(parts.yaml, parts.yaml_start, limits).ok()?;
            if node.kind == Kind::Null {
                return Some(Value::Object(Map::new()));
            }
            node
        }
    };
    Some(node.value())
}
