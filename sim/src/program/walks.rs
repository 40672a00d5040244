//! The seeded walks of a check, and what is kept of one that fails.

use std::path::{Path, PathBuf};

use handover_sim::check::{Property, Violation};
use handover_sim::choose::{self, Outcome, WalkSettings};
use handover_sim::digest::Digest;
use handover_sim::scenario::CURRENT;
use handover_sim::suite::Judgement;
use handover_sim::variants::Current;

use super::{complain, replay_command, write};

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
    /// The walk as a scenario file.
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
            walks.failed.push(FailedWalk {
                seed,
                violation: violation.clone(),
                steps: report.steps,
                digest: report.digest,
                scenario: report.scenario().to_string(),
                path: None,
            });
        }
        seen();
    }
    walks
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
