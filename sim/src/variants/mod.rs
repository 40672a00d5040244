//! The protocols that a world can follow: the right one, and wrong ones.
//!
//! The right one lives in the core, alone, and [`Current`] only passes it through. A wrong one bends
//! the production machines at one seam, outside of the core, so that what is shown to fail is the
//! code that ships less one rule.

mod abandoned_before_stopped;
mod accept_without_acknowledgement;
mod accepted_waits;
mod admitted_before_the_gate;
mod age_is_death;
mod always_broken;
mod approval_before_commit;
mod approve_unsigned;
mod asks_before_stopped;
mod build_at_the_offer;
mod cut_builds_pay;
mod decide_when_queued;
mod deployment_awaits_itself;
mod drain_after_release;
mod drain_before_status;
mod drain_forgotten;
mod elect_at_publication;
mod ends_wait_for_a_pass;
mod ends_when_idle;
mod finished_stays_down;
mod free_at_start;
mod gate_read_before_counted;
mod guarded_report;
mod hunt;
mod ignore_revocation;
mod lapse_to_the_same_host;
mod latest_verdict;
mod no_grants;
mod no_grants_at_the_offer;
mod no_grants_nor_acknowledgement;
mod no_seq;
mod offer_in_a_later_fold;
mod offer_to_a_draining_host;
mod parked_for_ever;
mod parked_keeps_its_slot;
mod release_before_remove;
mod remove_before_status;
mod report_not_held;
mod reservation_kept;
mod reused_number_unnoticed;
mod silent_on_approval;
mod silent_stand_down;
mod silent_when_approved;
mod slot_released_at_cancel;
mod smallest;
mod stale_word_takes_offer_back;
mod status_before_artifacts;
mod stay_gone;
mod view_goes_back;
mod word_buries_the_last_life;
mod workspace_before_admission;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use handover_core::{
    Change, Effect, ExecutorEffect, GrantId, Host, HostId, Input, Ledger, Phase, Record, Refusal,
    Statement, View,
};

use crate::check::Property;
use crate::scenario::CURRENT;
use crate::world::Process;

pub use hunt::{Hunt, hunt, hunting_ground};
pub use smallest::{first_broken, smallest};

/// What the actors of a world follow. Each method is a seam; as given, it is the right protocol.
///
/// One of your own bends as many as it likes; whatever takes a `&'static dyn Protocol` takes it,
/// too. It is to decide by what it is given alone, and to remember nothing: worlds are cloned and
/// compared.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use handover_core::Standing;
/// use handover_sim::explore::{Bounds, Property, explore};
/// use handover_sim::variants::{Protocol, Said, Saying, first_broken};
///
/// /// A host that keeps the report of its build to itself.
/// #[derive(Debug)]
/// struct Tacit;
///
/// impl Protocol for Tacit {
///     fn name(&self) -> &'static str {
///         "tacit"
///     }
///
///     fn summary(&self) -> &'static str {
///         "a host does not say that its build has ended"
///     }
///
///     fn breaks(&self) -> Option<Property> {
///         Some(Property::NoWedge)
///     }
///
///     fn say(&self, saying: &Saying<'_>) -> Said {
///         match &saying.statement.standing {
///             Standing::Finished { .. } => Said::Kept { acknowledged: false },
///             _ => Said::Sent(saying.statement.clone()),
///         }
///     }
/// }
///
/// // Two hosts of one version, no fault, every order.
/// let bounds = Bounds::new(&[0, 0]).under(&Tacit);
/// let found = explore(&bounds, 1, |_| ControlFlow::Continue(()));
/// let shortest = first_broken(&found).expect("nobody is ever approved");
/// assert_eq!(shortest.violation.property, Property::NoWedge);
/// println!("{}", shortest.scenario);
/// ```
pub trait Protocol: fmt::Debug + Sync {
    /// Its name in a header. `current` is that of the core as it ships.
    fn name(&self) -> &'static str;

    /// What it leaves out, in a line.
    fn summary(&self) -> &'static str;

    /// The property that it breaks first, in its smallest configuration: of those of safety the one
    /// that the shortest schedule breaks, else the one of liveness. None for the right one, nor for a wrong one whose mistake
    /// the other rules make up for.
    fn breaks(&self) -> Option<Property>;

