//! The seeded walks of a check, and what is kept of one that fails.

use std::path::{Path, PathBuf};

use handover_sim::check::{Property, Violation};
use handover_sim::choose::{self, Outcome, WalkReport, WalkSettings};
use handover_sim::digest::Digest;
use handover_sim::explain::{Failure, Limits, explain};
use handover_sim::scenario::{CURRENT, Scenario};
use handover_sim::suite::Judgement;
use handover_sim::variants::Current;

use super::files::write;
use super::{complain, replay_command};

/// What became of the walks, in the order of their seeds.
#[derive(Debug, Default)]
pub(super) struct Walks {
    pub(super) digests: Vec<Digest>,
    pub(super) steps: usize,
    pub(super) failed: Vec<FailedWalk>,
}

/// A walk in which a property is broken.
#[derive(Debug)]
pub(super) struct FailedWalk {
    pub(super) seed: u64,
    pub(super) violation: Violation,
    pub(super) steps: usize,
    pub(super) digest: Digest,
    /// The smallest scenario that breaks the same, or the whole walk.
    pub(super) scenario: String,
    /// Where it was written; none where that was not possible.
    pub(super) path: Option<PathBuf>,
}

/// Walks the seeds from 0 on through a rolling update, under the right protocol.
pub(super) fn walk(count: u64, mut seen: impl FnMut()) -> Walks {
    let settings = WalkSettings::rolling_update();
    let mut walks = Walks::default();
    for seed in 0..count {
        let report = choose::walk(seed, &settings, &Current);
        walks.steps += report.steps;
        walks.digests.push(report.digest);
        if let Outcome::Broken(violation) = &report.outcome {
            let scenario = explained(&report);
            walks.failed.push(FailedWalk {
                seed,
                violation: violation.clone(),
                steps: report.steps,
                digest: report.digest,
                scenario: scenario.to_string(),
                path: None,
            });
        }
        seen();
    }
    walks
}

/// The smallest scenario that was seen to break the same property; else the whole walk.
fn explained(report: &WalkReport) -> Scenario {
    let explanation = Failure::of(report).map(|failure| explain(&failure, &Limits::default()));
    let verified = explanation.filter(|explanation| explanation.is_verified);
    verified.map_or_else(|| report.scenario(), |explanation| explanation.scenario)
}

impl Walks {
    pub(super) fn judgement(&self) -> Judgement {
        let judgements = self.failed.iter().map(FailedWalk::judgement);
        judgements.max().unwrap_or(Judgement::AsExpected)
    }

    /// Writes each failed walk into a folder. Where that is not possible the walk goes to stderr,
    /// so that nothing that was found is lost.
    pub(super) fn save(&mut self, folder: &Path) -> Judgement {
        let mut judgement = Judgement::AsExpected;
        for failed in &mut self.failed {
            let path = folder.join(failed.file_name());
            let written = write(&path, &failed.scenario);
            if written == Judgement::AsExpected {
                failed.path = Some(path);
            } else {
                complain(&format!("this is the scenario:\n\n{}", failed.scenario));
            }
            judgement = judgement.max(written);
        }
        judgement
    }
}

impl FailedWalk {
    /// That a world goes on is seen only up to a bound.
    pub(super) fn judgement(&self) -> Judgement {
        if self.violation.property == Property::NoLivelock {
            return Judgement::Unknown;
        }
        Judgement::NotAsExpected
    }

    /// Another walk of the same seed, as another version of the code makes it, has another name.
    fn file_name(&self) -> String {
        let digest = self.digest.to_string();
        format!("walk-{}-{}.scenario", self.seed, &digest[..8])
    }

    pub(super) fn replay_command(&self) -> Option<String> {
        let path = self.path.as_ref()?;
        Some(replay_command(path, CURRENT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Walks {
        let violation = Violation { property: Property::NoWedge, why: "nobody builds".to_owned() };
        Walks {
            digests: vec![Digest::new()],
            steps: 7,
            failed: vec![FailedWalk {
                seed: 3,
                violation,
                steps: 7,
                digest: Digest::new(),
                scenario: "# A story\n".to_owned(),
                path: None,
            }],
        }
    }

    #[test]
    fn a_walk_that_fails_is_written_and_the_command_names_its_file() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut walks = failed();
        assert_eq!(walks.save(folder.path()), Judgement::AsExpected);
        let path = folder.path().join("walk-3-00000000.scenario");
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), Some("# A story\n"));
        let command = walks.failed[0].replay_command().expect("it has a file");
        let file = path.display();
        assert!(command.ends_with(&format!(" replay {file} --protocol current")), "{command}");
        assert_eq!(walks.judgement(), Judgement::NotAsExpected);
    }

    #[test]
    fn a_folder_that_takes_no_file_is_reported_and_no_file_is_named() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut walks = failed();
        let nowhere = folder.path().join("nowhere");
        assert_eq!(walks.save(&nowhere), Judgement::Unreadable);
        assert_eq!(walks.failed[0].replay_command(), None);
    }

    #[test]
    fn a_world_that_goes_on_up_to_a_bound_is_unknown() {
        let mut walks = failed();
        walks.failed[0].violation.property = Property::NoLivelock;
        assert_eq!(walks.judgement(), Judgement::Unknown);
    }
}
