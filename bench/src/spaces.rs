//! Every interleaving of a small rollout, by each tool: the same system, the same key, the same
//! checks. As many states and as many steps is what makes a comparison one.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use handover_sim::choose::FaultKind;
use handover_sim::explore::{
    Bounds, Coverage, Model, ModelChoice, ModelState, Reductions, explore,
};
use stateright::{Checker, Property};

/// What is compared: three hosts of two versions, of which one stands down or asks anew, and an
/// offer lapses. 102,479 states: enough to time, and few enough that all tools take turns within
/// minutes.
pub fn bounds() -> Bounds {
    let bounds = of(&[0, 0, 1], FaultKind::Reask);
    bounds.with(FaultKind::Lapse, 1).expect("such a fault has a budget")
}

/// What is large enough for two threads to work side by side: the same, and a host is drained.
/// 912,523 states.
pub fn large() -> Bounds {
    bounds().with(FaultKind::Drain, 1).expect("such a fault has a budget")
}

/// The same, and a host is declared gone that is not: large enough for memory to be a matter of
/// states alone. Other tools take minutes for it. 9,005,529 states.
pub fn largest() -> Bounds {
    large().with(FaultKind::Gone, 1).expect("such a fault has a budget")
}

/// Hosts of these versions, and one fault of a kind. `NoWedge` and `NoLivelock` are left out: no
/// other tool can decide them.
pub fn of(hosts: &[u8], fault: FaultKind) -> Bounds {
    let bounds = Bounds::new(hosts).with(fault, 1).expect("such a fault has a budget");
    Bounds { liveness: false, ..bounds }
}

/// The same with each step worked out anew, as other tools have to.
pub fn anew(bounds: Bounds) -> Bounds {
    let reductions = Reductions { shared_steps: false, ..bounds.reductions };
    Bounds { reductions, ..bounds }
}

/// Ours.
pub fn handover(bounds: &Bounds, jobs: usize) -> Coverage {
    explore(bounds, jobs, |_| ControlFlow::Continue(())).coverage
}

/// The states of a system that are found first, breadth first: to time its steps alone.
pub fn first_states(model: &Model, states_max: usize) -> Vec<ModelState> {
    let mut known = std::collections::BTreeSet::new();
    let mut scratch = model.scratch();
    let start = model.start();
    known.insert(start.print());
    let mut states = vec![start];
    let mut at = 0;
    while at < states.len() && states.len() < states_max {
        for choice in model.choices(&states[at]) {
            let next = model.follow(&states[at], &choice, &mut scratch);
            if known.insert(next.print()) {
                states.push(next);
            }
        }
        at += 1;
    }
    states
}

/// Step, clone and key of all choices of these states, and nothing else; says how many.
pub fn steps_alone(model: &Model, states: &[ModelState]) -> u64 {
    let mut scratch = model.scratch();
    let mut steps = 0;
    for state in states {
        for choice in model.choices(state) {
            std::hint::black_box(model.follow(state, &choice, &mut scratch));
            steps += 1;
        }
    }
    steps
}

/// How stateright goes through a space.
#[derive(Clone, Copy)]
pub enum Order {
    /// Depth first.
    Depth,
    /// Breadth first.
    Breadth,
}

/// stateright; says how many states and steps there are.
pub fn stateright(bounds: &Bounds, order: Order) -> (u64, u64) {
    use stateright::Model as _;

    let checker = Peer(Model::new(bounds.clone())).checker();
    let counts = |checker: &dyn Counts| (checker.states(), checker.steps());
    match order {
        Order::Depth => counts(&checker.spawn_dfs().join()),
        Order::Breadth => counts(&checker.spawn_bfs().join()),
    }
}

trait Counts {
    fn states(&self) -> u64;
    fn steps(&self) -> u64;
}

impl<C: Checker<Peer>> Counts for C {
    fn states(&self) -> u64 {
        assert!(self.discoveries().is_empty(), "the right protocol keeps all properties");
        self.unique_state_count() as u64
    }

    /// It counts the first state as a step.
    fn steps(&self) -> u64 {
        self.state_count() as u64 - 1
    }
}

/// The system as stateright sees it.
struct Peer(Model);

#[derive(Clone)]
struct PeerState(Arc<ModelState>);

impl stateright::Model for Peer {
    type State = PeerState;
    type Action = ModelChoice;

    fn init_states(&self) -> Vec<PeerState> {
        vec![PeerState(Arc::new(self.0.start()))]
    }

    fn actions(&self, state: &PeerState, actions: &mut Vec<ModelChoice>) {
        actions.extend(self.0.choices(&state.0));
    }

    fn next_state(&self, state: &PeerState, choice: ModelChoice) -> Option<PeerState> {
        thread_local! {
            static SCRATCH: std::cell::RefCell<Option<handover_sim::explore::ModelScratch>> =
                const { std::cell::RefCell::new(None) };
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let scratch = scratch.get_or_insert_with(|| self.0.scratch());
            Some(PeerState(Arc::new(self.0.follow(&state.0, &choice, scratch))))
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("safety", |_, state: &PeerState| state.0.holds())]
    }
}

impl PartialEq for PeerState {
    fn eq(&self, other: &Self) -> bool {
        self.0.print() == other.0.print()
    }
}

impl Eq for PeerState {}

impl Hash for PeerState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.print());
    }
}

impl fmt::Debug for PeerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.print())
    }
}
