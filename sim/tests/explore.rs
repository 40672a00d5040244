//! Small configurations, each interleaving.

use handover_sim::choose::FaultKind as Fault;
use handover_sim::explore::{Bounds, Exploration, explore};

fn bounds(hosts: &[u8], faults: &[(Fault, u8)]) -> Bounds {
    let mut bounds = Bounds::new(hosts);
    for (kind, times) in faults {
        bounds = bounds.with(*kind, *times).expect("it has a budget");
    }
    bounds
}

fn run(bounds: &Bounds) -> Exploration {
    let at = std::time::Instant::now();
    let found = explore(bounds, |_| ());
    println!("{bounds}: {:?} {:?}", found.coverage, at.elapsed());
    for broken in found.broken() {
        println!("{}\n{}", broken.violation, broken.scenario);
    }
    found
}

#[test]
fn small() {
    run(&bounds(&[0], &[]));
    run(&bounds(&[0, 0], &[]));
    run(&bounds(&[0, 0], &[(Fault::Fail, 1), (Fault::Retry, 1)]));
    run(&bounds(&[0, 0], &[(Fault::Crash, 1)]));
    run(&bounds(&[0, 0], &[(Fault::Gone, 1)]));
}
