//! How fast the world and the searches are, beside other tools on the same world.
//!
//! `cd bench && cargo run --release` prints one table, and writes the plot of the README. A name
//! behind it runs one part: `walks`, `rollouts`, `spaces`, `memory`, `shrinking`, `growth`.

mod measure;
mod memory;
mod plot;
mod random;
mod rollout;
mod shrinking;
mod spaces;
mod table;
mod walks;

use std::process::ExitCode;

use handover_sim::choose::FaultKind;
use handover_sim::explore::Model;

use measure::{Contender, Costs, take_turns, time};
use table::Table;
use walks::{OnTop, replay, reports, settings, walk_seeds};

/// How often the contenders take turns.
const TURNS: usize = 5;

/// Where the plot goes, seen from this package.
const PLOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/speed.svg");

fn main() -> ExitCode {
    if !cfg!(madsim) {
        eprintln!("without `--cfg madsim` nothing is simulated; run cargo in the folder `bench`");
        return ExitCode::from(2);
    }
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let [asked, name] = asked.as_slice()
        && asked == "--memory-of"
    {
        return memory::tell(name);
    }
    let parts: [(&str, fn(&mut Table)); 6] = [
        ("walks", walk_rows),
        ("rollouts", rollout_rows),
        ("spaces", space_rows),
        ("memory", memory_rows),
        ("shrinking", shrinking_rows),
        ("growth", growth_rows),
    ];
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    if let Some(unknown) = asked.iter().find(|asked| parts.iter().all(|(name, _)| name != asked)) {
        let names = parts.map(|(name, _)| name).join(", ");
        eprintln!("there is no part {unknown:?}; the parts are {names}");
        return ExitCode::from(2);
    }
    let mut table = Table::new();
    for (_, part) in parts.iter().filter(|(name, _)| is_asked(name)) {
        part(&mut table);
    }
    print!("{table}");
    ExitCode::SUCCESS
}

/// A walk of 5 hosts with faults, and what of it checks and digest cost.
fn walk_rows(table: &mut Table) {
    let five = settings(5);
    let reports = reports(200, &five);
    let mut contenders: [Contender<'_>; 3] = [
        ("walks", Box::new(|| walk_seeds(200, &five))),
        ("replays", Box::new(|| replay(&reports, OnTop::Nothing))),
        ("replays, judged", Box::new(|| replay(&reports, OnTop::ChecksAndDigest))),
    ];
    let costs = take_turns(TURNS, &mut contenders);
    table.rate("events/s of a walk of 5 hosts, checks and digest on", "1 M", &costs[0]);
    let with = costs[0].median();
    let without = with - (costs[2].median() - costs[1].median());
    let share = format!("{:.2}", without / with);
    table.row("that speed, as a share of the speed without them", "0.5", &share);
}

/// The same rollout in a random order, by each tool.
fn rollout_rows(table: &mut Table) {
    let world = rollout::all_ask(5);
    let schedules = random::schedules(&world, 300);
    let ours = || (0..300).map(|seed| random::handover(&world, seed)).sum();
    let shuttle = || random::shuttle(&world, 1, 100);
    let madsim = || (0..100).map(|seed| random::madsim(&world, seed)).sum();
    let mut contenders: [Contender<'_>; 4] = [
        ("handover", Box::new(ours)),
        ("shuttle", Box::new(shuttle)),
        ("madsim", Box::new(madsim)),
        ("steps alone", Box::new(|| random::steps_alone(&world, &schedules))),
    ];
    let costs = take_turns(TURNS, &mut contenders);
    let alone = costs[3].median();
    for (name, costs) in ["handover", "shuttle", "madsim"].iter().zip(&costs) {
        let what = format!("{name}: events/s of a calm rollout of 5 hosts in a random order");
        table.rate(&what, "none is faster than ours", costs);
        let own = format!("{:.0} ns", costs.median() - alone);
        table.row(&format!("{name}: its own time for each event"), "ours the least", &own);
    }
}

/// Every interleaving, by each tool that can.
fn space_rows(table: &mut Table) {
    let shared = spaces::bounds();
    let anew = spaces::anew(shared.clone());
    let coverage = spaces::handover(&anew, 1);
    let (states, steps) = (coverage.states as u64, coverage.transitions as u64);
    let model = Model::new(anew.clone());
    let all = spaces::first_states(&model, usize::MAX);
    let judge = |found: (u64, u64)| {
        assert_eq!(found, (states, steps), "all tools see the same space");
        states
    };
    let counts = |bounds| {
        let coverage = spaces::handover(bounds, 1);
        (coverage.states as u64, coverage.transitions as u64)
    };
    let depth = || judge(spaces::stateright(&anew, spaces::Order::Depth));
    let breadth = || judge(spaces::stateright(&anew, spaces::Order::Breadth));
    let alone = || judge((all.len() as u64, spaces::steps_alone(&model, &all)));
    let mut contenders: [Contender<'_>; 5] = [
        ("handover", Box::new(|| judge(counts(&shared)))),
        ("handover, each step anew", Box::new(|| judge(counts(&anew)))),
        ("stateright DFS, each step anew", Box::new(depth)),
        ("stateright BFS, each step anew", Box::new(breadth)),
        ("steps alone", Box::new(alone)),
    ];
    let names: Vec<&str> = contenders.iter().map(|(name, _)| *name).collect();
    let costs = take_turns(3, &mut contenders);
    let alone = costs[4].median();
    let steps_a_state = steps as f64 / states as f64;
    let what = format!("of {states} states and {steps} steps at 3 hosts, safety checks on");
    for (name, costs) in names.iter().zip(&costs[..4]) {
        let floor = if *name == "handover" { "0.3 M" } else { "none is faster than ours" };
        table.rate(&format!("{name}: unique states/s {what}"), floor, costs);
    }
    for (name, costs) in names.iter().zip(&costs[..4]) {
        // Below zero for who does not work each step out.
        let own = (costs.median() - alone) / steps_a_state;
        let what = format!("{name}: its own time for each step");
        table.row(&what, "ours the least", &format!("{own:.0} ns"));
    }
    two_threads(table);
}

