//! The protocols that a world can follow: the right one, and wrong ones.
//!
//! The right one lives in the core, alone, and [`Current`] only passes it through. A wrong one bends
//! the production machines at one seam, outside of the core, so that what is shown to fail is the
//! code that ships less one rule.

mod drain_after_release;
mod guarded_report;
mod silent_on_approval;
mod silent_stand_down;

use std::collections::BTreeSet;
use std::fmt;

use handover_core::{Change, ExecutorEffect, HostId, Input, Record, Refusal, Statement, View};

use crate::check::Property;
use crate::world::Process;

/// What the actors of a world follow. Each method is a seam; as given, it is the right protocol.
pub trait Protocol: fmt::Debug + Sync {
    /// Its name in a header.
    fn name(&self) -> &'static str;

    /// What it leaves out, in a line.
    fn summary(&self) -> &'static str;

    /// The property that it breaks first; none for the right one.
    fn breaks(&self) -> Option<Property>;

    /// A statement on its way out of a host.
    fn say(&self, saying: &Saying<'_>) -> Said {
        Said::Sent(saying.statement.clone())
    }

    /// A view on its way into a host.
    fn hear(&self, view: &View, _process: &Process) -> View {
        view.clone()
    }

    /// An input at an arbiter.
    ///
    /// # Errors
    /// As [`Record::fold`].
    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        record.fold(input, suspects)
    }

    /// An order of the executor that was just carried out.
    fn performed(&self, _process: &mut Process, _order: &ExecutorEffect) {}

    /// An order that was put off in [`performed`](Self::performed), and is carried out now.
    fn perform_late(&self, _process: &mut Process) {}
}

/// A statement, and the host that says it.
#[derive(Clone, Copy, Debug)]
pub struct Saying<'a> {
    /// What the core says.
    pub statement: &'a Statement,
    /// Who says it.
    pub process: &'a Process,
}

/// What becomes of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is sent, perhaps bent.
    Sent(Statement),
    /// It is never sent.
    Kept {
        /// The host takes its own silence for acknowledged.
        acknowledged: bool,
    },
}

/// The right protocol: the core as it ships.
#[derive(Debug)]
pub struct Current;

impl Protocol for Current {
    fn name(&self) -> &'static str {
        "current"
    }

    fn summary(&self) -> &'static str {
        "the core as it ships"
    }

    fn breaks(&self) -> Option<Property> {
        None
    }
}

/// All protocols, the right one first.
pub const PROTOCOLS: &[&dyn Protocol] = &[
    &Current,
    &silent_stand_down::SilentStandDown,
    &silent_on_approval::SilentOnApproval,
    &guarded_report::GuardedReport,
    &drain_after_release::DrainAfterRelease,
];

/// The names of all wrong protocols.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROTOCOLS.iter().skip(1).map(|protocol| protocol.name()).collect()
}

/// The protocol of this name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.name() == name)
}
