//! Answers: worked out side by side, in a world in which one place has its processes, and taken in
//! one after another.

use std::collections::BTreeSet;

use super::super::action::{Action, Choice, choices};
use super::super::bounds::{Cost, Price};
use super::super::key::Scratch;
use super::super::parts::{Core, PartOf, Seat, core_of, seat_of};
use super::super::step::take;
use super::super::system::Marks;
use super::{Asked, Block, Everywhere, Local, Places, Question, Step, StepKind};
use crate::check::counted_builds;
use crate::explore::Property;
use crate::variants::is_current;
use crate::world::{Event, World};

/// What was worked out.
pub(in super::super) enum Worked {
    Block { steps: Vec<(Price, WorkedStep, Judged)>, block: Block },
    Core(Box<PartOf<Core>>),
    Seat(Box<PartOf<Seat>>),
}

/// What a step breaks, and what it may break.
#[derive(Clone, Copy)]
pub(in super::super) struct Judged {
    broken: Marks,
    suspected: Marks,
}

pub(in super::super) enum WorkedStep {
    /// The core is none where it stays as it is.
    Here(Option<Box<PartOf<Core>>>, Box<PartOf<Seat>>),
    Core(Box<PartOf<Core>>),
    Everywhere(Everywhere),
}

impl Local<'_> {
    /// Opens the parts that these questions are about.
    pub(in super::super) fn open_parts(&mut self, questions: &[&Question]) {
        self.cores.open(questions.iter().map(|question| question.core()));
        let places = questions.iter().flat_map(|question| question.places(self.count));
        self.seats.open(places.copied());
    }

    pub(in super::super) fn work_out(&self, question: &Question, scratch: &mut Scratch) -> Worked {
        match &question.asked {
            Asked::Steps { core, places, at } => {
                self.work_out_steps(*core, places, *at, false, scratch)
            }
            Asked::Turn { core, places, at } => {
                self.work_out_steps(*core, places, *at, true, scratch)
            }
            Asked::Spread { what, core, place, at } => {
                let Seat { spot, members } = self.seats.part(*place);
                let world = self.cores.part(*core).world(&self.ground, [spot], members);
                let after = self.happens(&world, what.event());
                Worked::Seat(Box::new(self.seat(&after, *at, scratch)))
            }
            Asked::SpreadEnds { what, core } => {
                let world = self.cores.part(*core).world(&self.ground, [], &[]);
                Worked::Core(Box::new(self.core(&self.happens(&world, what.event()), scratch)))
            }
            Asked::RenamedCore { core, renaming } => {
                let core = renaming.core(self.cores.part(*core));
                let world = core.world(&self.ground, [], &[]);
                Worked::Core(Box::new(self.core(&world, scratch)))
            }
            Asked::RenamedSeat { place, at, renaming } => {
                let Seat { spot, members } = renaming.seat(self.seats.part(*place));
                let world = self.cores.part(0).world(&self.ground, [&spot], &members);
                Worked::Seat(Box::new(self.seat(&world, *at, scratch)))
            }
        }
    }

    fn happens(&self, world: &World, event: Event) -> World {
        let choice = Choice { action: Action::Happens(event), cost: Cost::Free };
        take(world, &choice, self.bounds).0
    }

    pub(super) fn core(&self, world: &World, scratch: &mut Scratch) -> PartOf<Core> {
        core_of(world, scratch, |key| self.cores.is_known(key))
    }

    pub(super) fn seat(&self, world: &World, at: usize, scratch: &mut Scratch) -> PartOf<Seat> {
        seat_of(world, at, scratch, |key| self.seats.is_known(key))
    }

    /// All that the record says, and the processes of one place, or of none.
    fn world(&self, core: u32, places: &Places, at: Option<usize>) -> World {
        let seats = places[..self.count].iter().map(|seat| self.seats.part(*seat));
        let members = at.map_or(&[][..], |at| &self.seats.part(places[at]).members);
        self.cores.part(core).world(&self.ground, seats.map(|seat| &seat.spot), members)
    }

    /// Of a place, or of none: the steps in which others have no say, or those in which they have.
    fn work_out_steps(
        &self,
        core: u32,
        places: &Places,
        at: Option<usize>,
        takes_turns: bool,
        scratch: &mut Scratch,
    ) -> Worked {
        let world = self.world(core, places, at);
        let choices = choices(&world, self.bounds.budget(), self.bounds, &BTreeSet::new());
        let (mut steps, mut has_turns) = (Vec::new(), false);
        for choice in choices.iter().filter(|choice| belongs(&world, &choice.action, at)) {
            if let Some(what) = Everywhere::of(&choice.action) {
                if !takes_turns {
                    let kind = WorkedStep::Everywhere(what);
                    let nothing = Judged { broken: Marks::NONE, suspected: Marks::NONE };
                    steps.push((choice.cost.price(), kind, nothing));
                }
                continue;
            }
            if is_decided_with_others(&world, &choice.action) && !takes_turns {
                has_turns = true;
                continue;
            }
            if let Action::Read(..) = choice.action
                && takes_turns
            {
                continue;
            }
            let (after, judged) = self.judged(&world, choice);
            let is_turn =
                is_decided_with_others(&world, &choice.action) || is_election(&world, &after);
            has_turns |= is_turn;
            if is_turn != takes_turns {
                continue;
            }
            let core = (!after.shares_record(&world)).then(|| Box::new(self.core(&after, scratch)));
            let kind = match at {
                Some(at) => WorkedStep::Here(core, Box::new(self.seat(&after, at, scratch))),
                None => WorkedStep::Core(core.expect("it is the record that an operator changes")),
            };
            steps.push((choice.cost.price(), kind, judged));
        }
        Worked::Block { steps, block: Block { has_turns, ..block_of(&world, at) } }
    }

    /// What a choice makes of a world, and what it breaks, or may break where the holder is not
    /// there to be looked at.
    fn judged(&self, before: &World, choice: &Choice) -> (World, Judged) {
        let (after, violations) = take(before, choice, self.bounds);
        let broken = violations.iter().map(|violation| violation.property).collect();
        let mut judged = Judged { broken, suspected: Marks::NONE };
        let hold = before.committed().hold().filter(|hold| hold.is_started());
        if let Some(hold) = hold.filter(|hold| before.by_id(&hold.host).is_none()) {
            let now = after.committed().hold();
            let stays = now.is_some_and(|now| now.grant == hold.grant && now.is_started());
            if !stays && !after.history().revoked.contains(&hold.grant) {
                judged.suspected.put(Property::NoEviction);
            }
        }
        (after, judged)
    }

    pub(in super::super) fn take_in(&mut self, question: &Question, worked: Worked) {
        let answer = match worked {
            Worked::Block { steps, block } => {
                let start = self.steps.len();
                for (price, kind, Judged { broken, suspected }) in steps {
                    let kind = match kind {
                        WorkedStep::Everywhere(what) => StepKind::Everywhere(what),
                        WorkedStep::Core(core) => StepKind::Core(self.cores.put(*core)),
                        WorkedStep::Here(core, seat) => StepKind::Here {
                            core: core
                                .map_or_else(|| question.core(), |core| self.cores.put(*core)),
                            place: self.seats.put(*seat),
                        },
                    };
                    self.steps.push(Step { price, kind, broken, suspected });
                }
                let number = |at: usize| u32::try_from(at).expect("fewer steps than transitions");
                let end = number(self.steps.len());
                self.blocks.push(Block { start: number(start), end, ..block });
                self.blocks.len() - 1
            }
            Worked::Core(part) => self.cores.put(*part) as usize,
            Worked::Seat(part) => self.seats.put(*part) as usize,
        };
        let answer = u32::try_from(answer).expect("fewer answers than transitions");
        self.answers.find_or_insert(question.key, answer);
    }
}

