//! How a comparison is run: the contenders take turns, several times over, and what each took is
//! its own processor time, so that others on the machine count less than they would by the clock.

use std::time::Duration;

use cpu_time::ProcessTime;

/// What a contender took for each item, over all turns.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Nanoseconds an item, in ascending order.
    nanos: Vec<f64>,
    /// Items of a turn.
    pub items: u64,
}

impl Costs {
    /// The cheapest, the middle and the dearest turn, in nanoseconds an item.
    pub fn spread(&self) -> [f64; 3] {
        [self.nanos[0], self.median(), self.nanos[self.nanos.len() - 1]]
    }

    /// The middle turn, in nanoseconds an item.
    pub fn median(&self) -> f64 {
        self.nanos[self.nanos.len() / 2]
    }
}

/// One of those that are compared: does its work, and says how many items that was.
pub type Contender<'a> = (&'static str, Box<dyn FnMut() -> u64 + Send + 'a>);

/// Lets contenders take turns, each turn in a thread of its own: some tools work in threads
/// anyway, and the heap of this one has been used by all that came before.
pub fn take_turns(turns: usize, contenders: &mut [Contender<'_>]) -> Vec<Costs> {
    let none = Costs { nanos: Vec::new(), items: 0 };
    let mut costs = vec![none; contenders.len()];
    for turn in 1..=turns {
        for ((name, work), costs) in contenders.iter_mut().zip(&mut costs) {
            eprintln!("turn {turn} of {turns}: {name}");
            let turn = || time(work);
            let (items, took) = std::thread::scope(|scope| {
                scope.spawn(turn).join().expect("a contender that panics ends the comparison")
            });
            costs.items = items;
            costs.nanos.push(took.as_nanos() as f64 / items as f64);
        }
    }
    for costs in &mut costs {
        costs.nanos.sort_by(f64::total_cmp);
    }
    costs
}

/// What something takes of this process's processor time.
pub fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = ProcessTime::now();
    let answer = work();
    (answer, start.elapsed())
}
