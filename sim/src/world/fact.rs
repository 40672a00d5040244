//! What an event brought about: the trace is made of these, and the checks read them.

use std::sync::Arc;

use handover_core::{
    Effect, Gate, HostId, Input, Phase, Record, Refusal, Remark, Revision, Seq, Statement, View,
    Work,
};

use super::{ArbiterIndex, StepKind, Who};

/// One consequence of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named for what they are")]
pub enum Fact {
    /// A host changed its word.
    Said { who: Who, statement: Arc<Statement> },
    /// A message did not get onto its link, or off it.
    Lost { who: Who, what: Lost },
    /// A host's candidate is in something else now.
    Moved { who: Who, from: Phase, to: Phase },
    /// A host's gate changed.
    Gate { who: Who, gate: Gate },
    /// An arbiter refused an input.
    Refused { arbiter: ArbiterIndex, input: Arc<Input>, refusal: Refusal },
    /// An arbiter committed what an input changed.
    Committed {
        arbiter: ArbiterIndex,
        /// None: it settled a record after a restart.
        input: Option<Arc<Input>>,
        remark: Option<Remark>,
        before: Arc<Record>,
        after: Arc<Record>,
    },
    /// A commit lost the compare-and-set; the arbiter catches up and folds again.
    Conflicted { arbiter: ArbiterIndex, found: Revision },
    /// A commit was done and its answer lost; the arbiter catches up and folds again.
    AnswerLost { arbiter: ArbiterIndex },
    /// An arbiter put views on the links.
    Published { arbiter: ArbiterIndex, revision: Revision },
    /// An arbiter restarted from the record.
    Restarted { arbiter: ArbiterIndex },
    /// A host read a view; what it refused changed nothing.
    Read { who: Who, view: Arc<View>, refused: Option<&'static str> },
    /// The core handed an order to the driver.
    Ordered { who: Who, effect: Box<Effect> },
    /// The driver carried an order out.
    Performed {
        who: Who,
        kind: StepKind,
        work: Option<Work>,
        /// What was written, where something was.
        wrote: Option<&'static str>,
    },
    /// A wrong protocol has said that the order is carried out, and puts it off.
    PutOff { who: Who },
    /// A build's process runs.
    BuildRuns { who: Who, work: Work },
    /// A build's process ended by itself.
    BuildEnded { who: Who, work: Work, clean: bool },
    /// A build's process was stopped.
    BuildStopped { who: Who, work: Work },
    /// The host refused a request of its user.
    Declined { who: Who, why: String },
    /// A process is up.
    Booted { who: Who, id: HostId },
    /// A process came back under a new incarnation.
    CameBack { who: Who, before: HostId, id: HostId },
    /// A process died with all that it had in memory.
    Crashed { who: Who },
    /// A process ended because it was drained.
    Exited { who: Who },
    /// A host raised an alarm.
    Alarm { who: Who, text: String },
}

impl Fact {
    /// The refusal that it is, in one word.
    #[must_use]
    pub fn refusal(&self) -> Option<&'static str> {
        if let Self::Refused { refusal, .. } = self {
            Some(refusal.name())
        } else if let Self::Read { refused, .. } = self {
            *refused
        } else if let Self::Declined { .. } = self {
            Some("Declined")
        } else {
            None
        }
    }

    /// A host has read what it had to read, no more.
    pub(crate) fn is_only_news(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Ordered { .. }) || self.is_publication()
    }

    pub(crate) fn is_publication(&self) -> bool {
        matches!(self, Self::Published { .. })
    }

    /// The remark with which an input was accepted, in one word.
    #[must_use]
    pub fn remark(&self) -> Option<&'static str> {
        let Self::Committed { remark, .. } = self else {
            return None;
        };
        remark.as_ref().map(Remark::name)
    }
}

/// What was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// A statement, by its number.
    Statement(Seq),
    /// A view, by its revision.
    View(Revision),
    /// A statement that a wrong protocol never sends.
    Unsaid(Seq),
}
