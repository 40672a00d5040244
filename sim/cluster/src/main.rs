//! Runs scenes over seeds, for as long as one likes.

use std::process::ExitCode;

#[cfg(not(madsim))]
fn main() -> ExitCode {
    eprintln!("{}", handover_cluster::CFG_IS_LOST);
    ExitCode::from(2)
}

#[cfg(madsim)]
fn main() -> ExitCode {
    program::main()
}

#[cfg(madsim)]
mod program {
    use std::collections::BTreeMap;
    use std::ops::Range;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::time::Duration;

    use clap::Parser;
    use handover_cluster::{
        PLACES_MAX, Plan, Scene, Shell, boots, exported, hand_over, keep, report, sweep,
    };

    /// Runs scenes of a simulated cluster over seeds, and says what failed.
    #[derive(Debug, Parser)]
    struct Arguments {
        /// The scenes: all unless named.
        #[arg(long, value_parser = scene)]
        scene: Vec<Scene>,
        /// What carries the hosts: current, or a wrong shell.
        #[arg(long, value_parser = shell, default_value = "current")]
        shell: Shell,
        /// The seeds, as `0..100`.
        #[arg(long, value_parser = seeds, default_value = "0..100")]
        seeds: Range<u64>,
        /// How many runs at a time.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// How many hosts, where the scene leaves that open.
        #[arg(long, default_value_t = 8, value_parser = hosts)]
        hosts: usize,
        /// Where traces and journals of what failed are written.
        #[arg(long, default_value = "target/cluster")]
        into: PathBuf,
        /// Prints the digest of each seed.
        #[arg(long)]
        digests: bool,
        /// Tells the journals of each run as a scenario in that folder, and runs no check.
        #[arg(long)]
        export: bool,
        /// Judges the journals of each run too.
        #[arg(long)]
        judge: bool,
        /// Measures what boots and hand-overs cost, and runs no scene.
        #[arg(long)]
        figures: bool,
        /// So many failures are told; the others are counted.
        #[arg(long, default_value_t = 1)]
        told: usize,
    }

    fn scene(text: &str) -> Result<Scene, String> {
        let found = Scene::ALL.into_iter().find(|scene| scene.name() == text);
        found.ok_or_else(|| format!("one of: {}", Scene::ALL.map(Scene::name).join(", ")))
    }

    fn shell(text: &str) -> Result<Shell, String> {
        let found = Shell::ALL.into_iter().find(|shell| shell.name() == text);
        found.ok_or_else(|| format!("one of: {}", Shell::ALL.map(Shell::name).join(", ")))
    }

    fn hosts(text: &str) -> Result<usize, String> {
        let hosts = text.parse().ok().filter(|hosts| (1..=PLACES_MAX).contains(hosts));
        hosts.ok_or_else(|| format!("a number from 1 to {PLACES_MAX}"))
    }

    fn seeds(text: &str) -> Result<Range<u64>, String> {
        let parts = text.split_once("..");
        let parsed = parts.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        parsed.ok_or_else(|| "two numbers, as `0..100`".to_owned())
    }

    pub(super) fn main() -> ExitCode {
        let arguments = Arguments::parse();
        if arguments.figures {
            return figures();
        }
        let scenes =
            if arguments.scene.is_empty() { Scene::ALL.to_vec() } else { arguments.scene.clone() };
        let mut failed = false;
        for scene in scenes {
            let plan = Plan {
                scene,
                shell: arguments.shell,
                hosts: arguments.hosts,
                judges: arguments.judge,
            };
            failed |=
                if arguments.export { export(&arguments, plan) } else { play(&arguments, plan) };
        }
        ExitCode::from(u8::from(failed))
    }

