//! What is kept of each state: its fingerprint, how it was first reached, what follows by itself.

/// The index of a state, in the order in which it was first reached.
pub(super) type State = u32;

/// All states that were reached.
#[derive(Debug, Default)]
pub(super) struct Space {
    prints: Vec<u128>,
    /// An open hash table of indices into `prints`, one up; 0 is free.
    slots: Vec<u32>,
    /// The state from which each was first reached, and by which of its actions.
    origins: Vec<(State, u16)>,
    pub(super) converged: Vec<bool>,
    /// What follows each expanded state without a fault, one state after another.
    successors: Vec<State>,
    /// Where the successors of each expanded state end.
    ends: Vec<usize>,
}

impl Space {
    /// Takes a state in; none where it is known.
    pub(super) fn insert(&mut self, print: u128, from: State, action: u16) -> (State, bool) {
        if (self.prints.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = self.slot(print);
        if let Some(known) = self.slots[at].checked_sub(1) {
            return (known, false);
        }
        let index = u32::try_from(self.prints.len()).expect("at most 2^32 states fit in memory");
        self.slots[at] = index + 1;
        self.prints.push(print);
        self.origins.push((from, action));
        (index, true)
    }

    pub(super) fn contains(&self, print: u128) -> bool {
        !self.slots.is_empty() && self.slots[self.slot(print)] != 0
    }

    /// Where this fingerprint is, or would be.
    fn slot(&self, print: u128) -> usize {
        let mask = self.slots.len() - 1;
        let low = u64::try_from(print & u128::from(u64::MAX)).expect("masked");
        let mut at = usize::try_from(low & mask as u64).expect("below the length");
        while let Some(known) = self.slots[at].checked_sub(1) {
            if self.prints[known as usize] == print {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(1024)];
        for index in 0..self.prints.len() {
            let at = self.slot(self.prints[index]);
            self.slots[at] = u32::try_from(index + 1).expect("at most 2^32 states");
        }
    }

    pub(super) fn len(&self) -> usize {
        self.prints.len()
    }

    /// States whose successors are known: the first ones.
    pub(super) fn expanded(&self) -> usize {
        self.ends.len()
    }

    /// A state follows the one that is being expanded, without a fault.
    pub(super) fn follows(&mut self, state: State) {
        self.successors.push(state);
    }

    /// The next state is expanded.
    pub(super) fn end_of_successors(&mut self) {
        self.ends.push(self.successors.len());
    }

    pub(super) fn successors(&self, state: usize) -> &[State] {
        let start = state.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.successors[start..self.ends[state]]
    }

    /// The actions that first led to a state, each by its number in the state before it.
    pub(super) fn path(&self, state: State) -> Vec<u16> {
        let mut path = Vec::new();
        let mut at = state;
        while at != 0 {
            let (from, action) = self.origins[at as usize];
            path.push(action);
            at = from;
        }
        path.reverse();
        path
    }
}
