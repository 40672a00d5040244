//! The strategies by which a seed picks its schedule.

use std::fmt;
use std::str::FromStr;

/// How the next event is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Virtual time: each event that becomes possible happens after a delay of its link or host.
    Random,
    /// Calm, but for a few departures: something is put off until nothing else can happen, or a
    /// fault strikes.
    DelayBounded {
        /// The most departures of a schedule.
        departures_max: u32,
    },
    /// Priorities over actors, drawn, which change at a few drawn steps (Burckhardt, Kothari,
    /// Musuvathi and Nagarakatte, ASPLOS 2010).
    Pct {
        /// How many orderings a failure may need, at least 1: the priorities change once less.
        depth: u32,
    },
    /// Each of the others in turn, by the seed: what to take if nothing is known of the failure.
    Mix,
}

impl Strategy {
    /// The departures of [`Strategy::DelayBounded`] where none are named.
    pub const DEPARTURES_MAX: u32 = 3;

    /// The depth of [`Strategy::Pct`] where none is named.
    pub const DEPTH: u32 = 3;

    /// Each of them, with its usual bound.
    pub const ALL: [Self; 4] = [
        Self::Random,
        Self::DelayBounded { departures_max: Self::DEPARTURES_MAX },
        Self::Pct { depth: Self::DEPTH },
        Self::Mix,
    ];

    /// What this seed follows: of a mix the random walk with two seeds of four, and each of the
    /// others with one.
    #[must_use]
    pub const fn of_seed(self, seed: u64) -> Self {
        match self {
            Self::Mix => match seed % 4 {
                1 => Self::Pct { depth: Self::DEPTH },
                3 => Self::DelayBounded { departures_max: Self::DEPARTURES_MAX },
                _ => Self::Random,
            },
            Self::Random | Self::DelayBounded { .. } | Self::Pct { .. } => self,
        }
    }
}

/// As [`Strategy`]'s `FromStr` reads it.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::DelayBounded { departures_max } => write!(f, "delay-bounded={departures_max}"),
            Self::Pct { depth } => write!(f, "pct={depth}"),
            Self::Mix => f.write_str("mix"),
        }
    }
}

/// What is no strategy, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no strategy; there are mix, random, delay-bounded[=DEPARTURES] with 1 to 9, and \
     pct[=DEPTH] with 1 to 9"
)]
pub struct UnknownStrategy(String);

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        let unknown = || UnknownStrategy(text.to_owned());
        let (word, bound) = match text.split_once('=') {
            Some((word, bound)) => {
                let bound = bound.parse().ok().filter(|bound| (1..=9).contains(bound));
                (word, Some(bound.ok_or_else(unknown)?))
            }
            None => (text, None),
        };
        match (word, bound) {
            ("random", None) => Ok(Self::Random),
            ("mix", None) => Ok(Self::Mix),
            ("pct", depth) => Ok(Self::Pct { depth: depth.unwrap_or(Self::DEPTH) }),
            ("delay-bounded", most) => {
                Ok(Self::DelayBounded { departures_max: most.unwrap_or(Self::DEPARTURES_MAX) })
            }
            (_, _) => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_read_as_it_is_printed() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert_eq!("pct".parse(), Ok(Strategy::Pct { depth: Strategy::DEPTH }));
        assert_eq!("delay-bounded=2".parse(), Ok(Strategy::DelayBounded { departures_max: 2 }));
    }

    #[test]
    fn what_is_no_strategy_is_refused_with_those_that_are() {
        for text in ["", "pct=0", "pct=10", "pct=x", "random=1", "dfs"] {
            let refused = text.parse::<Strategy>().expect_err("it is none").to_string();
            assert!(refused.starts_with(&format!("`{text}` is no strategy; there are mix")));
        }
    }

    #[test]
    fn a_mix_is_made_of_each_of_the_others() {
        let [random, bounded, pct, mix] = Strategy::ALL;
        let first: Vec<Strategy> = (0..4).map(|seed| mix.of_seed(seed)).collect();
        assert_eq!(first, [random, pct, random, bounded]);
        assert_eq!(pct.of_seed(3), pct);
    }
}
