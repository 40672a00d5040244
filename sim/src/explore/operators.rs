//! What operators and timers do, and commits that are lost.

use std::collections::BTreeSet;

use handover_core::{GrantId, Input, Statement, Then, Version};

use super::Bounds;
use super::action::{Action, Choice, Choices, RECORD};
use super::bounds::Cost;
use crate::choose::FaultKind;
use crate::variants::is_current;
use crate::world::{Event, World};

impl Choices<'_> {
    /// What is about the present hold and a failure; under a wrong protocol also what is late or
    /// wrong, where that protocol takes it. The right one refuses all of that.
    pub(super) fn push_operators(&mut self, bounds: &Bounds, named: &BTreeSet<GrantId>) {
        let world = self.world;
        let due = world.protocol().lapses(world.committed()).map(Event::Lapse);
        for (kind, event) in timely(world) {
            if due.as_ref() == Some(&event) {
                self.free(event);
            } else {
                self.fault(budget_of(kind, bounds), event);
            }
        }
        if is_current(bounds.protocol) {
            return;
        }
        for (kind, event) in out_of_time(world, &bounds.versions(), named) {
            let kind = budget_of(kind, bounds);
            if self.budget.allows(Cost::Fault(kind).price()) && is_taken(world, &event) {
                self.fault(kind, event);
            }
        }
    }

    /// Each commit may lose the compare-and-set, or be made and its answer lost.
    pub(super) fn push_lost_commits(&mut self) {
        if !self.budget.allows(Cost::Fault(FaultKind::Conflict).price()) {
            return;
        }
        let unsure = |choice: &Choice| {
            let cost = choice.cost.with_conflict();
            [Event::Conflict(RECORD), Event::UnknownCommit(RECORD)].map(|fault| Choice {
                action: Action::Unsure(fault, Box::new(choice.action.clone())),
                cost,
            })
        };
        let committing = self.all.iter().filter(|choice| commits(self.world, &choice.action));
        let all: Vec<Choice> = committing.flat_map(unsure).collect();
        self.all.extend(all);
    }
}

/// Does the arbiter commit something in this step?
fn commits(world: &World, action: &Action) -> bool {
    let (record, protocol) = (world.committed(), world.protocol());
    let suspects = &world.oracle().suspects;
    let input = match action {
        Action::Read(..) | Action::Unsure(..) => return false,
        Action::Deliver(_, statement, _) => {
            Input::Statement(protocol.take(record, Statement::clone(statement)))
        }
        Action::Happens(Event::Publish(_)) => {
            return protocol.before_publication(record, suspects).is_some();
        }
        Action::Happens(Event::ArbiterCrash(_)) => {
            return protocol.settle(record, suspects).is_some();
        }
        Action::Happens(event) => return is_taken(world, event),
    };
    protocol.fold(record, &input, suspects).is_ok()
}

/// Does the arbiter take what this event tells it?
fn is_taken(world: &World, event: &Event) -> bool {
    let (record, suspects) = (world.committed(), &world.oracle().suspects);
    let fold = |input: Input| world.protocol().fold(record, &input, suspects);
    world.input_of(event).is_some_and(|input| fold(input).is_ok())
}

fn budget_of(kind: FaultKind, bounds: &Bounds) -> FaultKind {
    if kind == FaultKind::Cancel && bounds.cancels_as_revokes { FaultKind::Revoke } else { kind }
}

/// What can be done about the present hold, and about failures.
fn timely(world: &World) -> Vec<(FaultKind, Event)> {
    let record = world.committed();
    let mut all = Vec::new();
    if let Some(hold) = record.hold() {
        if !hold.is_started() {
            all.push((FaultKind::Lapse, Event::Lapse(hold.grant)));
        }
        if !hold.is_cancelling() {
            all.extend(cancels(hold.grant));
        }
        all.push(revocation(hold.grant));
    }
    for (version, verdict) in record.verdicts().filter(|(_, verdict)| !verdict.is_approved()) {
        let (version, grant) = (version.clone(), verdict.grant);
        all.push((FaultKind::Retry, Event::Retry { version, grant }));
    }
    all
}

/// It is never given: it stands for those that nobody names any more, and for a slip of the pen. A
/// scenario can name no larger one.
const NOBODYS: GrantId = GrantId(1_000_000);

