//! The first failure of each group, written and verified.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use handover_sim::explain::Limits;
use handover_sim::suite::Judgement;
use handover_sim::swarm::{Failed, Ran, Retold, Swarm};

use super::super::files::write;
use super::super::{complain, interrupt, progress, replay_command};
use super::results::Told;

/// What was said and written of the failures.
#[derive(Debug)]
pub(super) struct Explained {
    /// To what the failures that were reduced came, by seed.
    pub(super) shapes: BTreeMap<u64, String>,
    /// Of the first of each group, by seed.
    pub(super) told: BTreeMap<u64, Told>,
    /// Whether all was written.
    pub(super) judgement: Judgement,
}

/// Reduces the failures that were kept, and writes the first of each group.
pub(super) fn explain(swarm: &Swarm, ran: &Ran, out: &Path, jobs: usize) -> Explained {
    let tally = &ran.tally;
    let line = progress::line();
    let retold = swarm.retell_all(ran, &Limits::default(), jobs, |begun| {
        line.set_message(format!("reducing {} of {} failures", begun + 1, tally.kept.len()));
        line.tick();
        !interrupt::is_interrupted()
    });
    line.finish_and_clear();
    let shapes = retold.iter().filter_map(|(seed, retold)| {
        let explanation = retold.explanation.as_ref()?;
        Some((*seed, explanation.shape.clone()))
    });
    let shapes: BTreeMap<u64, String> = shapes.collect();
    let mut explained =
        Explained { shapes, told: BTreeMap::new(), judgement: Judgement::AsExpected };
    for group in tally.groups(&explained.shapes) {
        let (seed, failed) = (group.seed, &tally.kept[&group.seed]);
        let told = explained.tell(swarm, (seed, failed), &retold[&seed], out);
        explained.told.insert(seed, told);
    }
    explained
}

impl Explained {
    fn tell(
        &mut self,
        swarm: &Swarm,
        (seed, failed): (u64, &Failed),
        retold: &Retold,
        out: &Path,
    ) -> Told {
        let explanation = retold.explanation.as_ref().map(|explanation| explanation.report());
        let property = failed.end.property;
        let nothing = Told { explanation, ..Told::default() };
        if !retold.is_verified {
            complain(&format!(
                "no scenario of seed {seed}: replayed, it does not break {property}; the seed does"
            ));
            self.judgement = self.judgement.max(Judgement::Unknown);
            return nothing;
        }
        let digest = &failed.digest[..8];
        let path = out.join(format!("swarm-{property}-{seed}-{digest}.scenario"));
        let story = retold.scenario.to_string();
        let was_there = path.exists();
        let written = write(&path, &story);
        self.judgement = self.judgement.max(written);
        if written != Judgement::AsExpected {
            if !was_there {
                // Half a scenario is none; that it cannot be removed changes nothing.
                let _ = fs::remove_file(&path);
            }
            complain(&format!("this is the scenario:\n\n{story}"));
            return nothing;
        }
        let replay = replay_command(&path, swarm.protocol.name());
        Told { scenario: Some(path.display().to_string()), replay: Some(replay), ..nothing }
    }
}
