//! The rollout in a random order, by each tool: any event that can happen may be next.

use std::sync::Arc;

use handover_sim::draw::{Concern, Draw};
use handover_sim::world::{Event, World};

use crate::rollout::Rollout;

/// Ours: an event is drawn, and happens. Says how many steps that took.
pub fn handover(world: &World, seed: u64) -> u64 {
    drawn(world, seed, |_| ())
}

/// The events of one.
fn schedule(world: &World, seed: u64) -> Vec<Event> {
    let mut schedule = Vec::new();
    drawn(world, seed, |event| schedule.push(event.clone()));
    schedule
}

fn drawn(world: &World, seed: u64, mut seen: impl FnMut(&Event)) -> u64 {
    let mut draw = Draw::new(seed, Concern::Schedule);
    let mut rollout = Rollout::new(world);
    loop {
        let events = rollout.events().count();
        if events == 0 {
            return rollout.end();
        }
        let at = usize::try_from(draw.below(events as u64)).expect("it is below a length");
        let event = rollout.events().nth(at).expect("it is below the count").clone();
        seen(&event);
        rollout.step(&event);
    }
}

/// shuttle: each actor is a thread, which waits until it has something to do; the scheduler picks
/// among those that have. Says how many steps all schedules took together.
pub fn shuttle(world: &World, seed: u64, schedules: usize) -> u64 {
    use shuttle::sync::{Condvar, Mutex};

    let steps = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(seed, schedules);
    let runner = shuttle::Runner::new(scheduler, shuttle::Config::default());
    let (world, counted) = (world.clone(), Arc::clone(&steps));
    runner.run(move || {
        let actors = world.processes().len() + 1;
        let shared = Arc::new((Mutex::new(Rollout::new(&world)), Condvar::new()));
        let act = |actor: usize| {
            let shared = Arc::clone(&shared);
            shuttle::thread::spawn(move || {
                let (rollout, turn) = &*shared;
                let mut rollout = rollout.lock().expect("no actor panics");
                while rollout.events().next().is_some() {
                    if let Some(event) = rollout.event_of(actor) {
                        rollout.step(&event);
                        turn.notify_all();
                        drop(rollout);
                        rollout = shared.0.lock().expect("no actor panics");
                    } else {
                        rollout = turn.wait(rollout).expect("no actor panics");
                    }
                }
            })
        };
        let threads: Vec<_> = (0..actors).map(act).collect();
        for thread in threads {
            thread.join().expect("no actor panics");
        }
        let took = shared.0.lock().expect("no actor panics").end();
        counted.fetch_add(took, std::sync::atomic::Ordering::Relaxed);
    });
    steps.load(std::sync::atomic::Ordering::Relaxed)
}

/// madsim: each actor is a task that takes its time over each step, in a runtime and a thread of
/// its own for each seed, which is what its determinism needs.
pub fn madsim(world: &World, seed: u64) -> u64 {
    let world = world.clone();
    let thread = std::thread::spawn(move || {
        let runtime =
            madsim::runtime::Runtime::with_seed_and_config(seed, madsim::Config::default());
        runtime.block_on(run_tasks(world))
    });
    thread.join().expect("no actor panics")
}

async fn run_tasks(world: World) -> u64 {
    use std::sync::Mutex;
    use std::time::Duration;

    use madsim::rand::Rng;
    use tokio::sync::Notify;

    let actors = world.processes().len() + 1;
    let rollout = Arc::new(Mutex::new(Rollout::new(&world)));
    let turns: Arc<Vec<Notify>> = Arc::new((0..actors).map(|_| Notify::new()).collect());
    let act = |actor: usize| {
        let (rollout, turns) = (Arc::clone(&rollout), Arc::clone(&turns));
        madsim::task::spawn(async move {
            loop {
                let event = {
                    let rollout = rollout.lock().expect("no actor panics");
                    if rollout.events().next().is_none() {
                        turns.iter().for_each(Notify::notify_one);
                        return;
                    }
                    rollout.event_of(actor)
                };
                if event.is_none() {
                    turns[actor].notified().await;
                    continue;
                }
                let takes = madsim::rand::thread_rng().gen_range(1..1_000);
                madsim::time::sleep(Duration::from_micros(takes)).await;
                let mut rollout = rollout.lock().expect("no actor panics");
                if let Some(event) = rollout.event_of(actor) {
                    rollout.step(&event);
                    rollout.ready().for_each(|ready| turns[ready].notify_one());
                }
            }
        })
    };
    let tasks: Vec<_> = (0..actors).map(act).collect();
    for task in tasks {
        task.await.expect("no actor panics");
    }
    let took = rollout.lock().expect("no actor panics").end();
    took
}

/// The events of so many of ours.
pub fn schedules(world: &World, seeds: u64) -> Vec<Vec<Event>> {
    (0..seeds).map(|seed| schedule(world, seed)).collect()
}

/// The same steps again: step and checks, and what keeps the list of what can happen, without a
/// draw. Says how many.
pub fn steps_alone(world: &World, schedules: &[Vec<Event>]) -> u64 {
    let again = |schedule: &Vec<Event>| {
        let mut rollout = Rollout::new(world);
        schedule.iter().for_each(|event| rollout.step(event));
        rollout.end()
    };
    schedules.iter().map(again).sum()
}
