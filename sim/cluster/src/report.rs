//! What is said of a run that failed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::run::{Outcome, Plan, file_of, tell};

/// So many of the last lines of a trace are printed; the file has all.
const TAIL: usize = 60;

/// Runs a seed that failed once more, writes its trace and its journals into a folder of its own
/// below `into`, and says what went wrong, where that is, and how to run it again.
///
/// # Errors
/// If nothing can be written there.
pub fn report(plan: Plan, failed: &Outcome, into: &Path) -> io::Result<String> {
    let outcome = tell(plan, failed.seed);
    let folder = write(plan, &outcome, into)?;
    let (scene, shell, seed) = (plan.scene.name(), plan.shell.name(), failed.seed);
    let mut text = format!("{scene} under {shell}, seed {seed}, after {:?}: ", failed.time);
    match &failed.failure {
        Some(failure) => writeln!(text, "{failure}"),
        None => writeln!(text, "nothing failed"),
    }
    .expect("a string takes all");
    if outcome.digest != failed.digest {
        writeln!(text, "it went otherwise when it was run again: a defect of the simulation")
            .expect("a string takes all");
    }
    let trace = outcome.told.map(|told| told.trace).unwrap_or_default();
    let skipped = trace.len().saturating_sub(TAIL);
    for line in &trace[skipped..] {
        writeln!(text, "{line}").expect("a string takes all");
    }
    let folder = folder.display();
    writeln!(text, "the whole trace and the journals: {folder}").expect("a string takes all");
    writeln!(
        text,
        "again: cargo run --release -p handover-cluster -- --scene {scene} --shell {shell} \
         --seeds {seed}..{}",
        seed + 1
    )
    .expect("a string takes all");
    Ok(text)
}

/// Runs a seed once more, and writes its trace and its journals into a folder of its own below
/// `into`: which one.
///
/// # Errors
/// If nothing can be written there.
pub fn keep(plan: Plan, seed: u64, into: &Path) -> io::Result<PathBuf> {
    write(plan, &tell(plan, seed), into)
}

fn write(plan: Plan, outcome: &Outcome, into: &Path) -> io::Result<PathBuf> {
    let (scene, shell, seed) = (plan.scene.name(), plan.shell.name(), outcome.seed);
    let folder = into.join(format!("{scene}-{shell}-{seed}"));
    fs::create_dir_all(&folder)?;
    if let Some(told) = &outcome.told {
        fs::write(folder.join("trace.txt"), told.trace.join("\n") + "\n")?;
        for (name, lines) in &told.journals {
            fs::write(folder.join(file_of(name)), lines.join("\n") + "\n")?;
        }
    }
    Ok(folder)
}
