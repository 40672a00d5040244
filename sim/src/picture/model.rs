//! What a picture shows: lanes, rows, messages and bars. No geometry, no words of a format. JSON has
//! it as it stands here.

use serde::Serialize;

/// A run as a space-time diagram.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Diagram {
    pub(super) title: String,
    /// What the file says of it, and what a wrong protocol leaves out.
    pub(super) about: Vec<String>,
    /// Under which protocol, and how it ended.
    pub(super) verdict: String,
    #[serde(rename = "broken")]
    pub(super) is_broken: bool,
    pub(super) lanes: Vec<Lane>,
    /// In time; a row is a step, or a command that could not happen.
    pub(super) rows: Vec<Row>,
    #[serde(rename = "arrows")]
    pub(super) messages: Vec<Message>,
    pub(super) bars: Vec<Bar>,
    /// What stands below a row, across all lanes.
    #[serde(rename = "marks")]
    pub(super) notes: Vec<Note>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Lane {
    pub(super) name: String,
    /// In smaller letters below the name.
    pub(super) detail: String,
    pub(super) kind: LaneKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LaneKind {
    Store,
    Record,
    Host,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// The command, or the name of what follows one.
    pub(super) text: String,
    pub(super) kind: RowKind,
    /// A few words beside a lane.
    pub(super) label: Option<Label>,
    /// The lane on which something goes wrong.
    pub(super) fault: Option<usize>,
    /// What was committed, one after the other.
    pub(super) commits: Vec<Commit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RowKind {
    /// A command of the scenario.
    Command,
    /// It follows a command.
    Follows,
    /// The same, and there is nothing to be said of it.
    Quiet,
    /// A command whose event could not happen.
    Stale,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Label {
    pub(super) lane: usize,
    pub(super) text: String,
    pub(super) tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Tone {
    Plain,
    Good,
    Fault,
    /// A property is broken.
    Broken,
    /// The point of no return.
    Lost,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Commit {
    /// The arbiter's lane.
    pub(super) lane: usize,
    /// None: it lost the compare-and-set.
    pub(super) revision: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Message {
    pub(super) kind: MessageKind,
    /// The lane and the row at which it is sent.
    pub(super) sent: (usize, usize),
    /// The lane that it is for.
    pub(super) to: usize,
    pub(super) end: MessageEnd,
    /// What it says, in a word or two.
    pub(super) says: String,
    /// It brought about nothing.
    #[serde(rename = "quiet")]
    pub(super) is_quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MessageKind {
    Statement,
    View,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MessageEnd {
    /// At this row.
    Arrives(usize),
    /// At this row.
    Lost(usize),
    /// It is still on its way at the end.
    Open,
}

/// A stretch of time on a lane.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Bar {
    pub(super) kind: BarKind,
    pub(super) lane: usize,
    /// Whose it is: the host and the grant of a hold, the build that runs or has the slot. May be
    /// empty.
    pub(super) what: String,
    /// From the middle of this row to that of another one; none: to the end.
    pub(super) from: usize,
    pub(super) to: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BarKind {
    /// The job is offered to a host.
    Offer,
    /// A host has started the job.
    Hold,
    /// A build runs.
    Build,
    /// A build, or the candidate before it, has a slot.
    Slot,
    /// A host drains.
    Drain,
    /// A host is slow, or reads old views.
    Slow,
    /// A host is paused, or a link or an arbiter is stalled or cut.
    Stalled,
    /// No process lives here.
    Dead,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Note {
    /// The row below which it stands.
    pub(super) row: usize,
    pub(super) text: String,
    pub(super) tone: Tone,
}

impl Row {
    pub(super) fn is_quiet(&self) -> bool {
        self.kind == RowKind::Quiet
    }
}

impl Diagram {
    pub(super) fn is_used(&self, kind: BarKind) -> bool {
        self.bars.iter().any(|bar| bar.kind == kind)
    }
}
