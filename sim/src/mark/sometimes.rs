//! What has to happen in a search at some time, or it has not looked where races are.

use handover_core::{Input, Record, Standing, Work};

use crate::check::Transition;
use crate::world::{Event, Fact, Process, Who, World};

/// Notes what this step is an example of.
pub(crate) fn sometimes(step: &Transition<'_>) {
    for fact in step.facts {
        if let Fact::Committed { input, before, after, .. } = fact {
            committed(step.after, input.as_deref(), before, after);
        } else if let Fact::BuildEnded { who, work, .. } = fact {
            let builds = &step.before.process(*who).builds;
            if builds.get(work).is_some_and(|build| build.stopping) {
                mark!(SometimesEndsWhileStopping);
            }
        } else if let Fact::Conflicted { .. } = fact {
            mark!(SometimesConflict);
        } else if let Fact::AnswerLost { .. } = fact {
            mark!(SometimesAnswerLost);
        } else if let Fact::Exited { .. } = fact {
            mark!(SometimesExits);
        } else if let Fact::Read { refused: Some("OldView"), .. } = fact {
            mark!(SometimesOldView);
        } else if let Fact::BuildRuns { .. } = fact {
            several_build(step.after);
        }
    }
    let world = step.before;
    if let Event::StandDown { who, .. } = step.event
        && is_offered(world, *who)
        && !knows_of_its_offer(world.process(*who))
    {
        mark!(SometimesStandDownCrossesTheOffer);
    } else if let Event::Drain { who, .. } = step.event
        && is_offered(world, *who)
    {
        mark!(SometimesDrainCrossesTheOffer);
    } else if let Event::Suspect(who) = step.event
        && world
            .committed()
            .hold()
            .is_some_and(|hold| hold.is_started() && hold.host == *world.process(*who).host.id())
    {
        mark!(SometimesHolderIsSuspected);
    } else if let Event::Overlap { .. } = step.event {
        mark!(SometimesTwoLivesOfOneName);
    }
}

fn committed(world: &World, input: Option<&Input>, before: &Record, after: &Record) {
    let offer = after.hold().filter(|hold| !hold.is_started());
    if let Some(offer) = offer.filter(|_| before.next_grant() < after.next_grant()) {
        if world.oracle().suspects.contains(&offer.host) {
            mark!(SometimesSuspectIsOffered);
        }
        if world.by_id(&offer.host).is_none_or(|who| !world.process(who).lives()) {
            mark!(SometimesTheDeadAreOffered);
        }
    }
    let Some(Input::Statement(statement)) = input else { return };
    let Standing::Finished { grant, .. } = statement.standing else { return };
    if world.by_id(&statement.host).is_none_or(|who| !world.process(who).lives()) {
        mark!(SometimesTheDeadReport);
    }
    let cancelled = before.hold().is_some_and(|hold| hold.grant == grant && hold.is_cancelling());
    let verdict = after.verdict(&statement.version);
    if cancelled && verdict.is_some_and(|verdict| verdict.is_approved()) {
        mark!(SometimesCancelledIsApproved);
    }
}

fn several_build(world: &World) {
    let living = world.processes().filter(|(_, process)| process.lives());
    let building: Vec<&Process> = living
        .map(|(_, process)| process)
        .filter(|process| process.builds.keys().any(Work::is_granted))
        .collect();
    if building.len() > 1 {
        mark!(SometimesTwoBuild);
    }
    if building.iter().any(|process| world.committed().is_gone(process.host.id())) {
        mark!(SometimesTheGoneBuild);
    }
}

fn is_offered(world: &World, who: Who) -> bool {
    let hold = world.committed().hold();
    hold.is_some_and(|hold| !hold.is_started() && hold.host == *world.process(who).host.id())
}

fn knows_of_its_offer(process: &Process) -> bool {
    let view = process.host.candidate().view();
    view.is_some_and(|view| view.hold_of(process.host.id()).is_some())
}