    fn export(arguments: &Arguments, plan: Plan) -> bool {
        let (mut told, mut told_not) = (0_u64, 0);
        let mut why = BTreeMap::<String, u64>::new();
        for seed in arguments.seeds.clone() {
            let written = exported(plan, seed).map_err(|error| error.to_string()).and_then(|it| {
                let (scene, shell) = (plan.scene.name(), plan.shell.name());
                let path = arguments.into.join(format!("{scene}-{shell}-{seed}.scenario"));
                std::fs::create_dir_all(&arguments.into)
                    .and_then(|()| std::fs::write(&path, it.scenario.to_string()))
                    .map_err(|error| format!("{}: {error}", path.display()))
            });
            match written {
                Ok(()) => told += 1,
                Err(error) => {
                    eprintln!("{} {seed}: {error}", plan.scene.name());
                    if told_not < arguments.told {
                        match keep(plan, seed, &arguments.into) {
                            Ok(folder) => eprintln!("its journals: {}", folder.display()),
                            Err(error) => eprintln!("{}: {error}", arguments.into.display()),
                        }
                    }
                    told_not += 1;
                    let kind = error.split_once(": ").map_or(error.as_str(), |(_, kind)| kind);
                    *why.entry(kind.chars().take(70).collect()).or_default() += 1;
                }
            }
        }
        let seeds = arguments.seeds.end - arguments.seeds.start;
        println!("{}: {told} of {seeds} told as scenarios", plan.scene.name());
        for (why, count) in &why {
            println!("    {count} {why}");
        }
        !why.is_empty()
    }

    fn figures() -> ExitCode {
        println!("hosts  attempted  committed  bytes written  bytes read   (per boot)");
        for hosts in [10, 100, 1_000] {
            let boots = boots(hosts, 1);
            let each = |all: u64| all / boots.hosts;
            println!(
                "{hosts:>5} {:>10.1} {:>10.1} {:>14} {:>11}",
                boots.attempted as f64 / hosts as f64,
                boots.committed as f64 / hosts as f64,
                each(boots.written),
                each(boots.read),
            );
        }
        for (how, polls) in [("told", None), ("polling", Some(Duration::from_secs(1)))] {
            let measured: Result<Vec<_>, _> = (0..200).map(|seed| hand_over(seed, polls)).collect();
            match measured {
                Ok(measured) => {
                    let mut times: Vec<_> = measured.iter().map(|it| it.time).collect();
                    times.sort_unstable();
                    let commits = measured.iter().map(|it| it.commits).max().unwrap_or_default();
                    println!(
                        "hand-over, {how}: {commits} commit, median {:?}, longest {:?}",
                        times[times.len() / 2],
                        times[times.len() - 1],
                    );
                }
                Err(failure) => {
                    eprintln!("{failure}");
                    return ExitCode::FAILURE;
                }
            }
        }
        ExitCode::SUCCESS
    }

    #[expect(clippy::disallowed_methods, reason = "how fast it was goes to stderr")]
    fn now() -> std::time::Instant {
        std::time::Instant::now()
    }

    fn play(arguments: &Arguments, plan: Plan) -> bool {
        let start = now();
        let swept = sweep(plan, arguments.seeds.clone(), arguments.jobs, |outcome| {
            if arguments.digests {
                println!("{} {} {}", plan.scene.name(), outcome.seed, outcome.digest);
            }
            if outcome.seed % 1_000 == 999 {
                eprintln!("{} {}", plan.scene.name(), outcome.seed + 1);
            }
            true
        });
        for failure in swept.failures.iter().take(arguments.told) {
            match report(plan, failure, &arguments.into) {
                Ok(text) => println!("{text}"),
                Err(error) => eprintln!("{}: {error}", arguments.into.display()),
            }
        }
        let first = swept.failures.first().map(|failure| failure.seed);
        let mut kinds = BTreeMap::<String, u64>::new();
        for failure in swept.failures.iter().filter_map(|outcome| outcome.failure.as_ref()) {
            let kind = failure.property.map_or_else(|| failure.why.clone(), |it| it.to_string());
            *kinds.entry(kind).or_default() += 1;
        }
        println!(
            "{} under {}: {} of {} fail{}; {:.1} simulated hours, {} steps, {} commits",
            plan.scene.name(),
            plan.shell.name(),
            swept.failures.len(),
            swept.runs,
            first.map(|seed| format!(" (first {seed})")).unwrap_or_default(),
            swept.time.as_secs_f64() / 3_600.0,
            swept.steps,
            swept.commits,
        );
        eprintln!(
            "{:.1} seeds and {:.2} simulated hours a second",
            swept.runs as f64 / start.elapsed().as_secs_f64(),
            swept.time.as_secs_f64() / 3_600.0 / start.elapsed().as_secs_f64(),
        );
        for (kind, count) in kinds {
            println!("    {count} {kind}");
        }
        !swept.failures.is_empty()
    }
}
