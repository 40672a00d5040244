//! What is kept of each state: its fingerprint, how it was first reached, what follows by itself.

use std::sync::Mutex;

use super::index::Index;

/// The index of a state, in the order in which it was first reached.
pub(super) type State = u32;

/// A state that is new has the number of the outcome that reached it, and this bit.
const NEW: u32 = 1 << 31;

/// Tables of fingerprints; threads share them out among themselves.
const SHARDS: usize = 16;

/// All states that were reached.
#[derive(Debug)]
pub(super) struct Space {
    shards: Vec<Index<u64>>,
    /// The state from which each was first reached.
    origins: Vec<State>,
    /// States whose successors are known: the first ones.
    pub(super) expanded: usize,
    /// How many of them are converged.
    pub(super) converged: usize,
    /// What cycles and dead ends are looked for in.
    graph: Option<Graph>,
}

/// What follows each expanded state without a fault.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) converged: Vec<bool>,
    /// One state after another.
    successors: Vec<State>,
    /// How many follow each.
    degrees: Vec<u8>,
}

impl Space {
    /// With the first state. What follows a state is kept where cycles and dead ends are looked
    /// for.
    pub(super) fn new(first: u64, keeps_graph: bool) -> Self {
        let mut shards: Vec<Index<u64>> = (0..SHARDS).map(|_| Index::new()).collect();
        shards[shard(first)].find_or_insert(first, 0);
        Self {
            shards,
            origins: vec![0],
            expanded: 0,
            converged: 0,
            graph: keeps_graph.then(Graph::default),
        }
    }

    pub(super) fn contains(&self, print: u64) -> bool {
        self.shards[shard(print)].find(print).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    pub(super) fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }

    /// In memory.
    pub(super) fn bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(Index::bytes).sum();
        let graph = self.graph.as_ref().map_or(0, |graph| {
            let per_state = graph.converged.len() + graph.degrees.len();
            per_state + graph.successors.len() * size_of::<State>()
        });
        tables + self.origins.len() * size_of::<State>() + graph
    }

    /// The tables, each with its number, shared out among so many threads.
    fn lots(&mut self, jobs: usize) -> Vec<Vec<(usize, &mut Index<u64>)>> {
        let mut lots: Vec<Vec<_>> = (0..jobs).map(|_| Vec::new()).collect();
        for (at, shard) in self.shards.iter_mut().enumerate() {
            lots[at % jobs].push((at, shard));
        }
        lots
    }

    /// Looks the outcomes of a batch up, and puts in those that are new, in parallel by fingerprint:
    /// what comes of it is for [`Numbering`].
    pub(super) fn look_up(&mut self, prints: &[&[u64]], jobs: usize) -> Vec<Vec<u32>> {
        let jobs = jobs.clamp(1, SHARDS);
        in_parallel(jobs, self.lots(jobs), |mut lot| {
            let mut found = Vec::new();
            for (number, print) in (0..).zip(prints.iter().copied().flatten()) {
                if shard(*print) % jobs == lot[0].0 {
                    let table = &mut lot[shard(*print) / jobs].1;
                    let state = table.find_or_insert(*print, NEW | number);
                    found.push(state.unwrap_or(NEW | number));
                }
            }
            found
        })
    }

    /// Takes in what follows the next state; what belongs to the states that are new is told in
    /// their order.
    pub(super) fn take_in<T>(
        &mut self,
        is_converged: bool,
        outcomes: impl Iterator<Item = (u64, bool, T)>,
        numbering: &mut Numbering,
        mut on_new: impl FnMut(T),
    ) {
        let from = State::try_from(self.expanded).expect("at most 2^31 states");
        let mut degree = 0_u8;
        for (print, is_free, node) in outcomes {
            let (state, new) = numbering.next(print, self.origins.len());
            if new {
                self.origins.push(from);
                on_new(node);
            }
            if let Some(graph) = self.graph.as_mut().filter(|_| is_free) {
                graph.successors.push(state);
                degree = degree.checked_add(1).expect("few states follow one");
            }
        }
        if let Some(graph) = &mut self.graph {
            graph.degrees.push(degree);
            graph.converged.push(is_converged);
        }
        self.expanded += 1;
        self.converged += usize::from(is_converged);
    }

    /// Puts the numbers of a batch's new states into the tables.
    pub(super) fn settle(&mut self, numbering: &Numbering) {
        in_parallel(numbering.jobs, self.lots(numbering.jobs), |lot| {
            for (at, shard) in lot {
                for (print, state) in &numbering.new[at] {
                    shard.replace(*print, *state);
                }
            }
        });
    }

    /// The fingerprints on the way to a state, which comes last.
    pub(super) fn path(&self, state: State) -> Vec<u64> {
        let mut path = vec![state];
        while let Some(at) = path.last().copied().filter(|at| *at != 0) {
            path.push(self.origins[at as usize]);
        }
        path.reverse();
        let mut prints = vec![0; path.len()];
        let all = self.shards.iter().flat_map(Index::entries);
        for (print, state) in all {
            if let Ok(at) = path.binary_search(&state) {
                prints[at] = print;
            }
        }
        prints
    }

    /// The state from which this one was first reached.
    pub(super) fn origin(&self, state: State) -> State {
        self.origins[state as usize]
    }
}

