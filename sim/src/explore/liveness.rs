//! The liveness properties of a space: can, and must, every state converge?
//!
//! A state that was reached and not expanded may converge for all that is known. So what is found
//! in a space that is not exhausted is true of the whole.

use super::space::{Space, State};

/// Who comes before each state, without a fault.
struct Predecessors {
    all: Vec<State>,
    starts: Vec<usize>,
}

impl Predecessors {
    fn of(space: &Space) -> Self {
        let mut starts = vec![0; space.len() + 1];
        for from in 0..space.expanded() {
            for to in space.successors(from) {
                starts[*to as usize + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![0; starts[space.len()]];
        for from in 0..space.expanded() {
            for to in space.successors(from) {
                let at = &mut next[*to as usize];
                all[*at] = state(from);
                *at += 1;
            }
        }
        Self { all, starts }
    }

    fn before(&self, state: State) -> &[State] {
        let at = state as usize;
        &self.all[self.starts[at]..self.starts[at + 1]]
    }
}

/// What is known of the liveness of a space.
#[derive(Debug)]
pub(super) struct Liveness {
    /// The first state from which no converged one can be reached.
    pub(super) wedge: Option<State>,
    /// The first state found on a cycle that avoids convergence, and the length of the cycle.
    pub(super) livelock: Option<(State, usize)>,
}

pub(super) fn judge(space: &Space) -> Liveness {
    let predecessors = Predecessors::of(space);
    Liveness { wedge: wedge(space, &predecessors), livelock: livelock(space, &predecessors) }
}

fn ends(space: &Space) -> Vec<State> {
    let ends = |at: &usize| *at >= space.expanded() || space.converged[*at];
    (0..space.len()).filter(ends).map(state).collect()
}

fn wedge(space: &Space, predecessors: &Predecessors) -> Option<State> {
    let mut reached = vec![false; space.len()];
    let mut ready = ends(space);
    for each in &ready {
        reached[*each as usize] = true;
    }
    while let Some(each) = ready.pop() {
        for before in predecessors.before(each) {
            if !std::mem::replace(&mut reached[*before as usize], true) {
                ready.push(*before);
            }
        }
    }
    reached.iter().position(|reached| !reached).map(state)
}

/// Eliminates, again and again, the states all of whose successors are eliminated. What nothing
/// follows is a wedge and no cycle; a step that changes nothing is none.
fn livelock(space: &Space, predecessors: &Predecessors) -> Option<(State, usize)> {
    let mut left = vec![0_usize; space.len()];
    let mut gone = vec![false; space.len()];
    let mut ready = ends(space);
    for each in &ready {
        gone[*each as usize] = true;
    }
    for from in (0..space.expanded()).filter(|from| !space.converged[*from]) {
        let moves = space.successors(from).iter().filter(|to| **to as usize != from);
        left[from] = moves.count();
        if left[from] == 0 {
            gone[from] = true;
            ready.push(state(from));
        }
    }
    while let Some(each) = ready.pop() {
        for before in predecessors.before(each).iter().map(|before| *before as usize) {
            if gone[before] || before == each as usize {
                continue;
            }
            left[before] -= 1;
            if left[before] == 0 {
                gone[before] = true;
                ready.push(state(before));
            }
        }
    }
    let first = gone.iter().position(|gone| !gone)?;
    Some(cycle_from(space, &gone, first))
}

/// Goes on through states that were not eliminated until one comes again.
fn cycle_from(space: &Space, gone: &[bool], first: usize) -> (State, usize) {
    let mut met = vec![None; gone.len()];
    let mut at = first;
    for step in 0.. {
        if let Some(before) = met[at].replace(step) {
            return (state(at), step - before);
        }
        let mut moves = space.successors(at).iter().map(|to| *to as usize);
        let next = moves.find(|to| *to != at && !gone[*to]);
        at = next.expect("a state that is left has a successor that is left");
    }
    unreachable!("a finite space is walked in finitely many steps")
}

fn state(index: usize) -> State {
    State::try_from(index).expect("at most 2^32 states")
}
