//! What the parts of a step cost, and a whole walk with all of them.
//!
//! `cargo bench -p handover-sim --bench world`

use std::collections::BTreeSet;

use divan::Bencher;
use divan::counter::ItemsCount;
use handover_sim::check::{Transition, check};
use handover_sim::choose::{WalkSettings, walk};
use handover_sim::digest::Digest;
use handover_sim::variants::Current;
use handover_sim::world::{ArbiterIndex, Event, Fact, Place, Setup, Who, World};

fn main() {
    divan::main();
}

/// Three hosts; `a` builds for `v2`, `b` and `c` have asked, and a statement of `a` is on its way.
fn mid_rollout() -> World {
    let mut world = World::new(Setup {
        places: ["a", "b", "c"].map(|name| Place::new(name, "v2")).to_vec(),
        chunks: BTreeSet::from(["c1".into(), "c2".into()]),
        arbiters: 1,
        protocol: &Current,
    });
    for who in 0..3 {
        apply(&mut world, &Event::Ask(Who(who)));
    }
    let signs_off = |world: &World| {
        let mut calm = world.calm_events().into_iter();
        calm.find(|event| matches!(event, Event::SignOff { .. }))
    };
    let sign_off = loop {
        if let Some(event) = signs_off(&world) {
            break event;
        }
        let event = world.next_calm().expect("a build begins first");
        apply(&mut world, &event);
    };
    apply(&mut world, &sign_off);
    world
}

fn apply(world: &mut World, event: &Event) -> Vec<Fact> {
    let mut facts = Vec::new();
    world.apply(event, &mut facts).expect("it can happen");
    facts
}

fn delivery() -> Event {
    Event::Deliver { from: Who(0), to: ArbiterIndex(0) }
}

#[divan::bench]
fn clone_of_three_hosts(bencher: Bencher<'_, '_>) {
    let world = mid_rollout();
    bencher.bench(|| world.clone());
}

#[divan::bench]
fn apply_a_delivery(bencher: Bencher<'_, '_>) {
    let (world, event) = (mid_rollout(), delivery());
    bencher.with_inputs(|| world.clone()).bench_values(|mut world| {
        let facts = apply(&mut world, &event);
        (world, facts)
    });
}

#[divan::bench]
fn check_a_delivery(bencher: Bencher<'_, '_>) {
    let (before, event) = (mid_rollout(), delivery());
    let mut after = before.clone();
    let facts = apply(&mut after, &event);
    let step = Transition { before: &before, event: &event, facts: &facts, after: &after };
    bencher.bench(|| check(&step));
}

#[divan::bench]
fn digest_a_delivery(bencher: Bencher<'_, '_>) {
    let (before, event) = (mid_rollout(), delivery());
    let mut after = before.clone();
    apply(&mut after, &event);
    bencher.bench(|| {
        let mut digest = Digest::new();
        digest.step(&event, &before, &after);
        digest
    });
}

#[divan::bench]
fn name_a_delivery(bencher: Bencher<'_, '_>) {
    let (world, event) = (mid_rollout(), delivery());
    bencher.bench(|| world.name_of(&event));
}

#[divan::bench]
fn find_the_calm_events(bencher: Bencher<'_, '_>) {
    let world = mid_rollout();
    bencher.bench(|| world.calm_events());
}

/// Items are events: 50 walks of 5 hosts with faults, checks and digest on.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn fifty_walks_of_five_hosts(bencher: Bencher<'_, '_>) {
    let settings = WalkSettings::rolling_update();
    let walks = || (0..50).map(|seed| walk(seed, &settings, &Current).steps).sum::<usize>();
    let events = walks();
    bencher.counter(ItemsCount::new(events)).bench(walks);
}
