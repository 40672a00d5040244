//! Every interleaving, and every memory order, of what threads share: `shared.rs` itself, compiled
//! over loom. Each check is also run with the two orders swapped that it is about, and must fail.

#[path = "../src/shared.rs"]
#[allow(dead_code, reason = "the models use a part")]
mod shared;

/// What `shared` is written against, by loom.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard, RwLock};

    pub(crate) fn spin() {
        loom::thread::yield_now();
    }
}

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Poll, Wake, Waker};

use handover_core::{
    Acknowledgement, AtDeadline, BuildState, Candidate, DrainRequest, Effect, End, EndAction,
    Executor, ExecutorEffect, Host, HostId, Priority, Settings, Term, Work,
};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use shared::{Guarded, Shared};

/// A gate and slots, the least that can go wrong.
#[derive(Default)]
struct Slots {
    draining: bool,
    free: u32,
    in_flight: u32,
    pending: u32,
    open: bool,
    /// Tells its driver that there is nothing to do, whatever there is.
    blind: bool,
}

impl Slots {
    fn with(free: u32, pending: u32) -> Self {
        Self { free, pending, ..Self::default() }
    }

    fn may_start(&self) -> bool {
        !self.draining && self.free > 0 && self.pending > 0
    }

    /// Counts a build as in flight; the gate was read before.
    fn count(&mut self) {
        assert!(!self.draining, "a start behind a declared drain");
        assert!(self.free > 0, "more builds than slots");
        self.free -= 1;
        self.pending -= 1;
        self.in_flight += 1;
    }

    /// Ex4: reading the gate and being counted is one step.
    fn try_start(&mut self) -> bool {
        let starts = self.may_start();
        if starts {
            self.count();
        }
        starts
    }
}

impl Guarded for Slots {
    type Gate = bool;

    fn gate(&self) -> bool {
        self.open
    }

    fn has_work(&self) -> bool {
        !self.blind && self.may_start()
    }
}

/// Runs all executions of a model.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    loom::model::Builder::new().check(model);
}

