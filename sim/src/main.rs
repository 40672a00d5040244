//! stand-in
fn main() {
    for path in std::env::args().skip(1) {
        let names = handover_sim::variants::names();
        let scenario =
            match handover_sim::scenario::Scenario::load(std::path::Path::new(&path), &names) {
                Ok(scenario) => scenario,
                Err(error) => {
                    println!("{error}");
                    continue;
                }
            };
        for (name, _) in scenario.setup().endings.clone() {
            let protocol = handover_sim::variants::by_name(&name).unwrap();
            let run = handover_sim::scenario::run(&scenario, protocol);
            println!("{}", run.trace);
            println!(
                "=> {:?} as expected {} {:?} {:?}\n",
                run.ended,
                run.is_as_expected(),
                run.failures,
                run.stale
            );
        }
    }
}