/// All else that can be said of these grants, and of one that nobody names: a lapse of what is
/// started or over, a cancel or a revocation of what is over, a retry of what is approved, was never
/// built, or has failed since.
fn out_of_time(
    world: &World,
    versions: &[Version],
    named: &BTreeSet<GrantId>,
) -> Vec<(FaultKind, Event)> {
    let mut all = Vec::new();
    for grant in std::iter::once(&NOBODYS).chain(named) {
        all.push((FaultKind::Lapse, Event::Lapse(*grant)));
        all.extend(cancels(*grant));
        all.push(revocation(*grant));
        for version in versions {
            let retry = Event::Retry { version: version.clone(), grant: *grant };
            all.push((FaultKind::Retry, retry));
        }
    }
    let timely = timely(world);
    all.retain(|each| !timely.contains(each));
    all
}

fn cancels(grant: GrantId) -> [(FaultKind, Event); 2] {
    let cancel = |then| Event::Cancel { grant, then, reason: "operator".into() };
    [Then::Again, Then::Block].map(|then| (FaultKind::Cancel, cancel(then)))
}

fn revocation(grant: GrantId) -> (FaultKind, Event) {
    (FaultKind::Revoke, Event::Revoke { grant, reason: "operator".into() })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::direct::Node;
    use super::super::key::Scratch;
    use super::*;
    use crate::world::Fact;

    /// Each state of a small space, as a world of its own.
    fn all_states(bounds: &Bounds, mut see: impl FnMut(&Node, &mut Scratch)) {
        let mut scratch = Scratch::new(bounds);
        let (first, print) = Node::first(bounds, &mut scratch);
        let mut known = BTreeSet::from([print]);
        let mut open = VecDeque::from([first]);
        while let Some(node) = open.pop_front() {
            see(&node, &mut scratch);
            for choice in node.choices(bounds) {
                let (next, print, _) = node.follow(&choice, bounds, &mut scratch);
                if known.insert(print) {
                    open.push_back(next);
                }
            }
        }
    }

    fn bounds(hosts: &[u8], faults: &[FaultKind]) -> Bounds {
        faults.iter().fold(Bounds::new(hosts), |bounds, kind| {
            bounds.with(*kind, 1).expect("it has a budget")
        })
    }

    #[test]
    fn what_is_late_or_wrong_is_refused_and_leaves_the_world_as_it_is() {
        let spaces = [
            bounds(&[0, 0], &[FaultKind::Lapse]),
            bounds(&[0, 1], &[]),
            bounds(&[0], &[FaultKind::Fail, FaultKind::Retry, FaultKind::Cancel]),
            bounds(&[0], &[FaultKind::Revoke, FaultKind::Gone]),
        ];
        let mut seen = BTreeSet::new();
        for bounds in spaces {
            all_states(&bounds, |node, _| {
                let next = node.world.committed().next_grant().0;
                let named = (1..=next).map(GrantId).collect();
                for (kind, event) in out_of_time(&node.world, &bounds.versions(), &named) {
                    let (mut after, mut facts) = (node.world.clone(), Vec::new());
                    after.apply(&event, &mut facts).expect("an operator may say it");
                    assert!(matches!(facts[..], [Fact::Refused { .. }]), "{event:?}: {facts:?}");
                    assert!(after == node.world, "{event:?} changes {:?}", node.world);
                    seen.insert(kind);
                }
            });
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }

    #[test]
    fn a_lost_compare_and_set_changes_nothing_and_a_lost_answer_no_record() {
        use FaultKind::{Arbiter, Conflict, Fail, Gone, Lapse, Retry, Revoke};
        let spaces = [
            bounds(&[0, 0], &[Conflict, Revoke]),
            bounds(&[0, 0], &[Conflict, Gone, Lapse]),
            bounds(&[0], &[Conflict, Fail, Retry, Arbiter]),
        ];
        for bounds in spaces {
            lost_commits_change_nothing(&bounds);
        }
    }

    fn lost_commits_change_nothing(bounds: &Bounds) {
        let mut lost = 0;
        all_states(bounds, |node, scratch| {
            for choice in node.choices(bounds) {
                let Action::Unsure(fault, action) = &choice.action else { continue };
                let mut follow = |action: &Action| {
                    let choice = Choice { action: action.clone(), cost: choice.cost };
                    node.follow(&choice, bounds, scratch)
                };
                let (unsure, print, _) = follow(&choice.action);
                let (sure, sure_print, _) = follow(action);
                let (unsure, sure) = (unsure.world, sure.world);
                assert_eq!(unsure.committed(), sure.committed(), "{action:?}");
                if let Event::Conflict(_) = fault {
                    assert!(unsure == sure && print == sure_print, "{action:?}");
                }
                lost += 1;
            }
        });
        assert!(lost > 100, "{lost}");
    }
}