/// A model that has to fail in some execution; says how it did.
fn fails(model: impl Fn() + Sync + Send + 'static) -> String {
    let failed = catch_unwind(AssertUnwindSafe(|| explore(model)));
    let panic = failed.expect_err("with its orders swapped the check finds something");
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn drain_beside(start: fn(&Shared<Slots>)) {
    let shared = Arc::new(Shared::new(Slots::with(1, 1)));
    let operator = Arc::clone(&shared);
    let operator = thread::spawn(move || operator.update(|slots| slots.draining = true));
    start(&shared);
    operator.join().expect("it does not panic");
}

#[test]
fn nothing_starts_behind_a_declared_drain() {
    explore(|| {
        drain_beside(|shared| {
            shared.update(Slots::try_start);
        });
    });
    let found = fails(|| {
        drain_beside(|shared| {
            if shared.read(Slots::may_start) {
                shared.update(Slots::count);
            }
        });
    });
    assert!(found.contains("behind a declared drain"), "{found}");
}

fn two_starts(start: fn(&Shared<Slots>)) {
    let shared = Arc::new(Shared::new(Slots::with(1, 2)));
    let other = Arc::clone(&shared);
    let other = thread::spawn(move || start(&other));
    start(&shared);
    other.join().expect("it does not panic");
    shared.read(|slots| assert_eq!((slots.free, slots.in_flight), (0, 1)));
}

#[test]
fn no_slot_is_counted_twice() {
    explore(|| {
        two_starts(|shared| {
            shared.update(Slots::try_start);
        });
    });
    let found = fails(|| {
        two_starts(|shared| {
            if shared.read(Slots::may_start) {
                shared.update(Slots::count);
            }
        });
    });
    assert!(!found.is_empty());
}

/// Whether a driver was woken. Not loom's: its executions run one thread at a time.
#[derive(Default)]
struct Woken(std::sync::atomic::AtomicBool);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// One poll of a driver beside an undrain: it starts what it can, or parks. In the end the build
/// runs, or the driver was woken to start it.
fn undrain_beside(blind: bool, undrain: fn(&Shared<Slots>)) {
    let slots = Slots { draining: true, blind, ..Slots::with(1, 1) };
    let shared = Arc::new(Shared::new(slots));
    let operator = Arc::clone(&shared);
    let operator = thread::spawn(move || undrain(&operator));
    let woken = std::sync::Arc::new(Woken::default());
    let waker = Waker::from(std::sync::Arc::clone(&woken));
    while !shared.quietly(Slots::try_start) && !shared.park_driver(&waker) {}
    operator.join().expect("it does not panic");
    let waits = shared.read(Slots::may_start);
    assert!(!waits || woken.0.load(Ordering::SeqCst), "a lost wake-up");
}

#[test]
fn an_undrain_wakes_the_driver() {
    explore(|| undrain_beside(false, |shared| shared.update(|slots| slots.draining = false)));
    // Wake, then change.
    let found = fails(|| {
        undrain_beside(false, |shared| {
            shared.update(|_| ());
            shared.quietly(|slots| slots.draining = false);
        });
    });
    assert!(found.contains("a lost wake-up"), "{found}");
    // Look, then park, in two steps.
    let found = fails(|| {
        undrain_beside(true, |shared| shared.update(|slots| slots.draining = false));
    });
    assert!(found.contains("a lost wake-up"), "{found}");
}

#[test]
fn an_undrain_wakes_whoever_waits_for_it() {
    explore(|| {
        let shared = Arc::new(Shared::new(Slots { draining: true, ..Slots::default() }));
        let operator = Arc::clone(&shared);
        let operator = thread::spawn(move || operator.update(|slots| slots.draining = false));
        loom::future::block_on(shared.until(|slots| (!slots.draining).then_some(())));
        operator.join().expect("it does not panic");
    });
}

/// The driver commits an approval and reads it; a probe asks twice.
fn probe_beside(approve: fn(&Shared<Slots>, &AtomicBool)) {
    let shared = Arc::new(Shared::new(Slots::default()));
    let committed = Arc::new(AtomicBool::new(false));
    let (probe, seen) = (Arc::clone(&shared), Arc::clone(&committed));
    let probe = thread::spawn(move || {
        let first = probe.gate();
        // Relaxed: only the gate itself may order the two.
        assert!(!first || seen.load(Ordering::Relaxed), "the gate opened early");
        let second = probe.gate();
        assert!(!first || second, "an approval went");
    });
    approve(&shared, &committed);
    probe.join().expect("it does not panic");
}

#[test]
fn the_gate_never_opens_early() {
    explore(|| {
        probe_beside(|shared, committed| {
            committed.store(true, Ordering::Relaxed);
            shared.update(|slots| slots.open = true);
        });
    });
    let found = fails(|| {
        probe_beside(|shared, committed| {
            shared.update(|slots| slots.open = true);
            committed.store(true, Ordering::Relaxed);
        });
    });
    assert!(found.contains("the gate opened early"), "{found}");
}

#[test]
fn a_probe_reads_while_the_gate_changes_under_it() {
    explore(|| {
        let shared = Arc::new(Shared::new(Slots::default()));
        let probe = Arc::clone(&shared);
        let probe = thread::spawn(move || probe.gate());
        shared.update(|slots| slots.open = true);
        shared.update(|slots| slots.open = false);
        shared.update(|slots| slots.open = true);
        probe.join().expect("it ends, and without waiting");
        assert!(shared.gate());
    });
}

/// The host of the core itself, with one local build, driven as the shell drives it.
struct Real {
    host: Host,
    orders: VecDeque<Effect>,
    runs: bool,
}

impl Real {
    fn new() -> Self {
        let candidate = Candidate::new(HostId::new("a", 1), "v1".into(), Priority(0));
        let executor = Executor::new(Settings::new(1, false), "v1".into());
        let (host, orders) = (Host::new(candidate, executor), VecDeque::new());
        let mut real = Self { host, orders, runs: false };
        real.give(|host| host.submit("x".into(), None, None)).expect("it is new");
        real
    }

    fn give<T>(&mut self, input: impl FnOnce(&mut Host) -> T) -> T {
        let answer = input(&mut self.host);
        self.orders.extend(std::iter::from_fn(|| self.host.poll_effect()));
        answer
    }

    /// One order, carried out and acknowledged; true once the build is recorded.
    fn step(&mut self) -> bool {
        let work = Work::Local("x".into());
        match self.orders.pop_front() {
            None if std::mem::take(&mut self.runs) => {
                self.give(|host| host.handle_build_end(&work, End::Succeeded)).expect("it runs");
            }
            None => {}
            Some(effect) => self.carry_out(&effect),
        }
        self.host.check();
        let recorded = self.host.executor().recorded(&work);
        self.orders.is_empty() && recorded == Some(&BuildState::Succeeded)
    }

    fn carry_out(&mut self, effect: &Effect) {
        let draining = self.host.executor().is_draining();
        self.runs |= matches!(effect, Effect::Executor(ExecutorEffect::Start { .. }));
        self.give(|host| host.acknowledge(effect, Acknowledgement::Done));
        if let Effect::Executor(ExecutorEffect::Wake(_)) = effect {
            let counted = self.host.executor().current().count();
            assert!(!draining || counted == 0, "a start behind a declared drain");
        }
    }
}

impl Guarded for Real {
    type Gate = ();

    fn gate(&self) {}

    fn has_work(&self) -> bool {
        !self.orders.is_empty() || self.runs
    }
}

#[test]
fn the_host_itself_drains_and_undrains_beside_its_driver() {
    explore(|| {
        let shared = Arc::new(Shared::new(Real::new()));
        let operator = Arc::clone(&shared);
        let operator = thread::spawn(move || {
            let request = DrainRequest {
                reason: "maintenance".into(),
                term: Term::UntilUndrained,
                end: EndAction::Nothing,
                at_deadline: AtDeadline::Report,
                since: 0,
            };
            let drained = operator.update(|real| real.give(|host| host.drain(request)));
            assert!(drained.is_ok());
            let undrained = operator.update(|real| real.give(Host::undrain));
            assert!(undrained.is_ok());
        });
        loom::future::block_on(poll_fn(|context| {
            loop {
                if shared.quietly(Real::step) {
                    return Poll::Ready(());
                }
                if shared.park_driver(context.waker()) {
                    return Poll::Pending;
                }
            }
        }));
        operator.join().expect("it does not panic");
    });
}
