//! Random walks with faults: the right protocol breaks no property on them, and comes to its end
//! once the faults are off.

use handover_core::{AtDeadline, BuildId, EndAction, GrantId, Term, Then, Work};
use handover_sim::check::{Rest, Transition, check, check_machines, rest};
use handover_sim::variants;
use handover_sim::world::{ArbiterIndex, Direction, Event, Place, Setup, Who, Wire, World};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn world(draw: &mut impl Rng) -> World {
    let mut places = vec![Place::new("a", "v1"), Place::new("b", "v1"), Place::new("c", "v2")];
    places[0].slots = draw.random_range(1..3);
    places[1].pinned = draw.random_range(0..4) == 0;
    World::new(Setup {
        places,
        chunks: ["x".into(), "y".into()].into(),
        arbiters: draw.random_range(1..3),
        protocol: variants::by_name("current").expect("the right protocol has a name"),
    })
}

fn wish(world: &World, draw: &mut impl Rng) -> Event {
    let who = Who::from(draw.random_range(0..world.processes().count()));
    let name = world.process(who).name.clone();
    let build = BuildId::from(["l1", "l2", "l3", "l4"][draw.random_range(0..4)]);
    let mut ends = [EndAction::Nothing, EndAction::Restart, EndAction::Stop].into_iter();
    let end = ends.nth(draw.random_range(0..3)).expect("there are three of them");
    let outcomes = [AtDeadline::Interrupt, AtDeadline::Undrain, AtDeadline::Report];
    match draw.random_range(0..18) {
        0..6 => Event::Ask(who),
        6 => Event::StandDown { who, after: draw.random_range(0..2) == 0 },
        7..10 => Event::Submit {
            who,
            build,
            parent: (draw.random_range(0..3) == 0).then(|| "l1".into()),
            drains: (draw.random_range(0..4) == 0).then_some(end),
        },
        10 => Event::CancelBuild { who, build },
        11 => Event::Drain {
            who,
            term: if draw.random_range(0..2) == 0 {
                Term::ThisVersion
            } else {
                Term::UntilUndrained
            },
            end,
            at_deadline: outcomes[draw.random_range(0..3)],
        },
        12..14 => Event::Undrain(who),
        14 => Event::Deadline(who),
        15 => Event::Retry {
            version: world.process(who).host.version().clone(),
            grant: newest_grant(world),
        },
        _ => Event::Boot { name, version: None },
    }
}

fn newest_grant(world: &World) -> GrantId {
    GrantId(world.committed().next_grant().0.saturating_sub(1))
}

fn fault(world: &World, draw: &mut impl Rng) -> Event {
    let who = Who::from(draw.random_range(0..world.processes().count()));
    let direction = [Direction::ToRecord, Direction::FromRecord][draw.random_range(0..2)];
    let wire = Wire { who, direction };
    let grant = newest_grant(world);
    let arbiter = ArbiterIndex::from(draw.random_range(0..world.arbiters().count()));
    let works = world.process(who).builds.keys();
    let work = works.last().cloned().unwrap_or(Work::Granted(grant));
    match draw.random_range(0..31) {
        0..2 => Event::Crash(who),
        2 => Event::Gone(who),
        3..5 => Event::Lose(wire),
        5..7 => Event::Double(wire),
        7..9 => Event::Overtake(wire),
        9..11 => Event::Delay(wire),
        11 => Event::Cut(who),
        12 => Event::Pause(who),
        13 => Event::Resume(who),
        14 => Event::Suspect(who),
        15 => Event::Trust(who),
        16 => Event::Hang(who),
        17 => Event::Unsigned { who, chunk: "x".into() },
        18 => Event::SignOff { who, chunk: "y".into(), failed: true },
        19 => Event::ArbiterCrash(arbiter),
        20 => Event::Conflict(arbiter),
        21 => Event::UnknownCommit(arbiter),
        22 => Event::Lapse(grant),
        23 => Event::Cancel {
            grant,
            then: if draw.random_range(0..2) == 0 { Then::Again } else { Then::Block },
            reason: "slow".into(),
        },
        24 => Event::Revoke { grant, reason: "hung".into() },
        25 => Event::BuildEnds { who, work, failed: Some("no disk".into()) },
        26 => Event::Reask(who),
        27 => Event::Stale { who, behind: 1 },
        28 => Event::Reuse(who),
        29 => Event::Overlap { name: world.process(who).name.clone(), version: None },
        _ => Event::Repeat(wire),
    }
}

fn next(world: &World, draw: &mut impl Rng) -> Option<Event> {
    let kind = draw.random_range(0..20);
    if kind == 0 {
        return Some(fault(world, draw));
    }
    if kind < 3 {
        return Some(wish(world, draw));
    }
    let mut calm = world.calm_events();
    if calm.is_empty() {
        return None;
    }
    let event = calm.swap_remove(draw.random_range(0..calm.len()));
    let Event::Deliver { from, .. } = event else {
        return Some(event);
    };
    let to = ArbiterIndex::from(draw.random_range(0..world.arbiters().count()));
    Some(Event::Deliver { from, to })
}

fn walk(seed: u64, steps: usize) -> Result<(), String> {
    let mut draw = ChaCha8Rng::seed_from_u64(seed);
    let mut world = world(&mut draw);
    let mut told = Vec::new();
    for _ in 0..steps {
        let Some(event) = next(&world, &mut draw) else {
            continue;
        };
        let spare = world.processes().count() < 24;
        if world.permits(&event).is_err() || !spare {
            continue;
        }
        let before = world.clone();
        let mut facts = Vec::new();
        world.apply(&event, &mut facts).expect("what is permitted can happen");
        told.push(format!("{event:?}"));
        let step = Transition { before: &before, event: &event, facts: &facts, after: &world };
        check_machines(&step);
        check(&step).map_err(|violation| story(seed, &told, &violation.to_string()))?;
    }
    world.apply(&Event::Heal, &mut Vec::new()).expect("faults can end anywhere");
    let rested = rest(&mut world, |step| {
        check_machines(step);
        told.push(format!("{:?}", step.event));
    });
    match rested {
        Rest::Converged { .. } => Ok(()),
        Rest::Broken(violation) => Err(story(seed, &told, &violation.to_string())),
    }
}

fn story(seed: u64, told: &[String], why: &str) -> String {
    let last = told.len().saturating_sub(40);
    format!("seed {seed}: {why}\n{}", told[last..].join("\n"))
}

#[test]
fn the_right_protocol_breaks_no_property_on_random_walks_with_faults() {
    for seed in 0..400 {
        if let Err(story) = walk(seed, 400) {
            panic!("{story}");
        }
    }
}
