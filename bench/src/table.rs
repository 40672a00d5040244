//! The table that is printed.

use std::fmt;

use crate::measure::Costs;

/// What each tool can do with the world at all.
const TOOLS: &str = "\
| what it can do at all | handover | stateright | shuttle | madsim |
|---|---|---|---|---|
| go through each order once | yes | yes | no | no |
| decide that convergence stays within reach (`NoWedge`) | yes | no | no | no |
| walk a large rollout by a seed, with faults | yes | no | no | yes |
| replay what it found from a readable file | yes | no | no | no |
| reduce a failure to its fewest departures | yes | no | no | no |
";

/// Rows of what was measured, each with what is demanded of it.
#[derive(Default)]
pub struct Table {
    rows: Vec<[String; 3]>,
}

impl Table {
    /// Without any row.
    pub fn new() -> Self {
        Self::default()
    }

    /// A row.
    pub fn row(&mut self, what: &str, floor: &str, measured: &str) {
        self.rows.push([what, floor, measured].map(str::to_owned));
    }

    /// A row of items a second, with the slowest and the fastest turn.
    pub fn rate(&mut self, what: &str, floor: &str, costs: &Costs) {
        let [low, middle, high] = costs.rates().map(short);
        self.row(what, floor, &format!("{middle} ({low} to {high})"));
    }

    /// A row of nanoseconds an item.
    pub fn cost(&mut self, what: &str, floor: &str, costs: &Costs) {
        let [low, middle, high] = costs.spread().map(nanos);
        self.row(what, floor, &format!("{middle} ({low} to {high})"));
    }
}

/// Nanoseconds, as people read them.
pub fn nanos(nanos: f64) -> String {
    if nanos >= 10_000.0 { format!("{:.0} us", nanos / 1e3) } else { format!("{nanos:.0} ns") }
}

fn short(number: f64) -> String {
    if number >= 1e6 {
        format!("{:.2} M", number / 1e6)
    } else if number >= 1e3 {
        format!("{:.0} k", number / 1e3)
    } else {
        format!("{number:.0}")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | at least | measured |\n|---|---|---|")?;
        self.rows.iter().try_for_each(|[what, floor, measured]| {
            writeln!(f, "| {what} | {floor} | {measured} |")
        })?;
        write!(f, "\n{TOOLS}")
    }
}
