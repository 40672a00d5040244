//! What a view says to its host.

use handover_core::{Cancelling, GrantId, Hold, Phase, Reason, Ruling, Seq, Stage, View};
use serde::Serialize;

use crate::world::Process;

/// What a host acts on, of a view.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Says<'a> {
    hold: Option<(GrantId, &'a Stage, Option<&'a Cancelling>)>,
    /// Only where it is the present word: a number that is below it is never compared again.
    acknowledged: Option<Seq>,
    ruling: Option<Said<'a>>,
    gone: bool,
}

/// A ruling, and the words of a failure where they count.
#[derive(Debug, PartialEq, Serialize)]
enum Said<'a> {
    Approved,
    Failed(Option<&'a Reason>),
}

impl<'a> Says<'a> {
    /// What this view says to its host. Where what is `spent` is left out, also what it says of a
    /// hold and of a word in vain: the host is in a phase in which it does not look there, and none
    /// that it can come to before it reads a newer one does.
    pub(super) fn of(view: &'a View, process: &Process, spent: bool) -> Self {
        let candidate = process.host.candidate();
        let heeds = if spent { Heeds::of(view, process) } else { Heeds::ALL };
        let of_hold = |hold: &'a Hold| (hold.grant, &hold.stage, hold.cancelling.as_ref());
        let hold = view.hold_of(candidate.host()).filter(|_| heeds.hold);
        let acknowledged = view.acknowledged.filter(|_| heeds.acknowledged);
        Self {
            hold: hold.map(of_hold),
            acknowledged: acknowledged.filter(|seen| *seen >= candidate.seq()),
            ruling: view.verdict.as_ref().map(|verdict| match &verdict.ruling {
                Ruling::Approved => Said::Approved,
                Ruling::Failed(reason) => Said::Failed(Some(reason).filter(|_| !spent)),
            }),
            gone: view.gone,
        }
    }

    /// Is it as if there were no view?
    pub(super) fn nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What of a view a host looks at.
struct Heeds {
    hold: bool,
    acknowledged: bool,
}

impl Heeds {
    const ALL: Self = Self { hold: true, acknowledged: true };

    fn of(view: &View, process: &Process) -> Self {
        let candidate = process.host.candidate();
        match candidate.phase() {
            // An offer counts only where the present asking is acknowledged (Ca2). Without one, that
            // it is acknowledged ends a reservation (Ho1).
            Phase::Asking | Phase::Planning { .. } => {
                let answers = view.acknowledged == Some(candidate.seq());
                let hold = answers && view.hold_of(candidate.host()).is_some();
                let reserves = process.host.executor().has_reservation();
                Self { hold, acknowledged: hold || answers && reserves }
            }
            Phase::Accepted { .. } | Phase::Building { .. } => {
                Self { hold: true, acknowledged: false }
            }
            Phase::Cancelling { .. } | Phase::Expelled { .. } => {
                Self { hold: false, acknowledged: false }
            }
            // A report is held until it is acknowledged (Ca5), and who rests may end then (Ho4).
            Phase::Idle | Phase::Finished { .. } | Phase::StoodDown => {
                Self { hold: false, acknowledged: true }
            }
        }
    }
}