fn block_of(world: &World, at: Option<usize>) -> Block {
    let hold = world.committed().hold();
    let none = Block {
        start: 0,
        end: 0,
        has_turns: false,
        converged: hold.is_none(),
        builds: 0,
        drained_holder: false,
    };
    if at.is_none() {
        return none;
    }
    let holder = hold.and_then(|hold| world.by_id(&hold.host)).map(|who| world.process(who));
    Block {
        converged: hold.is_none() && world.is_converged(),
        builds: u8::try_from(counted_builds(world)).unwrap_or(u8::MAX),
        drained_holder: holder.is_some_and(|each| each.lives() && each.host.is_drained()),
        ..none
    }
}

/// Does an action belong to a place? What an operator does to a hold belongs to its holder's, for
/// it changes that line; what is of no place belongs to none.
fn belongs(world: &World, action: &Action, at: Option<usize>) -> bool {
    let Action::Happens(event) = action.sure() else { return at.is_some() };
    if let Event::Publish(_) | Event::ArbiterCrash(_) | Event::Retry { .. } = event {
        return at.is_none();
    }
    if let Event::Lapse(_) | Event::Cancel { .. } | Event::Revoke { .. } = event {
        let hold = world.committed().hold().expect("these are about a hold");
        let mut places = world.setup().places.iter();
        return at == places.position(|place| place.name == hold.host.name);
    }
    at.is_some()
}

/// Others have a say in what comes of these: who else asks, and in which order. Under a wrong
/// protocol they may have one whenever the record hears a word.
fn is_decided_with_others(world: &World, action: &Action) -> bool {
    let Action::Happens(event) = action.sure() else {
        return matches!(action.sure(), Action::Deliver(..)) && !is_current(world.protocol());
    };
    matches!(
        event,
        Event::Gone(_)
            | Event::Lapse(_)
            | Event::Cancel { .. }
            | Event::Revoke { .. }
            | Event::Retry { .. }
    )
}

/// May the record have looked for somebody to offer the job to?
fn is_election(before: &World, after: &World) -> bool {
    let (before, after) = (before.committed(), after.committed());
    let grant = |record: &handover_core::Record| record.hold().map(|hold| hold.grant);
    let same_hold = grant(before).is_some() && grant(before) == grant(after);
    before.revision() != after.revision() && !same_hold
}
