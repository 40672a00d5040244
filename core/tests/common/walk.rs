//! Steps of a random walk over a cluster, as proptest draws them.

use proptest::prelude::*;

/// One step. Numbers choose among what there is, modulo how much there is; a step that chooses
/// among nothing does nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A host gets on: a word or a view arrives, its build goes on, it comes back.
    Advance {
        host: usize,
        choice: usize,
    },
    /// A word that this host said at any time arrives, perhaps once more.
    LateWord {
        host: usize,
        word: usize,
    },
    /// A view of any time arrives.
    LateView {
        host: usize,
        revision: usize,
    },
    /// All that this host has said and that has not arrived is lost.
    Lose {
        host: usize,
    },
    /// It says its present word again.
    Repeat {
        host: usize,
    },
    /// It wants the job.
    Ask {
        host: usize,
    },
    /// It does not.
    StandDown {
        host: usize,
        after_build: bool,
    },
    /// It has no room for an offer.
    Decline {
        host: usize,
    },
    /// Its build fails, or ends without a chunk.
    BuildFails {
        host: usize,
        silently: bool,
    },
    /// Its process ends without a word.
    Crash {
        host: usize,
    },
    /// It is declared gone while it lives.
    Expel {
        host: usize,
    },
    /// Membership suspects it, or does so no more.
    Suspect {
        host: usize,
    },
    /// The driver's and the operator's inputs, about the present hold.
    Lapse,
    Cancel {
        again: bool,
    },
    Revoke,
    Retry {
        version: usize,
    },
    /// The arbiter is told again what it was told at any time.
    Replay {
        input: usize,
    },
}

/// Walks that a cluster may take when everything can go wrong.
pub(crate) fn walks() -> impl Strategy<Value = Vec<Step>> {
    let draws = prop::collection::vec(any::<u32>(), 60..240);
    draws.prop_map(|draws| draws.into_iter().map(Step::of).collect())
}

impl Step {
    /// One number is one step, so that walks are drawn cheaply and shrink to `Advance`.
    fn of(draw: u32) -> Self {
        let (kind, rest) = (draw % 200, (draw / 200) as usize);
        let (host, choice) = (rest % 3, rest / 3);
        let either = choice.is_multiple_of(2);
        match kind {
            0..148 => Self::Advance { host, choice },
            148..154 => {
                let word = choice;
                Self::LateWord { host, word }
            }
            154..160 => {
                let revision = choice;
                Self::LateView { host, revision }
            }
            160..163 => Self::Lose { host },
            163..165 => Self::Repeat { host },
            165..171 => Self::Ask { host },
            171..175 => {
                let after_build = either;
                Self::StandDown { host, after_build }
            }
            175 => Self::Decline { host },
            176..178 => {
                let silently = either;
                Self::BuildFails { host, silently }
            }
            178..183 => Self::Crash { host },
            183 => Self::Expel { host },
            184..187 => Self::Suspect { host },
            187..189 => Self::Lapse,
            189..191 => Self::Cancel { again: either },
            191 => Self::Revoke,
            192..194 => Self::Retry { version: choice },
            _ => Self::Replay { input: choice },
        }
    }
}
