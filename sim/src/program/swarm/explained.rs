//! One failure of each group, explained, written and verified.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use handover_sim::explain::Limits;
use handover_sim::suite::Judgement;
use handover_sim::swarm::{Cause, Group, Ran, Retold, Swarm};

use super::super::files::write;
use super::super::{complain, interrupt, progress, replay_command};

/// Groups that are reduced; the others are written as they were found. A protocol that is wrong
/// from the ground up fails in a hundred ways, and nobody reads a hundred reports.
const EXPLAINED_MAX: usize = 8;

/// What was said and written of the failures.
#[derive(Debug)]
pub(super) struct Explained {
    /// The file of each, by the seed and the cause.
    pub(super) files: BTreeMap<(u64, Cause), String>,
    /// For people.
    pub(super) text: String,
    /// Whether all was written.
    pub(super) judgement: Judgement,
}

/// Explains one failure of each group, those with the most schedules first.
pub(super) fn explain(swarm: &Swarm, ran: &Ran, out: &Path) -> Explained {
    let tally = &ran.tally;
    let mut groups: Vec<(&Cause, &Group)> = tally.failures.iter().collect();
    groups.sort_by_key(|(_, group)| (u64::MAX - group.schedules, group.seed));
    let mut explained =
        Explained { files: BTreeMap::new(), text: String::new(), judgement: Judgement::AsExpected };
    let line = progress::line();
    for (number, (cause, group)) in groups.iter().enumerate() {
        let limits = (number < EXPLAINED_MAX && !interrupt::is_interrupted()).then(Limits::default);
        line.set_message(format!("explaining {} of {}", number + 1, groups.len()));
        line.tick();
        let retold = swarm.retell(&ran.plan, (cause, group), limits.as_ref());
        explained.tell(swarm, (cause, group), tally.schedules, &retold, out);
    }
    line.finish_and_clear();
    explained
}

impl Explained {
    fn tell(
        &mut self,
        swarm: &Swarm,
        (cause, group): (&Cause, &Group),
        schedules: u64,
        retold: &Retold,
        out: &Path,
    ) {
        let text = &mut self.text;
        let _ = writeln!(
            text,
            "\n{} of {schedules} schedules break {}, decided by `{}`; the first is that of seed {}",
            group.schedules, cause.property, cause.decisive, group.seed
        );
        match &retold.explanation {
            Some(explanation) => text.push_str(&explanation.to_string()),
            None => {
                let _ = writeln!(text, "found       {}", group.violation.why);
                let _ = writeln!(text, "not reduced {} steps", group.steps);
            }
        }
        if !retold.is_verified {
            let _ = writeln!(
                text,
                "no scenario: replayed, it does not break {}; seed {} does",
                cause.property, group.seed
            );
            self.judgement = self.judgement.max(Judgement::Unknown);
            return;
        }
        let path = out.join(format!(
            "swarm-{}-{}-{}.scenario",
            cause.property,
            group.seed,
            &group.digest[..8]
        ));
        let story = retold.scenario.to_string();
        let was_there = path.exists();
        let written = write(&path, &story);
        if written == Judgement::AsExpected {
            let _ = writeln!(text, "replay      {}", replay_command(&path, swarm.protocol.name()));
            let path = path.display().to_string();
            self.files.insert((group.seed, cause.clone()), path);
        } else {
            if !was_there {
                // Half a scenario is none; that it cannot be removed changes nothing.
                let _ = fs::remove_file(&path);
            }
            complain(&format!("this is the scenario:\n\n{story}"));
        }
        self.judgement = self.judgement.max(written);
    }
}