impl Graph {
    /// How many states were expanded.
    pub(super) fn len(&self) -> usize {
        self.degrees.len()
    }

    /// A state and what follows it, for each expanded state.
    pub(super) fn all_successors(&self) -> impl Iterator<Item = (usize, &[State])> {
        let mut rest = &self.successors[..];
        self.degrees.iter().enumerate().map(move |(from, degree)| {
            let (successors, others) = rest.split_at(usize::from(*degree));
            rest = others;
            (from, successors)
        })
    }

    /// The same, the last state first.
    pub(super) fn all_successors_backwards(&self) -> impl Iterator<Item = (usize, &[State])> {
        let mut rest = &self.successors[..];
        self.degrees.iter().enumerate().rev().map(move |(from, degree)| {
            let (others, successors) = rest.split_at(rest.len() - usize::from(*degree));
            rest = others;
            (from, successors)
        })
    }
}

/// Numbers the new states of a batch in the order in which they were reached.
pub(super) struct Numbering {
    jobs: usize,
    found: Vec<std::vec::IntoIter<u32>>,
    /// The state of each outcome.
    states: Vec<State>,
    /// The new ones, by table.
    new: Vec<Vec<(u64, State)>>,
}

impl Numbering {
    pub(super) fn new(found: Vec<Vec<u32>>) -> Self {
        let states = Vec::with_capacity(found.iter().map(Vec::len).sum());
        let found: Vec<_> = found.into_iter().map(Vec::into_iter).collect();
        Self { jobs: found.len(), found, states, new: vec![Vec::new(); SHARDS] }
    }

    /// The state of the next outcome, and whether it is new.
    fn next(&mut self, print: u64, next: usize) -> (State, bool) {
        let found = self.found[shard(print) % self.jobs].next().expect("each was looked up");
        let number = self.states.len();
        let first = usize::try_from(found & !NEW).expect("a small number");
        let (state, new) = if found & NEW == 0 {
            (found, false)
        } else if first == number {
            let next = State::try_from(next).ok().filter(|next| next & NEW == 0);
            let next = next.expect("at most 2^31 states fit in memory");
            self.new[shard(print)].push((print, next));
            (next, true)
        } else {
            (self.states[first], false)
        };
        self.states.push(state);
        (state, new)
    }
}

fn shard(print: u64) -> usize {
    usize::try_from(print % SHARDS as u64).expect("few shards")
}

/// Does the same with each lot, on so many threads, each of which takes the next lot that nobody
/// has taken; what comes of them is in their order.
pub(super) fn in_parallel<T: Send, R: Send>(
    jobs: usize,
    lots: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let jobs = jobs.min(lots.len());
    if jobs <= 1 {
        return lots.into_iter().map(work).collect();
    }
    let lots = Mutex::new(lots.into_iter().enumerate());
    let take = || lots.lock().expect("nobody fails while taking").next();
    let take_all = || {
        let done = std::iter::from_fn(take).map(|(at, lot)| (at, work(lot)));
        done.collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..jobs).map(|_| scope.spawn(take_all)).collect();
        let mut done = take_all();
        for thread in others {
            done.extend(thread.join().expect("a defect in an expansion ends the search"));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_lots_is_in_their_order_whoever_was_done_first() {
        let lots = || (0..100_u64).rev().collect::<Vec<_>>();
        // The first lots take longest.
        let work = |lot: u64| (0..lot * 1_000).fold(lot, |sum, each| sum ^ each.rotate_left(7));
        let alone: Vec<u64> = lots().into_iter().map(work).collect();
        for jobs in [1, 2, 3, 200] {
            assert_eq!(in_parallel(jobs, lots(), work), alone, "{jobs}");
        }
        assert!(in_parallel(2, Vec::new(), work).is_empty());
    }
}
