//! What a production shell notes, so that what happened can be replayed through these machines.
//!
//! A journal is a text of one [`JournalLine`] in JSON a line, in the order in which one process did
//! things. To replay the host: make it as [`JournalEntry::Boot`] says; give it each
//! [`JournalEntry::Input`] and each [`JournalEntry::Acknowledged`] in order, and after each poll
//! its effects until `None`. To replay the record: apply each proposed change that was committed,
//! in the order of revisions, and see that its inputs fold to it.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::{
    Acknowledgement, BuildId, Change, Chunk, DrainRequest, Effect, End, GrantId, Host, HostId,
    Incarnation, Input, Ledger, Priority, Reason, RecordId, RecordParts, Refusal, Revision, Seq,
    Settings, SignOff, Unreadable, Version, View, Work,
};

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalLine {
    /// The format of the line; see [`JournalLine::FORMAT`].
    pub format: u32,
    /// The process: the identity that it booted under, over all its lives.
    pub boot: HostId,
    /// The record that it follows; none before it has read one.
    pub record: Option<RecordId>,
    /// Counts the lines of one process from 0, over all its files: a gap is a lost line.
    pub number: u64,
    /// Who writes; the identity that it has after what the line tells.
    pub host: HostId,
    /// The number of its newest word, after what the line tells.
    pub seq: Seq,
    /// The revision of the newest view that it has read, after what the line tells; 0 before any.
    pub revision: Revision,
    /// What happened.
    pub entry: JournalEntry,
}

impl JournalLine {
    /// The format that this version reads and writes. Another one is refused, not guessed: lines of
    /// the format 1 did not say of which process and record they are.
    pub const FORMAT: u32 = 2;

    /// The record that the entry itself tells of, where it does; that of the line, where no line
    /// was forged.
    #[must_use]
    pub fn record_of_entry(&self) -> Option<RecordId> {
        match &self.entry {
            JournalEntry::Input(HostInput::View(view)) => Some(view.record),
            JournalEntry::Loaded(parts) => Some(parts.id),
            JournalEntry::Proposed { change, .. } => Some(change.record),
            JournalEntry::Boot { .. }
            | JournalEntry::Input(_)
            | JournalEntry::Acknowledged { .. }
            | JournalEntry::Answered { .. }
            | JournalEntry::Refused { .. }
            | JournalEntry::Lost { .. }
            | JournalEntry::Ended => None,
        }
    }
}

/// What a line tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub enum JournalEntry {
    /// The process has made its host, and nothing has happened yet.
    Boot {
        /// What it runs.
        version: Version,
        /// How early it wants to be elected.
        priority: Priority,
        /// Of its executor.
        settings: Settings,
        /// The book that the executor recovered from; `None` where there was none.
        ledger: Option<Ledger>,
    },
    /// The host was given an input.
    Input(HostInput),
    /// The host was told how an effect went.
    Acknowledged {
        /// The effect.
        effect: Effect,
        /// How it went.
        outcome: Acknowledgement,
    },
    /// The whole record was read: at a boot, and where the changes since were not to be had.
    Loaded(Box<RecordParts>),
    /// A change was folded, and is on its way to the store. Written before the commit, since a
    /// crash must not leave a committed change without a cause.
    Proposed {
        /// Counts the proposals of one process from 0.
        proposal: u64,
        /// The change.
        change: Change,
        /// What was folded into it, in this order. Empty: only settled.
        inputs: Vec<Input>,
        /// Whom membership suspected at that moment.
        suspects: BTreeSet<HostId>,
    },
    /// The store's answer to a proposal. After an unknown one a second may follow: the change was
    /// read in its place, so it is committed.
    Answered {
        /// The proposal.
        proposal: u64,
        /// The revision that its change was to make.
        revision: Revision,
        /// The answer.
        answer: CommitAnswer,
    },
    /// An input was refused by the newest record that the process knew.
    Refused {
        /// The input.
        input: Input,
        /// Why.
        refusal: Refusal,
        /// On which record.
        on: Revision,
    },
    /// Lines before this one could not be written: their disk was lost for a while.
    Lost {
        /// How many.
        lines: u64,
    },
    /// The process ends its host in order.
    Ended,
}

