//! Steps to be judged: real ones, and real ones bent by hand.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::executor::ExecutorParts;
use handover_core::{Executor, GrantId, Input, RecordParts, Statement, Work};

use super::{Property, Transition, check_one};
use crate::variants::{self, Protocol};
use crate::world::{ArbiterIndex, Event, Fact, Place, Process, RunningBuild, Setup, Who, World};

pub(super) const A: Who = Who(0);
pub(super) const B: Who = Who(1);
pub(super) const G1: GrantId = GrantId(1);

/// A step to be judged.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) before: World,
    pub(super) event: Event,
    pub(super) facts: Vec<Fact>,
    pub(super) after: World,
}

impl Made {
    /// A real step.
    pub(super) fn by(world: &World, event: Event) -> Self {
        let mut made = Self::still(world);
        made.after.apply(&event, &mut made.facts).expect("the event of a test can happen");
        made.event = event;
        made
    }

    /// A step in which nothing has happened yet.
    pub(super) fn still(world: &World) -> Self {
        Self { before: world.clone(), event: Event::Heal, facts: Vec::new(), after: world.clone() }
    }

    /// A step in which a process has become something else.
    pub(super) fn changing(world: &World, who: Who, edit: impl FnOnce(&mut Process)) -> Self {
        let mut made = Self::still(world);
        made.after.edit_process(who, edit);
        made
    }

    /// A step in which somebody has committed what no arbiter would.
    pub(super) fn committing(
        world: &World,
        input: Option<Input>,
        edit: impl FnOnce(&mut RecordParts),
    ) -> Self {
        let mut made = Self::still(world);
        made.after.edit_record(edit);
        made.facts.push(Fact::Committed {
            arbiter: ArbiterIndex(0),
            input: input.map(Arc::new),
            remark: None,
            before: Arc::new(made.before.committed().clone()),
            after: Arc::new(made.after.committed().clone()),
        });
        made
    }

    pub(super) fn judge(&self, property: Property) -> Result<(), String> {
        let step = Transition {
            before: &self.before,
            event: &self.event,
            facts: &self.facts,
            after: &self.after,
        };
        check_one(property, &step).map_err(|violation| {
            assert_eq!(violation.property, property, "a check speaks for itself");
            violation.why
        })
    }

    #[track_caller]
    pub(super) fn holds(&self, property: Property) {
        assert_eq!(self.judge(property), Ok(()));
    }

    #[track_caller]
    pub(super) fn breaks(&self, property: Property, why: &str) {
        assert_eq!(self.judge(property), Err(why.to_owned()));
    }
}

/// A world of these places, with one chunk to be signed off.
pub(super) fn world_under(protocol: &'static dyn Protocol, places: Vec<Place>) -> World {
    World::new(Setup { places, chunks: BTreeSet::from(["x".into()]), arbiters: 1, protocol })
}

/// Two hosts of one version and one slot each: [`A`] and [`B`].
pub(super) fn two() -> World {
    two_under("current")
}

pub(super) fn two_under(protocol: &str) -> World {
    let protocol = variants::by_name(protocol).expect("a test names a protocol that is there");
    world_under(protocol, vec![Place::new("a", "v1"), Place::new("b", "v1")])
}

/// The world after these events.
pub(super) fn after(mut world: World, events: impl IntoIterator<Item = Event>) -> World {
    for event in events {
        world.apply(&event, &mut Vec::new()).expect("the event of a test can happen");
    }
    world
}

/// The first calm step of which this holds.
#[track_caller]
pub(super) fn calm_step(mut world: World, is_it: impl Fn(&Made) -> bool) -> Made {
    for _ in 0..1_000 {
        let event = world.next_calm().expect("it comes before the rest");
        let made = Made::by(&world, event);
        if is_it(&made) {
            return made;
        }
        world = made.after;
    }
    panic!("no such step");
}

/// Goes on calmly until this holds.
#[track_caller]
pub(super) fn until(world: World, goal: impl Fn(&World) -> bool) -> World {
    calm_step(world, |made| goal(&made.after)).after
}

/// Goes on calmly to rest; says what the property's check says of each step.
pub(super) fn judge_to_rest(mut world: World, property: Property) -> Result<World, String> {
    while let Some(event) = world.next_calm() {
        let made = Made::by(&world, event);
        made.judge(property)?;
        world = made.after;
    }
    Ok(world)
}

/// Both have asked; the build of [`G1`] runs on [`A`], and [`B`] waits.
pub(super) fn building() -> World {
    let world = after(two(), [Event::Ask(A), Event::Ask(B)]);
    let runs = |world: &World| world.process(A).builds.contains_key(&Work::Granted(G1));
    until(world, runs)
}

/// The step that folds the report of [`A`] into an approval.
pub(super) fn approving() -> Made {
    calm_step(building(), |made| made.after.committed().verdicts().next().is_some())
}

/// At rest: [`A`] has built, all is approved.
pub(super) fn approved() -> World {
    until(building(), |world| world.next_calm().is_none())
}

/// `A` has these local builds in its queue; the first of them runs in its one slot.
pub(super) fn queueing(builds: &[&str]) -> World {
    let submit = |build: &&str| submit(A, build, None);
    let world = after(two(), builds.iter().map(submit));
    let first = Work::Local((*builds[0]).into());
    until(world, move |world| {
        let pending = world.process(A).host.executor().queue().len();
        let stored = world.process(A).ledger.entries.len();
        let runs = world.process(A).builds.contains_key(&first);
        runs && pending + 1 == builds.len() && stored == builds.len()
    })
}

pub(super) fn submit(who: Who, build: &str, parent: Option<&str>) -> Event {
    Event::Submit { who, build: build.into(), parent: parent.map(Into::into), drains: None }
}

pub(super) fn local(build: &str) -> Work {
    Work::Local(build.into())
}

/// Something really runs there.
pub(super) fn run(process: &mut Process, work: Work) {
    Arc::make_mut(&mut process.builds).insert(work, RunningBuild::default());
}

/// Changes the executor of a process; the host moves its candidate along.
pub(super) fn edit_executor(process: &mut Process, edit: impl FnOnce(&mut ExecutorParts)) {
    let mut parts = process.host.executor().clone().into_parts();
    edit(&mut parts);
    let host = process.host.clone();
    process.host = host.with_executor(Executor::from_parts(parts));
}

/// What a host says in place of its present word.
pub(super) fn saying(world: &World, who: Who, standing: handover_core::Standing) -> Input {
    let host = &world.process(who).host;
    Input::Statement(Statement {
        host: host.id().clone(),
        version: host.version().clone(),
        seq: host.candidate().seq().next(),
        standing,
    })
}