    /// Of a wrong one that breaks nothing: the rules that make up for what it leaves out.
    fn masked_by(&self) -> Option<&'static str> {
        None
    }

    /// Does what it leaves out matter only where an identity is used twice, against Dr4?
    fn needs_reuse(&self) -> bool {
        false
    }

    /// A statement on its way out of a host.
    fn say(&self, saying: &Saying<'_>) -> Said {
        Said::Sent(saying.statement.clone())
    }

    /// A view on its way into a host. Where it is explored, its numbers stay below 2^32.
    fn hear(&self, view: &View, _process: &Process) -> View {
        view.clone()
    }

    /// The same of a view that others have too; who bends none hears the very one.
    fn hear_shared(&self, view: &Arc<View>, process: &Process) -> Arc<View> {
        Arc::new(self.hear(view, process))
    }

    /// A statement as an arbiter takes it, which knows this record.
    fn take(&self, _record: &Record, statement: Statement) -> Statement {
        statement
    }

    /// An input at an arbiter. The change has to be one that [`Record::apply`] takes, but that an
    /// approval may go: at another the world panics.
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

    /// A restarted arbiter, before it publishes; the change as of [`Protocol::fold`].
    fn settle(&self, record: &Record, suspects: &BTreeSet<HostId>) -> Option<Change> {
        record.settle(suspects)
    }

    /// What an arbiter adds to the committed record before it publishes it; the change as of
    /// [`Protocol::fold`].
    fn before_publication(&self, _record: &Record, _suspects: &BTreeSet<HostId>) -> Option<Change> {
        None
    }

    /// The offer that its driver lets lapse as soon as it can, for ever; none where offers lapse by
    /// a fault alone.
    fn lapses(&self, _record: &Record) -> Option<GrantId> {
        None
    }

    /// Is this change told to the hosts before it is committed? Then a commit that is lost is never
    /// made up for: who was told has no reason to say it again.
    fn tells_first(&self, _change: &Change) -> bool {
        false
    }

    /// The book that a boot finds. It has to be one that [`handover_core::Executor::recover`] takes
    /// (no two builds in one place, none before its parent): at another the world panics.
    fn recover(&self, ledger: Ledger) -> Ledger {
        ledger
    }

    /// A host that has just taken an input, before its orders and its word are taken up; `from` is
    /// what its candidate was in.
    fn moved(&self, _process: &mut Process, _from: Phase) {}

    /// Does this order of the core reach the driver?
    fn heeds(&self, _order: &Effect) -> bool {
        true
    }

    /// May the process end?
    fn is_drained(&self, host: &Host) -> bool {
        host.is_drained()
    }

    /// An order of the executor that was just carried out.
    fn performed(&self, _process: &mut Process, _order: &ExecutorEffect) {}

    /// What a host says on top of its own word once an order was carried out.
    fn says_on_top(&self, _process: &Process, _order: &ExecutorEffect) -> Option<Statement> {
        None
    }

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
    /// What its candidate was in before it had this to say; of a repeat, what it is in.
    pub from: Phase,
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
        CURRENT
    }

    fn hear_shared(&self, view: &Arc<View>, _process: &Process) -> Arc<View> {
        Arc::clone(view)
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
    &drain_before_status::DrainBeforeStatus,
    &always_broken::AlwaysBroken,
    &no_seq::NoSeq,
    &decide_when_queued::DecideWhenQueued,
    &offer_in_a_later_fold::OfferInALaterFold,
    &report_not_held::ReportNotHeld,
    &approve_unsigned::ApproveUnsigned,
    &approval_before_commit::ApprovalBeforeCommit,
    &accept_without_acknowledgement::AcceptWithoutAcknowledgement,
    &stay_gone::StayGone,
    &finished_stays_down::FinishedStaysDown,
    &stale_word_takes_offer_back::StaleWordTakesOfferBack,
    &no_grants::NoGrants,
    &abandoned_before_stopped::AbandonedBeforeStopped,
    &slot_released_at_cancel::SlotReleasedAtCancel,
    &ignore_revocation::IgnoreRevocation,
    &accepted_waits::AcceptedWaits,
    &reservation_kept::ReservationKept,
    &ends_when_idle::EndsWhenIdle,
    &word_buries_the_last_life::WordBuriesTheLastLife,
    &age_is_death::AgeIsDeath,
    &latest_verdict::LatestVerdict,
    &offer_to_a_draining_host::OfferToADrainingHost,
    &free_at_start::FreeAtStart,
    &drain_forgotten::DrainForgotten,
    &cut_builds_pay::CutBuildsPay,
    &parked_for_ever::ParkedForEver,
    &release_before_remove::ReleaseBeforeRemove,
    &remove_before_status::RemoveBeforeStatus,
    &silent_when_approved::SilentWhenApproved,
    &view_goes_back::ViewGoesBack,
    &reused_number_unnoticed::ReusedNumberUnnoticed,
    &build_at_the_offer::BuildAtTheOffer,
    &no_grants_at_the_offer::NoGrantsAtTheOffer,
    &no_grants_nor_acknowledgement::NoGrantsNorAcknowledgement,
    &ends_wait_for_a_pass::EndsWaitForAPass,
    &elect_at_publication::ElectAtPublication,
    &asks_before_stopped::AsksBeforeStopped,
    &lapse_to_the_same_host::LapseToTheSameHost,
    &gate_read_before_counted::GateReadBeforeCounted,
    &parked_keeps_its_slot::ParkedKeepsItsSlot,
    &admitted_before_the_gate::AdmittedBeforeTheGate,
    &workspace_before_admission::WorkspaceBeforeAdmission,
    &status_before_artifacts::StatusBeforeArtifacts,
    &deployment_awaits_itself::DeploymentAwaitsItself,
];

/// Is it the core as it ships? Of any other, also of one that breaks nothing, a search takes nothing
/// for granted.
pub(crate) fn is_current(protocol: &dyn Protocol) -> bool {
    protocol.name() == CURRENT
}

/// The names of all wrong protocols.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROTOCOLS.iter().skip(1).map(|protocol| protocol.name()).collect()
}

/// The names of all wrong protocols, and of this one.
pub(crate) fn names_with(protocol: &dyn Protocol) -> Vec<&'static str> {
    let mut names = names();
    if !is_current(protocol) && !names.contains(&protocol.name()) {
        names.push(protocol.name());
    }
    names
}

/// The protocol of this name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Protocol> {
    PROTOCOLS.iter().copied().find(|protocol| protocol.name() == name)
}