/// What a store answers to a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub enum CommitAnswer {
    /// It is durable.
    Committed,
    /// It is not: the record is another, or is at another revision.
    Conflict {
        /// The revision that the store has.
        found: Revision,
    },
    /// It is, or it is not. Never taken for either (Dr3).
    Unknown {
        /// What went wrong.
        why: Reason,
    },
}

/// An input of a [`Host`], as its method of this name takes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub enum HostInput {
    /// [`Host::ask`].
    Ask,
    /// [`Host::watch`].
    Watch,
    /// [`Host::stand_down`].
    StandDown,
    /// [`Host::stand_down_after`].
    StandDownAfter,
    /// [`Host::submit`].
    Submit {
        /// The build.
        build: BuildId,
        /// What waits for it.
        parent: Option<BuildId>,
        /// What its success declares.
        drains: Option<DrainRequest>,
    },
    /// [`Host::cancel`].
    Cancel {
        /// The build.
        build: BuildId,
    },
    /// [`Host::drain`].
    Drain(DrainRequest),
    /// [`Host::undrain`].
    Undrain,
    /// [`Host::deadline`].
    Deadline,
    /// [`Host::interrupt`].
    Interrupt,
    /// [`Host::handle_view`].
    View(Box<View>),
    /// [`Host::handle_unreadable`].
    Unreadable(Unreadable),
    /// [`Host::handle_plan`].
    Plan {
        /// The offer.
        grant: GrantId,
        /// The chunks.
        plan: BTreeSet<Chunk>,
    },
    /// [`Host::handle_no_plan`].
    NoPlan {
        /// The offer.
        grant: GrantId,
    },
    /// [`Host::handle_sign_off`].
    SignOff {
        /// The build.
        grant: GrantId,
        /// The chunk.
        chunk: Chunk,
        /// How it is.
        sign_off: SignOff,
    },
    /// [`Host::handle_build_end`].
    BuildEnd {
        /// The build.
        work: Work,
        /// How it ended.
        end: End,
    },
    /// [`Host::handle_build_stop`].
    BuildStop {
        /// The build.
        work: Work,
    },
    /// [`Host::come_back`].
    ComeBack {
        /// The new incarnation.
        incarnation: Incarnation,
    },
}

impl Host {
    /// Gives the host an input out of a journal; false where it was refused.
    pub fn replay(&mut self, input: HostInput) -> bool {
        match input {
            HostInput::Ask => self.ask(),
            HostInput::Watch => self.watch(),
            HostInput::StandDown => self.stand_down(),
            HostInput::StandDownAfter => self.stand_down_after(),
            HostInput::Unreadable(why) => self.handle_unreadable(why),
            HostInput::Submit { build, parent, drains } => {
                return self.submit(build, parent, drains).is_ok();
            }
            HostInput::Cancel { build } => return self.cancel(&build).is_ok(),
            HostInput::Drain(request) => return self.drain(request).is_ok(),
            HostInput::Undrain => return self.undrain().is_ok(),
            HostInput::Deadline => return self.deadline().is_ok(),
            HostInput::Interrupt => return self.interrupt().is_ok(),
            HostInput::View(view) => return self.handle_view(*view).is_ok(),
            HostInput::Plan { grant, plan } => return self.handle_plan(grant, plan).is_ok(),
            HostInput::NoPlan { grant } => return self.handle_no_plan(grant).is_ok(),
            HostInput::SignOff { grant, chunk, sign_off } => {
                return self.handle_sign_off(grant, chunk, sign_off).is_ok();
            }
            HostInput::BuildEnd { work, end } => return self.handle_build_end(&work, end).is_ok(),
            HostInput::BuildStop { work } => return self.handle_build_stop(&work).is_ok(),
            HostInput::ComeBack { incarnation } => return self.come_back(incarnation).is_ok(),
        }
        true
    }
}
