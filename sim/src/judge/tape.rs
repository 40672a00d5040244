//! What journals tell, in one order: that in which they were judged.
//!
//! A process's lines stand where the record was what it read, as early as they can: so nobody reads
//! what is not there yet, and what somebody has read is the newest at that moment.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::executor;
use handover_core::journal::JournalLine;
use handover_core::{Drain, Executor, Host, HostId, Input, Phase, Record, Revision, Seq, Work};

use super::line::Place;

/// All moments up to the first that is not as it should be.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape {
    pub(super) moments: Vec<Moment>,
    /// The record before the first of them.
    pub(super) from: Option<Record>,
    /// The record behind the last of them.
    pub(super) to: Option<Record>,
    /// A line about another record, if there is one.
    pub(super) foreign: Option<Place>,
    /// Lines of processes that have read nothing yet, by their boots: nothing says when that was.
    early: BTreeMap<(HostId, usize), Vec<Told>>,
    begun: BTreeSet<usize>,
    stopped: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Moment {
    Line(Box<Told>),
    Commit(Committed),
}

impl Moment {
    fn line(told: Told) -> Self {
        Self::Line(Box::new(told))
    }
}

/// A line, and where its host was after it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) process: usize,
    pub(super) place: Place,
    pub(super) line: JournalLine,
    pub(super) stand: Option<Stand>,
}

/// A committed change.
#[derive(Clone, Debug)]
pub(super) struct Committed {
    pub(super) place: Place,
    pub(super) inputs: Vec<Input>,
    pub(super) suspects: BTreeSet<HostId>,
}

/// What two hosts that went the same way have in common, whatever they are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stand {
    phase: Phase,
    seq: Seq,
    drain: Option<Drain>,
    works: Vec<(Work, executor::Stage, u32)>,
    queue: Vec<(u64, bool)>,
    slots_free: u32,
}

impl Stand {
    pub(super) fn of(host: &Host) -> Self {
        let candidate = host.candidate();
        let executor = host.executor();
        let nameless = |drain: &Drain| Drain { reason: "".into(), since: 0, ..drain.clone() };
        Self {
            phase: candidate.phase(),
            seq: candidate.seq(),
            drain: executor.active_drain().map(nameless),
            works: works(executor),
            queue: executor.queue().iter().map(|it| (it.place, it.parked)).collect(),
            slots_free: executor.slots_free(),
        }
    }
}

impl Stand {
    /// The same where a slot that is held is free: what a journal's host is once it has given back
    /// the one that was reserved for its asking.
    pub(super) fn with_one_more_free(self) -> Self {
        Self { slots_free: self.slots_free + 1, ..self }
    }
}

fn works(executor: &Executor) -> Vec<(Work, executor::Stage, u32)> {
    let current = executor.current();
    current.map(|(work, stage)| (work.clone(), stage, executor.attempts(work))).collect()
}

impl Tape {
    pub(super) fn begin(&mut self, record: &Record) {
        self.from.get_or_insert_with(|| record.clone());
        self.to.get_or_insert_with(|| record.clone());
    }

    pub(super) fn line(&mut self, told: Told, reads: Option<Revision>) {
        if self.stopped {
            return;
        }
        if reads.is_none() && !self.begun.contains(&told.process) {
            let of = (told.line.boot.clone(), told.process);
            self.early.entry(of).or_default().push(told);
            return;
        }
        if self.begun.insert(told.process) {
            self.begin_life(&told.line.boot);
        }
        self.moments.push(Moment::line(told));
    }

    /// Its early lines, and before them those of the earlier lives of its name that have read
    /// nothing at all: one life begins after another.
    fn begin_life(&mut self, boot: &HostId) {
        let is_before = |of: &HostId| of.name == boot.name && of <= boot;
        let early = std::mem::take(&mut self.early).into_iter();
        let (before, others): (BTreeMap<_, _>, _) = early.partition(|((of, _), _)| is_before(of));
        self.early = others;
        self.moments.extend(before.into_values().flatten().map(Moment::line));
    }

    pub(super) fn commit(&mut self, committed: Committed, after: &Record) {
        if !self.stopped {
            self.moments.push(Moment::Commit(committed));
            self.to = Some(after.clone());
        }
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Those who have never read anything come last.
    pub(super) fn finish(mut self) -> Self {
        let early = std::mem::take(&mut self.early).into_values().flatten();
        self.moments.extend(early.map(Moment::line));
        self
    }
}
