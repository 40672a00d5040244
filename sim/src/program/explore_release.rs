//! `explore --release-orders`: the orders in which a deployment may release what it holds, and the
//! steps that may be taken apart, each in all settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_sim::explore::release::{
    Case, Demand, Order, RIGHT, Release, Setting, Steps, orders, search,
};
use handover_sim::suite::Judgement;

use super::cli::Explore;
use super::{complain, interrupt, print, progress};

/// The other builds: with one slot both wait, with two one of them runs.
const OTHERS: usize = 2;

/// Orders between two lines of a log.
const LINE_SUBJECTS: usize = 20;

/// An order or a way to take steps apart, in all settings.
struct Found {
    order: Order,
    steps: Steps,
    /// What is broken, in how many steps at least.
    broken: BTreeMap<Demand, usize>,
    /// The same, without crashes.
    without_crashes: BTreeMap<Demand, usize>,
    states: usize,
    /// Of the setting that has most.
    most: usize,
}

/// As expected where the core's order, and it alone, breaks nothing.
pub(super) fn explore(asked: &Explore) -> Judgement {
    interrupt::listen();
    let orders = orders().into_iter().map(|order| (order, Steps::OfTheCore));
    let apart = Steps::ALL.iter().map(|steps| (RIGHT, *steps)).skip(1);
    let subjects: Vec<_> = orders.chain(apart).collect();
    let all = in_all_settings(&subjects, asked.jobs.count());
    if all.len() < subjects.len() {
        let text = format!("interrupted: {} of {} seen\n", all.len(), subjects.len());
        return Judgement::Unknown.max(print(&text));
    }
    let (orders, apart) = all.split_at(all.len() - (Steps::ALL.len() - 1));
    let right: Vec<&Found> = orders.iter().filter(|found| found.broken.is_empty()).collect();
    let wrong = apart.iter().filter(|found| !found.broken.is_empty()).count();
    let printed = print(&report(orders, apart));
    let alone = matches!(right[..], [found] if found.order == RIGHT);
    let as_expected = alone && wrong == Steps::ALL.len() - Steps::RIGHT;
    let judgement = if as_expected { Judgement::AsExpected } else { Judgement::NotAsExpected };
    judgement.max(printed)
}

/// Each subject in all settings, in their order; fewer where a Ctrl-C came.
fn in_all_settings(subjects: &[(Order, Steps)], jobs: usize) -> Vec<Found> {
    let line = progress::line();
    let (mut all, mut told) = (Vec::new(), LINE_SUBJECTS);
    let subjects_count = subjects.len();
    for subjects in subjects.chunks(jobs) {
        if interrupt::is_interrupted() {
            break;
        }
        let text = format!("{} of {} orders and steps seen", all.len(), subjects_count);
        if line.is_hidden() && all.len() >= told {
            complain(&text);
            told += LINE_SUBJECTS;
        }
        line.set_message(text);
        line.tick();
        all.extend(std::thread::scope(|scope| {
            let start = |subject: &(Order, Steps)| {
                let (order, steps) = *subject;
                scope.spawn(move || in_settings(order, steps))
            };
            let threads: Vec<_> = subjects.iter().map(start).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, Found>| {
                thread.join().expect("a defect in a search ends all of them")
            };
            threads.into_iter().map(join).collect::<Vec<_>>()
        }));
    }
    line.finish_and_clear();
    all
}

fn in_settings(order: Order, steps: Steps) -> Found {
    let (broken, without_crashes) = (BTreeMap::new(), BTreeMap::new());
    let mut all = Found { order, steps, broken, without_crashes, states: 0, most: 0 };
    for setting in Setting::all() {
        let found = search(&Case { order, steps, others: OTHERS, setting });
        all.states += found.states;
        all.most = all.most.max(found.states);
        for (demand, depth) in found.broken {
            note(&mut all.broken, demand, depth);
            if !setting.crashes {
                note(&mut all.without_crashes, demand, depth);
            }
        }
    }
    all
}

fn note(broken: &mut BTreeMap<Demand, usize>, demand: Demand, depth: usize) {
    let least = broken.entry(demand).or_insert(depth);
    *least = depth.min(*least);
}

fn report(orders: &[Found], apart: &[Found]) -> String {
    let mut text = String::from("A artifacts, T status, F drain, R removed, S slot, W wait\n\n");
    let _ = writeln!(text, "{:22} {:>16} {:>16}", "orders that keep it", "without crashes", "all");
    let count = |keeps: &dyn Fn(&Found) -> bool| orders.iter().filter(|each| keeps(each)).count();
    for demand in Demand::ALL {
        let without = count(&|found| !found.without_crashes.contains_key(demand));
        let with = count(&|found| !found.broken.contains_key(demand));
        let _ = writeln!(text, "{demand:22} {without:>16} {with:>16}");
    }
    let without = count(&|found| found.without_crashes.is_empty());
    let right: Vec<&Found> = orders.iter().filter(|found| found.broken.is_empty()).collect();
    let names: Vec<String> = right.iter().map(|found| letters(found.order)).collect();
    let _ =
        writeln!(text, "{:22} {without:>16} {:>16}: {}\n", "all", right.len(), names.join(", "));
    let _ = writeln!(text, "{:50} breaks (steps)", "order");
    for at in 0..4 {
        let mut order = RIGHT;
        order.swap(at, at + 1);
        let found = orders.iter().find(|found| found.order == order);
        let found = found.expect("it is one of them");
        let _ = writeln!(text, "{:50} {}", letters(order), words(&found.broken));
    }
    let mut early = RIGHT;
    early.swap(4, 5);
    let early = in_settings(early, Steps::OfTheCore);
    let _ = writeln!(text, "{:50} {}", letters(early.order), words(&early.broken));
    let _ = writeln!(text, "\n{:50} breaks (steps)", "steps");
    let core = right.iter().find(|found| found.order == RIGHT);
    for found in core.into_iter().copied().chain(apart) {
        let _ = writeln!(text, "{:50} {}", found.steps.words(), words(&found.broken));
    }
    let all = || orders.iter().chain(apart).chain([&early]);
    let states: usize = all().map(|found| found.states).sum();
    let most = all().map(|found| found.most).max().unwrap_or_default();
    let settings = Setting::all().len();
    let _ = writeln!(text, "\n{states} states in {settings} settings, at most {most} in one");
    text
}

fn letters(order: Order) -> String {
    let letters: Vec<String> = order.map(Release::letter).map(String::from).to_vec();
    letters.join(" ")
}

fn words(broken: &BTreeMap<Demand, usize>) -> String {
    if broken.is_empty() {
        return "nothing".to_owned();
    }
    let all: Vec<String> =
        broken.iter().map(|(demand, depth)| format!("{demand} {depth}")).collect();
    all.join(", ")
}
