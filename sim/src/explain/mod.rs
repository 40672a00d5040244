//! The smallest explanation of a failure.
//!
//! A schedule is **calm plus departures**. Calm is what a world does if nobody disturbs it: of the
//! events that can happen, always the first ([`World::calm_events`]); a wish (a host asks, a build
//! is submitted, a host is drained) comes when nothing else is left to happen. A departure is
//!
//! - a fault, wherever it strikes; that it ends again is none;
//! - a wish that comes while calm still has something to do;
//! - any other event that calm would not take next.
//!
//! The event that was passed over is then *held back*: from there on calm goes on with it or
//! without it at no further cost, so that a message which is late for a hundred steps is one
//! departure, as in delay-bounded scheduling.
//!
//! A failure is reduced in three steps, each judged by replaying it: the fewest hosts, wishes,
//! faults and held-back events of its own schedule that still break the same property first; then,
//! on what is left, each schedule with no, one or two departures; and last the smaller settings.
//! An event of the schedule that does not exist any more is skipped, and what the schedule does not
//! mention is calm's affair.
//!
//! [`World::calm_events`]: crate::world::World::calm_events

mod deed;
mod departures;
mod fewest;
mod no_return;
mod replay;
mod report;
mod round;
mod shrink;
mod story;
mod words;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use deed::place_of;
pub use departures::departures;
use fewest::Searched;
pub use no_return::{NoPoint, no_return};
use replay::{Budget, Case, Played, play, record};
pub use report::Report;
use shrink::Shrinker;
pub(crate) use words::{fault_words, news_of, word_for};

use crate::check::{Property, Violation};
use crate::choose::{Outcome, WalkReport};
use crate::picture::Picture;
use crate::scenario::Scenario;
use crate::world::{Event, Setup, World};

/// A schedule that breaks a property.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The world that it begins with.
    pub setup: Setup,
    /// Its events, in order. For a liveness property they may go on to the rest, or end where the
    /// faults end.
    pub schedule: Vec<Event>,
    /// What it breaks.
    pub violation: Violation,
}

impl Failure {
    /// The failure of a walk; none of one in which all properties held.
    #[must_use]
    pub fn of(report: &WalkReport) -> Option<Self> {
        let Outcome::Broken(violation) = &report.outcome else {
            return None;
        };
        let (setup, schedule) = (report.setup.clone(), report.schedule.clone());
        Some(Self { setup, schedule, violation: violation.clone() })
    }
}

/// How much is done for an explanation. Counted in steps and states and not in time, so that an
/// explanation is the same on each machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Atomic steps of all replays together; what is not reduced by then stays.
    pub steps_max: usize,
    /// States of the search for fewer departures, and of that behind the point of no return.
    pub states_max: usize,
    /// Seeded continuations where the space behind the point of no return is too large.
    pub continuations: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps_max: 2_000_000, states_max: 60_000, continuations: 1_000 }
    }
}

/// What kind of property it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Something bad has happened, in one step.
    Safety,
    /// Something good cannot happen any more.
    Liveness,
}

/// How small the number of departures is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fewest {
    /// No schedule of the reduced configuration has fewer: all of them were tried.
    Proved,
    /// None of them can be left out; all schedules of the reduced configuration with fewer than
    /// this many departures were tried.
    NoneToSpare {
        /// Schedules with fewer departures break nothing.
        at_least: usize,
    },
    /// A limit was reached before that was known.
    Unknown,
}

/// A place where the schedule takes another event than calm's next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Departure {
    /// The index of the event in the schedule of the explanation.
    pub step: usize,
    /// In words of the domain: "the stand-down of b reaches the record before its offer reaches b".
    pub words: String,
}

/// The step after which convergence cannot be reached any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoReturn {
    /// The index of the event in the schedule of the explanation.
    pub step: usize,
    /// The event, as a scenario command.
    pub event: String,
    /// How it is known.
    pub evidence: Evidence,
}

/// How it is known that convergence cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// All fault-free continuations were followed to their ends.
    Exhausted {
        /// States that they lead to.
        states: usize,
    },
    /// None of so many seeded continuations converges.
    Sampled {
        /// How many there were.
        continuations: u32,
    },
}

/// A failure, as small as it was made.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What is broken, as the reduced schedule shows it.
    pub violation: Violation,
    /// Of the property.
    pub class: Class,
    /// In the order of the schedule.
    pub departures: Vec<Departure>,
    /// The same without numbers and names, by which failures of one cause are told to be that.
    pub shape: String,
    /// How few they are.
    pub fewest: Fewest,
    /// The smallest setting.
    pub setup: Setup,
    /// The reduced schedule, up to the step that breaks a safety property; for a liveness property
    /// up to where the faults end.
    pub schedule: Vec<Event>,
    /// The schedule as a file.
    pub scenario: Scenario,
    /// The scenario was replayed and breaks the same property. Not so where a limit was too small,
    /// or the failure that was given does not break what it says.
    pub is_verified: bool,
    /// For a liveness property, where it was lost.
    pub no_return: Option<NoReturn>,
    /// For a liveness property, that it was not lost: in another order than the calm one the schedule
    /// still converges.
    pub is_open: bool,
    /// Schedules that were replayed.
    pub replays: usize,
    /// Atomic steps that they took together.
    pub replayed_steps: usize,
}

/// Does something go wrong in this event, or does an operator intervene?
pub(crate) fn is_fault(world: &World, event: &Event) -> bool {
    deed::Kind::of(world, event) == deed::Kind::Fault
}

