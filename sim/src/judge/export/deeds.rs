//! What an input of a host is in the world.

use handover_core::journal::HostInput;
use handover_core::{AtDeadline, DrainRequest, End, HostId, SignOff, Term};

use super::plain::plain_reason;
use crate::world::{Event, Step, Who, World};

/// The event by which a host hears an input; none where nothing of it is left but in its own gate.
/// An error is why there is none.
pub(super) fn deed(world: &World, who: Who, input: &HostInput) -> Result<Option<Event>, String> {
    Ok(Some(match input {
        HostInput::Ask => Event::Ask(who),
        HostInput::Watch => Event::Watch(who),
        HostInput::StandDown => Event::StandDown { who, after: false },
        HostInput::StandDownAfter => Event::StandDown { who, after: true },
        // Whoever can make no plan says that it stands down (Ca2).
        HostInput::NoPlan { .. } => Event::StandDown { who, after: false },
        HostInput::Submit { build, parent, drains } => {
            if drains.as_ref().is_some_and(|request| !is_told(request)) {
                return Err("its success drains in another way than `submit` can say".into());
            }
            let drains = drains.as_ref().map(|request| request.end);
            Event::Submit { who, build: build.clone(), parent: parent.clone(), drains }
        }
        HostInput::Cancel { build } => Event::CancelBuild { who, build: build.clone() },
        HostInput::Drain(request) => Event::Drain {
            who,
            term: request.term,
            end: request.end,
            at_deadline: request.at_deadline,
        },
        HostInput::Undrain => Event::Undrain(who),
        HostInput::Deadline => Event::Deadline(who),
        HostInput::Interrupt => Event::Interrupt(who),
        HostInput::Plan { plan, .. } => {
            let is_header = *plan == world.setup().chunks;
            if plan.is_empty() && !is_header {
                return Err("a plan without chunks, where others have some".into());
            }
            Event::Plan { who, chunks: (!is_header).then(|| plan.clone()) }
        }
        HostInput::SignOff { chunk, sign_off, .. } => {
            let failed = *sign_off != SignOff::Clean;
            Event::SignOff { who, chunk: chunk.clone(), failed }
        }
        HostInput::BuildEnd { work, end } => {
            let failed = match end {
                End::Succeeded => None,
                End::Failed(reason) => Some(plain_reason(reason)),
            };
            Event::BuildEnds { who, work: work.clone(), failed }
        }
        HostInput::BuildStop { work } => Event::BuildStops { who, work: work.clone() },
        HostInput::Unreadable(_) | HostInput::View(_) | HostInput::ComeBack { .. } => {
            return Ok(None);
        }
    }))
}

/// The chunk that is signed off as bad, by whom, and why.
pub(super) fn bad_chunk(by: &HostId, input: &HostInput) -> Option<String> {
    let HostInput::SignOff { chunk, sign_off: SignOff::Failed(why), .. } = input else {
        return None;
    };
    Some(format!("{chunk} on {by} ({})", plain_reason(why)))
}

/// Does `submit` of a scenario declare just this?
fn is_told(request: &DrainRequest) -> bool {
    request.term == Term::ThisVersion && request.at_deadline == AtDeadline::Report
}

/// The step that an event is.
pub(super) fn step_of(event: &Event) -> Option<&Step> {
    if let Event::Step { step, .. } = event { Some(step) } else { None }
}
