//! The liveness properties of a space: can, and must, every state converge?
//!
//! A state that was reached and not expanded may converge for all that is known. So what is found
//! in a space that is not exhausted is true of the whole.

use super::space::{Graph, State};

/// Who comes before each state, without a fault.
struct Predecessors {
    all: Vec<State>,
    ends: Vec<u32>,
}

impl Predecessors {
    fn of(graph: &Graph, states: usize) -> Self {
        let mut starts = vec![0_u32; states + 1];
        for (_, successors) in graph.all_successors() {
            for to in successors {
                starts[*to as usize + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        // Each start moves to the end of its states, where the next ones start.
        let mut all = vec![0; starts[states] as usize];
        for (from, successors) in graph.all_successors() {
            for to in successors {
                let at = &mut starts[*to as usize];
                all[*at as usize] = state(from);
                *at += 1;
            }
        }
        starts.pop();
        Self { all, ends: starts }
    }

    fn before(&self, state: State) -> &[State] {
        let at = state as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[at] as usize]
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

/// Of so many states, of which the graph has those that were expanded.
pub(super) fn judge(graph: &Graph, states: usize) -> Liveness {
    let before = Predecessors::of(graph, states);
    Liveness { wedge: wedge(graph, states, &before), livelock: livelock(graph, states, &before) }
}

fn ends(graph: &Graph, states: usize) -> Vec<State> {
    let ends = |at: &usize| *at >= graph.len() || graph.converged[*at];
    (0..states).filter(ends).map(state).collect()
}

fn wedge(graph: &Graph, states: usize, predecessors: &Predecessors) -> Option<State> {
    let mut reached = vec![false; states];
    let mut ready = ends(graph, states);
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
fn livelock(graph: &Graph, states: usize, predecessors: &Predecessors) -> Option<(State, usize)> {
    let mut left = vec![0_u8; states];
    let mut gone = vec![false; states];
    let mut ready = ends(graph, states);
    for each in &ready {
        gone[*each as usize] = true;
    }
    let open = graph.all_successors().filter(|(from, _)| !graph.converged[*from]);
    for (from, successors) in open {
        let moves = successors.iter().filter(|to| **to as usize != from);
        left[from] = u8::try_from(moves.count()).expect("few states follow one");
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
    Some(cycle_from(graph, &gone, first))
}

/// Goes on through states that were not eliminated until one comes again.
fn cycle_from(graph: &Graph, gone: &[bool], first: usize) -> (State, usize) {
    // The first successor of each that is left.
    let mut next = vec![0; gone.len()];
    for (from, successors) in graph.all_successors().filter(|(from, _)| !gone[*from]) {
        let mut moves = successors.iter().map(|to| *to as usize);
        let left = moves.find(|to| *to != from && !gone[*to]);
        next[from] = left.expect("a state that is left has a successor that is left");
    }
    let mut met = vec![None; gone.len()];
    let mut at = first;
    for step in 0.. {
        if let Some(before) = met[at].replace(step) {
            return (state(at), step - before);
        }
        at = next[at];
    }
    unreachable!("a finite space is walked in finitely many steps")
}

fn state(index: usize) -> State {
    State::try_from(index).expect("at most 2^32 states")
}

#[cfg(test)]
mod tests {
    use super::super::space::{Numbering, Space};
    use super::*;

    /// A space of these converged states and successors; states that have none listed are not
    /// expanded.
    fn space(count: u32, converged: &[u32], successors: &[&[u32]]) -> Space {
        let mut space = Space::new(1, true);
        let print = |state: u32| u64::from(state) + 1;
        // So that the states have their numbers, the first one is said to lead to all of them.
        let mut rest = (1..count).collect::<Vec<u32>>();
        for (from, of_one) in (0..).zip(successors) {
            let others = std::mem::take(&mut rest);
            let reached = others.iter().map(|state| (print(*state), false));
            let free = of_one.iter().map(|state| (print(*state), true));
            let outcomes: Vec<(u64, bool)> = reached.chain(free).collect();
            let prints: Vec<u64> = outcomes.iter().map(|(print, _)| *print).collect();
            let outcomes = outcomes.into_iter().map(|(print, is_free)| (print, is_free, ()));
            let mut numbering = Numbering::new(space.look_up(&[&prints], 1));
            let is_converged = converged.contains(&from);
            space.take_in(is_converged, outcomes, &mut numbering, |()| ());
            space.settle(&numbering);
        }
        space
    }

    fn judge(space: &Space) -> Liveness {
        super::judge(space.graph().expect("it is kept"), space.len())
    }

    #[test]
    fn a_space_in_which_all_ways_converge_has_neither() {
        let found = judge(&space(4, &[3], &[&[1, 2], &[3, 1], &[3], &[]]));
        assert_eq!((found.wedge, found.livelock), (None, None));
    }

    #[test]
    fn a_dead_end_is_a_wedge_and_so_is_all_that_only_leads_there() {
        let found = judge(&space(4, &[3], &[&[1, 3], &[2], &[], &[]]));
        assert_eq!((found.wedge, found.livelock), (Some(1), None));
    }

    #[test]
    fn a_cycle_that_can_be_left_is_a_livelock_and_no_wedge() {
        let found = judge(&space(4, &[3], &[&[1], &[2], &[1, 3], &[]]));
        assert_eq!((found.wedge, found.livelock), (None, Some((1, 2))));
    }

    #[test]
    fn a_cycle_that_cannot_be_left_is_both() {
        let found = judge(&space(3, &[], &[&[1], &[2], &[1]]));
        assert_eq!((found.wedge, found.livelock), (Some(0), Some((1, 2))));
    }

    #[test]
    fn what_was_not_expanded_may_converge() {
        let found = judge(&space(3, &[], &[&[1, 2], &[2]]));
        assert_eq!((found.wedge, found.livelock), (None, None));
    }

    #[test]
    fn a_converged_state_may_be_left_again() {
        let found = judge(&space(2, &[0], &[&[1], &[0]]));
        assert_eq!((found.wedge, found.livelock), (None, None));
    }
}
