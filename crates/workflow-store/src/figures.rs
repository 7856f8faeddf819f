//! Figures: what happened, added up by day, host and workflow. They are written with the change that they are about, so that
//! one that is not stored counts nothing, and stay when sessions are removed, up to the days that are pruned.

use serde::Deserialize;
use serde_json::json;

use crate::counts::{Counts, DAY};
use crate::database::Rows;
use crate::store::{Result, Store};

impl Counts {
    /// Adds them to the figures of a day. One statement in the order of the names: processes that count the same at once wait for
    /// each other, and never in a circle.
    pub(crate) fn write(&self, rows: &mut dyn Rows, host: &str, now: u64) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut values = vec![json!(now / DAY), json!(host)];
        let added = self.0.iter().map(|([workflow, kind, name], sums)| {
            let at = values.len() + 1;
            values.extend([workflow, kind, name].map(|text| json!(text)));
            values.extend(sums.map(|sum| json!(sum)));
            let [kind, name, number, total] = [1, 2, 3, 4].map(|further| at + further);
            format!("(?1, ?2, ?{at}, ?{kind}, ?{name}, ?{number}, ?{total})")
        });
        let added: Vec<String> = added.collect();
        let sql = format!(
            "INSERT INTO figures (day, host, workflow, kind, name, number, total) VALUES {}
             ON CONFLICT (day, host, workflow, kind, name, owner)
             DO UPDATE SET number = figures.number + excluded.number, total = figures.total + excluded.total",
            added.join(", ")
        );
        rows.execute(&sql, &values.into()).map(drop)
    }
}

/// The sums of a workflow, a kind and a name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Figure {
    /// The first day of them, in days since 1970.
    pub day: u64,
    /// The workflow; empty without a run.
    pub workflow: String,
    /// What was counted.
    pub kind: String,
    /// What of that.
    pub name: String,
    /// How often.
    pub number: u64,
    /// The sum.
    pub total: u64,
}

impl Store {
    /// Lists the figures between two times, those of one kind by the week, which begins on Monday. A login writes what it likes
    /// of its own, so that numbers that cannot be are left out.
    pub fn figures(&self, since: u64, until: u64, by_week: &str) -> Result<Vec<Figure>> {
        // What is summed up has another type in PostgreSQL, which may be too large for a column.
        let most = i64::MAX;
        let sum = |of| {
            format!(
                "CAST(CASE WHEN sum({of}) > {most} THEN {most} ELSE sum({of}) END AS bigint) AS {of}"
            )
        };
        let figures = format!(
            "SELECT min(day) AS day, workflow, kind, name, {}, {}
             FROM figures WHERE day BETWEEN ?1 AND ?2 AND number >= 0 AND total >= 0
             GROUP BY workflow, kind, name, CASE kind WHEN ?3 THEN (day + 3) / 7 ELSE 0 END",
            sum("number"),
            sum("total")
        );
        self.select(&figures, &json!([since / DAY, until / DAY, by_week]))
    }
}