/// By the clock, since two threads take as much processor time as one: to be believed only where
/// nothing else runs.
fn two_threads(table: &mut Table) {
    let bounds = spaces::large();
    let clock = |jobs: usize| {
        let start = std::time::Instant::now();
        let states = spaces::handover(&bounds, jobs).states;
        (start.elapsed().as_secs_f64(), states)
    };
    let mut states = 0;
    let turn = |turn: usize| {
        eprintln!("turn {turn} of {TURNS}: one thread, two threads");
        let ((one, found), (two, _)) = (clock(1), clock(2));
        states = found;
        one / two
    };
    let mut gains: Vec<f64> = (1..=TURNS).map(turn).collect();
    gains.sort_by(f64::total_cmp);
    let [least, middle, most] = [gains[0], gains[TURNS / 2], gains[TURNS - 1]];
    let text = format!("{middle:.2} times ({least:.2} to {most:.2}, by the clock)");
    let what = format!("two threads against one, {states} states at 3 hosts");
    table.row(&what, "1.6 times", &text);
}

/// Memory for each unique state.
fn memory_rows(table: &mut Table) {
    let floors = ["40 B", "100 B", "", ""];
    for (name, floor) in memory::MEASURED.iter().zip(floors) {
        eprintln!("memory: {name}");
        let text = memory::of(name).map_or_else(
            || "not told by this system".to_owned(),
            |memory| format!("{:.0} B ({} states)", memory.bytes, memory.states),
        );
        table.row(&format!("{name}: memory for each unique state"), floor, &text);
    }
}

/// The smallest explanation of failures of the default swarm.
fn shrinking_rows(table: &mut Table) {
    let mut all = shrinking::all();
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let (Some(middle), Some(worst)) = (all.get(all.len() / 2), all.last()) else {
        table.row("shrinking a failure of the default swarm", "1 s", "nothing failed");
        return;
    };
    for (which, floor, shrunk) in [("median", "1 s", middle), ("worst", "20 s", worst)] {
        let what = format!("shrinking, 20 hosts, the {which} of {} failures", all.len());
        let (seconds, replays, (from, to)) = (shrunk.seconds, shrunk.replays, shrunk.steps);
        let text = format!("{seconds:.2} s, {replays} replays, {from} steps to {to}");
        table.row(&what, floor, &text);
    }
}

/// What an event and a step of the explorer cost, by the number of hosts.
fn growth_rows(table: &mut Table) {
    let mut lines = [
        plot::Line { name: "event of a walk", points: Vec::new() },
        plot::Line { name: "state explored", points: Vec::new() },
    ];
    for hosts in [2, 4, 8, 16, 50, 200] {
        let settings = settings(hosts);
        let seeds = (400 / u64::from(hosts)).max(2);
        let mut contenders: [Contender<'_>; 1] =
            [("walks", Box::new(|| walk_seeds(seeds, &settings)))];
        let costs = take_turns(3, &mut contenders);
        let what = format!("an event of a walk of {hosts} hosts, checks and digest on");
        table.cost(&what, "O(log n)", &costs[0]);
        if hosts <= 16 {
            lines[0].points.push((hosts, costs[0].median()));
            let nanos = state_cost(hosts);
            lines[1].points.push((hosts, nanos));
            let what = format!("a state explored at {hosts} hosts, each step anew");
            table.row(&what, "", &table::nanos(nanos));
        }
    }
    let svg = plot::draw("What an event and a state cost", &lines);
    match std::fs::write(PLOT, svg) {
        Ok(()) => eprintln!("the plot is in {PLOT}"),
        Err(error) => eprintln!("the plot is not written: {PLOT}: {error}"),
    }
}

/// Of the first states, what one costs: all its choices, and their keys. The hosts keep their
/// seats: to seat four in each of 24 ways, and eight in one, would be no line.
fn state_cost(hosts: u16) -> f64 {
    let versions: Vec<u8> = (0..hosts).map(|host| u8::from(host % 2 == 1)).collect();
    let mut bounds = spaces::anew(spaces::of(&versions, FaultKind::Crash));
    bounds.reductions.symmetry = false;
    let model = Model::new(bounds);
    let states = spaces::first_states(&model, 500);
    let (_, took) = time(|| spaces::steps_alone(&model, &states));
    took.as_nanos() as f64 / states.len() as f64
}

impl Costs {
    /// Items a second: the slowest, the middle and the fastest turn.
    fn rates(&self) -> [f64; 3] {
        let [least, middle, most] = self.spread();
        [1e9 / most, 1e9 / middle, 1e9 / least]
    }
}
