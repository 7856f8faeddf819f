//! The rows of one topic in the making.

use super::row::{Origin, Row, Topic, Value};

/// Rows of a topic.
pub(super) struct Rows {
    topic: Topic,
    rows: Vec<Row>,
}

impl Rows {
    pub(super) fn of(topic: Topic) -> Self {
        let rows = Vec::new();
        Self { topic, rows }
    }

    /// Adds a value. Without an origin it follows from the others.
    pub(super) fn add(
        &mut self,
        key: &'static str,
        value: Value,
        origin: impl Into<Option<Origin>>,
    ) {
        let (topic, origin) = (self.topic, origin.into());
        self.rows.push(Row {
            topic,
            key,
            value,
            origin,
        });
    }

    /// Adds a short text.
    pub(super) fn label(
        &mut self,
        key: &'static str,
        text: impl Into<String>,
        origin: impl Into<Option<Origin>>,
    ) {
        self.add(key, Value::Label(text.into()), origin);
    }

    /// Adds a text as the agent or the user gets it.
    pub(super) fn text(
        &mut self,
        key: &'static str,
        text: impl Into<String>,
        origin: impl Into<Option<Origin>>,
    ) {
        self.add(key, Value::Text(text.into()), origin);
    }

    pub(super) fn finish(self) -> Vec<Row> {
        self.rows
    }
}
