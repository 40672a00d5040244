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
    use std::ops::Range;
    use std::path::PathBuf;
    use std::process::ExitCode;

    use clap::Parser;
    use handover_cluster::{Plan, Scene, Shell, report, sweep};

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
        #[arg(long, default_value_t = 8)]
        hosts: usize,
        /// Where traces and journals of what failed are written.
        #[arg(long, default_value = "target/cluster")]
        into: PathBuf,
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

    fn seeds(text: &str) -> Result<Range<u64>, String> {
        let parts = text.split_once("..");
        let parsed = parts.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        parsed.ok_or_else(|| "two numbers, as `0..100`".to_owned())
    }

    pub(super) fn main() -> ExitCode {
        let arguments = Arguments::parse();
        let scenes =
            if arguments.scene.is_empty() { Scene::ALL.to_vec() } else { arguments.scene.clone() };
        let mut failed = false;
        for scene in scenes {
            let plan = Plan { scene, shell: arguments.shell, hosts: arguments.hosts };
            failed |= play(&arguments, plan);
        }
        ExitCode::from(u8::from(failed))
    }

    fn play(arguments: &Arguments, plan: Plan) -> bool {
        let swept = sweep(plan, arguments.seeds.clone(), arguments.jobs, |outcome| {
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
        !swept.failures.is_empty()
    }
}
