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
///
/// Where all are eliminated, and none of them for want of anything that follows it, all of them can
/// converge as well: no wedge has to be looked for then.
pub(super) fn judge(graph: &Graph, states: usize) -> Liveness {
    let mut left = Left::of(graph, states);
    for _ in 0..SWEEPS_MAX {
        if !left.sweep(graph) {
            break;
        }
    }
    if left.count == 0 && !left.has_dead_end {
        return Liveness { wedge: None, livelock: None };
    }
    let before = Predecessors::of(graph, states);
    Liveness { wedge: wedge(graph, states, &before), livelock: left.livelock(graph, &before) }
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

/// The states that are left when, again and again, those are eliminated all of whose successors
/// are. What nothing follows is a wedge and no cycle; a step that changes nothing is none.
struct Left {
    gone: Vec<bool>,
    count: usize,
    /// Nothing follows one that was eliminated, and it is not converged.
    has_dead_end: bool,
}

/// Two dozen are enough for the protocol. There are spaces of which each sweep eliminates a single
/// state: what is left after so many is eliminated by who comes before whom.
const SWEEPS_MAX: usize = 64;

impl Left {
    fn of(graph: &Graph, states: usize) -> Self {
        let ends = |at: usize| at >= graph.len() || graph.converged[at];
        let gone: Vec<bool> = (0..states).map(ends).collect();
        let count = gone.iter().filter(|gone| !**gone).count();
        Self { gone, count, has_dead_end: false }
    }

    /// Eliminates on one way through all states, the last one first, for most of what follows a
    /// state has a higher number. Might another sweep eliminate more?
    fn sweep(&mut self, graph: &Graph) -> bool {
        let before = self.count;
        for (from, successors) in graph.all_successors_backwards() {
            if self.gone[from] {
                continue;
            }
            let mut moves = successors.iter().map(|to| *to as usize).filter(|to| *to != from);
            self.has_dead_end |= moves.clone().next().is_none();
            if moves.all(|to| self.gone[to]) {
                self.gone[from] = true;
                self.count -= 1;
            }
        }
        self.count > 0 && self.count < before
    }

    /// Eliminates one by one, each when the last one that follows it is. Of what cannot be, the first
    /// leads to a cycle.
    fn livelock(mut self, graph: &Graph, predecessors: &Predecessors) -> Option<(State, usize)> {
        let mut left = vec![0_u8; self.gone.len()];
        let mut ready = Vec::new();
        for (from, successors) in graph.all_successors().filter(|(from, _)| !self.gone[*from]) {
            let stays = |to: &&State| **to as usize != from && !self.gone[**to as usize];
            let moves = successors.iter().filter(stays).count();
            left[from] = u8::try_from(moves).expect("few states follow one");
            if moves == 0 {
                ready.push(state(from));
            }
        }
        while let Some(each) = ready.pop() {
            self.gone[each as usize] = true;
            for before in predecessors.before(each).iter().map(|before| *before as usize) {
                if self.gone[before] || before == each as usize {
                    continue;
                }
                left[before] -= 1;
                if left[before] == 0 {
                    ready.push(state(before));
                }
            }
        }
        let first = self.gone.iter().position(|gone| !gone)?;
        Some(cycle_from(graph, &self.gone, first))
    }
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

    /// Each state but the first one leads to the one before it.
    fn downwards(count: u32, converged: &[u32]) -> Space {
        let successors: Vec<Vec<u32>> =
            (0..count).map(|at| at.checked_sub(1).into_iter().collect()).collect();
        let successors: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
        space(count, converged, &successors)
    }

    #[test]
    fn a_way_that_no_sweep_follows_to_its_end_converges_or_does_not() {
        let count = u32::try_from(3 * SWEEPS_MAX).expect("few");
        let found = judge(&downwards(count, &[0]));
        assert_eq!((found.wedge, found.livelock), (None, None));
        let found = judge(&downwards(count, &[]));
        assert_eq!((found.wedge, found.livelock), (Some(0), None));
    }

    #[test]
    fn a_cycle_is_found_behind_a_way_that_no_sweep_follows_to_its_end() {
        let count = u32::try_from(3 * SWEEPS_MAX).expect("few");
        let mut successors: Vec<Vec<u32>> =
            (0..count).map(|at| vec![at.saturating_sub(1)]).collect();
        successors[1] = vec![0, 2];
        let successors: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
        let found = judge(&space(count, &[0], &successors));
        assert_eq!((found.wedge, found.livelock), (None, Some((1, 2))));
    }

    #[test]
    fn a_converged_state_may_be_left_again() {
        let found = judge(&space(2, &[0], &[&[1], &[0]]));
        assert_eq!((found.wedge, found.livelock), (None, None));
    }
}