/// Makes a failure as small as the limits allow.
#[must_use]
pub fn explain(failure: &Failure, limits: &Limits) -> Explanation {
    let _span = tracing::info_span!("explain", property = %failure.violation.property).entered();
    let mut budget = Budget::new(limits.steps_max);
    let property = failure.violation.property;
    let Some(case) = record(failure, &mut budget) else {
        return as_it_is(failure, &budget);
    };
    let mut smallest = Smallest::new(case, property, &mut budget);
    smallest.shrink();
    smallest.search(limits.states_max);
    let Smallest { case: Case { setup, .. }, played, fewest, .. } = smallest;
    let departures = departures(&setup, &played.events);
    let shape = departures::shape(&setup, &played.events);
    let violation = played.violation.unwrap_or_else(|| failure.violation.clone());
    let class = Class::of(property);
    let lost = (class == Class::Liveness).then(|| no_return(&setup, &played.events, limits));
    let is_open = lost == Some(Err(NoPoint::Open));
    let (scenario, is_verified) = story::tell(&setup, &played.events, &violation, &departures);
    Explanation {
        class,
        violation,
        departures,
        shape,
        fewest,
        setup,
        schedule: played.events,
        scenario,
        is_verified,
        no_return: lost.and_then(Result::ok),
        is_open,
        replays: budget.replays,
        replayed_steps: budget.steps,
    }
}

/// Rounds of leaving out and searching; each finds fewer departures than the last.
const ROUNDS_MAX: usize = 4;

/// The departures of which all schedules are tried.
const TRIED_MAX: usize = 2;

/// The smallest case so far.
struct Smallest<'a> {
    case: Case,
    played: Played,
    property: Property,
    fewest: Fewest,
    budget: &'a mut Budget,
}

impl<'a> Smallest<'a> {
    fn new(case: Case, property: Property, budget: &'a mut Budget) -> Self {
        let played = play(&case, property, budget);
        Self { case, played, property, fewest: Fewest::Unknown, budget }
    }

    fn shrink(&mut self) {
        let mut shrinker = Shrinker::new(self.case.clone(), self.property, self.budget);
        shrinker.shrink();
        self.played = shrinker.played();
        self.case = shrinker.case;
    }

    /// Looks for schedules with fewer departures, and leaves out what those do not need.
    fn search(&mut self, states_max: usize) {
        for _ in 0..ROUNDS_MAX {
            let has = departures::count(&self.case.setup, &self.played.events);
            let mut tried = 0;
            let mut better = None;
            while tried < has && tried <= TRIED_MAX && better.is_none() {
                match fewest::search(&self.case, self.property, tried, states_max) {
                    Searched::Found(schedule) => better = Some(schedule),
                    Searched::None => tried += 1,
                    Searched::Unknown => break,
                }
            }
            self.fewest = match has {
                _ if self.budget.is_spent() => Fewest::Unknown,
                _ if has == tried => Fewest::Proved,
                _ => Fewest::NoneToSpare { at_least: tried },
            };
            let Some(schedule) = better else {
                return;
            };
            self.take(schedule, tried);
        }
        self.fewest = Fewest::Unknown;
    }

    fn take(&mut self, schedule: Vec<Event>, departures: usize) {
        let violation = Violation { property: self.property, why: String::new() };
        let failure = Failure { setup: self.case.setup.clone(), schedule, violation };
        let Some(case) = record(&failure, self.budget) else {
            return;
        };
        let shrinker = Shrinker::new(case, self.property, self.budget);
        let mut shrinker = shrinker.with_at_most(departures);
        shrinker.shrink();
        self.played = shrinker.played();
        self.case = shrinker.case;
    }
}

/// What does not break what it says is not reduced.
fn as_it_is(failure: &Failure, budget: &Budget) -> Explanation {
    let Failure { setup, schedule, violation } = failure;
    let schedule = &possible(setup, schedule);
    let (scenario, is_verified) = story::tell(setup, schedule, violation, &[]);
    Explanation {
        class: Class::of(violation.property),
        violation: violation.clone(),
        departures: Vec::new(),
        shape: departures::shape(setup, schedule),
        fewest: Fewest::Unknown,
        setup: setup.clone(),
        schedule: schedule.clone(),
        scenario,
        is_verified,
        no_return: None,
        is_open: false,
        replays: budget.replays,
        replayed_steps: budget.steps,
    }
}

/// A schedule without what cannot happen.
fn possible(setup: &Setup, schedule: &[Event]) -> Vec<Event> {
    let mut world = World::new(setup.clone());
    let happens = |event: &&Event| world.apply(event, &mut Vec::new()).is_ok();
    schedule.iter().filter(happens).cloned().collect()
}

impl Explanation {
    /// The property that is broken.
    #[must_use]
    pub fn property(&self) -> Property {
        self.violation.property
    }

    /// The picture of the scenario.
    #[must_use]
    pub fn picture(&self) -> Picture {
        Picture::of(&self.scenario, self.setup.protocol)
    }

    /// The atomic steps of the reduced schedule.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.schedule.len()
    }
}

impl Class {
    /// The class of a property.
    #[must_use]
    pub fn of(property: Property) -> Self {
        match property {
            Property::NoWedge | Property::NoLivelock => Self::Liveness,
            Property::SingleBuilder
            | Property::ApprovalTruth
            | Property::NoEviction
            | Property::GateTruth
            | Property::NoLostReport
            | Property::StaleIsNoEffect
            | Property::Settled
            | Property::GrantsIncrease
            | Property::SupersededStops
            | Property::NoAlarm
            | Property::QuietDrain
            | Property::TruthfulIdle
            | Property::SlotHeldOnce
            | Property::Capacity
            | Property::QueueKept
            | Property::RecoveryExact => Self::Safety,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safety => "safety",
            Self::Liveness => "liveness",
        })
    }
}
